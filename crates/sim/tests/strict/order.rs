//! The order of accesses in a job: dispatches, DMA and the prefetch parser do not wait by themselves.

use amdgpu_sim::{
    HazardKind,
    gpu::{Client, Reach},
};
use amdgpu_winsys::{
    cs::{
        Stream, Submission,
        pm4::{
            AcquireMem, CacheActions, Compare, CpDma, EndOfPipe, Engine, Event, EventWrite, PfpSyncMe, Target,
            WaitRegMem, WriteData,
        },
        sdma,
    },
    winsys::{Deadline, GfxLevel, Ip},
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    start_alone,
};

const LOAD: Act = Act::Load(Client::Vector, Reach::Device);
const STORE: [Act; 2] = [Act::Store(7), Act::Store(8)];

/// Runs two dispatches with these accesses, and what is between them.
fn pair(chip: &str, ip: Ip, acts: [Act; 2], between: impl FnOnce(&Rig, &mut Stream<Target>)) -> Rig {
    let rig = Rig::new(chip, ip);
    Script::plug(&rig, &[&acts[..1], &acts[1..]]);
    rig.run(|stream| {
        start_alone(stream);
        between(&rig, stream);
        start_alone(stream);
    });
    rig
}

fn flush(_: &Rig, stream: &mut Stream<Target>) {
    stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH)).unwrap();
}

#[test]
fn dispatches_that_write_what_others_access_need_a_flush_of_shaders_in_between() {
    let near = Act::Load(Client::Vector, Reach::Unit);
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        for acts in
            [[Act::Store(7), near], [near, Act::Store(7)], STORE, [Act::Add(1), near], [Act::Store(7), Act::Add(1)]]
        {
            let report = pair(chip, ip, acts, |_, _| {}).only();
            assert_eq!(report.kind, HazardKind::Race, "{report}");
            assert!(report.missing.starts_with("CS_PARTIAL_FLUSH"), "{report}");
            let rig = pair(chip, ip, acts, flush);
            assert!(rig.gpu.hazards().is_empty(), "{chip} {ip}: {:?}", rig.gpu.hazards());
        }
        for acts in [[LOAD, LOAD], [Act::Add(1), Act::Add(1)], [Act::Add(1), LOAD], [Act::Store(0), Act::Store(0)]] {
            let rig = pair(chip, ip, acts, |_, _| {});
            assert!(rig.gpu.hazards().is_empty(), "{chip} {ip}: {:?}", rig.gpu.hazards());
        }
    }
}

#[test]
fn a_wait_for_what_the_end_of_the_pipe_stores_ends_the_dispatches_before_it() {
    let stored = |rig: &Rig, stream: &mut Stream<Target>, waits: bool| {
        stream.end_of_pipe(EndOfPipe::fence(rig.at(4096), 1)).unwrap();
        if waits {
            stream.push(&WaitRegMem::new(rig.at(4096), Compare::Equal, 1)).unwrap();
        }
    };
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let rig = pair(chip, ip, STORE, |rig, stream| stored(rig, stream, true));
        assert!(rig.gpu.hazards().is_empty(), "{chip} {ip}: {:?}", rig.gpu.hazards());
        assert_eq!(
            pair(chip, ip, STORE, |rig, stream| stored(rig, stream, false)).kinds(),
            [HazardKind::Race],
            "{chip} {ip}"
        );
        // The wait is for something that was stored before the dispatch.
        let rig = Rig::new(chip, ip);
        Script::plug(&rig, &[&STORE[..1], &STORE[1..]]);
        rig.run(|stream| {
            stored(&rig, stream, false);
            start_alone(stream);
            stream.push(&WaitRegMem::new(rig.at(4096), Compare::Equal, 1)).unwrap();
            start_alone(stream);
        });
        assert_eq!(rig.kinds(), [HazardKind::Race], "{chip} {ip}");
    }
}

#[test]
fn the_next_job_of_a_ring_starts_when_the_dispatches_are_over() {
    for chip in CHIPS {
        let rig = Rig::new(chip, Ip::Compute);
        Script::plug(&rig, &[&STORE[..1], &STORE[1..]]);
        (0..2).for_each(|_| rig.run(start_alone));
        assert!(rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
    }
}

/// Copies by DMA from the first page to the second, then overwrites the copy by another packet or DMA.
fn dma(chip: &str, ip: Ip, syncs: bool, waits: Option<bool>) -> Rig {
    let rig = Rig::new(chip, ip);
    rig.poke(0, 1);
    rig.run(|stream| {
        let copy = |from: u64, to: u64| CpDma::copy(rig.level(), rig.at(to), rig.at(from), 4);
        stream.push(&copy(0, 4096).with_sync(syncs)).unwrap();
        match waits {
            None => stream.push(&WriteData::new(rig.at(4096), &[9])).unwrap(),
            Some(waits) => stream.push(&CpDma { raw_wait: waits, ..copy(4096, 4160) }).unwrap(),
        }
        stream.push(&copy(4096, 4096).with_sync(true)).unwrap();
    });
    rig
}

#[test]
fn graphics_rings_wait_for_dma_before_they_use_what_it_wrote() {
    for chip in CHIPS.into_iter().filter(|chip| *chip != "pitcairn") {
        let report = dma(chip, Ip::Gfx, false, None).only();
        assert_eq!(report.kind, HazardKind::Race, "{report}");
        assert!(report.missing.contains("cp_sync"), "{report}");
        assert_eq!(dma(chip, Ip::Gfx, false, Some(false)).kinds(), [HazardKind::Race], "{chip}");
        for rig in [
            dma(chip, Ip::Gfx, true, None),
            dma(chip, Ip::Gfx, true, Some(false)),
            dma(chip, Ip::Gfx, false, Some(true)),
            // MEC executes DMA in order.
            dma(chip, Ip::Compute, false, None),
            dma(chip, Ip::Compute, false, Some(false)),
        ] {
            assert!(rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
        }
    }
}

#[test]
fn a_job_ends_with_idle_dma() {
    // RADV never waits for DMA on GFX6, so the model does not ask for it.
    assert!(dma("pitcairn", Ip::Gfx, false, None).gpu.hazards().is_empty());
    for chip in CHIPS.into_iter().filter(|chip| *chip != "pitcairn") {
        let run = |syncs: bool| {
            let rig = Rig::new(chip, Ip::Gfx);
            rig.poke(0, 1);
            rig.run(|stream| {
                stream.push(&CpDma::copy(rig.level(), rig.at(4096), rig.at(0), 4)).unwrap();
                if syncs {
                    stream.push(&CpDma::copy(rig.level(), rig.at(0), rig.at(0), 4).with_sync(true)).unwrap();
                }
            });
            rig
        };
        let report = run(false).only();
        assert!(report.kind == HazardKind::Race && report.missing.contains("radv_cp_dma_wait_for_idle"), "{report}");
        assert!(run(true).gpu.hazards().is_empty(), "{chip}: {:?}", run(true).gpu.hazards());
    }
}

/// Records COND_EXEC with the first dword of the rig's memory.
pub(crate) fn skip_if_zero(rig: &Rig, stream: &mut Stream<Target>, dwords: u32) {
    let va = rig.at(0).as_u64();
    let (low, high) = (va as u32, (va >> 32) as u32);
    if rig.level() == GfxLevel::Gfx6 {
        stream.reserve(4).unwrap().copy_from_slice(&[0xc002_2200, low, high, dwords]);
    } else {
        stream.reserve(5).unwrap().copy_from_slice(&[0xc003_2200, low, high, 0, dwords]);
    }
}

#[test]
fn the_prefetch_parser_waits_before_it_reads_what_the_micro_engine_wrote() {
    for chip in CHIPS {
        let run = |ip: Ip, join: &dyn Fn(&Rig, &mut Stream<Target>)| {
            let rig = Rig::new(chip, ip);
            rig.run(|stream| {
                stream.push(&WriteData::new(rig.at(0), &[9])).unwrap();
                join(&rig, stream);
                skip_if_zero(&rig, stream, 2);
                stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH)).unwrap();
            });
            rig
        };
        let report = run(Ip::Gfx, &|_, _| {}).only();
        assert_eq!(report.kind, HazardKind::Ahead, "{report}");
        assert!(report.earlier.contains("WRITE_DATA") && report.later.contains("COND_EXEC"), "{report}");
        let sync = |_: &Rig, stream: &mut Stream<Target>| stream.push(&PfpSyncMe).unwrap();
        let acquire = |rig: &Rig, stream: &mut Stream<Target>| {
            stream.push(&AcquireMem::all(rig.target(), CacheActions::INVALIDATE_VECTOR)).unwrap();
        };
        let rig = run(Ip::Gfx, &sync);
        assert!(rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
        // From GFX10 on PFP waits for the operation, and before it executes the operation itself.
        let holds = rig.level() >= GfxLevel::Gfx10;
        assert_eq!(run(Ip::Gfx, &acquire).gpu.hazards().len(), usize::from(!holds), "{chip}");
        assert!(run(Ip::Compute, &|_, _| {}).gpu.hazards().is_empty(), "{chip}: MEC is one engine");
    }
}

#[test]
fn each_dispatch_that_runs_is_known_though_another_one_writes_the_same_line() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let run = |acts: [Act; 2], waits: bool| {
            let rig = Rig::new(chip, ip);
            let last = [if matches!(acts[0], Act::Store(_)) { LOAD } else { Act::Store(5) }];
            Script::plug(&rig, &[&acts[..1], &acts[1..], &last]);
            rig.run(|stream| {
                start_alone(stream);
                start_alone(stream);
                if waits {
                    flush(&rig, stream);
                }
                start_alone(stream);
            });
            rig
        };
        // The second dispatch hides neither the write of the first one, nor its read.
        for acts in [[Act::Store(7), Act::StoreNext(8)], [Act::Load(Client::Vector, Reach::Unit), Act::StoreNext(8)]] {
            assert_eq!(run(acts, false).kinds(), [HazardKind::Race], "{chip} {ip}");
            assert_eq!(run(acts, true).kinds(), [], "{chip} {ip}");
        }
    }
}

#[test]
fn a_wait_for_another_address_ends_nothing() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let run = |at: u64, value: u32| {
            let rig = pair(chip, ip, STORE, |rig, stream| {
                stream.end_of_pipe(EndOfPipe::fence(rig.at(4096), 1)).unwrap();
                stream.push(&WaitRegMem::new(rig.at(at), Compare::Equal, value)).unwrap();
            });
            rig.kinds()
        };
        assert_eq!((run(4096, 1), run(4160, 0)), (vec![], vec![HazardKind::Race]), "{chip} {ip}");
    }
}

#[test]
fn cache_operations_at_the_end_of_the_pipe_are_over_when_something_has_waited_for_it() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        // The end of the pipe has no such operation on GFX6.
        if chip == "pitcairn" {
            continue;
        }
        let run = |waits: bool| {
            let rig = Rig::new(chip, ip);
            let near = [Act::Load(Client::Vector, Reach::Unit)];
            Script::plug(&rig, &[&near, &[Act::Store(7)], &near]);
            rig.run(|stream| {
                start_alone(stream);
                flush(&rig, stream);
                start_alone(stream);
                flush(&rig, stream);
                let fence = EndOfPipe::fence(rig.at(4096), 1);
                stream.end_of_pipe(fence.with_caches(rig.level(), CacheActions::INVALIDATE_VECTOR)).unwrap();
                if waits {
                    stream.push(&WaitRegMem::new(rig.at(4096), Compare::Equal, 1)).unwrap();
                }
                start_alone(stream);
            });
            rig.kinds()
        };
        assert_eq!((run(true), run(false)), (vec![], vec![HazardKind::StaleRead]), "{chip} {ip}");
    }
}

#[test]
fn what_is_written_without_a_confirmation_may_not_be_there_yet() {
    for chip in CHIPS {
        for confirm in [true, false] {
            let rig = Rig::new(chip, Ip::Gfx);
            rig.run(|stream| {
                stream.push(&WriteData { confirm, ..WriteData::new(rig.at(0), &[9]) }).unwrap();
                rig.copy(stream);
            });
            let expected = if confirm { vec![] } else { vec![HazardKind::Race] };
            assert_eq!(rig.kinds(), expected, "{chip}: {:?}", rig.gpu.hazards());
        }
    }
}

#[test]
fn a_wait_that_is_over_before_the_store_ends_nothing() {
    let run = |chip: &str, ip: Ip, wait: &dyn Fn(&Rig) -> WaitRegMem| {
        let rig = Rig::new(chip, ip);
        rig.poke(4096, 1);
        Script::plug(&rig, &[&STORE[..1], &[Act::Load(Client::Vector, Reach::Device)], &STORE[1..]]);
        rig.run(|stream| {
            stream.end_of_pipe(EndOfPipe::fence(rig.at(4096), 2)).unwrap();
            start_alone(stream);
            stream.end_of_pipe(EndOfPipe::fence(rig.at(4096), 3)).unwrap();
            stream.push(&wait(&rig)).unwrap();
            start_alone(stream);
        });
        rig.kinds()
    };
    let race = [HazardKind::Race];
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let wait = |compare, value, mask| {
            run(chip, ip, &|rig| WaitRegMem { mask, ..WaitRegMem::new(rig.at(4096), compare, value) })
        };
        for (compare, value) in [(Compare::Equal, 3), (Compare::GreaterOrEqual, 3), (Compare::Greater, 2)] {
            assert_eq!(wait(compare, value, u32::MAX), [], "{chip} {ip} {compare:?} {value}");
        }
        // Always, a value of before the job, that of the first event, and no bits of the value.
        assert_eq!(wait(Compare::Always, 3, u32::MAX), race, "{chip} {ip}");
        assert_eq!(wait(Compare::GreaterOrEqual, 1, u32::MAX), race, "{chip} {ip}");
        assert_eq!(wait(Compare::GreaterOrEqual, 2, u32::MAX), race, "{chip} {ip}");
        assert_eq!(wait(Compare::Equal, 0, 0), race, "{chip} {ip}");
    }
}

#[test]
fn the_prefetch_parser_that_waits_for_a_value_has_waited_for_what_came_before_it() {
    for chip in CHIPS {
        let run = |engine: Engine, writes_last: bool| {
            let rig = Rig::new(chip, Ip::Gfx);
            rig.run(|stream| {
                let write = |stream: &mut Stream<Target>| stream.push(&WriteData::new(rig.at(0), &[9])).unwrap();
                if !writes_last {
                    write(stream);
                }
                stream.end_of_pipe(EndOfPipe::fence(rig.at(4096), 1)).unwrap();
                if writes_last {
                    write(stream);
                }
                stream.push(&WaitRegMem { engine, ..WaitRegMem::new(rig.at(4096), Compare::Equal, 1) }).unwrap();
                skip_if_zero(&rig, stream, 2);
                stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH)).unwrap();
            });
            rig.kinds()
        };
        assert_eq!(run(Engine::Pfp, false), [], "{chip}");
        assert_eq!(run(Engine::Me, false), [HazardKind::Ahead], "{chip}: a wait of ME does not hold PFP");
        assert_eq!(run(Engine::Pfp, true), [HazardKind::Ahead], "{chip}");
    }
}

#[test]
fn caches_are_operated_on_when_the_dispatches_before_are_over() {
    let load = Act::Load(Client::Vector, Reach::Unit);
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let run = |waits_first: bool| {
            let rig = Rig::new(chip, ip);
            Script::plug(
                &rig,
                &[&[load, Act::StoreNext(7)], &[Act::Load(Client::Vector, Reach::Private), Act::Store(7)], &[load]],
            );
            rig.run(|stream| {
                start_alone(stream);
                flush(&rig, stream);
                start_alone(stream);
                if waits_first {
                    flush(&rig, stream);
                }
                if ip == Ip::Gfx {
                    stream.push(&PfpSyncMe).unwrap();
                }
                for acquire in AcquireMem::each(rig.target(), CacheActions::INVALIDATE_VECTOR) {
                    stream.push(&acquire).unwrap();
                }
                flush(&rig, stream);
                start_alone(stream);
            });
            rig.kinds()
        };
        // The first dispatch is over, so what it has loaded is dropped in any case.
        assert_eq!((run(true), run(false)), (vec![], vec![]), "{chip} {ip}");
    }
    for (chip, ip) in
        [("polaris10", Ip::Compute), ("polaris10", Ip::Gfx), ("pitcairn", Ip::Compute), ("gfx1201", Ip::Gfx)]
    {
        let run = |waits_first: bool| {
            let rig = Rig::new(chip, ip);
            Script::plug(&rig, &[&[Act::Store(7)]]);
            rig.run(|stream| {
                start_alone(stream);
                if waits_first {
                    flush(&rig, stream);
                }
                if ip == Ip::Gfx {
                    stream.push(&PfpSyncMe).unwrap();
                }
                for acquire in AcquireMem::each(rig.target(), CacheActions::WRITE_BACK_L2) {
                    stream.push(&acquire).unwrap();
                }
                flush(&rig, stream);
                rig.copy(stream);
            });
            rig.kinds()
        };
        assert_eq!((run(true), run(false)), (vec![], vec![HazardKind::NotWrittenBack]), "{chip} {ip}");
    }
}

#[test]
fn a_load_beside_an_invalidation_may_keep_what_a_store_beside_it_replaces() {
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let run = |waits_first: bool| {
            let rig = Rig::new(chip, ip);
            let load = Act::Load(Client::Vector, Reach::Unit);
            Script::plug(&rig, &[&[load, Act::Store(7)], &[load]]);
            rig.run(|stream| {
                start_alone(stream);
                if waits_first {
                    flush(&rig, stream);
                }
                if ip == Ip::Gfx {
                    stream.push(&PfpSyncMe).unwrap();
                }
                for acquire in AcquireMem::each(rig.target(), CacheActions::INVALIDATE_VECTOR) {
                    stream.push(&acquire).unwrap();
                }
                flush(&rig, stream);
                start_alone(stream);
            });
            rig.kinds()
        };
        assert_eq!((run(true), run(false)), (vec![], vec![HazardKind::StaleRead]), "{chip} {ip}");
    }
}

#[test]
fn a_value_at_the_end_of_the_pipe_says_nothing_about_dma() {
    for chip in CHIPS.into_iter().filter(|chip| *chip != "pitcairn") {
        let run = |syncs: bool| {
            let rig = Rig::new(chip, Ip::Gfx);
            rig.poke(0, 1);
            rig.run(|stream| {
                let copy = |from: u64, to: u64| CpDma::copy(rig.level(), rig.at(to), rig.at(from), 4);
                stream.push(&copy(0, 4096).with_sync(syncs)).unwrap();
                stream.end_of_pipe(EndOfPipe::fence(rig.at(4160), 1)).unwrap();
                stream.push(&WaitRegMem::new(rig.at(4160), Compare::Equal, 1)).unwrap();
                stream.push(&WriteData::new(rig.at(4096), &[9])).unwrap();
                stream.push(&copy(0, 0).with_sync(true)).unwrap();
            });
            rig.kinds()
        };
        assert_eq!((run(true), run(false)), (vec![], vec![HazardKind::Race]), "{chip}");
    }
}

#[test]
fn copies_of_a_copy_engine_that_depend_on_each_other_have_a_packet_that_waits_in_between() {
    for chip in CHIPS.into_iter().chain(["gfx1201"]) {
        let run = |waits: bool| {
            let rig = Rig::new(chip, Ip::Sdma);
            rig.poke(0, 1);
            let version = sdma::Version::of(rig.device.info().gfx_level);
            let mut stream = Stream::new(&rig.device, version, 256).unwrap();
            stream.push(&sdma::CopyLinear::new(rig.at(4096), rig.at(0), 4)).unwrap();
            if waits {
                stream.push(&sdma::Fence::new(version, rig.at(4160), 1)).unwrap();
            }
            stream.push(&sdma::CopyLinear::new(rig.at(4224), rig.at(4096), 4)).unwrap();
            let (list, memory) = (stream.finish().unwrap(), [rig.memory.binding().clone()]);
            let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
            assert!(rig.queue.submit(&submission).unwrap().wait(Deadline::NEVER).unwrap());
            rig.kinds()
        };
        assert_eq!((run(true), run(false)), (vec![], vec![HazardKind::Race]), "{chip}");
    }
}
