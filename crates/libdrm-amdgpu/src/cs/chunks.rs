//! The request CS.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{Answered as _, Cs, CsChunk};
use smallvec::SmallVec;

use super::context::Context;
use crate::{
    border::{Answer, Array, Failure},
    device::Device,
};

/// Number of chunks for which nothing is allocated.
const FEW: usize = 16;

/// Submits the chunks at some addresses, and returns the sequence number.
///
/// # Safety
///
/// Each address is that of a chunk with a valid payload, as far as the client is not to blame.
pub(super) unsafe fn submit(device: &Device, context: &Context, list: u32, chunks: &[u64]) -> Answer<u64> {
    let num_chunks = u32::try_from(chunks.len()).map_err(|_| Failure::INVALID)?;
    let mut argument = Cs {
        ctx_id: context.id(),
        bo_list_handle: list,
        num_chunks,
        flags: 0,
        chunks: chunks.as_ptr().expose_provenance() as u64,
    };
    // SAFETY: an array of as many addresses as the number says, which are the caller's promise.
    unsafe { device.kernel()?.follow(&mut argument) }?;
    Ok(argument.answer().handle)
}

/// Submits chunks of the client's.
pub(super) fn submit_array(
    device: &Device,
    context: &Context,
    list: u32,
    count: c_int,
    chunks: Array<CsChunk>,
) -> Answer<u64> {
    let count = usize::try_from(count).map_err(|_| Failure::INVALID)?;
    let mut addresses = SmallVec::<[u64; FEW]>::new();
    if count > 0 {
        addresses.try_reserve(count).map_err(|_| Failure::NO_MEMORY)?;
        addresses.extend(chunks.of(count)?.addresses());
    }
    // SAFETY: the chunks are the client's.
    unsafe { submit(device, context, list, &addresses) }
}
