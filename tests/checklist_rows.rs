//! Rules of bringing a device up and of submitting that no other test of the library shows: weaknesses 19, 32, 40 and 42,
//! checklist rows 13, 14, 95 and 102.

#[path = "support/listener.rs"]
mod listener;
mod support;

use std::{
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use amdgpu_sim::{FaultInjector, SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{Error as CsError, Patience, Preambles, Queue, QueueOptions, Stream, Submission, SyncPoint, Target, sdma},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    uapi::{Argument, Cs, chunk_id, query},
    winsys::{Device, Error, Ip, Syncobj},
};
use listener::{Change, Listener};
use nix::errno::Errno;
use support::{chip, host_memory, job_time, jobs};

fn gpu(name: &str) -> SimDevice {
    SimDevice::new(chip(name), SimOptions::default())
}

/// W-19: RADV has one object for each GPU of a process, and an open with other options keeps a reference for ever. Here each
/// opening is a device of its own.
#[test]
fn w19_row_13_openings_of_one_gpu_share_no_options_and_leave_nothing() {
    let gpu = gpu("navi21");
    let before = gpu.census();
    let [one, other] = [false, true].map(|hide_rebar| {
        let device = Device::new(gpu.open()).unwrap();
        let options = TableOptions { hide_rebar, ..TableOptions::default() };
        (MemoryManager::new(&device, &options).unwrap(), device)
    });
    assert_eq!(gpu.census().files, before.files + 2);
    let memory = [&one, &other].map(|(manager, _)| manager.allocate(&AllocateInfo::new(0, 4096)).unwrap());
    assert_eq!(memory[0].address(), memory[1].address(), "each file has its own addresses");
    drop((one, memory));
    assert!(other.0.allocate(&AllocateInfo::new(0, 4096)).is_ok());
    drop(other);
    assert_eq!(gpu.census(), before);
}

/// W-40: RADV asks for the facts of a GPU three times.
#[test]
fn w40_no_fact_is_asked_for_twice() {
    for name in support::CHIPS {
        let (kernel, heard) = Listener::new(&gpu(name));
        Device::new(kernel).unwrap();
        let queries = heard.queries.lock().unwrap();
        for once in [query::DEV_INFO, query::MEMORY, query::ACCEL_WORKING, query::MAX_IBS] {
            assert_eq!(queries.iter().filter(|&&query| query == once).count(), 1, "{name}: query {once:#x}");
        }
    }
}

/// W-42: radeonsi closes the file and destroys sync objects of it afterwards.
#[test]
fn w42_the_file_outlives_every_object_of_it() {
    let gpu = gpu("navi21");
    let before = gpu.census();
    let device = Device::new(gpu.open()).unwrap();
    let weak = Arc::downgrade(&device);
    let syncobj = Syncobj::new(&device, false).unwrap();
    let queue = Queue::new(&jobs::context(&device), Ip::Sdma, 0).unwrap();
    let memory = host_memory(&device, 4096);
    drop(device);
    drop((queue, memory));
    assert!(weak.upgrade().is_some() && syncobj.signal().is_ok());
    drop(syncobj);
    assert!(weak.upgrade().is_none());
    assert_eq!(gpu.census(), before);
}

/// Row 14: accelerators have no graphics ring, and need none.
#[test]
fn row_14_a_chip_without_a_graphics_ring_computes() {
    for name in ["vega10", "navi31"] {
        let (mut kernel, _) = Listener::new(&gpu(name));
        kernel.has_graphics = false;
        let device = Device::new(kernel).unwrap();
        assert_eq!((device.info().ring_count(Ip::Gfx), device.info().gfx_level), (0, chip_level(name)), "{name}");
        let context = jobs::context(&device);
        let missing = Queue::new(&context, Ip::Gfx, 0).unwrap_err();
        assert_eq!(missing, CsError::NoSuchRing { ip: Ip::Gfx, ring: 0, rings: 0 });
        let queue = Queue::new(&context, Ip::Compute, 0).unwrap();
        let memory = host_memory(&device, 4096);
        let list = jobs::store(&device, queue.target(), memory.address(), 7);
        let bindings = [Arc::clone(memory.binding())];
        let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
        assert!(fence.wait(job_time()).unwrap());
        assert_eq!(jobs::load(&memory, 0), 7);
    }
}

fn chip_level(name: &str) -> amdgpu_winsys::winsys::GfxLevel {
    support::device(name).info().gfx_level
}

/// Row 95: the IBs, the user fence, what is waited for, what is signalled, and the BOs.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`.
#[test]
fn row_95_chunks_come_in_the_order_of_the_reference() {
    let (kernel, heard) = Listener::new(&gpu("navi21"));
    let device = Device::new(kernel).unwrap();
    let context = jobs::context(&device);
    let [queue, other] = [0, 1].map(|ring| Queue::new(&context, Ip::Compute, ring).unwrap());
    let memory = host_memory(&device, 4096);
    let list = jobs::store(&device, queue.target(), memory.address(), 7);
    let bindings = [Arc::clone(memory.binding())];
    let plain = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let before = other.submit(&plain).unwrap();
    let [ready, done] = [true, false].map(|is_signalled| Syncobj::new(&device, is_signalled).unwrap());
    let (waits, signals) = ([SyncPoint::binary(&ready)], [SyncPoint::timeline(&done, 3)]);
    let all = Submission { lists: &[&list, &list], waits: &waits, signals: &signals, after: &[&before], ..plain };
    assert!(queue.submit(&all).unwrap().wait(job_time()).unwrap());
    let expected = [
        chunk_id::IB,
        chunk_id::IB,
        chunk_id::FENCE,
        chunk_id::DEPENDENCIES,
        chunk_id::SYNCOBJ_TIMELINE_WAIT,
        chunk_id::SYNCOBJ_TIMELINE_SIGNAL,
        chunk_id::BO_HANDLES,
    ];
    assert_eq!(heard.chunks.lock().unwrap().last().unwrap(), &expected);
}

/// W-32: RADV leaves what goes behind out of the count, and submits nothing for ever when a list alone is too long.
#[test]
fn w32_no_call_has_more_ibs_than_its_queue_takes_those_around_included() {
    for most in 1..=5 {
        let (kernel, heard) = Listener::changing(&gpu("navi21"), query::MAX_IBS, Change::Dwords(most));
        let device = Device::new(kernel).unwrap();
        let memory = host_memory(&device, 4096);
        let bindings = [Arc::clone(memory.binding())];
        let queue = Queue::new(&jobs::context(&device), Ip::Compute, 0).unwrap();
        let at = |index: u64| memory.address().checked_add(4 * index).unwrap();
        let lists: Vec<_> = (0..7).map(|index| jobs::store(&device, queue.target(), at(index), 1)).collect();
        let lists: Vec<_> = lists.iter().collect();
        let [before, after] = [7, 8].map(|index| jobs::store(&device, queue.target(), at(index), 1));
        let behind = Preambles::new().with_postamble(after.clone()).unwrap();
        let both = Preambles::new().with_initial(before.clone(), before.clone()).unwrap();
        let both = both.with_further(before).unwrap().with_postamble(after).unwrap();
        for (around, preambles) in [(0, None), (1, Some(&behind)), (2, Some(&both))] {
            heard.chunks.lock().unwrap().clear();
            memory.mapping().unwrap().write(0, &[0; 36]).unwrap();
            let submission = Submission { lists: &lists, preambles, memory: &bindings, ..Submission::default() };
            let result = queue.submit(&submission);
            if around >= most {
                let error = result.unwrap_err();
                assert!(error.to_string().starts_with(&format!("{around} IBs go around")), "{most}: {error}");
                assert_eq!(heard.ibs_of_calls(), [0_usize; 0], "{most}: nothing was submitted");
                continue;
            }
            assert!(result.unwrap().wait(job_time()).unwrap());
            let ran = (0..9).map(|index| jobs::load(&memory, 4 * index)).sum::<u32>();
            assert_eq!(ran, 7 + around, "{most}: every list ran, and what goes around");
            let calls = heard.ibs_of_calls();
            assert_eq!(calls.len() as u32, 7_u32.div_ceil(most - around), "{most}: {calls:?}");
            assert!(calls.iter().all(|&ibs| ibs <= most as usize), "{most}: {calls:?}");
        }
    }
}

/// W-32: a list of more IBs than its queue takes is cut, on the rings whose lists do not jump from one IB to the next.
#[test]
fn w32_a_list_longer_than_a_call_is_cut_into_calls() {
    const STORES: u64 = 1000;
    let (kernel, heard) = Listener::changing(&gpu("navi21"), query::MAX_IBS, Change::Dwords(2));
    let device = Device::new(kernel).unwrap();
    let memory = host_memory(&device, 4 * STORES);
    let queue = Queue::new(&jobs::context(&device), Ip::Sdma, 0).unwrap();
    let Target::Sdma(version) = queue.target() else { panic!("no copy engine") };
    let mut stream = Stream::new(&device, version, 1).unwrap();
    for at in 0..STORES {
        let to = memory.address().checked_add(4 * at).unwrap();
        stream.push(&sdma::WriteLinear { to, data: &[at as u32 + 1] }).unwrap();
    }
    let list = stream.finish().unwrap();
    let ibs = list.submitted_ibs().count();
    assert!(ibs > 2, "{ibs}");
    let bindings = [Arc::clone(memory.binding())];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
    assert!((0..STORES).all(|at| jobs::load(&memory, 4 * at) == at as u32 + 1));
    let calls = heard.ibs_of_calls();
    assert_eq!((calls.iter().sum::<usize>(), calls.len()), (ibs, ibs.div_ceil(2)), "{calls:?}");
}

/// W-42, row 102: radeonsi tries a submission again and again for as long as the kernel is out of memory.
#[test]
fn w42_a_kernel_that_stays_out_of_memory_is_given_up_when_patience_ends() {
    // Far more than there is time for; a queue that does not stop gets through here, and the submission succeeds.
    const TRIES: u32 = 2000;
    let kernel = Arc::new(FaultInjector::new(gpu("navi21").open()));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let patience = Patience { total: Duration::from_millis(60), pause: Duration::from_millis(2) };
    let options = QueueOptions { patience, ..QueueOptions::default() };
    let queue = Queue::with_options(&jobs::context(&device), Ip::Compute, 0, options).unwrap();
    let memory = host_memory(&device, 4096);
    let list = jobs::store(&device, queue.target(), memory.address(), 7);
    let bindings = [Arc::clone(memory.binding())];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    kernel.fail_every_where(Errno::ENOMEM, move |attempt| {
        attempt.is(Cs::REQUEST) && counted.fetch_add(1, Ordering::Relaxed) < TRIES
    });
    let error = queue.submit(&submission).unwrap_err();
    assert!(matches!(error, CsError::Winsys(Error::OutOfMemory { request: "AMDGPU_CS", .. })), "{error}");
    let tries = tries.load(Ordering::Relaxed);
    assert!((2..TRIES).contains(&tries), "{tries} tries");
    kernel.stop();
    assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap(), "the queue is as good as before");
}
