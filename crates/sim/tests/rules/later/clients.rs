//! R200 to R202, R204, R205, R208, R262 and R263: sync objects and their descriptors, names of clients, and keys of fdinfo.

use std::{
    os::fd::{AsRawFd, IntoRawFd},
    sync::Arc,
};

use amdgpu_layers::FaultInjector;
use amdgpu_sim::{Features, SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{
        Argument as _, GemCreateFlags, GemDomain, Request, SW_SYNC_CREATE_FENCE, SW_SYNC_INC, SYNC_FILE,
        SYNC_FILE_OF_POINT, SetClientName, SwSyncCreateFence, SyncobjDestroy, SyncobjHandlePoint, SyncobjTransfer,
    },
    winsys::{Device, Ip, Syncobj},
};

use super::{card_with, with_and_without};
use crate::support::{Chunk, File, PAGE, Rig, address, ioctl_on, open, owned, reference, sync_file_info};

const POINT: u32 = SYNC_FILE | SYNC_FILE_OF_POINT;

impl File {
    fn export_point(&self, request: SyncobjHandlePoint) -> Result<i32, Errno> {
        let mut request = SyncobjHandlePoint { fd: -1, ..request };
        self.send(&mut request).map(|()| request.fd)
    }

    fn import_point(&self, request: SyncobjHandlePoint) -> Result<u32, Errno> {
        let mut request = request;
        self.send_as(Request::read_write::<SyncobjHandlePoint>(b'd', 0xc2), &mut request).map(|()| request.handle)
    }

    fn set_name(&self, name: &[u8]) -> Result<(), Errno> {
        self.send(&mut SetClientName { name_len: name.len() as u64, name: address(name) })
    }
}

// Checks R200.
#[test]
fn descriptors_of_sync_objects_have_no_point_and_no_other_flags() {
    let file = open(&card_with(Features::SYNCOBJ_POINTS));
    let handle = file.syncobj(true);
    let plain = SyncobjHandlePoint { handle, ..SyncobjHandlePoint::ZEROED };
    let shared = owned(file.export_point(plain).unwrap());
    let import = SyncobjHandlePoint { fd: shared.as_raw_fd(), ..SyncobjHandlePoint::ZEROED };
    assert!(file.import_point(import).is_ok());
    for wrong in [
        SyncobjHandlePoint { pad: 1, ..plain },
        SyncobjHandlePoint { flags: 4, ..plain },
        SyncobjHandlePoint { point: 1, ..plain },
        SyncobjHandlePoint { flags: SYNC_FILE_OF_POINT, point: 1, ..plain },
    ] {
        assert_eq!(file.export_point(wrong), Err(Errno::EINVAL), "{wrong:?}");
        assert_eq!(file.import_point(SyncobjHandlePoint { fd: shared.as_raw_fd(), ..wrong }), Err(Errno::EINVAL));
    }
    // The flag alone, without a point, changes nothing.
    drop(owned(file.export_point(SyncobjHandlePoint { flags: SYNC_FILE_OF_POINT, ..plain }).unwrap()));
}

// Checks R201.
#[test]
fn a_point_goes_into_a_sync_file_and_out_of_it() {
    let [file, old] = with_and_without(Features::SYNCOBJ_POINTS);
    let (timeline, target) = (file.syncobj(false), file.syncobj(false));
    file.signal_point(timeline, 4);
    file.signal_point(timeline, 8);
    let at = |handle, flags, point| SyncobjHandlePoint { handle, flags, point, ..SyncobjHandlePoint::ZEROED };
    assert_eq!(file.export_point(at(timeline, POINT, 9)), Err(Errno::EINVAL), "it is not there yet");
    assert_eq!(file.export_point(at(99, POINT, 4)), Err(Errno::ENOENT));
    let sync_file = owned(file.export_point(at(timeline, POINT, 3)).unwrap());
    let import = SyncobjHandlePoint { fd: sync_file.as_raw_fd(), ..at(target, POINT, 6) };
    assert_eq!(file.import_point(import), Ok(target));
    assert_eq!(file.query_syncobj(target, 0), 6);
    assert_eq!(file.import_point(SyncobjHandlePoint { point: 2, ..import }), Ok(target));
    assert_eq!(file.query_syncobj(target, 0), 6, "a point below the newest leaves it");
    // Without its flag the point counts for nothing.
    assert!(file.export_point(at(timeline, SYNC_FILE, 99)).map(owned).is_ok());
    assert_eq!(file.import_point(SyncobjHandlePoint { flags: SYNC_FILE, point: 99, ..import }), Ok(target));
    assert_eq!(file.query_syncobj(target, 0), 0, "the fence has replaced the timeline");
    assert_eq!(file.import_point(SyncobjHandlePoint { handle: 99, ..import }), Err(Errno::ENOENT));
    assert_eq!(file.import_point(SyncobjHandlePoint { fd: -1, ..import }), Err(Errno::EINVAL));
    assert_eq!(old.export_point(at(old.syncobj(true), POINT, 0)), Err(Errno::EINVAL));
}

// Checks R201.
#[test]
fn a_pending_point_is_pending_in_its_sync_file() {
    let device = card_with(Features::SYNCOBJ_POINTS);
    let rig = Rig::new(&device);
    let ip = Ip::Gfx;
    let held = device.hold_ring(ip, 0);
    let timeline = rig.file.syncobj(false);
    rig.file.signal_point(timeline, 1);
    let job = rig.job(ip, 0, &rig.store(ip, 0, 1)).with(Chunk::signal_point(timeline, 5));
    let seq = job.send(&rig.file).unwrap();
    let status = |point| {
        let request = SyncobjHandlePoint { handle: timeline, flags: POINT, point, ..SyncobjHandlePoint::ZEROED };
        let fd = owned(rig.file.export_point(request).unwrap());
        sync_file_info(&device.machine(), &fd, 0).unwrap().0.status
    };
    assert_eq!([1, 2, 5].map(status), [1, 0, 0]);
    drop(held);
    rig.finish(ip, 0, seq).unwrap();
    assert_eq!([1, 2, 5].map(status), [1; 3]);
}

// Checks R201.
#[test]
fn a_timeline_that_is_a_point_of_another_counts_as_one_fence() {
    let device = card_with(Features::SYNCOBJ_POINTS);
    let rig = Rig::new(&device);
    let file = &rig.file;
    let held = device.hold_ring(Ip::Gfx, 0);
    let (inner, outer) = (file.syncobj(false), file.syncobj(false));
    let job = rig.job(Ip::Gfx, 0, &rig.store(Ip::Gfx, 0, 1)).with(Chunk::signal_point(inner, 3));
    let seq = job.send(file).unwrap();
    let newest = |handle| {
        let request = SyncobjHandlePoint { handle, flags: POINT, ..SyncobjHandlePoint::ZEROED };
        owned(file.export_point(request).unwrap())
    };
    let carried = newest(inner);
    let import = SyncobjHandlePoint { handle: outer, flags: POINT, fd: carried.as_raw_fd(), point: 8, pad: 0 };
    assert_eq!(file.import_point(import), Ok(outer));
    let text = |bytes: [u8; 32]| String::from_utf8_lossy(&bytes).trim_end_matches('\0').to_owned();
    let only = |handle| {
        let (_, fences) = sync_file_info(&device.machine(), &newest(handle), 4).unwrap();
        assert_eq!(fences.len(), 1);
        (text(fences[0].driver_name), text(fences[0].obj_name), fences[0].status)
    };
    // The fence of the inner timeline is that of the job; that of the outer one is the inner timeline.
    assert_eq!(only(inner).0, "drm_sched");
    assert_eq!(only(outer), ("dma_fence_chain".to_owned(), "unbound".to_owned(), 0));
    drop(held);
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!((only(outer).2, file.query_syncobj(outer, 0)), (1, 8));
}

// Checks R201.
#[test]
fn a_point_keeps_the_error_of_the_fence_that_it_was_made_of() {
    let device = card_with(Features::SYNCOBJ_POINTS);
    let (file, machine) = (open(&device), device.machine());
    let line = owned(machine.open_sw_sync("tester").unwrap().into_raw_fd());
    let mut request = SwSyncCreateFence { value: 1, ..SwSyncCreateFence::ZEROED };
    ioctl_on(&machine, &line, SW_SYNC_CREATE_FENCE, &mut request).unwrap();
    let fence = owned(request.fence);
    drop(line);
    let handle = file.syncobj(false);
    let import =
        SyncobjHandlePoint { handle, flags: POINT, fd: fence.as_raw_fd(), point: 21, ..SyncobjHandlePoint::ZEROED };
    file.import_point(import).unwrap();
    let exported = owned(file.export_point(SyncobjHandlePoint { point: 2, ..import }).unwrap());
    assert_eq!(sync_file_info(&machine, &exported, 1).unwrap().1[0].status, -Errno::ENOENT.raw());
}

// Checks R202.
#[test]
fn the_handle_0_is_given_out_after_it_could_not_be_destroyed() {
    let [file, old] = with_and_without(Features::ZERO_SYNCOBJ);
    let destroy = |file: &File, handle| file.send(&mut SyncobjDestroy { handle, pad: 0 });
    assert_eq!(destroy(&file, 0), Err(Errno::EINVAL));
    assert_eq!([file.syncobj(false), file.syncobj(false)], [1, 2], "there was nothing to keep the mark yet");
    assert_eq!(destroy(&file, 0), Err(Errno::EINVAL));
    assert_eq!([file.syncobj(true), file.syncobj(false)], [0, 3]);
    assert_eq!(file.wait_syncobj(0, 0, 0), Ok(()), "it is one like any other");
    assert_eq!(destroy(&file, 0), Ok(()));
    assert_eq!(destroy(&file, 0), Err(Errno::EINVAL));
    for handle in 1..=3 {
        destroy(&file, handle).unwrap();
    }
    assert_eq!([file.syncobj(false), file.syncobj(false)], [0, 1], "the handle stays free");
    let first = old.syncobj(false);
    assert_eq!((destroy(&old, 0), old.syncobj(false)), (Err(Errno::EINVAL), first + 1));
}

// Checks R208.
#[test]
fn fences_that_have_signalled_have_common_names() {
    let names = |features, count| {
        let device = card_with(features);
        let machine = device.machine();
        let line = machine.open_sw_sync("tester").unwrap();
        let mut request = SwSyncCreateFence { value: 1, ..SwSyncCreateFence::ZEROED };
        ioctl_on(&machine, &line, SW_SYNC_CREATE_FENCE, &mut request).unwrap();
        let fence = owned(request.fence);
        ioctl_on(&machine, &line, SW_SYNC_INC, &mut { count }).unwrap();
        let (info, fences) = sync_file_info(&machine, &fence, 1).unwrap();
        let text =
            |name: [u8; 32]| name.iter().map(|&byte| char::from(byte)).take_while(|&c| c != '\0').collect::<String>();
        [text(fences[0].driver_name), text(fences[0].obj_name), text(info.name)]
    };
    assert_eq!(names(Features::DETACHED_FENCES, 0)[..2], ["sw_sync", "tester"]);
    let signalled = names(Features::DETACHED_FENCES, 1);
    assert_eq!(signalled[..2], ["detached-driver", "signaled-timeline"]);
    assert!(signalled[2].starts_with("detached-driver-signaled-timel"), "{}", signalled[2]);
    assert_eq!(names(Features::empty(), 1)[..2], ["sw_sync", "tester"]);
}

// Checks R204.
#[test]
fn a_client_has_a_name_of_graphic_characters_or_none() {
    let [file, old] = with_and_without(Features::CLIENT_NAME);
    let named = |text: &str| file.0.fdinfo().contains(&format!("drm-client-name:\t{text}\n"));
    assert!(!file.0.fdinfo().contains("drm-client-name"));
    file.set_name(b"game!~").unwrap();
    assert!(named("game!~"));
    for wrong in [&b"a b"[..], b"a\0", b"\x7f", b"\xc3\xa9", &[b'x'; 65]] {
        assert_eq!(file.set_name(wrong), Err(Errno::EINVAL), "{wrong:?}");
    }
    assert_eq!(file.send(&mut SetClientName { name_len: u64::MAX, name: 0 }), Err(Errno::EINVAL));
    assert_eq!(file.send(&mut SetClientName { name_len: 3, name: 0 }), Err(Errno::EFAULT));
    assert!(named("game!~"), "the old name stays");
    file.set_name(&[b'x'; 64]).unwrap();
    assert!(named(&"x".repeat(64)));
    file.send(&mut SetClientName { name_len: 0, name: 1 }).unwrap();
    assert!(!file.0.fdinfo().contains("drm-client-name"));
    assert_eq!(old.set_name(b"game"), Err(Errno::EINVAL));
}

// Checks R205.
#[test]
fn the_name_comes_after_the_pci_address() {
    let file = open(&card_with(Features::CLIENT_NAME));
    file.set_name(b"me").unwrap();
    let text = file.0.fdinfo();
    let keys: Vec<_> = text.lines().map(|line| line.split(':').next().unwrap()).take(5).collect();
    assert_eq!(keys, ["drm-driver", "drm-client-id", "drm-pdev", "drm-client-name", "pasid"]);
}

#[test]
fn the_library_names_its_client_where_the_kernel_can() {
    let device = card_with(Features::CLIENT_NAME);
    let kernel = Arc::new(device.open());
    let client = Device::new(Arc::clone(&kernel)).unwrap();
    let line = || kernel.fdinfo().lines().find_map(|line| line.strip_prefix("drm-client-name:\t")).map(str::to_owned);
    assert_eq!(client.set_client_name("Half Life é"), Ok(true));
    assert_eq!(line().as_deref(), Some("Half_Life__"));
    assert_eq!(client.set_client_name(&"x".repeat(99)), Ok(true));
    assert_eq!(line(), Some("x".repeat(64)));
    assert_eq!((client.set_client_name(""), line()), (Ok(true), None));
    let old = Device::new(card_with(Features::empty()).open()).unwrap();
    assert_eq!(old.set_client_name("game"), Ok(false));
}

#[test]
fn the_library_exports_points_with_one_request_where_the_kernel_can() {
    // The minor version alone promises points; the kernel need not have them.
    for (features, minor, has_them) in
        [(Features::SYNCOBJ_POINTS, 64, true), (Features::empty(), 64, false), (Features::empty(), 61, false)]
    {
        let options = SimOptions { features, drm_minor: minor, ..reference() };
        let kernel = Arc::new(FaultInjector::new(SimDevice::new(profile("navi21").unwrap(), options).open()));
        let client = Device::new(Arc::clone(&kernel)).unwrap();
        let timeline = Syncobj::new(&client, false).unwrap();
        timeline.signal_point(5).unwrap();
        kernel.fail_every_ioctl(SyncobjTransfer::REQUEST, Errno::ENOSYS);
        assert_eq!(timeline.export_sync_file_at(4).is_ok(), has_them, "{minor}");
        kernel.stop();
        assert!(timeline.export_sync_file_at(4).is_ok(), "{minor}");
        assert_eq!(timeline.export_sync_file_at(6).unwrap_err().errno(), Some(Errno::EINVAL), "{minor}");
        assert_eq!(kernel.inner().census().syncobjs, 1, "nothing is left behind");
    }
}

// Checks R262.
#[test]
fn each_region_has_four_keys_and_bos_count_from_their_creation() {
    let file = open(&card_with(Features::MEMORY_REGIONS));
    let empty = file.0.fdinfo();
    let keys: Vec<_> = empty.lines().map(|line| line.split(':').next().unwrap().to_owned()).collect();
    let regions = ["cpu", "gtt", "vram", "gds", "gws", "oa", "doorbell", "mmioremap"];
    let each = |region| ["total", "shared", "resident", "purgeable"].map(|key| format!("drm-{key}-{region}"));
    let mut expected = ["drm-driver", "drm-client-id", "drm-pdev", "pasid"].map(str::to_owned).to_vec();
    expected.extend(regions.into_iter().flat_map(each));
    expected.extend(["drm-memory-vram", "drm-memory-gtt", "drm-memory-cpu"].map(str::to_owned));
    expected.extend(["amd-evicted-vram", "amd-requested-vram", "amd-requested-gtt"].map(str::to_owned));
    assert_eq!(keys, expected);
    let both = GemDomain::VRAM | GemDomain::GTT;
    file.try_create(3 << 20, 0, both, GemCreateFlags::empty()).unwrap();
    file.create(PAGE);
    file.try_create(PAGE, 0, GemDomain::GTT, GemCreateFlags::DISCARDABLE).unwrap();
    let exported = file.create(2 * PAGE);
    drop(file.dma_buf(exported, 0).unwrap());
    let text = file.0.fdinfo();
    for line in [
        "drm-total-vram:\t3 MiB",
        "drm-resident-vram:\t3 MiB",
        "drm-total-gtt:\t16 KiB",
        "drm-shared-gtt:\t8 KiB",
        "drm-purgeable-gtt:\t4 KiB",
        "drm-total-cpu:\t0",
        "drm-memory-vram:\t3072 KiB",
        "amd-requested-gtt:\t16 KiB",
        "amd-evicted-vram:\t0 KiB",
    ] {
        assert!(text.contains(&format!("{line}\n")), "{line}\n{text}");
    }
}

// Checks R263.
#[test]
fn total_is_by_home_and_resident_by_place() {
    let file = open(&card_with(Features::MEMORY_REGIONS));
    let vram = file.0.fdinfo();
    assert!(vram.contains("drm-total-vram:\t0\n"), "{vram}");
    // More than VRAM has room for: the BOs are at home in VRAM, and some of them are elsewhere.
    let gib = 1 << 30;
    for _ in 0..20 {
        file.try_create(gib, 0, GemDomain::VRAM, GemCreateFlags::empty()).unwrap();
    }
    let text = file.0.fdinfo();
    let value = |key: &str| {
        let line = text.lines().find(|line| line.starts_with(key)).unwrap();
        line.split('\t').nth(1).unwrap().trim_end_matches(" MiB").trim_end_matches(" KiB").parse::<u64>().unwrap()
    };
    assert_eq!(value("drm-total-vram:"), 20 << 10);
    let here = value("drm-resident-vram:");
    assert!(here > 0 && here < 20 << 10, "{text}");
    assert_eq!(here + value("drm-resident-gtt:") + value("drm-resident-cpu:"), 20 << 10, "{text}");
    assert_eq!(value("drm-total-gtt:"), 0);
    // Its size is no whole number of MiB.
    file.try_create((3 << 20) - 4096, 0, GemDomain::GTT, GemCreateFlags::empty()).unwrap();
    let text = file.0.fdinfo();
    for line in ["drm-total-vram:\t20480 MiB\n", "drm-total-gtt:\t3068 KiB\n"] {
        assert!(text.contains(line), "{text}");
    }
}
