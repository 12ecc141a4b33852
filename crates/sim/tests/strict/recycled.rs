//! Memory that others write, and memory that is given back.

use amdgpu_sim::{
    HazardKind, Pressed,
    gpu::{Client, Reach},
};
use amdgpu_winsys::{
    cs::{
        Queue, QueueOptions, Stream, Submission,
        pm4::{AcquireMem, CacheActions, CpDma},
        sdma,
    },
    heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
    winsys::{Context, Deadline, GfxLevel, Ip, Priority},
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    start,
};

/// Copies the second page over the first one by the copy engine, and waits for it.
fn copy_back(rig: &Rig) {
    let context = Context::new(&rig.device, Priority::Normal).unwrap();
    let queue = Queue::with_options(&context, Ip::Sdma, 0, QueueOptions::default()).unwrap();
    let mut stream = Stream::new(&rig.device, sdma::Version::of(rig.device.info().gfx_level), 64).unwrap();
    stream.push(&sdma::CopyLinear::new(rig.at(0), rig.at(4096), 4)).unwrap();
    let (list, memory) = (stream.finish().unwrap(), [rig.memory.binding().clone()]);
    let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
    assert!(queue.submit(&submission).unwrap().wait(Deadline::NEVER).unwrap());
}

#[test]
fn what_a_copy_engine_behind_l2_wrote_between_jobs_needs_an_invalidation_of_l2() {
    for chip in CHIPS.into_iter().chain(["gfx1201"]) {
        let run = |acquires: bool| {
            let rig = Rig::new(chip, Ip::Compute);
            let load = [Act::Load(Client::Vector, Reach::Unit)];
            Script::plug(&rig, &[&load, &load]);
            rig.poke(4096, 9);
            for is_second in [false, true] {
                rig.run(|stream| {
                    if acquires && is_second {
                        stream.push(&AcquireMem::all(rig.target(), CacheActions::INVALIDATE_L2)).unwrap();
                    }
                    start(stream);
                });
                copy_back(&rig);
            }
            (rig.kinds(), rig.level())
        };
        let (kinds, level) = run(false);
        // The kernel invalidates L2 after each job up to GFX9, and the copy engine is coherent with L2 up to GFX11.5.
        let expected = if level >= GfxLevel::Gfx12 { vec![HazardKind::StaleRead] } else { vec![] };
        assert_eq!((kinds, run(true).0), (expected, vec![]), "{chip}");
    }
}

#[test]
fn loads_of_the_scope_of_the_system_find_what_the_cpu_wrote_and_those_of_the_device_need_an_invalidation() {
    for chip in CHIPS.into_iter().chain(["gfx1201"]) {
        let run = |reach: Reach| {
            let rig = Rig::new(chip, Ip::Compute);
            let load = [Act::Load(Client::Vector, reach)];
            Script::plug(&rig, &[&load, &load]);
            for value in [1, 2] {
                rig.poke(0, value);
                rig.run(start);
            }
            (rig.kinds(), rig.level())
        };
        let (kinds, level) = run(Reach::Device);
        let expected = if level >= GfxLevel::Gfx10 { vec![HazardKind::StaleRead] } else { vec![] };
        assert_eq!((kinds, run(Reach::System).0), (expected, vec![]), "{chip}");
    }
}

#[test]
fn memory_that_is_given_back_causes_no_report_about_the_next_one() {
    for chip in CHIPS {
        let rig = Rig::new(chip, Ip::Gfx);
        let manager = MemoryManager::new(&rig.device, &TableOptions::default()).unwrap();
        let kind = manager.properties().type_for(MemoryUsage::Readback).unwrap();
        for value in 1..4 {
            let memory = manager.allocate(&AllocateInfo::new(kind, 1 << 20)).unwrap();
            memory.map().unwrap().store_u32(0, value).unwrap();
            let mut stream = Stream::new(&rig.device, rig.target(), 256).unwrap();
            let copy = |to, from| CpDma::copy(rig.level(), to, from, 4).with_sync(true);
            let next = memory.address().checked_add(4096).unwrap();
            stream.push(&copy(rig.at(4096), memory.address())).unwrap();
            stream.push(&copy(next, rig.at(4096))).unwrap();
            let list = stream.finish().unwrap();
            let used = [rig.memory.binding().clone(), memory.binding().clone()];
            let submission = Submission { lists: &[&list], memory: &used, ..Submission::default() };
            assert!(rig.queue.submit(&submission).unwrap().wait(Deadline::NEVER).unwrap());
            assert_eq!(memory.map().unwrap().load_u32(4096).unwrap(), value, "{chip}");
        }
        assert!(rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
    }
}

#[test]
fn memory_that_is_evicted_causes_no_report_unless_the_move_changes_it() {
    const SIZE: u64 = 256 << 20;
    for chip in CHIPS {
        let run = |loses: bool| {
            let rig = Rig::new(chip, Ip::Gfx);
            rig.gpu.lose_evicted(loses);
            let manager = MemoryManager::new(&rig.device, &TableOptions::default()).unwrap();
            let kind = manager.properties().type_for(MemoryUsage::GpuOnly).unwrap();
            let memory = manager.allocate(&AllocateInfo::new(kind, SIZE)).unwrap();
            let copy = |to, from| {
                let mut stream = Stream::new(&rig.device, rig.target(), 256).unwrap();
                stream.push(&CpDma::copy(rig.level(), to, from, 4).with_sync(true)).unwrap();
                let list = stream.finish().unwrap();
                let used = [rig.memory.binding().clone(), memory.binding().clone()];
                let submission = Submission { lists: &[&list], memory: &used, ..Submission::default() };
                assert!(rig.queue.submit(&submission).unwrap().wait(Deadline::NEVER).unwrap());
            };
            rig.poke(0, 7);
            copy(memory.address(), rig.at(0));
            let vram = rig.gpu.memory_info().vram;
            // Only the largest BO can make room for this.
            let pressed = vram.usable_heap_size - vram.heap_usage + SIZE / 2;
            drop(rig.gpu.press(Pressed::Vram, pressed).unwrap());
            copy(rig.at(4096), memory.address());
            assert_eq!(rig.peek(4096), if loses { 0 } else { 7 }, "{chip}: it has moved");
            (rig.kinds(), rig.level())
        };
        assert_eq!(run(false).0, [], "{chip}");
        let (kinds, level) = run(true);
        // The kernel's end of job invalidates L2 up to GFX9.
        let expected = if level >= GfxLevel::Gfx10 { vec![HazardKind::StaleRead] } else { vec![] };
        assert_eq!(kinds, expected, "{chip}");
    }
}
