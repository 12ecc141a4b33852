//! From a submission to calls of the kernel.

use std::sync::Arc;

use super::{shared::Shared, submit_buffers::SubmitBuffers};
use crate::{
    cs::{
        BoListMode, CallLimits, CommandList, Error, MAX_IBS_PER_CALL, Result, Submission, SyncPoint, plan,
        record::list::recorded::Recorded, retire::jobs::Job,
    },
    uapi::{BO_LIST_MAX_ENTRIES, CsChunkIb, CsChunkSyncobj, IbFlags, SyncobjWaitFlags},
    winsys::{
        Binding, BoList, Capabilities, ChunkScratch, Chunks, Deadline, Error as WinsysError, Event, Feature, Ip,
        Residents,
    },
};

/// Validation order of IBs, as in RADV; memory has its own.
const IB_PRIORITY: u32 = 31;

/// Lists that run on another queue in the same call.
type Beside<'a, 'b> = (&'a Shared, &'b [&'b CommandList]);

impl SubmitBuffers {
    /// Hands the kernel a submission, in as few calls as it allows, and notes in `job` the number of the last call that the
    /// kernel took. Returns the error why it did not take all of them.
    pub(super) fn send(
        &mut self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        job: &mut Job,
    ) -> Option<Box<Error>> {
        match self.prepare(queue, beside, submission, job) {
            Ok(()) => self.call(queue, &mut job.sequence),
            Err(error) => Some(Box::new(error)),
        }
    }

    /// Takes the events that observers are to be notified of.
    pub(super) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn prepare(
        &mut self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        Job { lists, sets, .. }: &Job,
    ) -> Result<()> {
        let are_listed = self.working_set.has_listed(sets);
        check(queue, beside, submission, if are_listed { &[] } else { sets })?;
        self.list_memory(lists, submission.memory, if are_listed { None } else { Some(sets) })?;
        self.list_ibs(queue, beside, submission)?;
        self.list_sync(submission);
        Ok(())
    }

    /// The list that the kernel keeps, if there is one.
    pub(super) fn take_kernel_list(&mut self) -> Option<BoList> {
        self.working_set.take_kernel_list()
    }

    /// `new_sets` are the sets, unless they are those that are listed.
    fn list_memory(
        &mut self,
        lists: &[Arc<Recorded>],
        memory: &[Binding],
        new_sets: Option<&[Residents]>,
    ) -> Result<()> {
        if let Some(sets) = new_sets {
            self.working_set.list_sets(sets);
        }
        self.working_set.begin();
        for list in lists {
            list.bindings().for_each(|binding| self.working_set.add(binding, IB_PRIORITY));
        }
        for binding in memory {
            self.working_set.add(binding, binding.priority());
        }
        let count = self.working_set.entries().len();
        if count > BO_LIST_MAX_ENTRIES as usize { Err(Error::TooManyBos { count }) } else { Ok(()) }
    }

    /// The IBs of one call after the other, with what goes before and after them.
    fn list_ibs(&mut self, queue: &Shared, beside: &[Beside<'_, '_>], submission: &Submission<'_>) -> Result<()> {
        let Self { ibs, calls, .. } = self;
        ibs.clear();
        calls.clear();
        for (queue, lists) in beside {
            let start = ibs.len();
            lists.iter().for_each(|list| ibs.extend(queue.ibs(list, submission)));
            let limit = queue.most_ibs();
            if ibs.len() - start > limit {
                return Err(Error::GangTooLong { ip: queue.ip, ring: queue.ring, ibs: ibs.len() - start, limit });
            }
        }
        let followers = ibs.len();
        let before = |index| submission.preambles.map_or(&[][..], |all| all.before(index, submission.has_waits()));
        let after = submission.preambles.map_or(&[][..], |all| all.after());
        let around = |index| before(index).len() + after.len();
        let per_call = queue.most_ibs().min(MAX_IBS_PER_CALL.saturating_sub(followers));
        let limits = CallLimits { per_call, around_first: around(0), around_further: around(1) };
        let lengths = submission.lists.iter().map(|list| list.submitted_ibs().len());
        if limits.take_at_once(lengths.clone().sum()) {
            // Nearly always. To plan takes several times as long.
            for list in before(0) {
                ibs.extend(queue.ibs(list, submission));
            }
            submission.lists.iter().for_each(|list| ibs.extend(queue.ibs(list, submission)));
            for list in after {
                ibs.extend(queue.ibs(list, submission));
            }
            queue.allow_preemption(ibs, submission);
            calls.push(0..ibs.len());
            return Ok(());
        }
        let mut recorded = submission.lists.iter().flat_map(|list| queue.ibs(list, submission));
        for call in plan(lengths, limits)? {
            if !beside.is_empty() && !call.is_last {
                let ibs = submission.lists.iter().map(|list| list.submitted_ibs().len()).sum();
                return Err(Error::GangTooLong { ip: queue.ip, ring: queue.ring, ibs, limit: per_call });
            }
            let start = if call.index == 0 { 0 } else { ibs.len() };
            ibs.extend(before(call.index).iter().flat_map(|list| queue.ibs(list, submission)));
            ibs.extend(recorded.by_ref().take(call.ibs.len()));
            ibs.extend(after.iter().flat_map(|list| queue.ibs(list, submission)));
            queue.allow_preemption(ibs, submission);
            calls.push(start..ibs.len());
        }
        Ok(())
    }

    fn list_sync(&mut self, submission: &Submission<'_>) {
        let Self { dependencies, scheduled, waits, signals, .. } = self;
        replace(dependencies, submission.after, |fence| fence.dependency());
        replace(scheduled, submission.after_start, |fence| fence.dependency());
        let point = |flags: SyncobjWaitFlags| {
            move |sync: &SyncPoint<'_>| CsChunkSyncobj {
                handle: sync.syncobj.handle(),
                flags: flags.bits(),
                point: sync.point,
            }
        };
        replace(waits, submission.waits, point(SyncobjWaitFlags::WAIT_FOR_SUBMIT));
        replace(signals, submission.signals, point(SyncobjWaitFlags::empty()));
    }

    /// The first call waits, the last one signals.
    fn call(&mut self, queue: &Shared, sequence: &mut u64) -> Option<Box<Error>> {
        let Self { working_set, chunks, ibs, calls, dependencies, scheduled, waits, signals, events, .. } = self;
        if queue.options.bo_list_mode == BoListMode::Kept {
            working_set.keep_list(queue.device());
        }
        let is_observed = queue.device().is_observed();
        for (part, range) in calls.iter().enumerate() {
            let (is_first, is_last) = (part == 0, part + 1 == calls.len());
            let call = Chunks {
                ibs: ibs.get(range.clone()).unwrap_or_default(),
                bos: working_set.entries(),
                bo_list: working_set.kept_list(),
                dependencies: if is_first { dependencies } else { &[] },
                scheduled: if is_first { scheduled } else { &[] },
                waits: if is_first { waits } else { &[] },
                signals: if is_last { signals } else { &[] },
                user_fence: Some(&queue.user_fence),
            };
            match queue.call(call, chunks) {
                Ok(taken) => {
                    *sequence = taken;
                    if is_observed {
                        events.push(queue.context.submitted(&call, taken));
                    }
                }
                Err(source) if is_first => return Some(Box::new(source.into())),
                Err(source) => {
                    return Some(Box::new(Error::PartlySubmitted { part, parts: calls.len(), source }));
                }
            }
        }
        None
    }
}

/// Fills `list` anew. Most submissions have nothing for it, and extending by nothing is dearer than to see so.
#[inline]
fn replace<T, U>(list: &mut Vec<U>, from: &[T], each: impl FnMut(&T) -> U) {
    list.clear();
    if !from.is_empty() {
        list.extend(from.iter().map(each));
    }
}

/// Refuses what is of another device or ring. `new_sets` are those that no submission listed before.
fn check(queue: &Shared, beside: &[Beside<'_, '_>], submission: &Submission<'_>, new_sets: &[Residents]) -> Result<()> {
    for (queue, lists) in beside {
        check_lists(queue, lists)?;
    }
    check_lists(queue, submission.lists)?;
    if let Some(preambles) = submission.preambles {
        preambles.lists().try_for_each(|list| check_list(queue, list))?;
    }
    check_memory(queue, submission.memory)?;
    new_sets.iter().try_for_each(|set| check_memory(queue, set))?;
    for syncs in [submission.waits, submission.signals] {
        syncs.iter().try_for_each(|sync| queue.own("sync object", sync.syncobj.device()))?;
    }
    for fences in [submission.after, submission.after_start] {
        fences.iter().try_for_each(|fence| queue.own("fence", fence.shared().device()))?;
    }
    if submission.is_secure && !queue.device().info().capabilities.contains(Capabilities::TMZ) {
        return Err(WinsysError::Unsupported { feature: Feature::EncryptedMemory }.into());
    }
    Ok(())
}

fn check_memory(queue: &Shared, memory: &[Binding]) -> Result<()> {
    let is_own = |binding: &Binding| binding.is_of(queue.device());
    if memory.iter().all(is_own) { Ok(()) } else { Err(WinsysError::ForeignDevice { what: "memory" }.into()) }
}

fn check_lists(queue: &Shared, lists: &[&CommandList]) -> Result<()> {
    lists.iter().try_for_each(|list| check_list(queue, list))
}

fn check_list(queue: &Shared, list: &CommandList) -> Result<()> {
    if !list.recorded().is_of(queue.device()) {
        return Err(WinsysError::ForeignDevice { what: "command list" }.into());
    }
    let recorded = list.target();
    if recorded == queue.target { Ok(()) } else { Err(Error::WrongQueue { recorded, queue: queue.target }) }
}

impl Shared {
    /// The most IBs of this queue in one call.
    fn most_ibs(&self) -> usize {
        let of_ip = self.device().info().max_ibs.get(self.ip.index()).map_or(1, |&most| most.max(1) as usize);
        of_ip.min(MAX_IBS_PER_CALL)
    }

    /// A list's IBs as the kernel is given them.
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

    /// Marks the last of the IBs of a call, if the graphics ring may be taken away within them.
    fn allow_preemption(&self, ibs: &mut [CsChunkIb], submission: &Submission<'_>) {
        if submission.is_preemptible
            && self.ip == Ip::Gfx
            && let Some(last) = ibs.last_mut()
        {
            last.flags |= IbFlags::PREEMPT.bits();
        }
    }

    /// One call, tried again as long as the queue's retry policy allows when memory is short. Others may free some meanwhile, and
    /// what has finished is let go of.
    fn call(&self, chunks: Chunks<'_>, scratch: &mut ChunkScratch) -> Result<u64, WinsysError> {
        let retry = self.options.retry;
        let mut end = None;
        loop {
            let error = match self.context.submit_untold(chunks, scratch) {
                Ok(sequence) => return Ok(sequence),
                Err(error @ WinsysError::OutOfMemory { .. }) => error,
                Err(error) => return Err(error),
            };
            let end = *end.get_or_insert_with(|| Deadline::after(retry.total));
            if end.remaining().is_zero() {
                return Err(error);
            }
            self.jobs.retire_up_to(self.user_fence.value());
            std::thread::sleep(retry.pause.min(end.remaining()));
        }
    }
}
