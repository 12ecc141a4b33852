//! R118 to R120: who has how much memory.

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::{
    uapi::{GemCreateFlags, GemDomain, MemoryInfo, query},
    winsys::Ip,
};

use crate::support::{Chunk, DATA, Job, PAGE, Rig, card, device, open, patient_card, reference};

const MIB: u64 = 1 << 20;

// Checks R118.
#[test]
fn heaps_are_consistent() {
    for profile in amdgpu_sim::profiles() {
        let device = device(&profile.name);
        let memory: MemoryInfo = open(&device).info(query::MEMORY, [0; 4]).unwrap();
        for heap in [memory.vram, memory.cpu_accessible_vram, memory.gtt] {
            assert_eq!(heap.heap_usage, 0, "{}", profile.name);
            assert!(heap.max_allocation <= heap.usable_heap_size, "{}", profile.name);
        }
        assert!(memory.vram.usable_heap_size + 8 * MIB <= memory.vram.total_heap_size, "{}", profile.name);
    }
}

// Checks R119.
#[test]
fn usage_follows_placement() {
    let device = card();
    let file = open(&device);
    let visible = || {
        let census = device.census();
        (census.vram_bytes / MIB, census.visible_vram_bytes / MIB, census.gtt_bytes / MIB)
    };
    let create = |domains, flags| file.try_create(64 * MIB, 0, domains, flags).unwrap();
    create(GemDomain::VRAM, GemCreateFlags::empty());
    assert_eq!(visible(), (64, 0, 0));
    create(GemDomain::VRAM, GemCreateFlags::CPU_ACCESS_REQUIRED);
    assert_eq!(visible(), (128, 64, 0));
    create(GemDomain::GTT, GemCreateFlags::empty());
    assert_eq!(visible(), (128, 64, 64));
    create(GemDomain::CPU, GemCreateFlags::empty());
    assert_eq!(visible(), (128, 64, 64), "system memory counts nowhere");
    assert_eq!(file.info(query::VRAM_USAGE, [0; 4]), Ok(128 * MIB));
    assert_eq!(file.info(query::VIS_VRAM_USAGE, [0; 4]), Ok(64 * MIB));
    assert_eq!(file.info(query::GTT_USAGE, [0; 4]), Ok(64 * MIB));
}

// Checks R119.
#[test]
fn the_kernels_own_memory_counts_as_used_and_stays() {
    let options = SimOptions { kernel_vram: 24 * MIB, ..reference() };
    let device = SimDevice::new(profile("navi21").unwrap(), options);
    let file = open(&device);
    assert_eq!(file.info(query::VRAM_USAGE, [0; 4]), Ok(24 * MIB));
    let total = device.memory_info().vram.total_heap_size;
    while file.try_create(1024 * MIB, 0, GemDomain::VRAM | GemDomain::GTT, GemCreateFlags::empty()).is_ok() {}
    assert!(device.memory_info().vram.heap_usage <= total);
    drop(file);
    assert_eq!(device.census().vram_bytes, 24 * MIB, "nothing evicts it");
    let greedy = SimOptions { kernel_vram: u64::MAX, ..reference() };
    let complaints = SimDevice::new(profile("navi21").unwrap(), greedy).complaints();
    assert!(complaints.iter().any(|one| one.contains("the kernel's own")), "{complaints:?}");
}

// Checks R119.
#[test]
fn usage_never_passes_the_total() {
    let device = card();
    let file = open(&device);
    let create = |domains| file.try_create(1024 * MIB, 0, domains, GemCreateFlags::empty());
    while create(GemDomain::VRAM | GemDomain::GTT).is_ok() {}
    assert_eq!(create(GemDomain::VRAM), Err(Errno::ENOMEM), "nobody has a place to go to");
    let memory: MemoryInfo = file.info(query::MEMORY, [0; 4]).unwrap();
    for heap in [memory.vram, memory.cpu_accessible_vram, memory.gtt] {
        assert!(heap.heap_usage <= heap.total_heap_size);
        assert!(heap.total_heap_size - heap.heap_usage < 1024 * MIB + 8 * MIB);
    }
    drop(file);
    assert_eq!(device.census().vram_bytes, 0);
}

// Checks R120.
#[test]
fn a_busy_bo_is_given_back_when_its_job_is_done() {
    let device = patient_card();
    let rig = Rig::new(&device);
    let [used, unused] = [(); 2].map(|()| rig.file.create(MIB));
    rig.file.bind(used, 0x1000_0000, MIB).unwrap();
    let before = device.census().gtt_bytes;
    let program = [rig.wait_value(Ip::Gfx, 0, 1), rig.copy(0x1000_0000, DATA + 4)].concat();
    rig.poke(4, 7);
    let job = Job::new(rig.context).with(Chunk::ib(Ip::Gfx, 0, rig.ib(&program)));
    let seq = job.with(Chunk::bos(&[rig.ibs, rig.data, used])).send(&rig.file).unwrap();
    rig.file.close(unused).unwrap();
    assert_eq!(device.census().gtt_bytes, before - MIB, "an idle BO goes at once, whatever runs");
    rig.file.close(used).unwrap();
    assert_eq!(device.census().gtt_bytes, before - MIB, "the job still uses it");
    rig.poke(0, 1);
    rig.finish(Ip::Gfx, 0, seq).unwrap();
    assert_eq!(device.census().gtt_bytes, before - 2 * MIB);
    assert_eq!(rig.load(4), 0, "and it was there till the end: {}", rig.file.complaints());
    assert_eq!(rig.file.complaints(), "");
    assert!(rig.file.create(PAGE) > 0);
}
