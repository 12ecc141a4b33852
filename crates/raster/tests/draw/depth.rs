//! Tests of depth, its bounds, its bias, and when they happen.

use crate::{
    COLOUR, Closures, DEPTH, GREEN, RED, Ram, SIDE, chip, count, half, interpolated, run, set, state, with_depth,
};
use amdgpu_hw::GfxLevel;
use amdgpu_raster::{Call, DrawState, Memory, Registers, draw};
use amdgpu_registers::named;

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
fn a_depth_of_24_bits_is_the_nearest_multiple_of_its_unit() {
    let ram = Ram::new();
    let mut registers = with_depth();
    set(&mut registers, "DB_Z_INFO", 2);
    for at in 0..SIDE * SIDE {
        ram.set(DEPTH + 4 * at as u64, 0xff_ffff);
    }
    // A hundredth of a unit apart, which 24 bits do not tell and a float does.
    let unit = 1.0 / 16_777_215.0;
    run(&registers, &ram, &half(1000.25 * unit, [1.0; 3], [RED; 3]));
    run(&registers, &ram, &half(1000.24 * unit, [1.0; 3], [GREEN; 3]));
    assert_eq!((ram.pixel(3, 40), ram.word(DEPTH + 4 * (SIDE * 40 + 3) as u64)), (0xff00_00ff, 1000));
    run(&registers, &ram, &half(999.0 * unit, [1.0; 3], [GREEN; 3]));
    assert_eq!((ram.pixel(3, 40), ram.word(DEPTH + 4 * (SIDE * 40 + 3) as u64)), (0xff00_ff00, 999));
}

#[test]
fn depth_and_stencil_are_copied_to_colours_as_they_are() {
    const STENCIL: u64 = 0x14_0000;
    // DEPTH_COPY and STENCIL_COPY of DB_RENDER_CONTROL, to colours of 8_24 UNORM and UINT, and depth alone to a float.
    for (what, info, expected) in [
        (1 << 2, 20 << 2, 0x12_3456),
        (1 << 3, 20 << 2 | 4 << 8, 0x5a00_0000),
        (3 << 2, 20 << 2, 0x5a12_3456),
        (1 << 2, 4 << 2 | 7 << 8, ((f64::from(0x12_3456) / 16_777_215.0) as f32).to_bits()),
    ] {
        let ram = Ram::new();
        let mut registers = with_depth();
        set(&mut registers, "DB_Z_INFO", 2);
        set(&mut registers, "DB_STENCIL_INFO", 1);
        set(&mut registers, "DB_STENCIL_INFO2", SIDE as u32 - 1);
        set(&mut registers, "DB_STENCIL_READ_BASE", (STENCIL >> 8) as u32);
        set(&mut registers, "DB_STENCIL_WRITE_BASE", (STENCIL >> 8) as u32);
        set(&mut registers, "DB_DEPTH_CONTROL", 0);
        set(&mut registers, "DB_RENDER_CONTROL", what);
        set(&mut registers, "CB_COLOR0_INFO", info);
        let at = (SIDE * 40 + 3) as u64;
        ram.set(DEPTH + 4 * at, 0xff12_3456);
        // Rows of bytes are padded.
        for word in 0..0x1000 {
            ram.set(STENCIL + 4 * word, 0x5a5a_5a5a);
        }
        run(&registers, &ram, &half(0.25, [1.0; 3], [GREEN; 3]));
        assert_eq!(ram.word(COLOUR + 4 * at), expected, "{what} {info:#x}");
        // Above the diagonal nothing is drawn.
        assert_eq!(ram.word(COLOUR + 4 * (SIDE * 3 + 40) as u64), 0);
    }
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
    // Depths of 16 and 24 bits are compared as whole numbers, which bounds that are multiples of the unit stand for.
    for format in [1, 2, 3, 1, 2, 3, 1, 2, 3] {
        let is_short = format == 1;
        let largest = if format == 2 { 16_777_215 } else { 65_535 };
        let ram = Ram::new();
        let mut registers = with_depth();
        set(&mut registers, "DB_Z_INFO", format);
        set(&mut registers, "DB_DEPTH_CONTROL", 1 << 3);
        let (low, span) = (random.next(largest / 5 * 3), largest / 6 + random.next(largest / 6));
        let (low, high) = (low, low + span);
        let depth = |code: u32| (f64::from(code) / f64::from(largest)) as f32;
        set(&mut registers, "DB_DEPTH_BOUNDS_MIN", depth(low).to_bits());
        set(&mut registers, "DB_DEPTH_BOUNDS_MAX", depth(high).to_bits());
        let codes: Vec<u32> = (0..SIDE * SIDE)
            .map(|_| match random.next(4) {
                // Near the bounds, where they decide.
                0 => (low + random.next(3)).saturating_sub(1),
                1 => (high + random.next(3)).saturating_sub(1),
                _ => random.next(largest + 1),
            })
            .collect();
        // Rows are 256 bytes.
        set(&mut registers, "DB_Z_INFO2", if is_short { 2 * SIDE as u32 - 1 } else { SIDE as u32 - 1 });
        for (at, code) in codes.iter().enumerate() {
            match format {
                1 => {
                    ram.store(DEPTH + (256 * (at / SIDE) + 2 * (at % SIDE)) as u64, &code.to_le_bytes()[..2]).unwrap();
                }
                // The upper bits are no part of a depth of 24 bits.
                2 => ram.set(DEPTH + 4 * at as u64, code | 0x5a << 24),
                _ => ram.set(DEPTH + 4 * at as u64, depth(*code).to_bits()),
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
