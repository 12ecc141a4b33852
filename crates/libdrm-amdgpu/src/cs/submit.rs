//! The old way to submit, which keeps sequence numbers and semaphores for the client.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{CsChunk, CsChunkDep, CsChunkFence, CsChunkIb, chunk_id};
use smallvec::SmallVec;

use super::{chunks::submit, context::Context, fence::CsFence, raw::FenceInfo, ring::Ring};
use crate::{
    bo::List,
    border::{Answer, Array, CValue, Failure, Handle, Items, entry},
};

/// Number of IBs and chunks for which nothing is allocated.
const FEW: usize = 4;

/// The structure `amdgpu_cs_ib_info` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
struct IbInfo {
    flags: u64,
    ib_mc_address: u64,
    /// In dwords.
    size: u32,
}

/// The structure `amdgpu_cs_request` of the header.
#[repr(C)]
#[derive(Clone, Copy)]
struct CsRequest {
    flags: u64,
    ip_type: u32,
    ip_instance: u32,
    ring: u32,
    resources: Handle<List>,
    number_of_dependencies: u32,
    dependencies: Array<CsFence>,
    number_of_ibs: u32,
    ibs: Array<IbInfo>,
    seq_no: u64,
    fence_info: FenceInfo,
}

const _: () = {
    assert!(size_of::<IbInfo>() == 24);
    assert!(size_of::<CsRequest>() == 88);
    assert!(std::mem::offset_of!(CsRequest, seq_no) == 64);
};

// SAFETY: integers.
unsafe impl CValue for IbInfo {}
// SAFETY: integers, handles and pointers.
unsafe impl CValue for CsRequest {}

/// Submits one request after the other, up to the first error.
#[unsafe(no_mangle)]
extern "C" fn amdgpu_cs_submit(context: Handle<Context>, _flags: u64, requests: Array<CsRequest>, count: u32) -> c_int {
    entry(|| {
        let context = context.get()?;
        let requests = requests.of(count as usize)?;
        for (index, request) in requests.iter().enumerate() {
            submit_one(context, &request, requests, index)?;
        }
        Ok(())
    })
}

/// Submits a request and writes its sequence number.
fn submit_one(context: &Context, request: &CsRequest, requests: Items<CsRequest>, index: usize) -> Answer {
    let ring = Ring::new(request.ip_type, 0, request.ring)?;
    let told = |sequence: u64| requests.put_part(index, std::mem::offset_of!(CsRequest, seq_no), sequence);
    if request.number_of_ibs == 0 {
        told(0);
        return Ok(());
    }
    if request.ip_instance != 0 {
        return Err(Failure::INVALID);
    }
    let ibs = ibs(request)?;
    let user_fence = if request.fence_info.bo.is_null() { None } else { Some(request.fence_info.chunk()?) };
    let dependencies = dependencies(request)?;

    // Until the kernel has answered, so that the sequence numbers of a ring are in order.
    let mut rings = context.rings();
    let mut signals = SmallVec::<[CsChunkDep; FEW]>::new();
    if !rings.waiting.is_empty() {
        let mine = rings.waiting.extract_if(.., |&mut (waiting, _)| waiting == ring.index());
        signals.extend(mine.filter_map(|(_, semaphore)| semaphore.reset()));
    }
    let mut chunks: SmallVec<[CsChunk; FEW]> = with_room(ibs.len().saturating_add(3))?;
    chunks.extend(ibs.iter().map(|ib| chunk(chunk_id::IB, std::slice::from_ref(ib))));
    chunks.extend(user_fence.as_ref().map(|fence: &CsChunkFence| chunk(chunk_id::FENCE, std::slice::from_ref(fence))));
    for fences in [&dependencies[..], &signals[..]] {
        if !fences.is_empty() {
            chunks.push(chunk(chunk_id::DEPENDENCIES, fences));
        }
    }
    let addresses = chunks.iter().map(|chunk| std::ptr::from_ref(chunk).expose_provenance() as u64);
    let list = request.resources.get().map_or(0, List::handle);
    // SAFETY: the chunks and their payloads are here until the end of the function.
    let sequence = unsafe { submit(context.device(), context, list, addresses) }?;
    rings.last[ring.index()] = sequence;
    drop(rings);
    told(sequence);
    Ok(())
}

/// Makes an array that is empty and has room, on the heap only if it is for more than a few.
#[inline]
fn with_room<T>(count: usize) -> Answer<SmallVec<[T; FEW]>> {
    let mut array = SmallVec::new();
    if count > FEW {
        array.try_reserve(count).map_err(|_| Failure::NO_MEMORY)?;
    }
    Ok(array)
}

fn ibs(request: &CsRequest) -> Answer<SmallVec<[CsChunkIb; FEW]>> {
    let count = request.number_of_ibs as usize;
    let infos = request.ibs.of(count)?;
    let mut ibs = with_room(count)?;
    ibs.extend(infos.iter().map(|ib| CsChunkIb {
        pad: 0,
        flags: ib.flags as u32,
        va_start: ib.ib_mc_address,
        ib_bytes: ib.size.wrapping_mul(4),
        ip_type: request.ip_type,
        ip_instance: request.ip_instance,
        ring: request.ring,
    }));
    Ok(ibs)
}

fn dependencies(request: &CsRequest) -> Answer<SmallVec<[CsChunkDep; FEW]>> {
    let count = request.number_of_dependencies as usize;
    let mut dependencies = with_room(count)?;
    if count > 0 {
        for fence in request.dependencies.of(count)?.iter() {
            dependencies.push(fence.dependency()?);
        }
    }
    Ok(dependencies)
}

/// Describes a payload.
fn chunk<T>(chunk_id: u32, payload: &[T]) -> CsChunk {
    CsChunk {
        chunk_id,
        length_dw: (size_of_val(payload) / size_of::<u32>()) as u32,
        chunk_data: payload.as_ptr().expose_provenance() as u64,
    }
}
