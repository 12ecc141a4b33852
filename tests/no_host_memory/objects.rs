//! Memory, contexts, queues, lists, pools, sync objects and fences, made with room for a few allocations at a time.

use amdgpu_winsys::{
    VkResult,
    cs::{BoListMode, Error, IbPlacement, IbPool, Queue, Stream, Submission, SyncPoint, pm4},
    heaps::{AllocateInfo, MemoryError, MemoryManager, MemoryPropertyFlags, TableOptions},
    uapi::{GemCreateFlags, GemDomain},
    winsys::{Bo, BoRequest, Context, Ip, Priority, ResidencySet, Syncobj, Until, WaitFor},
};

use crate::{Bench, LIVE, Refusal, count, failing, is_refused_without_room, support::job_time, with_room};

#[test]
fn a_wait_for_many_sync_objects_is_refused() {
    let bench = Bench::new();
    let syncobjs: Vec<_> = (0..40).map(|_| Syncobj::new(&bench.device, true).unwrap()).collect();
    let points: Vec<_> = syncobjs.iter().map(|syncobj| (syncobj, 0)).collect();
    let wait = || Syncobj::wait_points(&points, WaitFor::All, Until::Signalled, job_time());
    let mut fired = 0;
    while let Some(outcome) = failing(fired, wait) {
        assert_eq!(outcome.unwrap_err().vk_result(), VkResult::OutOfHostMemory);
        fired += 1;
    }
    assert!(fired > 0);
    assert!(wait().is_ok());
}

#[test]
fn memory_is_refused_as_a_whole_wherever_host_memory_ends() {
    let bench = Bench::new();
    let manager = MemoryManager::new(&bench.device, &TableOptions::default()).unwrap();
    for memory_type in 0..manager.properties().types().len() as u32 {
        let name = format!("memory type {memory_type}");
        let is_mapped =
            manager.properties().types()[memory_type as usize].properties.contains(MemoryPropertyFlags::HOST_VISIBLE);
        let refused = is_refused_without_room(&name, &bench, || {
            let memory = manager.allocate(&AllocateInfo::new(memory_type, 4096))?;
            if is_mapped {
                memory.map()?.store_u32(0, 1)?;
            }
            Ok::<_, MemoryError>(memory)
        });
        assert!(refused >= 1, "{name}: {refused}: the BO and its binding are one object");
    }
    let flags = GemCreateFlags::empty();
    let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags };
    assert!(is_refused_without_room("a BO", &bench, || Bo::create(&bench.device, request)) >= 1);
}

#[test]
fn shared_memory_is_refused_as_a_whole_wherever_host_memory_ends() {
    let bench = Bench::new();
    let flags = GemCreateFlags::empty();
    let request = BoRequest { size: 4096, alignment: 0, domains: GemDomain::GTT, flags };
    // The descriptor is the kernel's, and a handle is listed as shared until its BO ends: each attempt has a new one.
    let made = || Bo::create(&bench.device, request).unwrap();
    for room in 0.. {
        let (census, bo) = (bench.gpu.census(), made());
        let outcome = with_room(room, || bo.export());
        let is_done = outcome.as_ref().map(drop).map_err(Refusal::result);
        drop((outcome, bo));
        assert_eq!(bench.gpu.census(), census, "{room}");
        if is_done == Ok(()) {
            assert!(room >= 3, "{room}: the shared handle, its place in the BO, and the list");
            break;
        }
        assert_eq!(is_done, Err(VkResult::OutOfHostMemory), "{room}");
    }
    let bo = made();
    let dma_buf = bo.export().unwrap();
    assert!(is_refused_without_room("an import of what is here", &bench, || Bo::import(&bench.device, &dma_buf)) >= 2);
    drop(bo);
    let imported = is_refused_without_room("an import", &bench, || Bo::import(&bench.device, &dma_buf));
    assert!(imported >= 3, "{imported}: the BO, the shared handle, and its place in the BO");
}

#[test]
fn objects_of_submission_are_refused_as_a_whole_wherever_host_memory_ends() {
    let bench = Bench::new();
    let device = &bench.device;
    assert!(is_refused_without_room("a context", &bench, || Context::new(device, Priority::Normal)) >= 1);
    let context = Context::new(device, Priority::Normal).unwrap();
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        assert!(is_refused_without_room("a queue", &bench, || Queue::new(&context, ip, 0)) >= 3, "{ip}");
    }
    assert!(is_refused_without_room("a sync object", &bench, || Syncobj::new(device, true)) >= 1);
    let descriptor = Syncobj::new(device, false).unwrap().export().unwrap();
    assert!(is_refused_without_room("an imported sync object", &bench, || Syncobj::import(device, &descriptor)) >= 1);
    let placement = IbPlacement::of(device.info(), 0);
    assert!(is_refused_without_room("a pool", &bench, || IbPool::new(device, placement, 1 << 16)) >= 1);
    let pool = IbPool::new(device, placement, 1 << 16).unwrap();
    let record = |mut stream: Stream<pm4::Target>| {
        bench.memories.iter().for_each(|memory| stream.keep(memory.binding()));
        for _ in 0..400 {
            stream.push(&pm4::Nop::Skip(&[0; 7]))?;
        }
        stream.finish()
    };
    let list = || record(Stream::new(device, bench.target(), 1000)?);
    assert!(is_refused_without_room("a list", &bench, list) >= 8);
    // A pool keeps IBs that a refused stream did not fill, so nothing is compared with what was there before.
    for room in 0.. {
        match with_room(room, || record(pool.stream(bench.target(), 1000)?)) {
            Ok(_) => break,
            Err(error) => assert_eq!(error.vk_result(), VkResult::OutOfHostMemory, "{room}: {error:?}"),
        }
    }
}

#[test]
fn fences_of_submissions_are_refused_as_a_whole_wherever_host_memory_ends() {
    let bench = Bench::new();
    let (queue, list) = (bench.queue(BoListMode::Inline), bench.list(&bench.memories[..3]));
    let set = ResidencySet::new();
    bench.memories[3..30].iter().for_each(|memory| assert!(set.add(memory.binding())));
    let submission = Submission { lists: &[&list], sets: &[&set], ..Submission::default() };
    let fence = queue.submit(&submission).unwrap();
    assert!(is_refused_without_room("a fence as a sync object", &bench, || fence.to_syncobj()) >= 1);
    let submit = || {
        let fence = queue.submit(&submission)?;
        assert!(fence.wait(job_time())?);
        queue.retire();
        Ok::<_, Error>(fence)
    };
    // A changed set is copied, and a submission that only waits runs an empty list: both once more in each attempt.
    let signalled = Syncobj::new(&bench.device, true).unwrap();
    let waits = [SyncPoint::binary(&signalled)];
    let nothing = Submission { waits: &waits, ..Submission::default() };
    let wait = || {
        assert!(queue.submit(&nothing)?.wait(job_time())?);
        Ok::<_, Error>(())
    };
    let mut refused = [0; 2];
    for room in 0.. {
        assert!(set.remove(bench.memories[3].binding()) && set.add(bench.memories[3].binding()));
        let outcomes = [with_room(room, submit).map(drop), with_room(room, wait)];
        if outcomes.iter().all(Result::is_ok) {
            break;
        }
        for (refused, error) in refused.iter_mut().zip(outcomes.into_iter().map(Result::err)) {
            let is_right = |error: &Error| error.vk_result() == VkResult::OutOfHostMemory;
            assert!(error.iter().all(is_right), "{room}: {error:?}");
            *refused += u32::from(error.is_some());
        }
    }
    assert!(refused[0] >= 2 && refused[1] >= 4, "{refused:?}");
}

/// An allocation of device memory takes one host allocation, for the BO and its binding. It ends with the memory.
#[test]
fn a_bo_and_its_binding_are_one_object_in_host_memory() {
    let bench = Bench::new();
    let manager = MemoryManager::new(&bench.device, &TableOptions::default()).unwrap();
    let allocate = || manager.allocate(&AllocateInfo::new(0, 4096)).unwrap();
    drop((0..100).map(|_| allocate()).collect::<Vec<_>>());
    let live = LIVE.get();
    let mut allocated = None;
    assert_eq!(count(|| allocated = Some(allocate())), 1);
    assert_eq!(LIVE.get() - live, 1);
    assert_eq!(count(|| drop(allocated)), 0);
    assert_eq!(LIVE.get(), live);
}
