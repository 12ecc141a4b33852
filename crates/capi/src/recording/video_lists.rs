//! Submission of streams to rings of video engines.

use amdgpu_hw::num::index;
use amdgpu_winsys::{
    cs::{SyncPoint, VideoIb, VideoList, VideoQueue, VideoSubmission},
    winsys::{Binding, Error, Resident},
};

use super::{
    lists::{Closed, any_list_of},
    open::List,
    submission::{InlineVec, Options, agw_submission, bindings, check_signals, of_call, points, sets},
    video_submission::Memory,
};
use crate::border::{Answer, Failure, array};

/// The memory of a call: that of the submission, and that which the lists name.
struct All<'a>(&'a Memory, &'a [&'a VideoList]);

impl Resident for All<'_> {
    fn each_binding(&self, each: &mut dyn FnMut(&Binding)) {
        self.0.each_binding(each);
        self.1.each_binding(each);
    }

    fn binding_count(&self) -> usize {
        self.0.binding_count() + self.1.binding_count()
    }
}

/// Submits streams to a video ring by as many calls as necessary, of which the first waits and the last signals. Streams without
/// an IB are left out. Returns the sequence number of the last submission of the queue.
///
/// # Safety
///
/// The requirements of `agw_queue_submit`.
pub(super) unsafe fn submit(queue: &VideoQueue, submission: &agw_submission) -> Answer<u64> {
    let Options { keep, is_secure, is_preemptible } = Options::of(submission)?;
    if is_secure || is_preemptible {
        return Err(Failure::argument("flags", "are not for rings of video engines"));
    }
    let &agw_submission { initial_count, further_count, last_count, follower_count, .. } = submission;
    if initial_count | further_count | last_count | follower_count != 0 {
        return Err(Failure::argument("submission", "has preambles or followers, but a video engine has none"));
    }
    // SAFETY: the caller's promise.
    let streams = unsafe { array(submission.streams, submission.stream_count, "streams") }?;
    // SAFETY: the caller's promise.
    let closed = streams.iter().map(|&stream| unsafe { any_list_of(stream, "streams") });
    let closed: InlineVec<Closed<'_, List>> = closed.collect::<Answer<_>>()?;
    let lists: InlineVec<&VideoList> = closed.iter().map(|list| of_engine(list.list, queue)).collect::<Answer<_>>()?;
    let (mut bos, mut named_sets, mut waits, mut signals) =
        (InlineVec::new(), InlineVec::new(), InlineVec::new(), InlineVec::new());
    // SAFETY: the caller's promise.
    unsafe { bindings(&mut bos, submission.bos, submission.bo_count) }?;
    // SAFETY: the caller's promise.
    unsafe { sets(&mut named_sets, submission.sets, submission.set_count) }?;
    // SAFETY: the caller's promise.
    unsafe { points(&mut waits, submission.waits, submission.wait_count, "waits") }?;
    // SAFETY: the caller's promise.
    unsafe { points(&mut signals, submission.signals, submission.signal_count, "signals") }?;
    let memory = Memory { bos, sets: named_sets.iter().map(|set| set.snapshot()).collect() };

    let (lists, ibs): (InlineVec<&VideoList>, InlineVec<VideoIb<'_>>) =
        lists.into_iter().filter_map(|list| Some((list, list.ib()?))).unzip();
    if ibs.is_empty() {
        return Ok(queue.signal(&waits, &signals)?);
    }
    // PANIC: the array has an entry for each IP.
    let most = index(queue.context().device().info().max_ibs[queue.ip().index()]).max(1);
    let last = ibs.chunks(most).len() - 1;
    if last > 0 {
        check_own(queue, &All(&memory, &lists), &signals)?;
    }
    let mut sequence = 0;
    for (number, (ibs, lists)) in ibs.chunks(most).zip(lists.chunks(most)).enumerate() {
        let call = VideoSubmission {
            ibs,
            memory: &All(&memory, lists),
            waits: if number == 0 { &waits } else { &[] },
            signals: if number == last { &signals } else { &[] },
            keep,
            ..VideoSubmission::default()
        };
        let made = queue.submit(&call);
        let fence = made.map_err(|error| of_call(number == 0, error.loss().is_some(), error.into()))?;
        sequence = fence.sequence();
    }
    Ok(sequence)
}

/// Returns a failure if memory or a signal is of another device, which a later call would only find after earlier ones.
fn check_own(queue: &VideoQueue, memory: &All<'_>, signals: &[SyncPoint<'_>]) -> Answer {
    let device = queue.context().device();
    let mut all_own = true;
    memory.each_binding(&mut |binding| all_own &= binding.device() == device);
    if !all_own {
        return Err(Error::ForeignDevice { what: "memory" }.into());
    }
    check_signals(device, signals)
}

/// Returns the list if it was recorded for the device and the engine of the queue.
fn of_engine<'a>(list: &'a List, queue: &VideoQueue) -> Answer<&'a VideoList> {
    match list {
        List::Video(list) if list.device() != queue.context().device() => {
            Err(Error::ForeignDevice { what: "command list" }.into())
        }
        List::Video(list) if list.ip() == queue.ip() => Ok(list),
        List::Video(list) => {
            let text = format!("commands for {} cannot be submitted to {}", list.ip(), queue.ip());
            Err(Failure::argument("streams", &text))
        }
        List::Packets(list) => {
            let text = format!("commands for {} cannot be submitted to {}", list.target(), queue.ip());
            Err(Failure::argument("streams", &text))
        }
    }
}
