//! Limits of shaders and sizes of the rings that they use, by generation, computed from
//! [`GpuInfo`](crate::winsys::GpuInfo).
//!
//! The kernel does not report them. A driver that compiles shaders or binds their rings needs all of them.

mod attribute_rings;
mod geometry_rings;
mod lds;
mod parameter_cache;
#[cfg(test)]
mod sample;
mod scratch;
mod sizes;
mod task_rings;
mod tessellation;
mod waves;

pub use self::{
    attribute_rings::AttributeRings, geometry_rings::GeometryRings, lds::LdsLimits, parameter_cache::ParameterCache,
    scratch::ScratchLimits, task_rings::TaskRings, tessellation::TessellationRings, waves::WaveLimits,
};
