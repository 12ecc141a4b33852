//! The caches of colour and depth targets, and events that wait for some work alone.

use std::sync::Arc;

use amdgpu_sim::{
    HazardKind,
    gpu::{Client, Reach, Scene, Shaders, Unfinished, Work},
};
use amdgpu_winsys::{
    cs::{
        Stream,
        pm4::{Compare, EndOfPipe, EopEvent, EopStore, Event, EventWrite, Target, WaitRegMem},
    },
    vamgr::GpuVa,
    winsys::Ip,
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    start_alone,
};

/// A shader executor whose draws write a dword to a target.
struct Paint(GpuVa);

impl Shaders for Paint {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        if let Work::Draw(_) = work {
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

#[test]
fn what_a_draw_writes_to_a_target_is_flushed_before_others_read_it() {
    for chip in CHIPS.into_iter().chain(["bonaire", "gfx1201"]) {
        let run = |event: EopEvent| {
            let rig = Rig::new(chip, Ip::Gfx);
            rig.gpu.plug_shaders(Arc::new(Paint(rig.at(0))));
            rig.run(|stream| {
                // DRAW_INDEX_AUTO.
                stream.reserve(3).unwrap().copy_from_slice(&[0xc001_2d00, 3, 2]);
                stream.push(&EventWrite::new(Event::PS_PARTIAL_FLUSH)).unwrap();
                wait_for(&rig, stream, event);
                if rig.level() >= amdgpu_winsys::winsys::GfxLevel::Gfx12 {
                    use amdgpu_winsys::cs::pm4::{AcquireMem, CacheActions};
                    stream.push(&AcquireMem::all(rig.target(), CacheActions::WRITE_BACK_L2)).unwrap();
                }
                rig.copy(stream);
            });
            rig
        };
        for event in [EopEvent::FlushColor, EopEvent::FlushDepth, EopEvent::CacheFlushAndInvalidate] {
            let rig = run(event);
            let behind_l2 = rig.kinds().iter().all(|kind| *kind == HazardKind::NotWrittenBack);
            // Up to GFX8 the model lets targets go through L2, behind which the copy reads.
            let is_old = rig.level() < amdgpu_winsys::winsys::GfxLevel::Gfx9;
            assert!(rig.kinds().is_empty() || is_old && behind_l2, "{chip} {event:?}: {:?}", rig.gpu.hazards());
        }
        let rig = run(EopEvent::BottomOfPipe);
        let report = rig.gpu.hazards()[0].clone();
        assert_eq!(report.kind, HazardKind::NotWrittenBack, "{report}");
        assert!(report.missing.contains("flushes the caches of targets"), "{chip}: {report}");
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
