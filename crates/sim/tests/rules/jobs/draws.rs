//! Draws: what a rectangle leaves in memory on every generation, and what becomes of draws that cannot be executed.

#![allow(clippy::decimal_bitwise_operands, reason = "fields are composed of decimal numbers")]

use std::time::Duration;

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, assemble};
use amdgpu_registers::named;
use amdgpu_sim::{SimDevice, SimOptions, Strictness, profile};
use amdgpu_uapi::Errno;
use amdgpu_winsys::winsys::Ip;

use crate::support::{DATA, Rig, card, device, hanging_for, reference};

/// Offsets in the data: the programs, the picture of 64 x 64 pixels of four bytes, and the counts of samples.
const VERTEX: u64 = 0x4000;
const PIXEL: u64 = 0x5000;
const PICTURE: u64 = 0x4_0000;
const COUNTS: u64 = 0x6000;
const SIDE: u64 = 64;
/// The content of the picture before, and the colour that the pixel shader writes: opaque red.
const BEFORE: u32 = 0x1122_3344;
const RED: u32 = 0xff00_00ff;

/// Computes three corners of the view volume from the number of a vertex in `index`, and exports them.
fn vertex_program(index: &str, exports: &[&'static str]) -> Vec<String> {
    let mut lines: Vec<String> = vec!["v_mov_b32_e32 v20, 1.0".into(), "v_mov_b32_e32 v21, -1.0".into()];
    for (corner, register) in [(2, "v22"), (1, "v23")] {
        lines.push(format!("v_cmp_eq_u32_e32 vcc, {corner}, {index}"));
        lines.push(format!("v_cndmask_b32_e32 {register}, v21, v20, vcc"));
    }
    lines.push("v_mov_b32_e32 v24, 0".into());
    lines.extend(exports.iter().map(|line| (*line).to_owned()));
    lines.push("exp pos0 v22, v23, v24, v20 done".into());
    lines.push("s_endpgm".into());
    lines
}

/// The registers of a draw, by name, and its count.
struct Draw {
    level: GfxLevel,
    registers: Vec<(&'static str, u32)>,
    vertex: Vec<String>,
    pixel: Vec<String>,
    count: u32,
}

impl Draw {
    /// A rectangle over the whole view volume, of which the scissor leaves columns 8 to 23 and rows 8 to 15.
    fn new(level: GfxLevel) -> Self {
        let is_ngg = level >= GfxLevel::Gfx11;
        let at = |offset: u64| ((DATA + offset) >> 8) as u32;
        let program: [(&str, u32); 4] = if is_ngg {
            [
                ("SPI_SHADER_PGM_LO_ES", at(VERTEX)),
                ("SPI_SHADER_PGM_HI_ES", 0),
                ("SPI_SHADER_PGM_RSRC1_GS", 7 | 0xc0 << 12),
                ("SPI_SHADER_PGM_RSRC2_GS", 0),
            ]
        } else {
            [
                ("SPI_SHADER_PGM_LO_VS", at(VERTEX)),
                ("SPI_SHADER_PGM_HI_VS", 0),
                ("SPI_SHADER_PGM_RSRC1_VS", 7 | 0xc0 << 12),
                ("SPI_SHADER_PGM_RSRC2_VS", 0),
            ]
        };
        let half = 32.0_f32.to_bits();
        let mut registers = program.to_vec();
        registers.extend([
            ("VGT_PRIMITIVE_TYPE", 17),
            // PRIMGEN_EN, PRIMGEN_PASSTHRU_EN and PRIMGEN_PASSTHRU_NO_MSG.
            ("VGT_SHADER_STAGES_EN", if is_ngg { 2 << 3 | 1 << 13 | 3 << 25 } else { 0 }),
            ("VGT_GS_OUT_PRIM_TYPE", 3),
            ("SPI_SHADER_PGM_LO_PS", at(PIXEL)),
            ("SPI_SHADER_PGM_HI_PS", 0),
            ("SPI_SHADER_PGM_RSRC1_PS", 7 | 0xc0 << 12),
            ("SPI_SHADER_PGM_RSRC2_PS", 0),
            // No attributes: CLEAR_STATE leaves two.
            ("SPI_PS_IN_CONTROL", 0),
            ("SPI_PS_INPUT_ENA", 2),
            ("SPI_PS_INPUT_ADDR", 2),
            ("SPI_SHADER_POS_FORMAT", 4),
            ("SPI_SHADER_COL_FORMAT", 9),
            ("CB_TARGET_MASK", 15),
            ("CB_SHADER_MASK", 15),
            ("CB_COLOR_CONTROL", 0xcc << 16 | 1 << 4),
            ("PA_CL_VTE_CNTL", 0x43f),
            ("PA_CL_VPORT_XSCALE", half),
            ("PA_CL_VPORT_XOFFSET", half),
            ("PA_CL_VPORT_YSCALE", half),
            ("PA_CL_VPORT_YOFFSET", half),
            ("PA_CL_CLIP_CNTL", 1 << 19),
            ("PA_SU_VTX_CNTL", 1 | 2 << 1 | 5 << 3),
            ("PA_SC_MODE_CNTL_0", 2),
            ("PA_SC_VPORT_SCISSOR_0_TL", 1 << 31 | 8 | 8 << 16),
            ("PA_SC_VPORT_SCISSOR_0_BR", 24 | 16 << 16),
            ("DB_SHADER_CONTROL", 1 << 4),
            ("CB_COLOR0_BASE", at(PICTURE)),
            ("CB_COLOR0_VIEW", 0),
        ]);
        let last = SIDE as u32 - 1;
        match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => registers.extend([
                ("CB_COLOR0_INFO", 10 << 2),
                ("CB_COLOR0_PITCH", last / 8),
                ("CB_COLOR0_SLICE", last),
                // Rows, in the tables of all chips.
                ("CB_COLOR0_ATTRIB", 8),
            ]),
            GfxLevel::Gfx9 => registers.extend([
                ("CB_COLOR0_INFO", 10 << 2),
                ("CB_COLOR0_ATTRIB2", last | last << 14),
                ("CB_COLOR0_ATTRIB", 1 << 28),
                ("CB_MRT0_EPITCH", last),
            ]),
            _ => registers.extend([
                ("CB_COLOR0_INFO", if level >= GfxLevel::Gfx11 { 10 } else { 10 << 2 }),
                ("CB_COLOR0_ATTRIB2", last | last << 14),
                ("CB_COLOR0_ATTRIB3", 1 << 24),
                ("CB_COLOR0_ATTRIB", 0),
            ]),
        }
        let valid = if level >= GfxLevel::Gfx11 { "" } else { " vm" };
        let pixel = ["v_mov_b32_e32 v0, 1.0".into(), "v_mov_b32_e32 v1, 0".into()];
        Self {
            level,
            registers,
            vertex: if is_ngg {
                vertex_program("v5", &["exp prim v0, off, off, off done"])
            } else {
                vertex_program("v0", &[])
            },
            pixel: pixel
                .into_iter()
                .chain([format!("exp mrt0 v0, v1, v1, v0 done{valid}"), "s_endpgm".to_owned()])
                .collect(),
            count: 3,
        }
    }

    /// Replaces the value of a register.
    fn with(mut self, name: &'static str, value: u32) -> Self {
        self.registers.push((name, value));
        self
    }

    fn put(&self, rig: &Rig, at: u64, lines: &[String]) {
        let encode = |line: &String| {
            let encoded = assemble(self.level, WaveSize::Wave64, line);
            encoded.unwrap_or_else(|error| panic!("{line}: {error}")).dwords().to_vec()
        };
        for (index, word) in lines.iter().flat_map(encode).enumerate() {
            rig.poke(at + 4 * index as u64, word);
        }
    }

    /// Clears the picture, puts the programs into memory and draws.
    fn run(&self, rig: &Rig) -> Result<(), Errno> {
        self.put(rig, VERTEX, &self.vertex);
        self.put(rig, PIXEL, &self.pixel);
        for pixel in 0..SIDE * SIDE {
            rig.poke(PICTURE + 4 * pixel, BEFORE);
        }
        let mut stream = Vec::new();
        for (name, value) in &self.registers {
            // Registers that a generation lacks are left out.
            let Some(offset) = named(name).unwrap().offset(self.level) else { continue };
            let (opcode, base) = match offset {
                0x8000..0xb000 => (0x68, 0x8000),
                0xb000..0xc000 => (0x76, 0xb000),
                0x2_8000..0x2_9000 => (0x69, 0x2_8000),
                _ => (0x79, 0x3_0000),
            };
            stream.extend([0xc001_0000 | opcode << 8, (offset - base) / 4, *value]);
        }
        stream.extend([0xc000_2f00, 1]);
        stream.extend([0xc001_2d00, self.count, 2]);
        if self.level < GfxLevel::Gfx11 {
            // ZPASS_DONE.
            stream.extend([0xc002_4600, 0x15 | 1 << 8, (DATA + COUNTS) as u32, 0]);
        }
        let number = rig.run(Ip::Gfx, 0, &stream).unwrap();
        rig.finish(Ip::Gfx, 0, number)
    }
}

fn pixel(rig: &Rig, x: u64, y: u64) -> u32 {
    rig.load(PICTURE + 4 * (SIDE * y + x))
}

/// Returns the number of pixels that are not as before.
fn drawn(rig: &Rig) -> usize {
    (0..SIDE * SIDE).filter(|at| pixel(rig, at % SIDE, at / SIDE) != BEFORE).count()
}

#[test]
fn a_rectangle_fills_its_scissor_on_every_generation() {
    for name in ["pitcairn", "polaris10", "vega10", "navi10", "navi21", "navi31"] {
        let device = device(name);
        let rig = Rig::new(&device);
        Draw::new(device.profile().gfx_level).run(&rig).unwrap();
        for (x, y) in (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y))) {
            let expected = if (8..24).contains(&x) && (8..16).contains(&y) { RED } else { BEFORE };
            assert_eq!(pixel(&rig, x, y), expected, "{name}: {x},{y}");
        }
        assert_eq!((device.skipped_draws(), device.complaints()), (vec![], vec![]), "{name}");
    }
}

#[test]
fn an_argument_that_the_job_has_not_set_is_reported_where_a_shader_of_a_draw_reads_it() {
    for name in ["pitcairn", "polaris10", "vega10", "navi10", "navi21", "navi31"] {
        let level = profile(name).unwrap().gfx_level;
        let is_ngg = level >= GfxLevel::Gfx11;
        let (resources, argument, first) = if is_ngg {
            ("SPI_SHADER_PGM_RSRC2_GS", "SPI_SHADER_USER_DATA_GS_0", "s8")
        } else {
            ("SPI_SHADER_PGM_RSRC2_VS", "SPI_SHADER_USER_DATA_VS_0", "s0")
        };
        // Of the vertex shader, and of the pixel shader.
        let run = |reads: [bool; 2], is_set: [bool; 2]| {
            let options = SimOptions { strictness: Strictness::Report, ..reference() };
            let device = SimDevice::new(profile(name).unwrap(), options);
            let rig = Rig::new(&device);
            // One argument for each.
            let mut draw = Draw::new(level).with(resources, 1 << 1).with("SPI_SHADER_PGM_RSRC2_PS", 1 << 1);
            for (register, _) in
                [argument, "SPI_SHADER_USER_DATA_PS_0"].into_iter().zip(is_set).filter(|(_, is_set)| *is_set)
            {
                draw = draw.with(register, 0);
            }
            if reads[0] {
                draw.vertex.insert(0, format!("v_mov_b32_e32 v25, {first}"));
            }
            if reads[1] {
                draw.pixel.insert(0, "v_mov_b32_e32 v2, s0".to_owned());
            }
            draw.run(&rig).unwrap();
            assert_eq!(drawn(&rig), 16 * 8, "{name}");
            let found = device.hazards().into_iter().filter(|report| report.missing.contains("UnsetArgument"));
            found.map(|report| (report.later, report.missing)).collect::<Vec<_>>()
        };
        for reads in [[true, true], [true, false], [false, true], [false, false]] {
            for is_set in [[false, false], [false, true], [true, false], [true, true]] {
                let found = run(reads, is_set);
                let registers: Vec<_> =
                    found.iter().map(|(later, _)| later.split(' ').nth(5).unwrap_or_default()).collect();
                let lacks = [first, "s0"].into_iter().zip(reads.into_iter().zip(is_set));
                let expected: Vec<_> =
                    lacks.filter(|(_, (reads, is_set))| *reads && !is_set).map(|(register, _)| register).collect();
                assert_eq!(registers, expected, "{name}, read {reads:?}, set {is_set:?}: {found:?}");
                for (later, missing) in found {
                    assert!(later.contains("v_mov_b32") && later.contains("DRAW_INDEX_AUTO"), "{name}: {later}");
                    assert!(missing.contains("radv_flush_descriptors"), "{name}: {missing}");
                }
            }
        }
    }
}

#[test]
fn samples_that_pass_are_counted_for_the_first_render_backend() {
    for name in ["pitcairn", "polaris10", "vega10", "navi21"] {
        let device = device(name);
        let rig = Rig::new(&device);
        // PERFECT_ZPASS_COUNTS and ZPASS_ENABLE.
        Draw::new(device.profile().gfx_level).with("DB_COUNT_CONTROL", 2 | 1 << 8).run(&rig).unwrap();
        assert_eq!((rig.load(COUNTS), rig.load(COUNTS + 4)), (16 * 8, 1 << 31), "{name}");
        assert_eq!((rig.load(COUNTS + 16), rig.load(COUNTS + 20)), (0, 1 << 31), "{name}");
    }
}

#[test]
fn a_draw_with_a_feature_that_is_not_simulated_is_left_out_and_named() {
    let device = card();
    let rig = Rig::new(&device);
    Draw::new(GfxLevel::Gfx10_3).with("VGT_SHADER_STAGES_EN", 1 << 5).run(&rig).unwrap();
    Draw::new(GfxLevel::Gfx10_3).with("VGT_SHADER_STAGES_EN", 1 << 5).run(&rig).unwrap();
    Draw::new(GfxLevel::Gfx10_3).with("VGT_PRIMITIVE_TYPE", 11).run(&rig).unwrap();
    assert_eq!(drawn(&rig), 0);
    let skipped: Vec<_> = device.skipped_draws().into_iter().map(|one| (one.reason, one.count)).collect();
    assert_eq!(skipped, [("geometry shader".to_owned(), 2), ("topology 11".to_owned(), 1)]);
    let shown = device.skipped_draws()[0].to_string();
    assert!(shown.starts_with("2 draws were not executed: geometry shader; the first: DRAW_INDEX_AUTO"), "{shown}");
}

#[test]
fn a_target_that_is_not_mapped_is_a_page_fault() {
    let device = card();
    let rig = Rig::new(&device);
    Draw::new(GfxLevel::Gfx10_3).with("CB_COLOR0_BASE", 0x40_0000).run(&rig).unwrap();
    let complaints = device.complaints();
    assert!(complaints.iter().any(|complaint| complaint.contains("40000")), "{complaints:?}");
    assert_eq!(drawn(&rig), 0);
}

#[test]
fn pixels_on_a_page_are_drawn_although_others_of_their_wave_have_none() {
    let device = card();
    let rig = Rig::new(&device);
    // Twelve rows are the last ones that are mapped: four of the eight that the scissor leaves.
    let start = 0x10_0000 - 12 * 4 * SIDE;
    Draw::new(GfxLevel::Gfx10_3).with("CB_COLOR0_BASE", ((DATA + start) >> 8) as u32).run(&rig).unwrap();
    let places = (0..12 * SIDE).filter(|at| rig.load(start + 4 * at) == RED);
    assert!(places.eq((8..12).flat_map(|y| (8..24).map(move |x| SIDE * y + x))));
    let complaints = device.complaints();
    assert!(complaints.iter().any(|complaint| complaint.contains("900")), "{complaints:?}");
}

#[test]
fn programs_that_are_not_there_are_page_faults() {
    for name in ["SPI_SHADER_PGM_LO_VS", "SPI_SHADER_PGM_LO_PS"] {
        let device = card();
        let rig = Rig::new(&device);
        Draw::new(GfxLevel::Gfx10_3).with(name, 0x40_0000).run(&rig).unwrap();
        assert!(!device.complaints().is_empty(), "{name}");
        assert_eq!(drawn(&rig), 0, "{name}");
    }
}

#[test]
fn a_target_without_size_and_an_empty_scissor_draw_nothing_or_what_fits() {
    let device = card();
    let rig = Rig::new(&device);
    Draw::new(GfxLevel::Gfx10_3).with("PA_SC_VPORT_SCISSOR_0_BR", 0).run(&rig).unwrap();
    assert_eq!(drawn(&rig), 0);
    // The smallest size is one pixel, whose row is padded.
    Draw::new(GfxLevel::Gfx10_3).with("CB_COLOR0_ATTRIB2", 0).run(&rig).unwrap();
    assert_eq!(drawn(&rig), 0);
    assert_eq!(device.complaints(), Vec::<String>::new());
}

#[test]
fn an_endless_pixel_shader_hangs_the_ring_and_is_reported() {
    let options = SimOptions { shader_instructions: 50_000, strict: false, ..reference() };
    let device = SimDevice::new(profile("navi21").unwrap(), options);
    let rig = Rig::new(&device);
    let mut draw = Draw::new(GfxLevel::Gfx10_3);
    draw.pixel = vec!["s_branch 65535".to_owned()];
    assert!(draw.run(&rig).is_err());
    let complaints = device.complaints().join("\n");
    assert!(complaints.contains("DRAW_INDEX_AUTO") && complaints.contains("budget"), "{complaints}");
}

#[test]
fn a_draw_of_four_thousand_million_vertices_ends_with_its_job() {
    let options = SimOptions { strict: false, ..hanging_for(Duration::from_millis(150)) };
    let device = SimDevice::new(profile("navi21").unwrap(), options);
    let rig = Rig::new(&device);
    let mut draw = Draw::new(GfxLevel::Gfx10_3).with("PA_SC_VPORT_SCISSOR_0_BR", 0);
    draw.count = u32::MAX;
    assert!(draw.run(&rig).is_err());
}

#[test]
fn a_vertex_without_a_position_hangs_the_ring() {
    let device = card();
    let rig = Rig::new(&device);
    let mut draw = Draw::new(GfxLevel::Gfx10_3);
    draw.vertex = vec!["s_endpgm".to_owned()];
    assert!(draw.run(&rig).is_err());
    let complaints = device.complaints().join("\n");
    assert!(complaints.contains("exported no position"), "{complaints}");
}
