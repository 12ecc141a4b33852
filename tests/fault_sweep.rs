//! Every call of a whole scenario fails once, for every n: nothing is leaked, nothing panics, every error is typed.

mod support;

use std::sync::Arc;

use amdgpu_sim::{FaultInjector, SimKernel};
use amdgpu_winsys::{
    cs::{
        Breadcrumbs, Fence, Gang, HangReport, Listing, Patience, Queue, QueueOptions, Queues, Stream, Submission,
        SyncPoint, Target, pm4, sdma,
    },
    heaps::{AllocateFlags, AllocateInfo, MemoryManager, MemoryPropertyFlags, TableOptions},
    winsys::{
        Bo, BoMetadata, Context, Deadline, Device, Ip, Mapping, Priority, StablePstate, Syncobj, VmidReservation,
        WaitFor,
    },
};
use nix::errno::Errno;
use support::{Trouble, chip, job_time};

type Kernel = Arc<FaultInjector<SimKernel>>;

/// What a driver does between two frames, once over: every kind of call the library makes is in it.
fn scenario(device: &Arc<Device>) -> Result<(), Trouble> {
    let manager = MemoryManager::new(device, &TableOptions::default())?;
    let mut memories = Vec::new();
    for (index, ty) in manager.properties().types().iter().enumerate() {
        let memory = manager.allocate(&AllocateInfo::new(index as u32, 64 << 10))?;
        if ty.properties.contains(MemoryPropertyFlags::HOST_VISIBLE) {
            memory.map()?.write(0, &[index as u8; 100])?;
        }
        memories.push(memory);
    }
    share(device, &manager)?;
    synchronise(device)?;
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        run(device, ip, &memories[0])?;
    }
    run_together(device, &memories[0])?;
    manager.budgets(amdgpu_winsys::heaps::BudgetRule::default())?;
    Ok(())
}

/// Sync objects in both uses, shared through a descriptor.
fn synchronise(device: &Arc<Device>) -> Result<(), Trouble> {
    let (binary, timeline) = (Syncobj::new(device, true)?, Syncobj::new(device, false)?);
    binary.reset()?;
    binary.signal()?;
    timeline.signal_point(3)?;
    timeline.transfer(7, &binary, 0)?;
    let again = Syncobj::import(device, timeline.export()?)?;
    if !again.wait_point(7, job_time())? || again.query()? != 7 {
        return Err(Trouble::NotDone);
    }
    if !Syncobj::wait_many(&[&binary, &timeline], WaitFor::All, job_time())? {
        return Err(Trouble::NotDone);
    }
    Ok(())
}

fn share(device: &Arc<Device>, manager: &MemoryManager) -> Result<(), Trouble> {
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(5, 4096) };
    let memory = manager.allocate(&info)?;
    memory.bo().set_metadata(&BoMetadata { tiling: 1, flags: 2, data: vec![3; 8] })?;
    let fd = memory.bo().export()?;
    let again = Arc::new(Bo::import(device, &fd)?);
    drop(memory);
    Mapping::new(&again)?.store_u32(0, 1)?;
    let told = (again.metadata()?.tiling, again.create_info()?.size, again.wait_idle(job_time())?);
    if told != (1, 4096, true) {
        return Err(Trouble::NotDone);
    }
    Ok(())
}

fn run(device: &Arc<Device>, ip: Ip, memory: &amdgpu_winsys::heaps::DeviceMemory) -> Result<(), Trouble> {
    let context = Arc::new(Context::new(device, Priority::Normal)?);
    let queue = Queue::new(&context, ip, 0)?;
    let list = match queue.target() {
        Target::Pm4(target) => {
            let mut stream = Stream::new(device, target, 64)?;
            stream.push(&pm4::Nop::Skip(&[0; 7]))?;
            stream.finish()?
        }
        Target::Sdma(version) => {
            let mut stream = Stream::new(device, version, 64)?;
            stream.push(&sdma::Nop::default())?;
            stream.finish()?
        }
    };
    let done = Syncobj::new(device, false)?;
    let fence = queue.submit(&Submission {
        lists: &[&list],
        memory: &[Arc::clone(memory.binding())],
        signals: &[SyncPoint::binary(&done)],
        ..Submission::default()
    })?;
    drop(list);
    if !fence.wait(job_time())? || !done.wait(job_time())? {
        return Err(Trouble::NotDone);
    }
    Ok(())
}

/// What the queues of one context do besides.
fn run_together(device: &Arc<Device>, memory: &amdgpu_winsys::heaps::DeviceMemory) -> Result<(), Trouble> {
    let context = Arc::new(Context::new_at_most(device, Priority::High)?);
    let options = QueueOptions { patience: Patience::NONE, listing: Listing::Kept };
    let queues = Queues::with_options(&context, options);
    let (leader, follower) = (queues.next(Ip::Gfx)?, queues.next(Ip::Compute)?);
    let clocks = context.pin_clocks(StablePstate::Peak)?;
    let vmid = VmidReservation::new(device)?;
    let crumbs = Breadcrumbs::new(device)?;
    let mut stream = Stream::new(device, pm4::Target::gfx(device.info().gfx_level), 64)?;
    crumbs.end(&mut stream, 1)?;
    let list = stream.finish()?;
    let used = [Arc::clone(memory.binding()), Arc::clone(crumbs.binding())];
    let submission = Submission { lists: &[&list], memory: &used, ..Submission::default() };
    // The kernel keeps the list from the second on.
    for _ in 0..3 {
        leader.submit(&submission)?;
    }
    drop((clocks, vmid));
    let fence = Gang::new(&leader, &[&follower])?.submit(&[&[]], &submission)?;
    let (file, pollable) = (fence.to_sync_file()?, fence.to_pollable()?);
    let done = Syncobj::new(device, false)?;
    leader.submit(&Submission { signals: &[SyncPoint::binary(&done)], ..Submission::default() })?;
    done.import_sync_file(&file)?;
    let is_done = Fence::wait_many(&[&fence, &leader.last()], WaitFor::All, job_time())?.is_some();
    if !is_done || !pollable.fence().wait(job_time())? || crumbs.progress().done != 1 {
        return Err(Trouble::NotDone);
    }
    let report = HangReport::new(device).with_queue(&leader, Some(&crumbs));
    leader.check()?;
    if report.queues.iter().all(|trace| trace.excerpt.is_none()) { Ok(()) } else { Err(Trouble::NotDone) }
}

/// Runs the scenario with the n-th call failing; whether there was an n-th call.
fn fails_cleanly(name: &str, n: u64, errno: Errno) -> bool {
    let kernel: Kernel = Arc::new(FaultInjector::new(SimKernel::open(chip(name))));
    let closed = kernel.inner().census();
    kernel.fail_nth(n, errno);
    let outcome = match Device::new(Arc::clone(&kernel)) {
        Ok(device) => {
            let bytes = |device: &Device| device.addresses().leased_bytes();
            let before = (kernel.inner().census(), bytes(&device));
            let outcome = scenario(&device);
            let after = (kernel.inner().census(), bytes(&device));
            assert_eq!(after, before, "{name}: call {n} failed with {errno}: {outcome:?}");
            outcome
        }
        Err(error) => Err(Trouble::Winsys(error)),
    };
    assert_eq!(kernel.inner().census(), closed, "{name}: call {n} failed with {errno}, and the device was dropped");
    let reached = kernel.has_fired();
    if !reached {
        outcome.unwrap_or_else(|error| panic!("{name}: no call failed, and yet: {error}"));
    }
    reached
}

/// More than the scenario makes.
const MOST_CALLS: u64 = 100_000;

fn sweep(name: &str, errno: Errno) -> u64 {
    let calls = (0..MOST_CALLS).find(|&n| !fails_cleanly(name, n, errno)).expect("the scenario ends");
    assert!(calls > 100, "{name}: the scenario makes only {calls} calls");
    calls
}

#[test]
fn no_single_failure_leaks_anything_on_a_card() {
    sweep("navi21", Errno::ENOMEM);
}

#[test]
fn no_single_failure_leaks_anything_on_an_apu() {
    sweep("renoir", Errno::EIO);
}

#[test]
fn no_single_failure_leaks_guard_pages_on_the_oldest_chip() {
    sweep("pitcairn", Errno::ENOMEM);
}

/// A wait that times out is not an error, whatever failed before.
#[test]
fn a_poll_after_a_failure_still_answers() {
    let kernel: Kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let syncobj = Syncobj::new(&device, false).unwrap();
    kernel.fail_nth(0, Errno::ENOMEM);
    assert!(syncobj.wait(Deadline::POLL).is_err());
    assert!(!syncobj.wait(Deadline::POLL).unwrap());
}
