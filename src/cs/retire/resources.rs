//! Taking references to the resources of a submission, which its job keeps alive.

use std::sync::Arc;

use super::{
    job::{Job, Same},
    over::Over,
    underway::Underway,
};
use crate::{
    cs::{
        CommandList, Keep, Preambles, Submission,
        record::list::recorded::Recorded,
        submit::{shared::Shared, submit_buffers::SubmitBuffers},
    },
    host_memory::{self, NoHostMemory},
    winsys::ResidencySet,
};

/// The maximum number of lists of a job that is reused for the next submission. They are compared under a lock.
const MOST_LISTS: usize = 4;

/// Returns `true` if a job keeps exactly the lists of a submission, if these are to be kept again and refer to no other lists and
/// sets.
#[inline]
pub(in crate::cs) fn has_lists(job: &Job, beside: &[(&Shared, &[&CommandList])], submission: &Submission<'_>) -> bool {
    let Submission { lists, preambles, .. } = *submission;
    let is_same = |(kept, list): (&Arc<Recorded>, &&CommandList)| Arc::ptr_eq(kept, list.recorded()) && is_plain(kept);
    beside.is_empty()
        && preambles.is_none()
        && submission.keep != Keep::Nothing
        && job.lists.len() == lists.len()
        && lists.len() <= MOST_LISTS
        && job.lists.iter().zip(lists).all(is_same)
}

/// Returns `true` if no other list is chained to the list and it keeps no sets.
#[inline]
fn is_plain(list: &Recorded) -> bool {
    !list.is_chained() && list.sets().is_empty()
}

/// Returns `true` if the caller keeps the lists of a submission alive and these are all lists that it runs, so that no references
/// to them are needed.
#[inline]
fn are_lent(beside: &[(&Shared, &[&CommandList])], submission: &Submission<'_>) -> bool {
    submission.keep == Keep::Nothing
        && beside.is_empty()
        && submission.preambles.is_none()
        && submission.lists.iter().all(|list| is_plain(list.recorded()))
}

/// Takes references to the lists that a submission runs, unless they [are lent](are_lent), and to the members of its sets. If the
/// job has resources, it is a finished one that [has the lists](has_lists), and the resources that it has in common with the
/// submission stay in it. References to memory are taken later, when it is listed.
#[expect(clippy::inline_always, reason = "a part of the one call that nearly all submissions make")]
#[inline(always)]
pub(in crate::cs) fn name_resources(
    underway: &mut Underway<'_, SubmitBuffers>,
    over: &mut Over,
    beside: &[(&Shared, &[&CommandList])],
    submission: &Submission<'_>,
) -> Result<(), NoHostMemory> {
    let Some((job, buffers)) = underway.parts() else { return Ok(()) };
    if job.lists.is_empty() {
        return name_in_empty_job(job, buffers, beside, submission);
    }
    let same = in_common(job, submission);
    if same.is_all() {
        Ok(())
    } else if same.memory && job.sets.is_empty() {
        // The job has no sets to take out: a submission that keeps only its lists has dropped its sets.
        name_sets(job, buffers, submission)
    } else {
        name_others(underway, over, beside, submission)
    }
}

/// Takes references to the lists that a submission runs, unless they [are lent](are_lent), and to the members of its sets. The job is
/// empty.
#[expect(clippy::inline_always, reason = "as for `name_resources`")]
#[inline(always)]
pub(in crate::cs) fn name_in_empty_job(
    job: &mut Job,
    buffers: &SubmitBuffers,
    beside: &[(&Shared, &[&CommandList])],
    submission: &Submission<'_>,
) -> Result<(), NoHostMemory> {
    if are_lent(beside, submission) {
        name_sets(job, buffers, submission)
    } else {
        name_all(job, buffers, beside, submission)
    }
}

/// Compares the resources of a job that has the lists of a submission with the other resources of the submission.
#[inline]
fn in_common(job: &Job, submission: &Submission<'_>) -> Same {
    let Submission { sets, keep, .. } = *submission;
    let mut kept = job.sets.iter();
    let mut others = sets.iter().filter(|set| !set.is_known_empty());
    Same {
        lists: true,
        // If memory is kept, it is compared when it is listed.
        memory: keep == Keep::Everything || job.memory.is_empty(),
        sets: others.all(|set| kept.next().is_some_and(|kept| set.is_still(kept))) && kept.next().is_none(),
    }
}

/// Takes the resources that the submission does not use out of the job, and takes references to those that the job does not have.
#[inline(never)]
fn name_others(
    underway: &mut Underway<'_, SubmitBuffers>,
    over: &mut Over,
    beside: &[(&Shared, &[&CommandList])],
    submission: &Submission<'_>,
) -> Result<(), NoHostMemory> {
    let Some((job, buffers)) = underway.parts() else { return Ok(()) };
    let same = in_common(job, submission);
    if let Some(few) = job.take_few(same) {
        over.add_few(few);
        return if same.sets { Ok(()) } else { name_sets(job, buffers, submission) };
    }
    underway.take_empty_job(over)?;
    let Some((job, buffers)) = underway.parts() else { return Ok(()) };
    name_all(job, buffers, beside, submission)
}

#[inline]
fn name_sets(job: &mut Job, buffers: &SubmitBuffers, submission: &Submission<'_>) -> Result<(), NoHostMemory> {
    buffers.working_set.take_snapshots(submission.sets.iter().copied(), &mut job.sets)
}

/// Takes references to all lists and sets.
#[expect(clippy::inline_always, reason = "as for `name_resources`")]
#[inline(always)]
fn name_all(
    job: &mut Job,
    buffers: &SubmitBuffers,
    beside: &[(&Shared, &[&CommandList])],
    submission: &Submission<'_>,
) -> Result<(), NoHostMemory> {
    host_memory::reserve(&mut job.lists, submission.lists.len())?;
    let mut is_plain = beside.is_empty() && submission.preambles.is_none();
    for list in submission.lists {
        let recorded = list.recorded();
        is_plain &= self::is_plain(recorded);
        job.lists.push(Arc::clone(recorded));
    }
    if !is_plain {
        job.take_others(beside, submission.preambles)?;
    }
    if !is_plain && job.lists.iter().any(|list| !list.sets().is_empty()) {
        let sets = job.all_sets(submission.sets)?;
        return buffers.working_set.take_snapshots(sets.iter(), &mut job.sets);
    }
    name_sets(job, buffers, submission)
}

impl Job {
    /// Takes references to the lists of other queues, to lists that are chained to any of them, and to the preambles.
    #[inline(never)]
    fn take_others(
        &mut self,
        beside: &[(&Shared, &[&CommandList])],
        preambles: Option<&Preambles>,
    ) -> Result<(), NoHostMemory> {
        for (_, lists) in beside {
            host_memory::extend(&mut self.lists, lists.iter().map(|list| Arc::clone(list.recorded())))?;
        }
        if self.lists.iter().any(|list| list.is_chained()) {
            self.take_followers()?;
        }
        if let Some(preambles) = preambles {
            preambles.lists().try_for_each(|list| host_memory::push(&mut self.lists, Arc::clone(list.recorded())))?;
        }
        Ok(())
    }

    /// Returns the sets of a submission and those that its lists keep, each once.
    #[cold]
    fn all_sets(&self, named: &[&ResidencySet]) -> Result<Vec<ResidencySet>, NoHostMemory> {
        let mut all = Vec::new();
        host_memory::extend(&mut all, named.iter().copied().cloned())?;
        for set in self.lists.iter().flat_map(|list| list.sets()) {
            if !all.contains(set) {
                host_memory::push(&mut all, set.clone())?;
            }
        }
        Ok(all)
    }

    #[cold]
    fn take_followers(&mut self) -> Result<(), NoHostMemory> {
        for at in 0..self.lists.len() {
            if let Some(list) = self.lists.get(at).map(Arc::clone) {
                list.followers(&mut self.lists)?;
            }
        }
        Ok(())
    }
}
