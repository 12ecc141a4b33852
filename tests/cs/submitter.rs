//! Features 106 and 110: waiting for what has not been submitted yet.

use std::sync::Arc;

use crate::support::{
    chip, device, host_memory, job_time,
    jobs::{context, load, store},
};
use amdgpu_sim::SimKernel;
use amdgpu_winsys::{
    cs::{self, OwnedSubmission, Queue, Submission, Submitter, SyncPoint},
    winsys::{Deadline, Device, Error, Ip, Syncobj},
};

fn queue(device: &Device, ip: Ip) -> Queue {
    Queue::new(&context(device), ip, 0).unwrap()
}

#[test]
fn a_point_may_be_waited_for_before_anybody_has_submitted_it() {
    let device = device("navi21");
    let (early, late) = (queue(&device, Ip::Gfx), queue(&device, Ip::Compute));
    let memory = host_memory(&device, 4096);
    let timeline = Syncobj::new(&device, false).unwrap();
    let submitter = Submitter::new(&early).unwrap();
    let waits = |point: u64| OwnedSubmission {
        lists: vec![store(&device, early.target(), memory.address(), point as u32)],
        memory: vec![memory.binding().clone()],
        waits: vec![(timeline.clone(), point)],
        ..OwnedSubmission::default()
    };
    let (first, second) = (submitter.submit(waits(1)).unwrap(), submitter.submit(waits(2)).unwrap());
    assert!(first.submitted(Deadline::POLL).unwrap().is_none() && !second.wait(Deadline::POLL).unwrap());
    // The caller goes on, and submits what will signal it, to another queue.
    let list = store(&device, late.target(), memory.address().checked_add(4).unwrap(), 7);
    let bindings = [memory.binding().clone()];
    let signals = [SyncPoint::timeline(&timeline, 1)];
    late.submit(&Submission { lists: &[&list], memory: &bindings, signals: &signals, ..Submission::default() })
        .unwrap();
    assert!(first.wait(job_time()).unwrap());
    assert_eq!((load(&memory, 0), load(&memory, 4)), (1, 7));
    assert!(second.submitted(Deadline::POLL).unwrap().is_none());
    timeline.signal_point(2).unwrap();
    assert!(second.wait(job_time()).unwrap());
    assert_eq!((load(&memory, 0), second.submitted(Deadline::POLL).unwrap().unwrap().sequence()), (2, 2));
}

#[test]
fn what_is_wrong_with_a_submission_its_fence_tells_and_the_next_one_goes_on() {
    let (device, abroad) = (device("navi21"), device("navi21"));
    let queue = queue(&device, Ip::Compute);
    let submitter = Submitter::new(&queue).unwrap();
    let foreign = Syncobj::new(&abroad, true).unwrap();
    let refused = OwnedSubmission { waits: vec![(foreign, 0)], ..OwnedSubmission::default() };
    let error = submitter.submit(refused).unwrap().wait(job_time()).unwrap_err();
    assert_eq!(error, cs::SubmitterError::Winsys(Error::ForeignDevice { what: "sync object" }));
    let error = submitter.submit(OwnedSubmission::default()).unwrap().wait(job_time()).unwrap_err();
    assert_eq!(error, cs::SubmitterError::Submit(cs::SubmitError::EmptySubmission));
    let done = Syncobj::new(&device, false).unwrap();
    let good = OwnedSubmission { signals: vec![(done.clone(), 0)], ..OwnedSubmission::default() };
    assert!(submitter.submit(good).unwrap().wait(job_time()).unwrap() && done.wait(Deadline::POLL).unwrap());
    assert_eq!(submitter.queue(), &queue);
}

#[test]
fn dropping_a_submitter_abandons_what_still_waits_and_keeps_nothing() {
    let kernel = Arc::new(SimKernel::open(chip("navi21")));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let queue = queue(&device, Ip::Compute);
    let before = kernel.census();
    let submitter = Submitter::new(&queue).unwrap();
    let never = Syncobj::new(&device, false).unwrap();
    let waits = OwnedSubmission { waits: vec![(never.clone(), 0)], ..OwnedSubmission::default() };
    let pending = [waits.clone(), waits].map(|waits| submitter.submit(waits).unwrap());
    drop(submitter);
    for pending in pending {
        assert_eq!(pending.wait(job_time()).unwrap_err(), cs::SubmitterError::Abandoned);
    }
    drop(never);
    assert_eq!(kernel.census(), before);
}
