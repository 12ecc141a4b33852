//! Submissions, taken apart and put together again.

use std::ffi::c_int;

use amdgpu_winsys::uapi::{Argument, BoList, BoListEntry, Cs, CsChunk, chunk_id};
use nix::errno::Errno;

use crate::saboteur::Below;

/// The chunks of a submission, with their addresses.
pub(crate) fn chunks(submission: &Cs) -> impl Iterator<Item = (u64, CsChunk)> {
    let (address, count) = (submission.chunks as usize, submission.num_chunks as usize);
    // SAFETY: the library built the submission: that many addresses of chunk headers are there.
    let addresses = unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u64>(address), count) };
    addresses.iter().map(|&at| {
        // SAFETY: as above.
        (at, unsafe { *std::ptr::with_exposed_provenance::<CsChunk>(at as usize) })
    })
}

/// A copy of a submission.
pub(crate) struct Held {
    pub(crate) context: u32,
    /// Kind and payload of each chunk.
    pub(crate) chunks: Vec<(u32, Vec<u32>)>,
    bos: Vec<BoListEntry>,
}

impl Held {
    pub(crate) fn new(submission: &Cs) -> Self {
        let mut held = Self { context: submission.ctx_id, chunks: Vec::new(), bos: Vec::new() };
        for (_, chunk) in chunks(submission) {
            if chunk.chunk_id == chunk_id::BO_HANDLES {
                let list = std::ptr::with_exposed_provenance::<BoList>(chunk.chunk_data as usize);
                // SAFETY: a chunk of this kind holds the address of a `BoList`.
                let list = unsafe { *list };
                let entries = std::ptr::with_exposed_provenance::<BoListEntry>(list.bo_info_ptr as usize);
                // SAFETY: which holds the address of that number of entries.
                held.bos = unsafe { std::slice::from_raw_parts(entries, list.bo_number as usize) }.to_vec();
            }
            let dwords = std::ptr::with_exposed_provenance::<u32>(chunk.chunk_data as usize);
            // SAFETY: a chunk has this number of dwords.
            let dwords = unsafe { std::slice::from_raw_parts(dwords, chunk.length_dw as usize) };
            held.chunks.push((chunk.chunk_id, dwords.to_vec()));
        }
        held
    }

    /// Passes it on.
    pub(crate) fn submit(&self, below: &Below) -> Result<c_int, Errno> {
        let list = BoList {
            operation: u32::MAX,
            list_handle: u32::MAX,
            bo_number: self.bos.len() as u32,
            bo_info_size: size_of::<BoListEntry>() as u32,
            bo_info_ptr: self.bos.as_ptr().expose_provenance() as u64,
        };
        let chunk = |(id, dwords): &(u32, Vec<u32>)| {
            let data = match *id {
                chunk_id::BO_HANDLES => std::ptr::from_ref(&list).expose_provenance(),
                _ => dwords.as_ptr().expose_provenance(),
            };
            CsChunk { chunk_id: *id, length_dw: dwords.len() as u32, chunk_data: data as u64 }
        };
        let chunks: Vec<CsChunk> = self.chunks.iter().map(chunk).collect();
        let addresses: Vec<u64> =
            chunks.iter().map(|chunk| std::ptr::from_ref(chunk).expose_provenance() as u64).collect();
        let mut submission = Cs {
            ctx_id: self.context,
            bo_list_handle: 0,
            num_chunks: addresses.len() as u32,
            flags: 0,
            chunks: addresses.as_ptr().expose_provenance() as u64,
        };
        below.ask(Cs::REQUEST, std::ptr::from_mut(&mut submission).cast())
    }
}
