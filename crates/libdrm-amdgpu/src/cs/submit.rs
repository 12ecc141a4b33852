//! The old way to submit, which keeps sequence numbers and semaphores for the client.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{CsChunk, CsChunkDep, CsChunkFence, CsChunkIb, chunk_id};

use super::{
    chunks::{FEW, gather, submit},
    context::Context,
    fence::CsFence,
    raw::FenceInfo,
    ring::Ring,
};
use crate::{
    bo::List,
    border::{Answer, Array, CValue, Failure, Handle, Items, entry},
};

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
    let (mut few_ibs, mut many_ibs) = ([CsChunkIb::ZEROED; FEW], Vec::new());
    let count = request.number_of_ibs as usize;
    let infos = request.ibs.of(count)?.iter().map(|info| Ok(ib(request, &info)));
    let ibs = gather(&mut few_ibs, &mut many_ibs, count, infos)?;
    let user_fence = if request.fence_info.bo.is_null() { None } else { Some(request.fence_info.chunk()?) };
    let (mut few_fences, mut many_fences);
    let dependencies = match request.number_of_dependencies as usize {
        0 => &[],
        count => {
            (few_fences, many_fences) = ([CsChunkDep::ZEROED; FEW], Vec::new());
            let fences = request.dependencies.of(count)?.iter().map(|fence| fence.dependency());
            gather(&mut few_fences, &mut many_fences, count, fences)?
        }
    };

    // Until the kernel has answered, so that the sequence numbers of a ring are in order.
    let mut rings = context.rings();
    let signals = rings.take_signals(ring.index())?;
    let others = [
        user_fence.as_ref().map(|fence: &CsChunkFence| chunk(chunk_id::FENCE, std::slice::from_ref(fence))),
        (!dependencies.is_empty()).then(|| chunk(chunk_id::DEPENDENCIES, dependencies)),
        (!signals.is_empty()).then(|| chunk(chunk_id::DEPENDENCIES, &signals)),
    ];
    let (mut few_chunks, mut many_chunks) = ([CsChunk::ZEROED; FEW], Vec::new());
    let count = ibs.len().saturating_add(others.iter().flatten().count());
    let bodies = ibs.iter().map(|ib| chunk(chunk_id::IB, std::slice::from_ref(ib)));
    let chunks = gather(&mut few_chunks, &mut many_chunks, count, bodies.chain(others.into_iter().flatten()).map(Ok))?;
    let addresses = chunks.iter().map(|chunk| std::ptr::from_ref(chunk).expose_provenance() as u64);
    let list = request.resources.get().map_or(0, List::handle);
    // SAFETY: the chunks and their payloads are here until the end of the function.
    let sequence = unsafe { submit(context.device(), context, list, addresses) }?;
    rings.last[ring.index()] = sequence;
    drop(rings);
    told(sequence);
    Ok(())
}

/// Converts to the kernel's structure.
fn ib(request: &CsRequest, info: &IbInfo) -> CsChunkIb {
    CsChunkIb {
        pad: 0,
        flags: info.flags as u32,
        va_start: info.ib_mc_address,
        ib_bytes: info.size.wrapping_mul(4),
        ip_type: request.ip_type,
        ip_instance: request.ip_instance,
        ring: request.ring,
    }
}

/// Describes a payload.
fn chunk<T>(chunk_id: u32, payload: &[T]) -> CsChunk {
    CsChunk {
        chunk_id,
        length_dw: (size_of_val(payload) / size_of::<u32>()) as u32,
        chunk_data: payload.as_ptr().expose_provenance() as u64,
    }
}
