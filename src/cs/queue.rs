//! Queues: where command lists are submitted, and what keeps their resources alive meanwhile.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;

use super::{CommandList, Error, Fence, Result, Target, user_fence::UserFence};
use crate::{
    uapi::{BoListEntry, CsChunkDep, CsChunkIb, CsChunkSyncobj, SyncobjWaitFlags},
    winsys::{
        Binding, ChunkScratch, Chunks, Context, Deadline, Device, Error as WinsysError, Ip, ResidentSet, Residents,
        Syncobj,
    },
};

/// How long dropping a queue waits for its last submission: the kernel declares a ring hung after ten seconds.
const DRAIN: Duration = Duration::from_secs(10);

/// Validation order of IBs, as in RADV; memory has its own.
const IB_PRIORITY: u32 = 31;

/// A point of a sync object: 0 is its binary state, anything else a point of its timeline.
#[derive(Clone, Copy, Debug)]
pub struct SyncPoint<'a> {
    /// The sync object.
    pub syncobj: &'a Syncobj,
    /// The point.
    pub point: u64,
}

impl<'a> SyncPoint<'a> {
    /// The binary state.
    pub fn binary(syncobj: &'a Syncobj) -> Self {
        Self { syncobj, point: 0 }
    }
}

/// One submission: command lists that run in order, and what they touch.
#[derive(Clone, Copy, Default)]
pub struct Submission<'a> {
    /// At least one.
    pub lists: &'a [&'a CommandList],
    /// The memory that the lists read or write. Resident while they run, and kept alive until they are done.
    pub memory: &'a [Arc<Binding>],
    /// More such memory. Sets that are the same as last time cost nothing.
    pub sets: &'a [&'a ResidentSet],
    /// Sync objects that must have signalled first; one without a fence yet is waited for, five seconds at most.
    pub waits: &'a [SyncPoint<'a>],
    /// Sync objects that signal when the lists are done.
    pub signals: &'a [SyncPoint<'a>],
    /// Submissions to queues of this device that must have finished first.
    pub after: &'a [&'a Fence],
}

/// One queue of a context: the entity (context, IP, ring). Submissions to it run one after the other.
#[derive(Debug)]
pub struct Queue {
    shared: Arc<Shared>,
}

/// What fences and their queue have in common.
#[derive(Debug)]
pub(super) struct Shared {
    context: Arc<Context>,
    ip: Ip,
    ring: u32,
    target: Target,
    user_fence: UserFence,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    in_flight: VecDeque<InFlight>,
    /// Emptied containers of finished submissions, so that a steady stream of submissions allocates nothing.
    spare: Vec<InFlight>,
    scratch: Scratch,
}

impl State {
    /// Lets go of what submissions up to this sequence number used; their containers are kept.
    fn retire_up_to(&mut self, done: u64) {
        while let Some(mut job) = self.in_flight.pop_front_if(|job| job.sequence <= done) {
            job.lists.clear();
            job.memory.clear();
            job.sets.clear();
            self.spare.push(job);
        }
    }
}

/// What one running submission uses.
#[derive(Debug, Default)]
struct InFlight {
    sequence: u64,
    lists: Vec<CommandList>,
    memory: Vec<Arc<Binding>>,
    sets: Vec<Residents>,
}

#[derive(Debug, Default)]
struct Scratch {
    /// The sets whose entries `bos` begins with. Known by their addresses, which stay taken as long as these exist, but
    /// not kept alive: a memory that left its set goes when its last job is done.
    listed_sets: Vec<Weak<[Arc<Binding>]>>,
    /// How many entries that are.
    set_entries: usize,
    chunks: ChunkScratch,
    ibs: Vec<CsChunkIb>,
    bos: Vec<BoListEntry>,
    dependencies: Vec<CsChunkDep>,
    waits: Vec<CsChunkSyncobj>,
    signals: Vec<CsChunkSyncobj>,
}

impl Scratch {
    /// Whether `bos` begins with the entries of just these sets.
    fn has_listed(&self, sets: &[Residents]) -> bool {
        let same =
            |(listed, set): (&Weak<[Arc<Binding>]>, &Residents)| std::ptr::addr_eq(listed.as_ptr(), Arc::as_ptr(set));
        self.listed_sets.len() == sets.len() && self.listed_sets.iter().zip(sets).all(same)
    }
}

impl Queue {
    /// The queue of `context` on ring `ring` of `ip`.
    ///
    /// # Errors
    ///
    /// [`Error::NoLanguage`] for a video block, [`Error::NoSuchRing`], or [`Error::Winsys`] without memory.
    pub fn new(context: &Arc<Context>, ip: Ip, ring: u32) -> Result<Self> {
        let device = context.device();
        let target = Target::new(device.info().gfx_level, ip).ok_or(Error::NoLanguage { ip })?;
        let rings = device.info().ring_count(ip);
        if ring >= rings {
            return Err(Error::NoSuchRing { ip, ring, rings });
        }
        let shared = Shared {
            context: Arc::clone(context),
            ip,
            ring,
            target,
            user_fence: UserFence::new(device)?,
            state: Mutex::default(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// The IP.
    pub fn ip(&self) -> Ip {
        self.shared.ip
    }

    /// The ring, a queue index of the context.
    pub fn ring(&self) -> u32 {
        self.shared.ring
    }

    /// What streams for this queue are recorded in.
    pub fn target(&self) -> Target {
        self.shared.target
    }

    /// The context.
    pub fn context(&self) -> &Arc<Context> {
        &self.shared.context
    }

    /// Submits. One ioctl; nothing is allocated once the queue has seen a submission of this size.
    ///
    /// More IBs than the kernel takes at once go in several calls: the first waits, the last signals, and the fence is
    /// the last one's. RADV signals with each of them, which wakes waiters early (Mesa 25.0.7
    /// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`).
    ///
    /// Everything named in the submission stays alive until it is done, whatever the caller drops meanwhile.
    ///
    /// # Errors
    ///
    /// [`Error::NothingToSubmit`], [`Error::TooManyBos`], [`Error::WrongQueue`]; [`Error::Winsys`] for objects of
    /// another device, a lost GPU, and what the kernel refuses. Nothing was then submitted, and no sync object has
    /// changed. [`Error::PartlySubmitted`] when a call after the first is refused.
    pub fn submit(&self, submission: &Submission<'_>) -> Result<Fence> {
        let shared = &self.shared;
        let mut state = shared.state.lock();
        shared.retire(&mut state);
        let State { in_flight, spare, scratch } = &mut *state;
        let mut job = spare.pop().unwrap_or_default();
        job.sets.extend(submission.sets.iter().map(|set| set.snapshot()));
        let sent = shared.check(submission, &job.sets, scratch).and_then(|()| {
            shared.fill(scratch, submission, &job.sets);
            shared.send(scratch)
        });
        let (sequence, outcome) = match sent {
            Ok(sent) => sent,
            Err(error) => {
                job.sets.clear();
                spare.push(job);
                return Err(error);
            }
        };
        job.sequence = sequence;
        job.lists.extend(submission.lists.iter().copied().cloned());
        job.memory.extend(submission.memory.iter().cloned());
        in_flight.push_back(job);
        tracing::trace!(ip = %shared.ip, ring = shared.ring, sequence, "submitted");
        outcome.map(|()| Fence::new(Arc::clone(shared), sequence))
    }

    /// Waits for everything submitted so far; false when the deadline came first.
    ///
    /// # Errors
    ///
    /// [`Error::Winsys`] when a job was lost.
    pub fn wait_idle(&self, deadline: Deadline) -> Result<bool> {
        let last = self.shared.state.lock().in_flight.back().map(|job| job.sequence);
        last.map_or(Ok(true), |sequence| self.shared.wait(sequence, deadline))
    }

    /// Submissions that were not yet seen to be done.
    pub fn in_flight(&self) -> usize {
        let mut state = self.shared.state.lock();
        self.shared.retire(&mut state);
        state.in_flight.len()
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        match self.wait_idle(Deadline::after(DRAIN)) {
            Ok(true) => {}
            // The kernel holds its own references and orders every unbinding behind the running jobs.
            Ok(false) => tracing::warn!(ip = %self.ip(), ring = self.ring(), "queue dropped while its jobs still run"),
            Err(error) => tracing::warn!(ip = %self.ip(), ring = self.ring(), %error, "queue dropped after an error"),
        }
    }
}

impl Shared {
    fn device(&self) -> &Arc<Device> {
        self.context.device()
    }

    fn check(&self, submission: &Submission<'_>, sets: &[Residents], scratch: &Scratch) -> Result<()> {
        if submission.lists.is_empty() {
            return Err(Error::NothingToSubmit);
        }
        let own_bos: usize = submission.lists.iter().map(|list| list.bindings().len()).sum();
        let set_bos: usize = sets.iter().map(|set| set.len()).sum();
        let bos = own_bos + set_bos + submission.memory.len();
        if bos > crate::uapi::BO_LIST_MAX_ENTRIES as usize {
            return Err(Error::TooManyBos { count: bos });
        }
        for list in submission.lists {
            if !list.is_of(self.device()) {
                return Err(WinsysError::ForeignDevice { what: "command list" }.into());
            }
            let recorded = list.target();
            if recorded != self.target {
                return Err(Error::WrongQueue { recorded, queue: self.target });
            }
        }
        let new_sets = if scratch.has_listed(sets) { &[] } else { sets };
        for binding in submission.memory.iter().chain(new_sets.iter().flat_map(|set| set.iter())) {
            self.own("memory", binding.device())?;
        }
        for sync in submission.waits.iter().chain(submission.signals) {
            self.own("sync object", sync.syncobj.device())?;
        }
        for fence in submission.after {
            self.own("fence", fence.shared().device())?;
        }
        Ok(())
    }

    fn own(&self, what: &'static str, device: &Arc<Device>) -> Result<()> {
        if Arc::ptr_eq(self.device(), device) { Ok(()) } else { Err(WinsysError::ForeignDevice { what }.into()) }
    }

    fn fill(&self, scratch: &mut Scratch, submission: &Submission<'_>, sets: &[Residents]) {
        scratch.ibs.clear();
        let ibs = submission.lists.iter().flat_map(|list| list.submitted_ibs());
        scratch.ibs.extend(ibs.map(|(va, dwords)| CsChunkIb {
            pad: 0,
            flags: 0,
            va_start: va.as_u64(),
            ib_bytes: (dwords * 4) as u32,
            ip_type: self.ip as u32,
            ip_instance: 0,
            ring: self.ring,
        }));
        let entry = |binding: &Binding, bo_priority| BoListEntry { bo_handle: binding.bo().handle(), bo_priority };
        if !scratch.has_listed(sets) {
            scratch.bos.clear();
            let members = sets.iter().flat_map(|set| set.iter());
            scratch.bos.extend(members.map(|binding| entry(binding, binding.priority())));
            scratch.set_entries = scratch.bos.len();
            scratch.listed_sets.clear();
            scratch.listed_sets.extend(sets.iter().map(Arc::downgrade));
        }
        scratch.bos.truncate(scratch.set_entries);
        let ibs = submission.lists.iter().flat_map(|list| list.bindings());
        scratch.bos.extend(ibs.map(|binding| entry(binding, IB_PRIORITY)));
        scratch.bos.extend(submission.memory.iter().map(|binding| entry(binding, binding.priority())));
        scratch.dependencies.clear();
        scratch.dependencies.extend(submission.after.iter().map(|fence| fence.dependency()));
        let point = |flags: SyncobjWaitFlags| {
            move |sync: &SyncPoint<'_>| CsChunkSyncobj {
                handle: sync.syncobj.handle(),
                flags: flags.bits(),
                point: sync.point,
            }
        };
        scratch.waits.clear();
        scratch.waits.extend(submission.waits.iter().map(point(SyncobjWaitFlags::WAIT_FOR_SUBMIT)));
        scratch.signals.clear();
        scratch.signals.extend(submission.signals.iter().map(point(SyncobjWaitFlags::empty())));
    }

    /// Hands the kernel what `fill` gathered, in as few calls as it allows. Returns the number of the last call that it
    /// took, and whether that was all of them; an error if it took none.
    fn send(&self, scratch: &mut Scratch) -> Result<(u64, Result<()>)> {
        let Scratch { chunks, ibs, bos, dependencies, waits, signals, .. } = scratch;
        let most = self.device().info().max_ibs.get(self.ip.index()).map_or(1, |&most| most.max(1) as usize);
        let parts = ibs.len().div_ceil(most);
        let mut sent = None;
        for (part, ibs) in ibs.chunks(most).enumerate() {
            let (is_first, is_last) = (part == 0, part + 1 == parts);
            let part_chunks = Chunks {
                ibs,
                bos,
                dependencies: if is_first { dependencies } else { &[] },
                waits: if is_first { waits } else { &[] },
                signals: if is_last { signals } else { &[] },
                user_fence: Some(&self.user_fence.chunk()),
            };
            match (self.context.submit(part_chunks, chunks), sent) {
                (Ok(sequence), _) => sent = Some(sequence),
                (Err(source), Some(sequence)) => {
                    return Ok((sequence, Err(Error::PartlySubmitted { part, parts, source })));
                }
                (Err(error), None) => return Err(error.into()),
            }
        }
        sent.map(|sequence| (sequence, Ok(()))).ok_or(Error::NothingToSubmit)
    }

    /// Lets go of what finished submissions used, as far as the user fence tells without an ioctl.
    fn retire(&self, state: &mut State) {
        state.retire_up_to(self.user_fence.value());
    }

    /// Whether the GPU has written this sequence number or a later one.
    pub(super) fn has_reached(&self, sequence: u64) -> bool {
        self.user_fence.value() >= sequence
    }

    pub(super) fn wait(&self, sequence: u64, deadline: Deadline) -> Result<bool> {
        if !self.has_reached(sequence) {
            match self.context.wait(self.ip, self.ring, sequence, deadline) {
                Ok(true) => {}
                Ok(false) => return Ok(false),
                Err(error) => {
                    // A lost job uses nothing any more.
                    if matches!(error, WinsysError::DeviceLost { .. }) {
                        self.state.lock().retire_up_to(sequence);
                    }
                    return Err(error.into());
                }
            }
        }
        self.state.lock().retire_up_to(sequence);
        Ok(true)
    }

    pub(super) fn dependency(&self, sequence: u64) -> CsChunkDep {
        CsChunkDep {
            ip_type: self.ip as u32,
            ip_instance: 0,
            ring: self.ring,
            ctx_id: self.context.id(),
            handle: sequence,
        }
    }
}
