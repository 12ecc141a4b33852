//! Submission to queues.

use amdgpu_hw::num::index;
use amdgpu_winsys::{
    cs::{CommandList, Fence, Gang, MAX_IBS_PER_CALL, Preambles, Queue, Submission, SubmitError},
    winsys::Error as WinsysError,
};

use super::{
    lists::Closed,
    queue::{AnyQueue, agw_queue, queue},
    submission::{InlineVec, Named, agw_submission, check_signals, of_call},
    video_lists,
};
use crate::border::{Answer, entry, put_unless_null, view};

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
        let number = match &body.queue {
            AnyQueue::Packets(queue) => {
                let mut named = Named::default();
                // SAFETY: the caller's promise.
                unsafe { named.look_up(submission) }?;
                submit(queue, &named)?
            }
            // SAFETY: the caller's promise.
            AnyQueue::Video(queue) => unsafe { video_lists::submit(queue, submission) }?,
            // SAFETY: the caller's promise.
            AnyQueue::User(queue) => unsafe { queue.submit(submission) }?,
        };
        // SAFETY: the caller's promise.
        unsafe { put_unless_null(sequence, number) };
        Ok(())
    })
}

/// Submits a resolved submission by as many calls as necessary, usually one. Returns the sequence number of the last one, or 0 if
/// there is nothing to do.
fn submit(queue: &Queue, named: &Named<'_>) -> Answer<u64> {
    let Named { streams, waits, signals, options, .. } = named;
    if streams.is_empty() && waits.is_empty() && signals.is_empty() {
        return Ok(0);
    }
    let nothing = Submission { waits, signals, keep: options.keep, ..Submission::default() };
    if streams.is_empty() {
        return Ok(queue.submit(&nothing)?.sequence());
    }
    // Streams that come with preambles of their own need none of the queue.
    let preambles = if named.initial.is_empty() { None } else { Some(&const { Preambles::new() }) };
    let whole = Submission {
        preambles,
        memory: &named.bos.as_slice(),
        sets: &named.sets,
        is_secure: options.is_secure,
        is_preemptible: options.is_preemptible,
        ..nothing
    };
    if streams.iter().any(|list| list.target() != queue.target()) {
        return Ok(gang(queue, named, &whole)?.sequence());
    }
    let (mut sequence, mut streams) = (0, &streams[..]);
    while !streams.is_empty() {
        let is_first = sequence == 0;
        let (before, after) = (if is_first { &named.initial } else { &named.further }, &named.last);
        let mut lists: InlineVec<&CommandList> = own(queue, before).collect();
        let around = lists.iter().copied().chain(own(queue, after)).map(|list| list.submitted_ibs().len()).sum();
        let taken = fitting(streams, most_ibs(queue).saturating_sub(around));
        let (these, rest) = streams.split_at(taken);
        if is_first && !rest.is_empty() {
            check_own(queue, named)?;
        }
        lists.extend(these.iter().map(|list| list.list).chain(own(queue, after)));
        let call = Submission {
            lists: &lists,
            waits: if is_first { waits } else { &[] },
            signals: if rest.is_empty() { signals } else { &[] },
            ..whole
        };
        let made = queue.submit(&call).map_err(|error| of_call(is_first, error.loss().is_some(), error.into()))?;
        (sequence, streams) = (made.sequence(), rest);
    }
    Ok(sequence)
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

/// Returns the lists for the ring of a queue; others are for other rings of a gang.
fn own<'a>(queue: &Queue, lists: &'a [Closed<'_>]) -> impl Iterator<Item = &'a CommandList> {
    lists.iter().map(|list| &**list).filter(|list| list.target() == queue.target())
}

/// Returns the number of IBs that the kernel accepts at once.
fn most_ibs(queue: &Queue) -> usize {
    // PANIC: the array has an entry for each IP.
    MAX_IBS_PER_CALL.min(index(queue.context().device().info().max_ibs[queue.ip().index()]))
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
fn gang(queue: &Queue, named: &Named<'_>, submission: &Submission<'_>) -> Answer<Fence> {
    let followers = &named.followers;
    let all = || named.initial.iter().chain(&named.streams).chain(&named.last).map(|list| &**list);
    let stranger = |list: &CommandList| {
        list.target() != queue.target() && !followers.iter().any(|follower| follower.target() == list.target())
    };
    if let Some(list) = named.streams.iter().find(|list| stranger(list)) {
        let error = SubmitError::WrongQueue { recorded: list.target(), queue: queue.target() };
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
