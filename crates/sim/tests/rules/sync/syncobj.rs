//! R30 to R43: sync objects.

use std::{thread, time::Duration};

use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::{
    Argument, QUERY_LAST_SUBMITTED, Request, SYNC_FILE, SYNCOBJ_FD_TO_HANDLE, SYNCOBJ_SIGNAL, SYNCOBJ_TIMELINE_SIGNAL,
    SyncobjArray, SyncobjCreate, SyncobjDestroy, SyncobjHandle, SyncobjTimelineArray, SyncobjTimelineWait,
    SyncobjTransfer, SyncobjWait, SyncobjWaitFlags,
};

use crate::support::{File, address, address_mut, after, card, file, open};

const ALL: u32 = SyncobjWaitFlags::WAIT_ALL.bits();
const FOR_SUBMIT: u32 = SyncobjWaitFlags::WAIT_FOR_SUBMIT.bits();
const AVAILABLE: u32 = SyncobjWaitFlags::WAIT_AVAILABLE.bits();
const NO_SUCH: u32 = 4711;

impl File {
    fn array(&self, request: Request, handles: &[u32]) -> Result<(), Errno> {
        let count_handles = handles.len() as u32;
        self.send_as(request, &mut SyncobjArray { handles: address(handles), count_handles, pad: 0 })
    }

    fn timeline(&self, request: Request, handles: &[u32], points: &mut [u64], flags: u32) -> Result<(), Errno> {
        let (count_handles, points) = (handles.len() as u32, address_mut(points));
        self.send_as(request, &mut SyncobjTimelineArray { handles: address(handles), points, count_handles, flags })
    }

    fn wait(&self, handles: &[u32], timeout_nsec: i64, flags: u32) -> Result<u32, Errno> {
        let (handles, count_handles) = (address(handles), handles.len() as u32);
        let mut request = SyncobjWait { handles, timeout_nsec, count_handles, flags, ..SyncobjWait::ZEROED };
        self.send(&mut request).map(|()| request.first_signaled)
    }

    fn wait_point(&self, handle: u32, point: u64, timeout_nsec: i64, flags: u32) -> Result<(), Errno> {
        let (handles, points) = ([handle], [point]);
        let (handles, points) = (address(&handles), address(&points));
        let request = SyncobjTimelineWait {
            handles,
            points,
            timeout_nsec,
            count_handles: 1,
            flags,
            ..SyncobjTimelineWait::ZEROED
        };
        self.send(&mut { request })
    }

    fn transfer(&self, src: (u32, u64), dst: (u32, u64), flags: u32) -> Result<(), Errno> {
        let ((src_handle, src_point), (dst_handle, dst_point)) = (src, dst);
        self.send(&mut SyncobjTransfer { src_handle, dst_handle, src_point, dst_point, flags, pad: 0 })
    }

    fn signal(&self, handle: u32) {
        self.array(SYNCOBJ_SIGNAL, &[handle]).unwrap();
    }
}

// Checks R30.
#[test]
fn unknown_handles() {
    let file = file();
    let known = file.syncobj(true);
    let handle = |flags| SyncobjHandle { handle: NO_SUCH, flags, fd: -1, pad: 0 };
    assert_eq!(file.send(&mut SyncobjDestroy { handle: NO_SUCH, pad: 0 }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut handle(0)), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut handle(SYNC_FILE)), Err(Errno::ENOENT));
    let handles = [known, NO_SUCH];
    for request in [SyncobjArray::REQUEST, SYNCOBJ_SIGNAL] {
        assert_eq!(file.array(request, &handles), Err(Errno::ENOENT), "{request:?}");
    }
    for request in [SyncobjTimelineArray::REQUEST, SYNCOBJ_TIMELINE_SIGNAL] {
        assert_eq!(file.timeline(request, &handles, &mut [1, 1], 0), Err(Errno::ENOENT), "{request:?}");
    }
    assert_eq!(file.wait(&handles, 0, 0), Err(Errno::ENOENT));
    assert_eq!(file.wait_point(NO_SUCH, 0, 0, 0), Err(Errno::ENOENT));
    assert_eq!(file.transfer((known, 0), (NO_SUCH, 0), 0), Err(Errno::ENOENT));
    assert_eq!(file.transfer((NO_SUCH, 0), (known, 0), 0), Err(Errno::ENOENT));
    assert_eq!(file.wait(&[known], 0, ALL), Ok(0), "nothing was changed");
}

// Checks R30.
#[test]
fn wrong_flags_and_padding() {
    let file = file();
    let one = file.syncobj(true);
    assert_eq!(file.send(&mut SyncobjCreate { handle: 0, flags: 2 }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut SyncobjDestroy { handle: one, pad: 1 }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut SyncobjHandle { handle: one, flags: 0, fd: -1, pad: 1 }), Err(Errno::EINVAL));
    let handles = [one];
    let padded = SyncobjArray { handles: address(&handles), count_handles: 1, pad: 1 };
    assert_eq!(file.send(&mut { padded }), Err(Errno::EINVAL));
    assert_eq!(file.send_as(SYNCOBJ_SIGNAL, &mut { padded }), Err(Errno::EINVAL));
    assert_eq!(file.timeline(SyncobjTimelineArray::REQUEST, &handles, &mut [0], 2), Err(Errno::EINVAL));
    assert_eq!(file.timeline(SYNCOBJ_TIMELINE_SIGNAL, &handles, &mut [0], 1), Err(Errno::EINVAL));
    assert_eq!(file.transfer((one, 0), (one, 0), ALL), Err(Errno::EINVAL));
    assert_eq!(file.transfer((one, 0), (NO_SUCH, 0), ALL), Err(Errno::ENOENT), "the destination comes first");
    assert_eq!(file.wait(&handles, 0, 16), Err(Errno::EINVAL));
}

// Checks R31.
#[test]
fn no_handles_at_all() {
    let file = file();
    assert_eq!(file.wait(&[], 0, 0), Ok(0));
    for request in [SyncobjArray::REQUEST, SYNCOBJ_SIGNAL] {
        assert_eq!(file.array(request, &[]), Err(Errno::EINVAL));
    }
    for request in [SyncobjTimelineArray::REQUEST, SYNCOBJ_TIMELINE_SIGNAL] {
        assert_eq!(file.timeline(request, &[], &mut [], 0), Err(Errno::EINVAL));
    }
    let null = SyncobjArray { handles: 0, count_handles: 1, pad: 0 };
    assert_eq!(file.send(&mut { null }), Err(Errno::EFAULT));
}

// Checks R32.
#[test]
fn an_empty_one_is_einval_at_once_beside_a_signalled_one_too() {
    let file = file();
    let (empty, signalled) = (file.syncobj(false), file.syncobj(true));
    assert_eq!(file.wait(&[empty], i64::MAX, 0), Err(Errno::EINVAL));
    assert_eq!(file.wait(&[signalled, empty], i64::MAX, 0), Err(Errno::EINVAL));
    assert_eq!(file.wait_point(empty, 1, i64::MAX, 0), Err(Errno::EINVAL));
}

// Checks R33.
#[test]
fn waiting_for_submission_polls_and_is_woken() {
    let file = file();
    let empty = file.syncobj(false);
    assert_eq!(file.wait(&[empty], 0, FOR_SUBMIT), Err(Errno::ETIME));
    assert_eq!(file.wait(&[empty], after(Duration::from_millis(5)).cast_signed(), FOR_SUBMIT), Err(Errno::ETIME));
    thread::scope(|scope| {
        let waiter = scope.spawn(|| file.wait(&[empty], i64::MAX, FOR_SUBMIT));
        thread::sleep(Duration::from_millis(5));
        file.signal(empty);
        assert_eq!(waiter.join().unwrap(), Ok(0));
    });
}

// Checks R34.
#[test]
fn a_new_signalled_one_is_signalled() {
    let file = file();
    assert_eq!(file.wait(&[file.syncobj(true)], 0, ALL), Ok(0));
}

// Checks R35.
#[test]
fn waiting_for_any_tells_which() {
    let file = file();
    let handles = [file.syncobj(false), file.syncobj(true), file.syncobj(false)];
    assert_eq!(file.wait(&handles, 0, FOR_SUBMIT), Ok(1));
    assert_eq!(file.wait(&handles, 0, FOR_SUBMIT | ALL), Err(Errno::ETIME));
    assert_eq!(file.wait(&[handles[1], handles[1]], 0, ALL), Ok(0), "duplicates are fine");
}

// Checks R36.
#[test]
fn waiting_until_available_is_the_timelines() {
    let file = file();
    let (binary, timeline) = (file.syncobj(true), file.syncobj(false));
    assert_eq!(file.wait(&[binary], 0, AVAILABLE), Err(Errno::EINVAL));
    assert_eq!(file.wait_point(timeline, 3, 0, AVAILABLE), Err(Errno::ETIME));
    thread::scope(|scope| {
        let waiter = scope.spawn(|| file.wait_point(timeline, 3, i64::MAX, AVAILABLE));
        thread::sleep(Duration::from_millis(5));
        file.signal_point(timeline, 3);
        assert_eq!(waiter.join().unwrap(), Ok(()));
    });
}

// Checks R37.
#[test]
fn a_negative_timeout_polls() {
    let file = file();
    let empty = file.syncobj(false);
    for timeout in [-1, i64::MIN, 0, 1] {
        assert_eq!(file.wait(&[empty], timeout, FOR_SUBMIT), Err(Errno::ETIME));
    }
}

// Checks R39.
#[test]
fn a_later_point_satisfies_a_wait_for_an_earlier_one() {
    let file = file();
    let timeline = file.syncobj(false);
    file.signal_point(timeline, 10);
    assert_eq!(file.wait_point(timeline, 5, 0, 0), Ok(()));
    assert_eq!(file.wait_point(timeline, 11, 0, 0), Err(Errno::EINVAL));
    assert_eq!(file.wait_point(timeline, 11, 0, FOR_SUBMIT), Err(Errno::ETIME));
    assert_eq!(file.query_syncobj(timeline, 0), 10);
}

// Checks R40.
#[test]
fn query_tells_what_was_reached() {
    let file = file();
    let (empty, binary, timeline) = (file.syncobj(false), file.syncobj(true), file.syncobj(false));
    file.signal_point(timeline, 7);
    let handles = [empty, binary, timeline];
    for flags in [0, QUERY_LAST_SUBMITTED] {
        let mut points = [99; 3];
        file.timeline(SyncobjTimelineArray::REQUEST, &handles, &mut points, flags).unwrap();
        assert_eq!(points, [0, 0, 7]);
    }
    file.signal(timeline);
    assert_eq!(file.query_syncobj(timeline, 0), 0, "SIGNAL forgets the timeline");
    file.array(SyncobjArray::REQUEST, &[timeline]).unwrap();
    assert_eq!(file.wait(&[timeline], 0, 0), Err(Errno::EINVAL), "RESET empties");
}

// Checks R41 and R42.
#[test]
fn a_point_goes_round_through_binary_ones() {
    let file = file();
    let (timeline, one, two) = (file.syncobj(false), file.syncobj(false), file.syncobj(false));
    file.signal_point(timeline, 16);
    assert_eq!(file.transfer((timeline, 17), (one, 0), 0), Err(Errno::EINVAL));
    file.transfer((timeline, 16), (one, 0), 0).unwrap();
    // Where a client exports and imports a sync file, which is not simulated, the fence goes by TRANSFER.
    file.transfer((one, 0), (two, 0), 0).unwrap();
    file.transfer((two, 0), (timeline, 18), 0).unwrap();
    assert_eq!(file.query_syncobj(timeline, 0), 18);
    file.signal_point(timeline, 20);
    assert_eq!(file.query_syncobj(timeline, 0), 20);
}

// Checks R43 and R47.
#[test]
fn a_descriptor_shares_the_object_both_ways_and_keeps_it() {
    let device = card();
    let (one, other) = (open(&device), open(&device));
    let syncobj = one.syncobj(false);
    let mut export = SyncobjHandle { handle: syncobj, flags: 0, fd: -1, pad: 0 };
    one.send(&mut export).unwrap();
    let import = |file: &File| {
        let mut request = SyncobjHandle { fd: export.fd, ..SyncobjHandle::ZEROED };
        file.send_as(SYNCOBJ_FD_TO_HANDLE, &mut request).map(|()| request.handle)
    };
    assert_eq!((import(&other), import(&other)), (Ok(1), Ok(2)));
    assert_eq!(import(&one), Ok(syncobj + 1));
    other.signal(2);
    assert_eq!(one.wait(&[syncobj], 0, 0), Ok(0));
    one.array(SyncobjArray::REQUEST, &[syncobj]).unwrap();
    assert_eq!(other.wait(&[1], 0, 0), Err(Errno::EINVAL));
    // R47: the descriptor keeps it alive.
    other.signal(1);
    drop(one);
    for handle in [1, 2] {
        other.send(&mut SyncobjDestroy { handle, pad: 0 }).unwrap();
    }
    let again = import(&other).unwrap();
    assert_eq!(other.wait(&[again], 0, 0), Ok(0));
    nix::unistd::close(export.fd).unwrap();
    assert_eq!(import(&other), Err(Errno::EINVAL), "a closed descriptor");
}

// Checks R45.
#[test]
fn flags_of_later_kernels_are_einval() {
    let file = file();
    let handle = file.syncobj(true);
    for flags in [2, 3] {
        let request = SyncobjHandle { handle, flags, fd: 0, pad: 0 };
        assert_eq!(file.send(&mut { request }), Err(Errno::EINVAL));
        assert_eq!(file.send_as(SYNCOBJ_FD_TO_HANDLE, &mut { request }), Err(Errno::EINVAL));
    }
}

// Checks R203.
/// A point that is not above the newest does not move the timeline back: the newest keeps its number, and covers the new fence too.
/// TIMELINE_SIGNAL has no point that replaces the timeline, not even 0, which an address 0 of the points stands for.
#[test]
fn a_point_that_is_not_above_the_newest_leaves_query_at_the_newest() {
    let file = file();
    for late in [0, 1, 4, 7] {
        let (timeline, other) = (file.syncobj(false), file.syncobj(true));
        let both = || [0, QUERY_LAST_SUBMITTED].map(|flags| file.query_syncobj(timeline, flags));
        file.signal_point(timeline, 7);
        file.signal_point(timeline, late);
        assert_eq!(both(), [7, 7], "signalled at {late}");
        let handles = [timeline];
        let (handles, count_handles) = (address(&handles), 1);
        let mut request = SyncobjTimelineArray { handles, points: 0, count_handles, flags: 0 };
        file.send_as(SYNCOBJ_TIMELINE_SIGNAL, &mut request).unwrap();
        assert_eq!(both(), [7, 7], "signalled without points");
        file.transfer((other, 0), (timeline, late), 0).unwrap();
        // A transfer to point 0 replaces everything.
        let newest = if late == 0 { 0 } else { 7 };
        assert_eq!(both(), [newest; 2], "transferred to {late}");
        assert_eq!(file.wait_point(timeline, newest, 0, 0), Ok(()));
        assert_eq!(file.wait_point(timeline, newest + 1, 0, 0), Err(Errno::EINVAL));
        file.signal_point(timeline, 8);
        assert_eq!(both(), [8, 8], "later points go on as before");
    }
    let empty = file.syncobj(false);
    file.signal_point(empty, 0);
    assert_eq!((file.query_syncobj(empty, 0), file.wait(&[empty], 0, 0)), (0, Ok(0)), "a timeline that is at 0");
}

#[test]
fn a_long_timeline_is_neither_deep_nor_heavy() {
    let file = file();
    let (pending, timeline) = (file.syncobj(false), file.syncobj(false));
    for point in 1..=100_000 {
        file.signal_point(timeline, point);
    }
    assert_eq!(file.query_syncobj(timeline, 0), 100_000);
    assert_eq!(file.wait_point(timeline, 1, 0, 0), Ok(()));
    assert_eq!(file.wait(&[pending], 0, FOR_SUBMIT), Err(Errno::ETIME));
}

// Checks R291.
#[test]
fn arrays_that_the_kernel_cannot_allocate_are_enomem_before_they_are_looked_at() {
    let file = file();
    for (count, errno) in [(1 << 20, Errno::EFAULT), ((1 << 20) + 1, Errno::ENOMEM), (u32::MAX, Errno::ENOMEM)] {
        let mut array = SyncobjArray { handles: 0, count_handles: count, pad: 0 };
        assert_eq!(file.send(&mut array), Err(errno), "{count}");
        let mut wait = SyncobjWait { handles: 0, count_handles: count, ..SyncobjWait::ZEROED };
        assert_eq!(file.send(&mut wait), Err(errno), "{count}");
    }
}
