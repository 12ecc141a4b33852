//! Streams that outgrow their IB, and submissions that outgrow one call.

use std::sync::Arc;

use crate::support::{chip, chips, device, host_memory, job_time, queue};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{self, CommandList, Queue, Stream, Submission, SyncPoint, Target, pm4, sdma},
    heaps::DeviceMemory,
    uapi::{Argument, Cs, GemCreate},
    winsys::{Device, Errno, Error, Ip, KernelError, Syncobj},
};
use proptest::prelude::*;

/// Stores `values` one by one, each run in a packet of its own, in a stream that begins as small as can be.
fn store(device: &Device, target: Target, memory: &DeviceMemory, runs: &[&[u32]]) -> CommandList {
    let places = runs.iter().scan(0, |dwords, run| {
        let place = memory.address().checked_add(*dwords * 4).unwrap();
        *dwords += run.len() as u64;
        Some((place, *run))
    });
    match target {
        Target::Pm4(target) => {
            let mut stream = Stream::new(device, target, 1).unwrap();
            places.for_each(|(to, data)| stream.push(&pm4::WriteData::new(to, data)).unwrap());
            stream.finish().unwrap()
        }
        Target::Sdma(version) => {
            let mut stream = Stream::new(device, version, 1).unwrap();
            places.for_each(|(to, data)| stream.push(&sdma::WriteLinear { to, data }).unwrap());
            stream.finish().unwrap()
        }
    }
}

fn run(queue: &Queue, list: &CommandList, memory: &DeviceMemory) {
    let bindings = [memory.binding().clone()];
    let fence = queue.submit(&Submission { lists: &[list], memory: &bindings, ..Submission::default() }).unwrap();
    assert!(fence.wait(job_time()).unwrap());
}

fn dwords(memory: &DeviceMemory, count: usize) -> Vec<u32> {
    (0..count as u64).map(|at| memory.mapping().unwrap().load_u32(at * 4).unwrap()).collect()
}

#[test]
fn a_stream_grows_past_its_ib_on_every_kind_of_ring_of_every_chip() {
    let values: Vec<u32> = (0..5000).collect();
    let runs: Vec<_> = values.chunks(1).collect();
    for name in chips() {
        let device = device(name);
        let memory = host_memory(&device, 4 * values.len() as u64);
        for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
            memory.mapping().unwrap().write(0, &vec![0xff; 4 * values.len()]).unwrap();
            let queue = queue(&device, ip, 0);
            let list = store(&device, queue.target(), &memory, &runs);
            assert!(list.ibs().count() >= 3, "{name} {ip}: {} IBs", list.ibs().count());
            let given = if ip == Ip::Sdma { list.ibs().count() } else { 1 };
            assert_eq!(list.submitted_ibs().count(), given, "{name} {ip}");
            run(&queue, &list, &memory);
            assert!(dwords(&memory, values.len()) == values, "{name} {ip}: a store is missing");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn wherever_the_ibs_end_the_packets_do_the_same(
        lengths in prop::collection::vec(1..700_usize, 1..60),
        ip in prop::sample::select(vec![Ip::Gfx, Ip::Compute, Ip::Sdma]),
        name in prop::sample::select(vec!["pitcairn", "polaris10", "navi31"]),
    ) {
        let device = device(name);
        let values: Vec<u32> = (1..=lengths.iter().sum::<usize>() as u32).collect();
        let mut rest = values.as_slice();
        let runs: Vec<_> = lengths.iter().map(|&len| rest.split_off(..len).unwrap()).collect();
        let memory = host_memory(&device, 4 * values.len() as u64);
        let queue = queue(&device, ip, 0);
        let list = store(&device, queue.target(), &memory, &runs);
        for (va, dwords) in list.ibs() {
            prop_assert!(va.is_aligned(4096));
            prop_assert!(dwords % queue.target().pad_dwords() == 0 && dwords <= cs::MAX_IB_DWORDS);
        }
        run(&queue, &list, &memory);
        prop_assert!(dwords(&memory, values.len()) == values, "a store is missing");
    }
}

#[test]
fn ibs_double_up_to_four_mebibytes() {
    let device = device("navi21");
    let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 1 << 16).unwrap();
    for _ in 0..500 {
        let room = stream.reserve(8192).unwrap();
        room.fill(0);
        room[0] = 0xdffe_1000;
    }
    let list = stream.finish().unwrap();
    let sizes: Vec<_> = list.ibs().map(|(_, dwords)| dwords).collect();
    assert_eq!(sizes.len(), 7, "{sizes:?}");
    assert!(sizes.iter().all(|&dwords| dwords <= cs::MAX_IB_DWORDS), "{sizes:?}");
    assert!(sizes[4..6].iter().all(|&dwords| dwords > cs::MAX_IB_DWORDS - 8192 - 8), "{sizes:?}");
}

#[test]
fn more_at_once_than_an_ib_holds_is_refused_and_nothing_is_lost() {
    let device = device("vega10");
    let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 8).unwrap();
    stream.push(&pm4::Nop::Skip(&[0; 3])).unwrap();
    let error = stream.reserve(cs::MAX_IB_DWORDS).unwrap_err();
    assert_eq!(error, cs::RecordError::TooLong { needed: cs::MAX_IB_DWORDS, most: 0xf_fff4 });
    assert_eq!((stream.len(), stream.status()), (4, Ok(())));
    assert_eq!(stream.reserve(0xf_fff4).unwrap().len(), 0xf_fff4);
    for dwords in [0, cs::MAX_IB_DWORDS] {
        let error = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), dwords).unwrap_err();
        assert_eq!(error, cs::RecordError::StreamCapacity { dwords, most: 0xf_fff4 });
    }
}

#[test]
fn a_stream_that_cannot_grow_is_poisoned_until_it_is_cleared() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let target = pm4::Target::compute(device.info().gfx_level);
    let before = kernel.inner().census();
    let mut stream = Stream::new(&device, target, 1).unwrap();
    let filler = pm4::Nop::Skip(&[0; 63]);
    stream.push(&filler).unwrap();
    kernel.fail_every_ioctl(GemCreate::REQUEST, Errno::ENOMEM);
    let error = loop {
        if let Err(error) = stream.push(&filler) {
            break error;
        }
    };
    assert!(
        matches!(error, cs::RecordError::Winsys(Error::Kernel(KernelError { errno: Errno::ENOMEM, .. }))),
        "{error:?}"
    );
    kernel.stop();
    // Memory would be there again, but a packet is missing.
    assert_eq!(stream.push(&filler).unwrap_err(), error);
    assert_eq!(stream.push(&pm4::Nop::Skip(&[0])).unwrap_err(), error);
    assert_eq!(stream.reserve(1).unwrap_err(), error);
    assert_eq!(stream.status().unwrap_err(), error);
    stream.clear();
    assert_eq!((stream.status(), stream.is_empty()), (Ok(()), true));
    for _ in 0..100 {
        stream.push(&filler).unwrap();
    }
    kernel.fail_every_ioctl(GemCreate::REQUEST, Errno::ENOMEM);
    while stream.push(&filler).is_ok() {}
    assert!(matches!(stream.finish().unwrap_err(), cs::RecordError::Winsys(Error::Kernel(_))));
    kernel.stop();
    assert_eq!(kernel.inner().census(), before);
}

#[test]
fn recording_again_needs_no_new_memory() {
    let kernel = Arc::new(SimKernel::open(chip("renoir")));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let target = pm4::Target::gfx(device.info().gfx_level);
    let mut stream = Stream::new(&device, target, 1).unwrap();
    let mut census = None;
    for _ in 0..3 {
        for _ in 0..5000 {
            stream.push(&pm4::Nop::Skip(&[0; 3])).unwrap();
        }
        let list = stream.finish().unwrap();
        assert_eq!(*census.get_or_insert(kernel.census()), kernel.census());
        stream = list.record_again(target).unwrap();
        assert!(stream.is_empty());
    }
}

/// Lists that do nothing, on a compute ring, of which the kernel takes 125 at once.
fn idle_lists(device: &Device, count: usize) -> Vec<CommandList> {
    let target = pm4::Target::compute(device.info().gfx_level);
    (0..count).map(|_| Stream::new(device, target, 1).unwrap().finish().unwrap()).collect()
}

#[test]
fn a_submission_of_many_lists_goes_in_calls_and_is_done_with_the_last() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Compute, 0);
    let gate = host_memory(&device, 4096);
    let mut stream = Stream::new(&device, pm4::Target::compute(device.info().gfx_level), 16).unwrap();
    stream.push(&pm4::WaitRegMem::new(gate.address(), pm4::Compare::Equal, 1)).unwrap();
    let mut lists = idle_lists(&device, 300);
    lists.push(stream.finish().unwrap());
    let lists: Vec<_> = lists.iter().collect();
    let done = Syncobj::new(&device, false).unwrap();
    let ready = Syncobj::new(&device, true).unwrap();
    let submission = Submission {
        lists: &lists,
        memory: &[gate.binding().clone()],
        waits: &[SyncPoint::binary(&ready)],
        signals: &[SyncPoint::binary(&done)],
        ..Submission::default()
    };
    let fence = queue.submit(&submission).unwrap();
    assert_eq!(fence.sequence(), 3, "301 IBs in calls of 125");
    assert!(queue.context().wait(Ip::Compute, 0, 2, job_time()).unwrap(), "the first two calls are done");
    assert!(!done.wait(amdgpu_winsys::winsys::Deadline::POLL).unwrap(), "and have signalled nothing");
    gate.mapping().unwrap().store_u32(0, 1).unwrap();
    assert!(fence.wait(job_time()).unwrap() && done.wait(job_time()).unwrap());
}

#[test]
fn what_the_kernel_took_of_a_refused_submission_stays_alive() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let lists = idle_lists(&device, 126);
    let lists: Vec<_> = lists.iter().collect();
    let bindings = [memory.binding().clone()];
    let submission = Submission { lists: &lists, memory: &bindings, ..Submission::default() };
    kernel.fail_nth_ioctl(Cs::REQUEST, 1, Errno::EINVAL);
    let error = queue.submit(&submission).unwrap_err();
    let cs::SubmitError::PartlySubmitted { part: 1, parts: 2, .. } = error else { panic!("{error:?}") };
    assert!(error.to_string().starts_with("call 1 of 2"), "{error}");
    assert!(memory.binding().handle_count() > 2 || queue.in_flight() == 0);
    assert!(queue.wait_idle(job_time()).unwrap());
    assert_eq!(queue.submit(&submission).unwrap().sequence(), 3);
}
