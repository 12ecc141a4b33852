//! Submissions, put together again.

use amdgpu_layers::{Chunk, Ioctl};
use amdgpu_winsys::uapi::{BoList, BoListEntry, Cs, CsChunk, chunk_id};

/// A copy of a submission.
pub(crate) struct Held {
    pub(crate) context: u32,
    pub(crate) chunks: Vec<Chunk>,
}

impl Held {
    pub(crate) fn new(call: &Ioctl<'_>) -> Self {
        Self { context: call.read::<Cs>().ctx_id, chunks: call.chunks() }
    }

    /// Returns what a call makes of the argument that it is, whose addresses are valid until then.
    pub(crate) fn submit<R>(&self, call: impl FnOnce(&mut Cs) -> R) -> R {
        let bos: Vec<BoListEntry> = self.chunks.iter().flat_map(|chunk| &chunk.bos).copied().collect();
        let list = BoList {
            operation: u32::MAX,
            list_handle: u32::MAX,
            bo_number: bos.len() as u32,
            bo_info_size: size_of::<BoListEntry>() as u32,
            bo_info_ptr: bos.as_ptr().expose_provenance() as u64,
        };
        let chunk = |Chunk { id, payload, .. }: &Chunk| {
            let data = match *id {
                chunk_id::BO_HANDLES => std::ptr::from_ref(&list).expose_provenance(),
                _ => payload.as_ptr().expose_provenance(),
            };
            CsChunk { chunk_id: *id, length_dw: payload.len() as u32, chunk_data: data as u64 }
        };
        let chunks: Vec<CsChunk> = self.chunks.iter().map(chunk).collect();
        let addresses: Vec<u64> =
            chunks.iter().map(|chunk| std::ptr::from_ref(chunk).expose_provenance() as u64).collect();
        call(&mut Cs {
            ctx_id: self.context,
            bo_list_handle: 0,
            num_chunks: addresses.len() as u32,
            flags: 0,
            chunks: addresses.as_ptr().expose_provenance() as u64,
        })
    }
}
