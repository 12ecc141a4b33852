//! The state that all files of a device share.

mod gpu;

pub(crate) use self::gpu::Gpu;
