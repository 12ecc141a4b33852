//! Recording and submitting on every ring of every chip, and what is refused on the way.

use std::{sync::Arc, time::Duration};

use crate::support::{Watch, chip, chips, device, host_memory, job_time, queue};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{KernelRelease, SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{self, CommandList, Keep, Queue, Stream, Submission, SyncPoint, Target, pm4, sdma},
    heaps::DeviceMemory,
    uapi::{Argument as _, Cs, CtxStateFlags},
    vamgr::GpuVa,
    winsys::{Binding, Context, Deadline, Device, Errno, Error, Ip, KernelError, Priority, ResidencySet, Syncobj},
};
use proptest::prelude::*;

/// A list that stores a dword, in whatever language the queue speaks.
fn store(device: &Device, target: Target, at: GpuVa, value: u32) -> CommandList {
    match target {
        Target::Pm4(target) => {
            let mut stream = Stream::new(device, target, 64).unwrap();
            stream.push(&pm4::EndOfPipe::fence(at, value)).unwrap();
            stream.finish().unwrap()
        }
        Target::Sdma(version) => {
            let mut stream = Stream::new(device, version, 64).unwrap();
            stream.push(&sdma::Fence::new(version, at, value)).unwrap();
            stream.finish().unwrap()
        }
    }
}

fn rings(device: &Device) -> Vec<(Ip, u32)> {
    let info = device.info();
    [Ip::Gfx, Ip::Compute, Ip::Sdma]
        .into_iter()
        .flat_map(|ip| (0..info.ring_count(ip)).map(move |ring| (ip, ring)))
        .collect()
}

#[test]
fn every_ring_of_every_chip_executes_what_it_is_given() {
    for name in chips() {
        let device = device(name);
        let rings = rings(&device);
        assert!(rings.len() >= 4, "{name}: {rings:?}");
        let memory = host_memory(&device, 4096);
        for (index, (ip, ring)) in rings.into_iter().enumerate() {
            let queue = queue(&device, ip, ring);
            let (offset, value) = (8 * index as u64, 0xabc0 + index as u32);
            let at = memory.address().checked_add(offset).unwrap();
            let list = store(&device, queue.target(), at, value);
            let bindings = [memory.binding().clone()];
            let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
            let fence = queue.submit(&submission).unwrap();
            assert!(fence.wait(job_time()).unwrap() && fence.is_signalled(), "{name} {ip} {ring}");
            assert_eq!(memory.mapping().unwrap().load_u32(offset).unwrap(), value, "{name} {ip} {ring}");
        }
    }
}

#[test]
fn what_a_submission_uses_lives_until_its_fence() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Compute, 1);
    let (gate, memory) = (host_memory(&device, 4096), host_memory(&device, 4096));
    let target = pm4::Target::compute(device.info().gfx_level);
    let mut stream = Stream::new(&device, target, 64).unwrap();
    stream.push(&pm4::WaitRegMem::new(gate.address(), pm4::Compare::Equal, 1)).unwrap();
    stream.push(&pm4::EndOfPipe::fence(memory.address(), 7)).unwrap();
    let list = stream.finish().unwrap();
    let (bo, binding) = (memory.bo().clone(), Watch::of(memory.binding()));
    let bindings = [gate.binding().clone(), memory.binding().clone()];
    let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
    drop((list, bindings, memory));
    assert!(binding.is_bound(), "the job is still to write there");
    gate.mapping().unwrap().store_u32(0, 1).unwrap();
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!(amdgpu_winsys::winsys::Mapping::new(&bo).unwrap().load_u32(0).unwrap(), 7);
    drop(bo);
    assert!(!binding.is_bound(), "nobody uses it any more");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// Resources of a submission that has ended are handed to the next one of the same list, as far as that uses them too.
    #[test]
    fn a_list_that_runs_again_keeps_what_its_last_submission_names_and_nothing_else(
        steps in prop::collection::vec((prop::collection::vec(0..4_usize, 0..5), any::<bool>()), 1..10),
    ) {
        let device = device("navi21");
        let queue = queue(&device, Ip::Gfx, 0);
        let (gate, member) = (host_memory(&device, 4096), host_memory(&device, 4096));
        let memories: Vec<_> = (0..4).map(|_| host_memory(&device, 4096)).collect();
        let mut stream = Stream::new(&device, pm4::Target::gfx(device.info().gfx_level), 64).unwrap();
        stream.push(&pm4::WaitRegMem::new(gate.address(), pm4::Compare::Equal, 1)).unwrap();
        let list = stream.finish().unwrap();
        let set = ResidencySet::new();
        for (named, has_set) in steps {
            set.add(member.binding());
            gate.mapping().unwrap().store_u32(0, 0).unwrap();
            let memory: Vec<Binding> = [&gate].into_iter().chain(named.iter().map(|&at| &memories[at]))
                .map(|memory| memory.binding().clone())
                .collect();
            let sets: &[&ResidencySet] = if has_set { &[&set] } else { &[] };
            let fence = queue.submit(&Submission { lists: &[&list], memory: &memory, sets, ..Submission::default() }).unwrap();
            drop(memory);
            set.remove(member.binding());
            // The memory and its CPU mapping have a handle each.
            let others = |memory: &DeviceMemory| memory.binding().handle_count() - 2;
            let times = |at| named.iter().filter(|&&named| named == at).count();
            prop_assert_eq!(memories.iter().map(others).collect::<Vec<_>>(), (0..4).map(times).collect::<Vec<_>>());
            prop_assert_eq!((others(&gate), others(&member)), (1, usize::from(has_set)));
            gate.mapping().unwrap().store_u32(0, 1).unwrap();
            // The queue does not notice, so the next submission finds a job that has finished.
            while !fence.is_signalled() {
                std::thread::yield_now();
            }
        }
        prop_assert_eq!(queue.in_flight(), 0);
        prop_assert!(memories.iter().chain([&gate, &member]).all(|memory| memory.binding().handle_count() == 2));
    }
}

#[test]
fn a_list_is_recorded_again_only_when_no_queue_runs_it() {
    let device = device("renoir");
    let queue = queue(&device, Ip::Gfx, 0);
    let memory = host_memory(&device, 4096);
    let list = store(&device, queue.target(), memory.address(), 1);
    let bindings = [memory.binding().clone()];
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let fence = queue.submit(&submission).unwrap();
    let target = pm4::Target::gfx(device.info().gfx_level);
    // Until the queue was seen to be done it holds the list.
    let list = list.record_again(target).unwrap_err();
    assert!(fence.wait(job_time()).unwrap());
    let stream = list.record_again(target).unwrap();
    assert!(stream.is_empty());
}

#[test]
fn a_list_for_another_ring_is_refused_and_named() {
    let device = device("navi21");
    let (gfx, compute, sdma) =
        (queue(&device, Ip::Gfx, 0), queue(&device, Ip::Compute, 0), queue(&device, Ip::Sdma, 0));
    let list = store(&device, compute.target(), GpuVa::new(0x10_0000).unwrap(), 0);
    for wrong in [&gfx, &sdma] {
        let submission = Submission { lists: &[&list], ..Submission::default() };
        let error = wrong.submit(&submission).unwrap_err();
        let cs::SubmitError::WrongQueue { recorded, queue } = error else { panic!("{error:?}") };
        assert_eq!((recorded, queue), (compute.target(), wrong.target()));
    }
}

#[test]
fn empty_and_foreign_submissions_are_refused() {
    let (home, abroad) = (device("navi21"), device("navi21"));
    let queue = queue(&home, Ip::Compute, 0);
    let list = store(&home, queue.target(), GpuVa::new(0x10_0000).unwrap(), 0);
    let foreign_list = store(&abroad, queue.target(), GpuVa::new(0x10_0000).unwrap(), 0);
    let foreign_memory = [host_memory(&abroad, 4096).binding().clone()];
    let foreign_syncobj = Syncobj::new(&abroad, true).unwrap();
    let foreign_points = [SyncPoint::binary(&foreign_syncobj)];
    let nothing = Submission::default();
    assert_eq!(queue.submit(&nothing).unwrap_err(), cs::SubmitError::EmptySubmission);
    for (what, submission) in [
        ("command list", Submission { lists: &[&foreign_list], ..nothing }),
        ("memory", Submission { lists: &[&list], memory: &foreign_memory, ..nothing }),
        ("sync object", Submission { lists: &[&list], waits: &foreign_points, ..nothing }),
        ("sync object", Submission { lists: &[&list], signals: &foreign_points, ..nothing }),
    ] {
        let error = queue.submit(&submission).unwrap_err();
        assert_eq!(error, cs::SubmitError::Winsys(Error::ForeignDevice { what }));
    }
}

#[test]
fn a_ring_that_does_not_exist_is_refused_and_counted() {
    let device = device("renoir");
    let context = Context::new(&device, Priority::Normal).unwrap();
    let error = Queue::new(&context, Ip::Sdma, 1).unwrap_err();
    assert_eq!(error, cs::QueueError::NoSuchRing { ip: Ip::Sdma, ring: 1, rings: 1 });
    let error = Queue::new(&context, Ip::VcnDec, 0).unwrap_err();
    assert_eq!(error, cs::QueueError::UnsupportedIp { ip: Ip::VcnDec });
}

#[test]
fn two_queues_are_ordered_by_a_sync_object_and_by_a_fence() {
    let device = device("navi31");
    let (first, second) = (queue(&device, Ip::Sdma, 0), queue(&device, Ip::Gfx, 0));
    let memory = host_memory(&device, 4096);
    let bindings = [memory.binding().clone()];
    let link = Syncobj::new(&device, false).unwrap();
    for round in 1..=50_u32 {
        let links = [SyncPoint::binary(&link)];
        let early = store(&device, first.target(), memory.address(), round);
        let late = store(&device, second.target(), memory.address(), round + 1000);
        let earlier = first
            .submit(&Submission { lists: &[&early], memory: &bindings, signals: &links, ..Submission::default() })
            .unwrap();
        let later = second
            .submit(&Submission {
                lists: &[&late],
                memory: &bindings,
                waits: &links,
                after: &[&earlier],
                ..Submission::default()
            })
            .unwrap();
        assert!(later.wait(job_time()).unwrap());
        assert!(earlier.is_signalled());
        assert_eq!(memory.mapping().unwrap().load_u32(0).unwrap(), round + 1000);
        assert_eq!((earlier.sequence(), later.sequence()), (round.into(), round.into()));
    }
}

#[test]
fn an_ib_outside_any_binding_loses_the_context_and_names_the_fault() {
    // Later kernels reset the ring alone, in which no context counts as guilty.
    let linux = SimOptions::hanging_for(Duration::from_millis(200)).with_kernel(KernelRelease::V6_12);
    let gpu = SimDevice::new(chip("navi21"), linux);
    let device = Device::new(gpu.open()).unwrap();
    let queue = queue(&device, Ip::Gfx, 0);
    let target = pm4::Target::gfx(device.info().gfx_level);
    let nowhere = device.info().high_va_offset + (1 << 40);
    let mut stream = Stream::new(&device, target, 64).unwrap();
    stream.push(&pm4::IndirectBuffer::call(GpuVa::new(nowhere).unwrap(), 64)).unwrap();
    let list = stream.finish().unwrap();
    let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap();
    let error = fence.wait(job_time()).unwrap_err();
    let Error::DeviceLost { errno: Errno::ECANCELED, .. } = error else { panic!("{error:?}") };
    assert!(!fence.is_signalled());
    let state = queue.context().state().unwrap();
    assert_eq!(state, CtxStateFlags::RESET | CtxStateFlags::GUILTY);
    assert_eq!(device.page_fault().unwrap().unwrap().page.as_u64(), nowhere);
    assert!(
        gpu.complaints().iter().any(|complaint| complaint.contains("INDIRECT_BUFFER") || complaint.contains("fetch"))
    );
    // The context is lost, the device is not.
    let error = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap_err();
    assert!(matches!(error, cs::SubmitError::Winsys(Error::DeviceLost { .. })), "{error:?}");
    let memory = host_memory(&device, 4096);
    let fresh = self::queue(&device, Ip::Gfx, 0);
    let list = store(&device, fresh.target(), memory.address(), 3);
    let bindings = [memory.binding().clone()];
    let fence = fresh.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
    assert!(fence.wait(job_time()).unwrap());
}

#[test]
fn a_poll_of_a_running_job_is_not_an_error() {
    let device = device("navi21");
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let target = pm4::Target::compute(device.info().gfx_level);
    let mut stream = Stream::new(&device, target, 64).unwrap();
    stream.push(&pm4::WaitRegMem::new(memory.address(), pm4::Compare::Equal, 1)).unwrap();
    let list = stream.finish().unwrap();
    let bindings = [memory.binding().clone()];
    let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
    assert!(!fence.wait(Deadline::POLL).unwrap());
    memory.mapping().unwrap().store_u32(0, 1).unwrap();
    assert!(fence.wait(job_time()).unwrap());
}

#[test]
fn every_error_of_a_submission_has_its_vulkan_result() {
    use amdgpu_winsys::{
        cs::{
            Error, GangError, GangFault, PollableError, QueueError, RecordError, SubmitError, SubmitterError,
            UserQueueError,
        },
        heaps::VkResult,
        vamgr::VaError,
    };
    let lost = amdgpu_winsys::winsys::KernelError::new("AMDGPU_CS", Errno::ENODEV);
    let no_address = RecordError::Address(VaError::ZeroSize);
    for (error, result) in [
        (Error::from(no_address.clone()), VkResult::OutOfDeviceMemory),
        (QueueError::Recording(no_address.clone()).into(), VkResult::OutOfDeviceMemory),
        (SubmitError::Recording(no_address).into(), VkResult::OutOfDeviceMemory),
        (SubmitError::TooManyBos { count: 1 << 20 }.into(), VkResult::OutOfDeviceMemory),
        (SubmitterError::Submit(SubmitError::TooManyBos { count: 1 << 20 }).into(), VkResult::OutOfDeviceMemory),
        (SubmitterError::Thread { reason: String::new() }.into(), VkResult::OutOfHostMemory),
        (PollableError::NoDescriptor { errno: Errno::EMFILE }.into(), VkResult::OutOfHostMemory),
        (SubmitterError::Abandoned.into(), VkResult::DeviceLost),
        (SubmitError::EmptySubmission.into(), VkResult::Unknown),
        (GangError::NoGang(GangFault::NoFollowers).into(), VkResult::Unknown),
        (UserQueueError::RingFull { dwords: 1 }.into(), VkResult::Unknown),
        (RecordError::from(lost).into(), VkResult::DeviceLost),
        (QueueError::from(lost).into(), VkResult::DeviceLost),
        (SubmitError::PartlySubmitted { part: 1, parts: 2, source: lost.into() }.into(), VkResult::DeviceLost),
        (GangError::from(lost).into(), VkResult::DeviceLost),
        (SubmitterError::Submit(lost.into()).into(), VkResult::DeviceLost),
        (UserQueueError::from(lost).into(), VkResult::DeviceLost),
        (PollableError::from(lost).into(), VkResult::DeviceLost),
        (Error::from(lost), VkResult::DeviceLost),
    ] {
        assert_eq!(error.vk_result(), result, "{error}");
        assert_eq!(error.loss().is_some(), error.winsys().is_some(), "only the lost GPU is behind one here: {error}");
    }
}

/// A submission of the same lists as before takes a shorter path.
#[test]
fn a_repeated_submission_that_the_kernel_refuses_is_one_error_and_leaves_the_queue_as_it_was() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let list = store(&device, queue.target(), memory.address(), 1);
    let set = ResidencySet::new();
    set.add(memory.binding());
    let submission = Submission { lists: &[&list], sets: &[&set], keep: Keep::Nothing, ..Submission::default() };
    for expected in 1..=3 {
        assert_eq!(queue.submit(&submission).unwrap().sequence(), expected);
    }
    for errno in [Errno::EINVAL, Errno::ENOENT] {
        kernel.fail_nth_ioctl(Cs::REQUEST, 0, errno);
        let error = queue.submit(&submission).unwrap_err();
        assert_eq!(error, cs::SubmitError::Winsys(Error::Kernel(KernelError::new("AMDGPU_CS", errno))));
    }
    kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::ENOMEM);
    let last = queue.submit(&submission).expect("tried again");
    assert_eq!(last.sequence(), 4, "a refused call is not repeated, except without memory");
    assert!(last.wait(job_time()).unwrap());
    assert_eq!(queue.in_flight(), 0);
    kernel.fail_nth_ioctl(Cs::REQUEST, 0, Errno::ENODEV);
    assert!(queue.submit(&submission).unwrap_err().loss().is_some());
}
