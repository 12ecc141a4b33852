//! The chunks of a CS ioctl.

use amdgpu_uapi::{Argument, BoListEntry, Cs, Request};
use zerocopy::FromBytes;

use crate::client::{calls, chunks, memory};

/// A chunk of a CS ioctl.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Kind of the chunk, one of [`chunk_id`](amdgpu_uapi::chunk_id).
    pub id: u32,
    /// Content of the chunk in dwords.
    pub payload: Vec<u32>,
    /// The entries if the chunk is a BO list, otherwise empty.
    pub bos: Vec<BoListEntry>,
}

impl Chunk {
    /// Returns the chunks of a request before it is made. Content that cannot be read is empty.
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
