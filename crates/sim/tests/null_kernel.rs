//! The kernel that agrees to everything.

use amdgpu_sim::{NullKernel, profile};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, SyncPoint, pm4},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority, Syncobj},
};

fn device() -> Device {
    let profile = profile("navi21").expect("a chip of the simulator");
    Device::new(NullKernel::open(profile).expect("addresses")).expect("bring-up")
}

#[test]
fn it_describes_itself_as_the_captured_chip() {
    let device = device();
    assert_eq!(device.info().chip_name(), "NAVI21");
    assert!(device.memory_info().expect("INFO").vram.total_heap_size > 0);
}

#[test]
fn handles_count_up_and_each_mapping_is_memory_of_its_own() {
    let manager = MemoryManager::new(&device(), &TableOptions::default()).expect("tables");
    let mut memories: Vec<_> =
        (0..3).map(|_| manager.allocate(&AllocateInfo::new(5, 64 << 10)).expect("memory")).collect();
    assert!(memories.is_sorted_by(|a, b| a.bo().handle() < b.bo().handle()));
    for (index, memory) in memories.iter_mut().enumerate() {
        let mapping = memory.map().expect("a mapping");
        assert_eq!(mapping.load_u32((64 << 10) - 4).expect("in range"), 0);
        mapping.store_u32((64 << 10) - 4, index as u32).expect("in range");
    }
    for (index, memory) in memories.iter().enumerate() {
        let mapping = memory.mapping().expect("just mapped");
        assert_eq!(mapping.load_u32((64 << 10) - 4).expect("in range"), index as u32);
    }
}

#[test]
fn a_submission_has_signalled_when_it_returns() {
    let device = device();
    let context = Context::new(&device, Priority::Normal).expect("a context");
    let queue = Queue::new(&context, Ip::Compute, 0).expect("a queue");
    let mut stream = Stream::new(&device, queue_language(&device), 64).expect("a stream");
    stream.push(&pm4::Nop::Skip(&[0; 7])).expect("room");
    let list = stream.finish().expect("a list");
    let done = Syncobj::new(&device, false).expect("a sync object");
    let submission = Submission { lists: &[&list], signals: &[SyncPoint::binary(&done)], ..Submission::default() };
    let fences: Vec<_> = (0..3).map(|_| queue.submit(&submission).expect("submitted")).collect();
    assert_eq!(queue.in_flight(), 0, "its user fence was written");
    for fence in &fences {
        assert!(fence.wait(Deadline::at(0)).expect("not lost"));
    }
}

fn queue_language(device: &Device) -> pm4::Target {
    pm4::Target::compute(device.info().gfx_level)
}
