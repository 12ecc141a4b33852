//! Trials: what becomes of a stream without each of its cache operations and waits.

use amdgpu_sim::{
    HazardKind, Strictness, TrialOutcome,
    gpu::{Client, Reach},
};
use amdgpu_winsys::{
    cs::pm4::{AcquireMem, CacheActions, PfpSyncMe},
    heaps::AllocateFlags,
    winsys::Ip,
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    start,
};

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
        assert_eq!(reported(HazardKind::Race, "EVENT_WRITE"), 2, "{chip} {ip}: {trials:#?}");
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
        let needed: Vec<_> = needed.filter(|trial| trial.packet != "PFP_SYNC_ME").collect();
        assert_eq!(needed, [], "{chip} {ip}");
    }
}

#[test]
fn nothing_is_tried_unless_it_is_asked_for() {
    let rig = Rig::new("navi21", Ip::Gfx);
    rig.run(start);
    assert_eq!(rig.gpu.trials(), []);
}
