//! Submissions to a queue.

use crate::{
    cs::{CommandList, Fence, Preambles},
    winsys::{ResidencySet, Resident, Syncobj},
};

/// A point of a sync object: 0 is its binary state, anything else a point of its timeline.
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
    /// The sync object.
    pub syncobj: &'a Syncobj,
    /// The point.
    pub point: u64,
}

impl<'a> SyncPoint<'a> {
    /// Names the binary state.
    pub fn binary(syncobj: &'a Syncobj) -> Self {
        Self { syncobj, point: 0 }
    }

    /// Names a point of the timeline.
    pub fn timeline(syncobj: &'a Syncobj, point: u64) -> Self {
        Self { syncobj, point }
    }
}

/// Resources that a queue keeps alive for a submission until it notices that the submission has ended.
///
/// A queue notices in [`Queue::submit`](crate::cs::Queue::submit), [`Queue::retire`](crate::cs::Queue::retire) and
/// [`Fence::wait`](crate::cs::Fence::wait), not when a sync object is waited for. A driver whose own rules keep resources
/// alive, as Vulkan's do, chooses [`Keep::Nothing`], so that what it frees is freed at once.
///
/// Every choice is sound, because the kernel does not depend on what user space keeps: a job holds a reference to each BO of
/// its BO list (Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_submit`, which adds the job's fence to each BO), and an unbinding waits
/// for the jobs that were submitted before it (`amdgpu_vm.c`, `amdgpu_vm_clear_freed`). So memory that is dropped early
/// stays until the GPU is done with it. A list that is not kept can be
/// [recorded again](crate::cs::CommandList::record_again) while the GPU still reads it: the GPU then runs a mixture of old
/// and new packets in its own address space, which is the caller's to prevent, as in Vulkan.
///
/// ```
/// use std::sync::Arc;
/// use amdgpu_sim::{SimKernel, profile};
/// use amdgpu_winsys::{
///     cs::{Keep, Queue, Stream, Submission, SyncPoint, pm4},
///     winsys::{Context, Deadline, Device, Ip, Priority, Syncobj},
/// };
///
/// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
/// let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
/// let target = pm4::Target::gfx(device.info().gfx_level);
/// let (list, done) = (Stream::new(&device, target, 64)?.finish()?, Syncobj::new(&device, false)?);
/// let signals = [SyncPoint::binary(&done)];
/// queue.submit(&Submission { lists: &[&list], signals: &signals, keep: Keep::Nothing, ..Submission::default() })?;
/// assert!(done.wait(Deadline::NEVER)?);
/// let stream = list.record_again(target).map_err(|_list| "the queue kept it")?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Keep {
    /// The lists, the preambles, the memory and the members of the sets.
    #[default]
    Everything,
    /// The lists and the preambles: IBs do not return to their pool, and lists are not recorded again, before they have run.
    Lists,
    /// Nothing. A [`HangReport`](crate::cs::HangReport) then cannot show the commands.
    Nothing,
}

/// One submission: command lists that run in order, and what they touch.
///
/// A list may be submitted any number of times, also within one submission: it does not change any more.
/// Recording it again takes it back by value, and is refused while a queue runs it
/// ([`CommandList::record_again`]).
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
    /// Lists to execute. May be empty if the submission waits for something or signals something.
    pub lists: &'a [&'a CommandList],
    /// Lists to execute before and after them in each call of the kernel.
    pub preambles: Option<&'a Preambles>,
    /// The memory that the lists read or write. Resident while they run, and kept alive until they are done.
    ///
    /// One memory, or an array, slice or vector of some: `&memory`, `&[&one, &other]`, `&bindings`; see [`Resident`].
    pub memory: &'a dyn Resident,
    /// More such memory. Sets that are the same as last time cost nothing.
    pub sets: &'a [&'a ResidencySet],
    /// Sync objects that must have signalled first; one without a fence yet is waited for, five seconds at most, and the
    /// caller waits inside the kernel meanwhile. A [`Submitter`](crate::cs::Submitter) waits on a thread of its own, and as long
    /// as it takes.
    pub waits: &'a [SyncPoint<'a>],
    /// Sync objects that signal when the lists are done.
    pub signals: &'a [SyncPoint<'a>],
    /// Submissions to queues of this device that must have finished first.
    pub after: &'a [&'a Fence],
    /// Submissions to queues of this device that must have started first. Needs
    /// [`SCHEDULED_DEPENDENCY`](crate::winsys::Capabilities::SCHEDULED_DEPENDENCY).
    pub after_start: &'a [&'a Fence],
    /// Resources that the queue keeps alive until the submission has ended.
    pub keep: Keep,
    /// `true` if the lists read and write encrypted memory (TMZ), and only such memory is written.
    pub is_secure: bool,
    /// `true` if the graphics ring may be preempted in the middle of the lists. Only the last IB of each call is marked,
    /// because the kernel takes one such IB for each call; RADV marks all (Mesa 25.0.7 `radv_amdgpu_cs.c`,
    /// `radv_amdgpu_cs_submit`; Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_p2_ib`). Other rings ignore it.
    pub is_preemptible: bool,
}

impl Submission<'_> {
    /// Returns `true` if it has to wait for something.
    pub(super) fn has_waits(&self) -> bool {
        !self.waits.is_empty() || !self.after.is_empty() || !self.after_start.is_empty()
    }

    /// Returns `true` if it waits for something or signals something.
    #[inline]
    pub(super) fn has_sync(&self) -> bool {
        // One branch for most submissions, which have nothing of it.
        self.waits.len() | self.signals.len() | self.after.len() | self.after_start.len() != 0
    }
}
