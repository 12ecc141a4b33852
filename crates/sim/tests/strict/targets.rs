//! The caches of colour and depth targets, and events that wait for some work alone.

use std::sync::Arc;

use amdgpu_sim::{
    HazardKind,
    gpu::{Client, Reach, Scene, Shaders, TargetCaches, Unfinished, Work},
};
use amdgpu_winsys::{
    cs::{
        Stream,
        pm4::{
            AcquireMem, CacheActions, Compare, EndOfPipe, EopEvent, EopStore, Event, EventWrite, Target, WaitRegMem,
        },
    },
    vamgr::GpuVa,
    winsys::{GfxLevel, Ip},
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    start_alone,
};

/// A shader executor whose draws write a dword to a target, through a cache of render backends.
struct Paint(GpuVa, TargetCaches);

impl Shaders for Paint {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        if let Work::Draw(_) = work {
            scene.memory.enter(self.1);
            scene.memory.route(Client::Targets, Reach::Device);
            scene.memory.write(self.0, &7_u32.to_le_bytes()).unwrap();
        }
        Ok(())
    }
}

/// A wait until an event has stored.
fn wait_for(rig: &Rig, stream: &mut Stream<Target>, event: EopEvent) {
    let store = EopStore::Dword { va: rig.at(4160), value: 1 };
    stream.end_of_pipe(EndOfPipe::new(event, store)).unwrap();
    stream.push(&WaitRegMem::new(rig.at(4160), Compare::Equal, 1)).unwrap();
}

/// Draws to a target, executes an event and waits for one at the end of the pipe, and copies the target. Returns what is missing of the
/// flushes of targets.
fn painted(chip: &str, cache: TargetCaches, event: Option<Event>, end: EopEvent) -> Vec<String> {
    let rig = Rig::new(chip, Ip::Gfx);
    rig.gpu.plug_shaders(Arc::new(Paint(rig.at(0), cache)));
    rig.run(|stream| {
        // DRAW_INDEX_AUTO.
        stream.reserve(3).unwrap().copy_from_slice(&[0xc001_2d00, 3, 2]);
        if let Some(event) = event {
            stream.push(&EventWrite::new(event)).unwrap();
        }
        stream.push(&EventWrite::new(Event::PS_PARTIAL_FLUSH)).unwrap();
        wait_for(&rig, stream, end);
        if rig.level() >= GfxLevel::Gfx12 {
            stream.push(&AcquireMem::all(rig.target(), CacheActions::WRITE_BACK_L2)).unwrap();
        }
        rig.copy(stream);
    });
    // Up to GFX8 the model lets targets go through L2, behind which the copy reads.
    let is_behind = |missing: &String| missing.starts_with("a write-back of L2") && rig.level() < GfxLevel::Gfx9;
    let reports = rig.gpu.hazards();
    assert!(reports.iter().all(|report| report.kind == HazardKind::NotWrittenBack), "{chip}: {reports:?}");
    reports.into_iter().map(|report| report.missing).filter(|missing| !is_behind(missing)).collect()
}

#[test]
fn what_a_draw_writes_to_a_target_is_flushed_from_its_own_cache_before_others_read_it() {
    for chip in CHIPS.into_iter().chain(["bonaire", "gfx1201"]) {
        for (cache, own, other, name) in [
            (TargetCaches::COLOR, EopEvent::FlushColor, EopEvent::FlushDepth, "FLUSH_AND_INV_CB_DATA_TS"),
            (TargetCaches::DEPTH, EopEvent::FlushDepth, EopEvent::FlushColor, "FLUSH_AND_INV_DB_DATA_TS"),
        ] {
            for flush in [own, EopEvent::CacheFlushAndInvalidate] {
                assert_eq!(painted(chip, cache, None, flush), [""; 0], "{chip} {cache:?} {flush:?}");
            }
            for flush in [EopEvent::BottomOfPipe, other] {
                let missing = painted(chip, cache, None, flush);
                assert!(missing.len() == 1 && missing[0].contains(name), "{chip} {cache:?} {flush:?}: {missing:?}");
            }
        }
    }
}

#[test]
fn metadata_of_targets_has_events_of_its_own() {
    for chip in CHIPS.into_iter().chain(["bonaire"]) {
        let is_gfx11 = chip == "navi31";
        for (cache, own, other) in [
            (TargetCaches::COLOR_METADATA, Event::FLUSH_AND_INV_CB_META, Event::FLUSH_AND_INV_DB_META),
            (TargetCaches::DEPTH_METADATA, Event::FLUSH_AND_INV_DB_META, Event::FLUSH_AND_INV_CB_META),
        ] {
            // GFX11 has no such event for depth, whose metadata goes with it.
            let with_data = is_gfx11 && cache == TargetCaches::DEPTH_METADATA;
            let run = |event| painted(chip, cache, event, EopEvent::CacheFlushAndInvalidate).len();
            assert_eq!(run(None), usize::from(!with_data), "{chip} {cache:?}");
            if !is_gfx11 {
                assert_eq!((run(Some(own)), run(Some(other))), (0, 1), "{chip} {cache:?}");
            }
        }
    }
}

#[test]
fn an_event_of_one_kind_of_shaders_does_not_wait_for_another_kind() {
    for chip in CHIPS.into_iter().filter(|chip| *chip != "pitcairn" && *chip != "polaris10") {
        let run = |event: EopEvent| {
            let rig = Rig::new(chip, Ip::Gfx);
            Script::plug(&rig, &[&[Act::Store(7)], &[Act::Store(8)]]);
            rig.run(|stream| {
                start_alone(stream);
                wait_for(&rig, stream, event);
                start_alone(stream);
            });
            rig.kinds()
        };
        assert_eq!(run(EopEvent::ComputeDone), [], "{chip}");
        assert_eq!(run(EopEvent::BottomOfPipe), [], "{chip}");
        assert_eq!(run(EopEvent::PixelDone), [HazardKind::Race], "{chip}");
    }
}
