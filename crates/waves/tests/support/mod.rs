//! Jobs of shaders: their inputs in memory, and what must come out.

pub(crate) mod arena;
pub(crate) mod files;
pub(crate) mod image;
pub(crate) mod job;
