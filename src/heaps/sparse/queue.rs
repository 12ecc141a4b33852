//! Sparse binding as a queue operation.

use super::{SparseBind, SparseRange};
use crate::{
    heaps::SparseQueueError,
    winsys::{Deadline, Device, Error as WinsysError, Syncobj},
    worker::{Outcome, Stop, Worker},
};

/// A point of a timeline sync object, or the binary state of a sync object.
///
/// ```
/// use amdgpu_winsys::{
///     heaps::{SparsePoint, SparseQueue, SparseSubmission},
///     winsys::{Deadline, Syncobj},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let (binary, timeline) = (Syncobj::new(&device, true)?, Syncobj::new(&device, false)?);
/// let submission = SparseSubmission {
///     waits: vec![SparsePoint { syncobj: binary, point: 0 }],
///     signals: vec![SparsePoint { syncobj: timeline.clone(), point: 7 }],
///     ..SparseSubmission::default()
/// };
/// assert!(SparseQueue::new(&device)?.submit(submission)?.wait(Deadline::NEVER)?);
/// assert_eq!(timeline.query()?, 7);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparsePoint {
    /// The sync object that has the point.
    pub syncobj: Syncobj,
    /// The point of the timeline; 0 selects the binary state.
    pub point: u64,
}

/// A submission to a [`SparseQueue`]. Its waits, binds and signals are executed in this order.
///
/// ```
/// use amdgpu_winsys::{
///     heaps::{AllocateInfo, Backing, SparseBind, SparseQueue, SparseRange, SparseSubmission},
///     vamgr::VaRequest,
///     winsys::Deadline,
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 64 << 10))?;
/// let range = SparseRange::new(&device, VaRequest::new(1 << 20).aligned(64 << 10))?;
/// let backing = Some(Backing { memory: memory.binding().clone(), offset: 0 });
/// let binds = vec![(range.clone(), vec![SparseBind { offset: 0, len: 64 << 10, backing }])];
/// let queue = SparseQueue::new(&device)?;
/// assert!(queue.submit(SparseSubmission { binds, ..SparseSubmission::default() })?.wait(Deadline::NEVER)?);
/// assert_eq!(range.bound_bytes(), 64 << 10);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SparseSubmission {
    /// Points to wait for, including points for which no work has been submitted yet.
    pub waits: Vec<SparsePoint>,
    /// The ranges to change, each with its changes.
    pub binds: Vec<(SparseRange, Vec<SparseBind>)>,
    /// Points to signal after all changes have been made.
    pub signals: Vec<SparsePoint>,
}

/// A queue that changes sparse ranges, for `vkQueueBindSparse`. A thread of the queue executes the submissions in order.
///
/// The changes are made after the waits. RADV makes them before (Mesa 25.0.7 `src/amd/vulkan/radv_queue.c`,
/// `radv_queue_sparse_submit`), so that work that is still running can lose pages that it uses.
///
/// If the kernel refuses a change, the queue is lost: later submissions fail with the same error and signal nothing, as on a
/// lost device. Dropping the queue finishes or cancels the submission that is being executed, and abandons those that have not
/// started.
///
/// ```
/// use amdgpu_winsys::{
///     heaps::{SparsePoint, SparseQueue, SparseSubmission},
///     winsys::{Deadline, Syncobj},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let queue = SparseQueue::new(&device)?;
/// let rendered = Syncobj::new(&device, false)?;
/// let waits = vec![SparsePoint { syncobj: rendered.clone(), point: 0 }];
/// let fence = queue.submit(SparseSubmission { waits, ..SparseSubmission::default() })?; // returns at once
/// assert!(!fence.wait(Deadline::POLL)?);
/// rendered.signal()?;
/// assert!(fence.wait(Deadline::NEVER)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SparseQueue {
    device: Device,
    worker: Worker<SparseSubmission, Result<(), SparseQueueError>>,
}

/// A fence that signals the end of a submission to a [`SparseQueue`].
///
/// ```
/// use amdgpu_winsys::{
///     heaps::{SparseQueueError, SparsePoint, SparseQueue, SparseSubmission},
///     winsys::{Deadline, Syncobj},
/// };
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let queue = SparseQueue::new(&device)?;
/// let never = SparsePoint { syncobj: Syncobj::new(&device, false)?, point: 0 };
/// let fence = queue.submit(SparseSubmission { waits: vec![never], ..SparseSubmission::default() })?;
/// drop(queue); // abandons what still waits
/// assert_eq!(fence.wait(Deadline::NEVER), Err(SparseQueueError::Abandoned));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SparseFence {
    outcome: Outcome<Result<(), SparseQueueError>>,
}

impl SparseFence {
    /// Waits until the submission has completed. Returns `false` if the deadline passes first.
    ///
    /// # Errors
    ///
    /// The error that ended the queue; [`SparseQueueError::Abandoned`] if the queue was dropped first, or its thread panicked.
    pub fn wait(&self, deadline: Deadline) -> Result<bool, SparseQueueError> {
        self.outcome.wait(deadline).map_or(Ok(false), |result| result.map(|()| true))
    }
}

impl SparseQueue {
    /// Creates a queue and starts its thread.
    ///
    /// # Errors
    ///
    /// [`SparseQueueError::Thread`] if the operating system cannot start a thread.
    pub fn new(device: &Device) -> Result<Self, SparseQueueError> {
        let mut lost = None;
        let work = move |submission: &SparseSubmission, stop: &Stop| {
            if let Some(error) = &lost {
                return Err(SparseQueueError::clone(error));
            }
            submission.run(stop).inspect_err(|error| {
                tracing::warn!(%error, "a sparse queue ends");
                lost = Some(error.clone());
            })
        };
        let worker = Worker::start("sparse queue", || Err(SparseQueueError::Abandoned), work)
            .map_err(|reason| SparseQueueError::Thread { reason })?;
        Ok(Self { device: device.clone(), worker })
    }

    /// Queues a submission and returns at once. The queue's thread executes its waits, binds and signals later.
    ///
    /// # Errors
    ///
    /// [`SparseQueueError::Winsys`] with [`ForeignDevice`](WinsysError::ForeignDevice) if an object belongs to another device;
    /// [`SparseQueueError::Abandoned`] if the thread of the queue has panicked.
    pub fn submit(&self, submission: SparseSubmission) -> Result<SparseFence, SparseQueueError> {
        for point in submission.waits.iter().chain(&submission.signals) {
            self.own("sync object", point.syncobj.device())?;
        }
        for (range, _) in &submission.binds {
            self.own("sparse range", range.device())?;
        }
        self.worker.queue(submission).map(|outcome| SparseFence { outcome }).ok_or(SparseQueueError::Abandoned)
    }

    fn own(&self, what: &'static str, device: &Device) -> Result<(), WinsysError> {
        if self.device == *device { Ok(()) } else { Err(WinsysError::ForeignDevice { what }) }
    }
}

impl SparseSubmission {
    fn run(&self, stop: &Stop) -> Result<(), SparseQueueError> {
        for point in &self.waits {
            if !stop.unless_stopped(|deadline| point.wait(deadline))? {
                return Err(SparseQueueError::Abandoned);
            }
        }
        for (range, binds) in &self.binds {
            range.bind(binds)?;
        }
        self.signals.iter().try_for_each(|point| point.signal().map_err(SparseQueueError::from))
    }
}

impl SparsePoint {
    fn wait(&self, deadline: Deadline) -> Result<bool, WinsysError> {
        match self.point {
            0 => self.syncobj.wait(deadline),
            point => self.syncobj.wait_point(point, deadline),
        }
    }

    fn signal(&self) -> Result<(), WinsysError> {
        match self.point {
            0 => self.syncobj.signal(),
            point => self.syncobj.signal_point(point),
        }
    }
}
