//! The mode that shows what a real chip would: a stream with a hazard gives wrong bytes, and the same stream without it gives those of
//! the other modes.

use amdgpu_sim::{
    HazardKind, Strictness,
    gpu::{Client, Reach},
};
use amdgpu_winsys::{
    cs::pm4::{AcquireMem, CacheActions, Compare, WaitRegMem},
    winsys::{GfxLevel, Ip},
};

use crate::{
    CHIPS, Rig,
    fronts::{Act, Script},
    start,
};

fn bites(chip: &str, ip: Ip) -> Rig {
    Rig::strictly(chip, ip, Strictness::Bite)
}

#[test]
fn a_load_gives_the_old_bytes_of_each_cache_of_shaders() {
    for chip in CHIPS {
        for client in [Client::Vector, Client::Scalar, Client::Instructions] {
            let run = |actions: CacheActions| {
                let rig = bites(chip, Ip::Compute);
                let load = [Act::Load(client, Reach::Unit)];
                let loaded = Script::plug(&rig, &[&load, &[Act::Store(7)], &load, &load]);
                rig.run(|stream| {
                    start(stream);
                    start(stream);
                    AcquireMem::each(rig.target(), actions).for_each(|acquire| stream.push(&acquire).unwrap());
                    start(stream);
                    start(stream);
                });
                let loaded = loaded.lock().clone();
                (loaded, rig.gpu.hazards().len())
            };
            let all = CacheActions::ACQUIRE - CacheActions::INVALIDATE_L2;
            assert_eq!(run(all), (vec![0, 7, 7], 0), "{chip} {client:?}");
            let (loaded, hazards) = run(CacheActions::empty());
            assert_eq!(loaded, [0, 0, 0], "{chip} {client:?}: the cache keeps its line");
            assert!(hazards > 0, "{chip} {client:?}");
        }
    }
}

#[test]
fn a_copy_gives_the_old_bytes_of_l2() {
    let run = |acquires: bool| {
        let rig = bites("navi21", Ip::Compute);
        for value in [1, 2] {
            rig.poke(0, value);
            rig.run(|stream| {
                if acquires {
                    stream.acquire().unwrap();
                }
                rig.copy(stream);
            });
        }
        (rig.peek(4096), rig.gpu.hazards().len())
    };
    assert_eq!((run(false), run(true)), ((1, 1), (2, 0)));
}

#[test]
fn a_reader_behind_l2_does_not_find_what_is_still_there() {
    for chip in ["pitcairn", "polaris10"] {
        let run = |actions: CacheActions| {
            let rig = bites(chip, Ip::Compute);
            Script::plug(&rig, &[&[Act::Store(7)]]);
            rig.poke(4096, 5);
            rig.run(|stream| {
                start(stream);
                AcquireMem::each(rig.target(), actions).for_each(|acquire| stream.push(&acquire).unwrap());
                rig.copy(stream);
            });
            (rig.peek(4096), rig.kinds())
        };
        assert_eq!(run(CacheActions::empty()), (0, vec![HazardKind::NotWrittenBack]), "{chip}");
        assert_eq!(run(CacheActions::WRITE_BACK_L2), (7, vec![]), "{chip}");
    }
}

#[test]
fn a_wait_finds_what_the_job_itself_wrote() {
    for chip in CHIPS {
        let rig = bites(chip, Ip::Compute);
        rig.run(|stream| {
            stream.end_of_pipe(amdgpu_winsys::cs::pm4::EndOfPipe::fence(rig.at(0), 1)).unwrap();
            stream.push(&WaitRegMem::new(rig.at(0), Compare::Equal, 1)).unwrap();
        });
        assert!(rig.level() < GfxLevel::Gfx12 && rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
        assert_eq!(rig.peek(0), 1);
    }
}
