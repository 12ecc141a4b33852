//! Copies memory on every kind of ring and checks the result, with the same commands for all rings.
//!
//! `cargo run --example copy` runs on a simulated RX 6800, so that it works on any machine. On a Radeon, replace the first line of
//! `main` with `Device::open("/dev/dri/renderD128")?`.

use std::time::Duration;

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::{
    cs::{
        CommandList, Queue, Stream, Submission, Target,
        commands::{Barrier, Commands, Point, Recorder, Span},
    },
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryUsage, TableOptions},
    winsys::{Context, Deadline, Device, Ip, Priority},
};

const BYTES: u64 = 1 << 20;
/// Offset of the destination, bytes.
const TO: u64 = 2 << 20;
const STAMPS: u64 = 4 << 20;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;
    let memory = allocate(&manager)?;
    let pattern: Vec<u8> = (0..BYTES).map(|index| (index * 7) as u8).collect();
    memory.map()?.write(0, &pattern)?;

    let context = Context::new(&device, Priority::Normal)?;
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        memory.map()?.write(TO, &vec![0; pattern.len()])?;
        let queue = Queue::new(&context, ip, 0)?;
        let list = record(&device, queue.target(), &memory)?;

        // The submission keeps its lists and memory alive until the fence has signalled.
        let fence = queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() })?;
        if !fence.wait(Deadline::after(Duration::from_secs(2)))? {
            return Err(format!("{ip} did not finish in time").into());
        }

        let mut copied = vec![0; pattern.len()];
        memory.map()?.read(TO, &mut copied)?;
        assert_eq!(copied, pattern);
        let ticks = memory.map()?.load_u64(STAMPS + 8)? - memory.map()?.load_u64(STAMPS)?;
        println!("{ip}: {BYTES} bytes copied in {ticks} ticks, {} dwords of commands", list.len());
    }
    Ok(())
}

/// Records the commands in the language of a ring.
fn record(device: &Device, target: Target, memory: &DeviceMemory) -> Result<CommandList, Box<dyn std::error::Error>> {
    Ok(match target {
        Target::Pm4(target) => {
            let mut recorder = Recorder::new(Stream::new(device, target, 256)?);
            copy(&mut recorder, memory)?;
            recorder.finish()?
        }
        Target::Sdma(version) => {
            let mut recorder = Recorder::new(Stream::new(device, version, 256)?);
            copy(&mut recorder, memory)?;
            recorder.finish()?
        }
    })
}

/// Records the same commands for any ring. Ranges are checked against the memory, and long ones are split into packets.
fn copy(commands: &mut dyn Commands, memory: &DeviceMemory) -> Result<(), Box<dyn std::error::Error>> {
    let span = |offset, bytes| Span::of(memory.binding(), offset, bytes);
    commands.timestamp(span(STAMPS, 8)?.address(), Point::Bottom)?;
    commands.copy(span(TO, BYTES)?, span(0, BYTES)?)?;
    commands.barrier(Barrier::TRANSFER)?;
    commands.timestamp(span(STAMPS + 8, 8)?.address(), Point::Bottom)?;
    Ok(())
}

fn allocate(manager: &MemoryManager) -> Result<DeviceMemory, Box<dyn std::error::Error>> {
    let memory_type = manager.properties().type_for(MemoryUsage::Readback).ok_or("no memory that the CPU reads")?;
    Ok(manager.allocate(&AllocateInfo::new(memory_type, STAMPS + 4096))?)
}
