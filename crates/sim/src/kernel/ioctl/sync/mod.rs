//! Requests about sync objects, and those on descriptors of sync files, dma-bufs and sw_sync.

pub(crate) mod dma_buf;
pub(crate) mod sw_sync;
pub(crate) mod sync_file;
pub(crate) mod syncobj;
