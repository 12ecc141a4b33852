//! A client that makes kernel requests directly, below the library, on any kernel.
#![expect(unsafe_code, reason = "the seam is unsafe; here it gets arguments of its own requests")]
#![expect(clippy::missing_panics_doc, reason = "a refused request is the end of any benchmark, as the type says")]

use amdgpu_winsys::{
    uapi::{
        Answered, Argument, BoList, BoListEntry, Cs, CsChunk, CsChunkIb, Ctx, CtxAllocAnswer, GemClose, GemCreate,
        GemDomain, GemMmap, GemVa, VaFlags, VaOperation, WaitCs, chunk_id, ctx_op,
    },
    winsys::{Ip, Kernel, Protection},
};
use zerocopy::{FromBytes, IntoBytes};

/// An open file with a context, for benchmarks. A refused request panics.
#[derive(Debug)]
pub struct Client<K> {
    /// The open file.
    pub kernel: K,
    /// The kernel's ID of the first context.
    pub context: u32,
}

impl<K: Kernel> Client<K> {
    /// Creates a client on an open file, with one context.
    pub fn new(kernel: K) -> Self {
        let mut client = Self { kernel, context: 0 };
        client.context = client.context();
        client
    }

    /// Sends a request to the kernel.
    pub fn send<A: Argument>(&self, argument: &mut A) {
        // SAFETY: the argument is the request's own structure; addresses in it are of live buffers of the right length.
        unsafe { self.kernel.ioctl(A::REQUEST, std::ptr::from_mut(argument).cast()) }.expect(A::NAME);
    }

    /// Sends a request to the kernel and returns the answer.
    pub fn ask<A: Answered>(&self, mut question: A) -> A::Answer {
        self.send(&mut question);
        question.answer()
    }

    /// Creates a BO of `bo_size` bytes in GTT and returns its handle.
    pub fn create(&self, bo_size: u64) -> u32 {
        let domains = GemDomain::GTT.bits();
        self.ask(GemCreate { bo_size, alignment: 0, domains, domain_flags: 0 }).handle
    }

    /// Closes a GEM handle.
    pub fn close(&self, handle: u32) {
        self.send(&mut GemClose { handle, pad: 0 });
    }

    /// Maps `map_size` bytes of a BO at a GPU address, or unmaps them, depending on `operation`.
    pub fn va(&self, operation: VaOperation, handle: u32, va_address: u64, map_size: u64) {
        let flags = (VaFlags::READABLE | VaFlags::WRITEABLE | VaFlags::EXECUTABLE).bits();
        let operation = operation as u32;
        self.send(&mut GemVa { handle, pad: 0, operation, flags, va_address, offset_in_bo: 0, map_size });
    }

    /// Creates a BO that is mapped at a GPU address, and returns its handle.
    pub fn bound(&self, va: u64, size: u64) -> u32 {
        let handle = self.create(size);
        self.va(VaOperation::Map, handle, va, size);
        handle
    }

    /// Stores dwords at the start of a BO.
    pub fn store(&self, handle: u32, dwords: &[u32]) {
        let bytes = dwords.as_bytes();
        let offset = self.ask(GemMmap { handle, pad: 0 }).addr_ptr;
        // SAFETY: without a wanted address nothing is replaced.
        let base = unsafe { self.kernel.mmap(bytes.len(), Protection::ReadWrite, None, offset) }.expect("mmap");
        // SAFETY: mmap mapped that many bytes, and no other code knows where.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), base.as_ptr(), bytes.len()) };
        // SAFETY: the mapping is this one, and nothing borrows from it.
        unsafe { self.kernel.munmap(base, bytes.len()) }.expect("munmap");
    }

    /// Creates another context and returns its ID.
    pub fn context(&self) -> u32 {
        let mut request = Ctx { op: ctx_op::ALLOC_CTX, ..Ctx::ZEROED };
        self.send(&mut request);
        CtxAllocAnswer::read_from_prefix(request.as_bytes()).expect("an answer").0.ctx_id
    }

    /// Submits one IB, given by its address and its length in bytes, and returns the sequence number of the submission.
    pub fn submit(&self, ctx_id: u32, ip: Ip, ib: (u64, u32), bos: &[BoListEntry]) -> u64 {
        let ib = CsChunkIb { va_start: ib.0, ib_bytes: ib.1, ip_type: ip as u32, ..CsChunkIb::ZEROED };
        let list = BoList {
            bo_number: bos.len() as u32,
            bo_info_size: size_of::<BoListEntry>() as u32,
            bo_info_ptr: address(bos.as_ptr()),
            ..BoList::ZEROED
        };
        let chunk = |chunk_id, bytes, chunk_data| CsChunk { chunk_id, length_dw: bytes as u32 / 4, chunk_data };
        let headers = [
            chunk(chunk_id::IB, size_of_val(&ib), address(&raw const ib)),
            chunk(chunk_id::BO_HANDLES, size_of_val(&list), address(&raw const list)),
        ];
        let pointers = [address(&raw const headers[0]), address(&raw const headers[1])];
        let chunks = address(pointers.as_ptr());
        self.ask(Cs { ctx_id, bo_list_handle: 0, num_chunks: 2, flags: 0, chunks }).handle
    }

    /// Waits without a time limit until a submission has completed.
    pub fn wait(&self, ctx_id: u32, ip: Ip, handle: u64) {
        let ip_type = ip as u32;
        let answer = self.ask(WaitCs { handle, timeout: u64::MAX, ip_type, ip_instance: 0, ring: 0, ctx_id });
        assert_eq!(answer.status, 0);
    }
}

fn address<T>(pointer: *const T) -> u64 {
    pointer.expose_provenance() as u64
}
