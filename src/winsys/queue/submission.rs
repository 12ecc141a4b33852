//! Submission with the CS ioctl: chunks in, a sequence number out.

use amdgpu_hw::num::{count, index, wide};

use super::context::Suspects;
use crate::{
    host_memory::{self, NoHostMemory},
    uapi::{
        self, Answered, Argument, BoListEntry, Cs, CsChunk, CsChunkCpGfxShadow, CsChunkDep, CsChunkIb, CsChunkSyncobj,
        Errno, chunk_id,
    },
    winsys::{
        BoList, Capabilities, Context, Error, Event, Feature, Ip, KernelError, Loss, Result, UserFence,
        kernel::send_raw,
    },
};

/// The chunks of one CS ioctl, borrowed from the caller for the duration of the call.
///
/// ```
/// use amdgpu_winsys::{
///     uapi::CsChunkIb,
///     winsys::{ChunkScratch, Chunks, Deadline, Ip},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let upload = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Upload).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(upload, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// // Unlike with `Queue::submit`, `memory` must stay allocated until the submission has finished.
/// memory.map()?.write_dwords(0, &[0xffff_1000; 8])?; // an IB of NOPs
/// let ib = CsChunkIb { va_start: memory.address().as_u64(), ib_bytes: 32, ..CsChunkIb::default() };
/// let sequence = context.submit(Chunks { ibs: &[ib], ..Chunks::default() }, &mut ChunkScratch::default())?;
/// assert!(context.wait(Ip::Gfx, 0, sequence, Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Chunks<'a> {
    /// IBs, at least one. The queue of the last one is the leading queue.
    pub ibs: &'a [CsChunkIb],
    /// BOs that must be resident. Ignored if there is a [list](Chunks::bo_list).
    pub bos: &'a [BoListEntry],
    /// BOs that must be resident, as a list that the kernel keeps.
    pub bo_list: Option<&'a BoList>,
    /// Submissions that must finish first.
    pub dependencies: &'a [CsChunkDep],
    /// Submissions that must start first. Needs [`Capabilities::SCHEDULED_DEPENDENCY`].
    pub scheduled: &'a [CsChunkDep],
    /// Sync objects that must signal first. Point 0 waits for the binary state.
    pub waits: &'a [CsChunkSyncobj],
    /// Sync objects that signal when the leading queue has finished. Point 0 replaces the binary state.
    pub signals: &'a [CsChunkSyncobj],
    /// The page to which the GPU writes the sequence number. A bare handle is not accepted, because the GPU would write to
    /// any BO of one page.
    ///
    /// ```compile_fail,E0308
    /// use amdgpu_winsys::{uapi::CsChunkFence, winsys::Chunks};
    ///
    /// let any_page = CsChunkFence { handle: 1, offset: 0 };
    /// let chunks = Chunks { user_fence: Some(&any_page), ..Chunks::default() };
    /// ```
    pub user_fence: Option<&'a UserFence>,
    /// The areas in which the firmware keeps the registers of the graphics queue, with the sizes and alignments of
    /// [`ShadowAreas`](crate::winsys::ShadowAreas). They must be mapped and listed among the BOs. The kernel ignores them if
    /// [`GpuInfo::shadow`](crate::winsys::GpuInfo::shadow) is `None`, and refuses them (EINVAL) before minor 53.
    pub shadow: Option<&'a CsChunkCpGfxShadow>,
}

impl Chunks<'_> {
    /// Returns `true` if there are dependencies, waits or signals.
    #[inline]
    fn has_sync(&self) -> bool {
        self.dependencies.len() | self.scheduled.len() | self.waits.len() | self.signals.len() != 0
    }
}

/// Storage for chunk headers, reused between submissions so that repeated submissions allocate nothing.
///
/// ```
/// use amdgpu_winsys::{uapi::CsChunkIb, winsys::{ChunkScratch, Chunks, Deadline, Ip}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let upload = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Upload).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(upload, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # memory.map()?.write_dwords(0, &[0xffff_1000; 8])?;
/// # let ib = CsChunkIb { va_start: memory.address().as_u64(), ib_bytes: 32, ..CsChunkIb::default() };
/// let mut scratch = ChunkScratch::default();
/// for expected in 1..=3 {
///     let sequence = context.submit(Chunks { ibs: &[ib], ..Chunks::default() }, &mut scratch)?;
///     assert_eq!(sequence, expected);
/// }
/// assert!(context.wait(Ip::Gfx, 0, 3, Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct ChunkScratch {
    headers: Vec<CsChunk>,
    /// The addresses of the headers, in order.
    addresses: Vec<u64>,
    wait_handles: Vec<u32>,
    signal_handles: Vec<u32>,
}

/// Returns the header of a chunk.
#[inline]
fn header<T>(chunk_id: u32, payload: &[T]) -> CsChunk {
    let (length_dw, chunk_data) = (count(size_of_val(payload) / 4), wide(payload.as_ptr().expose_provenance()));
    CsChunk { chunk_id, length_dw, chunk_data }
}

/// Adds the header of a chunk, for which [`Context::submit_quiet`] has reserved room.
#[inline]
fn push<T>(headers: &mut Vec<CsChunk>, chunk_id: u32, payload: &[T]) {
    headers.push(header(chunk_id, payload));
}

/// The maximum number of chunks besides IBs: the user fence, two kinds of dependencies, waits, signals, the shadow areas and the
/// BOs.
const MOST_OTHERS: usize = 7;

impl ChunkScratch {
    /// Adds the sync object chunks of kernels before DRM 3.32, which have only the binary state and do not wait for
    /// submission.
    fn push_binary(&mut self, waits: &[CsChunkSyncobj], signals: &[CsChunkSyncobj]) -> Result<()> {
        if waits.iter().chain(signals).any(|sync| sync.point != 0) {
            return Err(Error::Unsupported { feature: Feature::SubmittedTimelines });
        }
        let Self { headers, wait_handles, signal_handles, .. } = self;
        for (id, syncs, handles) in
            [(chunk_id::SYNCOBJ_IN, waits, wait_handles), (chunk_id::SYNCOBJ_OUT, signals, signal_handles)]
        {
            handles.clear();
            host_memory::extend(handles, syncs.iter().map(|sync| sync.handle)).map_err(no_memory)?;
            if !handles.is_empty() {
                push(headers, id, handles);
            }
        }
        Ok(())
    }
}

/// The maximum number of BOs: the kernel reads their number as u32 and refuses larger ones before it looks at the entries.
const MOST_ENTRIES: usize = index(crate::uapi::BO_LIST_MAX_ENTRIES);

#[cold]
fn no_memory(error: NoHostMemory) -> Error {
    error.of("the chunks of a submission").into()
}

/// The first DRM minor version whose CS has timeline chunks.
const TIMELINE_MINOR: i32 = 32;

impl Context {
    fn has_timelines(&self) -> bool {
        let info = self.device().info();
        info.driver.minor >= TIMELINE_MINOR && info.capabilities.contains(Capabilities::TIMELINE_SYNCOBJ)
    }

    /// Submits work. Returns its sequence number, which counts the submissions of the leading queue from 1.
    ///
    /// Makes one request and does not repeat it. The memory that the IBs use must stay bound until the submission is
    /// finished; [`cs`](crate::cs) ensures that, but this call does not. On error, no work was submitted and no sync object
    /// has changed.
    ///
    /// Request: AMDGPU_CS.
    ///
    /// # Errors
    ///
    /// * [`Error::DeviceLost`] if the context or one of the submission's queues has lost work;
    /// * [`Error::DependencyLost`] if another queue that the submission depends on has lost work;
    /// * [`Error::NotSubmitted`] if the work behind a sync object was not submitted within five seconds;
    /// * [`Error::ForeignDevice`] if the user fence belongs to another device;
    /// * [`Error::OutOfMemory`] if the BOs do not fit into memory together, or the kernel is out of memory;
    /// * [`Error::HostMemory`] if host memory is exhausted;
    /// * [`Error::Unsupported`] if the driver does not support timeline points, or dependencies on the start of a job;
    /// * [`Error::Kernel`] if the kernel refuses the request: `EINVAL` for an IP, ring, chunk or IB size, `ENOENT` for an
    ///   unknown BO or sync object.
    pub fn submit(&self, chunks: Chunks<'_>, scratch: &mut ChunkScratch) -> Result<u64> {
        if chunks.user_fence.is_some_and(|page| page.device() != self.device()) {
            return Err(Error::ForeignDevice { what: "user fence" });
        }
        let sequence = self.submit_quiet(&chunks, scratch)?;
        self.device().notify(|| self.submitted(&chunks, sequence));
        Ok(sequence)
    }

    /// Returns the event of an accepted submission.
    pub(crate) fn submitted(&self, chunks: &Chunks<'_>, sequence: u64) -> Event {
        Event::Submitted { context: self.id(), sequence, ibs: chunks.ibs.len(), bos: chunks.bos.len() }
    }

    /// Submits like [`Context::submit`] without an event: callers report it once they hold the memory that the submission
    /// uses. The user fence must belong to this device.
    pub(crate) fn submit_quiet(&self, chunks: &Chunks<'_>, scratch: &mut ChunkScratch) -> Result<u64> {
        if chunks.bos.len() > MOST_ENTRIES {
            return Err(Error::Kernel(KernelError::new(Cs::NAME, Errno::EINVAL)));
        }
        let user_fence = chunks.user_fence.map(UserFence::chunk);
        let inline = uapi::BoList {
            operation: u32::MAX,
            list_handle: u32::MAX,
            bo_number: count(chunks.bos.len()),
            bo_info_size: count(size_of::<BoListEntry>()),
            bo_info_ptr: wide(chunks.bos.as_ptr().expose_provenance()),
        };
        scratch.headers.clear();
        host_memory::reserve(&mut scratch.headers, chunks.ibs.len() + MOST_OTHERS).map_err(no_memory)?;
        scratch.headers.extend(chunks.ibs.iter().map(|ib| header(chunk_id::IB, std::slice::from_ref(ib))));
        if let Some(user_fence) = &user_fence {
            push(&mut scratch.headers, chunk_id::FENCE, std::slice::from_ref(user_fence));
        }
        if chunks.has_sync() {
            self.list_sync(chunks, scratch)?;
        }
        if let Some(shadow) = chunks.shadow {
            push(&mut scratch.headers, chunk_id::CP_GFX_SHADOW, std::slice::from_ref(shadow));
        }
        if chunks.bo_list.is_none() {
            push(&mut scratch.headers, chunk_id::BO_HANDLES, std::slice::from_ref(&inline));
        }
        let ChunkScratch { headers, addresses, .. } = scratch;
        addresses.clear();
        let address = |header: &CsChunk| wide(std::ptr::from_ref(header).expose_provenance());
        host_memory::extend(addresses, headers.iter().map(address)).map_err(no_memory)?;
        let mut argument = Cs {
            ctx_id: self.id(),
            bo_list_handle: chunks.bo_list.map_or(0, BoList::handle),
            num_chunks: count(headers.len()),
            flags: 0,
            chunks: wide(addresses.as_ptr().expose_provenance()),
        };
        // SAFETY: `chunks` is the address of `num_chunks` addresses of headers. All headers were made above; the payload of each is
        // a slice borrowed for this call, the shadow areas, `user_fence` or `inline` here, or one of the handle lists in `scratch`,
        // with its length. None of them is changed or dropped before the call returns, and the kernel only reads them. Jobs write
        // where the page tables allow it: never to memory of IBs, which no binding lets the GPU write, nor to other memory that the
        // library borrows as plain bytes.
        unsafe { send_raw(self.device().kernel(), Cs::REQUEST, &mut argument) }
            .map_err(|errno| self.refused(chunks, errno))?;
        Ok(argument.answer().handle)
    }

    /// Lists the chunks of dependencies, waits and signals.
    fn list_sync(&self, chunks: &Chunks<'_>, scratch: &mut ChunkScratch) -> Result<()> {
        if !chunks.dependencies.is_empty() {
            push(&mut scratch.headers, chunk_id::DEPENDENCIES, chunks.dependencies);
        }
        if !chunks.scheduled.is_empty() {
            if !self.device().info().capabilities.contains(Capabilities::SCHEDULED_DEPENDENCY) {
                return Err(Error::Unsupported { feature: Feature::StartDependencies });
            }
            push(&mut scratch.headers, chunk_id::SCHEDULED_DEPENDENCIES, chunks.scheduled);
        }
        if !self.has_timelines() {
            return scratch.push_binary(chunks.waits, chunks.signals);
        }
        if !chunks.waits.is_empty() {
            push(&mut scratch.headers, chunk_id::SYNCOBJ_TIMELINE_WAIT, chunks.waits);
        }
        if !chunks.signals.is_empty() {
            push(&mut scratch.headers, chunk_id::SYNCOBJ_TIMELINE_SIGNAL, chunks.signals);
        }
        Ok(())
    }

    #[cold]
    fn refused(&self, chunks: &Chunks<'_>, errno: Errno) -> Error {
        if errno == Errno::ENOMEM {
            return Error::OutOfMemory { request: Cs::NAME, bos: chunks.bos.len() };
        }
        let suspects = Suspects {
            waits: !chunks.waits.is_empty(),
            dependencies: !chunks.dependencies.is_empty() || !chunks.scheduled.is_empty(),
        };
        let mut queues = chunks.ibs.iter().rev().map(|ib| (Ip::from_raw(ib.ip_type), ib.ring));
        let Some((Some(leader), ring)) = queues.next() else { return Error::Kernel(KernelError::new(Cs::NAME, errno)) };
        // The kernel refuses a gang if any of its queues has lost work.
        let mut followers =
            queues.filter_map(|(ip, other)| Some((ip?, other))).filter(|&queue| queue != (leader, ring));
        let lost = |(ip, ring): (Ip, u32)| self.check(ip, ring).err().filter(|error| error.loss().is_some());
        if Loss::is_behind(errno)
            && let Some(lost) = followers.find_map(lost)
        {
            return lost;
        }
        self.submission_error((leader, ring), Cs::NAME, errno, suspects)
    }
}
