//! Counts of objects, for tests that look for leaks.

/// The numbers of objects of one open file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// The number of GEM handles.
    pub handles: usize,
    /// The size in bytes of the BOs of these handles.
    pub handle_bytes: u64,
    /// The number of GPU mappings.
    pub bindings: usize,
    /// The size of the GPU mappings in bytes.
    pub bound_bytes: u64,
    /// The number of CPU mappings created through the file.
    pub mappings: usize,
    /// The size of the CPU mappings in bytes.
    pub mapped_bytes: u64,
    /// The number of contexts.
    pub contexts: usize,
    /// The number of BO lists.
    pub bo_lists: usize,
    /// The number of sync objects.
    pub syncobjs: usize,
    /// The number of user queues.
    pub user_queues: usize,
}

/// The numbers of live objects of a device, over all files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceCensus {
    /// The number of open files.
    pub files: u32,
    /// The number of BOs that handles, mappings or jobs keep alive.
    pub bos: usize,
    /// The VRAM in use in bytes.
    pub vram_bytes: u64,
    /// The visible VRAM in use in bytes.
    pub visible_vram_bytes: u64,
    /// The GTT in use in bytes.
    pub gtt_bytes: u64,
}
