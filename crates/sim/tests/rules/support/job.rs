//! A submission, chunk by chunk.

use std::sync::Arc;

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        Answered, BoList, BoListEntry, Cs, CsChunk, CsChunkDep, CsChunkFence, CsChunkIb, CsChunkSem, CsChunkSyncobj,
        chunk_id,
    },
    winsys::Ip,
};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::{File, address};

/// A chunk with its payload.
#[derive(Clone, Debug)]
pub(crate) struct Chunk {
    id: u32,
    payload: Vec<u32>,
    /// The list that an address in the payload points at: clones share it.
    #[expect(dead_code, reason = "it is the kernel that reads it")]
    keep: Arc<[BoListEntry]>,
}

impl Chunk {
    /// Any payload under any id.
    pub(crate) fn new<T: IntoBytes + Immutable>(id: u32, values: &[T]) -> Self {
        let payload = <[u32]>::ref_from_bytes(values.as_bytes()).unwrap().to_vec();
        Self { id, payload, keep: Arc::new([]) }
    }

    /// An IB.
    pub(crate) fn ib(ip: Ip, ring: u32, (va_start, ib_bytes): (u64, u32)) -> Self {
        Self::new(chunk_id::IB, &[CsChunkIb { va_start, ib_bytes, ip_type: ip as u32, ring, ..CsChunkIb::ZEROED }])
    }

    /// The BOs.
    pub(crate) fn bos(handles: &[u32]) -> Self {
        let keep: Arc<[_]> = handles.iter().map(|&bo_handle| BoListEntry { bo_handle, bo_priority: 0 }).collect();
        let list = BoList {
            bo_number: keep.len() as u32,
            bo_info_size: size_of::<BoListEntry>() as u32,
            bo_info_ptr: address(&keep),
            ..BoList::ZEROED
        };
        Self { keep, ..Self::new(chunk_id::BO_HANDLES, &[list]) }
    }

    /// A job to wait for.
    pub(crate) fn after(ctx_id: u32, ip: Ip, ring: u32, handle: u64) -> Self {
        let ip_type = ip as u32;
        Self::new(chunk_id::DEPENDENCIES, &[CsChunkDep { ip_type, ring, ctx_id, handle, ..CsChunkDep::ZEROED }])
    }

    /// A job whose start is waited for.
    pub(crate) fn after_start(ctx_id: u32, ip: Ip, ring: u32, handle: u64) -> Self {
        Self { id: chunk_id::SCHEDULED_DEPENDENCIES, ..Self::after(ctx_id, ip, ring, handle) }
    }

    /// A sync object to wait for.
    pub(crate) fn wait(handle: u32) -> Self {
        Self::new(chunk_id::SYNCOBJ_IN, &[CsChunkSem { handle }])
    }

    /// A sync object to signal.
    pub(crate) fn signal(handle: u32) -> Self {
        Self::new(chunk_id::SYNCOBJ_OUT, &[CsChunkSem { handle }])
    }

    /// A point to wait for.
    pub(crate) fn wait_point(handle: u32, point: u64, flags: u32) -> Self {
        Self::new(chunk_id::SYNCOBJ_TIMELINE_WAIT, &[CsChunkSyncobj { handle, flags, point }])
    }

    /// A point to signal.
    pub(crate) fn signal_point(handle: u32, point: u64) -> Self {
        Self::new(chunk_id::SYNCOBJ_TIMELINE_SIGNAL, &[CsChunkSyncobj { handle, flags: 0, point }])
    }

    /// Creates the chunk with the destination of the sequence number.
    pub(crate) fn user_fence(handle: u32, offset: u32) -> Self {
        Self::new(chunk_id::FENCE, &[CsChunkFence { handle, offset }])
    }
}

/// A submission.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    context: u32,
    list: u32,
    chunks: Vec<Chunk>,
}

impl Job {
    pub(crate) fn new(context: u32) -> Self {
        Self { context, list: 0, chunks: Vec::new() }
    }

    pub(crate) fn with(mut self, chunk: Chunk) -> Self {
        self.chunks.push(chunk);
        self
    }

    pub(crate) fn with_list(self, list: u32) -> Self {
        Self { list, ..self }
    }

    /// CS: the sequence number.
    pub(crate) fn send(&self, file: &File) -> Result<u64, Errno> {
        let headers: Vec<CsChunk> = self
            .chunks
            .iter()
            .map(|Chunk { id, payload, .. }| CsChunk {
                chunk_id: *id,
                length_dw: payload.len() as u32,
                chunk_data: address(payload),
            })
            .collect();
        let addresses: Vec<u64> = headers.iter().map(|header| address(std::slice::from_ref(header))).collect();
        let mut request = Cs {
            ctx_id: self.context,
            bo_list_handle: self.list,
            num_chunks: addresses.len() as u32,
            flags: 0,
            chunks: address(&addresses),
        };
        let before = request;
        let result = file.send(&mut request);
        if result.is_err() {
            assert_eq!(request, before, "a CS that fails alters nothing");
        }
        result.map(|()| request.answer().handle)
    }
}
