//! Submissions to a queue.

use super::state::QueueState;
use crate::{
    cs::{CommandList, Fence, Keep, Preambles},
    winsys::{ResidencySet, Resident, Syncobj},
};

/// A point of a sync object: 0 is its binary state, any other value a point of its timeline.
///
/// ```
/// use amdgpu_winsys::{cs::{Submission, SyncPoint}, winsys::{Deadline, Syncobj}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # let list = amdgpu_winsys::cs::Stream::new(&device, target, 64)?.finish()?;
/// let (acquired, frames) = (Syncobj::new(&device, true)?, Syncobj::new(&device, false)?);
/// let (waits, signals) = ([SyncPoint::binary(&acquired)], [SyncPoint::timeline(&frames, 1)]);
/// queue.submit(&Submission { lists: &[&list], waits: &waits, signals: &signals, ..Submission::default() })?;
/// assert!(frames.wait_point(1, Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct SyncPoint<'a> {
    /// The sync object that has the point.
    pub syncobj: &'a Syncobj,
    /// The point; 0 for the binary state.
    pub point: u64,
}

impl<'a> SyncPoint<'a> {
    /// Creates a reference to the binary state of a sync object.
    pub fn binary(syncobj: &'a Syncobj) -> Self {
        Self { syncobj, point: 0 }
    }

    /// Creates a reference to a point of the timeline of a sync object.
    pub fn timeline(syncobj: &'a Syncobj, point: u64) -> Self {
        Self { syncobj, point }
    }
}

/// A submission: command lists that run in order, the memory that they access, and synchronization.
///
/// A list does not change after recording, so it may be submitted any number of times, even within one submission.
/// [`CommandList::record_again`] takes it by value, and refuses it while a queue runs it.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{Stream, Submission, SyncPoint, pm4},
///     winsys::{Deadline, Syncobj},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// let mut stream = Stream::new(&device, target, 64)?;
/// stream.push(&pm4::EndOfPipe::fence(memory.address(), 42))?;
/// let (list, done) = (stream.finish()?, Syncobj::new(&device, false)?);
/// queue.submit(&Submission {
///     lists: &[&list],
///     memory: &[memory.binding().clone()],
///     signals: &[SyncPoint::binary(&done)],
///     ..Submission::default()
/// })?;
/// assert!(done.wait(Deadline::NEVER)?);
/// assert_eq!(memory.map()?.load_u32(0)?, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Default)]
pub struct Submission<'a> {
    /// The lists to execute. May be empty if the submission waits for something, or signals something and has no memory and sets.
    pub lists: &'a [&'a CommandList],
    /// Lists to execute before and after `lists` in each kernel call. `None` for those of the queue, which invalidate the caches,
    /// see [`QueueOptions::acquires`](crate::cs::QueueOptions::acquires); empty preambles for none at all.
    pub preambles: Option<&'a Preambles>,
    /// The memory that the lists read or write. It is resident while they run, and kept alive as [`keep`](Self::keep) says.
    ///
    /// One memory object, or an array, slice or vector of them: `&memory`, `&[&one, &other]`, `&bindings`; see [`Resident`].
    pub memory: &'a dyn Resident,
    /// Sets of further memory. A set that has not changed since the last submission costs nothing.
    pub sets: &'a [&'a ResidencySet],
    /// Sync objects that must signal before the lists run. If a sync object has no fence yet, the kernel blocks the caller until it
    /// has one, for at most five seconds. A [`Submitter`](crate::cs::Submitter) waits on its own thread instead, without a limit.
    pub waits: &'a [SyncPoint<'a>],
    /// Sync objects that signal when the lists have completed.
    pub signals: &'a [SyncPoint<'a>],
    /// Submissions to queues of this device that must have completed first.
    pub after: &'a [&'a Fence],
    /// Submissions to queues of this device that must have started first. Requires
    /// [`SCHEDULED_DEPENDENCY`](crate::winsys::Capabilities::SCHEDULED_DEPENDENCY).
    pub after_start: &'a [&'a Fence],
    /// The resources that the queue keeps alive until the submission has ended.
    pub keep: Keep,
    /// `true` if the lists access encrypted memory (TMZ). They may then write encrypted memory only.
    pub is_secure: bool,
    /// `true` if the graphics ring may be preempted within the lists. Only the last IB of each call is marked, because the kernel
    /// accepts one preemptible IB for each call. RADV marks all (Mesa 25.0.7 `radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`; Linux
    /// 6.12 `amdgpu_cs.c`, `amdgpu_cs_p2_ib`). Other rings ignore this.
    pub is_preemptible: bool,
}

impl Submission<'_> {
    /// Returns the preambles of a queue, unless the submission has its own.
    #[inline]
    pub(super) fn acquires_of<'q>(&self, queue: &'q QueueState) -> Option<&'q Preambles> {
        if self.preambles.is_none() { queue.acquires.as_ref() } else { None }
    }

    /// Returns `true` if the submission waits for something.
    pub(super) fn has_waits(&self) -> bool {
        !self.waits.is_empty() || !self.after.is_empty() || !self.after_start.is_empty()
    }

    /// Returns `true` if the submission waits for something or signals something.
    #[inline]
    pub(super) fn has_sync(&self) -> bool {
        self.has_waits() || !self.signals.is_empty()
    }
}
