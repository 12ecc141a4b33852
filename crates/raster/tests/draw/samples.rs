//! Several samples: coverage, masks, CMASK, resolves.

use std::collections::BTreeMap;

use crate::{
    COLOUR, Closures, DEPTH, GREEN, HTILE, RED, Ram, SIDE, Vertex, chip, count, export, half, interpolated, run, set,
    state, with_samples,
};
use amdgpu_raster::{Ended, Export, Memory, PixelWave, Program, Shaders, VertexWave, draw};

/// The number of samples of half of the target: those below the diagonal, and two of each pixel on it.
const COVERED: usize = 4 * (64 * 63 / 2) + 2 * 64;

#[test]
fn samples_are_covered_at_their_places_and_the_shader_runs_once_for_a_pixel() {
    let ram = Ram::new();
    let waves = run(&with_samples(), &ram, &half(0.5, [1.0; 3], [RED; 3]));
    assert_eq!(count(&ram, 0xff00_00ff), COVERED);
    let lanes: u32 = waves.iter().map(|wave| wave.lanes.count_ones()).sum();
    assert_eq!(lanes, 64 * 65 / 2);
}

#[test]
fn the_sample_mask_leaves_samples_out() {
    let ram = Ram::new();
    let mut registers = with_samples();
    // The third sample of even columns, the fourth of odd ones.
    set(&mut registers, "PA_SC_AA_MASK_X0Y0_X1Y0", 4 | 8 << 16);
    set(&mut registers, "PA_SC_AA_MASK_X0Y1_X1Y1", 4 | 8 << 16);
    run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    assert_eq!(count(&ram, 0xff00_00ff), 64 * 65 / 2);
}

#[test]
fn a_shader_of_samples_runs_for_each_and_knows_its_number_and_place() {
    let ram = Ram::new();
    let mut registers = with_samples();
    set(&mut registers, "PA_SC_MODE_CNTL_1", 1 << 16);
    set(&mut registers, "DB_EQAA", 2 << 4);
    // PERSP_SAMPLE, POS_X, POS_Y, ANCILLARY and SAMPLE_COVERAGE; the position is that of the sample.
    set(&mut registers, "SPI_PS_INPUT_ENA", 0x6301);
    set(&mut registers, "SPI_PS_INPUT_ADDR", 0x6301);
    set(&mut registers, "SPI_BARYC_CNTL", 2 << 16);
    let waves = run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    let places = [[-2.0, -6.0], [6.0, -2.0], [-6.0, 2.0], [2.0, 6.0]];
    let mut seen = [0; 4];
    for wave in &waves {
        for lane in (0..64).filter(|lane| wave.lanes >> lane & 1 != 0) {
            let [x, y] = [2, 3].map(|register: usize| f32::from_bits(wave.vectors[register][lane]));
            let sample = (wave.vectors[4][lane] >> 8 & 15) as usize;
            assert_eq!([x, y].map(|at| (at.fract() - 0.5) * 16.0), places[sample]);
            let on_diagonal = x.floor() == y.floor();
            assert_eq!(wave.vectors[5][lane], if on_diagonal { 0b1100 } else { 0b1111 });
            seen[sample] += 1;
        }
    }
    assert_eq!(seen, [64 * 63 / 2, 64 * 63 / 2, 64 * 65 / 2, 64 * 65 / 2]);
    assert_eq!(count(&ram, 0xff00_00ff), COVERED);
}

#[test]
fn a_tile_that_cmask_clears_gets_its_colour_in_all_samples_and_an_fmask_of_their_own() {
    const FMASK: u64 = 0x14_0000;
    let ram = Ram::new();
    let mut registers = with_samples();
    // FAST_CLEAR and COMPRESSION.
    set(&mut registers, "CB_COLOR0_INFO", 10 << 2 | 1 << 13 | 1 << 14);
    set(&mut registers, "CB_COLOR0_ATTRIB", 1 << 28 | 24 << 23 | 24 << 18 | 2 << 15 | 2 << 12);
    set(&mut registers, "CB_COLOR0_CMASK", (HTILE >> 8) as u32);
    set(&mut registers, "CB_COLOR0_FMASK", (FMASK >> 8) as u32);
    set(&mut registers, "CB_COLOR0_CLEAR_WORD0", 0x8040_2010);
    run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    let tiles = 8 * 9 / 2;
    assert_eq!((count(&ram, 0xff00_00ff), count(&ram, 0x8040_2010)), (COVERED, tiles * 256 - COVERED));
    let bytes = |at: u64, length: usize| {
        let mut all = vec![0; length];
        ram.load(at, &mut all).unwrap();
        all
    };
    assert_eq!(bytes(FMASK, 0x1_0000).iter().filter(|byte| **byte == 0xe4).count(), tiles * 64);
    let codes: Vec<u8> = bytes(HTILE, 0x4_0000).iter().flat_map(|byte| [byte & 15, byte >> 4]).collect();
    assert_eq!(codes.iter().filter(|code| **code == 14).count(), tiles);
}

#[test]
fn samples_that_cmask_and_dcc_clear_as_one_get_the_colour_of_dcc() {
    const FMASK: u64 = 0x14_0000;
    const DCC: u64 = 0x18_0000;
    let ram = Ram::new();
    let mut registers = with_samples();
    // FAST_CLEAR, COMPRESSION and DCC_ENABLE.
    set(&mut registers, "CB_COLOR0_INFO", 10 << 2 | 1 << 13 | 1 << 14 | 1 << 28);
    set(&mut registers, "CB_COLOR0_ATTRIB", 1 << 28 | 24 << 23 | 24 << 18 | 2 << 15 | 2 << 12 | 3 << 30);
    set(&mut registers, "CB_COLOR0_CMASK", (HTILE >> 8) as u32);
    set(&mut registers, "CB_COLOR0_FMASK", (FMASK >> 8) as u32);
    set(&mut registers, "CB_COLOR0_DCC_BASE", (DCC >> 8) as u32);
    for at in 0..0x1_0000 {
        ram.set(HTILE + 4 * at, 0xcccc_cccc);
        ram.set(DCC + 4 * at, 0x4040_4040);
    }
    run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    let tiles = 8 * 9 / 2;
    assert_eq!((count(&ram, 0xff00_00ff), count(&ram, 0xff00_0000)), (COVERED, tiles * 256 - COVERED));
    let mut codes = vec![0; 0x4_0000];
    ram.load(HTILE, &mut codes).unwrap();
    assert_eq!(codes.iter().flat_map(|byte| [byte & 15, byte >> 4]).filter(|code| *code == 14).count(), tiles);
}

#[test]
fn samples_of_a_tile_that_nothing_has_drawn_to_get_the_first_colour_of_their_pixel() {
    let ram = Ram::new();
    let mut registers = with_samples();
    // FAST_CLEAR and COMPRESSION.
    set(&mut registers, "CB_COLOR0_INFO", 10 << 2 | 1 << 13 | 1 << 14);
    set(&mut registers, "CB_COLOR0_ATTRIB", 1 << 28 | 24 << 23 | 24 << 18 | 2 << 15 | 2 << 12);
    set(&mut registers, "CB_COLOR0_CMASK", (HTILE >> 8) as u32);
    set(&mut registers, "CB_COLOR0_FMASK", 0x14_0000 >> 8);
    for at in 0..0x1_0000 {
        ram.set(HTILE + 4 * at, 0xcccc_cccc);
    }
    for at in 0..0x4000 {
        ram.set(COLOUR + 4 * at, 0x100_0000 | at as u32);
    }
    run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    assert_eq!(count(&ram, 0xff00_00ff), COVERED);
    let mut counts = BTreeMap::<u32, usize>::new();
    (0..0x4000).for_each(|at| *counts.entry(ram.word(COLOUR + 4 * at)).or_default() += 1);
    let colours_of = |samples: usize| counts.values().filter(|count| **count == samples).count();
    // Pixels above the diagonal in the tiles that it goes through, and those on it.
    assert_eq!((colours_of(4), colours_of(2)), (8 * 8 * 7 / 2, 64));
}

/// Programs whose pixel shader exports a mask of samples too.
struct Masked<'c>(Closures<'c>, u32);

impl Shaders for Masked<'_> {
    fn vertices(&mut self, program: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended> {
        self.0.vertices(program, wave)
    }

    fn pixels(&mut self, program: &Program, wave: &PixelWave, exports: &mut Vec<Export>) -> Result<(), Ended> {
        self.0.pixels(program, wave, exports)?;
        exports.insert(0, export(8, wave.lanes, |_| [0.0, 0.0, f32::from_bits(self.1), 0.0]));
        Ok(())
    }
}

#[test]
fn a_mask_that_the_shader_exports_leaves_samples_out_of_colour_and_of_counts() {
    let ram = Ram::new();
    let mut registers = with_samples();
    set(&mut registers, "DB_SHADER_CONTROL", 1 << 4 | 1 << 8);
    set(&mut registers, "SPI_SHADER_Z_FORMAT", 9);
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    let closures = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let drawn = draw(&state(&registers, 3), Some(&chip()), &ram, &mut Masked(closures, 0b1001)).unwrap();
    // The first sample below the diagonal, and the fourth on it too.
    let expected = 64 * 63 / 2 + 64 * 65 / 2;
    assert_eq!((count(&ram, 0xff00_00ff), drawn.passed), (expected, expected as u64));
}

#[test]
fn alpha_that_becomes_a_mask_is_that_beside_depth_where_the_state_says_so() {
    /// Writes alpha 1 with the colour, and 0.5 beside depth.
    struct Both;

    impl Shaders for Both {
        fn vertices(&mut self, _: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended> {
            let all = half(0.5, [1.0; 3], [RED; 3]);
            Ok(vec![export(12, wave.lanes, |lane| all[wave.vectors[0][lane] as usize % 3].0)])
        }

        fn pixels(&mut self, _: &Program, wave: &PixelWave, exports: &mut Vec<Export>) -> Result<(), Ended> {
            let depth = Export { enabled: 8, is_last: false, ..export(8, wave.lanes, |_| [0.0, 0.0, 0.0, 0.5]) };
            *exports = vec![depth, export(0, wave.lanes, |_| [1.0; 4])];
            Ok(())
        }
    }
    for (control, covered) in [(1 << 4, 4), (1 << 4 | 1 << 7, 2)] {
        let ram = Ram::new();
        let mut registers = with_samples();
        set(&mut registers, "DB_ALPHA_TO_MASK", 1 | 2 << 8 | 2 << 10 | 2 << 12 | 2 << 14);
        set(&mut registers, "SPI_SHADER_Z_FORMAT", 3);
        set(&mut registers, "DB_SHADER_CONTROL", control);
        let drawn = draw(&state(&registers, 3), Some(&chip()), &ram, &mut Both).unwrap();
        // Half of the target, but for a few samples at the edge.
        let [least, most] = [covered * 64 * 62 / 2, covered * 64 * 66 / 2];
        assert!((least..=most).contains(&drawn.passed), "{control:#x}: {}", drawn.passed);
    }
}

#[test]
fn a_resolve_averages_the_samples_of_the_first_target_into_the_second() {
    let ram = Ram::new();
    run(&with_samples(), &ram, &half(0.5, [1.0; 3], [RED; 3]));
    let mut registers = with_samples();
    let last = SIDE as u32 - 1;
    for (name, value) in [
        ("PA_SC_MODE_CNTL_0", 0),
        ("PA_SC_AA_CONFIG", 0),
        ("CB_COLOR_CONTROL", 0xcc << 16 | 3 << 4),
        ("CB_COLOR1_BASE", (DEPTH >> 8) as u32),
        ("CB_COLOR1_INFO", 10 << 2),
        ("CB_COLOR1_ATTRIB2", last | last << 14),
        ("CB_COLOR1_ATTRIB", 1 << 28),
        ("CB_MRT1_EPITCH", last),
        ("VGT_PRIMITIVE_TYPE", 17),
    ] {
        set(&mut registers, name, value);
    }
    let corners = [[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0]];
    run(&registers, &ram, &corners.map(|[x, y]| Vertex([x, y, 0.0, 1.0], GREEN)));
    let resolved = |x: usize, y: usize| ram.word(DEPTH + 4 * (SIDE * y + x) as u64);
    // Two of four samples are red with alpha: half of 255, to even.
    assert_eq!([resolved(3, 40), resolved(20, 20), resolved(40, 3)], [0xff00_00ff, 0x8000_0080, 0]);
}
