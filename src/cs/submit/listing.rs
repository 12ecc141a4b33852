//! Resources of a submission and their lists for the kernel: references, IBs, BOs and sync objects.

use std::sync::Arc;

use super::{
    batch,
    in_flight::{InFlight, Resource},
    plan::Plan,
    state::QueueState,
};
use crate::{
    cs::{CallLimits, CommandList, Fence, MAX_IBS_PER_CALL, Preambles, Submission, SubmitError, SyncPoint},
    host_memory::{self, NoHostMemory, extend, push},
    uapi::{BO_LIST_MAX_ENTRIES, CsChunkIb, CsChunkSyncobj, IbFlags, SyncobjWaitFlags},
    winsys::{Binding, Capabilities, Error as WinsysError, Feature, Ip, ResidencySet, Residents},
};

/// The priority of IBs in the BO list, the same as in RADV; memory has its own priorities.
const IB_PRIORITY: u32 = 31;

/// A submission of lists, to one queue or to a gang.
#[derive(Clone, Copy)]
pub(super) struct Request<'a> {
    pub(super) queue: &'a QueueState,
    /// The other queues of a gang, each with the lists that run on it in the same call.
    pub(super) gang_members: &'a [(&'a QueueState, &'a [&'a CommandList])],
    pub(super) submission: &'a Submission<'a>,
}

impl Request<'_> {
    /// Takes references to the memory of the submission. This runs code of the caller, so no lock may be held.
    fn acquire_memory(&self, into: &mut Vec<Resource>) -> Result<(), SubmitError> {
        let mut acquire = |binding: &Binding| {
            if !binding.is_of(self.queue.device()) {
                return Err(foreign("memory"));
            }
            push(into, Resource::Memory(binding.clone())).map_err(no_memory)
        };
        let mut outcome = Ok(());
        self.submission.memory.each_binding(&mut |binding| {
            if outcome.is_ok()
                && let Err(error) = acquire(binding)
            {
                outcome = Err(error);
            }
        });
        outcome
    }

    /// Takes references to all lists.
    fn acquire_lists(&self, lists: &mut Vec<Resource>) -> Result<(), NoHostMemory> {
        let list = |list: &&CommandList| Resource::List(Arc::clone(list.recorded()));
        extend(lists, self.submission.lists.iter().map(list))?;
        for (_, others) in self.gang_members {
            extend(lists, others.iter().map(list))?;
        }
        for at in 0..lists.len() {
            let mut next =
                lists.get(at).and_then(Resource::list).filter(|list| list.is_chained()).and_then(|list| list.behind());
            while let Some(list) = next {
                next = list.behind();
                push(lists, Resource::List(list))?;
            }
        }
        if let Some(preambles) = self.submission.preambles {
            preambles.lists().try_for_each(|preamble| push(lists, list(&preamble)))?;
        }
        Ok(())
    }

    /// Takes references to the members of all sets, of the submission and of its lists.
    fn acquire_sets(&self, lists: &[Resource], memory: &mut Vec<Resource>) -> Result<(), NoHostMemory> {
        self.submission.sets.iter().try_for_each(|set| acquire_members(set, memory))?;
        for set in lists.iter().filter_map(Resource::list).flat_map(|list| list.sets()) {
            let is_there = members(memory).any(|known| known.generation() == set.generation());
            if !is_there {
                acquire_members(set, memory)?;
            }
        }
        Ok(())
    }

    /// Returns `true` if the submission has the plan `plan`, and its lists and their sets are all that it uses.
    #[inline]
    pub(super) fn is_same(&self, plan: &Plan) -> bool {
        let Submission { lists, sets, preambles, .. } = *self.submission;
        let of_lists = lists.iter().flat_map(|list| list.recorded().sets());
        let sets = sets.iter().copied().chain(of_lists).filter(|set| !set.is_known_empty());
        self.gang_members.is_empty()
            && preambles.is_none_or(Preambles::is_empty)
            && plan.is_of(lists, self.flags(), self.start())
            && plan.bos.has_listed(sets.map(ResidencySet::generation))
            && !lists.iter().any(|list| list.recorded().is_chained())
    }

    /// Takes references to what the submission uses, and makes its plan, unless the plan of the last submission is the same. A place
    /// with a plan was taken from an earlier submission that is the same, and has all of this.
    #[inline]
    pub(super) fn prepare(&self, place: &mut InFlight, plan: &mut Plan) -> Result<(), SubmitError> {
        if place.plan == 0 {
            self.acquire_memory(&mut place.memory)?;
            self.acquire_lists(&mut place.lists).map_err(no_memory)?;
            self.acquire_sets(&place.lists, &mut place.memory).map_err(no_memory)?;
            self.list_unless_same(place, plan)?;
            place.plan = plan.number;
        }
        if self.submission.has_sync() {
            self.list_sync(plan)?;
        }
        Ok(())
    }

    /// Makes the plan of a submission whose lists and members `place` has, unless the plan of the last submission is the same.
    fn list_unless_same(&self, place: &InFlight, plan: &mut Plan) -> Result<(), SubmitError> {
        let Submission { lists, .. } = *self.submission;
        // Only lists and sets identify a plan, and neither chains, which may change, nor preambles of the submission do.
        let is_bare = place.memory.iter().all(|resource| resource.memory().is_none()) && self.gang_members.is_empty();
        let is_plain = is_bare && place.lists.len() == lists.len();
        let generations = members(&place.memory).map(Residents::generation);
        if is_plain && plan.is_of(lists, self.flags(), self.start()) && plan.bos.has_listed(generations) {
            return Ok(());
        }
        plan.number = 0;
        self.check_lists()?;
        self.list_bos(place, plan)?;
        self.list_ibs(plan)?;
        if is_plain { plan.complete(lists, self.flags(), self.start()).map_err(no_memory) } else { Ok(()) }
    }

    /// Returns the flags of the IBs. Only graphics rings can be preempted, and of a call only the last IB.
    fn flags(&self) -> IbFlags {
        let Submission { is_secure, is_preemptible, .. } = *self.submission;
        let mut flags = IbFlags::empty();
        flags.set(IbFlags::SECURE, is_secure);
        flags.set(IbFlags::PREEMPT, is_preemptible && self.queue.ip == Ip::Gfx);
        flags
    }

    /// Returns [`Plan::start`] of the submission.
    #[inline]
    fn start(&self) -> Option<bool> {
        self.acquires().map(|_| self.submission.has_waits())
    }

    /// Returns the preambles of the queue, unless the submission has its own.
    #[inline]
    fn acquires(&self) -> Option<&Preambles> {
        self.submission.acquires_of(self.queue)
    }

    /// Returns an error if a list belongs to another device or ring, or if the device does not support encrypted memory and the
    /// submission needs it.
    fn check_lists(&self) -> Result<(), SubmitError> {
        let check = |queue: &QueueState, list: &CommandList| {
            if !list.recorded().is_of(self.queue.device()) {
                return Err(foreign("command list"));
            }
            let recorded = list.target();
            if recorded == queue.target {
                Ok(())
            } else {
                Err(SubmitError::WrongQueue { recorded, queue: queue.target })
            }
        };
        for (queue, lists) in self.gang_members {
            lists.iter().try_for_each(|list| check(queue, list))?;
        }
        self.submission.lists.iter().try_for_each(|list| check(self.queue, list))?;
        if let Some(preambles) = self.submission.preambles {
            preambles.lists().try_for_each(|list| check(self.queue, list))?;
        }
        if self.submission.is_secure && !self.queue.device().info().capabilities.contains(Capabilities::TMZ) {
            return Err(WinsysError::Unsupported { feature: Feature::EncryptedMemory }.into());
        }
        Ok(())
    }

    /// Lists the members of the sets, then the memory of the lists and of the submission. Sets that are listed stay.
    fn list_bos(&self, place: &InFlight, plan: &mut Plan) -> Result<(), SubmitError> {
        let bos = &mut plan.bos;
        let sets = members(&place.memory);
        if !bos.has_listed(sets.clone().map(Residents::generation)) {
            if !sets.clone().flat_map(|set| set.iter()).all(|binding| binding.is_of(self.queue.device())) {
                return Err(foreign("memory"));
            }
            bos.list_sets(sets).map_err(no_memory)?;
        }
        bos.begin();
        for list in place.lists.iter().filter_map(Resource::list) {
            list.bindings().try_for_each(|binding| bos.add(binding, IB_PRIORITY)).map_err(no_memory)?;
        }
        if let Some(acquires) = self.acquires() {
            let first = acquires.before(0, self.submission.has_waits());
            for list in first.iter().chain(acquires.before(1, false)).chain(acquires.after()) {
                let mut bindings = list.recorded().bindings();
                bindings.try_for_each(|binding| bos.add(binding, IB_PRIORITY)).map_err(no_memory)?;
            }
        }
        for binding in place.memory.iter().filter_map(Resource::memory) {
            bos.add(binding, binding.priority()).map_err(no_memory)?;
        }
        let count = bos.entries().len();
        if count > BO_LIST_MAX_ENTRIES as usize { Err(SubmitError::TooManyBos { count }) } else { Ok(()) }
    }

    /// Lists the IBs of each call in order, including preambles and postambles.
    fn list_ibs(&self, plan: &mut Plan) -> Result<(), SubmitError> {
        let Plan { ibs, calls, .. } = plan;
        let (submission, queue, flags) = (self.submission, self.queue, self.flags());
        ibs.clear();
        calls.clear();
        let too_long =
            |queue: &QueueState, ibs, limit| SubmitError::GangTooLong { ip: queue.ip, ring: queue.ring, ibs, limit };
        for (queue, lists) in self.gang_members {
            let start = ibs.len();
            lists.iter().try_for_each(|list| queue.list(list, flags, ibs))?;
            let count = ibs.len() - start;
            if count > queue.most_ibs {
                return Err(too_long(queue, count, queue.most_ibs));
            }
        }
        let followers = ibs.len();
        let preambles = submission.preambles.or(self.acquires());
        let before = |index| preambles.map_or(&[][..], |all| all.before(index, submission.has_waits()));
        let after = preambles.map_or(&[][..], |all| all.after());
        let around = |index| before(index).len() + after.len();
        let per_call = queue.most_ibs.min(MAX_IBS_PER_CALL.saturating_sub(followers));
        let limits = CallLimits { per_call, around_first: around(0), around_further: around(1) };
        let lengths = submission.lists.iter().map(|list| list.submitted_ibs().len());
        let mut recorded = submission.lists.iter().flat_map(|list| queue.ibs(list, flags));
        for call in batch::plan(lengths.clone(), limits)? {
            if !self.gang_members.is_empty() && !call.is_last {
                return Err(too_long(queue, lengths.sum(), per_call));
            }
            let start = if call.index == 0 { 0 } else { ibs.len() };
            before(call.index).iter().try_for_each(|list| queue.list(list, flags, ibs))?;
            host_memory::reserve(ibs, call.ibs.len()).map_err(no_memory)?;
            ibs.extend(recorded.by_ref().take(call.ibs.len()));
            after.iter().try_for_each(|list| queue.list(list, flags, ibs))?;
            if let Some(last) = ibs.last_mut() {
                last.flags |= (flags & IbFlags::PREEMPT).bits();
            }
            push(calls, start..ibs.len()).map_err(no_memory)?;
        }
        Ok(())
    }

    /// Lists the sync objects and fences, all of which must belong to the device.
    fn list_sync(&self, plan: &mut Plan) -> Result<(), SubmitError> {
        let Submission { waits, signals, after, after_start, .. } = *self.submission;
        let point = |flags: SyncobjWaitFlags| {
            move |&SyncPoint { syncobj, point }: &SyncPoint<'_>| -> Result<_, SubmitError> {
                self.queue.own("sync object", syncobj.device())?;
                Ok(CsChunkSyncobj { handle: syncobj.handle(), flags: flags.bits(), point })
            }
        };
        let dependency = |fence: &&Fence| -> Result<_, SubmitError> {
            self.queue.own("fence", fence.device())?;
            Ok(fence.dependency())
        };
        replace(&mut plan.waits, waits, point(SyncobjWaitFlags::WAIT_FOR_SUBMIT))?;
        replace(&mut plan.signals, signals, point(SyncobjWaitFlags::empty()))?;
        replace(&mut plan.dependencies, after, dependency)?;
        replace(&mut plan.scheduled, after_start, dependency)
    }
}

impl QueueState {
    /// Returns the IBs of a list as chunks for the kernel.
    fn ibs(&self, list: &CommandList, flags: IbFlags) -> impl ExactSizeIterator<Item = CsChunkIb> {
        let flags = flags & IbFlags::SECURE;
        let (ip_type, ring) = (self.ip.raw(), self.ring);
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

    /// Adds the IBs of a list.
    fn list(&self, list: &CommandList, flags: IbFlags, into: &mut Vec<CsChunkIb>) -> Result<(), SubmitError> {
        extend(into, self.ibs(list, flags)).map_err(no_memory)
    }
}

/// Returns the members of sets among resources.
fn members(resources: &[Resource]) -> impl Iterator<Item = &Residents> + Clone {
    resources.iter().filter_map(Resource::members)
}

/// Takes references to the members of a set. A set without members is left out.
fn acquire_members(set: &ResidencySet, into: &mut Vec<Resource>) -> Result<(), NoHostMemory> {
    if set.is_known_empty() {
        return Ok(());
    }
    let members = set.snapshot_if_room()?;
    if members.is_none() { Ok(()) } else { push(into, Resource::Members(members)) }
}

/// Replaces the content of `list`.
fn replace<T, U>(
    list: &mut Vec<U>,
    from: &[T],
    each: impl Fn(&T) -> Result<U, SubmitError>,
) -> Result<(), SubmitError> {
    list.clear();
    host_memory::reserve(list, from.len()).map_err(no_memory)?;
    from.iter().try_for_each(|item| {
        list.push(each(item)?);
        Ok(())
    })
}

/// Returns the error of a submission for which there is no host memory.
#[cold]
pub(super) fn no_memory(error: NoHostMemory) -> SubmitError {
    error.of("a submission").into()
}

#[cold]
fn foreign(what: &'static str) -> SubmitError {
    WinsysError::ForeignDevice { what }.into()
}
