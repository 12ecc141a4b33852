//! Trials: what becomes of a stream without each of its cache operations and waits.

use amdgpu_sim::{
    HazardKind, Strictness, TrialOutcome, TrialReport,
    gpu::{Client, Reach},
};
use amdgpu_winsys::{
    cs::{
        Stream,
        pm4::{
            AcquireMem, CacheActions, Caching, Compare, CpDma, EndOfPipe, Engine, PfpSyncMe, Policy, Target,
            WaitRegMem, WriteData,
        },
    },
    heaps::AllocateFlags,
    winsys::{GfxLevel, Ip},
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    start, start_alone,
};

/// The outcome of an operation on caches that PFP executes too soon.
const EARLY: TrialOutcome = TrialOutcome::Reported(HazardKind::EarlyOperation);

/// Runs a dispatch that loads, one that stores and one that loads, with what is needed in between, or a load in place of the store.
fn tried(chip: &str, ip: Ip, stores: bool) -> Rig {
    let rig = Rig::with(chip, ip, Strictness::Trials, AllocateFlags::empty());
    let load = Act::Load(Client::Vector, Reach::Unit);
    let between = if stores { Act::Store(7) } else { load };
    Script::plug(&rig, &[&[load], &[between], &[load]]);
    rig.run(|stream| {
        start(stream);
        start(stream);
        if ip == Ip::Gfx {
            stream.push(&PfpSyncMe).unwrap();
        }
        for acquire in AcquireMem::each(rig.target(), CacheActions::INVALIDATE_VECTOR) {
            stream.push(&acquire).unwrap();
        }
        start(stream);
    });
    rig
}

#[test]
fn what_a_stream_needs_is_reported_in_its_absence_and_the_rest_is_redundant() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let rig = tried(chip, ip, true);
        assert!(rig.gpu.hazards().is_empty(), "{chip} {ip}: {:?}", rig.gpu.hazards());
        let trials = rig.gpu.trials();
        let reported = |kind: HazardKind, packet: &str| {
            trials
                .iter()
                .filter(|trial| trial.packet == packet && trial.outcome == TrialOutcome::Reported(kind))
                .count()
        };
        // The waits after the first and the second dispatch; the last one is followed by nothing.
        let missing: Vec<_> = trials
            .iter()
            .filter(|trial| trial.without == "CS_PARTIAL_FLUSH")
            .filter(|trial| trial.outcome == TrialOutcome::Reported(HazardKind::Race))
            .collect();
        assert_eq!(missing.len(), 2, "{chip} {ip}: {trials:#?}");
        let acquire =
            if trials.iter().any(|trial| trial.packet == "SURFACE_SYNC") { "SURFACE_SYNC" } else { "ACQUIRE_MEM" };
        assert!(reported(HazardKind::StaleRead, acquire) >= 1, "{chip} {ip}: {trials:#?}");
        assert!(
            !trials.iter().any(|trial| matches!(trial.outcome, TrialOutcome::Missed(_))),
            "{chip} {ip}: {trials:#?}"
        );
        let line: serde_json::Value = serde_json::from_str(&trials[0].to_json()).unwrap();
        assert_eq!((&line["chip"], &line["trial"]), (&chip.into(), &"reported".into()), "{line}");
        // Without the store, neither caches nor order matter.
        let rig = tried(chip, ip, false);
        let needed = rig.gpu.trials().into_iter().filter(|trial| trial.outcome != TrialOutcome::Redundant);
        let is_about_pfp = |trial: &TrialReport| trial.packet == "PFP_SYNC_ME" || trial.outcome == EARLY;
        let needed: Vec<_> = needed.filter(|trial| !is_about_pfp(trial)).collect();
        assert_eq!(needed, [], "{chip} {ip}");
    }
}

#[test]
fn nothing_is_tried_unless_it_is_asked_for() {
    let rig = Rig::new("navi21", Ip::Gfx);
    rig.run(start);
    assert_eq!(rig.gpu.trials(), []);
}

/// Runs a stream, and returns what else than the absence of a packet was tried and reported, with the kinds.
fn mutated(rig: &Rig, record: impl FnOnce(&mut Stream<Target>)) -> Vec<(String, HazardKind)> {
    rig.run(record);
    assert!(rig.gpu.hazards().is_empty(), "{:?}", rig.gpu.hazards());
    let trials = rig.gpu.trials();
    assert!(!trials.iter().any(|trial| matches!(trial.outcome, TrialOutcome::Missed(_))), "{trials:#?}");
    let reported = trials.into_iter().filter_map(|trial| match trial.outcome {
        TrialOutcome::Reported(kind) if trial.without.contains(" (") => Some((trial.without, kind)),
        _ => None,
    });
    reported.collect()
}

fn has(all: &[(String, HazardKind)], without: &str, kind: HazardKind) -> bool {
    all.iter().any(|(name, found)| name == without && *found == kind)
}

#[test]
fn a_packet_of_the_wrong_type_and_a_wait_that_is_too_weak_are_tried() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let rig = Rig::with(chip, ip, Strictness::Trials, AllocateFlags::empty());
        Script::plug(&rig, &[&[Act::Store(7)], &[Act::Store(8)], &[Act::Store(9)]]);
        let all = mutated(&rig, |stream| {
            start(stream);
            stream.end_of_pipe(EndOfPipe::fence(rig.at(4096), 1)).unwrap();
            start_alone(stream);
            stream.end_of_pipe(EndOfPipe::fence(rig.at(4096), 2)).unwrap();
            stream.push(&WaitRegMem::new(rig.at(4096), Compare::GreaterOrEqual, 2)).unwrap();
            start_alone(stream);
        });
        for without in [
            "CS_PARTIAL_FLUSH (PS_PARTIAL_FLUSH in its place)",
            "the wait for memory (always met)",
            "the wait for memory (its reference is too low)",
        ] {
            assert!(has(&all, without, HazardKind::Race), "{chip} {ip}: {all:?}");
        }
        let is_old = rig.level() < amdgpu_winsys::winsys::GfxLevel::Gfx7;
        assert_ne!(
            has(&all, "the event type (PS_DONE in its place)", HazardKind::Race),
            is_old,
            "{chip} {ip}: {all:?}"
        );
    }
}

#[test]
fn packets_that_have_changed_places_are_tried() {
    let load = Act::Load(Client::Vector, Reach::Unit);
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let rig = Rig::with(chip, ip, Strictness::Trials, AllocateFlags::empty());
        Script::plug(&rig, &[&[load], &[Act::Store(7)], &[load]]);
        let all = mutated(&rig, |stream| {
            start(stream);
            start(stream);
            if ip == Ip::Gfx {
                stream.push(&PfpSyncMe).unwrap();
            }
            for acquire in AcquireMem::each(rig.target(), CacheActions::INVALIDATE_VECTOR) {
                stream.push(&acquire).unwrap();
            }
            start(stream);
        });
        for (without, kind) in [
            ("CS_PARTIAL_FLUSH (before the packet before it)", HazardKind::Race),
            ("CS_PARTIAL_FLUSH (after the packet behind it)", HazardKind::Race),
            ("the cache operation (after the packet behind it)", HazardKind::StaleRead),
        ] {
            assert!(has(&all, without, kind), "{chip} {ip} {without}: {all:?}");
        }
    }
    // The write-back would come before the dispatch is over.
    let rig = Rig::with("polaris10", Ip::Compute, Strictness::Trials, AllocateFlags::empty());
    Script::plug(&rig, &[&[Act::Store(7)]]);
    let all = mutated(&rig, |stream| {
        start(stream);
        stream.push(&AcquireMem::all(rig.target(), CacheActions::WRITE_BACK_L2)).unwrap();
        rig.copy(stream);
    });
    let early = "the cache operation (before the packet before it)";
    assert!(has(&all, early, HazardKind::NotWrittenBack), "{all:?}");
}

/// Runs a stream, and returns what was missing in the trials that were reported, with the kinds.
fn missed(rig: &Rig, record: impl FnOnce(&mut Stream<Target>)) -> Vec<(String, HazardKind)> {
    rig.run(record);
    assert!(rig.gpu.hazards().is_empty(), "{:?}", rig.gpu.hazards());
    let trials = rig.gpu.trials();
    assert!(!trials.iter().any(|trial| matches!(trial.outcome, TrialOutcome::Missed(_))), "{trials:#?}");
    let reported = trials.into_iter().filter_map(|trial| match trial.outcome {
        TrialOutcome::Reported(kind) => Some((trial.without, kind)),
        _ => None,
    });
    reported.collect()
}

#[test]
fn a_packet_that_does_not_wait_for_its_writes_is_tried_where_something_reads_them() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        for reads in [true, false] {
            let rig = Rig::with(chip, ip, Strictness::Trials, AllocateFlags::empty());
            let all = missed(&rig, |stream| {
                stream.push(&WriteData::new(rig.at(0), &[7])).unwrap();
                if reads {
                    rig.copy(stream);
                }
            });
            assert_eq!(has(&all, "WR_CONFIRM", HazardKind::Race), reads, "{chip} {ip}: {all:?}");
        }
    }
}

#[test]
fn a_packet_of_pfp_is_tried_on_me_where_pfp_reads_what_it_writes() {
    for chip in CHIPS {
        let rig = Rig::with(chip, Ip::Gfx, Strictness::Trials, AllocateFlags::empty());
        let all = missed(&rig, |stream| {
            let write = WriteData::new(rig.at(0), &[1]);
            stream.push(&WriteData { engine: Engine::Pfp, ..write }).unwrap();
            // COND_EXEC of the following NOP.
            let va = rig.at(0).as_u64();
            let cond: [u32; 7] = if rig.level() == GfxLevel::Gfx6 {
                [0xc002_2200, va as u32, (va >> 32) as u32, 2, 0xc000_1000, 0, 0x8000_0000]
            } else {
                [0xc003_2200, va as u32, (va >> 32) as u32, 0, 2, 0xc000_1000, 0]
            };
            stream.reserve(7).unwrap().copy_from_slice(&cond);
        });
        assert!(has(&all, "the engine PFP", HazardKind::Ahead), "{chip}: {all:?}");
    }
}

#[test]
fn a_cache_policy_that_bypasses_l2_is_tried_where_l2_has_an_old_line() {
    for (chip, is_kept) in [("vega10", false), ("navi10", true), ("navi21", true), ("navi31", true)] {
        for bypasses in [true, false] {
            let rig = Rig::with(chip, Ip::Compute, Strictness::Trials, AllocateFlags::empty());
            let copy = |bypasses: bool| {
                let copy = CpDma::copy(rig.level(), rig.at(4096), rig.at(0), 4).with_sync(true);
                let policy = if bypasses { Policy::Bypass } else { Policy::Lru };
                CpDma { from_caching: Caching { policy, ..copy.from_caching }, ..copy }
            };
            rig.run(|stream| stream.push(&copy(false)).unwrap());
            rig.poke(0, 7);
            rig.run(|stream| stream.push(&copy(bypasses)).unwrap());
            let found = rig.kinds();
            let is_old = is_kept && !bypasses;
            assert_eq!(found, if is_old { vec![HazardKind::StaleRead] } else { vec![] }, "{chip} {bypasses}");
            let trials = rig.gpu.trials();
            let old = TrialOutcome::Reported(HazardKind::StaleRead);
            let is_tried = |trial: &&TrialReport| trial.without == "the cache policy" && trial.outcome == old;
            assert_eq!(trials.iter().filter(is_tried).count(), usize::from(is_kept && bypasses), "{chip}: {trials:#?}");
        }
    }
}

#[test]
fn loads_of_the_scope_of_the_device_are_tried_without_it() {
    let (near, wide) = (Act::Load(Client::Vector, Reach::Unit), Act::Load(Client::Vector, Reach::Device));
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        for first in [near, wide] {
            let rig = Rig::with(chip, ip, Strictness::Trials, AllocateFlags::empty());
            Script::plug(&rig, &[&[first], &[Act::Store(7)], &[wide]]);
            let all = missed(&rig, |stream| (0..3).for_each(|_| start(stream)));
            let is_kept = matches!(first, Act::Load(_, Reach::Unit));
            assert_eq!(has(&all, "the scope of loads", HazardKind::StaleRead), is_kept, "{chip} {ip}: {all:?}");
        }
    }
}

#[test]
fn a_write_back_without_the_bit_of_lines_that_are_not_coherent_is_reported_on_gfx8_and_gfx9() {
    for chip in ["polaris10", "vega10", "navi21"] {
        let rig = Rig::with(chip, Ip::Compute, Strictness::Trials, AllocateFlags::empty());
        let all = missed(&rig, |stream| {
            stream.push(&AcquireMem::all(rig.target(), CacheActions::WRITE_BACK_L2)).unwrap();
        });
        let is_there = has(&all, "the write-back of L2 (without TC_NC)", HazardKind::Submission);
        assert_eq!(is_there, chip != "navi21", "{chip}: {all:?}");
    }
}
