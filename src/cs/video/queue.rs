//! Queues for video engines.

use std::sync::Arc;

use super::{VideoError, VideoFence, VideoSubmission, ib, state::State};
use crate::{
    cs::SyncPoint,
    winsys::{Context, Deadline, Device, Error as WinsysError, Ip},
};

/// A queue of a context on a video ring: UVD, VCE, VCN, JPEG or VPE.
///
/// It submits commands that the caller has recorded. A [`Queue`](crate::cs::Queue) reads its progress from a user fence in memory,
/// but the kernel refuses user fences on most video rings, so this queue has to query the kernel. [`VideoFence::wait`] makes one ioctl,
/// and resources of ended submissions are released in [`VideoFence::wait`], [`VideoQueue::retire`] and [`VideoQueue::submit`]. On
/// rings whose commands the kernel parses (UVD and VCE before VCN, JPEG) the kernel refuses forbidden commands with EINVAL.
///
/// Dropping the last handle does not wait: the kernel keeps the memory that running jobs use. Encrypted memory is not supported.
///
/// A `VideoQueue` is a handle: a clone refers to the same queue.
///
/// ```
/// use amdgpu_sim::{SimDevice, SimOptions, profile};
/// use amdgpu_winsys::{
///     cs::{VideoIb, VideoQueue, VideoSubmission},
///     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
///     winsys::{Context, Deadline, Device, Ip, Priority},
/// };
///
/// let options = SimOptions { video: true, ..SimOptions::default() };
/// let device = Device::new(SimDevice::new(profile("navi21").ok_or("no such chip")?, options).open())?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let memory = manager.allocate(&AllocateInfo::new(upload, 4096))?;
///
/// let queue = VideoQueue::new(&Context::new(&device, Priority::Normal)?, Ip::VcnJpeg, 0)?;
/// let mut commands = vec![0x6000_0000, 0]; // recorded by the driver
/// commands.extend(queue.padding(commands.len()));
/// memory.map()?.write_dwords(0, &commands)?;
/// let ib = VideoIb { memory: memory.binding(), offset: 0, dwords: 16 };
/// let fence = queue.submit(&VideoSubmission { ibs: &[ib], ..VideoSubmission::default() })?;
/// assert!(fence.wait(Deadline::NEVER)? && queue.in_flight()? == 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct VideoQueue(Arc<State>);

impl VideoQueue {
    /// Creates the queue of `context` for ring `ring` of `ip`. Only one can exist for each ring; clones are handles of it.
    ///
    /// # Errors
    ///
    /// * [`VideoError::NotVideo`] if `ip` is not a video engine;
    /// * [`VideoError::NoSuchRing`] if the IP does not have the ring;
    /// * [`VideoError::QueueTaken`] if this queue already exists.
    pub fn new(context: &Context, ip: Ip, ring: u32) -> Result<Self, VideoError> {
        if !ib::is_video(ip) {
            return Err(VideoError::NotVideo { ip });
        }
        let rings = context.device().info().ring_count(ip);
        if ring >= rings {
            return Err(VideoError::NoSuchRing { ip, ring, rings });
        }
        if !context.take_queue(ip, ring) {
            return Err(VideoError::QueueTaken { context: context.id(), ip, ring });
        }
        Ok(Self(Arc::new(State::new(context.clone(), ip, ring))))
    }

    /// Returns the IP of the queue.
    pub fn ip(&self) -> Ip {
        self.0.ip
    }

    /// Returns the ring index of the queue in its context.
    pub fn ring(&self) -> u32 {
        self.0.ring
    }

    /// Returns the context of the queue.
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Returns the dwords that pad an IB of `dwords` dwords to a length that the engine requires, as whole NOP packets. There are
    /// none for encoders, because each of their commands states its length. On VCN decoders and JPEG a NOP packet has two dwords,
    /// so an IB of odd length, which ends within a packet, remains odd.
    pub fn padding(&self, dwords: usize) -> impl Iterator<Item = u32> + use<> {
        ib::padding(self.0.context.device().info(), self.0.ip, dwords)
    }

    /// Submits IBs. This takes one ioctl, and one more for each earlier submission that has ended.
    ///
    /// # Errors
    ///
    /// * [`VideoError::NoIb`] if the submission has no IBs;
    /// * [`VideoError::TooManyIbs`] if it has more than the engine accepts;
    /// * [`VideoError::Ib`] if the offset or length of an IB is invalid;
    /// * [`VideoError::TooManyBos`] if it lists more BOs than the kernel accepts;
    /// * [`VideoError::Winsys`] if an object belongs to another device, the GPU is lost, or the kernel refuses.
    ///
    /// If an error is returned, no work was submitted and no sync object has changed.
    pub fn submit(&self, submission: &VideoSubmission<'_>) -> Result<VideoFence, VideoError> {
        self.check(submission)?;
        let sequence = self.0.submit(submission)?;
        // The fence reports a loss.
        let _ = self.0.retire();
        Ok(VideoFence::new(Arc::clone(&self.0), sequence))
    }

    /// Signals points when all earlier submissions of the queue and the waits have completed, without an IB, which not every engine
    /// has a harmless one of. Later submissions of the queue wait for the waits too. Returns the sequence number of the last
    /// submission, 0 if there was none.
    ///
    /// A wait must have a fence already. Unlike those of [`VideoQueue::submit`], it does not block until there is one.
    ///
    /// Requests: AMDGPU_FENCE_TO_HANDLE, and SYNCOBJ_TRANSFER for each wait and signal: the fences become points of a timeline, of
    /// which the last is reached when all are (Linux 6.12 `dma-fence-chain.c`, `dma_fence_chain_enable_signaling`). Signals without
    /// anything to wait for are signalled by the CPU.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    /// use amdgpu_winsys::{
    ///     cs::{SyncPoint, VideoQueue},
    ///     winsys::{Context, Deadline, Device, Ip, Priority, Syncobj},
    /// };
    ///
    /// let options = SimOptions { video: true, ..SimOptions::default() };
    /// let device = Device::new(SimDevice::new(profile("navi21").ok_or("no such chip")?, options).open())?;
    /// let queue = VideoQueue::new(&Context::new(&device, Priority::Normal)?, Ip::VcnEnc, 0)?;
    /// let (before, after) = (Syncobj::new(&device, true)?, Syncobj::new(&device, false)?);
    /// queue.signal(&[SyncPoint::binary(&before)], &[SyncPoint::timeline(&after, 3)])?;
    /// assert!(after.wait_point(3, Deadline::NEVER)?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`VideoError::Winsys`] if a sync object belongs to another device, the last submission was lost, or the kernel refuses:
    /// `EINVAL` if a wait has no fence. Some of the signals may then have been replaced.
    pub fn signal(&self, waits: &[SyncPoint<'_>], signals: &[SyncPoint<'_>]) -> Result<u64, VideoError> {
        self.check_points(waits, signals)?;
        self.0.signal(waits, signals)?;
        Ok(self.0.in_flight.last())
    }

    /// Waits until all submissions so far have ended, and releases their resources. Returns `false` if the deadline passes first.
    ///
    /// Request: AMDGPU_WAIT_CS.
    ///
    /// # Errors
    ///
    /// The errors of [`VideoFence::wait`].
    pub fn wait_idle(&self, deadline: Deadline) -> Result<bool, VideoError> {
        match self.0.in_flight.last() {
            0 => Ok(true),
            last => self.0.wait(last, deadline),
        }
    }

    /// Waits for the submission with a sequence number, like [`VideoFence::wait`].
    ///
    /// Request: AMDGPU_WAIT_CS.
    ///
    /// # Errors
    ///
    /// The errors of [`VideoFence::wait`], and the kernel's EINVAL if no submission has this sequence number yet.
    pub fn wait(&self, sequence: u64, deadline: Deadline) -> Result<bool, VideoError> {
        self.0.wait(sequence, deadline)
    }

    /// Releases the resources of ended submissions. Makes one ioctl for each ended submission, and one for the first that still
    /// runs.
    ///
    /// # Errors
    ///
    /// [`VideoError::Winsys`] with [`DeviceLost`](crate::winsys::Error::DeviceLost) if a job was lost. The resources of this and
    /// later jobs are then kept until the last handle of the queue and the last fence are dropped.
    pub fn retire(&self) -> Result<(), VideoError> {
        self.0.retire()
    }

    /// Retires ended submissions, and returns the number of submissions that have not ended.
    ///
    /// # Errors
    ///
    /// The errors of [`VideoQueue::retire`].
    pub fn in_flight(&self) -> Result<usize, VideoError> {
        self.0.retire()?;
        Ok(self.0.in_flight.count())
    }

    fn check(&self, submission: &VideoSubmission<'_>) -> Result<(), VideoError> {
        let (ip, device) = (self.0.ip, self.0.context.device());
        let limit = device.info().max_ibs.get(ip.index()).map_or(1, |&most| most.max(1) as usize);
        match submission.ibs.len() {
            0 => return Err(VideoError::NoIb { ip }),
            ibs if ibs > limit => return Err(VideoError::TooManyIbs { ip, ibs, limit }),
            _ => {}
        }
        let mut all_own = submission.ibs.iter().all(|ib| ib.memory.is_of(device));
        submission.memory.each_binding(&mut |binding| all_own &= binding.is_of(device));
        if !all_own {
            return Err(WinsysError::ForeignDevice { what: "memory" }.into());
        }
        self.check_points(submission.waits, submission.signals)?;
        submission.after.iter().try_for_each(|fence| self.check_own("fence", fence.device()))
    }

    fn check_points(&self, waits: &[SyncPoint<'_>], signals: &[SyncPoint<'_>]) -> Result<(), VideoError> {
        let mut points = waits.iter().chain(signals);
        points.try_for_each(|point| self.check_own("sync object", point.syncobj.device()))
    }

    fn check_own(&self, what: &'static str, of: &Device) -> Result<(), VideoError> {
        if of == self.0.context.device() { Ok(()) } else { Err(WinsysError::ForeignDevice { what }.into()) }
    }
}
