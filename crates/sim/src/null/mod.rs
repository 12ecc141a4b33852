//! A kernel that agrees to everything, at once.

mod memory;
mod numbers;

use std::{
    ffi::{c_int, c_void},
    mem::offset_of,
    os::fd::{IntoRawFd as _, OwnedFd},
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use amdgpu_uapi::{
    Argument as _, BoList, Client, Cs, CsChunk, CsChunkFence, Ctx, Errno, FENCE_TO_SYNCOBJ, FenceToHandle, GemCreate,
    GemMmap, GemUserptr, GemWaitIdle, GetCap, Info, Kernel, OpenFile, PRIME_FD_TO_HANDLE, PrimeHandle, Protection,
    Request, SYNCOBJ_FD_TO_HANDLE, SetClientCap, SyncobjCreate, SyncobjHandle, SyncobjTimelineArray,
    SyncobjTimelineWait, SyncobjWait, Unique, Version, WaitCs, WaitFences, bo_list_op, chunk_id, ctx_op,
};
use nix::sys::eventfd::{EfdFlags, EventFd};
use zerocopy::{Immutable, IntoBytes};

use self::{memory::NullMemory, numbers::Numbers};
use crate::{Profile, SimKernel, kernel::user};

/// The point that every timeline reports as reached.
const REACHED: u64 = u64::MAX >> 1;

/// A kernel that does nothing and is done at once: what remains is the time that user space takes.
///
/// Bring-up (VERSION, GET_UNIQUE, GET_CLIENT, GET_CAP, SET_CLIENT_CAP and INFO) is answered from a capture, by a simulated
/// file. Every other request succeeds without looking at what it names:
///
/// * handles, contexts and lists are numbers that count up, in each thread;
/// * a submission gets the next sequence number and has signalled when the call returns: its user fence is written, and
///   waits for it, or for any sync object, succeed at once;
/// * a BO is mapped to zeroed memory of its own each time, so that what one mapping holds another does not. Mapping and
///   unmapping make no system call; memory that was written to is given back when the kernel is dropped;
/// * an exported descriptor is an eventfd that can be read.
///
/// Nothing is refused, and nothing wrong is noticed: for tests there is [`SimKernel`].
///
/// ```
/// use amdgpu_sim::{NullKernel, profile};
/// use amdgpu_winsys::{heaps::*, winsys::Device};
///
/// let device = Device::new(NullKernel::open(profile("navi21").ok_or("no such chip")?)?)?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let mut memory = manager.allocate(&AllocateInfo::new(5, 64 << 10))?;
/// memory.map()?.write(0, b"hello")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct NullKernel {
    facts: SimKernel,
    handles: Numbers,
    submissions: AtomicU64,
    memory: NullMemory,
}

impl NullKernel {
    /// Opens a null kernel that describes itself as this chip.
    ///
    /// # Errors
    ///
    /// ENOMEM where the host does not let a GiB of addresses be reserved; 16 TiB are asked for first.
    pub fn open(profile: impl Into<Arc<Profile>>) -> Result<Self, Errno> {
        let (handles, submissions) = (Numbers::new(), AtomicU64::new(0));
        Ok(Self { facts: SimKernel::open(profile), handles, submissions, memory: NullMemory::reserve()? })
    }

    /// Returns `true` if `mmap` at this offset is meant for a null kernel. No file is that long.
    pub const fn is_offset(offset: u64) -> bool {
        memory::handle_of(offset).is_some()
    }

    /// Returns `true` if an address lies in what `mmap` hands out.
    pub fn owns(&self, address: usize) -> bool {
        self.memory.contains(address)
    }

    fn answer(&self, request: Request, argument: &At) -> Result<(), Errno> {
        const CREATE: u8 = GemCreate::REQUEST.number();
        const MMAP: u8 = GemMmap::REQUEST.number();
        const USERPTR: u8 = GemUserptr::REQUEST.number();
        const WAIT_IDLE: u8 = GemWaitIdle::REQUEST.number();
        const CTX: u8 = Ctx::REQUEST.number();
        const BO_LIST: u8 = BoList::REQUEST.number();
        const CS: u8 = Cs::REQUEST.number();
        const WAIT_CS: u8 = WaitCs::REQUEST.number();
        const WAIT_FENCES: u8 = WaitFences::REQUEST.number();
        const FENCE_TO_HANDLE: u8 = FenceToHandle::REQUEST.number();
        const IMPORT: u8 = PRIME_FD_TO_HANDLE.number();
        const EXPORT: u8 = PrimeHandle::REQUEST.number();
        const SYNCOBJ_CREATE: u8 = SyncobjCreate::REQUEST.number();
        const SYNCOBJ_EXPORT: u8 = SyncobjHandle::REQUEST.number();
        const SYNCOBJ_IMPORT: u8 = SYNCOBJ_FD_TO_HANDLE.number();
        const SYNCOBJ_WAIT: u8 = SyncobjWait::REQUEST.number();
        const TIMELINE_WAIT: u8 = SyncobjTimelineWait::REQUEST.number();
        const QUERY: u8 = SyncobjTimelineArray::REQUEST.number();
        match request.number() {
            CREATE | SYNCOBJ_CREATE | SYNCOBJ_IMPORT | IMPORT => argument.put(0, &self.handles.next()),
            MMAP => argument.put(0, &memory::offset_of(argument.get(0)?)),
            USERPTR => argument.put(offset_of!(GemUserptr, handle), &self.handles.next()),
            CTX if argument.get::<u32>(0)? == ctx_op::ALLOC_CTX => argument.put(0, &u64::from(self.handles.next())),
            BO_LIST if argument.get::<u32>(0)? == bo_list_op::CREATE => argument.put(0, &self.handles.next()),
            CTX => argument.put(0, &[0_u64; 2]),
            CS => self.submit(argument),
            WAIT_CS | WAIT_IDLE => argument.put(0, &0_u64),
            // Status 1, and the first of them.
            WAIT_FENCES => argument.put(0, &1_u64),
            FENCE_TO_HANDLE if argument.get::<u32>(size_of::<u64>() * 3)? == FENCE_TO_SYNCOBJ => {
                argument.put(0, &self.handles.next())
            }
            FENCE_TO_HANDLE => argument.put(0, &descriptor()?),
            EXPORT => argument.put(offset_of!(PrimeHandle, fd), &descriptor()?),
            SYNCOBJ_EXPORT => argument.put(offset_of!(SyncobjHandle, fd), &descriptor()?),
            SYNCOBJ_WAIT => argument.put(offset_of!(SyncobjWait, first_signaled), &0_u32),
            TIMELINE_WAIT => argument.put(offset_of!(SyncobjTimelineWait, first_signaled), &0_u32),
            QUERY => reach_all(&argument.get(0)?),
            _ => Ok(()),
        }
    }

    /// Counts a submission, and writes its number where it wants it.
    ///
    /// Fields are read one by one, as they were written: a processor that is to load several stores at once waits until
    /// they have reached the cache, and who submits would be measured waiting.
    fn submit(&self, argument: &At) -> Result<(), Errno> {
        let sequence = self.submissions.fetch_add(1, Relaxed) + 1;
        let chunks: u64 = argument.get(offset_of!(Cs, chunks))?;
        for index in 0..u64::from(argument.get::<u32>(offset_of!(Cs, num_chunks))?) {
            let chunk =
                At { address: user::read(chunks + index * size_of::<u64>() as u64)?, size: size_of::<CsChunk>() };
            if chunk.get::<u32>(offset_of!(CsChunk, chunk_id))? == chunk_id::FENCE {
                let data = chunk.get(offset_of!(CsChunk, chunk_data))?;
                self.signal(&At { address: data, size: size_of::<CsChunkFence>() }, sequence)?;
            }
        }
        argument.put(0, &sequence)
    }

    /// Writes a user fence.
    fn signal(&self, fence: &At, sequence: u64) -> Result<(), Errno> {
        let Some(page) = self.memory.mapping_of(fence.get(offset_of!(CsChunkFence, handle))?) else { return Ok(()) };
        let offset: u32 = fence.get(offset_of!(CsChunkFence, offset))?;
        user::write_bytes(page + u64::from(offset & 0xfff & !7), sequence.as_bytes())
    }
}

/// An argument.
struct At {
    address: u64,
    size: usize,
}

impl At {
    /// The value at a byte of it; zero behind its end.
    #[inline]
    fn get<T: zerocopy::FromBytes + IntoBytes>(&self, offset: usize) -> Result<T, Errno> {
        if offset + size_of::<T>() > self.size {
            return Ok(T::new_zeroed());
        }
        user::read(self.address + offset as u64)
    }

    /// Writes at a byte of it; nothing behind its end.
    #[inline]
    fn put<T: IntoBytes + Immutable>(&self, offset: usize, value: &T) -> Result<(), Errno> {
        let (to, bytes) = (self.address + offset as u64, value.as_bytes());
        match self.size.saturating_sub(offset) {
            // Of a length that the compiler knows, so that it is a store and no call.
            room if room >= size_of::<T>() => user::write_bytes(to, bytes),
            room => user::write_bytes(to, bytes.get(..room).unwrap_or_default()),
        }
    }
}

/// Every timeline has gone far.
fn reach_all(query: &SyncobjTimelineArray) -> Result<(), Errno> {
    user::write_slice(query.points, &vec![REACHED; query.count_handles as usize])
}

/// Something to export: a sync file would have signalled.
fn descriptor() -> Result<i32, Errno> {
    let event = EventFd::from_value_and_flags(1, EfdFlags::EFD_CLOEXEC)?;
    Ok(OwnedFd::from(event).into_raw_fd())
}

/// Requests that are answered from the capture.
const fn is_bring_up(request: Request) -> bool {
    const FACTS: [u8; 6] = [
        Version::REQUEST.number(),
        Unique::REQUEST.number(),
        Client::REQUEST.number(),
        GetCap::REQUEST.number(),
        SetClientCap::REQUEST.number(),
        Info::REQUEST.number(),
    ];
    let number = request.number();
    // The numbers that matter for speed are above all but the last.
    number <= FACTS[4] && (number == FACTS[0] || number == FACTS[1] || number == FACTS[2] || number >= FACTS[3])
        || number == FACTS[5]
}

// SAFETY: what is not passed on to the simulator reads and writes inside the argument's `request.size()` bytes and where
// the addresses in a well-formed CS or SYNCOBJ_QUERY lead. `mmap` hands out each byte of a reservation once, which is
// readable and writable as long as the kernel lives, or what the C library's mmap returned for an address of the caller's.
unsafe impl Kernel for NullKernel {
    fn open_file(&self) -> OpenFile<'_> {
        self.facts.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        if is_bring_up(request) {
            // SAFETY: passed on unchanged.
            return unsafe { self.facts.ioctl(request, argument) };
        }
        let argument = At { address: argument.expose_provenance() as u64, size: request.size() };
        self.answer(request, &argument).map(|()| 0)
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        let handle = memory::handle_of(offset).ok_or(Errno::EINVAL)?;
        // SAFETY: the caller owns the addresses, if it names any.
        unsafe { self.memory.map(handle, len, protection, at) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        if self.owns(address.addr().get()) {
            return Ok(());
        }
        // SAFETY: the caller gives a live mapping that nothing uses any more; it was made at an address of its own.
        Ok(unsafe { nix::sys::mman::munmap(address.cast(), len) }?)
    }
}
