//! Tiles and blocks that metadata clears: HTILE and DCC.

use crate::{
    COLOUR, Closures, DEPTH, GREEN, HTILE, RED, Ram, chip, count, half, interpolated, registers, run, set, state,
    with_depth,
};
use amdgpu_raster::{Ended, Memory, draw};
use std::collections::BTreeMap;

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
