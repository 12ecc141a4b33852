//! The chunks of a submission.

use amdgpu_uapi::{Argument, BoListEntry, Cs, Request};
use zerocopy::FromBytes;

use crate::client::{calls, chunks, memory};

/// A chunk of a submission.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Its kind, of [`chunk_id`](amdgpu_uapi::chunk_id).
    pub id: u32,
    /// Its dwords.
    pub payload: Vec<u32>,
    /// The BOs that it lists, if it is a list of BOs.
    pub bos: Vec<BoListEntry>,
}

impl Chunk {
    /// Returns the chunks of a request that is about to be made, as far as they can be read.
    pub(super) fn of(request: Request, argument: &[u8]) -> Vec<Self> {
        if (request.kind(), request.number()) != (Cs::REQUEST.kind(), Cs::REQUEST.number()) {
            return Vec::new();
        }
        let pieces = calls::pieces(request, argument, &memory::peek_vec);
        let read: Vec<_> =
            pieces.iter().map(|piece| memory::peek_vec(piece.address, piece.len).unwrap_or_default()).collect();
        let chunk = |chunk: chunks::Chunk<'_>| Self {
            id: chunk.kind,
            payload: chunk.content.as_chunks().0.iter().map(|bytes| u32::from_ne_bytes(*bytes)).collect(),
            bos: chunk.entries.chunks_exact(size_of::<BoListEntry>()).filter_map(entry).collect(),
        };
        chunks::of(&read).map(chunk).collect()
    }
}

fn entry(bytes: &[u8]) -> Option<BoListEntry> {
    BoListEntry::read_from_bytes(bytes).ok()
}
