//! Submissions: from C's arrays to the library's.

use amdgpu_winsys::{
    cs::{Keep, SyncPoint},
    winsys::{Binding, ResidencySet},
};

use smallvec::SmallVec;

use super::{
    lists::{Closed, closed},
    queue::agw_queue,
    stream::{agw_stream, stream},
};
use crate::{
    border::{Answer, FEW, Failure, Versioned, array},
    objects::{agw_bo, agw_residents, agw_sync_point, bo_body, residents, sync},
};

/// The queue keeps streams, BOs and the members of sets alive until the submission has ended.
pub const AGW_SUBMIT_KEEP_EVERYTHING: u32 = 0;
/// The queue keeps the streams' lists.
pub const AGW_SUBMIT_KEEP_LISTS: u32 = 1;
/// The queue keeps nothing: the caller's own rules keep all of it, as Vulkan's do.
pub const AGW_SUBMIT_KEEP_NOTHING: u32 = 2;

/// The streams read and write encrypted memory.
pub const AGW_SUBMIT_SECURE: u32 = 1 << 0;
/// The graphics ring may be preempted inside the streams.
pub const AGW_SUBMIT_PREEMPTIBLE: u32 = 1 << 1;

/// A submission.
///
/// All streams are finalized. Those for another IP than the queue's belong to the follower for that IP: queues of the same context
/// that the kernel starts together with this one. The streams themselves then make the queue wait for its followers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_submission {
    /// `sizeof(struct agw_submission)`.
    pub struct_size: u32,
    /// Zero.
    pub reserved: u32,
    /// Streams, in order. None at all signal when everything submitted before and the waits are done.
    pub streams: *const *const agw_stream,
    /// Streams of one IB each that go before the first call of the kernel.
    pub initial: *const *const agw_stream,
    /// Streams of one IB each that go before every further call.
    pub further: *const *const agw_stream,
    /// Streams of one IB each that go behind every call.
    pub last: *const *const agw_stream,
    /// Queues that are started together with this one, each for another IP.
    pub followers: *const *const agw_queue,
    /// BOs that the streams use and do not name.
    pub bos: *const *const agw_bo,
    /// Sets of such BOs.
    pub sets: *const *const agw_residents,
    /// Points to wait for.
    pub waits: *const agw_sync_point,
    /// Points to signal.
    pub signals: *const agw_sync_point,
    /// Length of `streams`.
    pub stream_count: u32,
    /// Length of `initial`.
    pub initial_count: u32,
    /// Length of `further`.
    pub further_count: u32,
    /// Length of `last`.
    pub last_count: u32,
    /// Length of `followers`.
    pub follower_count: u32,
    /// Length of `bos`.
    pub bo_count: u32,
    /// Length of `sets`.
    pub set_count: u32,
    /// Length of `waits`.
    pub wait_count: u32,
    /// Length of `signals`.
    pub signal_count: u32,
    /// `AGW_SUBMIT_KEEP_*`.
    pub keep: u32,
    /// `AGW_SUBMIT_SECURE` and `AGW_SUBMIT_PREEMPTIBLE`.
    pub flags: u32,
    /// Zero.
    pub pad: u32,
}

// SAFETY: integers and raw pointers, and the first two are the size and zero.
unsafe impl Versioned for agw_submission {
    const NAME: &'static str = "struct agw_submission";
}

/// Items of a submission; a short list of them is on the stack.
pub(super) type Few<T> = SmallVec<[T; FEW]>;

/// A submission with everything that it names looked up.
pub(super) struct Named<'a> {
    pub(super) streams: Few<Closed<'a>>,
    pub(super) initial: Few<Closed<'a>>,
    pub(super) further: Few<Closed<'a>>,
    pub(super) last: Few<Closed<'a>>,
    pub(super) bos: Few<Binding>,
    pub(super) sets: Few<&'a ResidencySet>,
    pub(super) waits: Few<SyncPoint<'a>>,
    pub(super) signals: Few<SyncPoint<'a>>,
    pub(super) keep: Keep,
    pub(super) is_secure: bool,
    pub(super) is_preemptible: bool,
}

/// Looks up the BOs of a submission.
///
/// # Safety
///
/// `start` is null or has `len` BOs, each null or not freed.
pub(super) unsafe fn bindings(start: *const *const agw_bo, len: u32) -> Answer<Few<Binding>> {
    // SAFETY: the caller's promise.
    let bos = unsafe { array(start, len, "bos") }?;
    // SAFETY: the caller's promise.
    bos.iter().map(|&bo| Ok(unsafe { bo_body(bo) }?.binding.clone())).collect()
}

/// Looks up the sets of a submission.
///
/// # Safety
///
/// `start` is null or has `len` sets, each null or not freed for as long as the result is used.
pub(super) unsafe fn sets<'a>(start: *const *const agw_residents, len: u32) -> Answer<Few<&'a ResidencySet>> {
    // SAFETY: the caller's promise.
    let sets = unsafe { array(start, len, "sets") }?;
    // SAFETY: the caller's promise.
    sets.iter().map(|&set| Ok(&unsafe { residents(set) }?.set)).collect()
}

/// Looks up the points of a submission.
///
/// # Safety
///
/// `start` is null or has `len` points, whose sync objects are null or not freed for as long as the result is used.
pub(super) unsafe fn points<'a>(start: *const agw_sync_point, len: u32, name: &str) -> Answer<Few<SyncPoint<'a>>> {
    // SAFETY: the caller's promise.
    let points = unsafe { array(start, len, name) }?;
    let look_up = |point: &agw_sync_point| {
        // SAFETY: the caller's promise.
        let syncobj = unsafe { sync(point.sync) }?.syncobj();
        Ok(SyncPoint { syncobj, point: point.point })
    };
    points.iter().map(look_up).collect()
}

/// Looks up everything that a submission names.
///
/// # Safety
///
/// The arrays have the lengths that the submission says, and what they hold was not freed.
pub(super) unsafe fn named<'a>(submission: &agw_submission) -> Answer<Named<'a>> {
    let lists = |start: *const *const agw_stream, len: u32, name: &str| -> Answer<Few<Closed<'a>>> {
        // SAFETY: the caller's promise.
        let streams = unsafe { array(start, len, name) }?;
        // SAFETY: the caller's promise.
        streams.iter().map(|&handle| closed(unsafe { stream(handle, name) }?.body(), name)).collect()
    };
    let streams = lists(submission.streams, submission.stream_count, "streams")?;
    let initial = lists(submission.initial, submission.initial_count, "initial")?;
    let further = lists(submission.further, submission.further_count, "further")?;
    let last = lists(submission.last, submission.last_count, "last")?;
    // SAFETY: the caller's promise.
    let bos = unsafe { bindings(submission.bos, submission.bo_count) }?;
    // SAFETY: the caller's promise.
    let sets = unsafe { sets(submission.sets, submission.set_count) }?;
    // SAFETY: the caller's promise.
    let waits = unsafe { points(submission.waits, submission.wait_count, "waits") }?;
    // SAFETY: the caller's promise.
    let signals = unsafe { points(submission.signals, submission.signal_count, "signals") }?;
    let keep = match submission.keep {
        AGW_SUBMIT_KEEP_EVERYTHING => Keep::Everything,
        AGW_SUBMIT_KEEP_LISTS => Keep::Lists,
        AGW_SUBMIT_KEEP_NOTHING => Keep::Nothing,
        _ => return Err(Failure::argument("keep", "is no AGW_SUBMIT_KEEP_*")),
    };
    if submission.flags & !(AGW_SUBMIT_SECURE | AGW_SUBMIT_PREEMPTIBLE) != 0 {
        return Err(Failure::argument("flags", "has unknown bits"));
    }
    Ok(Named {
        streams,
        initial,
        further,
        last,
        bos,
        sets,
        waits,
        signals,
        keep,
        is_secure: submission.flags & AGW_SUBMIT_SECURE != 0,
        is_preemptible: submission.flags & AGW_SUBMIT_PREEMPTIBLE != 0,
    })
}
