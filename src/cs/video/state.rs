//! The state shared by the handles of a video queue and its fences.

use parking_lot::Mutex;

use super::{VideoError, VideoIb, VideoSubmission};
use crate::{
    cs::{
        SyncPoint,
        submit::{
            bo_list::BoListBuilder,
            in_flight::{InFlight, InFlightList, Resource},
        },
    },
    host_memory::{NoHostMemory, extend, push, reserve},
    uapi::{BO_LIST_MAX_ENTRIES, CsChunkDep, CsChunkIb, CsChunkSyncobj, SyncobjWaitFlags},
    winsys::{ChunkScratch, Chunks, Context, Deadline, Error as WinsysError, Event, Ip, Syncobj},
};

/// The priority of IBs in the BO list, the same as on other rings.
const IB_PRIORITY: u32 = 31;

/// The state of a queue of a context on a video ring.
#[derive(Debug)]
pub(super) struct State {
    pub(super) context: Context,
    pub(super) ip: Ip,
    pub(super) ring: u32,
    /// Held during the ioctl, so that submissions are in order.
    buffers: Mutex<Buffers>,
    pub(super) in_flight: InFlightList,
}

/// The order of submissions, and the containers in which they are built, reused by later submissions.
#[derive(Debug, Default)]
struct Buffers {
    /// A point for which the next submission waits: the waits of signals without IBs.
    gate: Option<(Syncobj, u64)>,
    bos: BoListBuilder,
    scratch: ChunkScratch,
    ibs: Vec<CsChunkIb>,
    dependencies: Vec<CsChunkDep>,
    waits: Vec<CsChunkSyncobj>,
    signals: Vec<CsChunkSyncobj>,
}

fn no_memory(error: NoHostMemory) -> VideoError {
    error.of("a submission to a video engine").into()
}

impl Buffers {
    /// Prepares a submission, of whose memory `place` has references.
    fn prepare(&mut self, state: &State, submission: &VideoSubmission<'_>, place: &InFlight) -> Result<(), VideoError> {
        let Self { bos, ibs, dependencies, waits, signals, gate, .. } = self;
        ibs.clear();
        bos.begin();
        for (index, ib) in submission.ibs.iter().enumerate() {
            let chunk = ib.chunk(state.ip, state.ring).map_err(|fault| VideoError::Ib { index, fault })?;
            push(ibs, chunk).map_err(no_memory)?;
            bos.add(ib.memory, IB_PRIORITY).map_err(no_memory)?;
        }
        for binding in place.memory.iter().filter_map(Resource::memory) {
            bos.add(binding, binding.priority()).map_err(no_memory)?;
        }
        let count = bos.entries().len();
        if count > BO_LIST_MAX_ENTRIES as usize {
            return Err(VideoError::TooManyBos { count });
        }
        let of = |list: &mut Vec<CsChunkSyncobj>, points: &[SyncPoint<'_>], flags: SyncobjWaitFlags| {
            list.clear();
            let chunk = |point: &SyncPoint<'_>| CsChunkSyncobj {
                handle: point.syncobj.handle(),
                flags: flags.bits(),
                point: point.point,
            };
            extend(list, points.iter().map(chunk))
        };
        of(waits, submission.waits, SyncobjWaitFlags::WAIT_FOR_SUBMIT).map_err(no_memory)?;
        if let Some((syncobj, point)) = gate {
            push(waits, CsChunkSyncobj { handle: syncobj.handle(), flags: 0, point: *point }).map_err(no_memory)?;
        }
        of(signals, submission.signals, SyncobjWaitFlags::empty()).map_err(no_memory)?;
        dependencies.clear();
        extend(dependencies, submission.after.iter().map(|fence| fence.dependency())).map_err(no_memory)
    }
}

/// Takes references to the memory of a submission. This is code of the caller, which may use the queue, so it runs before any
/// lock of the queue is taken.
fn memory_of(submission: &VideoSubmission<'_>) -> Result<Vec<Resource>, NoHostMemory> {
    let (mut memory, mut collected) = (Vec::new(), Ok(()));
    reserve(&mut memory, submission.memory.binding_count())?;
    submission.memory.each_binding(&mut |binding| {
        if collected.is_ok() {
            collected = push(&mut memory, Resource::Memory(binding.clone()));
        }
    });
    collected.map(|()| memory)
}

impl State {
    pub(super) fn new(context: Context, ip: Ip, ring: u32) -> Self {
        Self { context, ip, ring, buffers: Mutex::default(), in_flight: InFlightList::default() }
    }

    /// Makes the kernel call of a submission, which must have been checked, and keeps its resources alive.
    pub(super) fn submit(&self, submission: &VideoSubmission<'_>) -> Result<u64, VideoError> {
        let memory = memory_of(submission).map_err(no_memory)?;
        let mut place = self.in_flight.reserve().map_err(no_memory)?;
        place.memory = memory;
        let (outcome, retired) = {
            let mut buffers = self.buffers.lock();
            let outcome = self.call(&mut buffers, submission, &mut place);
            (outcome, self.in_flight.commit(place, None, submission.keep, 0))
        };
        // Dropping resources makes ioctls and calls observers, so it waits for the end of the lock.
        drop(retired);
        let (sequence, event) = outcome?;
        if let Some(event) = event {
            self.context.device().notify(|| event);
        }
        Ok(sequence)
    }

    fn call(
        &self,
        buffers: &mut Buffers,
        submission: &VideoSubmission<'_>,
        place: &mut InFlight,
    ) -> Result<(u64, Option<Event>), VideoError> {
        let ib = |ib: &VideoIb<'_>| Resource::Memory(ib.memory.clone());
        extend(&mut place.lists, submission.ibs.iter().map(ib)).map_err(no_memory)?;
        buffers.prepare(self, submission, place)?;
        let Buffers { bos, scratch, ibs, dependencies, waits, signals, .. } = &mut *buffers;
        let chunks = Chunks {
            ibs,
            bos: bos.entries(),
            dependencies,
            waits,
            signals,
            // The kernel refuses user fences on these rings.
            user_fence: None,
            ..Chunks::default()
        };
        let sequence = self.context.submit_quiet(&chunks, scratch)?;
        place.accept(sequence);
        let is_observed = self.context.device().is_observed();
        let event = is_observed.then(|| self.context.submitted(&chunks, sequence));
        buffers.gate = None;
        Ok((sequence, event))
    }

    /// Signals points when all submissions so far and the waits have completed. Later submissions wait for the waits too.
    pub(super) fn signal(&self, waits: &[SyncPoint<'_>], signals: &[SyncPoint<'_>]) -> Result<(), WinsysError> {
        let mut buffers = self.buffers.lock();
        let last = self.in_flight.last();
        let last = (last > 0).then(|| self.context.fence_to_syncobj(self.ip, self.ring, last)).transpose()?;
        let before = last.iter().map(|last| (last, 0)).chain(buffers.gate.iter().map(|(gate, point)| (gate, *point)));
        let before = before.chain(waits.iter().map(|wait| (wait.syncobj, wait.point)));
        // A point of a timeline is reached when its own fence and all earlier points are.
        let (all, mut point) = (Syncobj::new(self.context.device(), false)?, 0);
        for (syncobj, from) in before {
            point += 1;
            all.transfer(point, syncobj, from)?;
        }
        for signal in signals {
            match (point, signal.point) {
                (0, 0) => signal.syncobj.signal()?,
                (0, to) => signal.syncobj.signal_point(to)?,
                (_, to) => signal.syncobj.transfer(to, &all, point)?,
            }
        }
        if !waits.is_empty() {
            buffers.gate = Some((all, point));
        }
        Ok(())
    }

    /// Waits for a submission, and then releases the resources of it and all earlier ones.
    pub(super) fn wait(&self, sequence: u64, deadline: Deadline) -> Result<bool, VideoError> {
        let is_done = self.context.wait(self.ip, self.ring, sequence, deadline)?;
        if is_done {
            self.in_flight.retire_up_to(sequence);
        }
        Ok(is_done)
    }

    /// Releases the resources of ended submissions. Makes one ioctl for each of them, and one for the first that still runs.
    pub(super) fn retire(&self) -> Result<(), VideoError> {
        loop {
            let Some(oldest) = self.in_flight.oldest() else { return Ok(()) };
            if !self.wait(oldest, Deadline::POLL)? {
                return Ok(());
            }
        }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.context.give_back_queue(self.ip, self.ring);
    }
}
