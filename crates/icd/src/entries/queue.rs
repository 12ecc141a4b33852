//! Submissions to queues.

use amdgpu_winsys::{
    heaps::{Backing, SparseBind, SparsePoint, SparseSubmission},
    winsys::Syncobj,
};
use ash::vk;

use crate::{
    border::{
        Array, Failure, chain,
        list::{BindSparseLists, SparseBindLists, Submit2Lists, SubmitLists, TimelineLists},
        object,
    },
    objects::{Buffer, CommandBuffer, Fence, Memory, Queue, Semaphore, Wait, Work},
};

/// The result if the call violates valid usage.
const UNKNOWN: Failure = Failure(vk::Result::ERROR_UNKNOWN);

/// Returns the wait for a semaphore; `None` for value 0 of a timeline, at which every timeline starts. The value of a binary
/// semaphore is ignored, as Vulkan specifies.
fn wait_of<'a>(semaphore: vk::Semaphore, value: u64) -> Result<Option<Wait<'a>>, Failure> {
    let Semaphore { payload, is_timeline } = object::<Semaphore>(semaphore).ok_or(UNKNOWN)?;
    Ok(match (is_timeline, value) {
        (true, 0) => None,
        (true, point) => Some(Wait { payload, point: Some(point) }),
        (false, _) => Some(Wait { payload, point: None }),
    })
}

/// Returns the point at which a semaphore signals; 0 is the binary state.
fn signal_of(semaphore: vk::Semaphore, value: u64) -> Result<(Syncobj, u64), Failure> {
    let semaphore = object::<Semaphore>(semaphore).ok_or(UNKNOWN)?;
    Ok((semaphore.payload.current(), if semaphore.is_timeline { value } else { 0 }))
}

/// Returns the values for waits and signals in the chain of a structure, with zeros for missing values.
fn values<'a>(info: &'a impl vk::TaggedStructure) -> (impl Iterator<Item = u64> + 'a, impl Iterator<Item = u64> + 'a) {
    let timeline = chain::find::<vk::TimelineSemaphoreSubmitInfo<'a>>(info);
    let (waits, signals) = timeline.map_or((&[][..], &[][..]), |it| (it.wait_values(), it.signal_values()));
    let padded = |values: &'a [u64]| values.iter().copied().chain(std::iter::repeat(0));
    (padded(waits), padded(signals))
}

/// Adds a recorded command buffer.
#[inline]
fn add_list(work: &mut Work<'_>, buffer: vk::CommandBuffer) -> Result<(), Failure> {
    work.lists.push(object::<CommandBuffer>(buffer).ok_or(UNKNOWN)?.list()?);
    Ok(())
}

/// Submits works in order; the fence signals with the last one. All works are checked before the first one is submitted.
#[inline]
fn submit_all<'a, T>(
    queue: &Queue,
    infos: &'a [T],
    add: impl Fn(&mut Work<'a>, &'a T) -> Result<(), Failure>,
    fence: Option<&Fence>,
) -> Result<(), Failure> {
    let signal = fence.map(|fence| (fence.0.current(), 0));
    // Nearly always one, which needs no list.
    if let [info] = infos {
        // Filled where it stays: to move it right after the stores takes longer than the stores.
        let mut work = Work::default();
        add(&mut work, info)?;
        work.signals.extend(signal);
        return queue.submit(&mut work);
    }
    let mut works = Vec::new();
    for info in infos {
        let mut work = Work::default();
        add(&mut work, info)?;
        works.push(work);
    }
    if let Some(signal) = signal {
        if works.is_empty() {
            works.push(Work::default());
        }
        works.last_mut().ok_or(UNKNOWN)?.signals.push(signal);
    }
    if works.is_empty() {
        return queue.check_held().map(|_is_held| ());
    }
    works.iter_mut().try_for_each(|work| queue.submit(work))
}

/// Adds the contents of a [`vk::SubmitInfo`].
fn add_submit<'a>(work: &mut Work<'a>, info: &'a vk::SubmitInfo<'_>) -> Result<(), Failure> {
    let (wait_values, signal_values) = values(info);
    for (&semaphore, value) in info.waits().iter().zip(wait_values) {
        work.waits.extend(wait_of(semaphore, value)?);
    }
    for &buffer in info.command_buffers() {
        add_list(work, buffer)?;
    }
    for (&semaphore, value) in info.signals().iter().zip(signal_values) {
        work.signals.push(signal_of(semaphore, value)?);
    }
    Ok(())
}

/// Adds the contents of a [`vk::SubmitInfo2`].
#[inline]
fn add_submit2<'a>(work: &mut Work<'a>, info: &'a vk::SubmitInfo2<'_>) -> Result<(), Failure> {
    for wait in info.waits() {
        work.waits.extend(wait_of(wait.semaphore, wait.value)?);
    }
    info.command_buffers().iter().try_for_each(|buffer| add_list(work, buffer.command_buffer))?;
    for signal in info.signals() {
        work.signals.push(signal_of(signal.semaphore, signal.value)?);
    }
    Ok(())
}

pub(crate) fn submit(
    queue: &Queue,
    count: u32,
    infos: Array<'_, vk::SubmitInfo<'_>>,
    fence: Option<&Fence>,
) -> Result<(), Failure> {
    submit_all(queue, infos.of(count), add_submit, fence)
}

#[inline]
pub(crate) fn submit2(
    queue: &Queue,
    count: u32,
    infos: Array<'_, vk::SubmitInfo2<'_>>,
    fence: Option<&Fence>,
) -> Result<(), Failure> {
    submit_all(queue, infos.of(count), add_submit2, fence)
}

pub(crate) fn wait_idle(queue: &Queue) -> Result<(), Failure> {
    queue.wait_idle()
}

/// Converts a bind of a sparse buffer to a change of the library.
fn sparse_bind(bind: &vk::SparseMemoryBind) -> Result<SparseBind, Failure> {
    let backing = object::<Memory>(bind.memory)
        .map(|memory| Backing { memory: memory.binding().clone(), offset: bind.memory_offset });
    if backing.is_none() && bind.memory != vk::DeviceMemory::null() {
        return Err(UNKNOWN);
    }
    Ok(SparseBind { offset: bind.resource_offset, len: bind.size, backing })
}

pub(crate) fn bind_sparse(
    queue: &Queue,
    count: u32,
    infos: Array<'_, vk::BindSparseInfo<'_>>,
    fence: Option<&Fence>,
) -> Result<(), Failure> {
    let sparse = queue.sparse()?;
    let infos = infos.of(count);
    for info in infos {
        let mut submission = SparseSubmission::default();
        let (wait_values, signal_values) = values(info);
        for (&semaphore, value) in info.waits().iter().zip(wait_values) {
            let Some(Wait { payload, point }) = wait_of(semaphore, value)? else { continue };
            let syncobj = if point.is_some() { payload.current() } else { payload.take()? };
            submission.waits.push(SparsePoint { syncobj, point: point.unwrap_or(0) });
        }
        for (&semaphore, value) in info.signals().iter().zip(signal_values) {
            let (syncobj, point) = signal_of(semaphore, value)?;
            submission.signals.push(SparsePoint { syncobj, point });
        }
        for buffer in info.buffers() {
            let range = object::<Buffer>(buffer.buffer).and_then(Buffer::range).ok_or(UNKNOWN)?;
            let binds = buffer.binds().iter().map(sparse_bind).collect::<Result<_, _>>()?;
            submission.binds.push((range.clone(), binds));
        }
        sparse.submit(submission)?;
    }
    if let Some(fence) = fence {
        let signals = vec![SparsePoint { syncobj: fence.0.current(), point: 0 }];
        sparse.submit(SparseSubmission { signals, ..SparseSubmission::default() })?;
    }
    Ok(())
}
