//! Each cause, from figures that show it and nothing else.

use super::{Cause, Finding, Share, Since, judge, select};
use crate::{
    past::Point,
    snapshot::model::{CgroupLimit, Domain, Evicted, Gpu, Pair, Process, Snapshot},
};

const GIB: u64 = 1 << 30;

fn domain(used: u64, total: u64) -> Domain {
    Domain { total: Some(total), usable: Some(total), used: Some(used), ..Domain::default() }
}

fn process(pid: u32, name: &str, vram: u64, displaced: u64, visible: Option<u64>) -> Process {
    Process {
        pid,
        name: Some(name.to_owned()),
        cgroup: Some(format!("/{name}")),
        vram: Some(vram),
        visible_vram: Some(vram.min(GIB / 8)),
        requested: Pair { vram: Some(vram + displaced), gtt: None },
        evicted: Evicted { vram: Some(displaced), visible_vram: visible },
        ..Process::default()
    }
}

/// A card of 16 GiB, of which the CPU reaches a quarter GiB.
fn card(processes: Vec<Process>) -> Snapshot {
    let sum = |of: fn(&Process) -> u64| processes.iter().map(of).sum();
    let mut gpu = Gpu { apu: Some(false), pci: "0000:03:00.0".to_owned(), ..Gpu::default() };
    gpu.domains.vram = domain(sum(|process| process.vram.unwrap()), 16 * GIB);
    gpu.domains.vram.evicted = Some(sum(|process| process.evicted.vram.unwrap()));
    gpu.domains.visible_vram = domain(sum(|process| process.visible_vram.unwrap()), GIB / 4);
    gpu.domains.gtt = domain(0, 16 * GIB);
    gpu.processes = Some(processes);
    Snapshot {
        time: "2026-01-01T00:01:00.000Z".to_owned(),
        monotonic_ns: 60_000_000_000,
        gpus: vec![gpu],
        ..Snapshot::default()
    }
}

fn of(snapshot: &Snapshot, word: &str) -> Finding {
    judge(select(snapshot, Some(word)).unwrap()[0], None, 0)
}

fn remedies(finding: &Finding) -> Vec<&str> {
    finding.remedies.iter().map(|remedy| remedy.code).collect()
}

#[test]
fn a_buffer_for_the_cpu_blames_visible_vram_and_not_vram() {
    let shown = card(vec![process(1, "a", GIB, GIB / 8, Some(GIB / 8)), process(2, "b", GIB, 0, Some(0))]);
    let finding = of(&shown, "a");
    assert_eq!(finding.causes, [Cause::VisibleVramFull]);
    assert_eq!(remedies(&finding), ["resizable-bar", "less-visible"]);
    let full: Vec<_> = finding.pools.iter().map(|pool| (pool.name, pool.full)).collect();
    assert_eq!(full, [("vram", Some(false)), ("visible_vram", Some(true)), ("gtt", None)]);
    assert_eq!(finding.holders.first().unwrap().bytes, GIB / 8, "who holds visible VRAM");
}

#[test]
fn a_kernel_that_does_not_say_what_the_cpu_must_reach_makes_visible_vram_likely_only() {
    let shown = card(vec![process(1, "a", GIB, GIB / 8, None), process(2, "b", GIB, 0, None)]);
    assert_eq!(of(&shown, "a").causes, [Cause::VisibleVramLikely]);
    let shown = card(vec![process(1, "a", GIB, GIB / 8, None)]);
    assert_eq!(of(&shown, "a").causes, [Cause::RoomAgain], "half of visible VRAM is free");
}

#[test]
fn full_vram_names_who_could_make_room_and_the_protection() {
    let shown = card(vec![process(1, "a", GIB, 2 * GIB, Some(0)), process(2, "big", 15 * GIB, 0, Some(0))]);
    let finding = of(&shown, "a");
    assert_eq!(finding.causes, [Cause::VramFull]);
    assert_eq!(remedies(&finding), ["free-other", "protect"]);
    assert!(finding.remedies[0].text.contains("let big (2) free 2.00 GiB"), "{:?}", finding.remedies);
    assert_eq!(finding.remedies[1].command.as_deref(), Some("amdgpu-budget advise --keep 3221225472 --of 1"));
    let alone = card(vec![process(1, "a", 16 * GIB, GIB, Some(0))]);
    assert_eq!(remedies(&of(&alone, "a")), ["free-own", "protect"]);
    let many = (1..=16).map(|pid| process(pid, &format!("p{pid}"), GIB, GIB * u64::from(pid == 1) * 3, Some(0)));
    let finding = of(&card(many.collect()), "1");
    assert!(finding.remedies[0].text.contains("no process alone enough"), "{:?}", finding.remedies);
}

#[test]
fn a_group_that_may_hold_no_more_is_the_cause_although_vram_is_free() {
    let mut shown = card(vec![process(1, "a", GIB, GIB, Some(0)), process(2, "b", GIB, 0, Some(0))]);
    let group = |path: &str, left, protected| CgroupLimit {
        path: path.to_owned(),
        left,
        limited_at: Some("/above".to_owned()),
        protected: Some(protected),
        protected_at: Some(path.to_owned()),
        ..CgroupLimit::default()
    };
    shown.gpus[0].groups = vec![group("/a", Some(0), 0), group("/b", None, 5 * GIB)];
    let finding = of(&shown, "a");
    assert_eq!(finding.causes, [Cause::CgroupLimit]);
    assert!(finding.remedies[0].text.contains("dmem.max of /above"), "{:?}", finding.remedies);
    assert!(finding.protection.known && finding.protection.bytes == Some(0));
    assert_eq!(finding.protection.others[0].path, "/b", "whose memory the kernel spares instead");
}

#[test]
fn nothing_is_blamed_without_evidence() {
    let shown = card(vec![process(1, "a", GIB, 0, Some(0))]);
    assert_eq!(of(&shown, "a").causes, [Cause::InPlace]);
    let mut apu = card(vec![process(1, "a", GIB, GIB, Some(0))]);
    apu.gpus[0].apu = Some(true);
    let finding = of(&apu, "a");
    assert_eq!(finding.causes, [Cause::Apu]);
    assert!(finding.remedies.is_empty() && finding.holders.is_empty());
    let mut old = card(vec![process(1, "a", GIB, 0, None)]);
    old.gpus[0].processes.as_mut().unwrap()[0].evicted = Evicted::default();
    assert_eq!(of(&old, "a").causes, [Cause::Unknown], "a kernel before 6.1");
    let mut unread = card(vec![process(1, "a", GIB, GIB, Some(0))]);
    (unread.gpus[0].domains.vram.used, unread.gpus[0].domains.visible_vram.used) = (None, None);
    assert_eq!(of(&unread, "a").causes, [Cause::Unknown]);
}

#[test]
fn who_grew_since_it_was_in_place_is_named_also_where_the_growth_found_no_room() {
    let earlier = card(vec![
        process(1, "a", 3 * GIB, 0, Some(0)),
        process(2, "b", 10 * GIB, 0, Some(0)),
        process(3, "gone", GIB, 0, Some(0)),
    ]);
    let earlier = Snapshot { time: "2026-01-01T00:00:50.000Z".to_owned(), monotonic_ns: 50_000_000_000, ..earlier };
    let now = card(vec![
        process(1, "a", GIB, 2 * GIB, Some(0)),
        process(2, "b", 14 * GIB, 0, Some(0)),
        process(4, "c", GIB, GIB, Some(0)),
    ]);
    let mut since = Since::default();
    since.see(&Point::new(&earlier, usize::MAX), "0000:03:00.0", Some(1));
    let subject = select(&now, Some("a")).unwrap()[0];
    let growth = judge(subject, Some(&since), now.monotonic_ns).since.unwrap();
    let grew: Vec<(u32, u64)> = growth.grew.iter().map(|Share { process, bytes }| (process.pid, *bytes)).collect();
    assert_eq!(grew, [(2, 4 * GIB), (4, 2 * GIB)]);
    assert_eq!((growth.seconds, growth.was_in_place, growth.shrank), (10, true, GIB), "a wants what it wanted");
    // Another program with the number of an old one has grown by all that it has.
    let mut reused = now.clone();
    reused.gpus[0].processes.as_mut().unwrap()[1].name = Some("other".to_owned());
    let growth = judge(select(&reused, Some("a")).unwrap()[0], Some(&since), now.monotonic_ns).since.unwrap();
    assert_eq!(growth.grew[0].bytes, 14 * GIB);
}

#[test]
fn a_word_means_a_process_before_a_gpu() {
    let mut shown = card(vec![
        process(0, "zero", GIB, 0, None),
        process(7, "game", GIB, 0, None),
        process(8, "game", GIB, 0, None),
    ]);
    shown.gpus[0].chip = Some("navi21".to_owned());
    let pids = |word: &str| -> Vec<Option<u32>> {
        let subjects = select(&shown, Some(word)).unwrap_or_default();
        subjects.iter().map(|subject| subject.process.map(|process| process.pid)).collect()
    };
    assert_eq!(pids("0"), [Some(0)], "a process of that number");
    assert_eq!(pids("7"), [Some(7)]);
    assert_eq!(pids("game"), [Some(7), Some(8)], "all of that name");
    assert_eq!(pids("GA"), [Some(7), Some(8)], "a part of it");
    for gpu in ["navi21", "0000:03:00.0", "03:00.0"] {
        assert_eq!(pids(gpu), [None], "{gpu}");
    }
    assert!(pids("1").is_empty());
    let message = select(&shown, Some("nobody")).unwrap_err();
    assert!(message.contains("game (7)") && message.contains("'nobody'"), "{message}");
}
