//! The conversion of submissions from C arrays.

use amdgpu_winsys::{
    cs::{Keep, Queue, SyncPoint},
    winsys::{Binding, Device, Error, ResidencySet},
};

use smallvec::SmallVec;

use super::{
    lists::{Closed, list_of},
    queue::{agw_queue, queue},
    stream::agw_stream,
};
use crate::{
    border::{AGW_ERROR_PARTLY_SUBMITTED, Answer, Failure, INLINE_CAPACITY, Versioned, array},
    objects::{agw_bo, agw_residents, agw_sync_point, bo_body, residents, sync},
};

/// The queue keeps streams, BOs and the members of sets alive until the submission has completed.
pub const AGW_SUBMIT_KEEP_EVERYTHING: u32 = 0;
/// The queue keeps only the lists of the streams alive.
pub const AGW_SUBMIT_KEEP_LISTS: u32 = 1;
/// The queue keeps nothing alive; the caller does, as Vulkan requires of applications.
pub const AGW_SUBMIT_KEEP_NOTHING: u32 = 2;

/// The submission accesses encrypted memory.
pub const AGW_SUBMIT_SECURE: u32 = 1 << 0;
/// The graphics ring may be preempted within the streams.
pub const AGW_SUBMIT_PREEMPTIBLE: u32 = 1 << 1;

/// A submission to a queue.
///
/// All streams must be finalized. A stream for another IP than the queue's is executed by the follower for that IP: a queue of
/// the same context that the kernel starts together with this one. The streams must make the queue wait for its followers.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_submission {
    /// `sizeof(struct agw_submission)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// Streams, in order. A submission without streams signals when all earlier submissions and its waits are done.
    pub streams: *const *const agw_stream,
    /// Streams of one IB each, executed at the start of the first call to the kernel. They must invalidate the caches. Without any,
    /// each call for a graphics or compute ring begins with an invalidation of all caches by the library.
    pub initial: *const *const agw_stream,
    /// Streams of one IB each, executed at the start of every further call.
    pub further: *const *const agw_stream,
    /// Streams of one IB each, executed at the end of every call.
    pub last: *const *const agw_stream,
    /// Queues that are started together with this one, each for another IP.
    pub followers: *const *const agw_queue,
    /// BOs that the streams use but do not contain.
    pub bos: *const *const agw_bo,
    /// Residency sets of such BOs.
    pub sets: *const *const agw_residents,
    /// Points of sync objects to wait for.
    pub waits: *const agw_sync_point,
    /// Points of sync objects to signal.
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
    /// Lifetime of the objects, one of `AGW_SUBMIT_KEEP_*`.
    pub keep: u32,
    /// Options, `AGW_SUBMIT_SECURE` and `AGW_SUBMIT_PREEMPTIBLE`.
    pub flags: u32,
    /// Reserved, zero.
    pub pad: u32,
}

// SAFETY: integers and raw pointers, and the first two are the size and zero.
unsafe impl Versioned for agw_submission {
    const NAME: &'static str = "struct agw_submission";

    #[inline]
    fn unused(&self) -> u32 {
        self.reserved | self.pad
    }
}

/// The items of a submission, on the stack if there are only a few.
pub(super) type InlineVec<T> = SmallVec<[T; INLINE_CAPACITY]>;

/// A submission with all its handles resolved. It is large, and therefore filled in place.
#[derive(Default)]
pub(super) struct Named<'a> {
    pub(super) streams: InlineVec<Closed<'a>>,
    pub(super) initial: InlineVec<Closed<'a>>,
    pub(super) further: InlineVec<Closed<'a>>,
    pub(super) last: InlineVec<Closed<'a>>,
    pub(super) followers: InlineVec<&'a Queue>,
    pub(super) bos: InlineVec<Binding>,
    pub(super) sets: InlineVec<&'a ResidencySet>,
    pub(super) waits: InlineVec<SyncPoint<'a>>,
    pub(super) signals: InlineVec<SyncPoint<'a>>,
    pub(super) options: Options,
}

/// The options of a submission.
#[derive(Clone, Copy, Default)]
pub(super) struct Options {
    pub(super) keep: Keep,
    pub(super) is_secure: bool,
    pub(super) is_preemptible: bool,
}

impl Options {
    /// Checks and converts the options of a submission.
    #[inline]
    pub(super) fn of(submission: &agw_submission) -> Answer<Self> {
        let keep = match submission.keep {
            AGW_SUBMIT_KEEP_EVERYTHING => Keep::Everything,
            AGW_SUBMIT_KEEP_LISTS => Keep::Lists,
            AGW_SUBMIT_KEEP_NOTHING => Keep::Nothing,
            _ => return Err(Failure::argument("keep", "is no AGW_SUBMIT_KEEP_*")),
        };
        if submission.flags & !(AGW_SUBMIT_SECURE | AGW_SUBMIT_PREEMPTIBLE) != 0 {
            return Err(Failure::argument("flags", "has unknown bits"));
        }
        Ok(Self {
            keep,
            is_secure: submission.flags & AGW_SUBMIT_SECURE != 0,
            is_preemptible: submission.flags & AGW_SUBMIT_PREEMPTIBLE != 0,
        })
    }
}

/// Resolves the streams of a submission.
///
/// # Safety
///
/// `start` is null or has `len` streams, each null, or neither destroyed nor changed for as long as `found` is used.
unsafe fn lists(found: &mut InlineVec<Closed<'_>>, start: *const *const agw_stream, len: u32, name: &str) -> Answer {
    // SAFETY: the caller's promise.
    for &handle in unsafe { array(start, len, name) }? {
        // SAFETY: the caller's promise.
        found.push(unsafe { list_of(handle, name) }?);
    }
    Ok(())
}

/// Resolves the BOs of a submission.
///
/// # Safety
///
/// `start` is null or has `len` BOs, each null or not freed.
pub(super) unsafe fn bindings(found: &mut InlineVec<Binding>, start: *const *const agw_bo, len: u32) -> Answer {
    // SAFETY: the caller's promise.
    for &bo in unsafe { array(start, len, "bos") }? {
        // SAFETY: the caller's promise.
        found.push(unsafe { bo_body(bo) }?.binding.clone());
    }
    Ok(())
}

/// Resolves the sets of a submission.
///
/// # Safety
///
/// `start` is null or has `len` sets, each null or not freed for as long as `found` is used.
#[inline]
pub(super) unsafe fn sets(
    found: &mut InlineVec<&ResidencySet>,
    start: *const *const agw_residents,
    len: u32,
) -> Answer {
    // SAFETY: the caller's promise.
    for &set in unsafe { array(start, len, "sets") }? {
        // SAFETY: the caller's promise.
        found.push(&unsafe { residents(set) }?.set);
    }
    Ok(())
}

/// Resolves the points of a submission.
///
/// # Safety
///
/// `start` is null or has `len` points, whose sync objects are null or not freed for as long as `found` is used.
#[inline(never)]
pub(super) unsafe fn points(
    found: &mut InlineVec<SyncPoint<'_>>,
    start: *const agw_sync_point,
    len: u32,
    name: &str,
) -> Answer {
    // SAFETY: the caller's promise.
    for point in unsafe { array(start, len, name) }? {
        // SAFETY: the caller's promise.
        let syncobj = unsafe { sync(point.sync) }?.syncobj();
        found.push(SyncPoint { syncobj, point: point.point });
    }
    Ok(())
}

impl Named<'_> {
    /// Resolves all handles of a submission.
    ///
    /// # Safety
    ///
    /// The arrays have the lengths that the submission states, and their objects are not freed while `self` is used.
    pub(super) unsafe fn look_up(&mut self, submission: &agw_submission) -> Answer {
        // SAFETY: the caller's promise.
        unsafe { lists(&mut self.streams, submission.streams, submission.stream_count, "streams") }?;
        // SAFETY: the caller's promise.
        unsafe { lists(&mut self.initial, submission.initial, submission.initial_count, "initial") }?;
        // SAFETY: the caller's promise.
        unsafe { lists(&mut self.further, submission.further, submission.further_count, "further") }?;
        // SAFETY: the caller's promise.
        unsafe { lists(&mut self.last, submission.last, submission.last_count, "last") }?;
        // SAFETY: the caller's promise.
        for &follower in unsafe { array(submission.followers, submission.follower_count, "followers") }? {
            // SAFETY: the caller's promise.
            self.followers.push(unsafe { queue(follower) }?.queue.packets()?);
        }
        // SAFETY: the caller's promise.
        unsafe { bindings(&mut self.bos, submission.bos, submission.bo_count) }?;
        // SAFETY: the caller's promise.
        unsafe { sets(&mut self.sets, submission.sets, submission.set_count) }?;
        // SAFETY: the caller's promise.
        unsafe { points(&mut self.waits, submission.waits, submission.wait_count, "waits") }?;
        // SAFETY: the caller's promise.
        unsafe { points(&mut self.signals, submission.signals, submission.signal_count, "signals") }?;
        self.options = Options::of(submission)?;
        Ok(())
    }
}

/// Checks before the first of several calls that the signals, which the last call gets, are of the device.
pub(super) fn check_signals(device: &Device, signals: &[SyncPoint<'_>]) -> Answer {
    if signals.iter().any(|point| point.syncobj.device() != device) {
        return Err(Error::ForeignDevice { what: "sync object" }.into());
    }
    Ok(())
}

/// Returns the failure of a call that is one of several: after the first call something was submitted, which a lost device makes
/// irrelevant.
pub(super) fn of_call(is_first: bool, is_lost: bool, failure: Failure) -> Failure {
    if is_first || is_lost { failure } else { failure.with_code(AGW_ERROR_PARTLY_SUBMITTED) }
}
