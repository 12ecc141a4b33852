//! The interface between an engine and its environment: memory, jobs, IBs, and work for shaders.

pub(crate) mod caches;
pub(crate) mod environment;
pub(crate) mod ib;
pub(crate) mod index_buffer;
pub(crate) mod job;
pub(crate) mod memory;
pub(crate) mod stop;
pub(crate) mod target_caches;
pub(crate) mod work;
