//! Descriptions of images, modifiers and tiling words from other processes.

use amdgpu_fuzz::reach::Reach;
use amdgpu_surface::{
    Chip, ChipRegisters, GfxLevel,
    modifier::{FormatClass, ListOptions, MaxBlock, Modifier, ModifierList, max_extent, supports_image_stores},
    surface::{DccSettings, Dimension, LegacyTiles, MicroMode, SurfaceConfig, SurfaceLayout, SurfaceUsage, TilingMode},
    tiler::{Region, Rows, Subresource},
};

static LAID_OUT: Reach = Reach::new("images::any_image_is_laid_out_or_refused");
static DECODED: Reach = Reach::new("images::any_modifier_is_one_number_or_refused");

/// A size: small ones, powers of two, their neighbours, and anything.
fn size((kind, raw): (u8, u32)) -> u32 {
    match kind % 8 {
        0..=3 => raw % 20 + 1,
        4 => raw % 5000,
        5 => 1 << (raw % 32),
        6 => (1 << (raw % 32)) - 1,
        _ => raw,
    }
}

/// One of a few values more often than any.
fn among<const N: usize>(values: [u32; N], raw: u16) -> u32 {
    if raw < 0xff00 { values[usize::from(raw) % N] } else { raw.into() }
}

/// GB_ADDR_CONFIG of real chips, so that most inputs have a layout.
const ADDR_CONFIGS: [u32; 12] = [
    0x2201_1003,
    0x1201_1002,
    0x2a11_4042,
    0x2400_1010,
    0x2401_0042,
    0x0010_0044,
    0x0000_0045,
    0x0000_0344,
    0x0000_0545,
    0x0000_0444,
    0x2641_1033,
    0x0000_0242,
];

/// GB_TILE_MODE0 to 31 and GB_MACROTILE_MODE0 to 15 of Polaris 10.
const TILE_MODES: [u32; 32] = [
    0x0080_0310,
    0x0080_0b10,
    0x0080_1310,
    0x0080_1b10,
    0x0080_2b10,
    0x0080_2b08,
    0x0080_2b14,
    0x0080_2954,
    0x0000_0304,
    0x0200_0308,
    0x0200_0310,
    0x0600_0314,
    0x0600_0154,
    0x0240_0308,
    0x0240_0310,
    0x0240_0330,
    0x0640_0314,
    0x0640_0154,
    0x0040_030c,
    0x0100_030c,
    0x0100_031c,
    0x0100_0334,
    0x0100_0324,
    0x0100_0164,
    0x0040_031c,
    0x0100_0320,
    0x0100_0338,
    0x02c0_0308,
    0x02c0_0310,
    0x06c0_0314,
    0x06c0_0154,
    0,
];
const MACROTILE_MODES: [u32; 16] =
    [0xe8, 0xe8, 0xe8, 0xe8, 0xd4, 0xc0, 0xc0, 0, 0xec, 0xe8, 0xd4, 0xd0, 0x80, 0x40, 0x40, 0];

/// Generation, family, revision, register, properties, and registers of tiling: which ones are changed, and to what.
type Registers = (u8, u8, u8, u32, u16, [(u8, u32); 3]);

fn chip((level, family, rev, config, properties, changes): Registers) -> Option<Chip> {
    let level = GfxLevel::ALL[usize::from(level) % GfxLevel::ALL.len()];
    let family = if level < GfxLevel::Gfx9 {
        [0x6e, 0x78, 0x7d, 0x82, 0x87, u32::from(family)][usize::from(family % 6)]
    } else {
        [0x8d, 0x8e, 0x8f, 0x91, 0x94, 0x97, u32::from(family)][usize::from(family % 7)]
    };
    let config =
        if config.is_multiple_of(4) { config >> 2 } else { ADDR_CONFIGS[config as usize % ADDR_CONFIGS.len()] };
    let (mut tile_modes, mut macrotile_modes) = (TILE_MODES, MACROTILE_MODES);
    for (place, value) in changes {
        match usize::from(place) {
            // Most tables have a few odd entries, some none, and few nothing but odd ones.
            at @ 0..32 => tile_modes[at] = value,
            at @ 32..48 => macrotile_modes[at - 32] = value,
            at @ 48..56 => tile_modes = std::array::from_fn(|entry| value.rotate_left((entry * at) as u32)),
            at @ 56..64 => macrotile_modes = std::array::from_fn(|entry| value.rotate_left((entry * at) as u32)),
            _ => {}
        }
    }
    let has = |bit: u32| properties >> bit & 1 == 1;
    let mut registers = ChipRegisters::new(level, family, rev.into(), config);
    if level < GfxLevel::Gfx9 {
        (registers.tile_modes, registers.macrotile_modes) = (tile_modes, macrotile_modes);
    }
    registers.render_backends = u32::from(properties >> 12) + 1;
    registers.has_graphics = has(0) || has(1);
    registers.has_image_opcodes = has(2) || has(3);
    registers.has_dedicated_vram = has(4);
    registers.has_dcc_constant_encode = has(5);
    registers.has_tc_compatible_htile = has(6);
    registers.display_dcc_unaligned = has(7);
    registers.display_dcc_retile = has(8);
    registers.gfx12_display_dcc = has(9);
    Chip::new(&registers).ok()
}

/// Sizes, counts, kinds, uses, modifier and tiling word, numbers of views, and what the caller itself gives.
type Asked = ([(u8, u32); 4], [u16; 6], [u8; 6], u32, (u64, u64, bool), (u8, u16), Given);

/// Indices of the surface and of FMASK, parameters of macro tiles, and the distances between rows and between slices of a copy.
type Given = ([(u8, u32); 2], (u8, [u16; 6], u32), [(u8, u64); 2]);

/// Parameters of macro tiles: mostly ones that chips have.
fn tiles(&(kind, raw, any): &(u8, [u16; 6], u32)) -> Option<LegacyTiles> {
    let [bank_width, bank_height, aspect, tile_split, banks, pipe_config] = raw;
    let side = |raw| among([1, 2, 4, 8, 0], raw);
    let mut tiles = LegacyTiles {
        bank_width: side(bank_width),
        bank_height: side(bank_height),
        aspect: side(aspect),
        tile_split: among([64, 256, 1024, 4096, 0], tile_split),
        banks: among([2, 4, 8, 16, 0], banks),
        pipe_config: u32::from(pipe_config) % 32,
    };
    match kind % 16 {
        0 => tiles.bank_width = any,
        1 => tiles.bank_height = any,
        2 => tiles.aspect = any,
        3 => tiles.tile_split = any,
        4 => tiles.banks = any,
        5 => tiles.pipe_config = any,
        6..12 => {}
        _ => return None,
    }
    Some(tiles)
}

/// A distance between rows or slices.
fn distance((kind, raw): (u8, u64)) -> usize {
    match kind % 8 {
        0 => usize::MAX,
        1 => raw as usize,
        2 => 1 << (raw % 64),
        _ => raw as usize % 5000,
    }
}

fn image(chip: &Chip, asked: &Asked) -> SurfaceConfig {
    let (sizes, counts, kinds, usage, (modifier, flags, import), _, (indices, legacy, _)) = *asked;
    let [width, height, depth, layers] = sizes.map(size);
    let [samples, stored, bytes, block_w, block_h, levels] = counts;
    let mut config = SurfaceConfig::new(width, height, among([1, 2, 4, 8, 16], bytes));
    config.dimension = [Dimension::D2, Dimension::D1, Dimension::D3, Dimension::Cube][usize::from(kinds[0] % 4)];
    config.depth = if config.dimension == Dimension::D3 || kinds[5].is_multiple_of(16) { depth } else { 1 };
    config.layers = if config.dimension == Dimension::D3 && kinds[5] % 16 != 1 { 1 } else { layers };
    config.levels = among([1, 1, 2, 5, 10, 14, 15, 16], levels);
    config.samples = among([1, 1, 1, 1, 1, 2, 4, 8, 16, 0], samples);
    config.storage_samples = among([1, 1, 1, 1, 2, 4, 8, 0], stored);
    config.block = (among([1, 1, 1, 4, 2], block_w), among([1, 1, 1, 4], block_h));
    config.channels = u32::from(kinds[1] % 5);
    config.mode = [TilingMode::Tiled2d, TilingMode::Linear, TilingMode::Tiled1d][usize::from(kinds[2] % 3)];
    // Each use is rare, so that they come together in all ways and alone.
    config.usage =
        SurfaceUsage::from_bits_truncate(usage & usage.rotate_left(7) & usage.rotate_left(13) & usage.rotate_left(19));
    let [surface, fmask] = indices.map(size);
    config.surface_index = kinds[3].is_multiple_of(2).then_some(surface);
    config.fmask_index = kinds[3].is_multiple_of(3).then_some(fmask);
    config.legacy = tiles(&legacy);
    config.swizzle_mode = kinds[4];
    config.micro_mode =
        [MicroMode::Display, MicroMode::Standard, MicroMode::Depth, MicroMode::Render][usize::from(kinds[5] % 4)];
    config.dcc = DccSettings {
        independent_64b: usage & 1 == 1,
        independent_128b: usage & 2 == 2,
        max_block: MaxBlock::new(u64::from(kinds[1]) % 3).unwrap_or_default(),
    };
    if kinds[0] >= 192 {
        // A modifier of the chip's, or any that has the vendor's number.
        let format =
            FormatClass { bits: config.bytes.saturating_mul(8), compressed: false, depth_stencil: false, planes: 1 };
        let list = ModifierList::new(chip, format, ListOptions { dcc: true, retile: true });
        let own = list.as_slice().get(modifier as usize % 16).copied();
        let any = Modifier::decode(2 << 56 | modifier & 0xf_ffff_ffff).ok();
        config.modifier = if modifier >> 63 == 0 { own } else { any };
    }
    if import && flags.is_multiple_of(4) && config.apply_tiling_flags(chip, flags).is_ok() {
        config.usage |= SurfaceUsage::IMPORTED;
    }
    config
}

/// Addresses of the corners, and a copy of a few texels of small images there and back.
fn look(texels: &Subresource, bytes: u64, config: &SurfaceConfig, distances: [(u8, u64); 2]) {
    let [width, height, depth] = texels.extent();
    if width == 0 || height == 0 || depth == 0 {
        return;
    }
    for [x, y, z] in [[0; 3], [width - 1, height - 1, depth - 1], [width, height, depth]] {
        let found = texels.address(x, y, z, 0);
        assert!(found.is_ok() || x == width, "{found:?} at {x} {y} {z} of {config:?}");
    }
    let part = Region {
        first: [width / 3, height / 3, depth / 2],
        extent: [19.min(width / 2), 11.min(height / 2), 1],
        sample: 0,
    };
    if bytes > 1 << 20 || !config.bytes.is_power_of_two() {
        return;
    }
    let row = 19 * config.bytes as usize;
    let (layout, mut tiled) = (Rows { pitch: row, slice: 0 }, vec![0; bytes as usize]);
    let rows: Vec<u8> = (0..11 * row).map(|at| at as u8 | 1).collect();
    let mut back = vec![0; rows.len()];
    if texels.tile(&part, &rows, layout, &mut tiled).is_ok() {
        texels.detile(&part, &tiled, &mut back, layout).expect("what went in comes out");
    }
    let [pitch, slice] = distances.map(distance);
    let (part, odd) =
        (Region { extent: [part.extent[0], part.extent[1], 2.min(depth)], ..part }, Rows { pitch, slice });
    let (there, back) = (texels.detile(&part, &tiled, &mut back, odd), texels.tile(&part, &rows, odd, &mut tiled));
    assert_eq!(there.is_ok(), back.is_ok(), "{odd:?} of {config:?}");
}

#[test]
fn any_image_is_laid_out_or_refused() {
    bolero::check!().with_type::<(Registers, Asked)>().with_iterations(20_000).for_each(|(registers, asked)| {
        let Some(chip) = chip(*registers) else { return LAID_OUT.count(false) };
        let config = image(&chip, asked);
        let layout = SurfaceLayout::new(&chip, &config);
        match &layout {
            Ok(layout) => {
                let (level, layer) = asked.5;
                let view = layout.nbc_view(&chip, &config, level.into(), layer.into());
                if let Ok(view) = view {
                    assert!(view.width > 0 && view.height > 0, "{view:?} of {config:?}");
                }
                let _ = (layout.tiling_flags(&chip), layout.supports_dcc_image_stores(&chip));
                let ((level, _), (_, _, distances)) = (asked.5, asked.6);
                if let Ok(texels) = layout.texels(&chip, &config, level.into()) {
                    look(&texels, layout.bytes, &config, distances);
                }
                for plane in layout.planes(&config).as_slice() {
                    assert!(plane.offset.checked_add(plane.bytes).is_some(), "{plane:?} of {config:?}");
                }
            }
            Err(error) => assert!(!error.to_string().is_empty() && error.code() != 0),
        }
        LAID_OUT.count(layout.is_ok());
    });
    LAID_OUT.report();
}

#[test]
fn any_modifier_is_one_number_or_refused() {
    bolero::check!().with_type::<(Registers, u64, u8)>().with_iterations(50_000).for_each(
        |&(registers, raw, shape)| {
            let raw =
                if shape.is_multiple_of(4) { raw } else { 2 << 56 | raw & 0xf_ffff_ff00 | (u64::from(shape) % 7) };
            let decoded = Modifier::decode(raw);
            match decoded {
                Ok(modifier) => {
                    assert_eq!(modifier.encode(), raw, "{modifier:?}");
                    if let Some(chip) = chip(registers) {
                        let _ = (max_extent(&chip, modifier), supports_image_stores(&chip, modifier));
                    }
                }
                Err(error) => assert!(!error.to_string().is_empty()),
            }
            DECODED.count(decoded.is_ok());
        },
    );
    DECODED.report();
}
