//! R59 and what goes with it: where BOs are when there is not room for all.

use amdgpu_sim::{Pressed, SimDevice};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    cs::sdma,
    uapi::{GEM_OP_SET_PLACEMENT, GemCreateFlags, GemDomain, GemOp, MemoryInfo, query},
    vamgr::GpuVa,
    winsys::Ip,
};

use crate::support::{Chunk, DATA, Job, PAGE, Rig, card, device, patient_card};

const VRAM: GemDomain = GemDomain::VRAM;
const GTT: GemDomain = GemDomain::GTT;
const PLAIN: GemCreateFlags = GemCreateFlags::empty();
const MIB: u64 = 1 << 20;
const GIB: u64 = 1 << 30;
/// Address of a test's BOs, bound one behind the other.
const VA: u64 = 0x100_0000_0000;
const STEP: u64 = 1 << 36;

/// MiB in VRAM, in its visible part, and in GTT, without the rig's own.
fn places(device: &SimDevice, rig_gtt: u64) -> (u64, u64, u64) {
    let census = device.census();
    (census.vram_bytes / MIB, census.visible_vram_bytes / MIB, (census.gtt_bytes - rig_gtt) / MIB)
}

/// Bytes moved, evictions, CPU page faults.
fn moves(rig: &Rig) -> [u64; 3] {
    [query::NUM_BYTES_MOVED, query::NUM_EVICTIONS, query::NUM_VRAM_CPU_PAGE_FAULTS]
        .map(|query| rig.file.info(query, [0; 4]).unwrap())
}

/// Returns the rig's own bytes in GTT.
fn own(rig: &Rig, device: &SimDevice) -> u64 {
    assert_eq!(rig.file.0.census().handles, 2, "the rig's BOs come first");
    device.census().gtt_bytes
}

/// Submits a program with these BOs listed beside the rig's own.
fn submit(rig: &Rig, bos: &[u32], program: &[u32]) -> Result<u64, Errno> {
    let listed = [&[rig.ibs, rig.data], bos].concat();
    Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(program))).with(Chunk::bos(&listed)).send(&rig.file)
}

/// The same, done when it returns.
fn run(rig: &Rig, bos: &[u32], program: &[u32]) {
    let number = submit(rig, bos, program).unwrap();
    rig.finish(Ip::Gfx, 0, number).unwrap();
}

/// Puts a value at an address that a listed BO is bound at.
fn write(rig: &Rig, bo: u32, va: u64, value: u32) {
    rig.poke(0, value);
    run(rig, &[bo], &rig.copy(DATA, va));
}

fn read(rig: &Rig, bo: u32, va: u64) -> u32 {
    rig.poke(0, u32::MAX);
    run(rig, &[bo], &rig.copy(va, DATA));
    rig.load(0)
}

// Checks R59.
#[test]
fn data_survives_when_memory_is_overcommitted() {
    let device = card();
    let rig = Rig::new(&device);
    let MemoryInfo { vram, gtt, .. } = rig.file.info(query::MEMORY, [0; 4]).unwrap();
    let sizes =
        [(VRAM, vram), (VRAM, vram), (GTT, gtt), (GTT, gtt)].map(|(domain, heap)| (domain, heap.max_allocation));
    let mut bos = Vec::new();
    for (index, (domains, size)) in (0..).zip(sizes) {
        let size = size & !(PAGE - 1);
        let bo = rig.file.try_create(size, 0, domains, PLAIN).unwrap();
        let va = VA + index * STEP;
        rig.file.bind(bo, va, size).unwrap();
        write(&rig, bo, va, 100 + index as u32);
        write(&rig, bo, va + size - 4, 200 + index as u32);
        bos.push((bo, va, size));
    }
    assert!(moves(&rig)[1] > 0, "there was not room for all");
    for (index, &(bo, va, size)) in (0..).zip(&bos) {
        assert_eq!((read(&rig, bo, va), read(&rig, bo, va + size - 4)), (100 + index, 200 + index));
        let memory: MemoryInfo = rig.file.info(query::MEMORY, [0; 4]).unwrap();
        assert!(memory.vram.heap_usage <= memory.vram.total_heap_size);
        assert!(memory.gtt.heap_usage <= memory.gtt.total_heap_size);
    }
    for (bo, ..) in bos {
        rig.file.close(bo).unwrap();
    }
    assert_eq!(places(&device, device.census().gtt_bytes), (0, 0, 0));
}

// Checks R59.
#[test]
fn a_kernel_that_loses_what_it_evicts_is_found_out() {
    let device = card();
    device.lose_evicted(true);
    let rig = Rig::new(&device);
    let bo = rig.file.try_create(8 * GIB, 0, VRAM, PLAIN).unwrap();
    rig.file.bind(bo, VA, 8 * GIB).unwrap();
    write(&rig, bo, VA, 7);
    assert_eq!(read(&rig, bo, VA), 7);
    rig.file.try_create(12 * GIB, 0, VRAM, PLAIN).unwrap();
    assert_eq!(read(&rig, bo, VA), 0);
}

// Checks R59.
#[test]
fn pressure_evicts_even_what_a_job_uses_and_its_data_survives() {
    let device = card();
    let rig = Rig::new(&device);
    let MemoryInfo { vram, gtt, .. } = rig.file.info(query::MEMORY, [0; 4]).unwrap();
    let bo = rig.file.try_create(8 * GIB, 0, VRAM, PLAIN).unwrap();
    rig.file.bind(bo, VA, 8 * GIB).unwrap();
    write(&rig, bo, VA, 7);
    let before = moves(&rig)[1];
    let pressure = device.press(Pressed::Vram, 12 * GIB).unwrap();
    assert_eq!(moves(&rig)[1], before + 1);
    assert_eq!(read(&rig, bo, VA), 7, "in GTT by now");
    assert!(device.memory_info().vram.heap_usage >= 12 * GIB, "what is pinned gave way");
    assert_eq!(
        rig.file.try_create(vram.total_heap_size - 10 * GIB, 0, VRAM, PLAIN).map(|_| ()),
        Ok(()),
        "it falls back"
    );
    assert_eq!(device.press(Pressed::Gtt, gtt.total_heap_size + 1).map(drop), Err(Errno::ENOMEM));
    assert_eq!(device.press(Pressed::VisibleVram, u64::MAX).map(drop), Err(Errno::ENOMEM));
    drop(pressure);
    run(&rig, &[bo], &[]);
    assert_eq!(read(&rig, bo, VA), 7);
}

#[test]
fn vram_alone_sends_away_what_was_not_used_for_longest() {
    let device = card();
    let rig = Rig::new(&device);
    let gtt = own(&rig, &device);
    let [first, second, third] = [(); 3].map(|()| rig.file.try_create(5 * GIB, 0, VRAM, PLAIN).unwrap());
    assert_eq!(places(&device, gtt), (15 * 1024, 0, 0));
    run(&rig, &[first], &[]);
    rig.file.try_create(2 * GIB, 0, VRAM, PLAIN).unwrap();
    assert_eq!(places(&device, gtt), (12 * 1024, 0, 5 * 1024));
    assert_eq!(moves(&rig), [5 * GIB, 1, 0]);
    rig.file.close(second).unwrap();
    assert_eq!(places(&device, gtt), (12 * 1024, 0, 0), "it was the second that went");
    for bo in [first, third] {
        rig.file.close(bo).unwrap();
    }
    assert_eq!(places(&device, gtt), (2 * 1024, 0, 0));
}

#[test]
fn vram_or_gtt_sends_nobody_away_while_either_has_room() {
    let device = card();
    let rig = Rig::new(&device);
    let gtt = own(&rig, &device);
    rig.file.try_create(12 * GIB, 0, VRAM, PLAIN).unwrap();
    rig.file.try_create(6 * GIB, 0, VRAM | GTT, PLAIN).unwrap();
    assert_eq!(places(&device, gtt), (12 * 1024, 0, 6 * 1024));
    assert_eq!(moves(&rig), [0; 3]);
    rig.file.try_create(10 * GIB, 0, VRAM | GTT, PLAIN).unwrap();
    assert_eq!(moves(&rig)[1], 1, "now VRAM is made free");
}

#[test]
fn what_was_evicted_comes_back_while_moves_are_allowed() {
    let device = card();
    let rig = Rig::new(&device);
    let gtt = own(&rig, &device);
    // Full to the last 8 MiB, which no request gets: only what was saved up may be moved.
    let all = device.profile().memory.vram.total_heap_size - 8 * MIB;
    let [first, second] = [(); 2].map(|()| rig.file.try_create(GIB, 0, VRAM, PLAIN).unwrap());
    rig.file.try_create(all, 0, VRAM, PLAIN).unwrap();
    let visible = device.profile().memory.cpu_accessible_vram.total_heap_size / MIB - 8;
    assert_eq!(places(&device, gtt), (all / MIB, visible, 2048));
    run(&rig, &[first], &[]);
    let moved = moves(&rig);
    assert_eq!(places(&device, gtt).0, 1024, "the first is back, and what was in its way is gone");
    rig.file.try_create(all - GIB, 0, VRAM, PLAIN).unwrap();
    let before = places(&device, gtt);
    run(&rig, &[second], &[]);
    assert_eq!(places(&device, gtt), before, "no more than that: it is used where it is");
    assert_eq!(moves(&rig), moved);
}

#[test]
fn a_submission_that_cannot_be_brought_together_is_enomem() {
    let device = card();
    let rig = Rig::new(&device);
    let bos = [(); 3].map(|()| rig.file.try_create(12 * GIB, 0, GTT, PLAIN).unwrap());
    assert_eq!(submit(&rig, &bos, &[]), Err(Errno::ENOMEM));
    assert_eq!(submit(&rig, &bos[..1], &[]), Ok(1), "no number was used");
}

#[test]
fn a_new_placement_counts_from_the_next_submission_on() {
    let device = card();
    let rig = Rig::new(&device);
    let gtt = own(&rig, &device);
    let bo = rig.file.try_create(64 * MIB, 0, VRAM, PLAIN).unwrap();
    rig.file.bind(bo, VA, 64 * MIB).unwrap();
    write(&rig, bo, VA, 5);
    let place = |domains: GemDomain| {
        let mut request = GemOp { handle: bo, op: GEM_OP_SET_PLACEMENT, value: domains.bits() };
        rig.file.send(&mut request).unwrap();
    };
    for (domains, there) in [(GTT, (0, 0, 64)), (VRAM, (64, 0, 0)), (VRAM | GTT, (64, 0, 0))] {
        let before = places(&device, gtt);
        place(domains);
        assert_eq!(places(&device, gtt), before, "nothing moves now");
        assert_eq!(read(&rig, bo, VA), 5);
        assert_eq!(places(&device, gtt), there);
    }
    place(GemDomain::CPU);
    assert_eq!(read(&rig, bo, VA), 0, "out of the GPU's reach");
    assert_eq!(places(&device, gtt), (0, 0, 0));
    place(GTT);
    assert_eq!(read(&rig, bo, VA), 5, "and back");
}

#[test]
fn always_valid_bos_come_back_without_being_listed() {
    let device = card();
    let (rig, other) = (Rig::new(&device), Rig::new(&device));
    let always = rig.file.try_create(5 * GIB, 0, VRAM, GemCreateFlags::VM_ALWAYS_VALID).unwrap();
    rig.file.bind(always, VA, 5 * GIB).unwrap();
    rig.poke(0, 9);
    run(&rig, &[], &rig.copy(DATA, VA));
    let large = other.file.try_create(14 * GIB, 0, VRAM, PLAIN).unwrap();
    assert_eq!(device.census().vram_bytes, 14 * GIB);
    run(&other, &[], &[]);
    assert_eq!(device.census().vram_bytes, 14 * GIB, "another file's submission has nothing to do with it");
    other.file.close(large).unwrap();
    run(&rig, &[], &rig.copy(VA, DATA + 4));
    assert_eq!(device.census().vram_bytes, 5 * GIB);
    assert_eq!(rig.load(4), 9);
}

#[test]
fn the_cpu_brings_what_it_touches_into_its_sight() {
    let device = card();
    let rig = Rig::new(&device);
    let gtt = own(&rig, &device);
    let bo = rig.file.try_create(200 * MIB, 0, VRAM, PLAIN).unwrap();
    assert_eq!(places(&device, gtt), (200, 0, 0));
    rig.file.view(bo, PAGE).store(0, 1);
    assert_eq!(places(&device, gtt), (200, 200, 0));
    assert_eq!(moves(&rig), [200 * MIB, 0, 1]);
    rig.file.view(bo, PAGE).store(4, 1);
    assert_eq!(moves(&rig), [200 * MIB, 0, 1], "it is there already");
    let second = rig.file.try_create(200 * MIB, 0, VRAM, PLAIN).unwrap();
    rig.file.view(second, PAGE).store(0, 1);
    assert_eq!(places(&device, gtt), (200, 200, 200), "nobody is sent away for it");
    assert_eq!(moves(&rig), [400 * MIB, 0, 2]);
    let gone = rig.file.try_create(200 * MIB, 0, VRAM, GemCreateFlags::NO_CPU_ACCESS).unwrap();
    assert_eq!(rig.file.offset(gone), Err(Errno::EPERM));
}

#[test]
fn visible_vram_is_made_free_by_moving_within_vram_first() {
    let device = card();
    let rig = Rig::new(&device);
    let gtt = own(&rig, &device);
    let wanted = GemCreateFlags::CPU_ACCESS_REQUIRED;
    rig.file.try_create(200 * MIB, 0, VRAM, wanted).unwrap();
    rig.file.try_create(100 * MIB, 0, VRAM, wanted).unwrap();
    assert_eq!(places(&device, gtt), (300, 100, 0));
    assert_eq!(moves(&rig), [200 * MIB, 1, 0]);
    rig.file.try_create(300 * MIB, 0, VRAM, wanted).unwrap();
    assert_eq!(places(&device, gtt).0, 600, "more than the CPU ever sees: the hint is dropped");
}

#[test]
fn what_is_discardable_goes_first_and_is_thrown_away() {
    let device = card();
    let rig = Rig::new(&device);
    let gtt = own(&rig, &device);
    let older = rig.file.try_create(4 * GIB, 0, VRAM, PLAIN).unwrap();
    let cache = rig.file.try_create(8 * GIB, 0, VRAM, GemCreateFlags::DISCARDABLE).unwrap();
    rig.file.bind(cache, VA, 8 * GIB).unwrap();
    write(&rig, cache, VA, 3);
    let large = rig.file.try_create(6 * GIB, 0, VRAM, PLAIN).unwrap();
    assert_eq!(places(&device, gtt), (10 * 1024, 0, 0));
    assert_eq!(moves(&rig), [0; 3], "nothing was copied");
    for bo in [large, older] {
        rig.file.close(bo).unwrap();
    }
    assert_eq!(read(&rig, cache, VA), 0);
    assert_eq!(places(&device, gtt), (8 * 1024, 0, 0), "it may be in VRAM only");
}

// Checks R57.
#[test]
fn on_chip_resources_that_the_chip_lacks_fail_when_they_are_used() {
    let rig = Rig::new(&card());
    let [some, more] = [1024, 1 << 20].map(|size| rig.file.try_create(size, 0, GemDomain::GDS, PLAIN).unwrap());
    run(&rig, &[some], &[]);
    assert_eq!(submit(&rig, &[more], &[]), Err(Errno::ENOMEM));
}

#[test]
fn an_apu_leaves_in_gtt_what_may_be_there() {
    let device = device("renoir");
    let rig = Rig::new(&device);
    let gtt = own(&rig, &device);
    let vram = device.profile().memory.vram.total_heap_size;
    let filler = rig.file.try_create(vram - 8 * MIB, 0, VRAM, PLAIN).unwrap();
    let bo = rig.file.try_create(64 * MIB, 0, VRAM | GTT, PLAIN).unwrap();
    assert_eq!(places(&device, gtt).2, 64);
    rig.file.close(filler).unwrap();
    run(&rig, &[bo], &[]);
    assert_eq!(places(&device, gtt), (0, 0, 64));
}

/// 65530 mappings is the default limit, and descriptors are fewer.
#[test]
fn more_bos_than_a_process_has_mappings_are_written_and_read() {
    const COUNT: u64 = 66_000;
    let rig = Rig::new(&patient_card());
    let mut bos = Vec::new();
    for index in 0..COUNT {
        let bo = rig.file.create(PAGE);
        rig.file.bind(bo, VA + index * PAGE, PAGE).unwrap();
        bos.push(bo);
    }
    // In one fill for each thousand: what is in GTT need not be listed.
    let fills = (0..COUNT).step_by(1000).flat_map(|first| {
        let to = GpuVa::new(VA + first * PAGE).unwrap();
        rig.encode_sdma(&sdma::ConstFill::new(to, 0x1234_5678, (1000 * PAGE) as u32))
    });
    let seq = rig.run(Ip::Sdma, 0, &fills.collect::<Vec<_>>()).unwrap();
    rig.finish(Ip::Sdma, 0, seq).unwrap();
    for index in [0, COUNT / 2, COUNT - 1] {
        assert_eq!(read(&rig, bos[index as usize], VA + index * PAGE + 64), 0x1234_5678);
        assert_eq!(rig.file.view(bos[index as usize], PAGE).load(64), 0x1234_5678, "the CPU sees the same");
    }
    assert_eq!(rig.file.complaints(), "");
    for bo in bos {
        rig.file.close(bo).unwrap();
    }
    assert_eq!(rig.file.0.census().bindings, 2);
}
