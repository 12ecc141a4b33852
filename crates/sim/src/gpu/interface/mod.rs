//! The words between an engine and its surroundings: memory, jobs, places, and work for shaders.

pub(crate) mod environment;
pub(crate) mod ib;
pub(crate) mod index_buffer;
pub(crate) mod job;
pub(crate) mod memory;
pub(crate) mod stop;
pub(crate) mod work;
