//! Translation of a submission into kernel calls.

use std::sync::Arc;

use super::{
    shared::Shared,
    submit_buffers::{Flags, SUBMISSION, SubmitBuffers},
};
use crate::{
    cs::{
        BoListMode, CallLimits, CommandList, Error, Keep, MAX_IBS_PER_CALL, Result, Submission, SyncPoint, plan,
        record::list::recorded::Recorded,
        retire::{job::Job, over::Over, working_set::WorkingSet},
    },
    host_memory::{self, NoHostMemory, extend, push},
    uapi::{BO_LIST_MAX_ENTRIES, CsChunkIb, CsChunkSyncobj, Errno, IbFlags, SyncobjWaitFlags},
    winsys::{
        Binding, BoList, Capabilities, ChunkScratch, Chunks, Deadline, Device, Error as WinsysError, Event, Feature,
        Ip, ResidencySet, Residents,
    },
};

/// The priority of IBs in the BO list, the same as in RADV; memory has its own priorities.
const IB_PRIORITY: u32 = 31;

/// The maximum number of lists for which IBs are listed in one pass, before it is known that they fit into one call.
const MOST_IN_ONE_PASS: usize = 16;

/// Another queue of the gang, with the lists that run on it in the same call.
pub(super) type Beside<'a, 'b> = (&'a Shared, &'b [&'b CommandList]);

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
        self.call(queue, submission, job)
    }

    /// Makes the one call of a submission that has only these lists and sets and keeps nothing, the most common submission of a driver
    /// that keeps its resources alive itself. Reuses what the buffers contain of the previous submission. Returns the sequence number;
    /// `None`, and does nothing, if a list is `None` or the submission must be made in another way.
    ///
    /// Takes no references to members of the sets. If another thread removes a member meanwhile and frees it, the kernel refuses the
    /// closed handle, or lists the BO that has got the handle since.
    #[inline]
    pub(super) fn send_lent<'l>(
        &mut self,
        queue: &Shared,
        lists: impl Iterator<Item = Option<&'l CommandList>> + Clone,
        sets: &[&ResidencySet],
        flags: Flags,
    ) -> Option<Result<u64, WinsysError>> {
        let is_possible = self.working_set.is_listed(sets)
            && queue.options.bo_list_mode == BoListMode::Inline
            && !queue.device().is_observed();
        if !is_possible {
            return None;
        }
        if !self.prepared.is_of_plain(lists.clone(), flags) && !self.prepare_lent(queue, lists, flags) {
            return None;
        }
        let Self { ibs, working_set, chunks, .. } = self;
        match queue.context.submit_listed(ibs, working_set.entries(), &queue.user_fence, chunks) {
            Some(Ok(sequence)) => Some(Ok(sequence)),
            Some(Err(errno)) => self.end_lent(queue, sets, Err(errno)),
            None => self.end_lent(queue, sets, Ok(())),
        }
    }

    /// Makes the one call that the buffers contain, or continues after its refusal.
    #[inline(never)]
    fn end_lent(
        &mut self,
        queue: &Shared,
        sets: &[&ResidencySet],
        refusal: Result<(), Errno>,
    ) -> Option<Result<u64, WinsysError>> {
        let bos = self.working_set.entries();
        let call = Chunks { ibs: &self.ibs, bos, user_fence: Some(&queue.user_fence), ..Chunks::default() };
        let outcome = match refusal {
            Ok(()) => queue.call(&call, &mut self.chunks),
            Err(errno) => queue.after_refusal(queue.context.refused(&call, errno), &call, &mut self.chunks),
        };
        match outcome {
            // Made again with the sets as they are now: the kernel may have found a closed handle.
            Err(_) if !self.working_set.is_listed(sets) => None,
            outcome => Some(outcome),
        }
    }

    /// Lists the memory and the IBs of lists, if these fit into one call and keep no sets.
    #[inline(never)]
    fn prepare_lent<'l>(
        &mut self,
        queue: &Shared,
        lists: impl Iterator<Item = Option<&'l CommandList>>,
        flags: Flags,
    ) -> bool {
        self.prepared.clear();
        if flags.is_secure && !queue.device().info().capabilities.contains(Capabilities::TMZ) {
            return false;
        }
        // The usual way reports errors.
        matches!(self.prepare_few(queue, lists, flags), Ok(true)) && self.prepared.is_plain()
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
        let flags = submission.flags();
        let lists = submission.lists.iter().map(|list| Some(*list));
        let is_prepared = is_plain && self.prepared.is_of(lists.clone(), flags);
        if is_prepared && self.working_set.has_listed(&job.sets) {
            if submission.has_sync() {
                check_sync(queue, submission)?;
            }
        } else {
            self.prepared.clear();
            if !self.working_set.has_listed(&job.sets) {
                self.list_sets(queue, &job.sets)?;
            }
            if is_plain && self.prepare_few(queue, lists, flags)? {
                check_rest(queue, submission)?;
            } else {
                self.prepared.clear();
                self.prepare_all(queue, beside, submission, job, over)?;
            }
        }
        if submission.has_sync() { self.list_sync(submission).map_err(no_memory) } else { Ok(()) }
    }

    /// Lists the memory and the IBs of a few lists in one pass, and notes that the buffers contain them. Returns `false` if one is
    /// `None`, or if this takes another way. The note must be empty.
    #[inline]
    fn prepare_few<'l>(
        &mut self,
        queue: &Shared,
        lists: impl Iterator<Item = Option<&'l CommandList>>,
        flags: Flags,
    ) -> Result<bool> {
        let Self { working_set, ibs, calls, prepared, .. } = self;
        working_set.begin();
        ibs.clear();
        calls.clear();
        for (index, list) in lists.enumerate() {
            let Some(list) = list else { return Ok(false) };
            check_list(queue, list)?;
            if index >= MOST_IN_ONE_PASS || list.recorded().is_chained() {
                return Ok(false);
            }
            let bindings = list.recorded().bindings();
            bindings.into_iter().try_for_each(|binding| working_set.add(binding, IB_PRIORITY)).map_err(no_memory)?;
            let all = queue.ibs(list, flags);
            host_memory::reserve(ibs, all.len()).map_err(no_memory)?;
            for ib in all {
                ibs.push(ib);
            }
            prepared.add(list).map_err(no_memory)?;
        }
        if ibs.len() > queue.most_ibs {
            return Ok(false);
        }
        check_entries(working_set)?;
        queue.allow_preemption(ibs, flags);
        push(calls, 0..ibs.len()).map_err(no_memory)?;
        prepared.end(flags);
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
            lists.iter().try_for_each(|list| extend(ibs, queue.ibs(list, submission.flags()))).map_err(no_memory)?;
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
            let mut list_all = |list: &CommandList| extend(ibs, queue.ibs(list, submission.flags())).map_err(no_memory);
            before(0).iter().try_for_each(&mut list_all)?;
            submission.lists.iter().try_for_each(|list| list_all(list))?;
            after.iter().try_for_each(&mut list_all)?;
            queue.allow_preemption(ibs, submission.flags());
            return push(calls, 0..ibs.len()).map_err(no_memory);
        }
        let mut recorded = submission.lists.iter().flat_map(|list| queue.ibs(list, submission.flags()));
        for call in plan(lengths, limits)? {
            if !beside.is_empty() && !call.is_last {
                let ibs = submission.lists.iter().map(|list| list.submitted_ibs().len()).sum();
                return Err(Error::GangTooLong { ip: queue.ip, ring: queue.ring, ibs, limit: per_call });
            }
            let start = if call.index == 0 { 0 } else { ibs.len() };
            let mut list_all = |list: &CommandList| extend(ibs, queue.ibs(list, submission.flags())).map_err(no_memory);
            before(call.index).iter().try_for_each(&mut list_all)?;
            host_memory::reserve(ibs, call.ibs.len()).map_err(no_memory)?;
            ibs.extend(recorded.by_ref().take(call.ibs.len()));
            let mut list_all = |list: &CommandList| extend(ibs, queue.ibs(list, submission.flags())).map_err(no_memory);
            after.iter().try_for_each(&mut list_all)?;
            queue.allow_preemption(ibs, submission.flags());
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
    fn call(&mut self, queue: &Shared, submission: &Submission<'_>, job: &mut Job) -> Result<()> {
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
                    job.accept(taken);
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
    fn ibs(&self, list: &CommandList, flags: Flags) -> impl ExactSizeIterator<Item = CsChunkIb> {
        let flags = if flags.is_secure { IbFlags::SECURE } else { IbFlags::empty() };
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
    fn allow_preemption(&self, ibs: &mut [CsChunkIb], flags: Flags) {
        if flags.is_preemptible
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
            Err(error) => self.after_refusal(error, chunks, scratch),
            outcome => outcome,
        }
    }

    #[cold]
    fn after_refusal(
        &self,
        error: WinsysError,
        chunks: &Chunks<'_>,
        scratch: &mut ChunkScratch,
    ) -> Result<u64, WinsysError> {
        match error {
            WinsysError::OutOfMemory { .. } => self.call_again(error, chunks, scratch),
            error => Err(error),
        }
    }

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
