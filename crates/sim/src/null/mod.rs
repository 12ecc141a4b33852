//! A kernel in which every request succeeds immediately.

mod costs;
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

pub use self::costs::RequestCosts;
use self::{memory::NullMemory, numbers::Numbers};
use crate::{Profile, SimKernel, kernel::user};

/// The point that every timeline reports as signalled.
const REACHED: u64 = u64::MAX >> 1;

/// A kernel that does nothing and completes everything immediately, for measurements of the time spent in user space. Some requests can
/// be [given a cost](NullKernel::with_costs).
///
/// Initialization requests (VERSION, GET_UNIQUE, GET_CLIENT, GET_CAP, SET_CLIENT_CAP and INFO) are answered from a capture, by a
/// simulated file. All other requests succeed without validation:
///
/// * handles, contexts and lists are increasing numbers, per thread;
/// * a submission gets the next sequence number and is signalled when the call returns: its user fence is written, and waits for it
///   or for any sync object succeed immediately;
/// * each mapping of a BO is a new range of zeroed memory, so mappings of a BO do not share contents. Mapping and unmapping make no
///   system call; written memory is freed when the kernel is dropped;
/// * an exported descriptor is a readable eventfd.
///
/// No errors are detected. Tests should use [`SimKernel`].
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
    costs: RequestCosts,
}

impl NullKernel {
    /// Opens a null kernel that reports this chip.
    ///
    /// # Errors
    ///
    /// ENOMEM if the host cannot reserve 1 GiB of addresses. The kernel tries 16 TiB first.
    pub fn open(profile: impl Into<Arc<Profile>>) -> Result<Self, Errno> {
        let (handles, submissions) = (Numbers::new(), AtomicU64::new(0));
        Ok(Self {
            facts: SimKernel::open(profile),
            handles,
            submissions,
            memory: NullMemory::reserve()?,
            costs: RequestCosts::default(),
        })
    }

    /// Makes requests take time.
    #[must_use]
    pub fn with_costs(self, costs: RequestCosts) -> Self {
        Self { costs, ..self }
    }

    /// Returns `true` if an `mmap` at this offset belongs to a null kernel. No file is that large.
    pub const fn is_offset(offset: u64) -> bool {
        memory::handle_of(offset).is_some()
    }

    /// Returns `true` if an address is in a range that `mmap` returned.
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
            // Status 1, and index 0 of the signalled fence.
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

    /// Assigns a sequence number to a submission and writes its user fence.
    ///
    /// Fields are read one by one, in the sizes in which they were written: a load that spans several recent stores stalls until
    /// they reach the cache, which would distort measurements.
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

/// The argument of a request.
struct At {
    address: u64,
    size: usize,
}

impl At {
    /// Returns the value at a byte offset of the argument; zero beyond its end.
    #[inline]
    fn get<T: zerocopy::FromBytes + IntoBytes>(&self, offset: usize) -> Result<T, Errno> {
        if offset + size_of::<T>() > self.size {
            return Ok(T::new_zeroed());
        }
        user::read(self.address + offset as u64)
    }

    /// Writes a value at a byte offset of the argument; does nothing beyond its end.
    #[inline]
    fn put<T: IntoBytes + Immutable>(&self, offset: usize, value: &T) -> Result<(), Errno> {
        let (to, bytes) = (self.address + offset as u64, value.as_bytes());
        match self.size.saturating_sub(offset) {
            // A constant length lets the compiler use a store instead of a call.
            room if room >= size_of::<T>() => user::write_bytes(to, bytes),
            room => user::write_bytes(to, bytes.get(..room).unwrap_or_default()),
        }
    }
}

/// Reports every timeline as signalled far ahead.
fn reach_all(query: &SyncobjTimelineArray) -> Result<(), Errno> {
    user::write_slice(query.points, &vec![REACHED; query.count_handles as usize])
}

/// Returns a descriptor to export, which is readable like a signalled sync file.
fn descriptor() -> Result<i32, Errno> {
    let event = EventFd::from_value_and_flags(1, EfdFlags::EFD_CLOEXEC)?;
    Ok(OwnedFd::from(event).into_raw_fd())
}

/// Returns `true` for requests that are answered from the capture.
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
    // Only the last of these numbers is above the numbers of performance-critical requests.
    number <= FACTS[4] && (number == FACTS[0] || number == FACTS[1] || number == FACTS[2] || number >= FACTS[3])
        || number == FACTS[5]
}

// SAFETY: requests that are not forwarded to the simulator access only the argument's `request.size()` bytes, and the addresses in
// a well-formed CS or SYNCOBJ_QUERY. `mmap` gives out each byte of a reservation once, which is readable and writable as long as
// the kernel lives, or returns the result of the C library's mmap for an address of the caller.
unsafe impl Kernel for NullKernel {
    fn open_file(&self) -> OpenFile<'_> {
        self.facts.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        if is_bring_up(request) {
            // SAFETY: forwarded unchanged.
            return unsafe { self.facts.ioctl(request, argument) };
        }
        self.costs.spend(request);
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
        // SAFETY: the caller owns the addresses, if any are given.
        unsafe { self.memory.map(handle, len, protection, at) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        if self.owns(address.addr().get()) {
            return Ok(());
        }
        // SAFETY: the caller passes a live mapping that is no longer used, which was created at the caller's address.
        Ok(unsafe { nix::sys::mman::munmap(address.cast(), len) }?)
    }
}
