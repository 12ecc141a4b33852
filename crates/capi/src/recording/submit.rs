//! Submitting.

use amdgpu_hw::num::index;
use amdgpu_winsys::cs::{CommandList, Error, Fence, Gang, MAX_IBS_PER_CALL, Queue, Submission};

use super::{
    lists::Closed,
    queue::{agw_queue, queue},
    submission::{Few, Named, agw_submission},
};
use crate::border::{Answer, array, entry, put, read};

/// Submits. The number of the submission goes to `sequence`, unless that is null.
///
/// More IBs than the kernel takes at once go in several calls: the first waits, the last signals.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed; `submission` is null or a structure of its `struct_size`, whose arrays have the
/// lengths that it says, and hold what was not freed; `sequence` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_submit(
    queue: *const agw_queue,
    submission: *const agw_submission,
    sequence: *mut u64,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::queue(queue) }?;
        // SAFETY: the caller's promise.
        let submission = unsafe { read(submission) }?;
        let mut named = Named::default();
        // SAFETY: the caller's promise.
        unsafe { named.look_up(&submission) }?;
        // SAFETY: the caller's promise.
        let followers = unsafe { array(submission.followers, submission.follower_count, "followers") }?;
        // SAFETY: the caller's promise.
        let followers = followers.iter().map(|&follower| Ok(&unsafe { self::queue(follower) }?.queue));
        let followers: Few<_> = followers.collect::<Answer<_>>()?;
        let number = submit(&body.queue, &followers, &named)?.map_or(0, |fence| fence.sequence());
        if !sequence.is_null() {
            // SAFETY: not null, and the caller's promise.
            unsafe { put(sequence, number) };
        }
        Ok(())
    })
}

/// Submits what was named, in as many calls as it takes. `None` if there was nothing to do.
fn submit(queue: &Queue, followers: &[&Queue], named: &Named<'_>) -> Answer<Option<Fence>> {
    let whole = Submission {
        memory: &named.bos.as_slice(),
        sets: &named.sets,
        keep: named.keep,
        is_secure: named.is_secure,
        is_preemptible: named.is_preemptible,
        ..Submission::default()
    };
    let (waits, signals) = (&named.waits[..], &named.signals[..]);
    if named.streams.is_empty() {
        if waits.is_empty() && signals.is_empty() {
            return Ok(None);
        }
        let nothing = Submission { waits, signals, keep: named.keep, ..Submission::default() };
        return Ok(Some(queue.submit(&nothing)?));
    }
    if named.streams.iter().any(|list| list.target() != queue.target()) {
        return gang(queue, followers, named, &Submission { waits, signals, ..whole }).map(Some);
    }
    let kernel = queue.context().device().info().max_ibs[queue.ip().index()];
    let most = MAX_IBS_PER_CALL.min(index(kernel));
    let mut fence = None;
    let mut streams = &named.streams[..];
    while !streams.is_empty() {
        let is_first = fence.is_none();
        let before = own(queue, if is_first { &named.initial } else { &named.further });
        let behind = own(queue, &named.last);
        let room = most.saturating_sub(before.clone().count() + behind.clone().count());
        let now = fitting(streams, room);
        let (these, rest) = streams.split_at(now);
        let lists: Few<_> = before.chain(these.iter().map(|list| &**list)).chain(behind).collect();
        let call = Submission {
            lists: &lists,
            waits: if is_first { waits } else { &[] },
            signals: if rest.is_empty() { signals } else { &[] },
            ..whole
        };
        fence = Some(queue.submit(&call)?);
        streams = rest;
    }
    Ok(fence)
}

/// Returns the lists for a queue's ring.
fn own<'a>(queue: &Queue, lists: &'a [Closed<'_>]) -> impl Iterator<Item = &'a CommandList> + Clone {
    lists.iter().map(|list| &**list).filter(|list| list.target() == queue.target())
}

/// Returns the number of lists that fit into a call with room for so many IBs: at least one, which the library cuts in two
/// where it is longer.
fn fitting(lists: &[Closed<'_>], room: usize) -> usize {
    let mut ibs = 0;
    let fits = |list: &&Closed<'_>| {
        ibs += list.submitted_ibs().len();
        ibs <= room
    };
    lists.iter().take_while(fits).count().max(1)
}

/// Submits streams for several IPs, which the kernel starts together.
fn gang(queue: &Queue, followers: &[&Queue], named: &Named<'_>, submission: &Submission<'_>) -> Answer<Fence> {
    let all = || named.initial.iter().chain(&named.streams).chain(&named.last).map(|list| &**list);
    let stranger = |list: &CommandList| {
        list.target() != queue.target() && !followers.iter().any(|follower| follower.target() == list.target())
    };
    if let Some(list) = named.streams.iter().find(|list| stranger(list)) {
        let error = Error::WrongQueue { recorded: list.target(), queue: queue.target() };
        return Err(error.into());
    }
    let share = |of: &Queue| all().filter(|list| list.target() == of.target()).collect::<Vec<_>>();
    // Without a list a follower would be no job.
    let working: Vec<_> = followers.iter().copied().filter(|follower| !share(follower).is_empty()).collect();
    let shares: Vec<_> = working.iter().map(|follower| share(follower)).collect();
    let shares: Vec<_> = shares.iter().map(Vec::as_slice).collect();
    let lists = share(queue);
    Ok(Gang::bare(queue, &working)?.submit(&shares, &Submission { lists: &lists, ..*submission })?)
}
