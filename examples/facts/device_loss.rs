//! Lost work: a job that uses freed memory and hangs, the reports about it, and the recovery.
//!
//! `cargo run --example device_loss` runs on a simulated RX 6800, so that it works on any machine. **It makes the GPU hang on
//! purpose**, so be careful when you run it on a real one: replace `gpu.open()` with
//! `RenderNode::open("/dev/dri/renderD128".as_ref())?`.

use std::time::Duration;

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    cs::{Breadcrumbs, HangReport, Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
    winsys::{Blame, Context, Deadline, Device, Ip, LossReason, Priority, VaMap},
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The VA map observes every binding, and remembers those that ended.
    let map = VaMap::new(64);
    // The real kernel waits ten seconds for the job.
    let options = SimOptions::hanging_for(Duration::from_millis(200));
    let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    let device = Device::with_observer(gpu.open(), map.clone())?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;
    let context = Context::new(&device, Priority::Normal)?;
    let queue = Queue::new(&context, Ip::Gfx, 0)?;
    let crumbs = Breadcrumbs::new(&device)?;

    let memory_type = manager.properties().type_for(MemoryUsage::GpuOnly).ok_or("no memory of the GPU")?;
    let secondary = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
    map.name(secondary.bo().handle(), "secondary commands");
    let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 256)?;
    crumbs.begin(&mut stream, 1)?;
    stream.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH))?;
    crumbs.end(&mut stream, 1)?;
    crumbs.begin(&mut stream, 2)?;
    stream.push(&pm4::IndirectBuffer::call(secondary.address(), 64))?;
    crumbs.end(&mut stream, 2)?;
    let list = stream.finish()?;
    // The mistake: neither the list nor the submission keeps the memory alive.
    drop(secondary);

    let submission = Submission { lists: &[&list], memory: crumbs.binding(), ..Submission::default() };
    let fence = queue.submit(&submission)?;
    let error = match fence.wait(Deadline::after(Duration::from_mins(1))) {
        Ok(is_done) => return Err(format!("it should have hung, but it is done: {is_done}").into()),
        Err(error) => error,
    };

    // The result that a Vulkan driver returns, and the cause of the loss.
    let loss = error.loss().ok_or("it is another error")?;
    println!("{error}\n{:?}: {:?}, {:?}\n", error.vk_result(), loss.reason, loss.blame);
    assert_eq!((loss.reason, loss.blame), (LossReason::Hung, Blame::Guilty));

    // The place of the hang: marks, the commands around the last one, and the object that the fault hit.
    println!("{}", HangReport::new(&device).with_queue(&queue, Some(&crumbs)));

    // The context is lost for good, but the device is not: a new context works. Data must be uploaded again only if VRAM was lost.
    assert!(queue.check().is_err() && !loss.vram_lost);
    drop((queue, context));
    let queue = Queue::new(&Context::new(&device, Priority::Normal)?, Ip::Gfx, 0)?;
    let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64)?;
    crumbs.end(&mut stream, 3)?;
    let list = stream.finish()?;
    let fence = queue.submit(&Submission { lists: &[&list], ..submission })?;
    assert!(fence.wait(Deadline::after(Duration::from_secs(2)))?);
    println!("a new context has come to mark {}", crumbs.progress().done);
    Ok(())
}
