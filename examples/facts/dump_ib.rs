//! Prints a submitted list: every packet with its fields, registers and addresses by name, and the list that it calls.
//!
//! `cargo run --example dump_ib` runs on a simulated RX 6800, so that it works on any machine. On a Radeon, replace
//! `SimKernel::open(...)` with `RenderNode::open("/dev/dri/renderD128".as_ref())?`. To print the submissions of another program,
//! use `amdgpu-ib dump --recording FILE`.

use std::{collections::HashMap, time::Duration};

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{
        CommandList, Inclusion, Queue, Stream, Submission,
        dump::Dumper,
        pm4,
        registers::{self, SetRegisters},
    },
    heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority, VaMap},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // To print names instead of addresses, give the device a VA map, and the BOs names.
    let map = VaMap::new(64);
    let kernel = SimKernel::open(profile("navi21").ok_or("no such chip")?);
    let device = Device::with_observer(kernel, map.clone())?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;
    let memory_type = manager.properties().type_for(MemoryUsage::GpuOnly).ok_or("no memory of the GPU")?;
    let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
    map.name(memory.bo().handle(), "results");

    // A list with several kinds of packets, and another list that it calls.
    let target = pm4::Target::gfx(device.info().gfx_level);
    let mut called = Stream::secondary(&device, target, 64)?;
    called.annotate("the secondary list")?;
    called.push(&pm4::WriteData::new(memory.address(), &[1, 2, 3]))?;
    let called = called.finish()?;
    let mut stream = Stream::new(&device, target, 256)?;
    stream.annotate("the primary list")?;
    let threads = registers::COMPUTE_NUM_THREAD_X.offset(target.level).ok_or("no such register")?;
    stream.push(&SetRegisters::new(threads, &[64, 1, 1]))?;
    stream.execute(&called, Inclusion::Auto)?;
    stream.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?;
    stream.push(&pm4::EndOfPipe::fence(memory.address().checked_add(64).ok_or("no such address")?, 1))?;
    let list = stream.finish()?;

    let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
    let fence = queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() })?;
    assert!(fence.wait(Deadline::after(Duration::from_secs(10)))?);

    // The dumper calls one closure for the memory of a called IB, and another for the name of an address.
    let ibs: HashMap<_, _> = [&list, &called].into_iter().flat_map(ibs).collect();
    let memory_of = |va, dwords| ibs.get(&(va, dwords)).cloned();
    let names = |address| Some(map.lookup(address).to_string());
    let dumper = Dumper::new(target).with_memory(&memory_of).with_names(&names);
    for ((va, _), dwords) in list.submitted_ibs().zip(list.dwords()) {
        let dump = dumper.dump(&dwords, Some(va));
        print!("{dump}");
        println!("{} IBs, {} packets not understood", dump.ibs.len(), dump.problems().count());
    }
    Ok(())
}

/// Returns the dwords of a list's IBs, by address and length.
fn ibs(list: &CommandList) -> impl Iterator<Item = ((amdgpu_winsys::vamgr::GpuVa, usize), Vec<u32>)> {
    list.ibs().zip(list.dwords())
}
