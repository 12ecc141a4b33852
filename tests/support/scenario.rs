//! The work of a driver between two frames, for tests that disturb it at every place.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use amdgpu_winsys::{
    cs::{
        BoListMode, Breadcrumbs, Fence, Gang, HangReport, Queue, QueueOptions, Queues, RetryPolicy, Stream, Submission,
        SyncPoint, Target, pm4, sdma,
    },
    heaps::{
        AllocateFlags, AllocateInfo, Backing, DeviceMemory, ExternalHandleTypes, ImportInfo, MemoryManager,
        MemoryPropertyFlags, SparseBind, SparsePoint, SparseQueue, SparseRange, SparseSubmission, TableOptions,
        suballocation::{CacheLimits, MemoryCache, SlabPool},
    },
    vamgr::VaRequest,
    winsys::{Bo, BoMetadata, Context, Device, Ip, Mapping, Priority, StablePstate, Syncobj, VmidReservation, WaitFor},
};

use crate::support::{Trouble, job_time};

/// Does a driver's work between two frames once: every kind of call the library makes is in it.
pub(crate) fn scenario(device: &Device) -> Result<(), Trouble> {
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
fn synchronise(device: &Device) -> Result<(), Trouble> {
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

fn share(device: &Device, manager: &MemoryManager) -> Result<(), Trouble> {
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(5, 4096) };
    let memory = manager.allocate(&info)?;
    memory.bo().set_metadata(&BoMetadata { tiling: 1, flags: 2, data: vec![3; 8] })?;
    let fd = memory.bo().export()?;
    let again = Bo::import(device, &fd)?;
    drop(memory);
    Mapping::new(&again)?.store_u32(0, 1)?;
    let told = (again.metadata()?.tiling, again.create_info()?.size, again.wait_idle(job_time())?);
    if told != (1, 4096, true) {
        return Err(Trouble::NotDone);
    }
    Ok(())
}

fn run(device: &Device, ip: Ip, memory: &DeviceMemory) -> Result<(), Trouble> {
    let context = Context::new(device, Priority::Normal)?;
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
        memory: &[memory.binding().clone()],
        signals: &[SyncPoint::binary(&done)],
        ..Submission::default()
    })?;
    drop(list);
    if !fence.wait(job_time())? || !done.wait(job_time())? {
        return Err(Trouble::NotDone);
    }
    Ok(())
}

/// Does the work that queues of one context do together.
fn run_together(device: &Device, memory: &DeviceMemory) -> Result<(), Trouble> {
    let context = Context::new_at_most(device, Priority::High)?;
    let options = QueueOptions { retry: RetryPolicy::NONE, bo_list_mode: BoListMode::Kept, ..QueueOptions::default() };
    let queues = Queues::with_options(&context, options);
    let (leader, follower) = (queues.next(Ip::Gfx)?, queues.next(Ip::Compute)?);
    let clocks = context.pin_clocks(StablePstate::Peak)?;
    let vmid = VmidReservation::new(device)?;
    let crumbs = Breadcrumbs::new(device)?;
    let mut stream = Stream::new(device, pm4::Target::gfx(device.info().gfx_level), 64)?;
    crumbs.end(&mut stream, 1)?;
    let list = stream.finish()?;
    let used = [memory.binding().clone(), crumbs.binding().clone()];
    let submission = Submission { lists: &[&list], memory: &used, ..Submission::default() };
    // The kernel keeps the list from the second on.
    for _ in 0..3 {
        leader.submit(&submission)?;
    }
    drop((clocks, vmid));
    let gang = Gang::new(&leader, &[&follower])?;
    let fence = gang.submit(&[&[]], &submission)?;
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

/// Does the work that [`scenario`] leaves out: memory that is bound page by page, imported, kept for later and cut to
/// pieces.
pub(crate) fn heaps(device: &Device) -> Result<(), Trouble> {
    let manager = MemoryManager::new(device, &TableOptions::default())?;
    let listed = AllocateInfo { flags: AllocateFlags::LISTED, ..AllocateInfo::new(5, 64 << 10) };
    let memory = manager.allocate(&listed)?;
    if device.info().capabilities.contains(amdgpu_winsys::winsys::Capabilities::SPARSE) {
        bind_sparsely(device, &memory)?;
    }
    let exported = manager.allocate(&AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..listed })?;
    let fd = exported.export(ExternalHandleTypes::DMA_BUF)?;
    let imported = manager.import_fd(fd, &ImportInfo::new(5, 4096)).map_err(|(_fd, error)| error)?;
    drop(exported);
    imported.map()?.store_u32(0, 1)?;
    let cache = MemoryCache::new(&manager, CacheLimits::default());
    let slabs = SlabPool::new(&cache);
    let pieces = slabs.allocate(5, 256, 256).and_then(|first| Ok((first, slabs.allocate(5, 4096, 256)?)));
    let pieces = pieces.map_err(|_| Trouble::NotDone)?;
    drop(cache.allocate(&AllocateInfo::new(5, 1 << 20))?);
    drop(pieces);
    drop(slabs);
    cache.flush();
    Ok(())
}

fn bind_sparsely(device: &Device, memory: &DeviceMemory) -> Result<(), Trouble> {
    let range = SparseRange::new(device, VaRequest::new(1 << 20))?;
    let bind = |offset, backing| SparseBind { offset, len: 16 << 10, backing };
    let backing = || Some(Backing { memory: memory.binding().clone(), offset: 0 });
    range.bind(&[bind(0, backing()), bind(64 << 10, backing())])?;
    range.bind(&[bind(8 << 10, None)])?;
    let queue = SparseQueue::new(device)?;
    let done = Syncobj::new(device, false)?;
    let submission = SparseSubmission {
        waits: Vec::new(),
        binds: vec![(range.clone(), vec![bind(128 << 10, backing())])],
        signals: vec![SparsePoint { syncobj: done.clone(), point: 0 }],
    };
    if queue.submit(submission)?.wait(job_time())? { Ok(()) } else { Err(Trouble::NotDone) }
}
