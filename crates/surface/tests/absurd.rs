//! No arithmetic overflows, whatever a chip reports, an image asks for, and a copy is given: tests are built with overflow checks.

use std::sync::LazyLock;

use amdgpu_surface::{
    Chip, ChipRegisters, GfxLevel,
    modifier::{MaxBlock, Modifier},
    surface::{
        DccSettings, Dimension, LegacyTiles, MicroMode, SurfaceConfig, SurfaceError, SurfaceLayout, SurfaceUsage,
        TilingMode,
    },
    tiler::{Region, Rows, Subresource, TilerError},
};
use amdgpu_test_support::chips;
use proptest::{prelude::*, sample::select};

static KNOWN: LazyLock<Vec<(String, Chip)>> = LazyLock::new(chips::recorded);

/// Ends of the range, powers of two, their neighbours, small numbers, and anything.
fn odd() -> impl Strategy<Value = u32> {
    prop_oneof![
        1 => select(vec![0, u32::MAX]),
        1 => (0..32_u32).prop_map(|bit| 1 << bit),
        1 => (0..32_u32).prop_map(|bit| (1 << bit) - 1),
        2 => 0..70_u32,
        1 => any::<u32>(),
    ]
}

/// Numbers that an image has, and now and then an odd one.
fn mostly(usual: impl Strategy<Value = u32> + 'static) -> impl Strategy<Value = u32> {
    prop_oneof![9 => usual, 1 => odd()]
}

fn distance() -> impl Strategy<Value = usize> {
    prop_oneof![2 => 0..5000_usize, 1 => select(vec![0, usize::MAX, usize::MAX / 2, 1 << 63]), 1 => any::<usize>()]
}

fn absurd_chip() -> impl Strategy<Value = Option<Chip>> {
    let levels = select(GfxLevel::ALL.to_vec());
    let families =
        prop_oneof![4 => select(vec![0x6e, 0x78, 0x7d, 0x82, 0x87, 0x8d, 0x8e, 0x8f, 0x91, 0x94]), 1 => odd()];
    let tables = (any::<[u32; 32]>(), any::<[u32; 16]>());
    let counts = (odd(), any::<u64>(), odd(), odd());
    let properties = any::<[bool; 8]>();
    (levels, families, odd(), any::<u32>(), tables, counts, properties).prop_map(
        |(level, family, rev, config, (tile_modes, macrotile_modes), counts, properties)| {
            let (render_backends, enabled_rb_mask, compute_units, drm_minor) = counts;
            let [graphics, opcodes, vram, constant, htile, unaligned, retile, display] = properties;
            Chip::new(&ChipRegisters {
                chip_rev: rev,
                tile_modes,
                macrotile_modes,
                render_backends,
                enabled_rb_mask,
                compute_units,
                drm_minor,
                has_graphics: graphics,
                has_image_opcodes: opcodes,
                has_dedicated_vram: vram,
                has_dcc_constant_encode: constant,
                has_tc_compatible_htile: htile,
                display_dcc_unaligned: unaligned,
                display_dcc_retile: retile,
                gfx12_display_dcc: display,
                ..ChipRegisters::new(level, family, rev, config)
            })
            .ok()
        },
    )
}

fn chip() -> impl Strategy<Value = Option<Chip>> {
    prop_oneof![2 => select(&KNOWN[..]).prop_map(|(_, chip)| Some(chip)), 1 => absurd_chip()]
}

fn tiles() -> impl Strategy<Value = LegacyTiles> {
    let side = || mostly(select(vec![0, 1, 2, 4, 8]));
    let split = mostly(select(vec![0, 64, 128, 256, 512, 1024, 2048, 4096]));
    (side(), side(), side(), split, mostly(select(vec![0, 2, 4, 8, 16])), mostly(0..32_u32)).prop_map(
        |(bank_width, bank_height, aspect, tile_split, banks, pipe_config)| LegacyTiles {
            bank_width,
            bank_height,
            aspect,
            tile_split,
            banks,
            pipe_config,
        },
    )
}

fn image() -> impl Strategy<Value = SurfaceConfig> {
    let sides = (mostly(1..3000_u32), mostly(1..3000_u32), mostly(1..3_u32), mostly(1..3_u32));
    let counts = (
        mostly(select(vec![1, 2, 4, 8, 12, 16])),
        mostly(1..14_u32),
        mostly(select(vec![1, 1, 2, 4, 8])),
        mostly(select(vec![1, 1, 2, 4, 8])),
        mostly(select(vec![1, 1, 1, 4])),
        mostly(0..5_u32),
    );
    let kinds = (
        select(vec![Dimension::D2, Dimension::D2, Dimension::D1, Dimension::D3, Dimension::Cube]),
        select(vec![TilingMode::Linear, TilingMode::Tiled1d, TilingMode::Tiled2d, TilingMode::Tiled2d]),
        (0..5_usize).prop_map(|at| {
            [MicroMode::Display, MicroMode::Standard, MicroMode::Depth, MicroMode::Render, MicroMode::Thick][at]
        }),
        (any::<u32>(), any::<u32>(), any::<u32>()).prop_map(|(a, b, c)| SurfaceUsage::from_bits_retain(a & b & c)),
        any::<u8>(),
    );
    let shared = (
        proptest::option::of(odd()),
        proptest::option::of(odd()),
        proptest::option::weighted(0.2, any::<u64>()),
        proptest::option::weighted(0.4, tiles()),
        any::<(bool, bool)>(),
        select(vec![MaxBlock::B64, MaxBlock::B128, MaxBlock::B256]),
    );
    (sides, counts, kinds, shared).prop_map(|((width, height, depth, layers), counts, kinds, shared)| {
        let (bytes, levels, samples, storage_samples, block, channels) = counts;
        let (dimension, mode, micro_mode, usage, swizzle_mode) = kinds;
        let (surface_index, fmask_index, modifier, legacy, (independent_64b, independent_128b), max_block) = shared;
        SurfaceConfig {
            depth,
            layers,
            levels,
            samples,
            storage_samples,
            block: (block, block),
            channels,
            dimension,
            mode,
            usage,
            modifier: modifier.and_then(|number| Modifier::decode(number & 0xf_ffff_ffff | 2 << 56).ok()),
            surface_index,
            fmask_index,
            swizzle_mode,
            micro_mode,
            dcc: DccSettings { independent_64b, independent_128b, max_block },
            legacy,
            ..SurfaceConfig::new(width, height, bytes)
        }
    })
}

/// A region, the distances between its rows and slices, and the sizes of both buffers.
fn copy() -> impl Strategy<Value = (Region, Rows, usize, usize)> {
    let place = || prop_oneof![3 => 0..40_u32, 1 => odd()];
    let region = ([place(), place(), place()], [place(), place(), place()], 0..9_u32);
    (region, distance(), distance(), 0..1_usize << 18, 0..1_usize << 18).prop_map(
        |((first, extent, sample), pitch, slice, tiled, linear)| {
            (Region { first, extent, sample }, Rows { pitch, slice }, tiled, linear)
        },
    )
}

/// Asks for an address, and copies there and back.
fn look(
    texels: Result<Subresource, TilerError>,
    [x, y, z, sample]: [u32; 4],
    (region, rows, tiled, linear): (Region, Rows, usize, usize),
) {
    let Ok(texels) = texels else { return };
    let _ = texels.address(x, y, z, sample);
    let (mut tiled, mut linear) = (vec![0; tiled], vec![0; linear]);
    let _ = texels.detile(&region, &tiled, &mut linear, rows);
    let _ = texels.tile(&region, &linear, rows, &mut tiled);
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 2000, ..ProptestConfig::with_cases(3_000) })]

    #[test]
    fn any_image_on_any_chip_is_laid_out_and_copied_or_refused(
        chip in chip(),
        mut config in image(),
        (level, layer, flags) in (prop_oneof![3 => 0..4_u32, 1 => odd()], odd(), any::<u64>()),
        at in [odd(), odd(), odd(), odd()],
        copy in copy(),
    ) {
        let Some(chip) = chip else { return Ok(()) };
        let _ = chip.max_alignments();
        if let Ok(layout) = SurfaceLayout::new(&chip, &config) {
            let _ = (layout.planes(&config), layout.supports_dcc_image_stores(&chip), layout.tiling_flags(&chip));
            let _ = layout.nbc_view(&chip, &config, level, layer);
            look(layout.texels(&chip, &config, level), at, copy);
            look(layout.stencil_texels(&chip, &config, level), at, copy);
        }
        let _ = config.apply_tiling_flags(&chip, flags);
    }
}

fn polaris() -> Chip {
    KNOWN.iter().find(|(name, _)| name == "polaris10").unwrap().1
}

#[test]
fn parameters_of_macro_tiles_that_no_chip_has_are_refused() {
    let right = LegacyTiles { bank_width: 1, bank_height: 4, aspect: 4, tile_split: 256, banks: 16, pipe_config: 12 };
    let asked = |legacy| {
        let usage = SurfaceUsage::IMPORTED | SurfaceUsage::SHAREABLE;
        let config = SurfaceConfig { legacy: Some(legacy), usage, ..SurfaceConfig::new(640, 480, 4) };
        SurfaceLayout::new(&polaris(), &config).map(|layout| layout.tiling_flags(&polaris()).is_some())
    };
    assert_eq!(asked(right), Ok(true));
    for wrong in [
        LegacyTiles { tile_split: 32, ..right },
        LegacyTiles { tile_split: 1, ..right },
        LegacyTiles { tile_split: 8192, ..right },
        LegacyTiles { bank_width: 3, ..right },
        LegacyTiles { bank_height: 16, ..right },
        LegacyTiles { aspect: u32::MAX, ..right },
        LegacyTiles { banks: 32, ..right },
        LegacyTiles { pipe_config: 32, ..right },
    ] {
        assert_eq!(asked(wrong), Err(SurfaceError::Config("these parameters of macro tiles")), "{wrong:?}");
    }
}

/// The driver's counter of images has 32 bits, so after the last index the first one follows.
#[test]
fn the_last_index_of_fmask_has_the_swizzle_of_the_first_image() {
    let swizzle = |fmask_index| {
        let config = SurfaceConfig { samples: 4, storage_samples: 4, ..SurfaceConfig::new(640, 480, 4) };
        let config = SurfaceConfig { fmask_index: Some(fmask_index), ..config };
        SurfaceLayout::new(&polaris(), &config).unwrap().fmask.unwrap().tile_swizzle
    };
    let first: Vec<u32> = (0..16).map(swizzle).collect();
    assert!(first.iter().any(|&swizzle| swizzle != 0), "{first:?}");
    assert_eq!((swizzle(u32::MAX), swizzle(u32::MAX - 1)), (0, first[14]));
}

#[test]
fn rows_whose_ends_no_offset_reaches_are_refused() {
    let (chip, config) = (polaris(), SurfaceConfig::new(64, 64, 4));
    let texels = SurfaceLayout::new(&chip, &config).unwrap().texels(&chip, &config, 0).unwrap();
    let tiled = vec![0; 1 << 16];
    for pitch in [usize::MAX, 1 << 63, usize::MAX / 7 + 1] {
        let refused = texels.detile(&Region::whole(8, 8, 1), &tiled, &mut [0; 256], Rows { pitch, slice: 0 });
        assert_eq!(refused, Err(TilerError::RowsTooShort { len: 256, at: u64::MAX }), "{pitch:#x}");
    }
}
