//! Translation of a submission into kernel calls.

use std::sync::Arc;

use super::{
    shared::Shared,
    submit_buffers::{SUBMISSION, SubmitBuffers},
};
use crate::{
    cs::{
        BoListMode, CallLimits, CommandList, Error, Keep, MAX_IBS_PER_CALL, Result, Submission, SyncPoint, plan,
        record::list::recorded::Recorded,
        retire::{job::Job, jobs::Over, working_set::WorkingSet},
    },
    host_memory::{self, NoHostMemory, extend, push},
    uapi::{BO_LIST_MAX_ENTRIES, CsChunkIb, CsChunkSyncobj, IbFlags, SyncobjWaitFlags},
    winsys::{
        Binding, BoList, Capabilities, ChunkScratch, Chunks, Deadline, Device, Error as WinsysError, Event, Feature,
        Ip, Residents,
    },
};

/// The priority of IBs in the BO list, the same as in RADV; memory has its own priorities.
const IB_PRIORITY: u32 = 31;

/// The maximum number of lists for which IBs are listed in one pass, before it is known that they fit into one call.
const MOST_IN_ONE_PASS: usize = 16;

/// Another queue of the gang, with the lists that run on it in the same call.
type Beside<'a, 'b> = (&'a Shared, &'b [&'b CommandList]);

impl SubmitBuffers {
    /// Submits to the kernel in as few calls as possible, and stores the sequence number of the last accepted call in `job`. An
    /// error is the reason why the kernel did not accept all calls.
    pub(super) fn send(
        &mut self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        job: &mut Job,
        over: &mut Over,
    ) -> Result<()> {
        self.prepare(queue, beside, submission, job, over)?;
        self.call(queue, submission, &mut job.sequence)
    }

    /// Makes the call of the previous submission again, if the submission has the same lists and sets and nothing else, and keeps
    /// nothing. Returns `None`, and does nothing, for any other submission.
    ///
    /// This is the most common submission of a driver that keeps its resources alive itself. It takes no references, except for one
    /// to the members of a set during the call, so that no handle of the BO list is closed meanwhile.
    #[expect(clippy::inline_always, reason = "a part of the one call that nearly all submissions make")]
    #[inline(always)]
    pub(super) fn send_again(
        &mut self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        job: &mut Job,
    ) -> Option<Result<()>> {
        let Submission { lists, sets, is_secure, is_preemptible, .. } = *submission;
        let is_repeated = submission.keep == Keep::Nothing
            && self.prepared.is_of_plain(lists, is_secure, is_preemptible)
            && beside.is_empty()
            && submission.preambles.is_none()
            && !submission.has_sync()
            && submission.memory.binding_count() == 0
            && queue.options.bo_list_mode == BoListMode::Inline
            && !queue.device().is_observed();
        if !is_repeated {
            return None;
        }
        let _held = self.working_set.hold_listed(sets)?;
        let call = Chunks {
            ibs: &self.ibs,
            bos: self.working_set.entries(),
            user_fence: Some(&queue.user_fence),
            ..Chunks::default()
        };
        match queue.call(&call, &mut self.chunks) {
            Ok(taken) => {
                job.sequence = taken;
                Some(Ok(()))
            }
            Err(source) => Some(Err(source.into())),
        }
    }

    /// Takes the events for observers.
    pub(super) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn prepare(
        &mut self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        job: &mut Job,
        over: &mut Over,
    ) -> Result<()> {
        let is_plain = beside.is_empty()
            && submission.preambles.is_none()
            && job.memory.is_empty()
            && submission.memory.binding_count() == 0;
        let Submission { lists, is_secure, is_preemptible, .. } = *submission;
        let is_prepared = is_plain && self.prepared.is_of(lists, is_secure, is_preemptible);
        if is_prepared && self.working_set.has_listed(&job.sets) {
            if submission.has_sync() {
                check_sync(queue, submission)?;
            }
        } else {
            self.prepared.clear();
            if !self.working_set.has_listed(&job.sets) {
                self.list_sets(queue, &job.sets)?;
            }
            if is_plain && self.prepare_few(queue, submission)? {
                self.prepared.note(lists, is_secure, is_preemptible);
            } else {
                self.prepare_all(queue, beside, submission, job, over)?;
            }
        }
        if submission.has_sync() { self.list_sync(submission).map_err(no_memory) } else { Ok(()) }
    }

    /// Lists the memory and the IBs of a submission that has only its own lists and few of them, in one pass. Returns `false` for
    /// any other submission. A function of its own, so that the path without it fits into the instruction cache.
    #[inline(never)]
    fn prepare_few(&mut self, queue: &Shared, submission: &Submission<'_>) -> Result<bool> {
        let lists = submission.lists;
        if lists.len() > MOST_IN_ONE_PASS || lists.iter().any(|list| list.recorded().is_chained()) {
            return Ok(false);
        }
        let Self { working_set, ibs, calls, .. } = self;
        working_set.begin();
        ibs.clear();
        calls.clear();
        for list in lists {
            check_list(queue, list)?;
            let bindings = list.recorded().bindings();
            bindings.into_iter().try_for_each(|binding| working_set.add(binding, IB_PRIORITY)).map_err(no_memory)?;
            let all = queue.ibs(list, submission);
            host_memory::reserve(ibs, all.len()).map_err(no_memory)?;
            for ib in all {
                ibs.push(ib);
            }
        }
        if ibs.len() > queue.most_ibs {
            return Ok(false);
        }
        check_rest(queue, submission)?;
        check_entries(working_set)?;
        queue.allow_preemption(ibs, submission);
        push(calls, 0..ibs.len()).map_err(no_memory)?;
        Ok(true)
    }

    /// Lists the memory and the IBs of any submission.
    #[inline(never)]
    fn prepare_all(
        &mut self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        Job { lists, memory, .. }: &mut Job,
        over: &mut Over,
    ) -> Result<()> {
        check(queue, beside, submission)?;
        self.list_memory(queue, lists, submission, memory, over)?;
        self.list_ibs(queue, beside, submission)
    }

    /// Takes the kernel BO list, if there is one.
    pub(super) fn take_kernel_list(&mut self) -> Option<BoList> {
        self.working_set.take_kernel_list()
    }

    /// Lists sets that differ from those of the previous submission.
    #[cold]
    fn list_sets(&mut self, queue: &Shared, sets: &[Residents]) -> Result<()> {
        let all_own = sets.iter().flat_map(|set| set.iter()).all(|binding| binding.is_of(queue.device()));
        if !all_own {
            return Err(foreign_memory());
        }
        self.working_set.list_sets(sets).map_err(no_memory)
    }

    /// Lists the memory of the lists and of the submission. If the submission keeps everything, `kept` gets references to the
    /// latter. Bindings that `kept` has at the same index already are not counted again, and its others are moved to `over`.
    fn list_memory(
        &mut self,
        queue: &Shared,
        lists: &[Arc<Recorded>],
        submission: &Submission<'_>,
        kept: &mut Vec<Binding>,
        over: &mut Over,
    ) -> Result<()> {
        let Self { working_set, .. } = self;
        working_set.begin();
        let mut list_ibs = |list: &Recorded| {
            list.bindings().try_for_each(|binding| working_set.add(binding, IB_PRIORITY)).map_err(no_memory)
        };
        if lists.is_empty() {
            // The caller keeps the lists alive.
            submission.lists.iter().try_for_each(|list| list_ibs(list.recorded()))?;
        } else {
            lists.iter().try_for_each(|list| list_ibs(list))?;
        }
        let (count, mut at) = (submission.memory.binding_count(), 0);
        if count > 0 {
            let keeps = submission.keep == Keep::Everything;
            if keeps {
                host_memory::reserve(kept, count.saturating_sub(kept.len())).map_err(no_memory)?;
            }
            let mut listed = Ok(());
            submission.memory.each_binding(&mut |binding| {
                if listed.is_err() {
                    return;
                }
                if !binding.is_of(queue.device()) {
                    listed = Err(foreign_memory());
                    return;
                }
                listed = working_set.add(binding, binding.priority()).map_err(no_memory);
                if keeps && listed.is_ok() {
                    listed = keep_at(kept, at, binding, over).map_err(no_memory);
                    at += 1;
                }
            });
            listed?;
        }
        if kept.len() > at {
            over.take_memory(kept, at).map_err(no_memory)?;
        }
        check_entries(working_set)
    }

    /// Lists the IBs of each call in order, including preambles and postambles.
    #[inline(never)]
    fn list_ibs(&mut self, queue: &Shared, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<()> {
        let Self { ibs, calls, .. } = self;
        ibs.clear();
        calls.clear();
        for (queue, lists) in beside {
            let start = ibs.len();
            lists.iter().try_for_each(|list| extend(ibs, queue.ibs(list, submission))).map_err(no_memory)?;
            let limit = queue.most_ibs;
            if ibs.len() - start > limit {
                return Err(Error::GangTooLong { ip: queue.ip, ring: queue.ring, ibs: ibs.len() - start, limit });
            }
        }
        let followers = ibs.len();
        let before = |index| submission.preambles.map_or(&[][..], |all| all.before(index, submission.has_waits()));
        let after = submission.preambles.map_or(&[][..], |all| all.after());
        let around = |index| before(index).len() + after.len();
        let per_call = queue.most_ibs.min(MAX_IBS_PER_CALL.saturating_sub(followers));
        let limits = CallLimits { per_call, around_first: around(0), around_further: around(1) };
        let lengths = submission.lists.iter().map(|list| list.submitted_ibs().len());
        if limits.take_at_once(lengths.clone().sum()) {
            // Planning takes several times as long.
            let mut list_all = |list: &CommandList| extend(ibs, queue.ibs(list, submission)).map_err(no_memory);
            before(0).iter().try_for_each(&mut list_all)?;
            submission.lists.iter().try_for_each(|list| list_all(list))?;
            after.iter().try_for_each(&mut list_all)?;
            queue.allow_preemption(ibs, submission);
            return push(calls, 0..ibs.len()).map_err(no_memory);
        }
        let mut recorded = submission.lists.iter().flat_map(|list| queue.ibs(list, submission));
        for call in plan(lengths, limits)? {
            if !beside.is_empty() && !call.is_last {
                let ibs = submission.lists.iter().map(|list| list.submitted_ibs().len()).sum();
                return Err(Error::GangTooLong { ip: queue.ip, ring: queue.ring, ibs, limit: per_call });
            }
            let start = if call.index == 0 { 0 } else { ibs.len() };
            let mut list_all = |list: &CommandList| extend(ibs, queue.ibs(list, submission)).map_err(no_memory);
            before(call.index).iter().try_for_each(&mut list_all)?;
            host_memory::reserve(ibs, call.ibs.len()).map_err(no_memory)?;
            ibs.extend(recorded.by_ref().take(call.ibs.len()));
            let mut list_all = |list: &CommandList| extend(ibs, queue.ibs(list, submission)).map_err(no_memory);
            after.iter().try_for_each(&mut list_all)?;
            queue.allow_preemption(ibs, submission);
            push(calls, start..ibs.len()).map_err(no_memory)?;
        }
        Ok(())
    }

    fn list_sync(&mut self, submission: &Submission<'_>) -> Result<(), NoHostMemory> {
        let Self { dependencies, scheduled, waits, signals, .. } = self;
        replace(dependencies, submission.after, |fence| fence.dependency())?;
        replace(scheduled, submission.after_start, |fence| fence.dependency())?;
        let point = |flags: SyncobjWaitFlags| {
            move |sync: &SyncPoint<'_>| CsChunkSyncobj {
                handle: sync.syncobj.handle(),
                flags: flags.bits(),
                point: sync.point,
            }
        };
        replace(waits, submission.waits, point(SyncobjWaitFlags::WAIT_FOR_SUBMIT))?;
        replace(signals, submission.signals, point(SyncobjWaitFlags::empty()))
    }

    /// Makes the kernel calls. The first call waits, and the last one signals.
    fn call(&mut self, queue: &Shared, submission: &Submission<'_>, sequence: &mut u64) -> Result<()> {
        let Self { working_set, chunks, ibs, calls, dependencies, scheduled, waits, signals, events, .. } = self;
        let has_sync = submission.has_sync();
        if queue.options.bo_list_mode == BoListMode::Kept {
            working_set.keep_list(queue.device());
        }
        let is_observed = queue.device().is_observed();
        if is_observed {
            host_memory::reserve(events, calls.len()).map_err(no_memory)?;
        }
        for (part, range) in calls.iter().enumerate() {
            let (is_first, is_last) = (part == 0, part + 1 == calls.len());
            let mut call = Chunks {
                ibs: ibs.get(range.clone()).unwrap_or_default(),
                bos: working_set.entries(),
                bo_list: working_set.kept_list(),
                user_fence: Some(&queue.user_fence),
                ..Chunks::default()
            };
            if has_sync && is_first {
                (call.dependencies, call.scheduled, call.waits) = (&*dependencies, &*scheduled, &*waits);
            }
            if has_sync && is_last {
                call.signals = &*signals;
            }
            match queue.call(&call, chunks) {
                Ok(taken) => {
                    *sequence = taken;
                    if is_observed {
                        events.push(queue.context.submitted(&call, taken));
                    }
                }
                Err(source) if is_first => return Err(source.into()),
                Err(source) => return Err(Error::PartlySubmitted { part, parts: calls.len(), source }),
            }
        }
        Ok(())
    }
}

/// Returns an error if there are more BOs than the kernel accepts.
#[inline]
fn check_entries(working_set: &WorkingSet) -> Result<()> {
    let count = working_set.entries().len();
    if count > BO_LIST_MAX_ENTRIES as usize { Err(Error::TooManyBos { count }) } else { Ok(()) }
}

/// Keeps a binding at index `at`, unless it is there already.
#[inline]
fn keep_at(kept: &mut Vec<Binding>, at: usize, binding: &Binding, over: &mut Over) -> Result<(), NoHostMemory> {
    match kept.get(at) {
        Some(had) if had == binding => Ok(()),
        Some(_) => {
            over.take_memory(kept, at)?;
            push(kept, binding.clone())
        }
        None => push(kept, binding.clone()),
    }
}

/// Replaces the content of `list`. Most submissions have nothing to add, and the test for that is cheaper than an empty `extend`.
#[inline]
fn replace<T, U>(list: &mut Vec<U>, from: &[T], each: impl FnMut(&T) -> U) -> Result<(), NoHostMemory> {
    list.clear();
    if from.is_empty() { Ok(()) } else { extend(list, from.iter().map(each)) }
}

#[cold]
fn no_memory(error: NoHostMemory) -> Error {
    error.of(SUBMISSION).into()
}

#[cold]
fn foreign_memory() -> Error {
    WinsysError::ForeignDevice { what: "memory" }.into()
}

/// Returns an error if an object belongs to another device or ring. Memory is checked when it is listed.
#[inline]
fn check(queue: &Shared, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<()> {
    for (queue, lists) in beside {
        check_lists(queue, lists)?;
    }
    check_lists(queue, submission.lists)?;
    if let Some(preambles) = submission.preambles {
        preambles.lists().try_for_each(|list| check_list(queue, list))?;
    }
    check_rest(queue, submission)
}

/// Returns an error if a sync object or fence belongs to another device, or if the device does not support encrypted memory and the
/// submission needs it.
#[inline]
fn check_rest(queue: &Shared, submission: &Submission<'_>) -> Result<()> {
    if submission.has_sync() {
        check_sync(queue, submission)?;
    }
    if submission.is_secure && !queue.device().info().capabilities.contains(Capabilities::TMZ) {
        return Err(WinsysError::Unsupported { feature: Feature::EncryptedMemory }.into());
    }
    Ok(())
}

fn check_sync(queue: &Shared, submission: &Submission<'_>) -> Result<()> {
    for syncs in [submission.waits, submission.signals] {
        syncs.iter().try_for_each(|sync| queue.own("sync object", sync.syncobj.device()))?;
    }
    for fences in [submission.after, submission.after_start] {
        fences.iter().try_for_each(|fence| queue.own("fence", fence.shared().device()))?;
    }
    Ok(())
}

fn check_lists(queue: &Shared, lists: &[&CommandList]) -> Result<()> {
    lists.iter().try_for_each(|list| check_list(queue, list))
}

#[inline]
fn check_list(queue: &Shared, list: &CommandList) -> Result<()> {
    if !list.recorded().is_of(queue.device()) {
        return Err(WinsysError::ForeignDevice { what: "command list" }.into());
    }
    let recorded = list.target();
    if recorded == queue.target { Ok(()) } else { Err(Error::WrongQueue { recorded, queue: queue.target }) }
}

/// Returns the most IBs that a queue of this IP accepts in one call.
pub(super) fn most_ibs(device: &Device, ip: Ip) -> usize {
    let of_ip = device.info().max_ibs.get(ip.index()).map_or(1, |&most| most.max(1) as usize);
    of_ip.min(MAX_IBS_PER_CALL)
}

impl Shared {
    /// Returns the IBs of a list as chunks for the kernel.
    fn ibs(&self, list: &CommandList, submission: &Submission<'_>) -> impl ExactSizeIterator<Item = CsChunkIb> {
        let flags = if submission.is_secure { IbFlags::SECURE } else { IbFlags::empty() };
        let (ip_type, ring) = (self.ip as u32, self.ring);
        list.submitted_ibs().map(move |(va, dwords)| CsChunkIb {
            pad: 0,
            flags: flags.bits(),
            va_start: va.as_u64(),
            ib_bytes: (dwords * 4) as u32,
            ip_type,
            ip_instance: 0,
            ring,
        })
    }

    /// Marks the last IB of a call as preemptible, if the submission is and the queue is a graphics queue.
    fn allow_preemption(&self, ibs: &mut [CsChunkIb], submission: &Submission<'_>) {
        if submission.is_preemptible
            && self.ip == Ip::Gfx
            && let Some(last) = ibs.last_mut()
        {
            last.flags |= IbFlags::PREEMPT.bits();
        }
    }

    /// Makes one call. If memory is short, repeats it as the queue's retry policy allows: others may free memory in between, and
    /// finished submissions are retired.
    #[inline]
    fn call(&self, chunks: &Chunks<'_>, scratch: &mut ChunkScratch) -> Result<u64, WinsysError> {
        match self.context.submit_untold(chunks, scratch) {
            Err(error @ WinsysError::OutOfMemory { .. }) => self.call_again(error, chunks, scratch),
            outcome => outcome,
        }
    }

    #[cold]
    fn call_again(
        &self,
        first: WinsysError,
        chunks: &Chunks<'_>,
        scratch: &mut ChunkScratch,
    ) -> Result<u64, WinsysError> {
        let retry = self.options.retry;
        let (mut error, end) = (first, Deadline::after(retry.total));
        while !end.remaining().is_zero() {
            self.jobs.retire_up_to(self.user_fence.value());
            std::thread::sleep(retry.pause.min(end.remaining()));
            error = match self.context.submit_untold(chunks, scratch) {
                Err(error @ WinsysError::OutOfMemory { .. }) => error,
                outcome => return outcome,
            };
        }
        Err(error)
    }
}
