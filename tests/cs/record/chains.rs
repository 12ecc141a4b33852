//! Chains of lists, and memory that lists keep.

use crate::{
    record::lists::{compute, dwords, gfx, run, store, tails},
    support::{chips, device, host_memory, job_time, jobs::patient_gpu, queue},
};
use amdgpu_winsys::{
    cs::{
        self, ChainFault, Execution, IbPlacement, IbPool, Inclusion, Keep, Stream, Submission, SyncPoint, Target, sdma,
    },
    winsys::{Device, GfxLevel, Ip, Syncobj},
};

#[test]
fn a_replayed_list_is_chained_by_a_jump_with_the_bit_for_it_where_the_ring_has_it() {
    for (name, ip) in chips().into_iter().flat_map(|name| [Ip::Gfx, Ip::Compute].map(|ip| (name, ip))) {
        let device = device(name);
        let (memory, queue) = (host_memory(&device, 4096), queue(&device, ip, 0));
        let Target::Pm4(target) = queue.target() else { unreachable!() };
        let [first, second] = [7, 8].map(|value| {
            let mut stream = Stream::new(&device, target, 16).unwrap();
            stream.push(&store(&memory, u64::from(value) - 7, &[value])).unwrap();
            stream.finish().unwrap()
        });
        let replays = ip == Ip::Gfx && device.info().gfx_level >= GfxLevel::Gfx8;
        let outcome = first.chain_replayed(&second);
        assert_eq!(first.is_chained(), replays, "{name} {ip}");
        if !replays {
            assert!(matches!(outcome, Err(ChainFault::Jump(_))), "{name} {ip}: {outcome:?}");
            first.chain(&second).unwrap();
        }
        let [tail] = tails(&first)[..] else { unreachable!() };
        let (va, dwords) = second.ibs().next().unwrap();
        let control = dwords as u32 | 1 << 20 | 1 << 23 | u32::from(replays) << 21;
        assert_eq!(tail, [0xc002_3f00, va.low(), va.high(), control], "{name} {ip}");
        run(&queue, &first, &memory);
        assert_eq!(self::dwords(&memory, 2), [7, 8], "{name} {ip}");
        first.unchain().unwrap();
        assert_eq!(tails(&first), [[0xc002_1000, 0, 0, 0]], "{name} {ip}");
    }
}

/// W-34: RADV undoes a chain with fillers that GFX6 does not know.
#[test]
fn lists_are_chained_and_taken_apart_again_on_every_generation() {
    for (name, ip) in chips().into_iter().flat_map(|name| [Ip::Gfx, Ip::Compute].map(|ip| (name, ip))) {
        let device = device(name);
        let memory = host_memory(&device, 4096);
        let queue = queue(&device, ip, 0);
        let Target::Pm4(target) = queue.target() else { unreachable!() };
        let lists: Vec<_> = (0..4)
            .map(|at| {
                let mut stream = Stream::new(&device, target, 16).unwrap();
                stream.push(&store(&memory, at, &[at as u32 + 1])).unwrap();
                stream.finish().unwrap()
            })
            .collect();
        let [first, second, third, last] = &lists[..] else { unreachable!() };
        // From the end, and from any clone.
        third.chain(last).unwrap();
        first.clone().chain(second).unwrap();
        second.chain(&third.clone()).unwrap();
        assert_eq!((first.ibs().len(), first.submitted_ibs().len()), (1, 1), "{name} {ip}");
        run(&queue, first, &memory);
        assert_eq!(dwords(&memory, 5), [1, 2, 3, 4, 0], "{name} {ip}");
        memory.mapping().unwrap().write(0, &[0; 16]).unwrap();
        run(&queue, third, &memory);
        assert_eq!(dwords(&memory, 5), [0, 0, 3, 4, 0], "{name} {ip}: from the middle on");

        memory.mapping().unwrap().write(0, &[0; 16]).unwrap();
        for list in &lists {
            list.unchain().unwrap();
        }
        assert!(lists.iter().all(|list| tails(list) == [[0xc002_1000, 0, 0, 0]]), "{name} {ip}");
        run(&queue, second, &memory);
        assert_eq!(dwords(&memory, 4), [0, 2, 0, 0], "{name} {ip}: a list runs alone again");
        last.chain(first).unwrap();
        run(&queue, last, &memory);
        assert_eq!(dwords(&memory, 4), [1, 2, 0, 4], "{name} {ip}");
    }
}

/// Neither the lists of a chain nor the chain itself change while the GPU reads them.
#[test]
fn a_chain_does_not_change_while_a_queue_runs_it() {
    let gpu = patient_gpu("navi21");
    let device = Device::new(gpu.open()).unwrap();
    let (queue, memory) = (queue(&device, Ip::Gfx, 0), host_memory(&device, 4096));
    let lists: Vec<_> = (0..3)
        .map(|at| {
            let mut stream = Stream::new(&device, gfx(&device), 16).unwrap();
            stream.push(&store(&memory, at, &[1])).unwrap();
            stream.finish().unwrap()
        })
        .collect();
    let [first, second, other] = &lists[..] else { unreachable!() };
    first.chain(second).unwrap();
    let held = gpu.hold_ring(Ip::Gfx, 0);
    let bindings = [memory.binding().clone()];
    let submission = Submission { lists: &[first], memory: &bindings, ..Submission::default() };
    let fence = queue.submit(&submission).unwrap();
    assert_eq!(first.unchain(), Err(ChainFault::InUse));
    assert_eq!(first.chain(other), Err(ChainFault::Chained));
    assert_eq!(second.chain(other), Err(ChainFault::InUse), "it is part of what runs");
    assert_eq!(second.unchain(), Ok(()), "nothing to do");
    let second = second.clone().record_again(gfx(&device)).unwrap_err();
    drop(held);
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!(dwords(&memory, 3), [1, 1, 0]);
    second.chain(other).unwrap();
    memory.mapping().unwrap().write(0, &[0; 16]).unwrap();
    run(&queue, first, &memory);
    assert_eq!(dwords(&memory, 3), [1, 1, 1]);
    // The lists of a chain live as long as their chain.
    let first = first.clone();
    drop((second, lists));
    memory.mapping().unwrap().write(0, &[0; 16]).unwrap();
    run(&queue, &first, &memory);
    assert_eq!(dwords(&memory, 3), [1, 1, 1]);
}

/// Without retirement, as RADV does: tails change at each submission, and the caller knows when a list has run.
#[test]
fn a_driver_that_keeps_nothing_changes_chains_as_it_submits() {
    let device = device("navi21");
    let (queue, memory) = (queue(&device, Ip::Gfx, 0), host_memory(&device, 4096));
    let lists: Vec<_> = (0..3)
        .map(|at| {
            let mut stream = Stream::new(&device, gfx(&device), 16).unwrap();
            stream.push(&store(&memory, at, &[1])).unwrap();
            stream.finish().unwrap()
        })
        .collect();
    let done = Syncobj::new(&device, false).unwrap();
    let bindings = [memory.binding().clone()];
    for order in [[0, 1, 2], [2, 1, 0], [1, 0, 2]] {
        memory.mapping().unwrap().write(0, &[0; 16]).unwrap();
        let ordered = order.map(|at: usize| &lists[at]);
        for list in &lists {
            list.unchain().unwrap();
        }
        for pair in ordered.windows(2) {
            pair[0].chain(pair[1]).unwrap();
        }
        let signals = [SyncPoint::binary(&done)];
        let submission = Submission {
            lists: &ordered[..1],
            memory: &bindings,
            signals: &signals,
            keep: Keep::Nothing,
            ..Submission::default()
        };
        queue.submit(&submission).unwrap();
        assert!(done.wait(job_time()).unwrap());
        done.reset().unwrap();
        assert_eq!(dwords(&memory, 3), [1, 1, 1], "{order:?}");
    }
    queue.check().unwrap();
}

#[test]
fn lists_that_cannot_be_chained_stay_as_they_were() {
    let device = device("pitcairn");
    let list = |target| Stream::new(&device, target, 8).unwrap().finish().unwrap();
    let (first, second, third) = (list(gfx(&device)), list(gfx(&device)), list(gfx(&device)));
    assert_eq!(first.chain(&first), Err(ChainFault::Circle));
    first.chain(&second).unwrap();
    assert_eq!(first.chain(&third), Err(ChainFault::Chained));
    assert_eq!(third.chain(&second), Err(ChainFault::Behind));
    second.chain(&third).unwrap();
    assert_eq!(third.chain(&first), Err(ChainFault::Circle));
    assert!(!third.is_chained() && tails(&third) == [[0xc002_1000, 0, 0, 0]]);
    // Called lists and preambles run within others.
    let mut stream = Stream::new(&device, gfx(&device), 64).unwrap();
    assert_eq!(stream.execute(&first, Inclusion::Auto), Err(cs::RecordError::ChainedList));
    let leaf = Stream::secondary(&device, gfx(&device), 8).unwrap().finish().unwrap();
    assert_eq!(stream.execute(&leaf, Inclusion::Auto), Ok(Execution::Called));
    assert_eq!(leaf.chain(&list(gfx(&device))), Err(ChainFault::InUse));
    let (target, next) = (gfx(&device).into(), compute(&device).into());
    assert_eq!(third.chain(&list(compute(&device))), Err(ChainFault::OtherRing { target, next }));
    let elsewhere = Stream::new(&crate::support::device("pitcairn"), gfx(&device), 8).unwrap().finish().unwrap();
    assert_eq!(third.chain(&elsewhere), Err(ChainFault::OtherDevice));
    let version = sdma::Version::of(device.info().gfx_level);
    let copy = || Stream::new(&device, version, 8).unwrap().finish().unwrap();
    assert_eq!(copy().chain(&copy()), Err(ChainFault::NoJumps { target: version.into() }));
    // A chain ends with its first list; those behind it are free again.
    drop(first);
    third.chain(&second).unwrap_err();
    drop(second);
    assert!(third.record_again(gfx(&device)).is_ok());
}

/// The end of a long chain is the end of one list after the other.
#[test]
fn a_chain_of_very_many_lists_ends() {
    let device = device("navi21");
    let pool = IbPool::new(&device, IbPlacement::System, 1 << 20).unwrap();
    let list = || pool.stream(gfx(&device), 8).unwrap().finish().unwrap();
    let mut first = list();
    for _ in 0..2000 {
        let before = list();
        before.chain(&first).unwrap();
        first = before;
    }
    assert_eq!(pool.idle_dwords(), 0);
    std::thread::Builder::new().stack_size(64 << 10).spawn(move || drop(first)).unwrap().join().unwrap();
    assert!(pool.idle_dwords() > 0);
}

#[test]
fn memory_is_kept_once_however_often_it_is_kept() {
    let device = device("navi21");
    let memory = host_memory(&device, 4096);
    let before = memory.binding().handle_count();
    let mut stream = Stream::new(&device, gfx(&device), 64).unwrap();
    (0..1000).for_each(|_| stream.keep(memory.binding()));
    assert_eq!(memory.binding().handle_count(), before + 1);
    let mut secondary = Stream::secondary(&device, gfx(&device), 64).unwrap();
    secondary.keep(memory.binding());
    let secondary = secondary.finish().unwrap();
    let with_secondary = memory.binding().handle_count();
    for _ in 0..100 {
        assert_eq!(stream.execute(&secondary, Inclusion::Copy), Ok(Execution::Copied));
        assert_eq!(stream.execute(&secondary, Inclusion::Auto), Ok(Execution::Called));
    }
    assert_eq!(memory.binding().handle_count(), with_secondary, "copied secondaries repeat nothing");
    let list = stream.finish().unwrap();
    assert_eq!(memory.binding().handle_count(), with_secondary);
    run(&queue(&device, Ip::Gfx, 0), &list, &memory);
    drop((list, secondary));
    assert_eq!(memory.binding().handle_count(), before);
}
