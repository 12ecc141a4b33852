//! A kernel that shows every call to a test before it is made, and holds no lock meanwhile: the test may keep it waiting.
#![expect(unsafe_code, reason = "a wrapper of the seam is a kernel itself")]
#![allow(dead_code, reason = "each test binary uses a part of it")]

use std::{
    ffi::{c_int, c_void},
    ptr::{NonNull, with_exposed_provenance},
    sync::Arc,
};

use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    uapi::{Argument, Cs, CsChunk, OpenFile, Request, chunk_id},
    winsys::{Kernel, NotReserved, Protection},
};
use nix::errno::Errno;
use parking_lot::RwLock;

/// A request as it goes to the kernel.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    pub(crate) request: Request,
    /// The argument's dwords; a rest that is none does not count.
    pub(crate) argument: Vec<u32>,
    /// Ids and payloads of the chunks of a submission.
    pub(crate) chunks: Vec<(u32, Vec<u32>)>,
    /// Handles and priorities of the BOs that a submission carries.
    pub(crate) bos: Vec<(u32, u32)>,
}

impl Seen {
    /// Whether it is this request, whatever size it is sent with.
    pub(crate) fn is<A: Argument>(&self) -> bool {
        (self.request.kind(), self.request.number()) == (A::REQUEST.kind(), A::REQUEST.number())
    }

    /// The chunks of one kind.
    pub(crate) fn chunks_of(&self, id: u32) -> impl Iterator<Item = &[u32]> {
        self.chunks.iter().filter(move |(known, _)| *known == id).map(|(_, payload)| payload.as_slice())
    }
}

type Hook = Arc<dyn Fn(&Seen) + Send + Sync>;

/// The simulator behind a hook.
pub(crate) struct Spy {
    inner: SimKernel,
    hook: RwLock<Option<Hook>>,
}

impl Spy {
    pub(crate) fn new(inner: SimKernel) -> Arc<Self> {
        Arc::new(Self { inner, hook: RwLock::new(None) })
    }

    /// Shows every request to `hook` from now on.
    pub(crate) fn watch(&self, hook: impl Fn(&Seen) + Send + Sync + 'static) {
        *self.hook.write() = Some(Arc::new(hook));
    }

    /// Shows requests to nobody any more. One that is being shown stays where it is.
    pub(crate) fn look_away(&self) {
        *self.hook.write() = None;
    }
}

/// Dwords at an address.
///
/// # Safety
///
/// As many are readable there.
unsafe fn dwords(address: *const u32, count: usize) -> Vec<u32> {
    // SAFETY: the caller's word; a chunk's payload need not be aligned.
    (0..count).map(|at| unsafe { address.wrapping_add(at).read_unaligned() }).collect()
}

/// The chunks of a submission.
///
/// # Safety
///
/// The argument is that of a submission which is being made.
unsafe fn chunks(argument: &Cs) -> Vec<(u32, Vec<u32>)> {
    let headers = with_exposed_provenance::<u64>(argument.chunks as usize);
    let read = |at| {
        // SAFETY: the library promises as many addresses of headers as it says.
        let header = unsafe { headers.wrapping_add(at).read_unaligned() };
        // SAFETY: each leads to a header.
        let header = unsafe { with_exposed_provenance::<CsChunk>(header as usize).read_unaligned() };
        // SAFETY: and each header to as many dwords as it says.
        let payload = unsafe { dwords(with_exposed_provenance(header.chunk_data as usize), header.length_dw as usize) };
        (header.chunk_id, payload)
    };
    (0..argument.num_chunks as usize).map(read).collect()
}

/// The entries of a list of BOs.
///
/// # Safety
///
/// The chunk is that of a submission which is being made.
unsafe fn entries(list: &[u32]) -> Vec<(u32, u32)> {
    let (count, address) = (list[2] as usize, u64::from(list[4]) | u64::from(list[5]) << 32);
    // SAFETY: the library promises as many entries of two dwords as it says.
    let words = unsafe { dwords(with_exposed_provenance(address as usize), 2 * count) };
    words.chunks_exact(2).map(|entry| (entry[0], entry[1])).collect()
}

// SAFETY: every call is passed on unchanged after it was looked at; the promises are those of the simulator.
unsafe impl Kernel for Spy {
    fn open_file(&self) -> OpenFile<'_> {
        self.inner.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        let hook = self.hook.read().clone();
        if let Some(hook) = hook {
            let count = if argument.is_null() { 0 } else { request.size() / 4 };
            // SAFETY: the caller vouches for `request.size()` readable bytes.
            let words = unsafe { dwords(argument.cast(), count) };
            let mut seen = Seen { request, argument: words, chunks: Vec::new(), bos: Vec::new() };
            if seen.is::<Cs>() {
                // SAFETY: a submission's argument is a `Cs`.
                let submission = unsafe { argument.cast::<Cs>().read_unaligned() };
                // SAFETY: it is being made.
                seen.chunks = unsafe { chunks(&submission) };
                let list = seen.chunks_of(chunk_id::BO_HANDLES).next().map(<[u32]>::to_vec);
                // SAFETY: the list is part of the submission that is being made.
                seen.bos = list.map(|list| unsafe { entries(&list) }).unwrap_or_default();
            }
            hook(&seen);
        }
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.ioctl(request, argument) }
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

    unsafe fn reserve(&self, address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.inner.reserve(address, len) }
    }
}
