//! Whole draws with programs that are closures: which registers waves start with, and what their exports leave in memory.

#![allow(
    clippy::cast_precision_loss,
    clippy::decimal_bitwise_operands,
    clippy::float_cmp,
    clippy::naive_bytecount,
    clippy::needless_range_loop,
    clippy::range_plus_one,
    reason = "fields are composed of decimal numbers, and depths are exact"
)]

use std::{cell::RefCell, collections::BTreeMap};

use amdgpu_hw::GfxLevel;
use amdgpu_raster::{
    Call, DrawState, Ended, Export, Feature, Memory, MemoryFault, PixelWave, Program, Registers, Shaders, VertexWave,
    draw,
};
use amdgpu_registers::named;
use amdgpu_surface::{Chip, ChipRegisters};

/// The width and height of targets in pixels of four bytes.
const SIDE: usize = 64;
const COLOUR: u64 = 0x1_0000;
const DEPTH: u64 = 0x8_0000;
const HTILE: u64 = 0x10_0000;

/// Memory up to 2 MiB.
struct Ram(RefCell<Vec<u8>>);

impl Ram {
    fn new() -> Self {
        Self(RefCell::new(vec![0; 2 << 20]))
    }

    fn word(&self, at: u64) -> u32 {
        let mut bytes = [0; 4];
        self.load(at, &mut bytes).unwrap();
        u32::from_le_bytes(bytes)
    }

    fn set(&self, at: u64, word: u32) {
        self.store(at, &word.to_le_bytes()).unwrap();
    }

    fn pixel(&self, x: usize, y: usize) -> u32 {
        self.word(COLOUR + 4 * (SIDE * y + x) as u64)
    }
}

impl Memory for Ram {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        let all = self.0.borrow();
        let found = all.get(va as usize..va as usize + out.len()).ok_or(MemoryFault { va, is_write: false })?;
        out.copy_from_slice(found);
        Ok(())
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), MemoryFault> {
        let mut all = self.0.borrow_mut();
        let found = all.get_mut(va as usize..va as usize + data.len()).ok_or(MemoryFault { va, is_write: true })?;
        found.copy_from_slice(data);
        Ok(())
    }
}

fn chip() -> Chip {
    // The configuration of a Vega 10.
    Chip::new(&ChipRegisters::new(GfxLevel::Gfx9, 141, 1, 0x2a11_0100 | 2)).unwrap()
}

/// A vertex: its position and a parameter.
#[derive(Clone, Copy)]
struct Vertex([f32; 4], [f32; 4]);

/// Programs that look vertices up by the number in v0, and write the first parameter, interpolated, as colour.
struct Closures<'c> {
    vertices: &'c [Vertex],
    seen: Vec<PixelWave>,
    /// Returns the colour of a lane.
    colour: fn(&PixelWave, usize) -> [f32; 4],
    /// The lanes that the pixel shader discards.
    discards: u64,
}

fn export(target: u8, lanes: u64, of: impl Fn(usize) -> [f32; 4]) -> Export {
    let mut values = [[0; 64]; 4];
    for lane in 0..64 {
        for (component, value) in of(lane).into_iter().enumerate() {
            values[component][lane] = value.to_bits();
        }
    }
    Export { target, enabled: 15, is_last: target < 9, lanes, values, is_compressed: false }
}

impl Shaders for Closures<'_> {
    fn vertices(&mut self, _: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended> {
        let vertex =
            |lane: usize| self.vertices.get(wave.vectors[0][lane] as usize).copied().unwrap_or(self.vertices[0]);
        Ok(vec![export(12, wave.lanes, |lane| vertex(lane).0), export(32, wave.lanes, |lane| vertex(lane).1)])
    }

    fn pixels(&mut self, _: &Program, wave: &PixelWave) -> Result<Vec<Export>, Ended> {
        self.seen.push(wave.clone());
        Ok(vec![export(0, wave.lanes & !self.discards, |lane| (self.colour)(wave, lane))])
    }
}

/// Interpolates the first attribute.
fn interpolated(wave: &PixelWave, lane: usize) -> [f32; 4] {
    let [i, j] = [0, 1].map(|part: usize| f32::from_bits(wave.vectors[part][lane]));
    // Waves that are not full have lanes without a primitive.
    let Some(primitive) = wave.quads.get(lane / 4) else { return [0.0; 4] };
    let attribute = &wave.primitives[usize::from(*primitive)][0];
    attribute.map(|values| {
        let [p0, p10, p20] = values.map(f32::from_bits);
        p0 + i * p10 + j * p20
    })
}

/// The registers of a draw of triangles on GFX9, by name.
fn registers() -> BTreeMap<u32, u32> {
    let last = SIDE as u32 - 1;
    let half = 32.0_f32.to_bits();
    let all = [
        ("VGT_PRIMITIVE_TYPE", 4),
        ("SPI_SHADER_PGM_LO_VS", 1),
        ("SPI_SHADER_PGM_LO_PS", 2),
        ("SPI_PS_INPUT_ENA", 2),
        ("SPI_PS_INPUT_ADDR", 2),
        ("SPI_PS_IN_CONTROL", 1),
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
        ("PA_CL_VPORT_ZSCALE", 1.0_f32.to_bits()),
        ("PA_CL_CLIP_CNTL", 1 << 19),
        ("PA_SU_VTX_CNTL", 1 | 2 << 1 | 5 << 3),
        ("DB_SHADER_CONTROL", 1 << 4),
        ("CB_COLOR0_BASE", (COLOUR >> 8) as u32),
        ("CB_COLOR0_INFO", 10 << 2),
        ("CB_COLOR0_ATTRIB2", last | last << 14),
        ("CB_COLOR0_ATTRIB", 1 << 28),
        ("CB_MRT0_EPITCH", last),
    ];
    all.into_iter().map(|(name, value)| (named(name).unwrap().offset(GfxLevel::Gfx9).unwrap(), value)).collect()
}

fn set(registers: &mut BTreeMap<u32, u32>, name: &str, value: u32) {
    registers.insert(named(name).unwrap().offset(GfxLevel::Gfx9).unwrap(), value);
}

fn state(registers: &BTreeMap<u32, u32>, count: u32) -> DrawState {
    let call = Call { count: Some(count), instances: Some(1), initiator: 2, ..Call::default() };
    DrawState::new(call, &Registers::new(GfxLevel::Gfx9, &|offset| registers.get(&offset).copied()))
}

/// Draws and returns the waves of pixels that ran.
fn run(registers: &BTreeMap<u32, u32>, ram: &Ram, vertices: &[Vertex]) -> Vec<PixelWave> {
    let mut shaders = Closures { vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let drawn = draw(&state(registers, vertices.len() as u32), Some(&chip()), ram, &mut shaders).unwrap();
    assert_eq!(drawn.fault, None);
    shaders.seen
}

/// The left lower half of the target, or a part of it.
fn half(z: f32, w: [f32; 3], colours: [[f32; 4]; 3]) -> [Vertex; 3] {
    let corners = [[-1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]];
    [0, 1, 2].map(|index: usize| {
        let [x, y] = corners[index];
        let w = w[index];
        Vertex([x * w, y * w, z * w, w], colours[index])
    })
}

const RED: [f32; 4] = [1.0, 0.0, 0.0, 1.0];
const GREEN: [f32; 4] = [0.0, 1.0, 0.0, 1.0];

#[test]
fn attributes_are_interpolated_with_perspective() {
    let ram = Ram::new();
    let white = [1.0; 4];
    let black = [0.0, 0.0, 0.0, 1.0];
    run(&registers(), &ram, &half(0.5, [1.0, 1.0, 4.0], [black, black, white]));
    // On the diagonal edge from the first to the third corner, at parameter t on the screen, the share of a vertex with w = 4 is
    // t/4 / ((1-t) + t/4).
    for at in [8, 20, 40, 60] {
        let (x, y) = (at, at + 1);
        // The weights of the corners on the screen, at the centre of the pixel.
        let (px, py) = ((x as f64 + 0.5) / 64.0, (y as f64 + 0.5) / 64.0);
        let weights = [1.0 - py, py - px, px];
        let sum = weights[0] + weights[1] + weights[2] / 4.0;
        let expected = (weights[2] / 4.0 / sum * 255.0).round() as i64;
        let found = i64::from(ram.pixel(x, y) & 0xff);
        assert!((found - expected).abs() <= 1, "{x}: {found} {expected}");
    }
}

#[test]
fn a_flat_attribute_is_that_of_the_provoking_vertex() {
    for (mode, expected) in [(0, 0xff00_00ff), (1 << 19, 0xff00_ff00)] {
        let ram = Ram::new();
        let mut registers = registers();
        set(&mut registers, "SPI_PS_INPUT_CNTL_0", 1 << 10);
        set(&mut registers, "PA_SU_SC_MODE_CNTL", mode);
        run(&registers, &ram, &half(0.5, [1.0; 3], [RED, [0.25; 4], GREEN]));
        assert_eq!(ram.pixel(3, 40), expected);
    }
}

#[test]
fn quads_have_their_lanes_in_rows_of_two_and_helpers_are_off() {
    let ram = Ram::new();
    let mut registers = registers();
    // POS_X and POS_Y in place of barycentric coordinates.
    set(&mut registers, "SPI_PS_INPUT_ENA", 0x302);
    set(&mut registers, "SPI_PS_INPUT_ADDR", 0x302);
    let waves = run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    let mut covered = 0;
    for wave in &waves {
        for quad in 0..wave.quads.len() {
            let at =
                |lane: usize| [2, 3].map(|register: usize| f32::from_bits(wave.vectors[register][4 * quad + lane]));
            let [x, y] = at(0);
            assert_eq!([at(1), at(2), at(3)], [[x + 1.0, y], [x, y + 1.0], [x + 1.0, y + 1.0]]);
            for lane in 0..4 {
                let [x, y] = at(lane);
                // The diagonal is a right edge, whose pixels' centres do not belong to the triangle.
                assert_eq!(wave.lanes >> (4 * quad + lane) & 1 != 0, y > x, "{x} {y}");
            }
        }
        covered += wave.lanes.count_ones();
    }
    assert_eq!(covered, 64 * 63 / 2);
}

fn with_depth() -> BTreeMap<u32, u32> {
    let mut registers = registers();
    let last = SIDE as u32 - 1;
    for (name, value) in [
        // 32-bit floats, in rows: no chip draws so, but addresses are plain.
        ("DB_Z_INFO", 3),
        ("DB_Z_READ_BASE", (DEPTH >> 8) as u32),
        ("DB_Z_WRITE_BASE", (DEPTH >> 8) as u32),
        ("DB_DEPTH_SIZE", last | last << 16),
        ("DB_Z_INFO2", last),
        // Z_ENABLE, Z_WRITE_ENABLE, less.
        ("DB_DEPTH_CONTROL", 2 | 4 | 1 << 4),
        ("PA_SC_VPORT_ZMAX_0", 1.0_f32.to_bits()),
    ] {
        set(&mut registers, name, value);
    }
    registers
}

#[test]
fn depth_lets_nearer_pixels_pass_and_keeps_them() {
    let ram = Ram::new();
    for at in 0..SIDE * SIDE {
        ram.set(DEPTH + 4 * at as u64, 1.0_f32.to_bits());
    }
    let registers = with_depth();
    run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    run(&registers, &ram, &half(0.75, [1.0; 3], [GREEN; 3]));
    assert_eq!((ram.pixel(3, 40), f32::from_bits(ram.word(DEPTH + 4 * (SIDE * 40 + 3) as u64))), (0xff00_00ff, 0.5));
    run(&registers, &ram, &half(0.25, [1.0; 3], [GREEN; 3]));
    assert_eq!((ram.pixel(3, 40), f32::from_bits(ram.word(DEPTH + 4 * (SIDE * 40 + 3) as u64))), (0xff00_ff00, 0.25));
    assert_eq!(f32::from_bits(ram.word(DEPTH + 4 * (SIDE * 3 + 40) as u64)), 1.0);
}

#[test]
fn depth_is_clamped_to_the_viewport_s_range_unless_the_clamp_is_off() {
    // DISABLE_VIEWPORT_CLAMP of DB_RENDER_OVERRIDE. What is not clamped keeps its bits, as drivers that copy depth by draws need it.
    for (clamp, z, expected) in [
        (0, 2.5, 0.75),
        (0, -2.5, 0.25),
        (0, 0.5, 0.5),
        (1 << 16, 2.5, 2.5),
        (1 << 16, -2.5, -2.5),
        (1 << 16, 0.5, 0.5),
    ] {
        let ram = Ram::new();
        let mut registers = with_depth();
        // No planes cut at the nearest and the farthest depth; the test always passes.
        set(&mut registers, "PA_CL_CLIP_CNTL", 1 << 19 | 3 << 26);
        set(&mut registers, "DB_DEPTH_CONTROL", 2 | 4 | 7 << 4);
        set(&mut registers, "PA_SC_VPORT_ZMIN_0", 0.25_f32.to_bits());
        set(&mut registers, "PA_SC_VPORT_ZMAX_0", 0.75_f32.to_bits());
        set(&mut registers, "DB_RENDER_OVERRIDE", clamp);
        run(&registers, &ram, &half(z, [1.0; 3], [RED; 3]));
        assert_eq!(f32::from_bits(ram.word(DEPTH + 4 * (SIDE * 40 + 3) as u64)), expected, "{clamp:#x} {z}");
    }
}

#[test]
fn stored_depths_outside_of_the_bounds_keep_pixels_from_being_drawn() {
    let ram = Ram::new();
    let mut registers = with_depth();
    // The bounds count, whether or not depth itself is tested.
    for (control, is_tested) in [(1 << 3, false), (2 | 4 | 7 << 4 | 1 << 3, true)] {
        for at in 0..SIDE * SIDE {
            ram.set(DEPTH + 4 * at as u64, ((at % SIDE) as f32 / 64.0).to_bits());
            ram.set(COLOUR + 4 * at as u64, 0);
        }
        set(&mut registers, "DB_DEPTH_CONTROL", control);
        set(&mut registers, "DB_DEPTH_BOUNDS_MIN", 0.125_f32.to_bits());
        set(&mut registers, "DB_DEPTH_BOUNDS_MAX", 0.25_f32.to_bits());
        run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
        for x in 0..60 {
            let (is_drawn, stored) = ((8..=16).contains(&x), x as f32 / 64.0);
            let expected = if is_drawn && is_tested { 0.5 } else { stored };
            let found = f32::from_bits(ram.word(DEPTH + 4 * (SIDE * 62 + x) as u64));
            assert_eq!((ram.pixel(x, 62) != 0, found), (is_drawn, expected), "{control:#x} {x}");
        }
    }
}

/// Numbers of a fixed sequence.
struct Random(u64);

impl Random {
    fn next(&mut self, most: u32) -> u32 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(most)) as u32
    }
}

#[test]
fn a_pixel_is_drawn_if_and_only_if_its_stored_depth_is_within_the_bounds() {
    let mut random = Random(40);
    // Depths of 16 bits are compared as whole numbers, which bounds that are multiples of the unit stand for.
    for format in [1, 3, 1, 3, 1, 3, 1, 3] {
        let is_fixed = format == 1;
        let ram = Ram::new();
        let mut registers = with_depth();
        set(&mut registers, "DB_Z_INFO", format);
        set(&mut registers, "DB_DEPTH_CONTROL", 1 << 3);
        let (low, span) = (random.next(40_000), random.next(20_000));
        let (low, high) = (low, low + span);
        let depth = |code: u32| (f64::from(code) / 65_535.0) as f32;
        set(&mut registers, "DB_DEPTH_BOUNDS_MIN", depth(low).to_bits());
        set(&mut registers, "DB_DEPTH_BOUNDS_MAX", depth(high).to_bits());
        let codes: Vec<u32> = (0..SIDE * SIDE)
            .map(|_| match random.next(4) {
                // Near the bounds, where they decide.
                0 => (low + random.next(3)).saturating_sub(1),
                1 => (high + random.next(3)).saturating_sub(1),
                _ => random.next(65_536),
            })
            .collect();
        // Rows are 256 bytes.
        set(&mut registers, "DB_Z_INFO2", if is_fixed { 2 * SIDE as u32 - 1 } else { SIDE as u32 - 1 });
        for (at, code) in codes.iter().enumerate() {
            if is_fixed {
                ram.store(DEPTH + (256 * (at / SIDE) + 2 * (at % SIDE)) as u64, &code.to_le_bytes()[..2]).unwrap();
            } else {
                ram.set(DEPTH + 4 * at as u64, depth(*code).to_bits());
            }
        }
        run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
        let mut drawn = 0;
        for y in 0..SIDE {
            for x in 0..y {
                let is_within = (low..=high).contains(&codes[SIDE * y + x]);
                assert_eq!(ram.pixel(x, y) != 0, is_within, "{format} {x} {y}: {low} {} {high}", codes[SIDE * y + x]);
                drawn += u32::from(is_within);
            }
        }
        assert!(drawn > 400, "{drawn}");
    }
}

#[test]
fn discarded_pixels_write_neither_colour_nor_depth() {
    let ram = Ram::new();
    for at in 0..SIDE * SIDE {
        ram.set(DEPTH + 4 * at as u64, 1.0_f32.to_bits());
    }
    let mut registers = with_depth();
    // KILL_ENABLE.
    set(&mut registers, "DB_SHADER_CONTROL", 1 << 4 | 1 << 6);
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    let discards = 0x5555_5555_5555_5555;
    let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards };
    draw(&state(&registers, 3), Some(&chip()), &ram, &mut shaders).unwrap();
    for (x, is_drawn) in [(2, false), (3, true)] {
        let z = f32::from_bits(ram.word(DEPTH + 4 * (SIDE * 40 + x) as u64));
        assert_eq!((ram.pixel(x, 40) != 0, z), (is_drawn, if is_drawn { 0.5 } else { 1.0 }), "{x}");
    }
}

#[test]
fn samples_of_early_tests_are_counted_whatever_the_shader_discards() {
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    // KILL_ENABLE, without and with DEPTH_BEFORE_SHADER.
    for (control, is_early) in [(1 << 4 | 1 << 6, false), (1 << 4 | 1 << 6 | 1 << 12, true)] {
        let ram = Ram::new();
        for at in 0..SIDE * SIDE {
            ram.set(DEPTH + 4 * at as u64, 1.0_f32.to_bits());
        }
        let mut registers = with_depth();
        set(&mut registers, "DB_SHADER_CONTROL", control);
        let discards = 0x5555_5555_5555_5555;
        let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards };
        let drawn = draw(&state(&registers, 3), Some(&chip()), &ram, &mut shaders).unwrap();
        let (covered, kept) = (64 * 63 / 2, count(&ram, 0xff00_00ff));
        let nearer = (0..SIDE * SIDE).filter(|at| ram.word(DEPTH + 4 * *at as u64) == 0.5_f32.to_bits()).count();
        assert!(kept > covered / 4 && kept < covered * 3 / 4, "{kept}");
        let expected = if is_early { covered } else { kept };
        assert_eq!((drawn.passed, nearer), (expected as u64, expected), "{control:#x}");
    }
}

#[test]
fn a_shader_may_get_the_samples_that_early_tests_have_left() {
    // DEPTH_BEFORE_SHADER, without and with PRE_SHADER_DEPTH_COVERAGE_ENABLE, which is there from GFX10 on.
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    for (control, is_after) in [(1 << 4 | 1 << 12, false), (1 << 4 | 1 << 12 | 1 << 23, true)] {
        let offset = named("DB_SHADER_CONTROL").unwrap().offset(GfxLevel::Gfx10).unwrap();
        let read = |at| Some(if at == offset { control } else { 0 });
        let newer = DrawState::new(Call::default(), &Registers::new(GfxLevel::Gfx10, &read));
        assert_eq!(newer.depth.covers_after_tests, is_after);
        let ram = Ram::new();
        // Even columns are hidden.
        for at in 0..SIDE * SIDE {
            ram.set(DEPTH + 4 * at as u64, if at % 2 == 0 { 0.0_f32 } else { 1.0 }.to_bits());
        }
        let mut registers = with_depth();
        set(&mut registers, "DB_SHADER_CONTROL", control);
        set(&mut registers, "SPI_PS_INPUT_ENA", 2 | 1 << 14);
        set(&mut registers, "SPI_PS_INPUT_ADDR", 2 | 1 << 14);
        let mut state = state(&registers, 3);
        state.depth.covers_after_tests = is_after;
        let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
        draw(&state, Some(&chip()), &ram, &mut shaders).unwrap();
        let waves = shaders.seen;
        // The lanes of odd columns below the diagonal, and those beside them in their quads.
        let active: u32 = waves.iter().map(|wave| wave.lanes.count_ones()).sum();
        let covered: u32 = waves.iter().map(|wave| wave.vectors[2].iter().sum::<u32>()).sum();
        assert_eq!(active, 32 * 31, "{control:#x}");
        let beside = if is_after { 0 } else { 32 * 31 };
        assert_eq!(covered, active + beside, "{control:#x}");
    }
}

#[test]
fn primitives_that_overlap_in_a_wave_blend_in_their_order() {
    let ram = Ram::new();
    let mut registers = registers();
    // The sum of halves: src * 0 + dst * constant alpha would lose the order, so the source counts by its alpha.
    set(&mut registers, "CB_BLEND0_CONTROL", 1 << 30 | 4 | 5 << 8);
    set(&mut registers, "PA_SC_VPORT_SCISSOR_0_BR", 4 | 64 << 16);
    set(&mut registers, "PA_SC_VPORT_SCISSOR_0_TL", 1 << 31 | 60 << 16);
    set(&mut registers, "PA_SC_MODE_CNTL_0", 2);
    let translucent = |colour: [f32; 4]| [colour[0], colour[1], colour[2], 0.5];
    let layers = [half(0.5, [1.0; 3], [translucent(RED); 3]), half(0.5, [1.0; 3], [translucent(GREEN); 3])];
    let waves = run(&registers, &ram, layers.as_flattened());
    assert_eq!((waves.len(), waves[0].primitives.len()), (1, 2));
    // Red is halved twice, green once.
    let [r, g] = [0, 8].map(|shift: u32| ram.pixel(1, 62) >> shift & 0xff);
    assert!(r.abs_diff(64) <= 1 && g.abs_diff(128) <= 1, "{r} {g}");
}

#[test]
fn a_wave_holds_at_most_sixteen_quads_and_fills_them() {
    let ram = Ram::new();
    let waves = run(&registers(), &ram, &half(0.5, [1.0; 3], [RED; 3]));
    let (last, others) = waves.split_last().unwrap();
    assert!(others.iter().all(|wave| wave.quads.len() == 16) && last.quads.len() <= 16);
}

#[test]
fn a_tile_that_htile_clears_gets_its_clear_value_before_it_is_tested() {
    let ram = Ram::new();
    let mut registers = with_depth();
    // Blocks of 64 KiB in the order of depth, which HTILE needs.
    set(&mut registers, "DB_Z_INFO", 3 | 8 << 4 | 1 << 29);
    set(&mut registers, "DB_STENCIL_INFO", 1 << 29);
    set(&mut registers, "DB_HTILE_DATA_BASE", (HTILE >> 8) as u32);
    set(&mut registers, "DB_HTILE_SURFACE", 3 << 18);
    set(&mut registers, "DB_DEPTH_CLEAR", 0.625_f32.to_bits());
    for at in 0..0x1_0000 {
        ram.set(HTILE + 4 * at, 0);
    }
    run(&registers, &ram, &half(0.75, [1.0; 3], [RED; 3]));
    assert_eq!(ram.pixel(3, 40), 0, "what is cleared to 0.625 hides 0.75");
    let opened = (0..0x1_0000).filter(|at| ram.word(HTILE + 4 * at) == 0xfffc_000f).count();
    assert_eq!(opened, 8 * 9 / 2, "the tiles of half of a picture of 8 x 8 tiles are plain");
    let depths = (0..0x4000_u64).filter(|at| ram.word(DEPTH + 4 * at) == 0.625_f32.to_bits()).count();
    assert_eq!(depths, opened * 64);
    run(&registers, &ram, &half(0.5, [1.0; 3], [GREEN; 3]));
    assert_eq!(ram.pixel(3, 40), 0xff00_ff00);
    let compressed = (0..0x1_0000).find(|at| ram.word(HTILE + 4 * at) == 0xfffc_000f).unwrap();
    ram.set(HTILE + 4 * compressed, 0x1234_5671);
    let vertices = half(0.5, [1.0; 3], [GREEN; 3]);
    let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let ended = draw(&state(&registers, 3), Some(&chip()), &ram, &mut shaders);
    assert!(matches!(&ended, Err(Ended::Hang(why)) if why.contains("0x12345671")), "{ended:?}");
}

/// A target in blocks of 64 KiB with DCC, all of whose codes are this one.
fn with_dcc(ram: &Ram, code: u8) -> BTreeMap<u32, u32> {
    let mut registers = registers();
    set(&mut registers, "CB_COLOR0_INFO", 10 << 2 | 1 << 28);
    set(&mut registers, "CB_COLOR0_ATTRIB", 1 << 28 | 9 << 18 | 3 << 30);
    set(&mut registers, "CB_COLOR0_DCC_BASE", (HTILE >> 8) as u32);
    set(&mut registers, "CB_COLOR0_CLEAR_WORD0", 0x8040_2010);
    for at in 0..0x1_0000 {
        ram.set(HTILE + 4 * at, u32::from(code) * 0x0101_0101);
    }
    registers
}

fn count(ram: &Ram, wanted: u32) -> usize {
    (0..0x4000_u64).filter(|at| ram.word(COLOUR + 4 * at) == wanted).count()
}

#[test]
fn a_block_that_dcc_clears_gets_its_colour_before_it_is_written() {
    for (code, colour) in [(0x00, 0), (0x40, 0xff00_0000), (0x80, 0x00ff_ffff), (0xc0, u32::MAX), (0x20, 0x8040_2010)] {
        let ram = Ram::new();
        for at in 0..0x4000 {
            ram.set(COLOUR + 4 * at, 0x1234_5678);
        }
        let registers = with_dcc(&ram, code);
        run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
        let drawn = 64 * 63 / 2;
        // Blocks of 8 x 8 pixels on the diagonal and below.
        let touched = 8 * 9 / 2 * 64;
        let plain: usize = (0..0x4000_u64).filter(|at| ram.word(COLOUR + 4 * at) != 0x1234_5678).count();
        assert_eq!((count(&ram, 0xff00_00ff), plain), (drawn, touched), "{code:#x}");
        assert_eq!(count(&ram, colour), touched - drawn, "{code:#x}");
        let mut codes = vec![0; 0x4_0000];
        ram.load(HTILE, &mut codes).unwrap();
        assert_eq!(codes.iter().filter(|found| **found == 0xff).count(), touched / 64, "{code:#x}");
    }
}

#[test]
fn eliminating_a_fast_clear_opens_blocks_and_writes_no_colour() {
    let ram = Ram::new();
    let mut registers = with_dcc(&ram, 0x20);
    set(&mut registers, "CB_COLOR_CONTROL", 0xcc << 16 | 2 << 4);
    set(&mut registers, "CB_TARGET_MASK", 0);
    run(&registers, &ram, &half(0.5, [1.0; 3], [RED; 3]));
    assert_eq!((count(&ram, 0xff00_00ff), count(&ram, 0x8040_2010)), (0, 8 * 9 / 2 * 64));
}

#[test]
fn a_block_that_is_compressed_hangs_with_its_code() {
    let ram = Ram::new();
    let registers = with_dcc(&ram, 0x33);
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let ended = draw(&state(&registers, 3), Some(&chip()), &ram, &mut shaders);
    assert!(matches!(&ended, Err(Ended::Hang(why)) if why.contains("0x33")), "{ended:?}");
}

/// Four samples at the standard places, in blocks of 64 KiB in the order of depth.
fn with_samples() -> BTreeMap<u32, u32> {
    let mut registers = registers();
    set(&mut registers, "PA_SC_MODE_CNTL_0", 1);
    set(&mut registers, "PA_SC_AA_CONFIG", 2);
    for pixel in ["X0Y0", "X1Y0", "X0Y1", "X1Y1"] {
        set(&mut registers, &format!("PA_SC_AA_SAMPLE_LOCS_PIXEL_{pixel}_0"), 0x622a_e6ae);
    }
    set(&mut registers, "CB_COLOR0_ATTRIB", 1 << 28 | 24 << 18 | 2 << 15 | 2 << 12);
    registers
}

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

/// Programs whose pixel shader exports a mask of samples too.
struct Masked<'c>(Closures<'c>, u32);

impl Shaders for Masked<'_> {
    fn vertices(&mut self, program: &Program, wave: &VertexWave) -> Result<Vec<Export>, Ended> {
        self.0.vertices(program, wave)
    }

    fn pixels(&mut self, program: &Program, wave: &PixelWave) -> Result<Vec<Export>, Ended> {
        let mut exports = self.0.pixels(program, wave)?;
        exports.insert(0, export(8, wave.lanes, |_| [0.0, 0.0, f32::from_bits(self.1), 0.0]));
        Ok(exports)
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

        fn pixels(&mut self, _: &Program, wave: &PixelWave) -> Result<Vec<Export>, Ended> {
            let depth = Export { enabled: 8, is_last: false, ..export(8, wave.lanes, |_| [0.0, 0.0, 0.0, 0.5]) };
            Ok(vec![depth, export(0, wave.lanes, |_| [1.0; 4])])
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
fn what_clipping_cuts_off_leaves_the_rest_as_it_was() {
    let ram = Ram::new();
    let mut registers = with_depth();
    set(&mut registers, "DB_DEPTH_CONTROL", 2 | 4 | 7 << 4);
    // Corners in odd places, so that the cut at the near plane lies between the places that coordinates snap to.
    let corners = [[-0.75, -0.8125, -0.5], [0.875, -0.3125, 0.25], [-0.25, 0.9375, 0.875]];
    let vertices = corners.map(|[x, y, z]: [f32; 3]| Vertex([x, y, z, 1.0], RED));
    run(&registers, &ram, &vertices);
    let mut compared = 0;
    for y in 0..SIDE {
        for x in 0..SIDE {
            let found = f64::from(f32::from_bits(ram.word(DEPTH + 4 * (SIDE * y + x) as u64)));
            if found == 0.0 {
                continue;
            }
            let [a, b, c] = corners.map(|corner| corner.map(f64::from));
            let (px, py) = ((x as f64 + 0.5) / 32.0 - 1.0 - a[0], (y as f64 + 0.5) / 32.0 - 1.0 - a[1]);
            let (first, second) = ([b[0] - a[0], b[1] - a[1]], [c[0] - a[0], c[1] - a[1]]);
            let area = first[0] * second[1] - second[0] * first[1];
            let shares = [(px * second[1] - second[0] * py) / area, (first[0] * py - px * first[1]) / area];
            let expected = a[2] + shares[0] * (b[2] - a[2]) + shares[1] * (c[2] - a[2]);
            assert!((found - expected).abs() < 1e-6, "{x} {y}: {found} {expected}");
            compared += 1;
        }
    }
    assert!(compared > 500, "{compared}");
}

#[test]
fn a_draw_counts_its_vertices_primitives_and_invocations() {
    let mut registers = registers();
    // A strip, whose second triangle has two vertices of the first and is clipped away.
    set(&mut registers, "VGT_PRIMITIVE_TYPE", 6);
    let [a, b, c] = half(0.5, [1.0; 3], [RED; 3]);
    let vertices = [a, b, c, Vertex([3.0, 3.0, 0.5, 1.0], RED)];
    let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let drawn = draw(&state(&registers, 4), Some(&chip()), &Ram::new(), &mut shaders).unwrap();
    assert_eq!([drawn.vertices, drawn.assembled, drawn.vertex_invocations, drawn.clipped], [4, 2, 4, 2]);
    assert_eq!((drawn.primitives, drawn.pixel_invocations, drawn.passed), (1, 64 * 63 / 2, 64 * 63 / 2));
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

#[test]
fn depth_is_biased_by_units_and_slope_up_to_a_limit() {
    let drawn = |[scale, offset, limit]: [f32; 3], depths: [f32; 3]| {
        let ram = Ram::new();
        let mut registers = with_depth();
        set(&mut registers, "DB_DEPTH_CONTROL", 2 | 4 | 7 << 4);
        set(&mut registers, "PA_SU_SC_MODE_CNTL", 3 << 11);
        for face in ["FRONT", "BACK"] {
            set(&mut registers, &format!("PA_SU_POLY_OFFSET_{face}_SCALE"), (16.0 * scale).to_bits());
            set(&mut registers, &format!("PA_SU_POLY_OFFSET_{face}_OFFSET"), offset.to_bits());
        }
        set(&mut registers, "PA_SU_POLY_OFFSET_CLAMP", limit.to_bits());
        // The unit is that of the last place of 24 bits.
        set(&mut registers, "PA_SU_POLY_OFFSET_DB_FMT_CNTL", (-24_i8).cast_unsigned().into());
        let mut vertices = half(0.5, [1.0; 3], [RED; 3]);
        for (vertex, z) in vertices.iter_mut().zip(depths) {
            vertex.0[2] = z;
        }
        run(&registers, &ram, &vertices);
        f32::from_bits(ram.word(DEPTH + 4 * (SIDE * 40 + 3) as u64))
    };
    let unit = 1.0 / 16_777_216.0;
    assert_eq!(drawn([0.0, 16.0, 0.0], [0.5; 3]), 0.5 + 16.0 * unit);
    // The depth changes by a half over 64 rows, so that the slope is 1/128.
    let sloped = [0.25, 0.75, 0.75];
    assert_eq!(drawn([2.0, 0.0, 0.0], sloped) - drawn([0.0; 3], sloped), 1.0 / 64.0);
    assert_eq!(drawn([2.0, 0.0, 1.0 / 128.0], sloped) - drawn([0.0; 3], sloped), 1.0 / 128.0);
    assert_eq!(drawn([-2.0, 0.0, -1.0 / 256.0], sloped) - drawn([0.0; 3], sloped), -1.0 / 256.0);
}

#[test]
fn edges_and_corners_of_triangles_are_drawn_in_their_modes() {
    for (mode, expected) in [(0, 3), (1, 3 * 40)] {
        let ram = Ram::new();
        let mut registers = registers();
        set(&mut registers, "PA_SU_SC_MODE_CNTL", 1 << 3 | mode << 5 | mode << 8);
        set(&mut registers, "PA_SU_POINT_SIZE", 8 | 8 << 16);
        set(&mut registers, "PA_SU_POINT_MINMAX", 0xffff << 16);
        set(&mut registers, "PA_SU_LINE_CNTL", 8);
        let at = |x: f32, y: f32| Vertex([(x + 0.5) / 32.0 - 1.0, (y + 0.5) / 32.0 - 1.0, 0.5, 1.0], RED);
        run(&registers, &ram, &[at(10.0, 10.0), at(50.0, 10.0), at(10.0, 50.0)]);
        let drawn = (0..SIDE * SIDE).filter(|at| ram.pixel(at % SIDE, at / SIDE) != 0).count();
        assert_eq!(drawn, expected, "{mode}");
        assert_eq!(ram.pixel(20, 20), 0);
    }
}

#[test]
fn any_register_values_end_in_an_answer() {
    let mut seed = 1_u64;
    let mut next = || {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 32) as u32
    };
    let offsets: Vec<u32> = registers().into_keys().chain(with_depth().into_keys()).collect();
    let (mut drew, mut refused) = (0, 0);
    for round in 0..400 {
        let mut registers = if round % 2 == 0 { registers() } else { with_depth() };
        for _ in 0..1 + next() % 6 {
            let offset = offsets[next() as usize % offsets.len()];
            registers.insert(offset, next() >> (next() % 32));
        }
        // The scissor bounds the time.
        set(&mut registers, "PA_SC_SCREEN_SCISSOR_BR", 80 | 80 << 16);
        let ram = Ram::new();
        let vertices = half(0.5, [1.0; 3], [RED; 3]);
        let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: |_, _| [0.5; 4], discards: 0 };
        let state = state(&registers, 3);
        assert!(!state.lines().is_empty());
        match draw(&state, Some(&chip()), &ram, &mut shaders) {
            Ok(_) => drew += 1,
            Err(_) => refused += 1,
        }
    }
    assert!(drew > 50 && refused > 50, "{drew} {refused}");
}

#[test]
fn a_draw_with_several_unsupported_features_names_them_in_the_order_of_the_pipeline() {
    let mut registers = registers();
    set(&mut registers, "VGT_SHADER_STAGES_EN", 1 << 5);
    set(&mut registers, "PA_SC_MODE_CNTL_0", 1);
    set(&mut registers, "PA_SC_AA_CONFIG", 4);
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    let mut shaders = Closures { vertices: &vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    let ended = draw(&state(&registers, 3), Some(&chip()), &Ram::new(), &mut shaders).unwrap_err();
    assert_eq!(ended, Ended::NotExecuted(vec![Feature::GeometryShader, Feature::Samples(16), Feature::Samples(1)]));
    assert_eq!(ended.to_string(), "not executed: geometry shader, 16 samples, 1 samples");
}

#[test]
fn a_coarse_shading_rate_that_a_driver_sets_by_itself_does_not_keep_a_draw_from_being_executed() {
    // RADV 26.2.6 overrides the rate with 2 x 2 in its clears on GFX12.
    let offset = |name| named(name).unwrap().offset(GfxLevel::Gfx12).unwrap();
    let unsupported = |rate: u32| {
        let read = |at| Some(if at == offset("PA_SC_VRS_OVERRIDE_CNTL") { rate } else { 0 });
        DrawState::new(Call::default(), &Registers::new(GfxLevel::Gfx12, &read)).unsupported()
    };
    assert_eq!(unsupported(1 | 5 << 4), unsupported(0));
}

/// Memory whose job ends after some questions.
struct Ending<'r>(&'r Ram, std::cell::Cell<u32>);

impl Memory for Ending<'_> {
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), MemoryFault> {
        self.0.load(va, out)
    }

    fn store(&self, va: u64, data: &[u8]) -> Result<(), MemoryFault> {
        self.0.store(va, data)
    }

    fn is_stopped(&self) -> bool {
        self.1.set(self.1.get().saturating_sub(1));
        self.1.get() == 0
    }
}

/// Draws, and returns how the draw ended.
fn ended(state: &DrawState, memory: &dyn Memory, vertices: &[Vertex]) -> Result<amdgpu_raster::Drawn, Ended> {
    let mut shaders = Closures { vertices, seen: Vec::new(), colour: interpolated, discards: 0 };
    draw(state, Some(&chip()), memory, &mut shaders)
}

fn indexed(registers: &BTreeMap<u32, u32>, count: u32, indices: amdgpu_raster::Indices) -> DrawState {
    let call = Call { count: Some(count), instances: Some(1), indices: Some(indices), ..Call::default() };
    DrawState::new(call, &Registers::new(GfxLevel::Gfx9, &|offset| registers.get(&offset).copied()))
}

#[test]
fn vertices_without_end_that_make_no_primitive_end_with_their_job() {
    let ram = Ram::new();
    let mut registers = registers();
    // Every index restarts: those behind the end of the buffer are zero.
    set(&mut registers, "VGT_MULTI_PRIM_IB_RESET_EN", 1);
    set(&mut registers, "VGT_MULTI_PRIM_IB_RESET_INDX", 0);
    let state = indexed(&registers, u32::MAX, amdgpu_raster::Indices { va: 0, count: 0, bytes: 4 });
    let memory = Ending(&ram, std::cell::Cell::new(10));
    assert_eq!(ended(&state, &memory, &half(0.5, [1.0; 3], [RED; 3])), Err(Ended::Stopped));
}

#[test]
fn instances_without_end_end_with_their_job() {
    let ram = Ram::new();
    for count in [1, 3] {
        let call = Call { count: Some(count), instances: Some(u32::MAX), ..Call::default() };
        let registers = registers();
        let state = DrawState::new(call, &Registers::new(GfxLevel::Gfx9, &|offset| registers.get(&offset).copied()));
        let memory = Ending(&ram, std::cell::Cell::new(300));
        assert_eq!(ended(&state, &memory, &half(0.5, [1.0; 3], [RED; 3])), Err(Ended::Stopped), "{count}");
    }
}

#[test]
fn indices_that_are_not_drawn_need_no_memory_and_others_are_a_fault() {
    let registers = registers();
    let vertices = half(0.5, [1.0; 3], [RED; 3]);
    let end = 2 << 20;
    for (in_memory, faults) in [(3, false), (2, true)] {
        let ram = Ram::new();
        // The second vertex and the third; what is not mapped is the first.
        let va = end - 2 * in_memory;
        for (at, index) in (va..end).step_by(2).zip([1_u16, 2, 0]) {
            ram.store(at, &index.to_le_bytes()).unwrap();
        }
        let state = indexed(&registers, 3, amdgpu_raster::Indices { va, count: u32::MAX, bytes: 2 });
        let drawn = ended(&state, &ram, &vertices).unwrap();
        let fault = faults.then_some(MemoryFault { va, is_write: false });
        assert_eq!((drawn.fault, count(&ram, 0xff00_00ff)), (fault, 64 * 63 / 2), "{in_memory}");
    }
}

#[test]
fn a_depth_target_that_is_not_mapped_faults_although_no_sample_passes() {
    let ram = Ram::new();
    let mut registers = with_depth();
    set(&mut registers, "DB_Z_READ_BASE", 0x10_0000);
    set(&mut registers, "DB_Z_WRITE_BASE", 0x10_0000);
    let drawn = ended(&state(&registers, 3), &ram, &half(0.5, [1.0; 3], [RED; 3])).unwrap();
    assert_eq!((drawn.passed, count(&ram, 0)), (0, 0x4000));
    assert!(drawn.fault.is_some_and(|fault| fault.va >= 0x1000_0000 && !fault.is_write), "{drawn:?}");
}

#[test]
fn absurd_viewports_and_widths_draw_every_topology_without_a_panic() {
    let ram = Ram::new();
    for topology in 1..=6 {
        for scale in [f32::MAX, f32::MIN_POSITIVE, f32::INFINITY, f32::NAN, -1e18] {
            // One sample, and four, whose lines are rectangles.
            for samples in [registers(), with_samples()] {
                let mut registers = samples;
                set(&mut registers, "VGT_PRIMITIVE_TYPE", topology);
                set(&mut registers, "PA_CL_VPORT_XSCALE", scale.to_bits());
                set(&mut registers, "PA_CL_VPORT_YOFFSET", scale.to_bits());
                set(&mut registers, "PA_SU_LINE_CNTL", 0xffff);
                set(&mut registers, "PA_SU_POINT_SIZE", u32::MAX);
                set(&mut registers, "PA_SU_POINT_MINMAX", 0xffff << 16);
                let drawn = ended(&state(&registers, 3), &ram, &half(0.5, [1.0; 3], [RED; 3]));
                assert!(drawn.is_ok_and(|drawn| drawn.fault.is_none()), "{topology} {scale}");
            }
        }
    }
}

#[test]
fn more_samples_than_eight_are_refused_by_name() {
    for log2 in 4..8 {
        let mut registers = with_samples();
        set(&mut registers, "PA_SC_AA_CONFIG", log2);
        let ended = ended(&state(&registers, 3), &Ram::new(), &half(0.5, [1.0; 3], [RED; 3]));
        let Err(Ended::NotExecuted(features)) = ended else { panic!("{ended:?}") };
        assert!(features.contains(&Feature::Samples(1 << log2)), "{features:?}");
    }
}

#[test]
fn targets_beside_the_shaders_exports_are_left_alone() {
    let ram = Ram::new();
    let mut registers = registers();
    // All eight targets are the same memory, and the shader exports to the first.
    for index in 1..8 {
        for (name, of) in [("BASE", (COLOUR >> 8) as u32 + 0x100 * index), ("INFO", 10 << 2), ("ATTRIB", 1 << 28)] {
            set(&mut registers, &format!("CB_COLOR{index}_{name}"), of);
        }
        let last = SIDE as u32 - 1;
        set(&mut registers, &format!("CB_COLOR{index}_ATTRIB2"), last | last << 14);
        set(&mut registers, &format!("CB_MRT{index}_EPITCH"), last);
    }
    set(&mut registers, "CB_TARGET_MASK", u32::MAX);
    set(&mut registers, "CB_SHADER_MASK", u32::MAX);
    set(&mut registers, "SPI_SHADER_COL_FORMAT", 0x9999_9999);
    let drawn = ended(&state(&registers, 3), &ram, &half(0.5, [1.0; 3], [RED; 3])).unwrap();
    assert_eq!((drawn.fault, count(&ram, 0xff00_00ff)), (None, 64 * 63 / 2));
}
