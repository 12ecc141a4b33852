//! Feature 104: queues that run together.

use crate::support::{
    chip, host_memory, job_time,
    jobs::{context, load, patient_gpu, poke, store},
};
use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{self, CommandList, Gang, GangFault, Marker, Queue, Queues, Stream, Submission, Target, pm4},
    heaps::DeviceMemory,
    vamgr::GpuVa,
    winsys::{Blame, Deadline, Device, Error, Feature, Ip},
};

struct Rig {
    device: Device,
    queues: Queues,
    memory: DeviceMemory,
}

impl Rig {
    fn new(name: &str) -> Self {
        let device = Device::new(patient_gpu(name).open()).unwrap();
        let queues = Queues::new(&context(&device));
        let memory = host_memory(&device, 4096);
        Self { device, queues, memory }
    }

    fn queue(&self, ip: Ip, ring: u32) -> Queue {
        self.queues.get(ip, ring).unwrap()
    }

    fn at(&self, index: u64) -> GpuVa {
        self.memory.address().checked_add(4 * index).unwrap()
    }

    /// Says that it is there, and waits until the other is.
    fn meet(&self, queue: &Queue, mine: u64, yours: u64) -> CommandList {
        let Target::Pm4(target) = queue.target() else { panic!("no PM4 ring") };
        let mut stream = Stream::new(&self.device, target, 64).unwrap();
        pm4::Target::note(&mut stream, self.at(mine), 1).unwrap();
        pm4::Target::wait_for(&mut stream, self.at(yours), 1).unwrap();
        stream.finish().unwrap()
    }
}

#[test]
fn the_queues_of_a_gang_can_wait_for_each_other() {
    for name in ["vega10", "navi21", "navi31"] {
        let rig = Rig::new(name);
        let (gfx, compute) = (rig.queue(Ip::Gfx, 0), rig.queue(Ip::Compute, 0));
        let gang = Gang::new(&gfx, &[&compute]).unwrap();
        let (task, mesh) = (rig.meet(&compute, 0, 1), rig.meet(&gfx, 1, 0));
        let bindings = [rig.memory.binding().clone()];
        let submission = Submission { lists: &[&mesh], memory: &bindings, ..Submission::default() };
        for round in 1..=10 {
            rig.memory.mapping().unwrap().write(0, &[0; 8]).unwrap();
            let fence = gang.submit(&[&[&task]], &submission).unwrap();
            assert!(fence.wait(job_time()).unwrap(), "{name}, round {round}");
            assert_eq!((load(&rig.memory, 0), load(&rig.memory, 4), fence.sequence()), (1, 1, round));
        }
    }
}

#[test]
fn the_fence_of_a_gang_is_that_of_all() {
    let rig = Rig::new("navi21");
    let (gfx, compute) = (rig.queue(Ip::Gfx, 0), rig.queue(Ip::Compute, 1));
    let gang = Gang::new(&gfx, &[&compute]).unwrap();
    let slow = crate::support::jobs::wait_for(&rig.device, compute.target(), rig.at(0), 1);
    let quick = store(&rig.device, gfx.target(), rig.at(1), 1);
    let bindings = [rig.memory.binding().clone()];
    let submission = Submission { lists: &[&quick], memory: &bindings, ..Submission::default() };
    let fence = gang.submit(&[&[&slow]], &submission).unwrap();
    while load(&rig.memory, 4) == 0 {
        std::thread::yield_now();
    }
    assert!(!fence.wait(Deadline::POLL).unwrap(), "the leader is done, its follower is not");
    let Target::Pm4(target) = compute.target() else { panic!("no PM4 ring") };
    let slow = slow.record_again(target).unwrap_err();
    poke(&rig.memory, 0, 1);
    assert!(fence.wait(job_time()).unwrap());
    drop(slow.record_again(target).unwrap());
}

#[test]
fn a_follower_begins_after_what_its_leader_had_to_do_before() {
    let rig = Rig::new("navi21");
    let (gfx, compute) = (rig.queue(Ip::Gfx, 0), rig.queue(Ip::Compute, 0));
    let gang = Gang::new(&gfx, &[&compute]).unwrap();
    let bindings = [rig.memory.binding().clone()];
    let earlier = crate::support::jobs::wait_for(&rig.device, gfx.target(), rig.at(0), 1);
    let submission = Submission { memory: &bindings, ..Submission::default() };
    gfx.submit(&Submission { lists: &[&earlier], ..submission }).unwrap();
    let follows = store(&rig.device, compute.target(), rig.at(1), 1);
    let fence = gang.submit(&[&[&follows]], &submission).unwrap();
    assert!(!fence.wait(Deadline::POLL).unwrap());
    assert_eq!(load(&rig.memory, 4), 0);
    poke(&rig.memory, 0, 1);
    assert!(fence.wait(job_time()).unwrap());
    assert_eq!(load(&rig.memory, 4), 1);
}

#[test]
fn four_queues_of_three_kinds_run_together() {
    let rig = Rig::new("navi21");
    let leader = rig.queue(Ip::Gfx, 0);
    let followers = [(Ip::Compute, 0), (Ip::Compute, 3), (Ip::Sdma, 1)].map(|(ip, ring)| rig.queue(ip, ring));
    let gang = Gang::new(&leader, &[&followers[0], &followers[1], &followers[2]]).unwrap();
    let lists: Vec<_> =
        (0..).zip(&followers).map(|(index, queue)| store(&rig.device, queue.target(), rig.at(index), 9)).collect();
    let bindings = [rig.memory.binding().clone()];
    let submission = Submission { memory: &bindings, ..Submission::default() };
    let shares: [&[&CommandList]; 3] = [&[&lists[0]], &[&lists[1]], &[&lists[2]]];
    assert!(gang.submit(&shares, &submission).unwrap().wait(job_time()).unwrap());
    assert_eq!([0, 4, 8].map(|offset| load(&rig.memory, offset)), [9; 3]);
    let given = gang.submit(&shares[..2], &submission).unwrap_err();
    assert_eq!(given, GangFault::Shares { given: 2, followers: 3 }.into());
}

#[test]
fn what_is_no_gang_is_refused_and_named() {
    let rig = Rig::new("navi21");
    let gfx = rig.queue(Ip::Gfx, 0);
    let compute = rig.queues.of_ip(Ip::Compute).unwrap();
    let foreign = Queue::new(&context(&rig.device), Ip::Compute, 0).unwrap();
    let all: Vec<&Queue> = compute.iter().collect();
    for (followers, fault) in [
        (&[][..], GangFault::NoFollowers),
        (&all[..], GangFault::TooMany { count: 5 }),
        (&[all[0], all[0]], GangFault::Twice { at: 1 }),
        (&[&gfx], GangFault::Twice { at: 0 }),
        (&[all[1], &foreign], GangFault::OtherContext { at: 1 }),
    ] {
        assert_eq!(Gang::new(&gfx, followers).unwrap_err(), cs::GangError::NoGang(fault));
    }
    let gang = Gang::new(&gfx, &all[..1]).unwrap();
    let list = store(&rig.device, gfx.target(), rig.at(0), 1);
    let wrong = gang.submit(&[&[&list]], &Submission::default()).unwrap_err();
    assert_eq!(wrong, cs::SubmitError::WrongQueue { recorded: gfx.target(), queue: all[0].target() });
    // Of a follower's 125 IBs two are the hand-shake's, and one is the preamble of its queue.
    let task = store(&rig.device, all[0].target(), rig.at(0), 1);
    let too_many = vec![&task; 123];
    let error = gang.submit(&[&too_many], &Submission::default()).unwrap_err();
    assert_eq!(error, cs::SubmitError::GangTooLong { ip: Ip::Compute, ring: 0, ibs: 126, limit: 125 });
    // And of all 192 the leader has what is left.
    let leads = vec![&list; 100];
    let submission = Submission { lists: &leads, ..Submission::default() };
    let error = gang.submit(&[&too_many[..100]], &submission).unwrap_err();
    assert_eq!(error, cs::SubmitError::GangTooLong { ip: Ip::Gfx, ring: 0, ibs: 102, limit: 89 });
}

/// A gang that waits for something besides is not taken for a victim of that.
#[test]
fn a_gang_whose_follower_has_lost_its_work_is_told_so() {
    let gpu = patient_gpu("navi21");
    let device = Device::new(gpu.open()).unwrap();
    let rig = Rig { queues: Queues::new(&context(&device)), memory: host_memory(&device, 4096), device };
    let (gfx, compute) = (rig.queue(Ip::Gfx, 0), rig.queue(Ip::Compute, 0));
    let gang = Gang::new(&gfx, &[&compute]).unwrap();
    let other = rig.queue(Ip::Compute, 1).last();
    let bindings = [rig.memory.binding().clone()];
    let submission = Submission { memory: &bindings, after: &[&other], ..Submission::default() };
    assert!(gang.submit(&[&[]], &submission).unwrap().wait(job_time()).unwrap());
    let running = rig.meet(&compute, 0, 1);
    let lost = compute.submit(&Submission { lists: &[&running], memory: &bindings, ..Submission::default() }).unwrap();
    while load(&rig.memory, 0) == 0 {
        std::thread::yield_now();
    }
    gpu.reset();
    assert!(lost.wait(job_time()).is_err());
    let error = gang.submit(&[&[]], &submission).unwrap_err();
    assert_eq!(error.loss().unwrap().blame, Blame::Innocent, "{error}");
    gfx.check().unwrap();
}

#[test]
fn gangs_need_a_driver_that_has_them() {
    let options = SimOptions { drm_minor: 48, ..SimOptions::default() };
    let device = Device::new(SimDevice::new(chip("navi21"), options).open()).unwrap();
    let queues = Queues::new(&context(&device));
    let (gfx, compute) = (queues.get(Ip::Gfx, 0).unwrap(), queues.get(Ip::Compute, 0).unwrap());
    let error = Gang::new(&gfx, &[&compute]).unwrap_err();
    assert_eq!(error, cs::GangError::Winsys(Error::Unsupported { feature: Feature::Gangs }));
}

/// The limit is each queue's own: two followers may have more IBs than one ring takes.
#[test]
fn the_ibs_of_each_follower_are_counted_by_themselves() {
    let rig = Rig::new("navi21");
    let (gfx, compute) = (rig.queue(Ip::Gfx, 0), [0, 1].map(|ring| rig.queue(Ip::Compute, ring)));
    let gang = Gang::new(&gfx, &[&compute[0], &compute[1]]).unwrap();
    let task = store(&rig.device, compute[0].target(), rig.at(0), 1);
    let lead = store(&rig.device, gfx.target(), rig.at(1), 1);
    let tasks = vec![&task; 80];
    let bindings = [rig.memory.binding().clone()];
    let submission = Submission { lists: &[&lead], memory: &bindings, ..Submission::default() };
    assert!(gang.submit(&[&tasks, &tasks], &submission).unwrap().wait(job_time()).unwrap());
    // Of the second as of the first.
    let many = vec![&task; 123];
    let error = gang.submit(&[&tasks[..1], &many], &submission).unwrap_err();
    assert_eq!(error, cs::SubmitError::GangTooLong { ip: Ip::Compute, ring: 1, ibs: 126, limit: 125 });
}
