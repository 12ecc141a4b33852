//! From a submission to calls of the kernel.

use super::{sender::Sender, shared::Shared};
use crate::{
    cs::{
        CallLimits, CommandList, Error, Listing, MAX_IBS_PER_CALL, Result, Submission, SyncPoint, plan,
        retire::jobs::Job,
    },
    uapi::{BO_LIST_MAX_ENTRIES, CsChunkIb, CsChunkSyncobj, IbFlags, SyncobjWaitFlags},
    winsys::{BoList, Capabilities, ChunkScratch, Chunks, Deadline, Error as WinsysError, Event, Ip, Residents},
};

/// Validation order of IBs, as in RADV; memory has its own.
const IB_PRIORITY: u32 = 31;

/// Lists that run on another queue in the same call.
type Beside<'a, 'b> = (&'a Shared, &'b [&'b CommandList]);

impl Sender {
    /// Hands the kernel a submission, in as few calls as it allows, and notes in `job` the number of the last call that the
    /// kernel took. Returns the error why it did not take all of them.
    pub(super) fn send(
        &mut self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        job: &mut Job,
    ) -> Option<Box<Error>> {
        match self.prepare(queue, beside, submission, &job.sets) {
            Ok(()) => self.call(queue, &mut job.sequence),
            Err(error) => Some(Box::new(error)),
        }
    }

    /// What observers are to hear of.
    pub(super) fn take_events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    fn prepare(
        &mut self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        sets: &[Residents],
    ) -> Result<()> {
        self.check(queue, beside, submission, sets)?;
        self.list_memory(beside, submission, sets)?;
        self.list_ibs(queue, beside, submission)?;
        self.list_sync(submission);
        Ok(())
    }

    /// The list that the kernel keeps, if there is one.
    pub(super) fn take_kernel_list(&mut self) -> Option<BoList> {
        self.working_set.take_kernel_list()
    }

    fn check(
        &self,
        queue: &Shared,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        sets: &[Residents],
    ) -> Result<()> {
        for (queue, lists) in beside {
            check_lists(queue, lists)?;
        }
        check_lists(queue, submission.lists)?;
        let mut preambles = submission.preambles.iter().flat_map(|preambles| preambles.lists());
        preambles.try_for_each(|list| check_list(queue, list))?;
        let new_sets = if self.working_set.has_listed(sets) { &[] } else { sets };
        for binding in submission.memory.iter().chain(new_sets.iter().flat_map(|set| set.iter())) {
            if !binding.is_of(queue.device()) {
                return Err(WinsysError::ForeignDevice { what: "memory" }.into());
            }
        }
        for sync in submission.waits.iter().chain(submission.signals) {
            queue.own("sync object", sync.syncobj.device())?;
        }
        for fence in submission.after.iter().chain(submission.after_start) {
            queue.own("fence", fence.shared().device())?;
        }
        if submission.is_secure && !queue.device().info().capabilities.contains(Capabilities::TMZ) {
            return Err(WinsysError::Unsupported { what: "encrypted memory" }.into());
        }
        Ok(())
    }

    fn list_memory(
        &mut self,
        beside: &[Beside<'_, '_>],
        submission: &Submission<'_>,
        sets: &[Residents],
    ) -> Result<()> {
        self.working_set.begin(sets);
        let mut add_list =
            |list: &CommandList| list.bindings().for_each(|binding| self.working_set.add(binding, IB_PRIORITY));
        submission.lists.iter().for_each(|list| add_list(list));
        beside.iter().flat_map(|(_, lists)| *lists).for_each(|list| add_list(list));
        submission.preambles.iter().flat_map(|preambles| preambles.lists()).for_each(add_list);
        submission.memory.iter().for_each(|binding| self.working_set.add(binding, binding.priority()));
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
        let before = |index| submission.preambles.and_then(|all| all.before(index, submission.has_waits()));
        let after = submission.preambles.and_then(|all| all.after());
        let around = |index| usize::from(before(index).is_some()) + usize::from(after.is_some());
        let per_call = queue.most_ibs().min(MAX_IBS_PER_CALL.saturating_sub(followers));
        let limits = CallLimits { per_call, around_first: around(0), around_further: around(1) };
        let lengths = submission.lists.iter().map(|list| list.submitted_ibs().len());
        let mut recorded = submission.lists.iter().flat_map(|list| queue.ibs(list, submission));
        for call in plan(lengths, limits)? {
            if !beside.is_empty() && !call.is_last {
                let ibs = submission.lists.iter().map(|list| list.submitted_ibs().len()).sum();
                return Err(Error::GangTooLong { ip: queue.ip, ring: queue.ring, ibs, limit: per_call });
            }
            let start = if call.index == 0 { 0 } else { ibs.len() };
            ibs.extend(before(call.index).into_iter().flat_map(|list| queue.ibs(list, submission)));
            ibs.extend(recorded.by_ref().take(call.ibs.len()));
            ibs.extend(after.into_iter().flat_map(|list| queue.ibs(list, submission)));
            if let Some(last) = ibs.last_mut()
                && submission.is_preemptible
                && queue.ip == Ip::Gfx
            {
                last.flags |= IbFlags::PREEMPT.bits();
            }
            calls.push(start..ibs.len());
        }
        Ok(())
    }

    fn list_sync(&mut self, submission: &Submission<'_>) {
        let Self { dependencies, scheduled, waits, signals, .. } = self;
        dependencies.clear();
        dependencies.extend(submission.after.iter().map(|fence| fence.dependency()));
        scheduled.clear();
        scheduled.extend(submission.after_start.iter().map(|fence| fence.dependency()));
        let point = |flags: SyncobjWaitFlags| {
            move |sync: &SyncPoint<'_>| CsChunkSyncobj {
                handle: sync.syncobj.handle(),
                flags: flags.bits(),
                point: sync.point,
            }
        };
        waits.clear();
        waits.extend(submission.waits.iter().map(point(SyncobjWaitFlags::WAIT_FOR_SUBMIT)));
        signals.clear();
        signals.extend(submission.signals.iter().map(point(SyncobjWaitFlags::empty())));
    }

    /// The first call waits, the last one signals.
    fn call(&mut self, queue: &Shared, sequence: &mut u64) -> Option<Box<Error>> {
        let Self { working_set, chunks, ibs, calls, dependencies, scheduled, waits, signals, events, .. } = self;
        if queue.options.listing == Listing::Kept {
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

fn check_lists(queue: &Shared, lists: &[&CommandList]) -> Result<()> {
    lists.iter().try_for_each(|list| check_list(queue, list))
}

fn check_list(queue: &Shared, list: &CommandList) -> Result<()> {
    if !list.is_of(queue.device()) {
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

    /// One call, tried again as long as the queue's patience lasts when memory is short. Others may free some meanwhile, and
    /// what has finished is let go of.
    fn call(&self, chunks: Chunks<'_>, scratch: &mut ChunkScratch) -> Result<u64, WinsysError> {
        let patience = self.options.patience;
        let mut end = None;
        loop {
            let error = match self.context.submit_untold(chunks, scratch) {
                Ok(sequence) => return Ok(sequence),
                Err(error @ WinsysError::OutOfMemory { .. }) => error,
                Err(error) => return Err(error),
            };
            let end = *end.get_or_insert_with(|| Deadline::after(patience.total));
            if end.remaining().is_zero() {
                return Err(error);
            }
            self.jobs.retire_up_to(self.user_fence.value());
            std::thread::sleep(patience.pause.min(end.remaining()));
        }
    }
}
