//! Tiling words of GFX6 to GFX8, from any exporter.

use amdgpu_surface::surface::{LegacyTiles, SurfaceConfig, SurfaceUsage, TilingMode};
use amdgpu_surface::{Chip, ChipRegisters, GfxLevel};
use proptest::prelude::*;

/// Bonaire, whose tables do not matter here.
fn chip() -> Option<Chip> {
    Chip::new(&ChipRegisters::new(GfxLevel::Gfx7, 120, 20, 0x1200_0002)).ok()
}

#[test]
fn a_word_gives_banks_pipes_and_order() {
    let chip = chip().unwrap();
    let mut config = SurfaceConfig::new(64, 64, 4);
    // 2D, pipe config 12, split 1024, thin, bank width 2, height 4, aspect 8, 16 banks.
    let flags = 4 | 12 << 4 | 4 << 9 | 1 << 12 | 1 << 15 | 2 << 17 | 3 << 19 | 3 << 21;
    config.apply_tiling_flags(&chip, flags).unwrap();
    let tiles = LegacyTiles { bank_width: 2, bank_height: 4, aspect: 8, tile_split: 1024, banks: 16, pipe_config: 12 };
    assert_eq!((config.legacy, config.mode), (Some(tiles), TilingMode::Tiled2d));
    assert!(!config.usage.contains(SurfaceUsage::SCANOUT));
    config.apply_tiling_flags(&chip, 2).unwrap();
    assert_eq!(config.mode, TilingMode::Tiled1d);
    assert!(config.usage.contains(SurfaceUsage::SCANOUT), "micro tile mode 0 is the display's");
    config.apply_tiling_flags(&chip, 1).unwrap();
    assert_eq!(config.mode, TilingMode::Linear);
}

proptest! {
    #[test]
    fn any_word_is_a_layout_or_an_error(flags in any::<u64>(), width in 1_u32..300, height in 1_u32..300) {
        let chip = chip().unwrap();
        let mut config = SurfaceConfig::new(width, height, 4);
        config.usage |= SurfaceUsage::IMPORTED;
        if config.apply_tiling_flags(&chip, flags).is_ok()
            && let Ok(layout) = amdgpu_surface::surface::SurfaceLayout::new(&chip, &config)
        {
            prop_assert!(layout.total_bytes >= u64::from(width) * u64::from(height) * 4);
        }
    }
}
