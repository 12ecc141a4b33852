//! Draws and dispatches, as they are passed to an executor of shaders.

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_isa::WaveSize;

use super::{index_buffer::IndexBuffer, job::Job, memory::Memory, stop::Place};
use crate::gpu::state::State;

/// An executor of shaders. The engine passes it each draw and dispatch with all state, and considers the work complete when the
/// call returns.
///
/// ```
/// use amdgpu_sim::gpu::{Scene, Shaders, Unfinished, Work};
/// use std::cell::Cell;
///
/// /// Counts the thread groups of all dispatches.
/// #[derive(Debug, Default)]
/// struct Groups(Cell<u64>);
///
/// impl Shaders for Groups {
///     fn run(&self, work: &Work, _: &Scene<'_>) -> Result<(), Unfinished> {
///         if let Work::Dispatch(dispatch) = work {
///             let groups = dispatch.groups.iter().map(|&count| u64::from(count)).product::<u64>();
///             self.0.set(self.0.get() + groups);
///         }
///         Ok(())
///     }
/// }
/// ```
pub trait Shaders {
    /// Executes a draw or dispatch.
    ///
    /// # Errors
    ///
    /// [`Unfinished::Hang`] if a wave cannot continue, whose reason is reported to the job; [`Unfinished::Cancelled`] if the job has
    /// [ended](Job::is_cancelled) meanwhile. Page faults are reported to the job and are not errors.
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished>;
}

/// The reason why a draw or dispatch was not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unfinished {
    /// A wave cannot continue, which hangs the ring.
    #[error("a wave hangs")]
    Hang,
    /// The job has ended.
    #[error("the job has ended")]
    Cancelled,
}

/// An executor that ignores all draws and dispatches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoShaders;

impl Shaders for NoShaders {
    fn run(&self, _: &Work, _: &Scene<'_>) -> Result<(), Unfinished> {
        Ok(())
    }
}

/// The state of a draw or dispatch besides its parameters.
#[derive(Clone, Copy)]
pub struct Scene<'s> {
    /// The registers that the stream has set.
    pub state: &'s State,
    /// The memory of the job.
    pub memory: &'s dyn Memory,
    /// The location of the packet that started the work.
    pub place: Place,
    /// The job, which receives reports of faults and hangs.
    pub job: &'s dyn Job,
}

/// A draw or dispatch, with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// A draw of vertices.
    Draw(Draw),
    /// Mesh or task work-groups on the graphics ring.
    Mesh(Dispatch),
    /// A dispatch of compute work-groups.
    Dispatch(Dispatch),
}

/// The parameters of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Draw {
    /// The number of vertices or indices.
    pub count: u32,
    /// The number of instances.
    pub instances: u32,
    /// The first vertex or the first index.
    pub first: u32,
    /// The number that is added to every index.
    pub vertex_offset: u32,
    /// The number of the first instance.
    pub first_instance: u32,
    /// The index buffer; `None` for a draw without indices.
    pub indices: Option<IndexBuffer>,
    /// The index of the draw in a multi-draw.
    pub number: u32,
    /// The value of VGT_DRAW_INITIATOR.
    pub initiator: u32,
}

/// The parameters of a dispatch or of mesh work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dispatch {
    /// The number of work-groups in x, y and z; the number of threads if the initiator says so.
    pub groups: [u32; 3],
    /// The address of the shader, from COMPUTE_PGM_LO and COMPUTE_PGM_HI. Null for mesh work, whose shaders are in the graphics
    /// registers.
    pub program: GpuVa,
    /// The index of the dispatch in a multi-dispatch.
    pub number: u32,
    /// The value of COMPUTE_DISPATCH_INITIATOR or VGT_DRAW_INITIATOR.
    pub initiator: u32,
}

impl Dispatch {
    /// Returns the wave size that the initiator selects. CS_W32_EN exists on GFX10 and later.
    pub fn wave(&self, level: GfxLevel) -> WaveSize {
        const CS_W32_EN: u32 = 1 << 15;
        let is_short = level >= GfxLevel::Gfx10 && self.initiator & CS_W32_EN != 0;
        if is_short { WaveSize::Wave32 } else { WaveSize::Wave64 }
    }
}
