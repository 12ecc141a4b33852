//! The plan of a submission, and the turns of the submissions that use it.
//!
//! This is the one cache of a queue. The plan of the last submission stays: if the next one has the same lists, sets and flags,
//! nothing is listed again. Lists and the states of sets are identified by numbers that are never reused, and they are not kept
//! alive. As long as the list with a number exists, its IBs and its memory exist and do not change, and the same is true for the
//! members of a set.

use std::{ops::Range, sync::atomic::Ordering, time::Duration};

use super::{
    bo_list::BoListBuilder,
    in_flight::{InFlight, Resource},
};
use crate::{
    cs::{CommandList, Target},
    host_memory::{NoHostMemory, TryBox},
    sync::{AtomicBool, Mutex, MutexGuard},
    uapi::{CsChunkDep, CsChunkIb, CsChunkSyncobj, IbFlags},
    winsys::{BoList, ChunkScratch, Event, Ip},
};

/// The kernel ring that a queue submits to.
#[derive(Clone, Copy, Debug)]
pub(in crate::cs) struct Ring {
    pub(in crate::cs) ip: Ip,
    pub(in crate::cs) index: u32,
    pub(in crate::cs) target: Target,
    /// The maximum number of IBs in one call.
    pub(super) most_ibs: usize,
}

/// The kernel calls of a submission, in containers that later submissions reuse.
#[derive(Debug, Default)]
pub(in crate::cs) struct Plan {
    /// The numbers of the lists whose IBs and memory are listed.
    pub(super) lists: Vec<u64>,
    pub(super) flags: IbFlags,
    /// `true` if `ibs`, `calls` and `bos` are those of `lists`, `flags` and the sets in `bos`, and of nothing else.
    pub(super) is_complete: bool,
    pub(super) bos: BoListBuilder,
    /// The IBs of all calls, in order; `calls` has their ranges.
    pub(super) ibs: Vec<CsChunkIb>,
    pub(super) calls: Vec<Range<usize>>,
    pub(super) dependencies: Vec<CsChunkDep>,
    pub(super) scheduled: Vec<CsChunkDep>,
    pub(super) waits: Vec<CsChunkSyncobj>,
    pub(super) signals: Vec<CsChunkSyncobj>,
    pub(super) scratch: ChunkScratch,
    /// Events to report after the submission; empty without observers.
    pub(super) events: Vec<Event>,
    /// The place of the next submission, if it was reserved with that of the last one.
    pub(super) place: Option<InFlight>,
}

impl Plan {
    /// Returns `true` if the plan is that of these lists with these flags, apart from sets.
    #[inline]
    pub(super) fn is_of(&self, lists: &[&CommandList], flags: IbFlags) -> bool {
        let same = |(number, list): (&u64, &&CommandList)| *number == list.recorded().number();
        self.is_complete
            && self.flags == flags
            && self.lists.len() == lists.len()
            && self.lists.iter().zip(lists).all(same)
    }
}

/// The longest wait for another submission before it is checked again whether it can be overtaken.
const LOOK: Duration = Duration::from_millis(1);

/// Gives the plan to one submission at a time, until its kernel calls are done.
///
/// The kernel may spend seconds in such a call, to wait for sync objects. Other submissions meanwhile use plans of their own.
#[derive(Debug, Default)]
pub(super) struct Turns {
    plan: Mutex<Plan>,
    /// `true` while the submission that has the plan can be overtaken.
    is_overtakable: AtomicBool,
    /// Plans of submissions that have overtaken another one.
    overtaking: Mutex<Vec<TryBox<Plan>>>,
}

/// A submission's use of a plan. Dropping it ends the turn.
#[derive(Debug)]
pub(super) struct Turn<'q> {
    turns: &'q Turns,
    /// The plan of the queue; `None` if the submission overtakes another one.
    common: Option<MutexGuard<'q, Plan>>,
    own: Option<TryBox<Plan>>,
}

impl Turns {
    /// Waits for the plan, unless the submission that has it can be overtaken.
    #[inline]
    pub(super) fn take(&self) -> Result<Turn<'_>, NoHostMemory> {
        let common = self.plan.try_lock().or_else(|| self.wait());
        let own = if common.is_some() { None } else { Some(self.own_plan()?) };
        Ok(Turn { turns: self, common, own })
    }

    #[cold]
    fn wait(&self) -> Option<MutexGuard<'_, Plan>> {
        while !self.is_overtakable.load(Ordering::Acquire) {
            if let Some(plan) = self.plan.try_lock_for(LOOK) {
                return Some(plan);
            }
        }
        self.plan.try_lock()
    }

    #[cold]
    fn own_plan(&self) -> Result<TryBox<Plan>, NoHostMemory> {
        let spare = self.overtaking.lock().pop();
        spare.map_or_else(|| TryBox::new(Plan::default()), Ok)
    }

    #[cold]
    fn give_back(&self, plan: TryBox<Plan>) {
        let mut overtaking = self.overtaking.lock();
        if overtaking.try_reserve(1).is_ok() {
            overtaking.push(plan);
        }
    }

    /// Waits for the end of the current submission, and takes the kernel's BO list, what that keeps alive, and the plans of submissions
    /// that have overtaken another one.
    pub(super) fn forget(&self) -> (Option<BoList>, Vec<Resource>, Vec<TryBox<Plan>>) {
        let (list, memory) = self.plan.lock().bos.take_kernel_list();
        (list, memory, std::mem::take(&mut self.overtaking.lock()))
    }
}

impl<'q> Turn<'q> {
    /// Returns the plan.
    #[inline]
    pub(super) fn plan(&mut self) -> Option<&mut Plan> {
        match &mut self.common {
            Some(plan) => Some(plan),
            None => self.own.as_deref_mut(),
        }
    }

    /// Returns the plan of the queue, unless this submission has overtaken another one.
    #[inline]
    pub(super) fn common_plan(&mut self) -> Option<&mut Plan> {
        self.common.as_deref_mut()
    }

    /// Returns the switch with which others can be allowed to overtake this submission. There is none if it has overtaken another one:
    /// then they can do it in any case.
    #[inline]
    pub(super) fn is_overtakable(&self) -> Option<&'q AtomicBool> {
        self.common.is_some().then_some(&self.turns.is_overtakable)
    }
}

impl Drop for Turn<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.common.is_some() {
            self.turns.is_overtakable.store(false, Ordering::Release);
        }
        if let Some(plan) = self.own.take() {
            self.turns.give_back(plan);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc, thread};

    use super::*;

    /// Leaves a number in the plan, and returns what the last submission has left.
    fn mark(turn: &mut Turn<'_>, number: u64) -> Vec<u64> {
        std::mem::replace(&mut turn.plan().unwrap().lists, vec![number])
    }

    #[test]
    #[cfg_attr(
        miri,
        ignore = "Miri since October 2026 refuses the reference that a waiting thread of parking_lot gives to futex"
    )]
    fn a_submission_has_the_plan_alone_unless_it_can_be_overtaken() {
        let turns = Turns::default();
        let mut first = turns.take().unwrap();
        assert!(mark(&mut first, 1).is_empty());
        first.is_overtakable().unwrap().store(true, Ordering::Release);
        let mut second = turns.take().unwrap();
        assert!(second.common_plan().is_none() && second.is_overtakable().is_none());
        assert!(mark(&mut second, 2).is_empty(), "a plan of its own");
        drop(second);
        assert_eq!(mark(&mut turns.take().unwrap(), 3), [2], "which is kept");
        assert_eq!(mark(&mut first, 4), [1]);
        drop(first);
        let (began, begins) = mpsc::channel();
        let mut third = turns.take().unwrap();
        assert_eq!(mark(&mut third, 5), [4]);
        thread::scope(|scope| {
            let waiting = scope.spawn(|| {
                began.send(()).unwrap();
                mark(&mut turns.take().unwrap(), 6)
            });
            begins.recv().unwrap();
            thread::sleep(Duration::from_millis(5));
            assert!(!waiting.is_finished(), "the third one cannot be overtaken");
            mark(&mut third, 7);
            drop(third);
            assert_eq!(waiting.join().unwrap(), [7]);
        });
        assert_eq!(turns.forget().2.len(), 1);
        assert!(turns.forget().2.is_empty());
    }
}
