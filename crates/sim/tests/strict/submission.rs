//! Rules about addresses: those of arguments, and the memory behind code.

use amdgpu_sim::{
    HazardKind,
    gpu::{Client, Reach, Scene, Shaders, Unfinished, Work},
};
use amdgpu_winsys::{
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
