//! Submissions of chunks that the client made. They leave no trace in the context.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{CsChunk, CsChunkDep, CsChunkFence};

use super::{chunks::submit_array, context::Context, fence::CsFence};
use crate::{
    bo::{Bo, List},
    border::{Array, CValue, Failure, Handle, In, Out, entry, value},
    device::Device,
};

/// The structure `amdgpu_cs_fence_info` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct FenceInfo {
    pub(super) bo: Handle<Bo>,
    /// In units of eight bytes.
    pub(super) offset: u64,
}

// SAFETY: a handle and an integer.
unsafe impl CValue for FenceInfo {}

impl FenceInfo {
    /// Converts to the kernel's structure.
    pub(super) fn chunk(self) -> Result<CsChunkFence, Failure> {
        Ok(CsChunkFence { handle: self.bo.get()?.handle(), offset: self.offset.wrapping_mul(8) as u32 })
    }
}

/// Submits chunks with a list of this library.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_submit_raw(
    device: Handle<Device>,
    context: Handle<Context>,
    list: Handle<List>,
    count: c_int,
    chunks: Array<CsChunk>,
    sequence: Out<u64>,
) -> c_int {
    if count == 0 {
        return entry(|| Err(Failure::INVALID));
    }
    let list = list.get().map_or(0, List::handle);
    amdgpu_cs_submit_raw2(device, context, list, count, chunks, sequence)
}

/// Submits chunks with a list of the kernel.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_submit_raw2(
    device: Handle<Device>,
    context: Handle<Context>,
    list: u32,
    count: c_int,
    chunks: Array<CsChunk>,
    sequence: Out<u64>,
) -> c_int {
    entry(|| {
        sequence.put(submit_array(device.get()?, context.get()?, list, count, chunks)?);
        Ok(())
    })
}

/// Converts a fence to an element of a chunk of dependencies; nothing if something is null.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_chunk_fence_to_dep(fence: In<CsFence>, place: Out<CsChunkDep>) {
    value((), || {
        if let Ok(dependency) = fence.read().and_then(|fence| fence.dependency()) {
            place.put(dependency);
        }
    });
}

/// Converts the place of a user fence to the payload of a chunk; nothing if something is null.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_chunk_fence_info_to_data(info: In<FenceInfo>, place: Out<CsChunkFence>) {
    value((), || {
        if let Ok(chunk) = info.read().and_then(FenceInfo::chunk) {
            place.put(chunk);
        }
    });
}
