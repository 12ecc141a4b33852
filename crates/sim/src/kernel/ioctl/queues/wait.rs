//! Waits for submissions by sequence number.
//!
//! Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_wait_ioctl`, `amdgpu_cs_wait_fences_ioctl`,
//! `amdgpu_cs_fence_to_handle_ioctl`.

use std::sync::Arc;

use amdgpu_uapi::{
    CsFence, Errno, FENCE_TO_SYNC_FILE_FD, FENCE_TO_SYNCOBJ, FENCE_TO_SYNCOBJ_FD, FenceToHandle, FenceToHandleAnswer,
    WaitCs, WaitCsAnswer, WaitFences, WaitFencesAnswer,
};

use crate::{
    features::Features,
    kernel::{
        files::file::File,
        ioctl::args::{answer, argument},
        sched::context::Numbered,
        sync::{events::Until, fence::Fence, sync_file::SyncFile, syncobj::Syncobj},
        user,
    },
};

/// Returns what a sequence number stands for.
fn look_up(file: &File, fence: &CsFence) -> Result<Numbered, Errno> {
    let context = file.context(fence.ctx_id)?;
    let (_, entity) = context.entity(fence.ip_type, fence.ip_instance, fence.ring)?;
    entity.numbered(fence.seq_no)
}

impl Numbered {
    /// Returns the fence of the number. For one that has signalled and is forgotten, it is a signalled fence.
    fn into_fence(self) -> Arc<Fence> {
        match self {
            Self::Done => Fence::signalled(),
            Self::Fence(fence) => fence,
        }
    }
}

/// Performs WAIT_CS. A timeout is no error; if the fence has signalled with an error, the wait fails with that error.
pub(crate) fn wait_cs(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: WaitCs = argument(bytes)?;
    let WaitCs { handle: seq_no, ip_type, ip_instance, ring, ctx_id, .. } = request;
    let fence = look_up(file, &CsFence { ctx_id, ip_type, ip_instance, ring, seq_no })?.into_fence();
    let status = match file.gpu.machine.events.wait(Until::amdgpu(request.timeout), || fence.outcome()) {
        Some(outcome) => outcome.map(|()| 0)?,
        None => 1,
    };
    answer::<WaitCs>(bytes, &WaitCsAnswer { status })
}

/// Performs WAIT_FENCES.
pub(crate) fn wait_fences(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: WaitFences = argument(bytes)?;
    if request.fence_count == 0 && file.gpu.facts.has(Features::STRICT_WAITS) {
        return Err(Errno::EINVAL);
    }
    let numbers: Vec<CsFence> = user::read_slice(request.fences, request.fence_count as usize)?;
    let until = Until::amdgpu(request.timeout_ns);
    if request.wait_all != 0 {
        let status = u32::from(wait_for_all(file, &numbers, until)?);
        return answer::<WaitFences>(bytes, &WaitFencesAnswer { status, first_signaled: 0 });
    }
    if numbers.is_empty() {
        return Err(Errno::EINVAL);
    }
    let (status, first_signaled, outcome) = match wait_for_any(file, &numbers, until)? {
        Some((index, outcome)) => (1, index, outcome),
        None => (0, u32::MAX, Ok(())),
    };
    answer::<WaitFences>(bytes, &WaitFencesAnswer { status, first_signaled })?;
    outcome
}

/// Waits for all numbers, one after the other. Each is looked up only when its turn comes, so a timeout or an error hides invalid
/// numbers after it.
fn wait_for_all(file: &File, numbers: &[CsFence], until: Until) -> Result<bool, Errno> {
    for number in numbers {
        let fence = look_up(file, number)?.into_fence();
        match file.gpu.machine.events.wait(until, || fence.outcome()) {
            Some(outcome) => outcome?,
            None => return Ok(false),
        }
    }
    Ok(true)
}

/// The result of a job.
type Outcome = Result<(), Errno>;

/// Returns the first signalled fence and its result. A forgotten fence ends the search before later numbers are looked up.
fn wait_for_any(file: &File, numbers: &[CsFence], until: Until) -> Result<Option<(u32, Outcome)>, Errno> {
    let mut fences = Vec::with_capacity(numbers.len());
    for (index, number) in (0..).zip(numbers) {
        match look_up(file, number)? {
            Numbered::Done => return Ok(Some((index, Ok(())))),
            Numbered::Fence(fence) => fences.push(fence),
        }
    }
    let first = || (0..).zip(&fences).find_map(|(index, fence)| Some((index, fence.outcome()?)));
    Ok(file.gpu.machine.events.wait(until, first))
}

/// Performs FENCE_TO_HANDLE: returns the fence as a sync object, as a descriptor of one, or as a sync file.
pub(crate) fn fence_to_handle(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: FenceToHandle = argument(bytes)?;
    let fence = look_up(file, &request.fence)?.into_fence();
    let descriptors = &file.gpu.machine.descriptors;
    let syncobj = |fence| Arc::new(Syncobj::new(Some(fence)));
    let handle = match request.what {
        FENCE_TO_SYNCOBJ => file.syncobjs.lock().insert(syncobj(fence)).map_err(|_| Errno::ENOMEM)?,
        FENCE_TO_SYNCOBJ_FD => user::install(descriptors.add_syncobj(syncobj(fence))?)?.cast_unsigned(),
        FENCE_TO_SYNC_FILE_FD => user::install(descriptors.add_sync_file(SyncFile::new(fence))?)?.cast_unsigned(),
        _ => return Err(Errno::EINVAL),
    };
    answer::<FenceToHandle>(bytes, &FenceToHandleAnswer { handle })
}
