//! The parts of a submission that reach the kernel: flags of IBs, priorities, signals, and the listed BOs.

use std::sync::Arc;

use crate::spy::{Seen, Spy};
use crate::support::{
    Watch, chip, host_memory, host_memory_with, job_time,
    jobs::{context, load, store},
    queue,
};
use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{CommandList, Inclusion, Keep, Marker, Queue, QueueOptions, Stream, Submission, SyncPoint, Target, pm4},
    heaps::{AllocateFlags, DeviceMemory},
    uapi::{Cs, IbFlags, chunk_id},
    winsys::{Device, Ip, ResidencySet, Syncobj},
};
use parking_lot::Mutex;
use proptest::prelude::*;

type Calls = Arc<Mutex<Vec<Seen>>>;

/// A device whose submissions are written down.
fn watched() -> (SimDevice, Device, Calls) {
    let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
    let kernel = Spy::on(gpu.open());
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let calls = Calls::default();
    let log = Arc::clone(&calls);
    kernel.layer().watch(move |call| {
        if call.is::<Cs>() {
            log.lock().push(call.clone());
        }
    });
    (gpu, device, calls)
}

/// The flags of each IB of each call.
fn ib_flags(calls: &Calls) -> Vec<Vec<u32>> {
    let flags = |ib: &[u32]| ib[1];
    std::mem::take(&mut *calls.lock()).iter().map(|call| call.chunks_of(chunk_id::IB).map(flags).collect()).collect()
}

fn idle_lists(device: &Device, target: Target, count: usize) -> Vec<CommandList> {
    let Target::Pm4(target) = target else { panic!("no PM4 ring") };
    (0..count).map(|_| Stream::new(device, target, 1).unwrap().finish().unwrap()).collect()
}

/// W-33: RADV marks every IB as preemptible, of which the kernel takes one for each call; and nothing is marked unasked.
#[test]
fn the_last_ib_of_each_graphics_call_is_preemptible_and_only_if_asked() {
    let (_gpu, device, calls) = watched();
    // Each call begins with the preamble of the queue.
    for (ip, lists, expected) in [(Ip::Gfx, 200, vec![192, 10]), (Ip::Compute, 3, vec![4]), (Ip::Gfx, 1, vec![2])] {
        let queue = queue(&device, ip, 0);
        let lists = idle_lists(&device, queue.target(), lists);
        let lists: Vec<_> = lists.iter().collect();
        for is_preemptible in [true, false] {
            let fence = queue.submit(&Submission { lists: &lists, is_preemptible, ..Submission::default() }).unwrap();
            assert!(fence.wait(job_time()).unwrap());
            let preempt = if is_preemptible && ip == Ip::Gfx { IbFlags::PREEMPT.bits() } else { 0 };
            let flags = |count: usize| [vec![0; count - 1], vec![preempt]].concat();
            let expected: Vec<_> = expected.iter().map(|&count| flags(count)).collect();
            assert_eq!(ib_flags(&calls), expected, "{ip}, asked: {is_preemptible}");
        }
    }
}

/// W-24: the last call alone signals, and the first alone waits.
#[test]
fn the_first_call_waits_and_the_last_one_signals() {
    let (_gpu, device, calls) = watched();
    let queue = queue(&device, Ip::Compute, 0);
    let lists = idle_lists(&device, queue.target(), 301);
    let lists: Vec<_> = lists.iter().collect();
    let (ready, done) = (Syncobj::new(&device, true).unwrap(), Syncobj::new(&device, false).unwrap());
    let submission = Submission {
        lists: &lists,
        waits: &[SyncPoint::binary(&ready)],
        signals: &[SyncPoint::timeline(&done, 7)],
        ..Submission::default()
    };
    let fence = queue.submit(&submission).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    let count = |id| calls.lock().iter().map(|call| call.chunks_of(id).count()).collect::<Vec<_>>();
    assert_eq!(count(chunk_id::SYNCOBJ_TIMELINE_WAIT), [1, 0, 0]);
    assert_eq!(count(chunk_id::SYNCOBJ_TIMELINE_SIGNAL), [0, 0, 1]);
    assert_eq!(count(chunk_id::FENCE), [1, 1, 1], "each part writes its number");
}

/// The kernel evicts in the order of priorities: IBs go last, and memory by its own.
#[test]
fn ibs_are_listed_with_the_highest_priority_and_memory_with_its_own() {
    let (_gpu, device, calls) = watched();
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let other = host_memory(&device, 4096);
    other.set_priority(1.0);
    let list = store(&device, queue.target(), memory.address(), 1);
    let bindings = [&memory, &other].map(|memory| memory.binding().clone());
    let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    let known = [(memory.bo().handle(), 14), (other.bo().handle(), 27)];
    let (mut ibs, mut priorities) = (0, Vec::new());
    for entry in calls.lock()[0].bos() {
        if known.iter().any(|(handle, _)| *handle == entry.0) {
            priorities.push(entry);
        } else {
            assert_eq!(entry.1, 31, "an IB");
            ibs += 1;
        }
    }
    priorities.sort_unstable();
    let mut known = known.to_vec();
    known.sort_unstable();
    assert_eq!((ibs, priorities), (2, known));
}

/// A stream's kept memory is listed and alive, in whatever way the stream came into the submission.
#[test]
fn what_a_stream_keeps_is_listed_with_it() {
    let (gpu, device, _calls) = watched();
    let level = device.info().gfx_level;
    for (ip, inclusion) in [
        (Ip::Gfx, None),
        (Ip::Compute, None),
        (Ip::Gfx, Some(Inclusion::Auto)),
        (Ip::Gfx, Some(Inclusion::Copy)),
        (Ip::Compute, Some(Inclusion::Auto)),
    ] {
        let queue = queue(&device, ip, 0);
        let target = if ip == Ip::Gfx { pm4::Target::gfx(level) } else { pm4::Target::compute(level) };
        let memory = host_memory_with(&device, 4096, AllocateFlags::LISTED);
        let marks = |stream: &mut Stream<pm4::Target>| {
            stream.keep(memory.binding());
            pm4::Target::store(stream, memory.address(), 5).unwrap();
        };
        let list = match inclusion {
            None => {
                let mut stream = Stream::new(&device, target, 64).unwrap();
                marks(&mut stream);
                stream.finish().unwrap()
            }
            Some(inclusion) => {
                let mut inner = Stream::secondary(&device, target, 64).unwrap();
                marks(&mut inner);
                let inner = inner.finish().unwrap();
                let mut stream = Stream::new(&device, target, 64).unwrap();
                stream.execute(&inner, inclusion).unwrap();
                stream.finish().unwrap()
            }
        };
        run(&queue, &list);
        assert_eq!(load(&memory, 0), 5, "{ip} {inclusion:?}");
        // The same without being kept is what the simulator takes offence at.
        assert_eq!(gpu.complaints(), [""; 0], "{ip} {inclusion:?}");
    }
    let (queue, memory) = (queue(&device, Ip::Compute, 0), host_memory_with(&device, 4096, AllocateFlags::LISTED));
    run(&queue, &store(&device, queue.target(), memory.address(), 5));
    assert_eq!(load(&memory, 0), 0);
    assert!(gpu.complaints().concat().contains("does not list"), "{:?}", gpu.complaints());
}

fn run(queue: &Queue, list: &CommandList) {
    let fence = queue.submit(&Submission { lists: &[list], ..Submission::default() }).unwrap();
    assert!(fence.wait(job_time()).unwrap());
}

/// Returns the contents of a list's first IB.
fn first_dwords(list: &CommandList) -> Vec<u32> {
    list.dwords().next().unwrap()
}

#[test]
fn the_gpu_may_not_write_to_an_ib() {
    for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
        let (_gpu, device, _calls) = watched();
        let queue = queue(&device, ip, 0);
        let memory: DeviceMemory = host_memory(&device, 4096);
        let victim = store(&device, queue.target(), memory.address(), 1);
        let before = first_dwords(&victim);
        let (at, _) = victim.ibs().next().unwrap();
        let attacker = store(&device, queue.target(), at, 0xdead);
        let bindings = [memory.binding().clone()];
        let submission = Submission { lists: &[&attacker, &victim], memory: &bindings, ..Submission::default() };
        let fence = queue.submit(&submission).unwrap();
        assert!(fence.wait(job_time()).unwrap());
        assert_eq!((first_dwords(&victim), load(&memory, 0)), (before, 1), "{ip}");
        let fault = device.page_fault().unwrap().expect("a page fault");
        assert_eq!(fault.page.low_48_bits(), at.low_48_bits(), "{ip}");
    }
}

#[test]
fn a_list_that_is_put_behind_one_between_two_runs_of_that_one_is_listed_with_it() {
    let (_gpu, device, calls) = watched();
    let queue = queue(&device, Ip::Gfx, 0);
    let memory = host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE);
    let [first, second] = [false, true].map(|keeps| {
        let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 16).unwrap();
        if keeps {
            stream.keep(memory.binding());
        }
        stream.finish().unwrap()
    });
    for keep in [Keep::Everything, Keep::Lists, Keep::Nothing] {
        let is_listed = || {
            let fence = queue.submit(&Submission { lists: &[&first], keep, ..Submission::default() }).unwrap();
            assert!(fence.wait(job_time()).unwrap());
            let calls = std::mem::take(&mut *calls.lock());
            calls[0].bos().iter().any(|(handle, _)| *handle == memory.bo().handle())
        };
        assert_eq!([is_listed(), is_listed()], [false, false], "{keep:?}");
        first.chain(&second).unwrap();
        assert_eq!([is_listed(), is_listed()], [true, true], "{keep:?}");
        first.unchain().unwrap();
        assert_eq!([is_listed(), is_listed()], [false, false], "{keep:?}");
    }
}

/// Another thread may free memory that no submission uses while a submission lists all memory of the device.
#[test]
fn memory_that_leaves_its_set_during_a_call_does_not_make_the_submission_fail() {
    for keep in [Keep::Everything, Keep::Lists, Keep::Nothing] {
        let gpu = SimDevice::new(chip("navi21"), SimOptions::default());
        let kernel = Spy::on(gpu.open());
        let device = Device::new(Arc::clone(&kernel)).unwrap();
        let queue = queue(&device, Ip::Gfx, 0);
        let memory = host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE);
        let (handle, binding) = (memory.bo().handle(), Watch::of(memory.binding()));
        let set = ResidencySet::new();
        set.add(memory.binding());
        let list = &idle_lists(&device, queue.target(), 1)[0];
        let submission = Submission { lists: &[list], sets: &[&set], keep, ..Submission::default() };
        for _ in 0..3 {
            assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
        }
        let (leaving, calls) = (Mutex::new(Some((set.clone(), memory))), Calls::default());
        let log = Arc::clone(&calls);
        kernel.layer().watch(move |call| {
            if call.is::<Cs>()
                && let Some((set, memory)) = leaving.lock().take()
            {
                log.lock().push(call.clone());
                set.remove(memory.binding());
            }
        });
        let fence = queue.submit(&submission).expect("made with the memory, or again without it");
        assert!(calls.lock()[0].bos().iter().any(|(listed, _)| *listed == handle), "{keep:?}: it was listed");
        assert!(fence.wait(job_time()).unwrap());
        assert!(!binding.is_bound(), "{keep:?}: nothing keeps it any more");
        kernel.layer().look_away();
        assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap(), "{keep:?}");
    }
}

/// A step in the life of three lists, of which the first may have the second behind it.
#[derive(Clone, Debug)]
enum Step {
    /// Submits some of them.
    Submit {
        lists: Vec<usize>,
        memory: bool,
        set: bool,
        keep: Keep,
        preemptible: bool,
        signal: bool,
    },
    /// Drops one and records another, which keeps this memory.
    Record {
        list: usize,
        memory: usize,
    },
    Chain,
    Unchain,
    /// Adds a member to the set, or removes it.
    Change(bool),
}

fn step() -> impl Strategy<Value = Step> {
    let keep = prop_oneof![Just(Keep::Everything), Just(Keep::Lists), Just(Keep::Nothing)];
    let lists = prop_oneof![3 => Just(vec![0]), 2 => Just(vec![0, 2]), 1 => prop::collection::vec(0..3_usize, 1..4)];
    let rarely = || prop::bool::weighted(0.2);
    prop_oneof![
        12 => (lists, rarely(), any::<bool>(), keep, rarely(), rarely()).prop_map(
            |(lists, memory, set, keep, preemptible, signal)| Step::Submit { lists, memory, set, keep, preemptible, signal },
        ),
        2 => (0..3_usize, 0..3_usize).prop_map(|(list, memory)| Step::Record { list, memory }),
        2 => Just(Step::Chain),
        1 => Just(Step::Unchain),
        2 => any::<bool>().prop_map(Step::Change),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// IBs and memory of lists that run again are not listed again.
    #[test]
    fn a_submission_gives_the_kernel_the_same_whatever_its_queue_submitted_before(
        steps in prop::collection::vec(step(), 1..24),
    ) {
        let (_gpu, device, calls) = watched();
        // Preambles of queues differ in their addresses.
        let fresh = || {
            let options = QueueOptions { acquires: false, ..QueueOptions::default() };
            Queue::with_options(&context(&device), Ip::Gfx, 0, options).unwrap()
        };
        let old = fresh();
        let memories = [(); 4].map(|()| host_memory_with(&device, 4096, AllocateFlags::EXPORTABLE));
        let (set, done) = (ResidencySet::new(), Syncobj::new(&device, false).unwrap());
        let record = |memory: usize| {
            let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 16).unwrap();
            stream.keep(memories[memory].binding());
            stream.finish().unwrap()
        };
        let mut all = [record(0), record(1), record(2)];
        for step in steps {
            match step {
                Step::Submit { lists, memory, set: has_set, keep, preemptible, signal } => {
                    let lists: Vec<_> = lists.iter().map(|&at| &all[at]).collect();
                    let bindings = [memories[3].binding().clone()];
                    let beside = if memory { &bindings[..] } else { &[] };
                    let submission = Submission {
                        lists: &lists,
                        memory: &beside,
                        sets: if has_set { &[&set] } else { &[] },
                        signals: if signal { &[SyncPoint::timeline(&done, 1)] } else { &[] },
                        keep,
                        is_preemptible: preemptible,
                        ..Submission::default()
                    };
                    let asked = [&old, &fresh()].map(|queue| {
                        assert!(queue.submit(&submission).unwrap().wait(job_time()).unwrap());
                        let calls = std::mem::take(&mut *calls.lock());
                        let chunks = |id| calls[0].chunks_of(id).map(<[u32]>::to_vec).collect::<Vec<_>>();
                        (chunks(chunk_id::IB), chunks(chunk_id::SYNCOBJ_TIMELINE_SIGNAL).len(), calls[0].bos())
                    });
                    prop_assert_eq!(&asked[0], &asked[1], "{:?}", submission.keep);
                }
                Step::Record { list, memory } => {
                    let _ = all[0].unchain();
                    // The old one goes first, so that the new one may have its addresses and its handle.
                    let idle = record(3);
                    drop(std::mem::replace(&mut all[list], idle));
                    old.retire();
                    all[list] = record(memory);
                }
                Step::Chain => {
                    let _ = all[0].chain(&all[1]);
                }
                Step::Unchain => {
                    let _ = all[0].unchain();
                }
                Step::Change(true) => {
                    set.add(memories[2].binding());
                }
                Step::Change(false) => {
                    set.remove(memories[2].binding());
                }
            }
        }
    }
}
