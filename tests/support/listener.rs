//! A layer that records what it is asked, and that can be older or smaller than the simulated one.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::sync::{Arc, Mutex};

use amdgpu_layers::{Answered, Chunk, Forward, Ioctl, Layer};
use amdgpu_sim::{SimDevice, SimKernel};
use amdgpu_winsys::{
    uapi::{Argument, Cs, chunk_id, query},
    winsys::Ip,
};

/// Records what the simulator is asked, and can change its answers to INFO.
pub(crate) struct Listener {
    /// The query whose answers are changed, and how.
    change: Option<(u32, Change)>,
    has_graphics: bool,
    heard: Arc<Heard>,
}

/// A change to the answer of an INFO query.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change {
    /// No more than this many bytes are written.
    Cut(u32),
    /// Everything is written, then all but this many bytes are overwritten with zeros.
    Zero(u32),
    /// Every dword of the answer is this.
    Dwords(u32),
    /// Every dword of the answer is this much more than the first of the input, and the query is never refused.
    Echo(u32),
}

/// The kind of a chunk, and its dwords; those of BO_HANDLES are the entries of the list.
type HeardChunk = (u32, Vec<u32>);

/// The calls that were heard.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The numbers of INFO queries.
    pub(crate) queries: Mutex<Vec<u32>>,
    /// The chunks of each submission.
    pub(crate) calls: Mutex<Vec<Vec<HeardChunk>>>,
}

impl Heard {
    /// Returns the kinds of the chunks of each submission.
    pub(crate) fn kinds(&self) -> Vec<Vec<u32>> {
        self.calls.lock().unwrap().iter().map(|call| call.iter().map(|chunk| chunk.0).collect()).collect()
    }

    /// Returns the number of IBs of each submission.
    pub(crate) fn ibs_of_calls(&self) -> Vec<usize> {
        self.kinds().iter().map(|kinds| kinds.iter().filter(|&&kind| kind == chunk_id::IB).count()).collect()
    }

    /// Returns the payloads of the chunks of a kind in the last submission.
    pub(crate) fn last_payloads(&self, kind: u32) -> Vec<Vec<u32>> {
        let calls = self.calls.lock().unwrap();
        calls.last().into_iter().flatten().filter(|chunk| chunk.0 == kind).map(|chunk| chunk.1.clone()).collect()
    }
}

impl Listener {
    fn over_gpu(gpu: &SimDevice, change: Option<(u32, Change)>, has_graphics: bool) -> (Listening, Arc<Heard>) {
        let heard = Arc::new(Heard::default());
        (Self { change, has_graphics, heard: Arc::clone(&heard) }.over(gpu.open()), heard)
    }

    pub(crate) fn new(gpu: &SimDevice) -> (Listening, Arc<Heard>) {
        Self::over_gpu(gpu, None, true)
    }

    pub(crate) fn changing(gpu: &SimDevice, query: u32, change: Change) -> (Listening, Arc<Heard>) {
        Self::over_gpu(gpu, Some((query, change)), true)
    }

    /// Listens to a chip whose graphics block is not told of.
    pub(crate) fn without_graphics(gpu: &SimDevice) -> Listening {
        Self::over_gpu(gpu, None, false).0
    }
}

/// The simulator, listened to.
pub(crate) type Listening = Forward<SimKernel, Listener>;

fn heard(Chunk { id, payload, bos }: Chunk) -> HeardChunk {
    let entries = || bos.iter().flat_map(|bo| [bo.bo_handle, bo.bo_priority]).collect();
    (id, if id == chunk_id::BO_HANDLES { entries() } else { payload })
}

impl Layer for Listener {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        if call.is(Cs::REQUEST) {
            self.heard.calls.lock().unwrap().push(call.chunks().into_iter().map(heard).collect());
        }
        let Some(info) = call.query() else { return call.forward() };
        self.heard.queries.lock().unwrap().push(info.query);
        if info.query == query::HW_IP_INFO && info.input[0] == Ip::Gfx as u32 && !self.has_graphics {
            return call.answer_info(&[]);
        }
        let len = info.return_size as usize;
        let repeated = |value: u32| value.to_ne_bytes().repeat(len / 4);
        match self.change.filter(|(query, _)| *query == info.query).map(|(_, change)| change) {
            None => call.forward(),
            Some(Change::Cut(most)) => call.forward_cut(most),
            Some(Change::Zero(from)) => patched(call, from as usize, &vec![0; len]),
            Some(Change::Dwords(value)) => patched(call, 0, &repeated(value)),
            Some(Change::Echo(more)) => call.answer_info(&repeated(info.input[0] + more)),
        }
    }
}

fn patched<'c>(call: Ioctl<'c>, offset: usize, bytes: &[u8]) -> Answered<'c> {
    let mut answered = call.forward();
    answered.patch_info(offset, bytes);
    answered
}
