//! Suspension of the whole computer: what it keeps, what it moves, and what waits for its end.

use std::thread;

use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, MemoryInfo, query},
    winsys::Ip,
};

use crate::{
    support::{Chunk, DATA, Job, PAGE, Rig, open, patient, patient_card},
    user_queues::{self, Bench},
};

const SIZE: u64 = 1 << 20;
const VA: u64 = 0x100_0000_0000;

/// Copies a dword by a job that uses a BO.
fn copy(rig: &Rig, bo: u32, from: u64, to: u64) {
    let ib = rig.ib(&rig.copy(from, to));
    let listed = Chunk::bos(&[rig.ibs, rig.data, bo]);
    let number = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, ib)).with(listed).send(&rig.file).unwrap();
    rig.finish(Ip::Gfx, 0, number).unwrap();
}

#[test]
fn vram_goes_to_gtt_keeps_its_contents_and_comes_back_when_it_is_used() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let bo = rig.file.try_create(SIZE, 0, GemDomain::VRAM, GemCreateFlags::empty()).unwrap();
    rig.file.bind(bo, VA, SIZE).unwrap();
    rig.poke(0, 0x600d);
    copy(&rig, bo, DATA, VA);
    let before = device.census();
    let suspended = device.suspend().unwrap();
    let asleep = device.census();
    assert_eq!((asleep.vram_bytes, asleep.gtt_bytes), (0, before.gtt_bytes + SIZE));
    drop(suspended);
    assert_eq!(device.census().vram_bytes, 0, "nothing moves back by itself");
    copy(&rig, bo, VA, DATA + 4);
    assert_eq!((rig.load(4), device.census().vram_bytes), (0x600d, SIZE));
    let losses = rig.file.info::<u32>(query::VRAM_LOST_COUNTER, [0; 4]).unwrap();
    assert_eq!((losses, rig.reset_status(rig.context)), (0, 0), "no reset");
}

// Checks R261.
#[test]
fn nothing_returns_to_vram_until_a_submission_and_then_what_the_file_always_uses_does() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let domains = GemDomain::VRAM | GemDomain::GTT;
    let always = rig.file.try_create(SIZE, 0, domains, GemCreateFlags::VM_ALWAYS_VALID).unwrap();
    rig.file.bind(always, VA, SIZE).unwrap();
    drop(device.suspend().unwrap());
    assert_eq!(device.census().vram_bytes, 0);
    let number = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 0, 7)).unwrap();
    rig.finish(Ip::Gfx, 0, number).unwrap();
    assert_eq!(device.census().vram_bytes, SIZE, "also where it might have stayed in GTT");
}

#[test]
fn an_apu_keeps_its_vram() {
    let device = patient("renoir");
    let file = open(&device);
    let _bo = file.try_create(SIZE, 0, GemDomain::VRAM, GemCreateFlags::empty()).unwrap();
    let before = device.census().vram_bytes;
    let _suspended = device.suspend().unwrap();
    assert_eq!(device.census().vram_bytes, before);
}

#[test]
fn requests_are_frozen_and_jobs_that_wait_stay_queued() {
    let device = patient_card();
    let rig = Rig::new(&device);
    // Mappings of before stay usable, where a new one would wait for the wake-up.
    let view = rig.file.view(rig.data, PAGE);
    let held = device.hold_ring(Ip::Gfx, 0);
    let number = rig.run(Ip::Gfx, 0, &rig.store(Ip::Gfx, 0, 7)).unwrap();
    let suspended = device.suspend().unwrap();
    drop(held);
    thread::scope(|scope| {
        let frozen = scope.spawn(|| rig.file.info::<MemoryInfo>(query::MEMORY, [0; 4]));
        for _ in 0..100 {
            thread::yield_now();
        }
        assert!(!frozen.is_finished(), "a request of a frozen process");
        assert_eq!(view.load(0), 0, "a sleeping ring starts no job");
        drop(suspended);
        frozen.join().unwrap().unwrap();
    });
    rig.finish(Ip::Gfx, 0, number).unwrap();
    assert_eq!(rig.load(0), 7);
}

#[test]
fn jobs_that_run_end_before_the_computer_sleeps() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let view = rig.file.view(rig.data, PAGE);
    let number = rig.run(Ip::Compute, 0, &rig.wait_value(Ip::Compute, 0, 1)).unwrap();
    thread::scope(|scope| {
        let suspension = scope.spawn(|| device.suspend().map(drop));
        for _ in 0..100 {
            thread::yield_now();
        }
        assert!(!suspension.is_finished(), "it waits for the job");
        view.store(0, 1);
        suspension.join().unwrap().unwrap();
    });
    rig.finish(Ip::Compute, 0, number).unwrap();
}

#[test]
fn a_user_queue_goes_on_after_the_computer_wakes() {
    let device = user_queues::card();
    let bench = Bench::new(&device, Ip::Gfx);
    bench.create().unwrap();
    drop(device.suspend().unwrap());
    bench.push_ib(&bench.store(0, 7));
    bench.ring_doorbell();
    bench.await_value(0, 7);
}

#[test]
fn a_suspension_is_refused_where_it_cannot_be() {
    let device = patient_card();
    let suspended = device.suspend().unwrap();
    assert_eq!(device.suspend().map(drop), Err(Errno::EBUSY));
    drop(suspended);
    drop(device.suspend().unwrap());
    device.unplug();
    assert_eq!(device.suspend().map(drop), Err(Errno::ENODEV));
}
