//! Records a stream in all supported ways, reads it back and prints its packets. Nothing is submitted.
//!
//! `cargo run --example record` runs on a simulated RX 6800; the example `copy` shows how to submit.

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{
        IbPlacement, IbPool, Inclusion, Stream, annotations,
        commands::{Barrier, Commands, Recorder, Span},
        pm4,
    },
    heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
    winsys::Device,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;
    let memory_type = manager.properties().type_for(MemoryUsage::GpuOnly).ok_or("no memory of the GPU")?;
    let memory = manager.allocate(&AllocateInfo::new(memory_type, 64 << 10))?;
    let target = pm4::Target::gfx(device.info().gfx_level);

    // IBs return to the pool when no queue uses them any more, so a steady recorder allocates nothing.
    let pool = IbPool::new(&device, IbPlacement::of(device.info(), 0), 1 << 20)?;

    // A list that other streams execute: by a call on the graphics ring, by a copy on other rings.
    let mut secondary = Stream::secondary(&device, target, 64)?;
    secondary.annotate("the secondary")?;
    secondary.push(&pm4::WriteData::new(memory.address(), &[1, 2, 3]))?;
    let secondary = secondary.finish()?;

    let mut recorder = Recorder::new(pool.stream(target, 64)?);
    recorder.annotate("clear")?; // text that a dump shows
    recorder.fill(Span::of(memory.binding(), 0, 64 << 10)?, 0)?; // a command
    recorder.barrier(Barrier::TRANSFER)?;
    recorder.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?; // a typed packet
    let execution = recorder.execute(&secondary, Inclusion::Auto)?; // another list
    let main = recorder.finish()?;

    // Dwords that are encoded already: the fastest way to record. It needs no error handling: if the stream cannot grow, `finish`
    // returns an error, and later dwords are discarded.
    let mut raw = pool.stream(target, 8)?;
    for value in 0..2000 {
        *raw.room() = [0xc000_1000, value];
    }
    println!("the secondary was {execution:?}; {} dwords in {} IBs", raw.len(), 1);
    let raw = raw.finish()?;

    // The kernel gets one IB for both lists: the first list ends with a jump to the second.
    main.chain(&raw)?;
    for list in [&main, &raw] {
        println!("{} IBs, of which {} are submitted", list.ibs().len(), list.submitted_ibs().len());
    }
    for (ib, (va, dwords)) in main.dwords().chain(raw.dwords()).zip(main.ibs().chain(raw.ibs())) {
        println!("{va}, {dwords} dwords:");
        for packet in pm4::decode(&ib, target).take(12) {
            let packet = packet?;
            println!("  {:5} {}", packet.offset, packet.command.name());
        }
        for (at, text) in annotations(&ib, main.target()) {
            println!("  {at:5} says \"{text}\"");
        }
    }
    main.unchain()?;
    Ok(())
}
