//! Options of queues and submissions.

use std::time::Duration;

/// The policy for retries of a submission for which memory is short. Other processes may free memory between the attempts.
///
/// ```
/// use std::time::Duration;
/// use amdgpu_winsys::{cs::{Queue, QueueOptions, RetryPolicy}, winsys::{Context, Ip, Priority}};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let context = Context::new(&device, Priority::Normal)?;
/// // A compositor should drop a frame instead of waiting one second for memory:
/// let retry = RetryPolicy { total: Duration::from_millis(4), pause: Duration::from_millis(1) };
/// let queue = Queue::with_options(&context, Ip::Gfx, 0, QueueOptions { retry, ..QueueOptions::default() })?;
/// assert_eq!(RetryPolicy::default().total, Duration::from_secs(1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Time from the first refusal to the last attempt.
    pub total: Duration,
    /// Pause between two attempts.
    pub pause: Duration,
}

impl Default for RetryPolicy {
    /// Returns the policy of RADV: attempts every millisecond for one second (Mesa 25.0.7 `radv_amdgpu_cs.c`,
    /// `radv_amdgpu_cs_submit`).
    fn default() -> Self {
        Self { total: Duration::from_secs(1), pause: Duration::from_millis(1) }
    }
}

impl RetryPolicy {
    /// The policy of a single attempt, without retries.
    pub const NONE: Self = Self { total: Duration::ZERO, pause: Duration::ZERO };
}

/// The way in which a queue passes its BO list to the kernel.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{BoListMode, Queue, QueueOptions, Submission},
///     winsys::{Deadline, Ip},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// # let readback = manager.properties().type_for(amdgpu_winsys::heaps::MemoryUsage::Readback).ok_or("no such type")?;
/// # let memory = manager.allocate(&amdgpu_winsys::heaps::AllocateInfo::new(readback, 4096))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// # let target = amdgpu_winsys::cs::pm4::Target::gfx(device.info().gfx_level);
/// # drop(queue);
/// # let list = amdgpu_winsys::cs::Stream::new(&device, target, 64)?.finish()?;
/// let options = QueueOptions { bo_list_mode: BoListMode::Kept, ..QueueOptions::default() };
/// let (queue, used) = (Queue::with_options(&context, Ip::Gfx, 0, options)?, [memory.binding().clone()]);
/// for frame in 1..=3 {
///     let fence = queue.submit(&Submission { lists: &[&list], memory: &used, ..Submission::default() })?;
///     assert!(fence.wait(Deadline::NEVER)? && fence.sequence() == frame);
/// }
/// queue.forget_memory(); // destroys the kernel list, so that memory can be freed
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum BoListMode {
    /// Each submission carries its BO list.
    #[default]
    Inline,
    /// A kernel BO list that is kept while submissions list the same BOs, so that the kernel need not look up handles. It costs one
    /// ioctl to create, when a second submission in a row lists the same BOs, and one to destroy, when a later one lists others.
    /// **Memory that was freed in between is released only then**, or by [`Queue::forget_memory`](crate::cs::Queue::forget_memory).
    /// Threads that submit to the queue at the same time have such a list each. This pays off for thousands of BOs that rarely change.
    Kept,
}

/// Options for the creation of a queue.
///
/// ```
/// use amdgpu_winsys::{
///     cs::{Queues, QueueOptions, RetryPolicy},
///     winsys::{Context, Ip, Priority},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let options = QueueOptions { retry: RetryPolicy::NONE, ..QueueOptions::default() };
/// let queues = Queues::with_options(&Context::new(&device, Priority::Normal)?, options);
/// assert_eq!(queues.of_ip(Ip::Sdma)?.len(), 2); // both with these options
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QueueOptions {
    /// The policy for retries if memory is short.
    pub retry: RetryPolicy,
    /// The way in which BO lists are passed to the kernel.
    pub bo_list_mode: BoListMode,
    /// `true` if submissions without [`preambles`](crate::cs::Submission::preambles) of their own begin with
    /// [`Preambles::acquire`](crate::cs::Preambles::acquire), so that they find what the CPU and other engines have written. This
    /// costs one small IB in each kernel call, and two or three pages of memory in each queue. The copy engine needs no preambles.
    ///
    /// `false` is right for a driver whose submissions all bring their own preambles, or whose lists begin with
    /// [`Stream::acquire`](crate::cs::Stream::acquire). A single submission leaves them out with an empty
    /// [`Preambles`](crate::cs::Preambles).
    pub acquires: bool,
}

impl Default for QueueOptions {
    /// Returns the default policies, with submissions that begin with the invalidation of the caches.
    fn default() -> Self {
        Self { retry: RetryPolicy::default(), bo_list_mode: BoListMode::default(), acquires: true }
    }
}

/// The kind of a hardware queue.
///
/// ```
/// use amdgpu_winsys::cs::QueueKind;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let context = amdgpu_winsys::winsys::Context::new(&device, amdgpu_winsys::winsys::Priority::Normal)?;
/// # let queue = amdgpu_winsys::cs::Queue::new(&context, amdgpu_winsys::winsys::Ip::Gfx, 0)?;
/// match queue.kind() {
///     QueueKind::Kernel => assert_eq!(queue.ring(), 0), // submissions are ioctls
///     _ => return Err("a kind that this program does not know".into()),
/// }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum QueueKind {
    /// A kernel queue: each submission is a CS ioctl, and the kernel's scheduler selects a hardware ring. User mode queues are of
    /// type [`UserQueue`](crate::cs::UserQueue) instead.
    Kernel,
}

/// The resources that a queue keeps alive for a submission until it retires the submission.
///
/// A queue retires submissions in [`Queue::submit`](crate::cs::Queue::submit), [`Queue::retire`](crate::cs::Queue::retire) and
/// [`Fence::wait`](crate::cs::Fence::wait), but not when a thread waits for a sync object. A driver whose own rules keep resources
/// alive, like those of Vulkan, should use [`Keep::Nothing`], so that resources are freed immediately.
///
/// Every choice is sound, because the kernel keeps its own references: a job holds a reference to each BO of its BO list (Linux
/// 6.12 `amdgpu_cs.c`, `amdgpu_cs_submit`, which adds the job's fence to each BO), and an unbinding waits for the jobs that were
/// submitted before it (`amdgpu_vm.c`, `amdgpu_vm_clear_freed`). Memory that is dropped early therefore exists until the GPU has
/// finished with it. A list that is not kept can be [recorded again](crate::cs::CommandList::record_again) while the GPU still
/// reads it. The GPU then executes a mixture of old and new packets in its own address space; the caller must prevent this, as in
/// Vulkan.
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
    /// Keeps the lists, the preambles, the memory and the members of the sets.
    #[default]
    Everything,
    /// Keeps the lists and the preambles, so that IBs do not return to their pool and lists are not recorded again before they have
    /// run.
    Lists,
    /// Keeps nothing. A [`HangReport`](crate::cs::HangReport) then cannot show the commands.
    Nothing,
}
