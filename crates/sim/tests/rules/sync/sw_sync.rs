//! R135 to R138: timelines that user space moves.

use std::os::fd::{AsRawFd, OwnedFd};

use amdgpu_sim::{SimDevice, SimMachine};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        Request, SW_SYNC_CREATE_FENCE, SW_SYNC_GET_DEADLINE, SW_SYNC_INC, SYNC_FILE_INFO, SYNC_FILE_MERGE,
        SYNC_FILE_SET_DEADLINE, SwSyncCreateFence, SwSyncGetDeadline, SyncFileInfo, SyncMerge, SyncSetDeadline,
    },
    winsys::Ip,
};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::support::{Chunk, Rig, card, ioctl_on, is_readable, open, owned, patient_card, sync_file_info};

/// Longer than any signal of these tests takes, in ms.
const SOON: u16 = 20_000;

/// An open sw_sync file.
pub(super) struct Timeline {
    machine: SimMachine,
    fd: OwnedFd,
}

impl Timeline {
    pub(super) fn new(device: &SimDevice) -> Self {
        let machine = device.machine();
        let fd = machine.open_sw_sync("tester").unwrap();
        Self { machine, fd }
    }

    pub(super) fn fence(&self, value: u32) -> OwnedFd {
        let mut request = SwSyncCreateFence { value, ..SwSyncCreateFence::ZEROED };
        ioctl_on(&self.machine, &self.fd, SW_SYNC_CREATE_FENCE, &mut request).unwrap();
        owned(request.fence)
    }

    fn advance(&self, by: u32) {
        ioctl_on(&self.machine, &self.fd, SW_SYNC_INC, &mut { by }).unwrap();
    }

    fn status(&self, fence: &OwnedFd) -> i32 {
        sync_file_info(&self.machine, fence, 0).unwrap().0.status
    }

    fn merge(&self, one: &OwnedFd, other: &OwnedFd) -> OwnedFd {
        let mut request = SyncMerge { fd2: other.as_raw_fd(), ..SyncMerge::ZEROED };
        ioctl_on(&self.machine, one, SYNC_FILE_MERGE, &mut request).unwrap();
        owned(request.fence)
    }

    fn deadline(&self, fence: i32, deadline_ns: u64, pad: u32) -> Result<u64, Errno> {
        let mut request = SwSyncGetDeadline { deadline_ns, pad, fence_fd: fence };
        ioctl_on(&self.machine, &self.fd, SW_SYNC_GET_DEADLINE, &mut request).map(|()| request.deadline_ns)
    }
}

// Checks R135.
#[test]
fn a_fence_signals_when_the_counter_gets_there() {
    let timeline = Timeline::new(&card());
    let fences = [1, 3, 3, 7].map(|value| timeline.fence(value));
    let readable = || fences.each_ref().map(|fence| is_readable(fence, 0));
    assert_eq!((readable(), timeline.status(&timeline.fence(0))), ([false; 4], 1));
    timeline.advance(0);
    assert_eq!(readable(), [false; 4]);
    timeline.advance(2);
    assert_eq!(readable(), [true, false, false, false]);
    timeline.advance(5);
    assert_eq!(readable(), [true; 4]);
    assert_eq!(timeline.status(&fences[3]), 1);
}

// Checks R135.
#[test]
fn the_counter_goes_round() {
    let timeline = Timeline::new(&card());
    timeline.advance(u32::MAX);
    let behind = timeline.fence(4);
    timeline.advance(4);
    assert_eq!(timeline.status(&behind), 0);
    // Half of the numbers are behind the counter.
    assert_eq!(timeline.status(&timeline.fence(0x8000_0004)), 1);
    timeline.advance(1);
    assert_eq!(timeline.status(&behind), 1);
}

// Checks R135.
#[test]
fn files_are_timelines_of_their_own() {
    let device = card();
    let (one, other) = (Timeline::new(&device), Timeline::new(&device));
    let (first, second) = (one.fence(1), other.fence(1));
    let both = one.merge(&first, &second);
    one.advance(1);
    assert_eq!([&first, &second, &both].map(|fence| one.status(fence)), [1, 0, 0]);
    other.advance(1);
    assert_eq!([&first, &second, &both].map(|fence| one.status(fence)), [1, 1, 1]);
}

// Checks R136.
#[test]
fn a_sync_file_tells_timeline_and_driver() {
    let timeline = Timeline::new(&card());
    let fence = timeline.fence(5);
    let closes = FdFlag::from_bits_retain(fcntl(&fence, FcntlArg::F_GETFD).unwrap());
    assert!(closes.contains(FdFlag::FD_CLOEXEC));
    let (info, fences) = sync_file_info(&timeline.machine, &fence, 1).unwrap();
    assert!(info.name.starts_with(b"sw_sync-tester1-5\0"), "{}", info.name.escape_ascii());
    assert!(fences[0].driver_name.starts_with(b"sw_sync\0") && fences[0].obj_name.starts_with(b"tester\0"));
    // Two sync files of one point are the same fence, two points are two.
    let (again, other) = (timeline.fence(5), timeline.fence(6));
    let count = |one, other| sync_file_info(&timeline.machine, &timeline.merge(one, other), 0).unwrap().0.num_fences;
    assert_eq!(count(&fence, &again), 1);
    assert_eq!(timeline.status(&other), 0);
}

// Checks R136.
#[test]
fn a_merged_sync_file_has_the_latest_point_of_each_timeline() {
    let device = card();
    let (one, other) = (Timeline::new(&device), Timeline::new(&device));
    one.advance(u32::MAX);
    let points = [0, 2, 1].map(|value| one.fence(value));
    let elsewhere = other.fence(1);
    let count = |fence: &OwnedFd| sync_file_info(&one.machine, fence, 0).unwrap().0.num_fences;
    let mut merged = one.merge(&points[0], &points[1]);
    assert_eq!(count(&merged), 1);
    merged = one.merge(&merged, &elsewhere);
    merged = one.merge(&points[2], &merged);
    assert_eq!(count(&merged), 2);
    other.advance(1);
    one.advance(2);
    assert_eq!((one.status(&points[2]), one.status(&merged)), (1, 0), "the latest is still to come");
    one.advance(1);
    assert_eq!(one.status(&merged), 1);
}

// Checks R136.
#[test]
fn a_merged_sync_file_tells_of_timelines_in_the_order_of_their_opening() {
    let device = card();
    let (one, other) = (Timeline::new(&device), Timeline::new(&device));
    let (first, second) = (one.fence(1), other.fence(1));
    let merged = [one.merge(&first, &second), one.merge(&second, &first)];
    other.advance(1);
    for merged in &merged {
        let fences = sync_file_info(&one.machine, merged, 2).unwrap().1;
        assert_eq!(fences.iter().map(|fence| fence.status).collect::<Vec<_>>(), [0, 1]);
    }
}

// Checks R137.
#[test]
fn closing_the_last_copy_ends_what_is_pending() {
    let device = card();
    let file = open(&device);
    let timeline = Timeline::new(&device);
    let (reached, pending) = (timeline.fence(1), timeline.fence(2));
    let syncobj = file.syncobj(false);
    file.import_sync_file(syncobj, &pending).unwrap();
    timeline.advance(1);
    let Timeline { machine, fd } = timeline;
    let copy = fd.try_clone().unwrap();
    drop(fd);
    assert!(!is_readable(&pending, 0));
    assert_eq!(file.wait_syncobj(syncobj, 0, 0), Err(Errno::ETIME));
    drop(copy);
    assert_eq!(file.wait_syncobj(syncobj, 0, 0), Ok(()), "the next request finds it closed");
    assert!(is_readable(&pending, SOON));
    let status = |fence| sync_file_info(&machine, fence, 0).unwrap().0.status;
    assert_eq!((status(&reached), status(&pending)), (1, -(Errno::ENOENT.raw())));
}

// Checks R137.
#[test]
fn a_poll_hears_of_the_end_without_a_request() {
    let device = card();
    let Timeline { machine, fd } = Timeline::new(&device);
    let mut request = SwSyncCreateFence { value: 1, ..SwSyncCreateFence::ZEROED };
    ioctl_on(&machine, &fd, SW_SYNC_CREATE_FENCE, &mut request).unwrap();
    let fence = owned(request.fence);
    drop(fd);
    assert!(is_readable(&fence, SOON));
}

// Checks R138.
#[test]
fn what_sw_sync_refuses() {
    let timeline = Timeline::new(&card());
    let fence = timeline.fence(1);
    let mut create = SwSyncCreateFence::ZEROED;
    // Requests count with size and direction.
    for request in [Request::read_write::<u32>(b'W', 0), Request::bare(b'W', 1), Request::write::<u32>(b'W', 3)] {
        assert_eq!(ioctl_on(&timeline.machine, &timeline.fd, request, &mut create), Err(Errno::ENOTTY));
    }
    assert_eq!(ioctl_on(&timeline.machine, &fence, SW_SYNC_CREATE_FENCE, &mut create), Err(Errno::ENOTTY));
    let info = &mut SyncFileInfo::default();
    assert_eq!(ioctl_on(&timeline.machine, &timeline.fd, SYNC_FILE_INFO, info), Err(Errno::ENOTTY));
    let strange = card().machine();
    assert_eq!(ioctl_on(&strange, &timeline.fd, SW_SYNC_INC, &mut 1_u32), Err(Errno::ENOTTY));
}

// Checks R138.
#[test]
fn the_earliest_deadline_is_kept() {
    let device = card();
    let (timeline, second) = (Timeline::new(&device), Timeline::new(&device));
    let (fence, other) = (timeline.fence(1), second.fence(2));
    let set = |fd: &OwnedFd, deadline_ns| {
        let mut request = SyncSetDeadline { deadline_ns, pad: 0 };
        ioctl_on(&timeline.machine, fd, SYNC_FILE_SET_DEADLINE, &mut request).unwrap();
    };
    let (raw, merged) = (fence.as_raw_fd(), timeline.merge(&fence, &other));
    assert_eq!(timeline.deadline(raw, 0, 0), Err(Errno::ENOENT));
    for (deadline, earliest) in [(50, 50), (90, 50), (20, 20)] {
        set(&fence, deadline);
        assert_eq!(timeline.deadline(raw, 0, 0), Ok(earliest));
    }
    // A merged file hands it on to its fences.
    set(&merged, 30);
    assert_eq!(timeline.deadline(other.as_raw_fd(), 0, 0), Ok(30));
    assert_eq!(timeline.deadline(raw, 0, 0), Ok(20));
    timeline.advance(2);
    set(&fence, 1);
    assert_eq!(timeline.deadline(raw, 0, 0), Ok(20), "there is nothing to wait for any more");
    for (fd, deadline, pad) in [(raw, 1, 0), (raw, 0, 1), (-1, 0, 0), (merged.as_raw_fd(), 0, 0)] {
        assert_eq!(timeline.deadline(fd, deadline, pad), Err(Errno::EINVAL));
    }
}

// Checks R103.
#[test]
fn a_job_waits_for_a_point_of_sw_sync() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let timeline = Timeline::new(&device);
    let syncobj = rig.file.syncobj(false);
    rig.file.import_sync_file(syncobj, &timeline.fence(1)).unwrap();
    let store = rig.store(Ip::Gfx, 0, 7);
    let number = rig.job(Ip::Gfx, 0, &store).with(Chunk::wait(syncobj)).send(&rig.file).unwrap();
    assert!(!rig.is_done(Ip::Gfx, 0, number));
    assert_eq!(rig.load(0), 0);
    timeline.advance(1);
    rig.finish(Ip::Gfx, 0, number).unwrap();
    assert_eq!(rig.load(0), 7);
}
