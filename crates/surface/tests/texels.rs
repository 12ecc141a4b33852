//! The addresses of whole images: every texel of every level has bytes of its own inside the image, and a layout's reasons
//! agree with what the layout has.

use std::collections::HashSet;

use amdgpu_surface::surface::{
    Dimension, ModeReason, Presence, SurfaceConfig, SurfaceLayout, SurfaceUsage, TilingMode,
};
use amdgpu_surface::{ChipRegisters, GfxLevel, Reported};
use amdgpu_test_support::chips;
use proptest::prelude::*;

fn configs() -> impl Strategy<Value = SurfaceConfig> {
    let sides = (1_u32..90, 1_u32..70, 1_u32..5);
    let mode = prop_oneof![Just(TilingMode::Linear), Just(TilingMode::Tiled1d), Just(TilingMode::Tiled2d)];
    let bits = prop::bits::u32::between(0, 20);
    let volume = any::<bool>();
    (sides, 0_u32..5, 1_u32..5, 0_u32..3, mode, bits, volume, prop::option::of(0_u32..64)).prop_map(
        |((w, h, d), bytes, levels, samples, mode, bits, volume, index)| {
            let mut config = SurfaceConfig::new(w, h, 1 << bytes);
            config.levels = levels;
            if volume {
                (config.dimension, config.depth) = (Dimension::D3, d);
            } else {
                config.layers = d;
            }
            if levels == 1 && !volume {
                (config.samples, config.storage_samples) = (1 << samples, 1 << samples);
            }
            let given = SurfaceUsage::IMPORTED | SurfaceUsage::FORCE_SWIZZLE_MODE | SurfaceUsage::FORCE_MICRO_TILE_MODE;
            let mut usage = SurfaceUsage::from_bits_truncate(bits) - (given | SurfaceUsage::SBUFFER);
            if config.bytes != 2 && config.bytes != 4 {
                usage.remove(SurfaceUsage::ZBUFFER);
            }
            (config.mode, config.usage, config.surface_index) = (mode, usage, index);
            config
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_texel_has_bytes_of_its_own(config in configs()) {
        for (name, chip) in chips::recorded() {
            let Ok(layout) = SurfaceLayout::new(&chip, &config) else { continue };
            let mut seen = HashSet::new();
            let bytes = u64::from(config.bytes);
            for number in 0..config.levels {
                let Ok(level) = layout.texels(&chip, &config, number) else { break };
                let side = |side: u32| (side >> number).max(1);
                let depth = if config.dimension == Dimension::D3 { side(config.depth) } else { config.layers };
                for sample in 0..config.storage_samples.max(1) {
                    for (z, y, x) in (0..depth).flat_map(|z| (0..side(config.height)).flat_map(move |y|
                        (0..side(config.width)).map(move |x| (z, y, x))))
                    {
                        let at = level.address(x, y, z, sample).unwrap();
                        prop_assert!(at + bytes <= layout.bytes, "{name} {number}: {at:#x} of {:#x}", layout.bytes);
                        prop_assert!(seen.insert(at), "{name} {number}: {x} {y} {z} {sample} is at {at:#x} like another");
                    }
                }
            }
        }
    }

    #[test]
    fn reasons_agree_with_the_layout(config in configs()) {
        for (name, chip) in chips::recorded() {
            let Ok(layout) = SurfaceLayout::new(&chip, &config) else { continue };
            let reasons = &layout.reasons;
            let depth = config.usage.contains(SurfaceUsage::ZBUFFER);
            let meta = layout.meta.is_some_and(|meta| meta.bytes > 0) || layout.hiz.is_some();
            if depth {
                prop_assert_eq!(reasons.htile == Presence::Present, meta, "{} {:?}", name, config);
                prop_assert_eq!(reasons.dcc == Presence::Present, chip.level() == GfxLevel::Gfx12 && layout.enable_dcc);
            } else {
                prop_assert_eq!(reasons.dcc == Presence::Present, meta || layout.enable_dcc, "{} {:?}", name, config);
                prop_assert_eq!(reasons.htile, Presence::NotApplicable);
            }
            prop_assert_eq!(reasons.fmask == Presence::Present, layout.fmask.is_some());
            prop_assert_eq!(reasons.cmask == Presence::Present, layout.cmask.is_some());
            prop_assert_eq!(reasons.display_dcc == Presence::Present, layout.display_dcc.is_some());
            prop_assert!(!reasons.mode.to_string().is_empty());
            if layout.linear {
                let expected = !matches!(reasons.mode, ModeReason::LargestBlock(_) | ModeReason::ThickestVolume(_));
                prop_assert!(expected, "{} {:?}", name, reasons.mode);
            }
        }
    }
}

#[test]
fn stencil_follows_depth_and_has_bytes_of_its_own() {
    let usage = SurfaceUsage::ZBUFFER | SurfaceUsage::SBUFFER;
    let config = SurfaceConfig { usage, layers: 2, levels: 3, ..SurfaceConfig::new(80, 50, 4) };
    let mut chips = 0;
    for (name, chip) in chips::recorded() {
        let Ok(layout) = SurfaceLayout::new(&chip, &config) else { continue };
        if chip.level() <= GfxLevel::Gfx8 {
            assert!(layout.stencil_texels(&chip, &config, 0).is_err(), "{name}");
            continue;
        }
        let mut seen = HashSet::new();
        for number in 0..config.levels {
            let level = layout.stencil_texels(&chip, &config, number).unwrap();
            let side = |side: u32| side >> number;
            for (z, y, x) in
                (0..config.layers).flat_map(|z| (0..side(50)).flat_map(move |y| (0..side(80)).map(move |x| (z, y, x))))
            {
                let at = level.address(x, y, z, 0).unwrap();
                assert!((layout.stencil.offset..layout.bytes).contains(&at), "{name} {number}: {at:#x}");
                assert!(seen.insert(at), "{name} {number}: {x} {y} {z} is at {at:#x} like another");
            }
        }
        assert!(layout.stencil_texels(&chip, &config, 3).is_err(), "{name}");
        let depth = SurfaceConfig { usage: SurfaceUsage::ZBUFFER, ..config };
        assert!(layout.stencil_texels(&chip, &depth, 0).is_err(), "{name}");
        chips += 1;
    }
    assert!(chips > 10, "{chips}");
}

#[test]
fn rows_of_elements_of_96_bits_end_where_the_pitch_says() {
    for (name, chip) in chips::recorded() {
        let config = SurfaceConfig { mode: TilingMode::Linear, ..SurfaceConfig::new(301, 203, 12) };
        let layout = SurfaceLayout::new(&chip, &config).unwrap();
        let level = layout.texels(&chip, &config, 0).unwrap();
        // The pitch is in elements on GFX6 to GFX8, and in units of 32 bits from GFX9 on.
        let row = match &layout.legacy {
            Some(legacy) => u64::from(legacy.levels[0].pitch) * 12,
            None => u64::from(layout.levels[0].pitch) * 4,
        };
        // Rows of 12 bytes are not padded to the 256 bytes of GFX12's other linear images.
        let expected = match chip.level() {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => 320 * 12,
            GfxLevel::Gfx12 => 3612_u64.next_multiple_of(128),
            _ => 3612_u64.next_multiple_of(256),
        };
        assert_eq!(row, expected, "{name}");
        assert_eq!(u64::from(level.extent()[0]), row / 12, "{name}");
        assert_eq!(level.address(300, 202, 0, 0).unwrap(), 202 * row + 3600, "{name}");
        assert!(203 * row <= layout.bytes, "{name}");
    }
}

#[test]
fn what_the_kernel_reports_tells_the_rest() {
    for (name, chip) in chips::recorded() {
        let golden = chip.registers();
        let found = ChipRegisters::reported(&Reported {
            level: golden.level,
            family_id: golden.family_id,
            external_rev: golden.external_rev,
            chip_rev: golden.chip_rev,
            gb_addr_config: golden.gb_addr_config,
            tile_modes: golden.tile_modes,
            macrotile_modes: golden.macrotile_modes,
            enabled_rb_mask: golden.enabled_rb_mask,
            render_backends: golden.render_backends,
            compute_units: golden.compute_units,
            drm_minor: golden.drm_minor,
            has_graphics: golden.has_graphics,
            is_apu: !golden.has_dedicated_vram,
        });
        // The two GFX12 chips of the goldens are asked with display DCC as a separate fact.
        let found = ChipRegisters { gfx12_display_dcc: golden.gfx12_display_dcc, ..found };
        assert_eq!(format!("{found:?}"), format!("{golden:?}"), "{name}");
    }
}
