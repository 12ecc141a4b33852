//! Contexts and the queues in them: features 93 and 94, and what tools may pin and reserve.

use std::sync::Arc;

use crate::support::{
    chip, chips, device, host_memory, job_time,
    jobs::{context, load, store},
};
use amdgpu_layers::FaultInjector;
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{self, Queue, QueueKind, Queues, Submission},
    uapi::{Argument, BoListEntry, VM_OP_RESERVE_VMID, VM_OP_UNRESERVE_VMID, Vm},
    winsys::{
        BoList, Capabilities, Context, Device, Errno, Error, Feature, Ip, Priority, StablePstate, VmidReservation,
    },
};

const RAISED: [Priority; 2] = [Priority::High, Priority::VeryHigh];

fn open_with(options: SimOptions) -> Device {
    Device::new(SimDevice::new(chip("navi21"), options).open()).unwrap()
}

/// Row 93: above normal needs a right, and lacking it is an error of its own. RADV says NOT_PERMITTED.
#[test]
fn a_priority_that_needs_a_right_is_refused_and_named() {
    let device = device("navi21");
    for priority in RAISED {
        let error = Context::new(&device, priority).unwrap_err();
        assert_eq!(error, Error::NotPermitted { priority });
        assert!(error.to_string().contains("CAP_SYS_NICE"), "{error}");
        assert_eq!(cs::Error::from(error).vk_result() as i32, -1_000_174_001);
    }
    for priority in [Priority::Low, Priority::Normal] {
        assert_eq!(Context::new(&device, priority).unwrap().priority(), priority);
    }
}

#[test]
fn a_process_with_the_right_gets_every_priority() {
    let device = open_with(SimOptions { may_raise_priority: true, ..SimOptions::default() });
    for priority in RAISED {
        assert_eq!(Context::new(&device, priority).unwrap().priority(), priority);
        assert_eq!(Context::new_at_most(&device, priority).unwrap().priority(), priority);
    }
}

#[test]
fn going_down_to_what_is_permitted_is_asked_for_in_so_many_words() {
    let device = device("navi21");
    for priority in RAISED {
        assert_eq!(Context::new_at_most(&device, priority).unwrap().priority(), Priority::Normal);
    }
    assert_eq!(Context::new_at_most(&device, Priority::Low).unwrap().priority(), Priority::Low);
}

/// W-47: that a queue has one object was an unwritten rule.
#[test]
fn a_queue_has_one_object() {
    let device = device("navi21");
    let context = context(&device);
    let queue = Queue::new(&context, Ip::Compute, 2).unwrap();
    let error = Queue::new(&context, Ip::Compute, 2).unwrap_err();
    assert_eq!(error, cs::QueueError::QueueTaken { context: context.id(), ip: Ip::Compute, ring: 2 });
    assert_eq!(queue.kind(), QueueKind::Kernel);
    let other = Queue::new(&context, Ip::Compute, 3).unwrap();
    let elsewhere = Queue::new(&crate::support::jobs::context(&device), Ip::Compute, 2).unwrap();
    drop((queue, other, elsewhere));
    assert_eq!(Queue::new(&context, Ip::Compute, 2).unwrap().ring(), 2);
}

/// Row 94: the queues of a context, on every chip.
#[test]
fn a_table_gives_each_queue_of_every_chip_once_and_in_turn() {
    for name in chips() {
        let device = device(name);
        let queues = Queues::new(&context(&device));
        for ip in [Ip::Gfx, Ip::Compute, Ip::Sdma] {
            let rings = queues.rings(ip);
            let all = queues.of_ip(ip).unwrap();
            assert_eq!(all.iter().map(Queue::ring).collect::<Vec<_>>(), (0..rings).collect::<Vec<_>>(), "{name} {ip}");
            for turn in 0..2 * rings {
                let queue = queues.next(ip).unwrap();
                assert_eq!(queue, queues.get(ip, turn % rings).unwrap(), "{name} {ip}");
            }
            let error = queues.get(ip, rings).unwrap_err();
            assert_eq!(error, cs::QueueError::NoSuchRing { ip, ring: rings, rings });
        }
        assert_eq!(
            queues.made().len() as u32,
            [Ip::Gfx, Ip::Compute, Ip::Sdma].map(|ip| queues.rings(ip)).iter().sum::<u32>()
        );
        assert_eq!(queues.next(Ip::Uvd).unwrap_err(), cs::QueueError::NoSuchRing { ip: Ip::Uvd, ring: 0, rings: 0 });
    }
}

#[test]
fn clocks_are_pinned_by_one_context_until_it_lets_go() {
    let device = device("navi21");
    let (one, two) = (context(&device), context(&device));
    assert_eq!(one.stable_pstate().unwrap(), StablePstate::None);
    let pinned = one.pin_clocks(StablePstate::Peak).unwrap();
    assert_eq!(two.stable_pstate().unwrap(), StablePstate::Peak);
    assert_eq!(two.pin_clocks(StablePstate::Standard).unwrap_err(), Error::ClocksTaken);
    // The level that it has already is not asked for: the kernel would refuse even that.
    let same = two.pin_clocks(StablePstate::Peak).unwrap();
    drop(same);
    assert_eq!(one.stable_pstate().unwrap(), StablePstate::Peak, "who has changed nothing undoes nothing");
    drop(pinned);
    assert_eq!(two.stable_pstate().unwrap(), StablePstate::None);
}

#[test]
fn clocks_cannot_be_pinned_before_minor_45() {
    let device = open_with(SimOptions { drm_minor: 44, ..SimOptions::default() });
    let error = context(&device).pin_clocks(StablePstate::Peak).unwrap_err();
    assert_eq!(error, Error::Unsupported { feature: Feature::StableClocks });
}

#[test]
fn a_vmid_is_reserved_once_for_all_who_want_one() {
    let kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let asks = |op: u32| {
        move |attempt: &amdgpu_layers::Attempt<'_>| {
            matches!(attempt, amdgpu_layers::Attempt::Ioctl { argument, .. }
                if attempt.is(Vm::REQUEST) && argument.starts_with(&op.to_ne_bytes()))
        }
    };
    kernel.fail_nth_where(0, Errno::EINVAL, asks(VM_OP_RESERVE_VMID));
    assert_eq!(VmidReservation::new(&device).unwrap_err().errno(), Some(Errno::EINVAL));
    let first = VmidReservation::new(&device).unwrap();
    kernel.fail_every_where(Errno::EINVAL, asks(VM_OP_RESERVE_VMID));
    let second = VmidReservation::new(&device).unwrap();
    assert!(!kernel.has_fired(), "the kernel is not asked twice");
    kernel.fail_nth_where(0, Errno::EINTR, asks(VM_OP_UNRESERVE_VMID));
    drop(first);
    assert!(!kernel.has_fired(), "somebody still wants it");
    drop(second);
    assert!(kernel.has_fired(), "and then nobody does");
}

#[test]
fn encrypted_submissions_are_for_chips_that_can() {
    for (name, has_tmz) in [("renoir", true), ("navi21", false)] {
        let device = device(name);
        assert_eq!(device.info().capabilities.contains(Capabilities::TMZ), has_tmz);
        let queue = crate::support::queue(&device, Ip::Gfx, 0);
        let memory = host_memory(&device, 4096);
        let list = store(&device, queue.target(), memory.address(), 5);
        let bindings = [memory.binding().clone()];
        let submission = Submission { lists: &[&list], memory: &bindings, is_secure: true, ..Submission::default() };
        match queue.submit(&submission) {
            Ok(fence) => {
                assert!(has_tmz && fence.wait(job_time()).unwrap(), "{name}");
                assert_eq!(load(&memory, 0), 5);
            }
            Err(error) => {
                assert!(!has_tmz, "{name}: {error}");
                assert_eq!(error, cs::SubmitError::Winsys(Error::Unsupported { feature: Feature::EncryptedMemory }));
            }
        }
    }
}

/// W-38: libdrm leaves its out pointer dangling when a list is not made, and the list behind when it is not destroyed.
#[test]
fn a_list_that_was_refused_is_none_and_one_that_was_made_is_given_back() {
    let device = device("navi21");
    let memory = host_memory(&device, 4096);
    let known = BoListEntry { bo_handle: memory.bo().handle(), bo_priority: 0 };
    let unknown = BoListEntry { bo_handle: 4711, bo_priority: 0 };
    let refused = |error: Error| assert_eq!(error.errno(), Some(Errno::ENOENT));
    refused(BoList::new(&device, &[known, unknown]).unwrap_err());
    let mut list = BoList::new(&device, &[known, known]).unwrap();
    let first = list.handle();
    refused(list.update(&[unknown]).unwrap_err());
    list.update(&[known]).unwrap();
    assert_eq!(list.handle(), first);
    let too_many = vec![known; amdgpu_winsys::uapi::BO_LIST_MAX_ENTRIES as usize + 1];
    assert_eq!(list.update(&too_many).unwrap_err().errno(), Some(Errno::EINVAL));
    drop(list);
    assert_eq!(BoList::new(&device, &[]).unwrap().handle(), first, "the number is free again");
}
