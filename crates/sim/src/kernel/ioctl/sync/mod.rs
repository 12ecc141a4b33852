//! Requests about sync objects, and those on descriptors of sync files and dma-bufs.

pub(crate) mod dma_buf;
pub(crate) mod sync_file;
pub(crate) mod syncobj;
