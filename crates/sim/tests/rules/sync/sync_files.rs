//! R41 to R49 and R108: sync files, shared sync objects and eventfds.

use std::{
    os::fd::{AsFd, AsRawFd, OwnedFd},
    thread,
};

use amdgpu_sim::SimDevice;
use amdgpu_uapi::Errno;
use amdgpu_winsys::uapi::Argument;
use amdgpu_winsys::{
    uapi::{
        CsFence, FENCE_TO_SYNC_FILE_FD, FENCE_TO_SYNCOBJ, FENCE_TO_SYNCOBJ_FD, FenceToHandle, Request, SYNC_FILE_INFO,
        SYNC_FILE_MERGE, SYNC_FILE_SET_DEADLINE, SyncFileInfo, SyncMerge, SyncSetDeadline, SyncobjArray,
        SyncobjDestroy, SyncobjEventfd, SyncobjHandle, SyncobjWaitFlags,
    },
    winsys::Ip,
};
use nix::fcntl::{FcntlArg, FdFlag, fcntl};

use crate::support::{
    Chunk, File, Rig, address, card, eventfd, file, hanging_for, ioctl_on, is_readable, open, patient_card,
    sync_file_info,
};

/// Longer than any job of these tests takes, in ms.
const SOON: u16 = 20_000;
const AVAILABLE: u32 = SyncobjWaitFlags::WAIT_AVAILABLE.bits();

/// A rig with a job that runs until [`release`], and a sync object that it signals.
fn busy(device: &SimDevice) -> (Rig, u32) {
    let rig = Rig::new(device);
    let syncobj = rig.file.syncobj(false);
    let wait = rig.wait_value(Ip::Gfx, 0, 1);
    rig.job(Ip::Gfx, 0, &wait).with(Chunk::signal(syncobj)).send(&rig.file).unwrap();
    (rig, syncobj)
}

/// Ends the job.
fn release(rig: &Rig) {
    rig.poke(0, 1);
}

fn closes_on_exec(fd: &OwnedFd) -> bool {
    FdFlag::from_bits_retain(fcntl(fd, FcntlArg::F_GETFD).unwrap()).contains(FdFlag::FD_CLOEXEC)
}

fn merge(device: &SimDevice, one: &OwnedFd, other: i32) -> Result<OwnedFd, Errno> {
    let mut request = SyncMerge { fd2: other, ..SyncMerge::ZEROED };
    request.name[..4].copy_from_slice(b"both");
    ioctl_on(&device.machine(), one, SYNC_FILE_MERGE, &mut request)?;
    Ok(crate::support::owned(request.fence))
}

// Checks R41 and R42.
#[test]
fn a_point_goes_round_through_a_sync_file() {
    let file = file();
    let (timeline, one, two) = (file.syncobj(false), file.syncobj(false), file.syncobj(false));
    file.signal_point(timeline, 16);
    file.move_point((timeline, 16), (one, 0)).unwrap();
    file.import_sync_file(two, &file.sync_file(one).unwrap()).unwrap();
    file.move_point((two, 0), (timeline, 18)).unwrap();
    assert_eq!(file.query_syncobj(timeline, 0), 18);
    file.signal_point(timeline, 20);
    assert_eq!(file.query_syncobj(timeline, 0), 20);
}

// Checks R30.
#[test]
fn sync_files_and_eventfds_of_unknown_sync_objects_are_enoent() {
    let file = file();
    let known = file.syncobj(true);
    let fd = file.sync_file(known).unwrap();
    assert_eq!(file.sync_file(99).unwrap_err(), Errno::ENOENT);
    assert_eq!(file.import_sync_file(99, &fd), Err(Errno::ENOENT));
    let other = OwnedFd::from(std::fs::File::open("/dev/null").unwrap());
    assert_eq!(file.import_sync_file(99, &other), Err(Errno::EINVAL), "the descriptor comes first");
    assert_eq!(file.tell(99, 0, -1, 0), Err(Errno::ENOENT));
}

// Checks R44.
#[test]
fn a_sync_file_is_a_snapshot() {
    let device = patient_card();
    let (rig, syncobj) = busy(&device);
    let empty = rig.file.syncobj(false);
    assert_eq!(rig.file.sync_file(empty).unwrap_err(), Errno::EINVAL);
    let fd = rig.file.sync_file(syncobj).unwrap();
    let handles = [syncobj];
    rig.file.send(&mut SyncobjArray { handles: address(&handles), count_handles: 1, pad: 0 }).unwrap();
    assert_eq!(rig.file.sync_file(syncobj).unwrap_err(), Errno::EINVAL, "it was reset");
    rig.file.import_sync_file(empty, &fd).unwrap();
    assert_eq!(rig.file.wait_syncobj(empty, 0, 0), Err(Errno::ETIME));
    release(&rig);
    assert_eq!(rig.file.wait_syncobj(empty, i64::MAX, 0), Ok(()));
    // An import replaces what is there.
    rig.file.import_sync_file(syncobj, &fd).unwrap();
    assert_eq!(rig.file.wait_syncobj(syncobj, 0, 0), Ok(()));
}

// Checks R44.
#[test]
fn a_timeline_goes_through_a_sync_file_with_its_points() {
    let file = file();
    let (timeline, other) = (file.syncobj(false), file.syncobj(true));
    file.signal_point(timeline, 4);
    file.signal_point(timeline, 9);
    file.import_sync_file(other, &file.sync_file(timeline).unwrap()).unwrap();
    assert_eq!(file.query_syncobj(other, 0), 9);
}

// Checks R46.
#[test]
fn a_sync_file_is_readable_once_the_job_is_done() {
    let device = patient_card();
    let (rig, syncobj) = busy(&device);
    let fd = rig.file.sync_file(syncobj).unwrap();
    let machine = device.machine();
    assert!(!is_readable(&fd, 0));
    let (info, fences) = sync_file_info(&machine, &fd, 4).unwrap();
    assert_eq!((info.status, info.num_fences, fences[0].status, fences[0].timestamp_ns), (0, 1, 0, 0));
    assert!(fences[0].driver_name.starts_with(b"drm_sched\0") && info.name.starts_with(b"drm_sched-"));
    let copy = fd.try_clone().unwrap();
    drop(fd);
    release(&rig);
    assert!(is_readable(&copy, SOON));
    let (info, fences) = sync_file_info(&machine, &copy, 1).unwrap();
    assert_eq!((info.status, fences[0].status), (1, 1));
    assert!(fences[0].timestamp_ns > 0);
    assert!(is_readable(&copy, 0), "it stays readable");
}

// Checks R38 and R46.
#[test]
fn a_failed_job_makes_it_readable_with_a_negative_status() {
    let device = card();
    let (rig, syncobj) = busy(&device);
    let fd = rig.file.sync_file(syncobj).unwrap();
    assert!(is_readable(&fd, SOON));
    let (info, _) = sync_file_info(&device.machine(), &fd, 0).unwrap();
    assert_eq!((info.status, info.num_fences), (-(Errno::ECANCELED.raw()), 1));
    assert_eq!(rig.file.wait_syncobj(syncobj, 0, 0), Ok(()), "waits do not tell");
}

// Checks R46.
#[test]
fn a_merged_sync_file_waits_for_both() {
    let device = patient_card();
    let (one, one_syncobj) = busy(&device);
    let (other, other_syncobj) = busy(&device);
    let [first, second] =
        [(&one, one_syncobj), (&other, other_syncobj)].map(|(rig, syncobj)| rig.file.sync_file(syncobj).unwrap());
    let both = merge(&device, &first, second.as_raw_fd()).unwrap();
    assert!(closes_on_exec(&both));
    let machine = device.machine();
    let (info, fences) = sync_file_info(&machine, &both, 2).unwrap();
    assert_eq!((fences.len(), info.status, &info.name[..5]), (2, 0, &b"both\0"[..]));
    assert_eq!(sync_file_info(&machine, &both, 1).unwrap_err(), Errno::EINVAL, "room for one is not enough");
    // Both are on one ring, in this order.
    release(&one);
    assert!(is_readable(&first, SOON));
    assert!(!is_readable(&both, 0));
    assert_eq!(sync_file_info(&machine, &both, 2).unwrap().0.status, 0);
    release(&other);
    assert!(is_readable(&both, SOON));
    assert_eq!(sync_file_info(&machine, &both, 2).unwrap().0.status, 1);
}

// Checks R46.
#[test]
fn what_a_sync_file_refuses() {
    let device = card();
    let file = open(&device);
    let machine = device.machine();
    let fd = file.sync_file(file.syncobj(true)).unwrap();
    let on = |request, argument: &mut SyncMerge| ioctl_on(&machine, &fd, request, argument);
    let fd2 = fd.as_raw_fd();
    assert_eq!(on(SYNC_FILE_MERGE, &mut SyncMerge { fd2, flags: 1, ..SyncMerge::ZEROED }), Err(Errno::EINVAL));
    assert_eq!(on(SYNC_FILE_MERGE, &mut SyncMerge { fd2, pad: 1, ..SyncMerge::ZEROED }), Err(Errno::EINVAL));
    assert_eq!(merge(&device, &fd, -1).unwrap_err(), Errno::ENOENT);
    let null = std::fs::File::open("/dev/null").unwrap();
    assert_eq!(merge(&device, &fd, null.as_raw_fd()).unwrap_err(), Errno::ENOENT);
    for wrong in [SyncFileInfo { flags: 1, ..SyncFileInfo::ZEROED }, SyncFileInfo { pad: 1, ..SyncFileInfo::ZEROED }] {
        assert_eq!(ioctl_on(&machine, &fd, SYNC_FILE_INFO, &mut { wrong }), Err(Errno::EINVAL));
    }
    let deadline = |pad| SyncSetDeadline { deadline_ns: 1, pad };
    assert_eq!(ioctl_on(&machine, &fd, SYNC_FILE_SET_DEADLINE, &mut deadline(0)), Ok(()));
    assert_eq!(ioctl_on(&machine, &fd, SYNC_FILE_SET_DEADLINE, &mut deadline(1)), Err(Errno::EINVAL));
    assert_eq!(on(Request::read_write::<SyncMerge>(b'>', 9), &mut SyncMerge::default()), Err(Errno::ENOTTY));
    assert_eq!(ioctl_on(&machine, &null, SYNC_FILE_INFO, &mut SyncFileInfo::default()), Err(Errno::ENOTTY));
    assert_eq!(ioctl_on(&card().machine(), &fd, SYNC_FILE_INFO, &mut SyncFileInfo::default()), Err(Errno::ENOTTY));
}

// Checks R47.
#[test]
fn a_descriptor_keeps_the_sync_object_after_destroy_and_close() {
    let device = patient_card();
    let (rig, syncobj) = busy(&device);
    let fd = rig.file.syncobj_fd(syncobj, 0).unwrap();
    rig.file.send(&mut SyncobjDestroy { handle: syncobj, pad: 0 }).unwrap();
    let other = open(&device);
    let handle = other.open_syncobj(&fd).unwrap();
    assert_eq!(other.wait_syncobj(handle, 0, 0), Err(Errno::ETIME));
    release(&rig);
    drop(rig);
    assert_eq!(other.wait_syncobj(handle, i64::MAX, 0), Ok(()));
    assert_eq!(other.open_syncobj(&fd.try_clone().unwrap()), Ok(handle + 1), "by the file, not by its number");
    drop(other);
    let last = open(&device);
    assert_eq!(last.open_syncobj(&fd), Ok(1), "no file has a handle any more");
    assert_eq!(last.wait_syncobj(1, 0, 0), Ok(()));
}

#[test]
fn a_sync_object_descriptor_is_no_sync_file_nor_the_other_way_round() {
    let file = file();
    let syncobj = file.syncobj(true);
    let (shared, snapshot) = (file.syncobj_fd(syncobj, 0).unwrap(), file.sync_file(syncobj).unwrap());
    assert_eq!(file.import_sync_file(syncobj, &shared), Err(Errno::EINVAL));
    assert_eq!(file.open_syncobj(&snapshot), Err(Errno::EINVAL));
    assert_eq!(file.open_dma_buf(&snapshot), Err(Errno::EINVAL));
}

// Checks R48.
#[test]
fn an_eventfd_is_told_once_and_at_once_if_the_point_is_there() {
    let file = file();
    let (signalled, timeline) = (file.syncobj(true), file.syncobj(false));
    let [now, later] = [(); 2].map(|()| eventfd());
    file.tell(signalled, 0, now.as_fd().as_raw_fd(), 0).unwrap();
    assert_eq!(now.read(), Ok(1));
    file.tell(timeline, 5, later.as_fd().as_raw_fd(), 0).unwrap();
    file.signal_point(timeline, 3);
    assert_eq!(later.read(), Err(nix::errno::Errno::EAGAIN));
    file.signal_point(timeline, 6);
    file.signal_point(timeline, 7);
    assert_eq!((later.read(), later.read()), (Ok(1), Err(nix::errno::Errno::EAGAIN)));
    assert_eq!(now.read(), Err(nix::errno::Errno::EAGAIN));
}

// Checks R48.
#[test]
fn available_is_told_before_the_job_is_done() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let file = &rig.file;
    let syncobj = file.syncobj(false);
    let [available, signalled] = [(); 2].map(|()| eventfd());
    file.tell(syncobj, 0, available.as_fd().as_raw_fd(), AVAILABLE).unwrap();
    file.tell(syncobj, 0, signalled.as_fd().as_raw_fd(), 0).unwrap();
    let wait = rig.wait_value(Ip::Gfx, 0, 1);
    rig.job(Ip::Gfx, 0, &wait).with(Chunk::signal(syncobj)).send(file).unwrap();
    assert_eq!((available.read(), signalled.read()), (Ok(1), Err(nix::errno::Errno::EAGAIN)));
    // The sync object may go: the fence is known.
    file.send(&mut SyncobjDestroy { handle: syncobj, pad: 0 }).unwrap();
    release(&rig);
    assert!(is_readable(&signalled, SOON));
    assert_eq!(signalled.read(), Ok(1));
}

// Checks R48.
#[test]
fn what_an_eventfd_registration_refuses() {
    let file = file();
    let syncobj = file.syncobj(false);
    let null = std::fs::File::open("/dev/null").unwrap();
    let good = eventfd();
    let fd = good.as_fd().as_raw_fd();
    assert_eq!(file.tell(syncobj, 0, fd, 1), Err(Errno::EINVAL));
    let padded = SyncobjEventfd { handle: syncobj, fd, pad: 1, ..SyncobjEventfd::ZEROED };
    assert_eq!(file.send(&mut { padded }), Err(Errno::EINVAL));
    assert_eq!(file.tell(syncobj, 0, -1, 0), Err(Errno::EBADF));
    assert_eq!(file.tell(syncobj, 0, null.as_raw_fd(), 0), Err(Errno::EINVAL));
    // A registration dies with the sync object.
    file.tell(syncobj, 0, fd, 0).unwrap();
    file.send(&mut SyncobjDestroy { handle: syncobj, pad: 0 }).unwrap();
    assert_eq!(good.read(), Err(nix::errno::Errno::EAGAIN));
}

// Checks R49.
#[test]
fn descriptors_close_on_exec() {
    let file = file();
    let syncobj = file.syncobj(true);
    assert!(closes_on_exec(&file.syncobj_fd(syncobj, 0).unwrap()));
    assert!(closes_on_exec(&file.sync_file(syncobj).unwrap()));
}

fn fence_to_handle(file: &File, seq_no: u64, what: u32) -> Result<u32, Errno> {
    let fence = CsFence { ctx_id: 1, ip_type: Ip::Gfx as u32, ip_instance: 0, ring: 0, seq_no };
    file.ask(FenceToHandle { fence, what, pad: 7 }).map(|answer| answer.handle)
}

// Checks R108.
#[test]
fn a_fence_by_number_becomes_a_sync_object_its_descriptor_or_a_sync_file() {
    let device = patient_card();
    let (rig, _) = busy(&device);
    let file = &rig.file;
    let syncobj = fence_to_handle(file, 1, FENCE_TO_SYNCOBJ).unwrap();
    let [shared, snapshot] = [FENCE_TO_SYNCOBJ_FD, FENCE_TO_SYNC_FILE_FD]
        .map(|what| crate::support::owned(fence_to_handle(file, 1, what).unwrap().cast_signed()));
    assert!(closes_on_exec(&shared) && closes_on_exec(&snapshot));
    let opened = file.open_syncobj(&shared).unwrap();
    for handle in [syncobj, opened] {
        assert_eq!(file.wait_syncobj(handle, 0, 0), Err(Errno::ETIME));
    }
    assert!(!is_readable(&snapshot, 0));
    assert_eq!(fence_to_handle(file, 2, FENCE_TO_SYNC_FILE_FD), Err(Errno::EINVAL), "not issued yet");
    assert_eq!(fence_to_handle(file, 1, 3), Err(Errno::EINVAL));
    release(&rig);
    assert!(is_readable(&snapshot, SOON));
    for handle in [syncobj, opened] {
        assert_eq!(file.wait_syncobj(handle, i64::MAX, 0), Ok(()));
    }
    // Nothing at all is done.
    let done = crate::support::owned(fence_to_handle(file, 0, FENCE_TO_SYNC_FILE_FD).unwrap().cast_signed());
    assert!(is_readable(&done, 0));
    assert_eq!(sync_file_info(&device.machine(), &done, 1).unwrap().1[0].driver_name[..5], *b"stub\0");
}

// Checks R33.
/// A waiter for submission takes the fence that arrives, even if the sync object is reset right afterwards.
#[test]
fn a_waiter_keeps_the_fence_that_a_reset_takes_away() {
    const WAITERS: usize = 4;
    let file = file();
    let syncobj = file.syncobj(false);
    let told = eventfd();
    thread::scope(|scope| {
        let wait = || file.wait_syncobj(syncobj, i64::MAX, SyncobjWaitFlags::WAIT_FOR_SUBMIT.bits());
        let waiters = [(); WAITERS].map(|()| scope.spawn(wait));
        file.tell(syncobj, 0, told.as_fd().as_raw_fd(), 0).unwrap();
        // However late a waiter comes, one of these is there for it; it need not see it while it is there.
        while !waiters.iter().all(thread::ScopedJoinHandle::is_finished) {
            let handles = [syncobj];
            let array = SyncobjArray { handles: address(&handles), count_handles: 1, pad: 0 };
            file.send_as(amdgpu_winsys::uapi::SYNCOBJ_SIGNAL, &mut { array }).unwrap();
            file.send_as(SyncobjArray::REQUEST, &mut { array }).unwrap();
            thread::yield_now();
        }
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), Ok(()));
        }
    });
    assert_eq!(told.read(), Ok(1));
}

// Checks R43.
#[test]
fn devices_of_one_machine_take_each_others_fences() {
    let machine = amdgpu_sim::SimMachine::new();
    let options = hanging_for(std::time::Duration::from_mins(1));
    let [one, other] = ["navi21", "renoir"].map(|name| machine.add(amdgpu_sim::profile(name).unwrap(), options));
    let (rig, syncobj) = busy(&one);
    let file = open(&other);
    let handle = file.open_syncobj(&rig.file.syncobj_fd(syncobj, 0).unwrap()).unwrap();
    let second = file.syncobj(false);
    file.import_sync_file(second, &rig.file.sync_file(syncobj).unwrap()).unwrap();
    thread::scope(|scope| {
        let waiters = [handle, second].map(|handle| {
            scope.spawn({
                let file = &file;
                move || file.wait_syncobj(handle, i64::MAX, 0)
            })
        });
        release(&rig);
        for waiter in waiters {
            assert_eq!(waiter.join().unwrap(), Ok(()));
        }
    });
    let stranger = SyncobjHandle { fd: rig.file.syncobj_fd(syncobj, 0).unwrap().as_raw_fd(), ..SyncobjHandle::ZEROED };
    let elsewhere = open(&card());
    assert_eq!(elsewhere.send_as(amdgpu_winsys::uapi::SYNCOBJ_FD_TO_HANDLE, &mut { stranger }), Err(Errno::EINVAL));
}
