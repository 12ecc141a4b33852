//! Recording and submitting.

use std::{ops::Range, time::Duration};

use ash::{prelude::VkResult, vk};

use super::{
    Gpu, Lane, QueueKind,
    buffer::Buffer,
    compute::Pipeline,
    sync::{Event, Fence, Semaphore},
    time::Timestamps,
};

/// Time after which the process gives up waiting for work.
const PATIENCE: Duration = Duration::from_mins(1);

/// Semaphores that a submission waits for and signals; the value of a binary semaphore is ignored.
#[derive(Default)]
pub(crate) struct Order<'a> {
    /// Before the first command.
    pub(crate) waits: Vec<(&'a Semaphore<'a>, u64)>,
    /// After the last.
    pub(crate) signals: Vec<(&'a Semaphore<'a>, u64)>,
}

impl<'a> Order<'a> {
    /// Nothing before and nothing after.
    pub(crate) fn free() -> Self {
        Self::default()
    }

    /// Waits for one more.
    pub(crate) fn after(mut self, semaphore: &'a Semaphore<'a>, value: u64) -> Self {
        self.waits.push((semaphore, value));
        self
    }

    /// Signals one more.
    pub(crate) fn then(mut self, semaphore: &'a Semaphore<'a>, value: u64) -> Self {
        self.signals.push((semaphore, value));
        self
    }
}

/// A command buffer being recorded.
pub(crate) struct Recorder<'a> {
    pub(super) gpu: &'a Gpu,
    pub(super) raw: vk::CommandBuffer,
}

/// Commands that were handed to a queue, with all they use.
pub(crate) struct Submission<'a> {
    gpu: &'a Gpu,
    fence: Fence<'a>,
    _pool: Pool<'a>,
}

/// A command pool, with its command buffers.
struct Pool<'g> {
    gpu: &'g Gpu,
    raw: vk::CommandPool,
}

impl Drop for Pool<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_command_pool(self.raw, None) };
    }
}

impl Gpu {
    /// Returns `true` if the device is lost. It submits nothing, from which a driver learns of a loss.
    pub(crate) fn is_lost(&self) -> bool {
        let Some(lane) = self.lane(QueueKind::Compute).or(self.lanes.first()) else { return false };
        let answer = self.submit(lane, &Order::free(), |_| {}).map(drop);
        matches!(answer, Err(vk::Result::ERROR_DEVICE_LOST))
    }

    /// Records commands and hands them to a queue.
    ///
    /// # Errors
    ///
    /// The errors of recording or vkQueueSubmit.
    pub(crate) fn submit<'a>(
        &'a self,
        lane: &Lane,
        order: &Order<'a>,
        record: impl FnOnce(&Recorder<'a>),
    ) -> VkResult<Submission<'a>> {
        let mut record = Some(record);
        self.submit_several(lane, order, 1, |_, recorder| {
            if let Some(record) = record.take() {
                record(recorder);
            }
        })
    }

    /// Records commands into several command buffers, each by its number, or none, and hands them to a queue together.
    ///
    /// # Errors
    ///
    /// The errors of recording or vkQueueSubmit.
    pub(crate) fn submit_several<'a>(
        &'a self,
        lane: &Lane,
        order: &Order<'a>,
        count: u32,
        mut record: impl FnMut(u32, &Recorder<'a>),
    ) -> VkResult<Submission<'a>> {
        let pool = self.pool(lane)?;
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(pool.raw)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(count);
        let buffers = match count {
            0 => Vec::new(),
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once
            // and what the call reads through pointers is local (the premises of `gpu`).
            _ => unsafe { self.device.allocate_command_buffers(&info) }?,
        };
        let once = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        for (number, &raw) in (0..).zip(&buffers) {
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once
            // and what the call reads through pointers is local (the premises of `gpu`); just allocated, so in the initial state.
            unsafe { self.device.begin_command_buffer(raw, &once) }?;
            record(number, &Recorder { gpu: self, raw });
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
            // (the premises of `gpu`); it is being recorded, and outside of any render pass.
            unsafe { self.device.end_command_buffer(raw) }?;
        }
        let fence = self.fence(None)?;
        self.hand_over(lane, order, &buffers, &fence)?;
        Ok(Submission { gpu: self, fence, _pool: pool })
    }

    /// Signals a fence when what the queue got before has ended.
    ///
    /// # Errors
    ///
    /// The errors of vkQueueSubmit.
    pub(crate) fn signal_after_all(&self, lane: &Lane, fence: &Fence<'_>) -> VkResult<()> {
        let _turn = self.turn();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); callers give a fence that is not signalled, wait for it, and only then drop it.
        unsafe { self.device.queue_submit(lane.queue, &[], fence.raw) }
    }

    fn pool(&self, lane: &Lane) -> VkResult<Pool<'_>> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(lane.family);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        let raw = unsafe { self.device.create_command_pool(&info, None) }?;
        Ok(Pool { gpu: self, raw })
    }

    fn hand_over(
        &self,
        lane: &Lane,
        order: &Order<'_>,
        buffers: &[vk::CommandBuffer],
        fence: &Fence<'_>,
    ) -> VkResult<()> {
        let split = |points: &[(&Semaphore<'_>, u64)]| -> (Vec<_>, Vec<_>) {
            points.iter().map(|&(semaphore, value)| (semaphore.raw, value)).unzip()
        };
        let (waits, wait_values) = split(&order.waits);
        let (signals, signal_values) = split(&order.signals);
        let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
        let mut values = vk::TimelineSemaphoreSubmitInfo::default()
            .wait_semaphore_values(&wait_values)
            .signal_semaphore_values(&signal_values);
        let batch = vk::SubmitInfo::default()
            .command_buffers(buffers)
            .wait_semaphores(&waits)
            .wait_dst_stage_mask(&stages)
            .signal_semaphores(&signals)
            .push_next(&mut values);
        let _turn = self.turn();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); what the commands use is borrowed by the submission until
        // they have ended.
        unsafe { self.device.queue_submit(lane.queue, &[batch], fence.raw) }
    }
}

impl<'a> Recorder<'a> {
    /// vkCmdFillBuffer of whole dwords.
    pub(crate) fn fill(&self, buffer: &'a Buffer<'_>, range: Range<u64>, value: u32) {
        check(buffer, range.start, range.end - range.start);
        let len = range.end - range.start;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); inside the buffer, as `check` made sure.
        unsafe { self.gpu.device.cmd_fill_buffer(self.raw, buffer.raw, range.start, len, value) };
    }

    /// vkCmdUpdateBuffer of whole dwords.
    pub(crate) fn update(&self, buffer: &'a Buffer<'_>, offset: u64, bytes: &[u8]) {
        check(buffer, offset, bytes.len() as u64);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); inside the buffer, as `check` made sure. The bytes are copied at once.
        unsafe { self.gpu.device.cmd_update_buffer(self.raw, buffer.raw, offset, bytes) };
    }

    /// vkCmdCopyBuffer of one region.
    pub(crate) fn copy(&self, from: (&'a Buffer<'_>, u64), to: (&'a Buffer<'_>, u64), len: u64) {
        check(from.0, from.1, len);
        check(to.0, to.1, len);
        let region = [vk::BufferCopy { src_offset: from.1, dst_offset: to.1, size: len }];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); inside both buffers, as `check` made sure.
        unsafe { self.gpu.device.cmd_copy_buffer(self.raw, from.0.raw, to.0.raw, &region) };
    }

    /// vkCmdDispatch of a pipeline's groups.
    pub(crate) fn dispatch(&self, pipeline: &'a Pipeline<'_>, [x, y, z]: [u32; 3]) {
        let (device, point) = (&self.gpu.device, vk::PipelineBindPoint::COMPUTE);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`).
        unsafe { device.cmd_bind_pipeline(self.raw, point, pipeline.raw) };
        let sets = [pipeline.set];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); the set has the layout of the pipeline.
        unsafe { device.cmd_bind_descriptor_sets(self.raw, point, pipeline.layout, 0, &sets, &[]) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); pipeline and set were just bound.
        unsafe { device.cmd_dispatch(self.raw, x, y, z) };
    }

    /// All before it ends, and is visible to all after it and to the CPU.
    pub(crate) fn barrier(&self) {
        let memory = [vk::MemoryBarrier::default().src_access_mask(vk::AccessFlags::MEMORY_WRITE).dst_access_mask(
            vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE | vk::AccessFlags::HOST_READ,
        )];
        let (all, then) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::PipelineStageFlags::HOST);
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        unsafe { self.gpu.device.cmd_pipeline_barrier(self.raw, all, all | then, flags, &memory, &[], &[]) };
    }

    /// Writes the clock into slot `index` at a stage.
    pub(crate) fn timestamp(&self, stamps: &'a Timestamps<'_>, index: u32, stage: vk::PipelineStageFlags) {
        assert!(index < stamps.count, "a check writes outside of its timestamps");
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); the slot exists, and was reset by the CPU when the pool was made.
        unsafe { self.gpu.device.cmd_write_timestamp(self.raw, stage, stamps.raw, index) };
    }

    /// vkCmdCopyQueryPoolResults of all queries, `stride` bytes apart from an offset of the buffer on.
    ///
    /// # Panics
    ///
    /// If the results do not fit.
    pub(crate) fn copy_results(
        &self,
        stamps: &'a Timestamps<'_>,
        (to, offset): (&'a Buffer<'_>, u64),
        stride: u64,
        flags: vk::QueryResultFlags,
    ) {
        check(to, offset, stride * u64::from(stamps.count));
        let (device, count) = (&self.gpu.device, stamps.count);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); inside pool and buffer, as was just checked.
        unsafe { device.cmd_copy_query_pool_results(self.raw, stamps.raw, 0, count, to.raw, offset, stride, flags) };
    }

    /// Sets an event after a stage.
    pub(crate) fn set_event(&self, event: &'a Event<'_>, stage: vk::PipelineStageFlags) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`).
        unsafe { self.gpu.device.cmd_set_event(self.raw, event.raw, stage) };
    }

    /// Unsets an event after a stage.
    pub(crate) fn reset_event(&self, event: &'a Event<'_>, stage: vk::PipelineStageFlags) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`).
        unsafe { self.gpu.device.cmd_reset_event(self.raw, event.raw, stage) };
    }

    /// Waits for an event that is set at `stage`.
    pub(crate) fn wait_event(&self, event: &'a Event<'_>, stage: vk::PipelineStageFlags) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
        unsafe { self.gpu.device.cmd_wait_events(self.raw, &[event.raw], stage, all, &[], &[], &[]) };
    }
}

/// Panics unless the bytes lie inside the buffer and are whole dwords from a dword on, or a copy's.
pub(super) fn check(buffer: &Buffer<'_>, offset: u64, len: u64) {
    let inside = offset.checked_add(len).is_some_and(|end| end <= buffer.size);
    assert!(inside && len > 0, "a check records outside of its buffer");
}

impl<'a> Submission<'a> {
    /// Waits for its end.
    ///
    /// # Errors
    ///
    /// `TIMEOUT`, or what vkWaitForFences answers.
    pub(crate) fn wait(&self, time: Duration) -> VkResult<()> {
        self.fence.wait(time)
    }

    /// Waits for its end as long as it may reasonably take.
    ///
    /// # Errors
    ///
    /// `TIMEOUT`, or what vkWaitForFences answers.
    pub(crate) fn finish(&self) -> VkResult<()> {
        self.wait(PATIENCE)
    }

    /// The fence of its end.
    pub(crate) const fn fence(&self) -> &Fence<'a> {
        &self.fence
    }
}

impl Drop for Submission<'_> {
    /// Waits; without an end nothing that the commands use may be destroyed, so then the process ends instead.
    fn drop(&mut self) {
        if self.gpu.wait_fences(&[&self.fence], false, PATIENCE) == Err(vk::Result::TIMEOUT) {
            eprintln!("work that was submitted never ended");
            std::process::exit(1);
        }
    }
}
