//! A kernel that records what it is asked, and that can be older or smaller than the simulated one.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![expect(unsafe_code, reason = "a kernel around a kernel")]

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
    sync::{Arc, Mutex},
};

use amdgpu_sim::{SimDevice, SimKernel};
use amdgpu_winsys::{
    uapi::{Argument, Cs, CsChunk, Info, Request, chunk_id, query},
    winsys::{Ip, Kernel, OpenFile, Protection},
};
use nix::errno::Errno;

/// The simulator behind a layer that records what it is asked, and that can change its answers to INFO.
pub(crate) struct Listener {
    inner: SimKernel,
    /// The query whose answers are changed, and how.
    change: Option<(u32, Change)>,
    pub(crate) has_graphics: bool,
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

/// A chunk of a submission: its kind, and the dwords of its payload. That of BO_HANDLES is the entries of the list.
pub(crate) type Chunk = (u32, Vec<u32>);

/// What was asked.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The numbers of INFO queries.
    pub(crate) queries: Mutex<Vec<u32>>,
    /// The chunks of each submission.
    pub(crate) calls: Mutex<Vec<Vec<Chunk>>>,
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
    pub(crate) fn new(gpu: &SimDevice) -> (Self, Arc<Heard>) {
        let heard = Arc::new(Heard::default());
        (Self { inner: gpu.open(), change: None, has_graphics: true, heard: Arc::clone(&heard) }, heard)
    }

    pub(crate) fn changing(gpu: &SimDevice, query: u32, change: Change) -> (Self, Arc<Heard>) {
        let (kernel, heard) = Self::new(gpu);
        (Self { change: Some((query, change)), ..kernel }, heard)
    }

    /// Returns the chunks of a submission.
    ///
    /// # Safety
    ///
    /// `argument` is a [`Cs`] whose addresses are good.
    unsafe fn chunks(argument: *const Cs) -> Vec<Chunk> {
        // SAFETY: the caller says so.
        let cs = unsafe { argument.read() };
        let chunk = |header: [u32; 2]| {
            // SAFETY: the table holds the addresses of headers.
            let chunk = unsafe { std::ptr::with_exposed_provenance::<CsChunk>(address(header)).read() };
            // SAFETY: the header says where its payload is, and how long.
            let payload = unsafe { dwords(chunk.chunk_data as usize, chunk.length_dw as usize) };
            match *payload {
                [_, _, entries, _, low, high] if chunk.chunk_id == chunk_id::BO_HANDLES => {
                    // SAFETY: the payload says where the entries are, of two dwords each, and how many.
                    (chunk.chunk_id, unsafe { dwords(address([low, high]), 2 * entries as usize) })
                }
                _ => (chunk.chunk_id, payload),
            }
        };
        // SAFETY: the table has `num_chunks` addresses.
        let table = unsafe { dwords(cs.chunks as usize, 2 * cs.num_chunks as usize) };
        table.chunks_exact(2).map(|header| chunk([header[0], header[1]])).collect()
    }
}

fn address([low, high]: [u32; 2]) -> usize {
    (u64::from(high) << 32 | u64::from(low)) as usize
}

/// Copies dwords from an address.
///
/// # Safety
///
/// There are `len` readable dwords at `address`, which is a multiple of 4, unless `len` is 0.
unsafe fn dwords(address: usize, len: usize) -> Vec<u32> {
    if len == 0 {
        return Vec::new();
    }
    // SAFETY: the caller says so.
    unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance(address), len) }.to_vec()
}

// SAFETY: every call is passed on to the simulator, with the caller's argument or with one that allows to write less.
unsafe impl Kernel for Listener {
    fn open_file(&self) -> OpenFile<'_> {
        self.inner.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        if request.number() == Cs::REQUEST.number() {
            // SAFETY: the argument of a submission is one, with good addresses by the caller's promise.
            let chunks = unsafe { Self::chunks(argument.cast()) };
            self.heard.calls.lock().unwrap().push(chunks);
        }
        if request.number() != Info::REQUEST.number() {
            // SAFETY: the caller's promises are passed on unchanged.
            return unsafe { self.inner.ioctl(request, argument) };
        }
        // SAFETY: an INFO argument is an `Info`.
        let mut info = unsafe { argument.cast::<Info>().read() };
        self.heard.queries.lock().unwrap().push(info.query);
        if info.query == query::HW_IP_INFO && info.input[0] == Ip::Gfx as u32 && !self.has_graphics {
            return Ok(0);
        }
        let len = info.return_size;
        let change = self.change.filter(|(query, _)| *query == info.query).map(|(_, change)| change);
        if let Some(Change::Cut(most)) = change {
            info.return_size = len.min(most);
        }
        // SAFETY: as the caller promised, but for a buffer that is as long or shorter.
        let mut result = unsafe { self.inner.ioctl(request, std::ptr::from_mut(&mut info).cast()) };
        let repeated = |value: u32| value.to_ne_bytes().repeat(len as usize / 4);
        let (from, bytes) = match change {
            Some(Change::Dwords(value)) => (0, repeated(value)),
            Some(Change::Echo(more)) => (0, repeated(info.input[0] + more)),
            Some(Change::Zero(from)) => (from.min(len) as usize, vec![0; len.saturating_sub(from) as usize]),
            Some(Change::Cut(_)) | None => return result,
        };
        if matches!(change, Some(Change::Echo(_))) {
            result = Ok(0);
        }
        let answer = std::ptr::with_exposed_provenance_mut::<u8>(info.return_pointer as usize).wrapping_add(from);
        // SAFETY: the caller promised `len` bytes, and there are no more than that from the start on.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), answer, bytes.len()) };
        result
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.mmap(len, protection, at, offset) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.munmap(address, len) }
    }
}
