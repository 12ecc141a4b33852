//! Head counts, for tests that look for leaks.

/// Objects of one open file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// GEM handles.
    pub handles: usize,
    /// Bytes of the BOs behind them.
    pub handle_bytes: u64,
    /// GPU bindings.
    pub bindings: usize,
    /// Bytes they cover.
    pub bound_bytes: u64,
    /// CPU mappings made through the file.
    pub mappings: usize,
    /// Bytes they cover.
    pub mapped_bytes: u64,
    /// Contexts.
    pub contexts: usize,
    /// BO lists.
    pub bo_lists: usize,
    /// Sync objects.
    pub syncobjs: usize,
    /// User queues.
    pub user_queues: usize,
}

/// Live objects of a device, over all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCensus {
    /// Open files.
    pub files: u32,
    /// BOs that a handle, a mapping or a job keeps alive.
    pub bos: usize,
    /// VRAM in use, bytes.
    pub vram_bytes: u64,
    /// Visible VRAM in use, bytes.
    pub visible_vram_bytes: u64,
    /// GTT in use, bytes.
    pub gtt_bytes: u64,
}
