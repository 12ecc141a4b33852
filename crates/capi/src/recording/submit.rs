//! Submission to queues.

use std::mem;

use amdgpu_hw::num::index;
use amdgpu_winsys::{
    cs::{CommandList, Error, Fence, Gang, MAX_IBS_PER_CALL, Queue, Submission, Target},
    winsys::Error as WinsysError,
};

use super::{
    lists::{Closed, list_of},
    queue::{AnyQueue, agw_queue, queue},
    stream::agw_stream,
    submission::{
        AGW_SUBMIT_KEEP_NOTHING, AGW_SUBMIT_PREEMPTIBLE, AGW_SUBMIT_SECURE, Few, Named, Options, agw_submission,
        check_signals, of_call, points, sets,
    },
    video_lists,
};
use crate::{
    border::{Answer, IS_CHECKED, Turn, array, entry, put, view},
    objects::residents,
};

/// Submits to a queue. Writes the sequence number of the submission to `sequence`, unless that is null.
///
/// A submission with more IBs than the kernel accepts at once takes several calls to the kernel, of which the first waits and
/// the last signals. On rings of video engines each stream is a call of its own, unless the engine accepts more IBs at once.
///
/// Rings of video engines have no preambles (`initial`, `further`, `last`), followers and options. Their submissions without an IB
/// wait for nothing in the kernel: each point of `waits` must have a fence already.
///
/// # Safety
///
/// `queue` is null or a queue that was not freed; `submission` is null or a structure of its `struct_size`, whose arrays have
/// the lengths that it states and contain objects that were not freed; no other call changes its streams at the same time;
/// `sequence` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_queue_submit(
    queue: *const agw_queue,
    submission: *const agw_submission,
    sequence: *mut u64,
) -> i32 {
    let mut copy = None;
    entry(|| {
        // SAFETY: the caller's promise.
        let body = unsafe { self::queue(queue) }?;
        // SAFETY: the caller's promise.
        let submission = unsafe { view(submission, &mut copy) }?;
        let wants_number = !sequence.is_null();
        let number = match &body.queue {
            AnyQueue::Packets(queue) => {
                // SAFETY: the caller's promise.
                match unsafe { lent(queue, submission) }? {
                    Some(number) => number,
                    // SAFETY: the caller's promise.
                    None => unsafe { in_other_ways(queue, submission, wants_number) }?,
                }
            }
            // SAFETY: the caller's promise.
            AnyQueue::Video(queue) => unsafe { video_lists::submit(queue, submission) }?,
        };
        if wants_number {
            // SAFETY: not null, and the caller's promise.
            unsafe { put(sequence, number) };
        }
        Ok(())
    })
}

/// Submits streams that the caller keeps alive, if nothing else is to be done. Returns `None`, and does nothing, for any other
/// submission. Errors of streams are left to [`in_other_ways`].
///
/// # Safety
///
/// The requirements of [`agw_queue_submit`].
#[inline]
unsafe fn lent(queue: &Queue, submission: &agw_submission) -> Answer<Option<u64>> {
    let agw_submission { keep, flags, .. } = *submission;
    let others = submission.bo_count | submission.follower_count | submission.wait_count | submission.signal_count;
    // A checked build keeps a lock on each stream for the duration of the call.
    if IS_CHECKED
        || others != 0
        || keep != AGW_SUBMIT_KEEP_NOTHING
        || flags & !(AGW_SUBMIT_SECURE | AGW_SUBMIT_PREEMPTIBLE) != 0
    {
        return Ok(None);
    }
    // SAFETY: the caller's promise, for this and the other arrays.
    let initial = unsafe { array(submission.initial, submission.initial_count, "initial") }?;
    // SAFETY: as above.
    let streams = unsafe { array(submission.streams, submission.stream_count, "streams") }?;
    // SAFETY: as above.
    let further = unsafe { array(submission.further, submission.further_count, "further") }?;
    // SAFETY: as above.
    let last = unsafe { array(submission.last, submission.last_count, "last") }?;
    // SAFETY: as above.
    let sets = unsafe { array(submission.sets, submission.set_count, "sets") }?;
    let set;
    let sets = match sets {
        [] => &[],
        &[handle] => {
            // SAFETY: as above.
            set = [&unsafe { residents(handle) }?.set];
            &set[..]
        }
        _ => return Ok(None),
    };
    for &handle in further {
        // A single call does not use them, but invalid ones are still an error.
        // SAFETY: as above.
        unsafe { list_of(handle, "further") }?;
    }
    // SAFETY: as above.
    let list = |&handle: &*const agw_stream| unsafe { list_of(handle, "streams") }.ok().map(|closed| closed.list);
    let lists = initial.iter().chain(streams).chain(last).map(list);
    Ok(queue.submit_lent(lists, sets, flags & AGW_SUBMIT_SECURE != 0, flags & AGW_SUBMIT_PREEMPTIBLE != 0)?)
}

/// Submits any submission, and returns the sequence number, or 0 if `wants_number` is not set.
///
/// # Safety
///
/// The requirements of [`agw_queue_submit`].
#[inline(never)]
unsafe fn in_other_ways(queue: &Queue, submission: &agw_submission, wants_number: bool) -> Answer<u64> {
    // SAFETY: the caller's promise.
    match unsafe { in_one_call(queue, submission, wants_number) }? {
        Some(number) => Ok(number),
        // SAFETY: the caller's promise.
        None => unsafe { in_any_way(queue, submission) },
    }
}

/// Submits streams for one ring by one call to the kernel, the usual case. Each list is resolved once, directly into the
/// array that the library takes. Returns the sequence number, or 0 if `wants_number` is not set. Returns `None`, and does
/// nothing, for other kinds of submissions.
///
/// # Safety
///
/// The requirements of [`agw_queue_submit`].
unsafe fn in_one_call(queue: &Queue, submission: &agw_submission, wants_number: bool) -> Answer<Option<u64>> {
    if submission.stream_count == 0 || submission.follower_count | submission.bo_count != 0 {
        return Ok(None);
    }
    let (mut lists, mut turns) = (Few::new(), Vec::new());
    // Preambles for other rings are left out, and streams for other rings are of a gang.
    let target = queue.target();
    // SAFETY: the caller's promise.
    let (initial, _) =
        unsafe { add(&mut lists, &mut turns, target, submission.initial, submission.initial_count, "initial") }?;
    // SAFETY: the caller's promise.
    let (streams, is_gang) =
        unsafe { add(&mut lists, &mut turns, target, submission.streams, submission.stream_count, "streams") }?;
    // SAFETY: the caller's promise.
    let (last, _) = unsafe { add(&mut lists, &mut turns, target, submission.last, submission.last_count, "last") }?;
    let ibs = initial + streams + last;
    if submission.further_count > 0 {
        // A single call does not use them, but invalid ones are still an error.
        // SAFETY: the caller's promise.
        unsafe { check_further(submission) }?;
    }
    if is_gang || ibs > most_ibs(queue) {
        return Ok(None);
    }
    let (mut named_sets, mut waits, mut signals) = (Few::new(), Few::new(), Few::new());
    // SAFETY: the caller's promise.
    unsafe { sets(&mut named_sets, submission.sets, submission.set_count) }?;
    if submission.wait_count | submission.signal_count > 0 {
        // SAFETY: the caller's promise.
        unsafe { points(&mut waits, submission.waits, submission.wait_count, "waits") }?;
        // SAFETY: the caller's promise.
        unsafe { points(&mut signals, submission.signals, submission.signal_count, "signals") }?;
    }
    let Options { keep, is_secure, is_preemptible } = Options::of(submission)?;
    let call = Submission {
        lists: &lists,
        sets: &named_sets,
        waits: &waits,
        signals: &signals,
        keep,
        is_secure,
        is_preemptible,
        ..Submission::default()
    };
    if wants_number {
        return Ok(Some(queue.submit(&call)?.sequence()));
    }
    queue.submit_without_fence(&call)?;
    if !IS_CHECKED {
        // It is empty, but the compiler does not see that, and calls its drop.
        mem::forget(turns);
    }
    Ok(Some(0))
}

/// Adds the lists of an array of streams that are for `target`. Returns the number of their IBs, and `true` if there are streams
/// for other rings. `turns` is used by checked builds only.
///
/// # Safety
///
/// `start` is null or has `len` streams, each null, or neither destroyed nor changed for as long as `lists` is used.
#[expect(clippy::inline_always, reason = "a part of the one call that nearly all submissions make")]
#[inline(always)]
unsafe fn add<'a>(
    lists: &mut Few<&'a CommandList>,
    turns: &mut Vec<Turn<'a>>,
    target: Target,
    start: *const *const agw_stream,
    len: u32,
    name: &str,
) -> Answer<(usize, bool)> {
    let (mut ibs, mut has_others) = (0, false);
    // SAFETY: the caller's promise.
    for &handle in unsafe { array(start, len, name) }? {
        // SAFETY: the caller's promise.
        let Closed { list, turn } = unsafe { list_of(handle, name) }?;
        if list.target() == target {
            ibs += list.submitted_ibs().len();
            lists.push(list);
        } else {
            has_others = true;
        }
        if IS_CHECKED {
            turns.push(turn);
        }
    }
    Ok((ibs, has_others))
}

/// Checks the streams for the start of further calls.
///
/// # Safety
///
/// The requirements of [`agw_queue_submit`].
#[inline(never)]
unsafe fn check_further(submission: &agw_submission) -> Answer {
    // SAFETY: the caller's promise.
    for &handle in unsafe { array(submission.further, submission.further_count, "further") }? {
        // SAFETY: the caller's promise.
        unsafe { list_of(handle, "further") }?;
    }
    Ok(())
}

/// Returns the number of IBs that the kernel accepts at once.
#[inline]
fn most_ibs(queue: &Queue) -> usize {
    // PANIC: the array has an entry for each IP.
    MAX_IBS_PER_CALL.min(index(queue.context().device().info().max_ibs[queue.ip().index()]))
}

/// Submits any kind of submission, and returns its sequence number.
///
/// # Safety
///
/// The requirements of [`agw_queue_submit`].
#[cold]
unsafe fn in_any_way(queue: &Queue, submission: &agw_submission) -> Answer<u64> {
    let mut named = Named::default();
    // SAFETY: the caller's promise.
    unsafe { named.look_up(submission) }?;
    // SAFETY: the caller's promise.
    let followers = unsafe { array(submission.followers, submission.follower_count, "followers") }?;
    // SAFETY: the caller's promise.
    let followers = followers.iter().map(|&follower| unsafe { self::queue(follower) }?.queue.packets());
    let followers: Few<_> = followers.collect::<Answer<_>>()?;
    Ok(submit(queue, &followers, &named)?.map_or(0, |fence| fence.sequence()))
}

/// Submits a resolved submission by as many calls as necessary. Returns `None` if there is nothing to do.
fn submit(queue: &Queue, followers: &[&Queue], named: &Named<'_>) -> Answer<Option<Fence>> {
    let whole = Submission {
        memory: &named.bos.as_slice(),
        sets: &named.sets,
        keep: named.options.keep,
        is_secure: named.options.is_secure,
        is_preemptible: named.options.is_preemptible,
        ..Submission::default()
    };
    let (waits, signals) = (&named.waits[..], &named.signals[..]);
    if named.streams.is_empty() {
        if waits.is_empty() && signals.is_empty() {
            return Ok(None);
        }
        let nothing = Submission { waits, signals, keep: named.options.keep, ..Submission::default() };
        return Ok(Some(queue.submit(&nothing)?));
    }
    if named.streams.iter().any(|list| list.target() != queue.target()) {
        return gang(queue, followers, named, &Submission { waits, signals, ..whole }).map(Some);
    }
    let most = most_ibs(queue);
    check_own(queue, named)?;
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
        let made = queue.submit(&call);
        fence = Some(made.map_err(|error| of_call(is_first, error.loss().is_some(), error.into()))?);
        streams = rest;
    }
    Ok(fence)
}

/// Checks before the first of several calls what the library would find only in a later one.
fn check_own(queue: &Queue, named: &Named<'_>) -> Answer {
    let device = queue.context().device();
    let mut lists = [&named.initial, &named.streams, &named.further, &named.last].into_iter().flatten();
    if !lists.all(|list| list.is_of(device)) {
        return Err(WinsysError::ForeignDevice { what: "command list" }.into());
    }
    check_signals(device, &named.signals)
}

/// Returns the lists for the ring of a queue.
fn own<'a>(queue: &Queue, lists: &'a [Closed<'_>]) -> impl Iterator<Item = &'a CommandList> + Clone {
    lists.iter().map(|list| &**list).filter(|list| list.target() == queue.target())
}

/// Returns the number of lists that fit into a call with room for `room` IBs, at least one. The library splits a list that is
/// too long.
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
    // A follower without a list would have no job.
    let working: Vec<_> = followers.iter().copied().filter(|follower| !share(follower).is_empty()).collect();
    let shares: Vec<_> = working.iter().map(|follower| share(follower)).collect();
    let shares: Vec<_> = shares.iter().map(Vec::as_slice).collect();
    let lists = share(queue);
    Ok(Gang::bare(queue, &working)?.submit(&shares, &Submission { lists: &lists, ..*submission })?)
}
