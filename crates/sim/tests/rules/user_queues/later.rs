//! R230 to R235: rules of user queues after Linux 6.17.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use amdgpu_sim::{KernelRelease, LockupTimeout, SimDevice, SimOptions, profile};
use amdgpu_uapi::{Errno, WedgedEvent};
use amdgpu_winsys::{
    uapi::{
        Answered, GemCreateFlags, GemDomain, MemoryInfo, USERQ_SECURE, UqFwAreas, Userq, UserqCompute, UserqGfx,
        UserqSdma, UserqSignal, UserqWait, VaOperation, query,
    },
    winsys::Ip,
};
use zerocopy::IntoBytes;

use super::rig::{Bench, RING_BYTES, doorbell};
use crate::support::{File, HANG, PAGE, RWX, Range, address, is_readable, long, open, sync_file_info};

/// Milliseconds that are less than the time-out of a queue.
const SOON: u16 = 1500;

fn card(kernel: KernelRelease) -> SimDevice {
    let lockup_timeout = LockupTimeout::all(HANG);
    SimDevice::new(
        profile("navi31").unwrap(),
        SimOptions { user_queues: true, lockup_timeout, ..SimOptions::of_kernel(kernel) },
    )
}

// Checks R230.
#[test]
fn a_doorbell_is_of_one_queue_at_a_time_from_linux_7_2_on() {
    for (kernel, second) in [(KernelRelease::V7_0, Ok(2)), (KernelRelease::V7_2, Err(Errno::EBUSY))] {
        let bench = Bench::new(&card(kernel), Ip::Gfx);
        assert_eq!((bench.create(), bench.create()), (Ok(1), second), "{kernel}");
        let next = Userq { doorbell_offset: 4, ..bench.question() };
        assert_eq!(bench.file.send(&mut { next }), Ok(()), "{kernel}: another place in the BO");
        let other = Userq { doorbell_handle: doorbell(&bench.file).unwrap(), ..bench.question() };
        assert_eq!(bench.file.send(&mut { other }), Ok(()), "{kernel}: another BO");
        bench.free(1).unwrap();
        assert_eq!(bench.create(), Ok(1), "{kernel}: the doorbell is free again");
    }
}

// Checks R230.
#[test]
fn a_file_has_511_queues_and_512_from_linux_7_2_on() {
    for (kernel, most, errno) in [(KernelRelease::V7_0, 511, Errno::ENOMEM), (KernelRelease::V7_2, 512, Errno::EBUSY)] {
        let bench = Bench::new(&card(kernel), Ip::Gfx);
        for doorbell_offset in 0..most {
            let next = Userq { doorbell_offset, ..bench.question() };
            assert_eq!(bench.file.send(&mut { next }), Ok(()), "{kernel}: {doorbell_offset}");
        }
        let other = Userq { doorbell_handle: doorbell(&bench.file).unwrap(), ..bench.question() };
        assert_eq!(bench.file.send(&mut { other }), Err(errno), "{kernel}");
        bench.free(7).unwrap();
        let mut again = Userq { ..other };
        assert_eq!(bench.file.send(&mut again).map(|()| again.answer().queue_id), Ok(7), "{kernel}");
    }
}

// Checks R230.
#[test]
fn areas_of_a_queue_end_with_their_bindings_and_from_linux_7_3_on_to_the_byte() {
    for (kernel, beyond) in [(KernelRelease::V7_2, Ok(())), (KernelRelease::V7_3, Err(Errno::EINVAL))] {
        for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
            let bench = Bench::new(&card(kernel), ip);
            let create = |question: Userq| {
                let mut question = question;
                bench.file.send(&mut question)?;
                bench.free(question.answer().queue_id)
            };
            let own = |mqd: &[u8]| create(Userq { mqd: address(mqd), mqd_size: mqd.len() as u64, ..bench.question() });
            let [area, ring, read, write] = [bench.area, bench.ring, bench.read, bench.write].map(|bo| {
                let (entries, _) = bench.file.list_bindings(bo, 1).unwrap();
                (entries[0].addr, entries[0].addr + entries[0].size)
            });
            let try_at = |name: &str, end: u64, bytes: u64, at: &dyn Fn(u64) -> Result<(), Errno>| {
                let found = [0, 1].map(|later| at(end - bytes + later));
                assert_eq!(found, [Ok(()), beyond], "{kernel}: {ip}: {name}");
                assert_eq!(at(end), Err(Errno::EINVAL), "{kernel}: {ip}: {name}: nothing is bound there");
            };
            try_at("ring", ring.1, RING_BYTES, &|queue_va| create(Userq { queue_va, ..bench.question() }));
            try_at("read pointer", read.1, PAGE, &|rptr_va| create(Userq { rptr_va, ..bench.question() }));
            try_at("write pointer", write.1, PAGE, &|wptr_va| create(Userq { wptr_va, ..bench.question() }));
            match ip {
                Ip::Gfx => {
                    let areas: UqFwAreas = bench.file.info(query::UQ_FW_AREAS, [0; 4]).unwrap();
                    let (shadow, save) = (areas.shadow_size.into(), areas.csa_size.into());
                    let own = |shadow_va, csa_va| own(UserqGfx { shadow_va, csa_va }.as_bytes());
                    try_at("shadow", area.1, shadow, &|va| own(va, area.0));
                    try_at("save area", area.1, save, &|va| own(area.0, va));
                }
                Ip::Compute => try_at("end of pipe", area.1, 2048, &|eop_va| own(UserqCompute { eop_va }.as_bytes())),
                _ => try_at("save area", area.1, 32, &|csa_va| own(UserqSdma { csa_va }.as_bytes())),
            }
        }
    }
}

#[test]
fn queues_are_told_in_debugfs_from_linux_6_17_on() {
    for (kernel, is_told) in [(KernelRelease::V6_16, false), (KernelRelease::V6_17, true)] {
        let bench = Bench::new(&card(kernel), Ip::Compute);
        let queue = bench.create().unwrap();
        let files = amdgpu_sim::sysfs::client_files(&bench.file.0);
        let names: Vec<_> = files.iter().map(|(name, _)| name.as_str()).collect();
        let expected: &[&str] = if is_told { &["vm_pagetable_info", "queue_1/mqd_info"] } else { &[] };
        assert_eq!(names, expected, "{kernel}");
        assert!(files.last().is_none_or(|(_, text)| text == "queue_type: 1\nmqd_gpu_address: 0x0\n"));
        bench.free(queue).unwrap();
        assert!(amdgpu_sim::sysfs::client_files(&bench.file.0).len() < 2);
    }
}

// Checks R231.
#[test]
fn secure_queues_of_copy_engines_alone_need_encrypted_memory() {
    for (ip, expected) in [(Ip::Gfx, Ok(())), (Ip::Compute, Ok(())), (Ip::Sdma, Err(Errno::EINVAL))] {
        let bench = Bench::new(&card(KernelRelease::V7_2), ip);
        let mut secure = Userq { flags: USERQ_SECURE, ..bench.question() };
        assert_eq!(bench.file.send(&mut secure), expected, "{ip}");
    }
}

/// A card whose queues may have pending fences for long.
fn patient_card(kernel: KernelRelease) -> SimDevice {
    let lockup_timeout = LockupTimeout::all(Duration::from_mins(1));
    let options = SimOptions { user_queues: true, lockup_timeout, ..SimOptions::of_kernel(kernel) };
    SimDevice::new(profile("navi31").unwrap(), options)
}

/// Unmaps a BO.
fn unbind(file: &File, bo: u32) -> Result<(), Errno> {
    let (bound, _) = file.list_bindings(bo, 1).unwrap();
    file.va(VaOperation::Unmap, RWX, bo, Range { va: bound[0].addr, offset: 0, size: PAGE })
}

// Checks R232.
#[test]
fn an_unmapping_of_what_a_queue_needs_waits_for_its_last_fence() {
    for (kernel, waits) in [(KernelRelease::V7_0, false), (KernelRelease::V7_2, true), (KernelRelease::V7_3, true)] {
        let bench = Bench::new(&patient_card(kernel), Ip::Gfx);
        let queue = bench.create().unwrap();
        bench.push_ib(&bench.store(0, 7));
        bench.tell_memory_only();
        let syncobj = bench.file.syncobj(false);
        bench.signal(queue, syncobj).unwrap();
        let unbound = |bo: u32| {
            let is_done = AtomicBool::new(false);
            std::thread::scope(|scope| {
                let (file, is_done) = (&bench.file, &is_done);
                let unbinding = scope.spawn(move || {
                    let result = unbind(file, bo);
                    is_done.store(true, Ordering::Release);
                    result
                });
                std::thread::sleep(Duration::from_millis(200));
                let was_done = is_done.load(Ordering::Acquire);
                if !was_done {
                    bench.ring_doorbell();
                }
                assert_eq!(unbinding.join().unwrap(), Ok(()));
                was_done
            })
        };
        assert_eq!(unbound(bench.read), !waits, "{kernel}");
        if waits {
            bench.await_value(0, 7);
        }
        assert!(unbound(bench.write), "{kernel}: no fence is pending, or none is waited for");
    }
}

// Checks R232.
#[test]
fn a_queue_that_lost_its_memory_stays_off() {
    for (kernel, needs_all) in [(KernelRelease::V7_2, false), (KernelRelease::V7_3, true)] {
        let bench = Bench::new(&patient_card(kernel), Ip::Gfx);
        let queue = bench.create().unwrap();
        unbind(&bench.file, bench.area).unwrap();
        bench.push_ib(&bench.store(0, 7));
        bench.ring_doorbell();
        if needs_all {
            bench.await_complaint("stays off");
        } else {
            bench.await_value(0, 7);
            for bo in [bench.read, bench.write, bench.ring] {
                assert_eq!(bench.file.complaints(), "", "{kernel}");
                unbind(&bench.file, bo).unwrap();
            }
            bench.await_complaint("stays off");
            bench.push_ib(&bench.store(4, 9));
            bench.ring_doorbell();
        }
        std::thread::sleep(Duration::from_millis(100));
        assert_eq!((bench.load(0), bench.load(4)), (if needs_all { 0 } else { 7 }, 0), "{kernel}");
        bench.free(queue).unwrap();
    }
}

// Checks R232.
#[test]
fn evicted_memory_of_a_queue_comes_back_at_once() {
    for has_queue in [true, false] {
        let card = patient_card(KernelRelease::V6_17);
        let bench = Bench::new(&card, Ip::Gfx);
        let size = 64 << 20;
        let bo = bench.file.try_create(size, 0, GemDomain::VRAM, GemCreateFlags::DISCARDABLE).unwrap();
        bench.file.bind(bo, 0x100_0000_0000, size).unwrap();
        let queue = has_queue.then(|| bench.create().unwrap());
        let other = open(&card);
        let all: MemoryInfo = other.info(query::MEMORY, [0; 4]).unwrap();
        let free = all.vram.usable_heap_size - all.vram.heap_usage;
        for _ in 0..=free / (4 * size) {
            other.try_create(4 * size, 0, GemDomain::VRAM, GemCreateFlags::empty()).unwrap();
        }
        let is_back = || {
            let told = bench.file.0.fdinfo();
            let line = told.lines().find_map(|line| line.strip_prefix("drm-memory-vram:\t")).unwrap();
            line.trim_end_matches(" KiB").parse::<u64>().unwrap() >= size >> 10
        };
        let deadline = Instant::now() + Duration::from_millis(if has_queue { 20_000 } else { 200 });
        while !is_back() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(is_back(), has_queue);
        if let Some(queue) = queue {
            bench.push_ib(&bench.store(0, 7));
            bench.ring_doorbell();
            bench.await_value(0, 7);
            bench.free(queue).unwrap();
        }
    }
}

// Checks R233.
#[test]
fn a_queue_with_a_late_fence_is_reset_alone_and_from_linux_7_3_on_its_process_is_named() {
    for (kernel, is_named) in [(KernelRelease::V7_2, false), (KernelRelease::V7_3, true)] {
        let card = card(kernel);
        let (bench, other) = (Bench::new(&card, Ip::Gfx), Bench::new(&card, Ip::Gfx));
        let (queue, healthy) = (bench.create().unwrap(), other.create().unwrap());
        bench.push(&[0xc002_3f00, 0x6000_0000, 0, 8 | 1 << 23]);
        bench.ring_doorbell();
        bench.await_complaint("fetching commands failed");
        let syncobj = bench.file.syncobj(false);
        bench.tell(bench.pointer().max(1));
        bench.signal(queue, syncobj).unwrap();
        assert_eq!(bench.file.wait_syncobj(syncobj, long().cast_signed(), 0), Ok(()));
        let events = card.machine().uevents_after(0);
        let events: Vec<_> = events.iter().map(|event| WedgedEvent::parse(&event.message).unwrap()).collect();
        let [event] = &events[..] else { panic!("{kernel}: {events:?}") };
        assert_eq!((event.methods.as_str(), event.process.is_some()), ("none", is_named), "{kernel}");
        assert!(event.process.iter().all(|(pid, _)| *pid == std::process::id()));
        other.push_ib(&other.store(0, 7));
        other.ring_doorbell();
        other.await_value(0, 7);
        other.free(healthy).unwrap();
    }
}

// Checks R234.
#[test]
fn the_same_bo_twice_is_ealready_until_linux_7_2() {
    for (kernel, expected) in [(KernelRelease::V7_2, Err(Errno::EALREADY)), (KernelRelease::V7_3, Ok(()))] {
        let bench = Bench::new(&card(kernel), Ip::Gfx);
        let queue_id = bench.create().unwrap();
        let bo = bench.file.create(PAGE);
        let (once, twice) = ([bo], [bo, bo]);
        let signal = |bos: &[u32], written: &[u32]| {
            let (bo_read_handles, num_bo_read_handles) = (address(bos), bos.len() as u32);
            let (bo_write_handles, num_bo_write_handles) = (address(written), written.len() as u32);
            bench.file.send(&mut UserqSignal {
                queue_id,
                bo_read_handles,
                num_bo_read_handles,
                bo_write_handles,
                num_bo_write_handles,
                ..UserqSignal::ZEROED
            })
        };
        assert_eq!([signal(&twice, &[]), signal(&[], &twice), signal(&once, &once)], [expected; 3], "{kernel}");
        assert_eq!(signal(&once, &[]), Ok(()), "{kernel}");
        let (bo_read_handles, num_bo_read_handles) = (address(&twice), 2);
        let wait = UserqWait { waitq_id: queue_id, bo_read_handles, num_bo_read_handles, ..UserqWait::ZEROED };
        assert_eq!(bench.file.send(&mut { wait }), expected, "{kernel}");
    }
}

// Checks R235.
#[test]
fn queues_run_on_after_a_full_reset_and_hang_if_it_lost_vram() {
    let canceled = -Errno::ECANCELED.raw();
    let options = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V7_2) };
    for loses_vram in [false, true] {
        let card = SimDevice::new(profile("navi31").unwrap(), options);
        let bench = Bench::new(&card, Ip::Gfx);
        let queue = bench.create().unwrap();
        bench.push_ib(&bench.store(0, 7));
        bench.tell_memory_only();
        let syncobj = bench.file.syncobj(false);
        bench.signal(queue, syncobj).unwrap();
        let fence = bench.file.sync_file(syncobj).unwrap();
        let status = || sync_file_info(&card.machine(), &fence, 1).unwrap().1[0].status;
        if loses_vram {
            card.reset_and_lose_vram();
            assert!(is_readable(&fence, SOON));
            assert_eq!(status(), canceled);
            bench.ring_doorbell();
            let later = Bench::of_file(open(&card), Ip::Gfx, 0x4000_0000);
            later.create().unwrap();
            later.push_ib(&later.store(0, 9));
            later.ring_doorbell();
            later.await_value(0, 9);
            assert_eq!(bench.load(0), 0, "the queue of before the loss runs nothing");
        } else {
            card.reset();
            assert_eq!(status(), 0, "the fence is pending");
            bench.ring_doorbell();
            bench.await_value(0, 7);
            assert!(is_readable(&fence, SOON));
            assert_eq!(status(), 1);
        }
        bench.free(queue).unwrap();
    }
}

// Checks R235.
#[test]
fn a_queue_whose_wait_has_no_end_hangs_with_the_others_if_vram_is_lost() {
    let options = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V7_2) };
    let card = SimDevice::new(profile("navi31").unwrap(), options);
    let bench = Bench::new(&card, Ip::Sdma);
    let queue = bench.create().unwrap();
    bench.push_ib(&bench.store(0, 7));
    bench.push(&[0x8 | 3 << 28 | 1 << 31, 0x1000_0000, 0, 1, u32::MAX, 0x0fff_0010]);
    bench.ring_doorbell();
    bench.await_value(0, 7);
    let syncobj = bench.file.syncobj(false);
    bench.signal(queue, syncobj).unwrap();
    let fence = bench.file.sync_file(syncobj).unwrap();
    card.reset_and_lose_vram();
    assert!(is_readable(&fence, SOON));
    let status = sync_file_info(&card.machine(), &fence, 1).unwrap().1[0].status;
    assert_eq!((status, bench.file.complaints().as_str()), (-Errno::ECANCELED.raw(), ""));
}
