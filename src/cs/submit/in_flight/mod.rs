//! The submissions of a queue that have not ended, what each of them keeps alive, and the plans for the next ones.
//!
//! # Why nothing is freed too early, forgotten, or dropped under the lock
//!
//! 1. **Order.** `entries` are in the order of their sequence numbers. The kernel assigns these in the order of the ioctls, and
//!    threads commit in any order, so an entry that was overtaken is inserted in its place.
//! 2. **A place before the ioctl.** `entries` has room for its entries and for `reserved` more. [`InFlightList::reserve`] and
//!    [`InFlightList::begin`] can fail for lack of host memory, and come before the ioctl. [`InFlightList::commit`] allocates
//!    nothing, so that what the kernel has accepted is always recorded.
//! 3. **Kept until the end.** An entry leaves the list only when all jobs up to its last number have ended: the GPU has written
//!    that number or a later one (`done`), or the kernel has reported that the queue is idle (`ended`). The jobs of a ring end in
//!    order. [`InFlightList::abandon`] does not wait for the end, and leaks the lists instead.
//! 4. **What is kept.** An entry has the resources that `Keep` names, or none: then it is a number. [`InFlightList::commit`] is the
//!    only place where the choice matters. All resources are referenced until the ioctl has returned, whatever the choice is. From
//!    then on the kernel holds its own references to the BOs.
//! 5. **Nothing is dropped under the lock.** What leaves an entry is moved to a [`Retired`] value, which drops it after the lock,
//!    because that may make ioctls and call observers.
//! 6. **Steady state.** Containers are emptied without the lock and go to `spare`, and a submission takes its containers from
//!    there. If the oldest entry has ended, and the next submission has its plan, that submission takes over the entry with its
//!    references; to take and drop them anew would take a quarter more time.
//! 7. **No submission waits for another.** From `begin` to `commit` a submission has a plan for itself, and the list is not locked.
//!    There are as many plans as submissions were made at one time.
//! 8. **Lost work.** After [`InFlightList::mark_lost`] a job may end without writing its number. Only the kernel's report ends such
//!    an entry. The first one is kept in `lost` for a hang report.

use std::{collections::VecDeque, mem, sync::Arc};

use smallvec::SmallVec;

pub(in crate::cs) use self::resource::Resource;
use super::plan::Plan;
use crate::{
    cs::{Keep, record::list::recorded::Recorded},
    host_memory::{NoHostMemory, TryBox},
    sync::Mutex,
};

mod resource;
#[cfg(test)]
mod tests;

/// A submission in flight, or the place of one that is being made. It is only a pair of numbers if it keeps nothing.
#[derive(Debug, Default)]
pub(in crate::cs) struct InFlight {
    /// The sequence numbers that the kernel assigned to the first and the last call; 0 while it has accepted none.
    first: u64,
    last: u64,
    pub(in crate::cs) lists: Vec<Resource>,
    /// Memory, and members of sets.
    pub(in crate::cs) memory: Vec<Resource>,
    /// The [number](Plan::number) of its plan if it has all that this plan needs, so that it can serve another submission; otherwise
    /// 0.
    pub(super) plan: u64,
}

impl InFlight {
    /// Notes the sequence number of the next call.
    #[inline]
    pub(in crate::cs) fn accept(&mut self, sequence: u64) {
        if self.first == 0 {
            self.first = sequence;
        }
        self.last = sequence;
    }

    /// Returns the sequence number of the last call; 0 if the kernel has accepted none.
    pub(super) fn sequence(&self) -> u64 {
        self.last
    }

    /// Returns the lists that the submission keeps.
    fn recorded(&self) -> Vec<Arc<Recorded>> {
        self.lists.iter().filter_map(Resource::list).cloned().collect()
    }
}

/// A submission that has not completed: its last sequence number, and the lists that it keeps.
#[derive(Clone, Debug)]
pub(in crate::cs) struct Unfinished {
    pub(in crate::cs) sequence: u64,
    pub(in crate::cs) lists: Vec<Arc<Recorded>>,
}

/// Containers of resources that are no longer kept. Dropping the value, without a lock, drops the resources, and those of further
/// submissions that have ended.
#[derive(Debug)]
#[must_use = "dropped after all locks were released"]
pub(in crate::cs) struct Retired<'l> {
    list: &'l InFlightList,
    /// The last sequence number that has ended.
    done: u64,
    /// As many as fit without an allocation.
    containers: SmallVec<[Vec<Resource>; 4]>,
}

/// The submissions of a queue that have not ended.
#[derive(Debug, Default)]
pub(in crate::cs) struct InFlightList {
    /// Held for a few steps only: never during an ioctl, and never while resources are dropped.
    list: Mutex<List>,
}

#[derive(Debug, Default)]
struct List {
    entries: VecDeque<InFlight>,
    /// The number of places that submissions have and that have no entry yet.
    reserved: usize,
    /// Empty containers.
    spare: Vec<Vec<Resource>>,
    /// The first submission that was lost.
    lost: Option<Unfinished>,
    /// The last sequence number of all entries so far.
    last: u64,
    /// The last sequence number that the kernel has reported as ended, written or not.
    ended: u64,
    /// `true` if work was lost, so that jobs may end without writing their sequence numbers.
    may_be_lost: bool,
    /// The plans that no submission has; the one that was used last is at the end.
    plans: Vec<TryBox<Plan>>,
    /// The number of times that the plans were forgotten.
    forgets: u64,
}

impl InFlightList {
    /// Reserves the place of a submission. It must be [committed](Self::commit), whether the kernel accepts it or not.
    pub(in crate::cs) fn reserve(&self) -> Result<InFlight, NoHostMemory> {
        let mut list = self.list.lock();
        list.reserve()?;
        Ok(list.place())
    }

    /// Begins a submission: reserves its place, and takes the plan that was used last. If the oldest entry has ended by `done` and has
    /// the same plan, and `is_same` returns `true` for that plan, the place is this entry with its resources.
    #[inline]
    pub(super) fn begin(
        &self,
        done: u64,
        is_same: impl FnOnce(&Plan) -> bool,
    ) -> Result<(InFlight, TryBox<Plan>), NoHostMemory> {
        let mut list = self.list.lock();
        list.reserve()?;
        let plan = match list.plans.pop() {
            Some(plan) => plan,
            None => TryBox::new(Plan { forgets: list.forgets, ..Plan::default() })?,
        };
        let can_serve = |front: &InFlight| front.last <= done && plan.number > 0 && front.plan == plan.number;
        let serves = list.entries.front().is_some_and(can_serve) && is_same(&plan);
        let entry = if serves { list.reuse() } else { list.place() };
        Ok((entry, plan))
    }

    /// Ends a submission and takes back its plan. If the kernel has accepted a call, the submission is in flight from now on, and
    /// keeps of its resources what `keep` says; otherwise nothing. Returns all others, and those of submissions up to `done`.
    pub(in crate::cs) fn commit(
        &self,
        mut entry: InFlight,
        plan: Option<TryBox<Plan>>,
        keep: Keep,
        done: u64,
    ) -> Retired<'_> {
        let mut retired = self.retired(done);
        let is_accepted = entry.last > 0;
        if keep == Keep::Nothing || keep == Keep::Lists && !entry.memory.is_empty() {
            entry.plan = 0;
        }
        let mut list = self.list.lock();
        list.reserved -= 1;
        if !is_accepted || keep != Keep::Everything {
            list.retire(mem::take(&mut entry.memory), &mut retired);
        }
        if !is_accepted || keep == Keep::Nothing {
            list.retire(mem::take(&mut entry.lists), &mut retired);
        }
        if is_accepted {
            list.add(entry);
            list.take_ended(&mut retired);
        }
        let forgotten = plan.and_then(|plan| list.take_back(plan));
        drop(list);
        drop(forgotten);
        retired
    }

    /// Returns a value without resources, for those of submissions up to `done`.
    #[inline]
    fn retired(&self, done: u64) -> Retired<'_> {
        Retired { list: self, done, containers: SmallVec::new() }
    }

    /// Takes all plans, which the caller drops. Those that submissions have now are dropped when these end.
    pub(super) fn forget_plans(&self) -> Vec<TryBox<Plan>> {
        let mut list = self.list.lock();
        list.forgets += 1;
        mem::take(&mut list.plans)
    }

    /// Drops what submissions up to this sequence number keep.
    pub(in crate::cs) fn retire_up_to(&self, done: u64) {
        let mut retired = self.retired(done);
        self.list.lock().take_ended(&mut retired);
    }

    /// Notes that work was lost: jobs may end without writing their sequence numbers.
    pub(super) fn mark_lost(&self) {
        self.list.lock().may_be_lost = true;
    }

    /// Returns `true` if a submission may have ended without writing its sequence number.
    pub(super) fn may_be_lost(&self) -> bool {
        let list = self.list.lock();
        list.may_be_lost && !list.entries.is_empty()
    }

    /// Drops what submissions up to `ended` keep, all of which have ended. Those after `done` ended without writing their sequence
    /// numbers, so they were lost; the first of them is kept for a report.
    pub(super) fn retire_lost(&self, done: u64, ended: u64) {
        self.retire_up_to(done);
        let mut list = self.list.lock();
        list.may_be_lost = false;
        if list.lost.is_none() && ended > done {
            list.lost = list.first_after(done);
        }
        list.ended = list.ended.max(ended);
        drop(list);
        self.retire_up_to(ended);
    }

    /// Returns the submission after `done` at which the queue stopped: the first lost one, otherwise the oldest running one.
    pub(in crate::cs) fn first_unfinished(&self, done: u64) -> Option<Unfinished> {
        let list = self.list.lock();
        match &list.lost {
            Some(lost) => Some(lost).filter(|lost| lost.sequence > done).cloned(),
            None => list.first_after(done),
        }
    }

    /// Returns the last sequence number of the submissions so far; 0 before the first.
    pub(in crate::cs) fn last(&self) -> u64 {
        self.list.lock().last
    }

    /// Returns the sequence number of the oldest submission that has not been retired.
    pub(in crate::cs) fn oldest(&self) -> Option<u64> {
        self.list.lock().entries.front().map(|entry| entry.last)
    }

    /// Returns the number of submissions that have not been retired.
    pub(in crate::cs) fn count(&self) -> usize {
        self.list.lock().entries.len()
    }

    /// Returns the number of submissions after `done` that have not ended.
    pub(super) fn count_after(&self, done: u64) -> usize {
        self.list.lock().entries.iter().rev().take_while(|entry| entry.last > done).count()
    }

    /// Leaks the lists of submissions that have not ended, and returns the number of these submissions. Nothing will observe their
    /// end, so their IBs must not be reused. The kernel's own references keep the memory until the jobs have ended.
    pub(super) fn abandon(&self) -> usize {
        let entries = mem::take(&mut self.list.lock().entries);
        let count = entries.len();
        for entry in entries {
            mem::forget(entry.lists);
        }
        count
    }
}

impl Drop for Retired<'_> {
    #[inline]
    fn drop(&mut self) {
        while !self.containers.is_empty() {
            self.containers.iter_mut().for_each(Vec::clear);
            let mut list = self.list.list.lock();
            self.containers.drain(..).for_each(|container| list.recycle(container));
            list.take_ended(self);
        }
    }
}

impl List {
    /// Makes room for one more place.
    #[inline]
    fn reserve(&mut self) -> Result<(), NoHostMemory> {
        let reserved = self.reserved + 1;
        self.entries.try_reserve(reserved).map_err(|_| NoHostMemory)
    }

    /// Makes the oldest entry a place, with its resources and its plan.
    #[inline]
    fn reuse(&mut self) -> InFlight {
        self.reserved += 1;
        InFlight { first: 0, last: 0, ..self.entries.pop_front().unwrap_or_default() }
    }

    /// Returns a place, for which `entries` must have room.
    #[inline]
    fn place(&mut self) -> InFlight {
        self.reserved += 1;
        let (lists, memory) = (self.spare.pop().unwrap_or_default(), self.spare.pop().unwrap_or_default());
        InFlight { first: 0, last: 0, lists, memory, plan: 0 }
    }

    /// Moves resources to `retired`, or keeps their container if it is empty.
    #[inline]
    fn retire(&mut self, resources: Vec<Resource>, retired: &mut Retired<'_>) {
        if resources.is_empty() {
            self.recycle(resources);
        } else {
            retired.containers.push(resources);
        }
    }

    /// Keeps an empty container for a later submission, unless there is no room for it.
    #[inline]
    fn recycle(&mut self, container: Vec<Resource>) {
        if container.capacity() > 0 && self.spare.try_reserve(1).is_ok() {
            self.spare.push(container);
        }
    }

    /// Adds an entry, for which there is room.
    #[inline]
    fn add(&mut self, entry: InFlight) {
        let last = entry.last;
        if last > self.last {
            self.last = last;
            self.entries.push_back(entry);
        } else {
            // A submission of another thread has overtaken it.
            let at = self.entries.partition_point(|other| other.last < last);
            self.entries.insert(at, entry);
        }
    }

    /// Moves the resources of submissions that have ended to `retired`, as far as these fit without an allocation.
    #[inline]
    fn take_ended(&mut self, retired: &mut Retired<'_>) {
        while retired.containers.len() + 2 <= retired.containers.inline_size()
            && let Some(entry) = self.entries.pop_front_if(|entry| entry.last <= retired.done)
        {
            self.retire(entry.lists, retired);
            self.retire(entry.memory, retired);
        }
    }

    /// Takes back a plan. Returns it if it is to be dropped, which needs no lock.
    #[inline]
    fn take_back(&mut self, plan: TryBox<Plan>) -> Option<TryBox<Plan>> {
        if plan.forgets < self.forgets || self.plans.try_reserve(1).is_err() {
            return Some(plan);
        }
        self.plans.push(plan);
        None
    }

    /// Returns the oldest submission after `done` that has not ended. Its lists are unknown while it is being committed.
    fn first_after(&self, done: u64) -> Option<Unfinished> {
        let first = self.ended.max(done) + 1;
        let entry = self.entries.iter().find(|entry| entry.last >= first)?;
        Some(if entry.first <= first {
            Unfinished { sequence: entry.last, lists: entry.recorded() }
        } else {
            Unfinished { sequence: first, lists: Vec::new() }
        })
    }
}
