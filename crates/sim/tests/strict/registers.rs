//! Registers that keep what another process has left on a ring, unless each job sets them.

use amdgpu_sim::{HazardKind, HazardReport};
use amdgpu_winsys::{
    cs::{
        Stream,
        pm4::{DispatchDirect, HeaderFlags, Ring, Target},
        registers::{self as r, Register, SetRegisters},
    },
    winsys::{GfxLevel, Ip},
};

use crate::{CHIPS, Rig, start_alone};

/// The byte offsets of blocks of registers of dispatches, and of draws, with the lengths in dwords.
const OF_DISPATCHES: [(u32, usize); 2] = [(0xb810, 44), (0xb9f4, 1)];
const OF_DRAWS: [(u32, usize); 4] = [(0xb01c, 5), (0xb120, 4), (0xb220, 4), (0xb320, 4)];

/// DRAW_INDEX_AUTO, and CLEAR_STATE.
const DRAW: [u32; 3] = [0xc001_2d00, 3, 2];
const CLEAR_STATE: [u32; 2] = [0xc000_1200, 0];

fn set(stream: &mut Stream<Target>, first: u32, dwords: usize) {
    stream.push(&SetRegisters::new(first, &vec![0; dwords])).unwrap();
}

/// Sets all registers on which work of the ring depends.
pub(crate) fn set_all(stream: &mut Stream<Target>) {
    let target = stream.language();
    for (first, dwords) in OF_DISPATCHES {
        set(stream, first, dwords);
    }
    if target.ring == Ring::Gfx {
        for (first, dwords) in OF_DRAWS {
            set(stream, first, dwords);
        }
        set(stream, r::VGT_PRIMITIVE_TYPE.offset(target.level).unwrap(), 1);
        for register in [r::SPI_SHADER_PGM_LO_ES, r::SPI_SHADER_PGM_HI_ES] {
            register.offset(target.level).into_iter().for_each(|place| set(stream, place, 1));
        }
        match target.level {
            // GFX12 has no CLEAR_STATE.
            GfxLevel::Gfx12 => set(stream, 0x28000, 1024),
            _ => stream.reserve(2).unwrap().copy_from_slice(&CLEAR_STATE),
        }
    }
}

/// Sets the registers of dispatches but for one.
fn set_others(stream: &mut Stream<Target>, left_out: u32) {
    let all = OF_DISPATCHES.into_iter().flat_map(|(first, dwords)| (first..).step_by(4).take(dwords));
    all.filter(|place| *place != left_out).for_each(|place| set(stream, place, 1));
}

fn is_about(report: &HazardReport, register: Register) -> bool {
    report.kind == HazardKind::Submission
        && report.later.contains("DISPATCH_DIRECT")
        && report.missing.starts_with(&format!("{} in the same submission", register.name()))
}

#[test]
fn a_dispatch_depends_on_registers_that_its_own_job_has_set() {
    let registers = [
        (r::COMPUTE_PGM_LO, GfxLevel::Gfx6),
        (r::COMPUTE_PGM_HI, GfxLevel::Gfx6),
        (r::COMPUTE_PGM_RSRC1, GfxLevel::Gfx6),
        (r::COMPUTE_PGM_RSRC2, GfxLevel::Gfx6),
        (r::COMPUTE_PGM_RSRC3, GfxLevel::Gfx10),
        (r::COMPUTE_RESOURCE_LIMITS, GfxLevel::Gfx6),
        (r::COMPUTE_NUM_THREAD_X, GfxLevel::Gfx6),
        (r::COMPUTE_NUM_THREAD_Z, GfxLevel::Gfx6),
        (r::COMPUTE_STATIC_THREAD_MGMT_SE0, GfxLevel::Gfx6),
        (r::COMPUTE_STATIC_THREAD_MGMT_SE3, GfxLevel::Gfx7),
        (r::COMPUTE_STATIC_THREAD_MGMT_SE7, GfxLevel::Gfx11),
        (r::COMPUTE_USER_ACCUM_2, GfxLevel::Gfx10),
        (r::COMPUTE_DISPATCH_INTERLEAVE, GfxLevel::Gfx11),
        (r::COMPUTE_START_Y, GfxLevel::Gfx6),
    ];
    for (chip, ip) in CHIPS.into_iter().flat_map(|chip| [(chip, Ip::Gfx), (chip, Ip::Compute)]) {
        let complete = Rig::new(chip, ip);
        complete.run_bare(|stream| {
            set_others(stream, 0);
            start_alone(stream);
        });
        assert!(complete.gpu.hazards().is_empty(), "{chip} {ip}: {:?}", complete.gpu.hazards());
        for (register, since) in registers {
            let rig = Rig::new(chip, ip);
            let Some(place) = register.offset(rig.level()).filter(|_| rig.level() >= since) else { continue };
            rig.run_bare(|stream| {
                set_others(stream, place);
                start_alone(stream);
            });
            assert!(is_about(&rig.only(), register), "{chip} {ip}: {}", rig.only());
        }
        // Another job, even of the same process, is not enough: others may run in between.
        let later = Rig::new(chip, ip);
        later.run_bare(|stream| set_others(stream, 0));
        later.run_bare(start_alone);
        assert!(later.only().missing.contains("COMPUTE_PGM_LO"), "{chip} {ip}: {}", later.only());
    }
}

#[test]
fn registers_that_a_dispatch_does_not_use_need_not_be_set() {
    const FORCE_START_AT_000: u32 = 1 << 2;
    const SCRATCH_EN: u32 = 1;
    for chip in CHIPS {
        let rig = Rig::new(chip, Ip::Compute);
        let start = r::COMPUTE_START_X.offset(rig.level()).unwrap();
        rig.run_bare(|stream| {
            set_others(stream, start);
            let initiator = 1 | FORCE_START_AT_000;
            stream.push(&DispatchDirect { flags: HeaderFlags::empty(), x: 1, y: 1, z: 1, initiator }).unwrap();
        });
        assert!(rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
        for resources in [0, SCRATCH_EN] {
            let rig = Rig::new(chip, Ip::Compute);
            let ring = r::COMPUTE_TMPRING_SIZE.offset(rig.level()).unwrap();
            rig.run_bare(|stream| {
                set_others(stream, ring);
                let second = r::COMPUTE_PGM_RSRC2.offset(stream.language().level).unwrap();
                stream.push(&SetRegisters::new(second, &[resources])).unwrap();
                start_alone(stream);
            });
            let found: Vec<_> = rig.gpu.hazards();
            assert_eq!(found.len() as u32, resources, "{chip}: {found:?}");
            assert!(found.iter().all(|report| is_about(report, r::COMPUTE_TMPRING_SIZE)), "{chip}: {found:?}");
        }
    }
}

#[test]
fn a_draw_depends_on_registers_that_its_own_job_has_set_and_clear_state_sets_those_of_a_context() {
    for chip in CHIPS {
        let run = |clears: bool| {
            let rig = Rig::new(chip, Ip::Gfx);
            rig.run_bare(|stream| {
                if clears {
                    stream.reserve(2).unwrap().copy_from_slice(&CLEAR_STATE);
                }
                stream.reserve(3).unwrap().copy_from_slice(&DRAW);
            });
            rig.only().missing
        };
        let (cleared, bare) = (run(true), run(false));
        for needed in ["SPI_SHADER_PGM_LO_PS", "VGT_PRIMITIVE_TYPE", "SPI_SHADER_PGM_RSRC1_"] {
            assert!(cleared.contains(needed) && bare.contains(needed), "{chip}: {cleared}");
        }
        for of_context in ["CB_TARGET_MASK", "VGT_SHADER_STAGES_EN", "PA_SC_MODE_CNTL_0"] {
            assert!(!cleared.contains(of_context) && bare.contains(of_context), "{chip}: {cleared}; {bare}");
        }
        let complete = Rig::new(chip, Ip::Gfx);
        complete.run(|stream| stream.reserve(3).unwrap().copy_from_slice(&DRAW));
        assert!(complete.gpu.hazards().is_empty(), "{chip}: {:?}", complete.gpu.hazards());
    }
}
