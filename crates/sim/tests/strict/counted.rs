//! Events that are only counted: a wait is for one that many events before the last one.

use amdgpu_sim::HazardKind;
use amdgpu_winsys::{
    cs::{
        Stream,
        pm4::{AcquireMem, AcquireWait, CacheActions, EndOfPipe, EopEvent, EopStore, PwsCounter, PwsStage, Target},
    },
    winsys::Ip,
};

use crate::{
    Rig,
    fronts::{Act, Script},
    start_alone,
};

fn release(stream: &mut Stream<Target>) {
    let event = EndOfPipe::new(EopEvent::CacheFlushAndInvalidate, EopStore::Nothing);
    stream.push(&EndOfPipe { pws: true, ..event }).unwrap();
}

fn acquire(stream: &mut Stream<Target>, outstanding: u8) {
    let all = AcquireMem::all(stream.language(), CacheActions::empty());
    let wait = AcquireWait::Pws { stage: PwsStage::Me, counter: PwsCounter::EndOfPipe, outstanding };
    stream.push(&AcquireMem { wait, ..all }).unwrap();
}

/// Two dispatches that store, with events before and between them and a wait with this count.
fn run(chip: &str, before: usize, between: usize, outstanding: u8) -> Vec<HazardKind> {
    let rig = Rig::new(chip, Ip::Gfx);
    Script::plug(&rig, &[&[Act::Store(7)], &[Act::Store(8)]]);
    rig.run(|stream| {
        (0..before).for_each(|_| release(stream));
        start_alone(stream);
        (0..between).for_each(|_| release(stream));
        acquire(stream, outstanding);
        start_alone(stream);
    });
    rig.kinds()
}

#[test]
fn a_wait_for_a_counted_event_is_for_as_many_events_as_its_count_says() {
    for chip in ["navi31", "gfx1201"] {
        assert_eq!(run(chip, 0, 1, 0), [], "{chip}");
        assert_eq!(run(chip, 0, 2, 1), [], "{chip}: the event before the last one is behind the dispatch, too");
        for (before, between, outstanding) in [(0, 1, 1), (0, 0, 0), (1, 0, 0), (1, 1, 1), (0, 2, 2)] {
            let found = run(chip, before, between, outstanding);
            assert_eq!(found, [HazardKind::Race], "{chip} {before} {between} {outstanding}");
        }
    }
}
