//! Openings of one device, and the kernel calls of its submissions: weaknesses W-19, W-32, W-40 and W-42, features 13, 14, 95 and
//! 102 of `tests/traceability`.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use crate::listener::{Change, Listener};
use crate::support::{chip, host_memory, job_time, jobs};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{
        BoListMode, CommandList, Gang, Preambles, Queue, QueueError, QueueOptions, Queues, RetryPolicy, Stream,
        Submission, SubmitError, SyncPoint, Target, sdma,
    },
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    uapi::{Argument, Cs, IbFlags, chunk_id, query},
    winsys::{Device, Errno, Error, Ip, ResidencySet, Syncobj},
};

fn gpu(name: &str) -> SimDevice {
    SimDevice::new(chip(name), SimOptions::default())
}

/// W-19: RADV has one object for each GPU of a process, and an open with other options keeps a reference for ever. Here each
/// opening is a device of its own.
#[test]
fn openings_of_one_gpu_share_no_options_and_leave_nothing() {
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
fn no_fact_is_asked_for_twice() {
    for name in crate::support::chips() {
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
fn the_file_outlives_every_object_of_it() {
    let gpu = gpu("navi21");
    let before = gpu.census();
    let kernel = Arc::new(gpu.open());
    let weak = Arc::downgrade(&kernel);
    let device = Device::new(kernel).unwrap();
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
fn a_chip_without_a_graphics_ring_computes() {
    for name in ["vega10", "navi31"] {
        let device = Device::new(Listener::without_graphics(&gpu(name))).unwrap();
        assert_eq!((device.info().ring_count(Ip::Gfx), device.info().gfx_level), (0, chip_level(name)), "{name}");
        let context = jobs::context(&device);
        let missing = Queue::new(&context, Ip::Gfx, 0).unwrap_err();
        assert_eq!(missing, QueueError::NoSuchRing { ip: Ip::Gfx, ring: 0, rings: 0 });
        let queue = Queue::new(&context, Ip::Compute, 0).unwrap();
        let memory = host_memory(&device, 4096);
        let list = jobs::store(&device, queue.target(), memory.address(), 7);
        let bindings = [memory.binding().clone()];
        let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
        assert!(fence.wait(job_time()).unwrap());
        assert_eq!(jobs::load(&memory, 0), 7);
    }
}

fn chip_level(name: &str) -> amdgpu_winsys::winsys::GfxLevel {
    crate::support::device(name).info().gfx_level
}

/// Row 95: the IBs, the user fence, what is waited for, what is signalled, and the BOs.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`.
#[test]
fn chunks_come_in_the_order_of_the_reference() {
    let (kernel, heard) = Listener::new(&gpu("navi21"));
    let device = Device::new(kernel).unwrap();
    let context = jobs::context(&device);
    let [queue, other] = [0, 1].map(|ring| Queue::new(&context, Ip::Compute, ring).unwrap());
    let memory = host_memory(&device, 4096);
    let list = jobs::store(&device, queue.target(), memory.address(), 7);
    let bindings = [memory.binding().clone()];
    let plain = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let before = other.submit(&plain).unwrap();
    let [ready, done] = [true, false].map(|is_signalled| Syncobj::new(&device, is_signalled).unwrap());
    let (waits, signals) = ([SyncPoint::binary(&ready)], [SyncPoint::timeline(&done, 3)]);
    let all = Submission { lists: &[&list, &list], waits: &waits, signals: &signals, after: &[&before], ..plain };
    assert!(queue.submit(&all).unwrap().wait(job_time()).unwrap());
    let expected = [
        chunk_id::IB, // of the queue
        chunk_id::IB,
        chunk_id::IB,
        chunk_id::FENCE,
        chunk_id::DEPENDENCIES,
        chunk_id::SYNCOBJ_TIMELINE_WAIT,
        chunk_id::SYNCOBJ_TIMELINE_SIGNAL,
        chunk_id::BO_HANDLES,
    ];
    assert_eq!(heard.kinds().last().unwrap(), &expected);
}

/// W-32: RADV leaves what goes behind out of the count, and submits nothing for ever when a list alone is too long.
#[test]
fn no_call_has_more_ibs_than_its_queue_takes_those_around_included() {
    for most in 1..=5 {
        let (kernel, heard) = Listener::changing(&gpu("navi21"), query::MAX_IBS, Change::Dwords(most));
        let device = Device::new(kernel).unwrap();
        let memory = host_memory(&device, 4096);
        let bindings = [memory.binding().clone()];
        let options = QueueOptions { acquires: false, ..QueueOptions::default() };
        let queue = Queue::with_options(&jobs::context(&device), Ip::Compute, 0, options).unwrap();
        let at = |index: u64| memory.address().checked_add(4 * index).unwrap();
        let lists: Vec<_> = (0..7).map(|index| jobs::store(&device, queue.target(), at(index), 1)).collect();
        let lists: Vec<_> = lists.iter().collect();
        let [before, after] = [7, 8].map(|index| jobs::store(&device, queue.target(), at(index), 1));
        let behind = Preambles::new().with_postamble(after.clone()).unwrap();
        let both = Preambles::new().with_initial(before.clone(), before.clone()).unwrap();
        let both = both.with_further(before).unwrap().with_postamble(after).unwrap();
        for (around, preambles) in [(0, None), (1, Some(&behind)), (2, Some(&both))] {
            heard.calls.lock().unwrap().clear();
            memory.mapping().unwrap().write(0, &[0; 36]).unwrap();
            let submission = Submission { lists: &lists, preambles, memory: &bindings, ..Submission::default() };
            let result = queue.submit(&submission);
            if around >= most {
                let error = result.unwrap_err();
                assert!(error.to_string().starts_with(&format!("{around} preamble")), "{most}: {error}");
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
fn a_list_longer_than_a_call_is_cut_into_calls() {
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
    let bindings = [memory.binding().clone()];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
    assert!((0..STORES).all(|at| jobs::load(&memory, 4 * at) == at as u32 + 1));
    let calls = heard.ibs_of_calls();
    assert_eq!((calls.iter().sum::<usize>(), calls.len()), (ibs, ibs.div_ceil(2)), "{calls:?}");
}

/// W-42, feature 102: radeonsi tries a submission again and again for as long as the kernel is out of memory.
#[test]
fn a_kernel_that_stays_out_of_memory_is_given_up_when_patience_ends() {
    // Far more than there is time for; a queue that does not stop gets through here, and the submission succeeds.
    const TRIES: u32 = 2000;
    let kernel = Arc::new(FaultInjector::new(gpu("navi21").open()));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let retry = RetryPolicy { total: Duration::from_millis(60), pause: Duration::from_millis(2) };
    let options = QueueOptions { retry, ..QueueOptions::default() };
    let queue = Queue::with_options(&jobs::context(&device), Ip::Compute, 0, options).unwrap();
    let memory = host_memory(&device, 4096);
    let list = jobs::store(&device, queue.target(), memory.address(), 7);
    let bindings = [memory.binding().clone()];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let tries = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&tries);
    kernel.fail_every_where(Errno::ENOMEM, move |attempt| {
        attempt.is(Cs::REQUEST) && counted.fetch_add(1, Ordering::Relaxed) < TRIES
    });
    let error = queue.submit(&submission).unwrap_err();
    assert!(matches!(error, SubmitError::Winsys(Error::OutOfMemory { request: "AMDGPU_CS", .. })), "{error}");
    let tries = tries.load(Ordering::Relaxed);
    assert!((2..TRIES).contains(&tries), "{tries} tries");
    kernel.stop();
    assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap(), "the queue is as good as before");
}

/// Of several calls the first one waits, for all that the submission waits for, and the last one signals.
#[test]
fn the_first_of_several_calls_waits_and_the_last_one_signals() {
    let (kernel, heard) = Listener::changing(&gpu("navi21"), query::MAX_IBS, Change::Dwords(3));
    let device = Device::new(kernel).unwrap();
    let context = jobs::context(&device);
    let [queue, other] = [0, 1].map(|ring| Queue::new(&context, Ip::Compute, ring).unwrap());
    let memory = host_memory(&device, 4096);
    let bindings = [memory.binding().clone()];
    let list = jobs::store(&device, queue.target(), memory.address(), 7);
    let plain = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let before = other.submit(&plain).unwrap();
    let [ready, done] = [true, false].map(|is_signalled| Syncobj::new(&device, is_signalled).unwrap());
    let all = Submission {
        lists: &[&list; 5],
        waits: &[SyncPoint::binary(&ready)],
        signals: &[SyncPoint::timeline(&done, 3)],
        after: &[&before],
        after_start: &[&before],
        ..plain
    };
    heard.calls.lock().unwrap().clear();
    assert!(queue.submit(&all).unwrap().wait(job_time()).unwrap());
    let waits = [chunk_id::DEPENDENCIES, chunk_id::SCHEDULED_DEPENDENCIES, chunk_id::SYNCOBJ_TIMELINE_WAIT];
    let [first, middle, last] = &heard.kinds()[..] else { panic!("{:?}", heard.kinds()) };
    let count = |kinds: &[u32], kind: u32| kinds.iter().filter(|&&other| other == kind).count();
    for kind in waits {
        assert_eq!([first, middle, last].map(|kinds| count(kinds, kind)), [1, 0, 0], "chunk {kind:#x}");
    }
    let signals = [first, middle, last].map(|kinds| count(kinds, chunk_id::SYNCOBJ_TIMELINE_SIGNAL));
    assert_eq!(signals, [0, 0, 1]);
}

/// Everything that a call runs is listed: what it is given, what goes around it, and what runs beside it.
#[test]
fn lists_preambles_and_followers_are_all_in_the_list_of_bos() {
    let (kernel, heard) = Listener::new(&gpu("navi21"));
    let device = Device::new(kernel).unwrap();
    let queues = Queues::new(&jobs::context(&device));
    let [leader, follower] = [Ip::Gfx, Ip::Compute].map(|ip| queues.get(ip, 0).unwrap());
    let memory = host_memory(&device, 4096);
    let bindings = [memory.binding().clone()];
    let store = |queue: &Queue| jobs::store(&device, queue.target(), memory.address(), 7);
    let [list, full, plain, further, after] = [(); 5].map(|()| store(&leader));
    let preambles = Preambles::new().with_initial(full, plain).unwrap();
    let preambles = preambles.with_further(further).unwrap().with_postamble(after).unwrap();
    let preambles = Some(&preambles);
    let submission = Submission { lists: &[&list], preambles, memory: &bindings, ..Submission::default() };
    let listed = || {
        let [entries] = &heard.last_payloads(chunk_id::BO_HANDLES)[..] else { panic!("no list, or several") };
        let handles: BTreeSet<u32> = entries.chunks_exact(2).map(|entry| entry[0]).collect();
        assert_eq!(handles.len(), entries.len() / 2, "each once");
        assert!(handles.contains(&memory.bo().handle()));
        handles.len()
    };
    assert!(leader.submit(&submission).unwrap().wait(job_time()).unwrap());
    assert_eq!(listed(), 6, "an IB, four around it, and the memory");
    let beside = store(&follower);
    let gang = Gang::new(&leader, &[&follower]).unwrap();
    assert!(gang.submit(&[&[&beside]], &submission).unwrap().wait(job_time()).unwrap());
    assert_eq!(listed(), 6 + 1 + 5, "and the follower's IB, and what the gang meets with: two IBs each, and a page");
}

#[test]
fn every_ib_of_an_encrypted_submission_is_marked_and_none_of_another() {
    let (kernel, heard) = Listener::new(&gpu("renoir"));
    let device = Device::new(kernel).unwrap();
    let queue = Queue::new(&jobs::context(&device), Ip::Gfx, 0).unwrap();
    let memory = host_memory(&device, 4096);
    let bindings = [memory.binding().clone()];
    let [list, around] = [(); 2].map(|()| jobs::store(&device, queue.target(), memory.address(), 7));
    let preambles = Preambles::new().with_postamble(around).unwrap();
    for is_secure in [true, false] {
        let preambles = Some(&preambles);
        let lists: &[&CommandList] = &[&list, &list];
        let submission = Submission { lists, preambles, memory: &bindings, is_secure, ..Submission::default() };
        assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
        // The flags are the second dword.
        let flags: Vec<_> = heard.last_payloads(chunk_id::IB).iter().map(|ib| IbFlags::from_bits(ib[1])).collect();
        let expected = if is_secure { IbFlags::SECURE } else { IbFlags::empty() };
        assert_eq!(flags, [Some(expected); 3]);
    }
}

/// The kernel waits until something is submitted for a point that nothing was submitted for yet.
#[test]
fn a_submission_may_wait_for_a_point_that_is_signalled_later() {
    let device = Device::new(gpu("navi21").open()).unwrap();
    let queue = Queue::new(&jobs::context(&device), Ip::Compute, 0).unwrap();
    let memory = host_memory(&device, 4096);
    let bindings = [memory.binding().clone()];
    let list = jobs::store(&device, queue.target(), memory.address(), 7);
    let later = Syncobj::new(&device, false).unwrap();
    let waits = [SyncPoint::timeline(&later, 1)];
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(Duration::from_millis(20));
            later.signal_point(1).unwrap();
        });
        let submission = Submission { lists: &[&list], memory: &bindings, waits: &waits, ..Submission::default() };
        assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
    });
    assert_eq!(jobs::load(&memory, 0), 7);
}

/// The entries of sets are kept from one submission to the next, and those of other memory behind them; what is listed is
/// what this submission names, each once.
#[test]
fn what_was_listed_before_neither_stands_in_for_nor_doubles_what_is_listed_now() {
    for bo_list_mode in [BoListMode::Inline, BoListMode::Kept] {
        let (kernel, heard) = Listener::new(&gpu("navi21"));
        let device = Device::new(kernel).unwrap();
        let options = QueueOptions { bo_list_mode, ..QueueOptions::default() };
        let queue = Queue::with_options(&jobs::context(&device), Ip::Compute, 0, options).unwrap();
        let memories = [(); 5].map(|()| host_memory(&device, 4096));
        let list = jobs::store(&device, queue.target(), memories[0].address(), 7);
        let [one, two, three] = [0, 1, 2].map(|member: usize| {
            let set = ResidencySet::new();
            assert!(set.add(memories[member].binding()));
            set
        });
        let [common, both, others] = [[&one, &one], [&one, &two], [&one, &three]];
        for (sets, beside, expected) in [
            (&both[..], 3, vec![0, 1, 3]),
            (&others, 3, vec![0, 2, 3]),
            (&others, 4, vec![0, 2, 4]),
            (&others[..1], 4, vec![0, 4]),
            (&common, 0, vec![0]),
            (&both, 1, vec![0, 1]),
            (&both, 4, vec![0, 1, 4]),
        ] {
            let bindings = [memories[beside].binding().clone()];
            let submission = Submission { lists: &[&list], sets, memory: &bindings, ..Submission::default() };
            assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
            let payloads = heard.last_payloads(chunk_id::BO_HANDLES);
            let [entries] = &payloads[..] else { panic!("{bo_list_mode:?}: no list, or several") };
            let mut listed: Vec<_> = entries.chunks_exact(2).map(|entry| entry[0]).collect();
            listed.sort_unstable();
            let mut handles: Vec<_> = expected.iter().map(|&at: &usize| memories[at].bo().handle()).collect();
            // The IBs of the list and of the queue are the others.
            handles.extend(listed.iter().filter(|handle| !memories.iter().any(|own| own.bo().handle() == **handle)));
            handles.sort_unstable();
            assert_eq!((&listed, handles.len()), (&handles, expected.len() + 2), "{bo_list_mode:?}: {expected:?}");
        }
    }
}
