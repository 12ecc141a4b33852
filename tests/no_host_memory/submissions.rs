//! Submissions, to queues of the kernel and to user queues.

use amdgpu_sim::{KernelRelease, SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{BoListMode, Error, Keep, Preambles, Stream, Submission, SyncPoint, UserQueue},
    winsys::{Ip, ResidencySet, Resident, Syncobj},
};

use crate::{
    Bench, failing, is_no_host_memory, is_refused_without_room,
    support::{chip, job_time},
};

/// Each allocation of a queue's first submission and of its second fails once; the kernel is then not asked.
fn every_allocation_of_a_submission_can_fail(bench: &Bench, submission: &Submission<'_>, mode: BoListMode) -> u64 {
    let mut fired = 0;
    for n in 0.. {
        let queue = bench.queue(mode);
        let (handles, requests) = (bench.handles(), bench.requests());
        let Some(outcome) = failing(n, || queue.submit(submission)) else {
            assert!(queue.wait_idle(job_time()).unwrap());
            break;
        };
        if let Ok(fence) = outcome {
            // Only what makes later submissions cheap was left out.
            assert!(fence.wait(job_time()).unwrap());
            continue;
        }
        is_no_host_memory(outcome);
        assert_eq!(bench.requests(), requests, "{n}: the kernel was asked");
        assert_eq!((bench.handles(), queue.in_flight()), (handles.clone(), 0), "{n}");
        fired += 1;
        // What failed is as if it had not been, and the second one grows what is left to grow.
        for n in 0.. {
            match failing(n, || queue.submit(submission)) {
                Some(Err(error)) => is_no_host_memory::<()>(Err(error)),
                Some(Ok(fence)) => assert!(fence.wait(job_time()).unwrap()),
                None => break,
            }
        }
        assert!(queue.submit(submission).unwrap().wait(job_time()).unwrap());
        queue.forget_memory();
        assert_eq!((bench.handles(), queue.in_flight()), (handles, 0), "{n}");
    }
    fired
}

#[test]
fn a_submission_without_host_memory_is_refused_before_the_kernel_is_asked() {
    let bench = Bench::new();
    let lists = [bench.list(&bench.memories[..10]), bench.list(&bench.memories[5..20])];
    let (signalled, timeline) =
        (Syncobj::new(&bench.device, true).unwrap(), Syncobj::new(&bench.device, false).unwrap());
    timeline.signal_point(1).unwrap();
    let waits = [SyncPoint::binary(&signalled), SyncPoint::timeline(&timeline, 1)];
    let done = Syncobj::new(&bench.device, false).unwrap();
    let signals = [SyncPoint::binary(&done)];
    let (set, other) = (ResidencySet::new(), ResidencySet::new());
    bench.memories[20..30].iter().for_each(|memory| assert!(set.add(memory.binding())));
    bench.memories[25..35].iter().for_each(|memory| assert!(other.add(memory.binding())));
    // A set is copied once after each change. The copy has its room before it, of which `failing` knows nothing.
    let _copies = (set.snapshot(), other.snapshot());
    let preambles = Preambles::new().with_initial(lists[0].clone(), lists[1].clone()).unwrap();
    let preambles = preambles.with_postamble(lists[0].clone()).unwrap();
    let earlier = bench.queue(BoListMode::Inline).submit(&Submission { lists: &[&lists[0]], ..Default::default() });
    let earlier = earlier.unwrap();
    let plain = Submission { lists: &[&lists[0]], ..Submission::default() };
    let whole = Submission {
        lists: &[&lists[0], &lists[1]],
        preambles: Some(&preambles),
        memory: &bench.memories,
        sets: &[&set, &other],
        waits: &waits,
        signals: &signals,
        after: &[&earlier],
        after_start: &[&earlier],
        ..Submission::default()
    };
    assert!(every_allocation_of_a_submission_can_fail(&bench, &plain, BoListMode::Inline) > 5);
    for keep in [Keep::Everything, Keep::Lists, Keep::Nothing] {
        for mode in [BoListMode::Inline, BoListMode::Kept] {
            let fired = every_allocation_of_a_submission_can_fail(&bench, &Submission { keep, ..whole }, mode);
            assert!(fired > 12, "{keep:?} {mode:?}: {fired}");
        }
    }
}

#[test]
fn chained_lists_lists_with_sets_and_submissions_of_many_calls_are_no_exception() {
    let bench = Bench::new();
    let (first, second) = (bench.list(&[]), bench.list(&bench.memories[..2]));
    first.chain(&second).unwrap();
    let set = ResidencySet::new();
    assert!(set.add(bench.memories[3].binding()));
    let _copy = set.snapshot();
    let mut stream = Stream::new(&bench.device, bench.target(), 64).unwrap();
    stream.keep_set(&set);
    let with_set = stream.finish().unwrap();
    let many = vec![&second; 500];
    for lists in [&[&first][..], &[&with_set], &many] {
        let submission = Submission { lists, ..Submission::default() };
        // A submission of several calls is refused as a whole, because all is listed before the first.
        assert!(every_allocation_of_a_submission_can_fail(&bench, &submission, BoListMode::Inline) > 5);
    }
}

/// The places of running submissions are made before the kernel is asked, so those of a queue that nothing has ended yet grow.
#[test]
fn a_queue_with_many_running_submissions_grows_or_refuses() {
    let bench = Bench::new();
    let list = bench.list(&bench.memories[..3]);
    let queue = bench.queue(BoListMode::Inline);
    let submission = Submission { lists: &[&list], ..Submission::default() };
    let (mut taken, mut refused) = (0, 0);
    let held = bench.gpu.hold_all_rings();
    for _ in 0..10 {
        for n in 0.. {
            match failing(n, || queue.submit(&submission)) {
                Some(Ok(_)) => taken += 1,
                Some(outcome) => {
                    is_no_host_memory(outcome);
                    refused += 1;
                }
                None => {
                    taken += 1;
                    break;
                }
            }
        }
    }
    assert_eq!(queue.in_flight(), taken);
    drop(held);
    assert!(queue.wait_idle(job_time()).unwrap());
    assert!(refused > 5 && queue.in_flight() == 0, "{refused}");
    let handles = bench.handles();
    drop(queue);
    assert_eq!(bench.handles(), handles);
}

#[test]
fn user_queues_are_refused_and_refuse_wherever_host_memory_ends() {
    let newer = SimOptions { user_queues: true, ..SimOptions::of_kernel(KernelRelease::V6_17) };
    let bench = Bench::of(SimDevice::new(chip("navi31"), newer));
    let queue = UserQueue::new(&bench.device, Ip::Compute).unwrap();
    let list = bench.list(&bench.memories[..3]);
    assert!(queue.wait_for_bindings(job_time()).unwrap());
    let memory: Vec<&dyn Resident> = bench.memories.iter().map(|memory| memory.binding() as &dyn Resident).collect();
    let lists = [&list; 40];
    let submitted = || {
        let fence = queue.submit(&lists, &memory)?;
        assert!(fence.wait(job_time())?);
        assert_eq!(queue.in_flight(), 0);
        Ok::<_, Error>(fence)
    };
    let mut refused = 0;
    for n in 0.. {
        let handles = bench.handles();
        let Some(outcome) = failing(n, || queue.submit(&lists, &memory)) else { break };
        is_no_host_memory(outcome);
        assert_eq!((bench.handles(), queue.in_flight()), (handles, 0), "{n}");
        refused += 1;
    }
    assert!(refused >= 4, "{refused}: the lists, the memory, the packets, the place of the submission");
    assert!(submitted().is_ok());
    let done = Syncobj::new(&bench.device, false).unwrap();
    assert!(is_refused_without_room("a signal", &bench, || queue.signal(&[&done])) >= 1);
}
