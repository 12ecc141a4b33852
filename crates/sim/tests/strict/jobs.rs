//! The order of jobs: those of a ring overlap unless something separates them, and those of several rings run at the same time.

use amdgpu_sim::{
    HazardKind, HazardReport,
    gpu::{Client, Reach},
};
use amdgpu_winsys::{
    cs::{
        CommandList, Fence, Queue, QueueOptions, Stream, Submission,
        pm4::{Compare, EndOfPipe, Event, EventWrite, Target, WaitRegMem},
    },
    winsys::{Context, Deadline, Ip, Priority},
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    start_alone,
};

const ACTS: [&[Act]; 2] = [&[Act::Store(7)], &[Act::Store(8)]];

fn record(rig: &Rig, queue: &Queue, record: impl FnOnce(&mut Stream<Target>)) -> CommandList {
    let amdgpu_winsys::cs::Target::Pm4(target) = queue.target() else { panic!("not a PM4 ring") };
    let mut stream = Stream::new(&rig.device, target, 2048).unwrap();
    crate::registers::set_all(&mut stream);
    record(&mut stream);
    stream.finish().unwrap()
}

fn submit(rig: &Rig, queue: &Queue, list: &CommandList, after: &[&Fence]) -> Fence {
    let memory = [rig.memory.binding().clone()];
    queue.submit(&Submission { lists: &[list], memory: &memory, after, ..Submission::default() }).unwrap()
}

fn flush(stream: &mut Stream<Target>) {
    stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH)).unwrap();
}

/// Returns the reports but for those that GFX6 has at the end of a job that does not write back.
fn races(rig: &Rig) -> Vec<HazardReport> {
    let mut reports = rig.gpu.hazards();
    reports.retain(|report| !report.later.starts_with("the end of the job"));
    reports
}

/// Two jobs of a ring: how the first one ends, what is between them, and how the second one starts.
fn one_ring(chip: &str, ip: Ip, flushes: [bool; 2], waits: bool, depends: bool) -> Vec<HazardReport> {
    let rig = Rig::new(chip, ip);
    Script::plug(&rig, &ACTS);
    let first = record(&rig, &rig.queue, |stream| {
        start_alone(stream);
        if flushes[0] {
            flush(stream);
        }
    });
    let second = record(&rig, &rig.queue, |stream| {
        if flushes[1] {
            flush(stream);
        }
        start_alone(stream);
    });
    let held = rig.gpu.hold_all_rings();
    let fence = submit(&rig, &rig.queue, &first, &[]);
    let mut held = Some(held);
    if waits {
        drop(held.take());
        assert!(fence.wait(Deadline::NEVER).unwrap());
    }
    let after: &[&Fence] = if depends { &[&fence] } else { &[] };
    let last = submit(&rig, &rig.queue, &second, after);
    drop(held);
    assert!(last.wait(Deadline::NEVER).unwrap());
    races(&rig)
}

#[test]
fn the_dispatches_of_a_job_run_on_when_the_next_one_of_the_queue_starts() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let reports = one_ring(chip, ip, [false, false], false, false);
        assert_eq!(reports.len(), 1, "{chip} {ip}: {reports:?}");
        assert_eq!(reports[0].kind, HazardKind::Race, "{chip} {ip}");
        assert!(reports[0].earlier.contains("job 1") && reports[0].later.contains("job 2"), "{}", reports[0]);
        for (flushes, waits, depends) in [
            ([true, false], false, false),
            ([false, true], false, false),
            ([false, false], true, false),
            ([false, false], false, true),
        ] {
            let reports = one_ring(chip, ip, flushes, waits, depends);
            assert!(reports.is_empty(), "{chip} {ip} {flushes:?} {waits} {depends}: {reports:?}");
        }
    }
}

#[test]
fn the_ring_waits_between_jobs_of_different_queues() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let rig = Rig::new(chip, ip);
        Script::plug(&rig, &ACTS);
        let options = QueueOptions { acquires: false, ..QueueOptions::default() };
        let context = Context::new(&rig.device, Priority::Normal).unwrap();
        let other = Queue::with_options(&context, ip, 0, options).unwrap();
        let list = record(&rig, &rig.queue, start_alone);
        let held = rig.gpu.hold_all_rings();
        let fences = [submit(&rig, &rig.queue, &list, &[]), submit(&rig, &other, &list, &[])];
        drop(held);
        for fence in fences {
            assert!(fence.wait(Deadline::NEVER).unwrap());
        }
        assert!(ip != Ip::Gfx || races(&rig).is_empty(), "{chip} {ip}: {:?}", races(&rig));
    }
}

/// Jobs of two rings, of which the second one polls a number that the first one stores, depends on it, or does neither.
fn two_rings(chip: &str, acts: &[&[Act]], polls: bool, depends: bool, waits: bool) -> Vec<HazardReport> {
    let rig = Rig::new(chip, Ip::Gfx);
    Script::plug(&rig, acts);
    let options = QueueOptions { acquires: false, ..QueueOptions::default() };
    let context = Context::new(&rig.device, Priority::Normal).unwrap();
    let other = Queue::with_options(&context, Ip::Compute, 0, options).unwrap();
    let first = record(&rig, &rig.queue, |stream| {
        start_alone(stream);
        stream.end_of_pipe(EndOfPipe::fence(rig.at(4096), 1)).unwrap();
    });
    let second = record(&rig, &other, |stream| {
        if polls {
            stream.push(&WaitRegMem::new(rig.at(4096), Compare::Equal, 1)).unwrap();
        }
        start_alone(stream);
    });
    let mut held = [Some(rig.gpu.hold_ring(Ip::Gfx, 0)), Some(rig.gpu.hold_ring(Ip::Compute, 0))];
    let fence = submit(&rig, &rig.queue, &first, &[]);
    if waits {
        drop(held[0].take());
        assert!(fence.wait(Deadline::NEVER).unwrap());
    }
    let after: &[&Fence] = if depends { &[&fence] } else { &[] };
    let last = submit(&rig, &other, &second, after);
    // The first job is executed first, so that what follows is the same each time.
    drop(held[0].take());
    assert!(fence.wait(Deadline::NEVER).unwrap());
    drop(held[1].take());
    assert!(last.wait(Deadline::NEVER).unwrap());
    races(&rig)
}

#[test]
fn jobs_of_two_rings_run_at_the_same_time_unless_one_depends_on_the_other() {
    let load = Act::Load(Client::Vector, Reach::Unit);
    for chip in CHIPS {
        for acts in [ACTS, [&[Act::Store(7)], &[load]], [&[load], &[Act::Store(7)]]] {
            let reports = two_rings(chip, &acts, false, false, false);
            assert_eq!(reports.len(), 1, "{chip}: {reports:?}");
            assert!(
                reports[0].kind == HazardKind::Race && reports[0].missing.contains("sync object"),
                "{}",
                reports[0]
            );
            for (polls, depends, waits) in [(true, false, false), (false, true, false), (false, false, true)] {
                let reports = two_rings(chip, &acts, polls, depends, waits);
                assert!(reports.is_empty(), "{chip} {polls} {depends} {waits}: {reports:?}");
            }
        }
        for acts in [[&[load], &[load]], [&[Act::Add(1)], &[Act::Add(1)]]] as [[&[Act]; 2]; 2] {
            let reports = two_rings(chip, &acts, false, false, false);
            assert!(reports.is_empty(), "{chip}: {reports:?}");
        }
    }
}

/// Submits a job to each of these queues in this order while all rings are held, and then lets those of one kind of `first` go after the
/// other, each when its jobs are done, or all rings at once. Returns the reports.
fn at_work(rings: &[(Ip, u32)], first: &[Ip], acts: &[&[Act]], is_bare: bool) -> Vec<HazardReport> {
    let rig = Rig::new("navi21", Ip::Gfx);
    Script::plug(&rig, acts);
    let context = Context::new(&rig.device, Priority::Normal).unwrap();
    let all = rig.gpu.hold_all_rings();
    // A queue may run on any ring of its kind.
    let hold =
        |ip: Ip| (0..if ip == Ip::Gfx { 1 } else { 4 }).map(|ring| rig.gpu.hold_ring(ip, ring)).collect::<Vec<_>>();
    let mut held: Vec<_> = first.iter().map(|ip| (*ip, hold(*ip))).collect();
    let submit_to = |(ip, ring): &(Ip, u32)| {
        let options = QueueOptions { acquires: false, ..QueueOptions::default() };
        let queue = Queue::with_options(&context, *ip, *ring, options).unwrap();
        if !is_bare {
            return submit(&rig, &queue, &record(&rig, &queue, start_alone), &[]);
        }
        let amdgpu_winsys::cs::Target::Pm4(target) = queue.target() else { panic!("not a PM4 ring") };
        let mut stream = Stream::new(&rig.device, target, 64).unwrap();
        start_alone(&mut stream);
        start_alone(&mut stream);
        submit(&rig, &queue, &stream.finish().unwrap(), &[])
    };
    let fences: Vec<_> = rings.iter().map(submit_to).collect();
    drop(all);
    for (ip, held) in held.drain(..) {
        drop(held);
        let mut jobs = rings.iter().zip(&fences).filter(|((other, _), _)| *other == ip);
        assert!(jobs.all(|(_, fence)| fence.wait(Deadline::NEVER).unwrap()));
    }
    assert!(fences.iter().all(|fence| fence.wait(Deadline::NEVER).unwrap()));
    rig.gpu.hazards()
}

#[test]
fn reports_of_several_rings_are_in_the_order_of_submissions_whichever_ring_is_first() {
    let rings = [(Ip::Compute, 2), (Ip::Gfx, 0), (Ip::Compute, 0), (Ip::Compute, 1)];
    let acts: [&[Act]; 8] = [&[]; 8];
    let expected = at_work(&rings, &[Ip::Gfx, Ip::Compute], &acts, true);
    let jobs: Vec<_> =
        expected.iter().filter_map(|report| report.later.rsplit_once(", ")).map(|(_, job)| job).collect();
    assert_eq!(jobs, ["job 1", "job 1", "job 2", "job 2", "job 3", "job 3", "job 4", "job 4"], "{expected:?}");
    assert_eq!(at_work(&rings, &[Ip::Compute, Ip::Gfx], &acts, true), expected);
    for attempt in 0..3 {
        assert_eq!(at_work(&rings, &[], &acts, true), expected, "attempt {attempt}");
    }
}

#[test]
fn a_race_of_two_rings_is_the_same_whichever_ring_is_first() {
    let rings = [(Ip::Compute, 0), (Ip::Gfx, 0)];
    let load: &[Act] = &[Act::Load(Client::Vector, Reach::Unit)];
    for [one, other] in [ACTS, [&[Act::Store(7)], load], [load, &[Act::Store(7)]]] {
        let expected = at_work(&rings, &[Ip::Compute, Ip::Gfx], &[one, other], false);
        assert_eq!(expected.len(), 1, "{expected:?}");
        assert!(expected[0].earlier.contains("job 1") && expected[0].later.contains("job 2"), "{}", expected[0]);
        assert_eq!(at_work(&rings, &[Ip::Gfx, Ip::Compute], &[other, one], false), expected);
    }
    let expected = at_work(&rings, &[Ip::Compute, Ip::Gfx], &ACTS, false);
    for attempt in 0..3 {
        assert_eq!(at_work(&rings, &[], &ACTS, false), expected, "attempt {attempt}");
    }
}
