//! Queues: contexts, rings, and the jobs that rings run.

pub(crate) mod captures;
pub(crate) mod context;
pub(crate) mod draws;
pub(crate) mod fault_cell;
pub(crate) mod gang;
pub(crate) mod interpreter;
mod job_memory;
pub(crate) mod processor;
pub(crate) mod resets;
pub(crate) mod ring;
pub(crate) mod shader_watch;
pub(crate) mod shaders;
pub(crate) mod shadow;
pub(crate) mod skipped;
pub(crate) mod work;
