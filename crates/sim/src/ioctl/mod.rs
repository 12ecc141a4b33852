//! The requests, one file for each subject.

mod args;
pub(crate) mod bo_list;
pub(crate) mod context;
pub(crate) mod core;
pub(crate) mod dma_buf;
pub(crate) mod gem;
pub(crate) mod info;
pub(crate) mod names;
pub(crate) mod primary;
pub(crate) mod prime;
mod registers;
pub(crate) mod sched;
pub(crate) mod submit;
pub(crate) mod sync_file;
pub(crate) mod syncobj;
pub(crate) mod va;
pub(crate) mod wait;
