//! The structures of the header.

use std::ffi::c_char;

/// A GPU: `struct amdgpu_pool_gpu`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header describes the fields")]
pub struct CGpu {
    pub struct_size: u32,
    pub kind: u32,
    pub pci: *const c_char,
    pub render: *const c_char,
    pub limited_by: *const c_char,
    pub device_id: u32,
    pub is_asleep: u32,
    pub vram_total: u64,
    pub vram_usable: u64,
    pub vram_used: u64,
    pub visible_vram_total: u64,
    pub visible_vram_used: u64,
    pub gtt_total: u64,
    pub gtt_usable: u64,
    pub gtt_used: u64,
    pub total: u64,
    pub available: u64,
    pub largest_now: u64,
    pub largest_accepted: u64,
    pub largest_recommended: u64,
    pub own_vram: u64,
    pub own_gtt: u64,
    pub others_vram: u64,
    pub others_gtt: u64,
    pub shared_vram: u64,
    pub shared_gtt: u64,
    pub heaps: usize,
    pub limits: usize,
    pub missing: usize,
}

/// A Vulkan heap: `struct amdgpu_pool_heap`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header describes the fields")]
pub struct CHeap {
    pub struct_size: u32,
    pub is_device_local: u32,
    pub kind: *const c_char,
    pub size: u64,
    pub budget: u64,
    pub usage: u64,
    pub is_pooled: u32,
    pub pad: u32,
}

/// A limit: `struct amdgpu_pool_limit`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header describes the fields")]
pub struct CLimit {
    pub struct_size: u32,
    pub state: u32,
    pub bytes: u64,
    pub name: *const c_char,
    pub source: *const c_char,
    pub why: *const c_char,
}

/// The answer to whether bytes fit: `struct amdgpu_pool_fit`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
#[expect(missing_docs, reason = "the header describes the fields")]
pub struct CFit {
    pub struct_size: u32,
    pub verdict: u32,
    pub is_in_one_piece: u32,
    pub pad: u32,
    pub own_memory: u64,
    pub system_memory: u64,
    pub lacking: u64,
    pub reason: [c_char; 128],
}

/// A structure that begins with its size.
///
/// # Safety
///
/// The first field is `struct_size: u32`, and any prefix of the bytes may be written over a structure of the caller.
#[expect(unsafe_code, reason = "an implementation promises a layout")]
pub unsafe trait Sized32: Copy {}

// SAFETY: the first field is the size; the rest is plain numbers and pointers.
#[expect(unsafe_code, reason = "the layout is above")]
unsafe impl Sized32 for CGpu {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "the layout is above")]
unsafe impl Sized32 for CHeap {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "the layout is above")]
unsafe impl Sized32 for CLimit {}
// SAFETY: as above.
#[expect(unsafe_code, reason = "the layout is above")]
unsafe impl Sized32 for CFit {}
