//! The operations, and the requests that each is known to make.

use std::os::fd::AsFd as _;

use amdgpu_winsys::{
    cs::{
        BoListMode, CommandList, Fence, Gang, Queue, QueueOptions, Queues, RetryPolicy, Stream, Submission, SyncPoint,
        Target, pm4, sdma,
    },
    heaps::{
        AllocateFlags, AllocateInfo, Backing, BudgetRule, ExternalHandleTypes, ImportInfo, MemoryManager, Replay,
        SparseBind, SparsePoint, SparseQueue, SparseRange, SparseSubmission, TableOptions,
    },
    uapi::GemDomain,
    vamgr::VaRequest,
    winsys::{
        Bo, BoMetadata, Context, Device, Ip, Mapping, Priority, StablePstate, Syncobj, Until, UserMemory,
        VmidReservation, WaitFor,
    },
};

use crate::{
    bench::{Bench, SIZE},
    calls::{
        BO_LIST, CAP, CLOSE, CREATE, CS, CTX, Call, EVENTFD, FENCE, INFO, METADATA, MMAP_OFFSET, OP, PRIME_EXPORT,
        PRIME_IMPORT, QUERY, RESET, SIGNAL, SIGNAL_POINT, SYNCOBJ, SYNCOBJ_END, SYNCOBJ_EXPORT, SYNCOBJ_IMPORT,
        TRANSFER, USERPTR, VA, VERSION, VM, WAIT_CS, WAIT_FENCES, WAIT_IDLE, WAIT_POINTS, WAIT_SYNCOBJ,
    },
    support::{Trouble, job_time},
};

type Outcome = Result<(), Trouble>;

/// Something that a driver does.
pub(crate) struct Operation {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&Bench) -> Outcome,
    /// Calls that it makes at least.
    pub(crate) calls: &'static [Call],
}

const fn operation(name: &'static str, run: fn(&Bench) -> Outcome, calls: &'static [Call]) -> Operation {
    Operation { name, run, calls }
}

const DMA_BUF: ExternalHandleTypes = ExternalHandleTypes::DMA_BUF;

pub(crate) const OPERATIONS: &[Operation] = &[
    operation("bring-up", bring_up, &[INFO, VERSION, CAP]),
    operation("allocate", allocate, &[CREATE, VA, CLOSE]),
    operation("map", map, &[CREATE, VA, MMAP_OFFSET, Call::Mmap, Call::Munmap, CLOSE]),
    operation("replay", replay, &[CREATE, VA, CLOSE]),
    operation("place", place, &[MMAP_OFFSET, Call::Mmap, Call::Reserve]),
    operation("import", import, &[PRIME_IMPORT, OP, VA, MMAP_OFFSET, Call::Mmap, Call::Munmap, CLOSE]),
    operation("ask what a descriptor can be", ask, &[PRIME_IMPORT, OP, CLOSE]),
    operation("export", export, &[CREATE, METADATA, PRIME_EXPORT, PRIME_IMPORT, OP, CLOSE]),
    operation("import a host pointer", host_pointer, &[USERPTR, VA, CLOSE]),
    operation("wait for memory", wait_idle, &[WAIT_IDLE]),
    operation("bind sparsely", sparse, &[VA]),
    operation("bind sparsely in order", sparse_queue, &[VA, SYNCOBJ, WAIT_POINTS, SIGNAL, SYNCOBJ_END]),
    operation("ask for budgets", budgets, &[INFO]),
    operation("ask the device", ask_device, &[INFO, VERSION]),
    operation("use a binary sync object", binary, &[SYNCOBJ, RESET, SIGNAL, WAIT_SYNCOBJ, SYNCOBJ_END]),
    operation("use a timeline", timeline, &[SYNCOBJ, SIGNAL_POINT, TRANSFER, QUERY, WAIT_POINTS, EVENTFD, SYNCOBJ_END]),
    operation("share a sync object", share_syncobj, &[SYNCOBJ, SYNCOBJ_EXPORT, SYNCOBJ_IMPORT, SYNCOBJ_END]),
    operation("make a context", context, &[CTX, VM]),
    operation("submit graphics", |bench| submit(bench, Ip::Gfx), &[CTX, CREATE, VA, CS, WAIT_CS]),
    operation("submit compute", |bench| submit(bench, Ip::Compute), &[CTX, CREATE, VA, CS, WAIT_CS]),
    operation("submit a copy", |bench| submit(bench, Ip::Sdma), &[CTX, CREATE, VA, CS, WAIT_CS]),
    operation("submit with a kept list", kept_list, &[BO_LIST, CS]),
    operation("submit a gang", gang, &[CS, CTX]),
    operation("wait for fences", fences, &[CS, FENCE, WAIT_FENCES, CTX]),
];

fn exportable(bench: &Bench) -> AllocateInfo {
    AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(bench.cached, SIZE) }
}

/// Returns an error if a condition does not hold.
fn expect(is_so: bool) -> Outcome {
    if is_so { Ok(()) } else { Err(Trouble::NotDone) }
}

fn bring_up(bench: &Bench) -> Outcome {
    let device = Device::new(bench.file_beside())?;
    drop(MemoryManager::new(&device, &TableOptions::default())?);
    Ok(())
}

fn allocate(bench: &Bench) -> Outcome {
    for memory_type in 0..bench.manager.properties().types().len() as u32 {
        drop(bench.manager.allocate(&AllocateInfo::new(memory_type, SIZE))?);
    }
    Ok(())
}

fn map(bench: &Bench) -> Outcome {
    let memory = bench.manager.allocate(&AllocateInfo::new(bench.cached, SIZE))?;
    memory.map()?.store_u32(0, 1)?;
    Ok(())
}

fn replay(bench: &Bench) -> Outcome {
    let info = AllocateInfo { replay: Replay::Capture, ..AllocateInfo::new(bench.cached, SIZE) };
    let at = bench.manager.allocate(&info)?.address();
    let again = bench.manager.allocate(&AllocateInfo { replay: Replay::At(at), ..info })?;
    expect(again.address() == at)
}

fn place(bench: &Bench) -> Outcome {
    let memory = bench.manager.allocate(&AllocateInfo::new(bench.cached, SIZE))?;
    // SAFETY: the addresses are the bench's and hold nothing.
    let mapped = unsafe { memory.map_placed(bench.place.base()) }.map(|mapping| mapping.store_u32(0, 1));
    // Whatever happened, the addresses end up reserved, so that the bench keeps them. A single failure is over by then; an
    // unplugged GPU's mapping goes with the test.
    let ended = memory.unmap_reserving();
    if ended.is_err() {
        memory.unmap_reserving()?;
    }
    mapped??;
    Ok(ended?)
}

fn import(bench: &Bench) -> Outcome {
    let fd = bench.dma_buf.try_clone().expect("a descriptor");
    let memory = bench.manager.import_fd(fd, &ImportInfo::new(bench.cached, SIZE)).map_err(|(_, error)| error)?;
    memory.map()?.store_u32(0, 1)?;
    Ok(())
}

fn ask(bench: &Bench) -> Outcome {
    Ok(bench.manager.fd_types(DMA_BUF, &bench.dma_buf).map(drop)?)
}

fn export(bench: &Bench) -> Outcome {
    let memory = bench.manager.allocate(&exportable(bench))?;
    let metadata = BoMetadata { tiling: 1, flags: 0, data: vec![1; 16] };
    let fd = memory.export_image(DMA_BUF, &metadata)?;
    let again = Bo::import(&bench.device, &fd)?;
    drop(memory);
    again.prefer(GemDomain::GTT)?;
    expect(again.metadata()? == metadata && again.create_info()?.size == SIZE)
}

fn host_pointer(bench: &Bench) -> Outcome {
    let memory = UserMemory::new(bench.pages.base(), SIZE);
    // SAFETY: the pages outlive the memory, and only volatile copies are made of them.
    let memory = unsafe { bench.manager.import_host_pointer(memory, &ImportInfo::new(bench.cached, SIZE)) }?;
    memory.map()?.write(0, &[7])?;
    Ok(())
}

fn wait_idle(bench: &Bench) -> Outcome {
    expect(bench.memory.bo().wait_idle(job_time())?)
}

fn range(bench: &Bench) -> Result<SparseRange, Trouble> {
    Ok(SparseRange::new(&bench.device, VaRequest::new(4 * SIZE))?)
}

/// The bench's memory at two places of a range.
fn backed(bench: &Bench) -> [SparseBind; 2] {
    [0, 2].map(|place| {
        let backing = Backing { memory: bench.memory.binding().clone(), offset: 0 };
        SparseBind { offset: place * SIZE, len: SIZE, backing: Some(backing) }
    })
}

fn sparse(bench: &Bench) -> Outcome {
    let range = range(bench)?;
    range.bind(&backed(bench))?;
    range.bind(&[SparseBind { offset: SIZE / 2, len: 2 * SIZE, backing: None }])?;
    expect(range.bound_bytes() == SIZE)
}

fn sparse_queue(bench: &Bench) -> Outcome {
    let range = range(bench)?;
    let (first, done) = (Syncobj::new(&bench.device, false)?, Syncobj::new(&bench.device, false)?);
    let queue = SparseQueue::new(&bench.device)?;
    let point = |syncobj: &Syncobj| vec![SparsePoint { syncobj: syncobj.clone(), point: 0 }];
    first.signal()?;
    let fence = queue.submit(SparseSubmission {
        waits: point(&first),
        binds: vec![(range.clone(), backed(bench).into())],
        signals: point(&done),
    })?;
    let bound = fence.wait(job_time())?;
    expect(bound && done.wait_point(0, job_time())?)
}

fn budgets(bench: &Bench) -> Outcome {
    bench.manager.budgets(BudgetRule::Corrected)?;
    bench.manager.refresh_usage()?;
    bench.manager.poll_evictions()?;
    Ok(())
}

fn ask_device(bench: &Bench) -> Outcome {
    let device = &bench.device;
    device.ping()?;
    device.timestamp()?;
    device.memory_info()?;
    device.evictions()?;
    device.vram_lost_counter()?;
    expect(device.page_fault()?.is_none())
}

fn binary(bench: &Bench) -> Outcome {
    let syncobj = Syncobj::new(&bench.device, true)?;
    syncobj.reset()?;
    syncobj.signal()?;
    expect(syncobj.wait(job_time())? && Syncobj::wait_many(&[&syncobj], WaitFor::All, job_time())?)
}

fn timeline(bench: &Bench) -> Outcome {
    let (binary, timeline) = (Syncobj::new(&bench.device, true)?, Syncobj::new(&bench.device, false)?);
    timeline.signal_point(3)?;
    timeline.transfer(7, &binary, 0)?;
    let event = nix::sys::eventfd::EventFd::new().expect("an eventfd");
    timeline.notify(7, Until::Signalled, event.as_fd())?;
    expect(timeline.wait_point(7, job_time())? && timeline.query()? == 7 && timeline.last_submitted()? == 7)
}

fn share_syncobj(bench: &Bench) -> Outcome {
    let syncobj = Syncobj::new(&bench.device, true)?;
    let again = Syncobj::import(&bench.device, syncobj.export()?)?;
    again.import_sync_file(syncobj.export_sync_file()?)?;
    expect(again.wait(job_time())?)
}

fn context(bench: &Bench) -> Outcome {
    let context = Context::new_at_most(&bench.device, Priority::High)?;
    let clocks = context.pin_clocks(StablePstate::Peak)?;
    let vmid = VmidReservation::new(&bench.device)?;
    drop((clocks, vmid));
    context.check(Ip::Gfx, 0)?;
    context.state()?;
    Ok(())
}

/// A list that does nothing, for a queue.
fn nothing(bench: &Bench, queue: &Queue) -> Result<CommandList, Trouble> {
    Ok(match queue.target() {
        Target::Pm4(target) => {
            let mut stream = Stream::new(&bench.device, target, 64)?;
            stream.push(&pm4::Nop::Skip(&[0; 7]))?;
            stream.finish()?
        }
        Target::Sdma(version) => {
            let mut stream = Stream::new(&bench.device, version, 64)?;
            stream.push(&sdma::Nop::default())?;
            stream.finish()?
        }
    })
}

fn submit(bench: &Bench, ip: Ip) -> Outcome {
    let queue = Queue::new(&Context::new(&bench.device, Priority::Normal)?, ip, 0)?;
    let list = nothing(bench, &queue)?;
    let done = Syncobj::new(&bench.device, false)?;
    let fence = queue.submit(&Submission {
        lists: &[&list],
        memory: &[bench.memory.binding().clone()],
        signals: &[SyncPoint::binary(&done)],
        ..Submission::default()
    })?;
    let context = queue.context();
    expect(context.wait(ip, 0, fence.sequence(), job_time())? && fence.wait(job_time())? && done.wait(job_time())?)
}

fn kept_list(bench: &Bench) -> Outcome {
    let context = Context::new(&bench.device, Priority::Normal)?;
    let options = QueueOptions { retry: RetryPolicy::NONE, bo_list_mode: BoListMode::Kept, ..QueueOptions::default() };
    let queue = Queue::with_options(&context, Ip::Compute, 0, options)?;
    let list = nothing(bench, &queue)?;
    let memory = [bench.memory.binding().clone()];
    // The kernel keeps the list from the second on.
    for _ in 0..3 {
        queue.submit(&Submission { lists: &[&list], memory: &memory, ..Submission::default() })?;
    }
    let mapped = Mapping::new(bench.memory.bo())?;
    mapped.store_u32(0, 0)?;
    expect(queue.wait_idle(job_time())?)
}

fn gang(bench: &Bench) -> Outcome {
    let context = Context::new(&bench.device, Priority::Normal)?;
    let queues = Queues::with_options(&context, QueueOptions::default());
    let (leader, follower) = (queues.next(Ip::Gfx)?, queues.next(Ip::Compute)?);
    let (list, other) = (nothing(bench, &leader)?, nothing(bench, &follower)?);
    let submission = Submission { lists: &[&list], ..Submission::default() };
    let fence = Gang::new(&leader, &[&follower])?.submit(&[&[&other]], &submission)?;
    leader.check()?;
    expect(fence.wait(job_time())?)
}

fn fences(bench: &Bench) -> Outcome {
    let context = Context::new(&bench.device, Priority::Normal)?;
    let queue = Queue::new(&context, Ip::Compute, 0)?;
    let list = nothing(bench, &queue)?;
    let submission = Submission { lists: &[&list], ..Submission::default() };
    let (first, second) = (queue.submit(&submission)?, queue.submit(&submission)?);
    let (syncobj, file, pollable) = (first.to_syncobj()?, first.to_sync_file()?, second.to_pollable()?);
    syncobj.import_sync_file(&file)?;
    let all = Fence::wait_many(&[&first, &second], WaitFor::All, job_time())?.is_some();
    let number = |fence: &Fence| amdgpu_winsys::uapi::CsFence {
        ctx_id: context.id(),
        ip_type: Ip::Compute as u32,
        ip_instance: 0,
        ring: 0,
        seq_no: fence.sequence(),
    };
    let waited = amdgpu_winsys::winsys::wait_fences(&bench.device, &[number(&first)], WaitFor::Any, job_time())?;
    expect(all && waited == Some(0) && pollable.fence().wait(job_time())? && syncobj.wait(job_time())?)
}
