//! The request CS.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{Answered as _, Cs, CsChunk};

use super::context::Context;
use crate::{
    border::{Answer, Array, Failure},
    device::Device,
};

/// Number of chunks, IBs or dependencies for which nothing is allocated.
pub(super) const FEW: usize = 8;

/// Puts values into an array: the one of the caller's stack, or, if it is too short, one on the heap. A vector with room inside would
/// be moved as a whole, which takes longer than all the rest of a submission.
///
/// # Errors
///
/// That of a value, or ENOMEM.
#[inline]
pub(super) fn gather<'a, T>(
    few: &'a mut [T],
    many: &'a mut Vec<T>,
    count: usize,
    values: impl Iterator<Item = Answer<T>>,
) -> Answer<&'a [T]> {
    if count <= few.len() {
        for (place, value) in few.iter_mut().zip(values) {
            *place = value?;
        }
        return Ok(&few[..count]);
    }
    many.try_reserve_exact(count).map_err(|_| Failure::NO_MEMORY)?;
    for value in values {
        many.push(value?);
    }
    Ok(many)
}

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
    let num_chunks = u32::try_from(chunks.len()).map_err(|_| Failure::INVALID)?;
    let (mut few, mut many) = ([0; FEW], Vec::new());
    let addresses = gather(&mut few, &mut many, chunks.len(), chunks.map(Ok))?;
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
