//! Draws whose counts, sizes, shapes and resources contradict each other or the chip. None ends in a panic, runs on without end or fills memory;
//! what a card could not do is reported, and the device draws again.

use std::time::{Duration, Instant};

use amdgpu_winsys::{cs::registers as r, cs::registers::Register, winsys::GfxLevel};

use crate::{CHIPS, rig::Rig};

/// Chips where the many values of a register are tried: of legacy stages, of both kinds, and of NGG.
const FEW: [&str; 5] = ["pitcairn", "polaris10", "navi10", "navi31", "gfx1201"];
/// The pixels that the plain draw covers, and a few more.
const MOST: usize = 64 * 65 / 2;
/// The peak of memory that all draws of this file may need, in KiB. A simulated device takes a few dozen MiB.
const MOST_KIB: u64 = 3 << 20;
/// Longer than the limit of a job by far.
const SOON: Duration = Duration::from_secs(40);

/// Returns the header of a packet of type 3 in front of its dwords.
fn packet(opcode: u32, dwords: &[u32]) -> Vec<u32> {
    [&[3 << 30 | (dwords.len() as u32 - 1) << 16 | opcode << 8][..], dwords].concat()
}

/// Returns SET_BASE with the address of arguments of draws.
fn base(va: u64) -> Vec<u32> {
    packet(0x11, &[1, va as u32, (va >> 32) as u32])
}

/// Returns DRAW_INDEX_2 with a number of indices at an address.
fn indexed(va: u64, most: u32, count: u32) -> Vec<u32> {
    packet(0x27, &[most, va as u32, (va >> 32) as u32, count, 0])
}

/// Returns the peak of this process's memory in KiB.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// Returns `true` if the simulator has said why a draw did not do what it should.
fn is_reported(rig: &Rig) -> bool {
    rig.has_faulted() || !rig.sim.complaints().is_empty() || !rig.sim.hangs().is_empty()
}

/// Draws what is absurd: it ends soon, in bounded memory, and is reported where it does not end by itself. Returns whether it ended by itself.
fn ends(rig: &Rig, what: &str) -> bool {
    let start = Instant::now();
    let ended = rig.draw();
    assert!(start.elapsed() < SOON, "{what}: {:?}", start.elapsed());
    assert!(ended || is_reported(rig), "{what}");
    assert!(peak() < MOST_KIB, "{what}: {} KiB", peak());
    ended
}

#[test]
fn targets_without_pixels_end() {
    for chip in CHIPS {
        let mut rig = Rig::new(chip);
        for register in [r::CB_COLOR0_ATTRIB2, r::CB_COLOR0_PITCH, r::CB_COLOR0_SLICE] {
            rig.set(register, 0);
        }
        ends(&rig, chip);
        // Scissors bound a draw, not the size of its target.
        assert!(rig.changed() <= MOST, "{chip}: {}", rig.changed());
    }
}

#[test]
fn targets_of_any_size_in_little_memory_end() {
    for chip in FEW {
        let mut rig = Rig::new(chip);
        for register in [r::CB_COLOR0_ATTRIB2, r::CB_COLOR0_PITCH, r::CB_COLOR0_SLICE, r::CB_COLOR0_VIEW] {
            rig.set(register, u32::MAX);
        }
        for register in [r::PA_SC_SCREEN_SCISSOR_BR, r::PA_SC_WINDOW_SCISSOR_BR, r::PA_SC_GENERIC_SCISSOR_BR] {
            rig.set(register, 16384 | 16384 << 16);
        }
        rig.set(r::PA_SC_VPORT_SCISSOR_0_BR, 16384 | 16384 << 16);
        rig.set(r::PA_CL_VPORT_XSCALE, 8192.0_f32.to_bits());
        rig.set(r::PA_CL_VPORT_YSCALE, 8192.0_f32.to_bits());
        ends(&rig, chip);
    }
}

#[test]
fn instances_without_end_are_reset() {
    for chip in ["polaris10", "navi10", "navi31"] {
        let mut rig = Rig::new(chip);
        rig.instances = u32::MAX;
        assert!(!ends(&rig, chip), "{chip}");
    }
}

#[test]
fn no_vertices_and_no_instances_draw_nothing() {
    for chip in CHIPS {
        let mut rig = Rig::new(chip);
        rig.vertices = 0;
        assert!(ends(&rig, chip) && rig.changed() == 0, "{chip}");
    }
}

#[test]
fn indices_outside_of_memory_are_a_page_fault() {
    for chip in FEW {
        // Below all memory; at the end of the lower half of addresses, and at the end of all, behind which there are none.
        for va in [0x10, 0x7fff_ffff_fffc, u64::MAX - 1] {
            for count in [3, u32::MAX] {
                let mut rig = Rig::new(chip);
                rig.set(r::PA_SC_SCREEN_SCISSOR_BR, 0);
                rig.packets = indexed(va, u32::MAX, count);
                let what = format!("{chip}: {count} at {va:#x}");
                let ended = ends(&rig, &what);
                assert!(!ended || rig.has_faulted(), "{what}: {:?}", rig.sim.complaints());
            }
        }
    }
}

#[test]
fn indirect_draws_with_absurd_arguments_end() {
    let max = u32::MAX;
    for chip in ["bonaire", "vega10", "navi21", "navi31", "gfx1201"] {
        let mut rig = Rig::new(chip);
        rig.set(r::PA_SC_SCREEN_SCISSOR_BR, 0);
        let own = rig.arguments(&[max; 8]);
        let nowhere = 0x10;
        for (name, draw) in [
            ("one", packet(0x24, &[0, 0, 0, 2])),
            ("one, indexed", packet(0x25, &[0, 0, 0, 0])),
            // As many as a packet can tell, all of the same arguments, or of others without end.
            ("many", packet(0x2c, &[0, 0, 0, 0, max, 0, 0, 0, 2])),
            ("many, apart", packet(0x2c, &[0, 0, 0, 0, max, 0, 0, max, 2])),
            ("many, counted nowhere", packet(0x2c, &[0, 0, 0, 1 << 30, max, 0x10, 0, 16, 2])),
            ("far", packet(0x24, &[max - 3, 0, 0, 2])),
        ] {
            for at in [own, nowhere] {
                rig.packets = [base(at), draw.clone()].concat();
                ends(&rig, &format!("{chip}: {name} at {at:#x}"));
            }
        }
        // Registers beyond those of shaders get the first vertex.
        rig.packets = [base(own), packet(0x24, &[0, 0xffff, 0xffff, 2])].concat();
        ends(&rig, &format!("{chip}: registers"));
    }
}

#[test]
fn scissors_that_end_before_they_begin_draw_nothing() {
    for chip in CHIPS {
        for (first, end) in [
            (r::PA_SC_SCREEN_SCISSOR_TL, r::PA_SC_SCREEN_SCISSOR_BR),
            (r::PA_SC_VPORT_SCISSOR_0_TL, r::PA_SC_VPORT_SCISSOR_0_BR),
            (r::PA_SC_GENERIC_SCISSOR_TL, r::PA_SC_GENERIC_SCISSOR_BR),
        ] {
            let mut rig = Rig::new(chip);
            rig.set(first, 0x28 | 0x28 << 16);
            rig.set(end, 0x14 | 0x14 << 16);
            assert!(ends(&rig, chip), "{chip}: {:?}", rig.sim.complaints());
            assert_eq!(rig.changed(), 0, "{chip}");
        }
    }
}

#[test]
fn samples_that_contradict_each_other_end_and_touch_no_other_memory() {
    for chip in FEW {
        for log2 in 0..8 {
            let mut rig = Rig::new(chip);
            // As many samples as this on the screen, of which the target has one; with the places of 0.
            rig.set(r::PA_SC_AA_CONFIG, log2 | log2 << 20 | 0xf << 13);
            rig.set(r::PA_SC_MODE_CNTL_0, 1);
            rig.set(r::DB_EQAA, u32::MAX >> log2);
            ends(&rig, &format!("{chip}: {log2}"));
            assert!(rig.changed() <= MOST, "{chip}: {log2}: {}", rig.changed());
        }
    }
}

#[test]
fn primitives_and_stages_that_do_not_exist_end() {
    for chip in FEW {
        for value in [0, 3, 10, 18, 22, 31, 63, u32::MAX] {
            let mut rig = Rig::new(chip);
            rig.set(r::VGT_PRIMITIVE_TYPE, value);
            ends(&rig, &format!("{chip}: primitive {value}"));
        }
        for (register, value) in [
            (r::VGT_SHADER_STAGES_EN, u32::MAX),
            (r::VGT_SHADER_STAGES_EN, 0),
            (r::VGT_GS_OUT_PRIM_TYPE, u32::MAX),
            (r::GE_NGG_SUBGRP_CNTL, 0),
            (r::GE_NGG_SUBGRP_CNTL, u32::MAX),
            (r::VGT_GS_ONCHIP_CNTL, u32::MAX),
            (r::GE_MAX_OUTPUT_PER_SUBGROUP, 0),
            (r::GE_CNTL, u32::MAX),
            (r::GE_CNTL, 0),
            (r::VGT_GS_INSTANCE_CNT, u32::MAX),
            (r::VGT_LS_HS_CONFIG, u32::MAX),
            (r::IA_MULTI_VGT_PARAM, u32::MAX),
            (r::SPI_SHADER_IDX_FORMAT, u32::MAX),
        ] {
            let mut rig = Rig::new(chip);
            rig.set(register, value);
            ends(&rig, &format!("{chip}: {register:?} {value:#x}"));
            assert!(rig.changed() <= MOST, "{chip}: {register:?}");
        }
    }
}

#[test]
fn attributes_and_exports_that_no_shader_makes_end() {
    for chip in FEW {
        for (register, value) in [
            (r::SPI_PS_IN_CONTROL, 63),
            (r::SPI_PS_IN_CONTROL, u32::MAX),
            (r::SPI_PS_INPUT_CNTL_0, 31),
            (r::SPI_PS_INPUT_CNTL_0, u32::MAX),
            (r::SPI_PS_INPUT_ENA, u32::MAX),
            (r::SPI_PS_INPUT_ENA, 0),
            (r::SPI_PS_INPUT_ADDR, u32::MAX),
            (r::PA_CL_VS_OUT_CNTL, u32::MAX),
            (r::SPI_VS_OUT_CONFIG, u32::MAX),
            (r::SPI_SHADER_POS_FORMAT, u32::MAX),
            (r::SPI_SHADER_POS_FORMAT, 0),
            (r::SPI_SHADER_COL_FORMAT, u32::MAX),
            (r::SPI_SHADER_Z_FORMAT, u32::MAX),
            (r::DB_SHADER_CONTROL, u32::MAX),
            (r::CB_SHADER_MASK, u32::MAX),
            (r::CB_TARGET_MASK, u32::MAX),
            (r::CB_COLOR_CONTROL, u32::MAX),
            (r::CB_COLOR0_INFO, u32::MAX),
            (r::CB_COLOR0_ATTRIB, u32::MAX),
            (r::CB_COLOR0_ATTRIB3, u32::MAX),
            (r::CB_COLOR0_VIEW, u32::MAX),
            (r::PA_CL_CLIP_CNTL, u32::MAX),
            (r::PA_CL_VTE_CNTL, 0),
            (r::PA_SU_VTX_CNTL, u32::MAX),
            (r::PA_SC_WINDOW_OFFSET, u32::MAX),
            (r::PA_SC_CLIPRECT_RULE, 0),
            (r::PA_CL_GB_VERT_CLIP_ADJ, f32::NAN.to_bits()),
        ] {
            let mut rig = Rig::new(chip);
            rig.set(register, value);
            ends(&rig, &format!("{chip}: {register:?} {value:#x}"));
        }
    }
}

#[test]
fn a_depth_target_that_nobody_has_set_up_ends() {
    for chip in CHIPS {
        for value in [3, u32::MAX, 1 | 3 << 2] {
            let mut rig = Rig::new(chip);
            rig.set(r::DB_Z_INFO, value);
            rig.set(r::DB_STENCIL_INFO, value);
            rig.set(r::DB_DEPTH_CONTROL, 1 | 2 | 4 | 3 << 4);
            ends(&rig, &format!("{chip}: {value:#x}"));
            assert!(rig.changed() <= MOST, "{chip}: {value:#x}");
        }
    }
}

#[test]
fn more_registers_than_a_program_can_have_end() {
    for chip in FEW {
        for register in [
            r::SPI_SHADER_PGM_RSRC1_PS,
            r::SPI_SHADER_PGM_RSRC2_PS,
            r::SPI_SHADER_PGM_RSRC1_VS,
            r::SPI_SHADER_PGM_RSRC2_VS,
            r::SPI_SHADER_PGM_RSRC1_GS,
            r::SPI_SHADER_PGM_RSRC2_GS,
        ] {
            for value in [0, u32::MAX] {
                let mut rig = Rig::new(chip);
                rig.set(register, value);
                ends(&rig, &format!("{chip}: {register:?} {value:#x}"));
                assert!(rig.changed() <= MOST, "{chip}: {register:?}");
            }
        }
    }
}

#[test]
fn programs_of_noughts_and_of_ones_hang_or_end() {
    for chip in FEW {
        for word in [0, u32::MAX, 0x5555_5555] {
            for is_pixel in [false, true] {
                let rig = Rig::new(chip);
                let program = [word; 512];
                if is_pixel {
                    rig.pixel_shader(&program);
                } else {
                    rig.vertex_shader(&program);
                }
                ends(&rig, &format!("{chip}: {word:#x}"));
                assert_eq!(rig.changed(), 0, "{chip}: {word:#x}");
            }
        }
    }
}

#[test]
fn an_endless_vertex_shader_hangs_and_is_reset() {
    for chip in CHIPS {
        let rig = Rig::new(chip);
        // s_branch to itself: operation 2 of SOPP, from GFX11 on 32.
        let branch = if rig.level >= GfxLevel::Gfx11 { 0xbfa0_ffff } else { 0xbf82_ffff };
        rig.vertex_shader(&[branch; 64]);
        assert!(!ends(&rig, chip), "{chip}");
        assert_eq!(rig.changed(), 0, "{chip}");
    }
}

#[test]
fn vertices_in_no_place_draw_nothing() {
    let [nan, far, tiny] = [f32::NAN, f32::INFINITY, f32::MIN_POSITIVE];
    for chip in CHIPS {
        for corners in [
            [[nan; 4]; 3],
            [[far; 4], [-far, far, 0.0, 1.0], [0.0, 0.0, 0.0, far]],
            [[-1.0, -1.0, 0.5, 0.0], [1.0, -1.0, 0.5, 0.0], [-1.0, 1.0, 0.5, 0.0]],
            [[-1.0, -1.0, 0.5, -1.0], [1.0, -1.0, 0.5, -1.0], [-1.0, 1.0, 0.5, -1.0]],
            [[0.0, 0.0, 0.0, tiny]; 3],
        ] {
            let rig = Rig::new(chip);
            rig.corners(&corners);
            assert!(ends(&rig, chip), "{chip}: {corners:?}: {:?}", rig.sim.complaints());
            assert_eq!((rig.changed(), rig.has_faulted()), (0, false), "{chip}: {corners:?}");
        }
        // Vertices as far away as numbers go are a triangle that may cover pixels.
        let rig = Rig::new(chip);
        rig.corners(&[[f32::MIN, f32::MIN, 0.5, 1.0], [f32::MAX, f32::MIN, 0.5, 1.0], [f32::MIN, f32::MAX, 0.5, tiny]]);
        ends(&rig, chip);
    }
}

#[test]
fn widths_and_sizes_beyond_all_measure_end() {
    for chip in FEW {
        for topology in [1, 2, 3] {
            let mut rig = Rig::new(chip);
            rig.set(r::VGT_PRIMITIVE_TYPE, topology);
            rig.set(r::PA_SU_POINT_SIZE, u32::MAX);
            rig.set(r::PA_SU_LINE_CNTL, u32::MAX);
            rig.set(r::PA_CL_VPORT_XSCALE, f32::MAX.to_bits());
            for register in [r::PA_SC_SCREEN_SCISSOR_BR, r::PA_SC_VPORT_SCISSOR_0_BR] {
                rig.set(register, 0x7fff_7fff);
            }
            ends(&rig, &format!("{chip}: topology {topology}"));
        }
    }
}

#[test]
fn the_device_draws_again_behind_all_of_it() {
    let absurd: [&[(Register, u32)]; 4] = [
        &[(r::VGT_PRIMITIVE_TYPE, 63)],
        &[(r::SPI_SHADER_PGM_RSRC1_PS, u32::MAX), (r::SPI_SHADER_PGM_RSRC2_PS, u32::MAX)],
        &[(r::CB_COLOR0_INFO, u32::MAX), (r::CB_COLOR0_ATTRIB, u32::MAX)],
        &[(r::SPI_SHADER_PGM_LO_PS, 0x10), (r::SPI_SHADER_PGM_HI_PS, 0)],
    ];
    for chip in FEW {
        let mut rig = Rig::new(chip);
        let sane = rig.writes.clone();
        for writes in absurd {
            for (register, value) in writes {
                rig.set(*register, *value);
            }
            ends(&rig, chip);
            rig.writes.clone_from(&sane);
        }
        assert!(rig.draw(), "{chip}: {:?}", rig.sim.complaints());
        assert!(rig.changed() >= 64 * 63 / 2, "{chip}: {}", rig.changed());
    }
}
