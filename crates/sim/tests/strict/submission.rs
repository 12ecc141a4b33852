//! Rules about addresses: those of arguments, and the memory behind code.

use amdgpu_sim::{
    HazardKind,
    gpu::{Client, Reach, Scene, Shaders, Unfinished, Work},
};
use amdgpu_winsys::{
    cs::pm4::{AcquireMem, CacheActions, Gcr, IndirectBuffer},
    vamgr::GpuVa,
    winsys::{GfxLevel, Ip},
};
use std::sync::Arc;

use crate::{CHIPS, Rig, start};

/// Runs an indirect dispatch of MEC with arguments at an offset.
fn indirect(chip: &str, offset: u64) -> Vec<HazardKind> {
    let rig = Rig::new(chip, Ip::Compute);
    for at in [0, 4, 8] {
        rig.poke(offset + at, 1);
    }
    let va = rig.at(offset).as_u64();
    rig.run(|stream| {
        // DISPATCH_INDIRECT of MEC has an address.
        stream.reserve(4).unwrap().copy_from_slice(&[0xc002_1602, va as u32, (va >> 32) as u32, 0]);
    });
    rig.kinds()
}

#[test]
fn arguments_for_mec_of_gfx7_are_aligned_to_32_bytes() {
    for chip in ["bonaire", "polaris10", "vega10", "navi21", "gfx1201"] {
        assert_eq!(indirect(chip, 64), [], "{chip}");
        let expected = if chip == "bonaire" { vec![HazardKind::Submission] } else { vec![] };
        assert_eq!(indirect(chip, 68), expected, "{chip}");
    }
}

#[test]
fn ibs_begin_at_multiples_of_32_bytes_and_have_multiples_of_8_dwords() {
    const TYPE_3_NOPS: [u32; 8] = [0xc006_1000, 0, 0, 0, 0, 0, 0, 0];
    for chip in CHIPS {
        for (offset, dwords, count) in [(64, 8, 0), (80, 8, 1), (64, 4, 1), (68, 8, 1)] {
            let rig = Rig::new(chip, Ip::Gfx);
            let len = dwords as usize;
            for (at, dword) in (offset..).step_by(4).zip(&TYPE_3_NOPS[..len]) {
                rig.poke(at, *dword);
            }
            rig.poke(offset, 0xc000_1000 | (dwords - 2) << 16);
            rig.run(|stream| stream.push(&IndirectBuffer::call(rig.at(offset), dwords)).unwrap());
            let found = rig.gpu.hazards();
            assert_eq!(found.len(), count, "{chip} {offset} {dwords}: {found:?}");
            assert!(found.iter().all(|report| report.later.starts_with("command fetch")), "{chip}: {found:?}");
        }
    }
}

#[test]
fn an_invalidation_of_l2_without_a_write_back_is_doubtful_from_gfx10_on() {
    let both = Gcr::GL2_INVALIDATE | Gcr::GL2_WRITE_BACK;
    for chip in ["navi10", "navi21", "navi31", "gfx1201"] {
        for (gcr, count) in [(both, 0), (Gcr::GL2_WRITE_BACK, 0), (Gcr::GL2_INVALIDATE, 1)] {
            let rig = Rig::new(chip, Ip::Compute);
            let all = AcquireMem::all(rig.target(), CacheActions::empty());
            rig.run(|stream| stream.push(&AcquireMem { gcr, ..all }).unwrap());
            let found = rig.gpu.hazards();
            assert_eq!(found.len(), count, "{chip} {gcr:?}: {found:?}");
            assert!(found.iter().all(|report| report.missing.contains("may discard dirty lines")), "{chip}: {found:?}");
        }
    }
}

/// A shader executor whose dispatches fetch an instruction this many bytes before the end of the mapped memory behind an address.
struct Fetch(GpuVa, u64);

impl Shaders for Fetch {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        if let Work::Dispatch(_) = work {
            scene.memory.route(Client::Vector, Reach::Unit);
            let mut end = self.0;
            while scene.memory.read(end, &mut [0]).is_ok() {
                end = end.checked_add(4096).unwrap();
            }
            let va = GpuVa::new(end.as_u64() - self.1).unwrap();
            scene.memory.read_code(va, &mut [0; 4]).unwrap();
        }
        Ok(())
    }
}

#[test]
fn what_is_prefetched_behind_code_is_mapped_from_gfx10_on() {
    for chip in CHIPS.into_iter().chain(["gfx1201"]) {
        let run = |before: u64| {
            let rig = Rig::new(chip, Ip::Compute);
            rig.gpu.plug_shaders(Arc::new(Fetch(rig.at(0), before)));
            rig.run(start);
            (rig.gpu.hazards(), rig.level())
        };
        let (none, level) = run(256 + 4);
        assert!(none.is_empty(), "{chip}: {none:?}");
        let (reports, _) = run(4);
        if level >= GfxLevel::Gfx10 {
            assert_eq!(reports.len(), 1, "{chip}: {reports:?}");
            assert!(reports[0].kind == HazardKind::Submission && reports[0].missing.contains("prefetch"), "{chip}");
        } else {
            assert!(reports.is_empty(), "{chip}: {reports:?}");
        }
    }
}
