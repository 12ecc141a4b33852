//! The request CS.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{Answered as _, Cs, CsChunk};

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
#[inline]
pub(super) unsafe fn submit(
    device: &Device,
    context: &Context,
    list: u32,
    chunks: impl ExactSizeIterator<Item = u64>,
) -> Answer<u64> {
    let count = chunks.len();
    if count > FEW {
        let mut addresses = Vec::new();
        addresses.try_reserve_exact(count).map_err(|_| Failure::NO_MEMORY)?;
        addresses.extend(chunks);
        // SAFETY: the caller's promise.
        return unsafe { request(device, context, list, &addresses) };
    }
    // Not a vector with room inside, whose bookkeeping takes longer than all the rest of a submission.
    let mut addresses = [0; FEW];
    for (place, chunk) in addresses.iter_mut().zip(chunks) {
        *place = chunk;
    }
    // SAFETY: the caller's promise.
    unsafe { request(device, context, list, &addresses[..count]) }
}

/// Makes the request.
///
/// # Safety
///
/// The requirements of [`submit`].
#[inline]
unsafe fn request(device: &Device, context: &Context, list: u32, addresses: &[u64]) -> Answer<u64> {
    let num_chunks = u32::try_from(addresses.len()).map_err(|_| Failure::INVALID)?;
    let mut argument = Cs {
        ctx_id: context.id(),
        bo_list_handle: list,
        num_chunks,
        flags: 0,
        chunks: addresses.as_ptr().expose_provenance() as u64,
    };
    // SAFETY: an array of as many addresses as the number says, which are the caller's promise.
    unsafe { device.kernel()?.follow(&mut argument) }?;
    Ok(argument.answer().handle)
}

/// Submits chunks of the client's.
#[inline]
pub(super) fn submit_array(
    device: &Device,
    context: &Context,
    list: u32,
    count: c_int,
    chunks: Array<CsChunk>,
) -> Answer<u64> {
    let count = usize::try_from(count).map_err(|_| Failure::INVALID)?;
    if count == 0 {
        // SAFETY: there are no chunks.
        return unsafe { submit(device, context, list, std::iter::empty()) };
    }
    // SAFETY: the chunks are the client's.
    unsafe { submit(device, context, list, chunks.of(count)?.addresses()) }
}
