//! The state that all files of a device share.

mod gpu;
mod parts;

pub(crate) use self::gpu::Gpu;
