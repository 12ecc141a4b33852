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

/// What was asked.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// The numbers of INFO queries.
    pub(crate) queries: Mutex<Vec<u32>>,
    /// The kinds of the chunks of each submission.
    pub(crate) chunks: Mutex<Vec<Vec<u32>>>,
}

impl Heard {
    /// The number of IBs of each submission.
    pub(crate) fn ibs_of_calls(&self) -> Vec<usize> {
        let calls = self.chunks.lock().unwrap();
        calls.iter().map(|chunks| chunks.iter().filter(|&&chunk| chunk == chunk_id::IB).count()).collect()
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

    /// The kinds of the chunks of a submission.
    ///
    /// # Safety
    ///
    /// `argument` is a [`Cs`] whose addresses are good.
    unsafe fn kinds(argument: *const Cs) -> Vec<u32> {
        // SAFETY: the caller says so.
        let cs = unsafe { argument.read() };
        let table = std::ptr::with_exposed_provenance::<u64>(cs.chunks as usize);
        let kind = |index: usize| {
            // SAFETY: the table has `num_chunks` addresses, and `index` is less.
            let header = unsafe { table.wrapping_add(index).read() };
            // SAFETY: each of them is the address of a header.
            unsafe { std::ptr::with_exposed_provenance::<CsChunk>(header as usize).read() }.chunk_id
        };
        (0..cs.num_chunks as usize).map(kind).collect()
    }
}

// SAFETY: every call is passed on to the simulator, with the caller's argument or with one that allows to write less.
unsafe impl Kernel for Listener {
    fn open_file(&self) -> OpenFile<'_> {
        self.inner.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        if request.number() == Cs::REQUEST.number() {
            // SAFETY: the argument of a submission is one, with good addresses by the caller's promise.
            let kinds = unsafe { Self::kinds(argument.cast()) };
            self.heard.chunks.lock().unwrap().push(kinds);
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
