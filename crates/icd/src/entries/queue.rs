//! Submissions to queues.

use amdgpu_winsys::heaps::{Backing, SparseBind, SparsePoint, SparseSubmission};
use ash::vk;

use crate::{
    border::{
        Array, Failure, chain,
        list::{BindSparseLists, SparseBindLists, Submit2Lists, SubmitLists, TimelineLists},
        object,
    },
    objects::{Buffer, CommandBuffer, Fence, Memory, Queue, Semaphore, Wait, Work},
};

/// The result of what valid usage forbids.
const UNKNOWN: Failure = Failure(vk::Result::ERROR_UNKNOWN);

/// Adds what a submission waits for.
fn add_wait(work: &mut Work<'_>, semaphore: vk::Semaphore, value: u64) -> Result<(), Failure> {
    let semaphore = object::<Semaphore>(semaphore).ok_or(UNKNOWN)?;
    match (semaphore.is_timeline, value) {
        (true, 0) => {} // the timeline begins there
        (true, point) => work.waits.push(Wait { payload: &semaphore.payload, point: Some(point) }),
        (false, _) => work.waits.push(Wait { payload: &semaphore.payload, point: None }),
    }
    Ok(())
}

/// Adds what a submission signals.
fn add_signal(work: &mut Work<'_>, semaphore: vk::Semaphore, value: u64) -> Result<(), Failure> {
    let semaphore = object::<Semaphore>(semaphore).ok_or(UNKNOWN)?;
    work.signals.push((semaphore.payload.current(), if semaphore.is_timeline { value } else { 0 }));
    Ok(())
}

/// Adds a recorded command buffer.
fn add_list(work: &mut Work<'_>, buffer: vk::CommandBuffer) -> Result<(), Failure> {
    work.lists.push(object::<CommandBuffer>(buffer).ok_or(UNKNOWN)?.list()?);
    Ok(())
}

/// Submits works in order; the fence signals with the last.
fn submit_all(queue: &Queue, mut works: Vec<Work<'_>>, fence: Option<&Fence>) -> Result<(), Failure> {
    if let Some(fence) = fence {
        if works.is_empty() {
            works.push(Work::default());
        }
        works.last_mut().ok_or(UNKNOWN)?.signals.push((fence.0.current(), 0));
    }
    works.into_iter().try_for_each(|work| queue.submit(work))
}

pub(crate) fn submit(
    queue: &Queue,
    count: u32,
    infos: Array<'_, vk::SubmitInfo<'_>>,
    fence: Option<&Fence>,
) -> Result<(), Failure> {
    let mut works = Vec::new();
    for info in infos.of(count) {
        let mut work = Work::default();
        let timeline = chain::find::<vk::TimelineSemaphoreSubmitInfo<'_>>(info);
        let value = |values: &[u64], index: usize| values.get(index).copied().unwrap_or(0);
        for (index, &semaphore) in info.waits().iter().enumerate() {
            add_wait(&mut work, semaphore, timeline.map_or(0, |it| value(it.wait_values(), index)))?;
        }
        for &buffer in info.command_buffers() {
            add_list(&mut work, buffer)?;
        }
        for (index, &semaphore) in info.signals().iter().enumerate() {
            add_signal(&mut work, semaphore, timeline.map_or(0, |it| value(it.signal_values(), index)))?;
        }
        works.push(work);
    }
    submit_all(queue, works, fence)
}

pub(crate) fn submit2(
    queue: &Queue,
    count: u32,
    infos: Array<'_, vk::SubmitInfo2<'_>>,
    fence: Option<&Fence>,
) -> Result<(), Failure> {
    let mut works = Vec::new();
    for info in infos.of(count) {
        let mut work = Work::default();
        info.waits().iter().try_for_each(|wait| add_wait(&mut work, wait.semaphore, wait.value))?;
        info.command_buffers().iter().try_for_each(|buffer| add_list(&mut work, buffer.command_buffer))?;
        info.signals().iter().try_for_each(|signal| add_signal(&mut work, signal.semaphore, signal.value))?;
        works.push(work);
    }
    submit_all(queue, works, fence)
}

pub(crate) fn wait_idle(queue: &Queue) -> Result<(), Failure> {
    queue.wait_idle()
}

/// Returns a bind of a sparse buffer as the library's.
fn sparse_bind(bind: &vk::SparseMemoryBind) -> Result<SparseBind, Failure> {
    let backing = object::<Memory>(bind.memory)
        .map(|memory| Backing { memory: memory.memory.read().binding().clone(), offset: bind.memory_offset });
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
        let timeline = chain::find::<vk::TimelineSemaphoreSubmitInfo<'_>>(info);
        let value = |values: &[u64], index: usize| values.get(index).copied().unwrap_or(0);
        for (index, &semaphore) in info.waits().iter().enumerate() {
            let semaphore = object::<Semaphore>(semaphore).ok_or(UNKNOWN)?;
            let point = timeline.map_or(0, |it| value(it.wait_values(), index));
            let syncobj = if semaphore.is_timeline { semaphore.payload.current() } else { semaphore.payload.take()? };
            submission.waits.push(SparsePoint { syncobj, point });
        }
        for (index, &semaphore) in info.signals().iter().enumerate() {
            let semaphore = object::<Semaphore>(semaphore).ok_or(UNKNOWN)?;
            let point = timeline.map_or(0, |it| value(it.signal_values(), index));
            submission.signals.push(SparsePoint { syncobj: semaphore.payload.current(), point });
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
