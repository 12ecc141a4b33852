//! No description, and no value of a chip's registers, makes the crate panic or run away: it answers with a layout or an error.

use amdgpu_surface::addr1::{self, TileMode, TileType};
use amdgpu_surface::addr2::{self, SwizzleMode};
use amdgpu_surface::equation::Texel;
use amdgpu_surface::modifier::Modifier;
use amdgpu_surface::surface::{Dimension, MicroMode, SurfaceConfig, SurfaceLayout, SurfaceUsage, TilingMode};
use amdgpu_surface::{Chip, ChipRegisters, GfxLevel};
use amdgpu_test_support::chips;

/// A small generator: the same numbers in every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }

    fn below(&mut self, limit: u64) -> u32 {
        (self.next() % limit) as u32
    }

    fn one_in(&mut self, n: u64) -> bool {
        self.next().is_multiple_of(n)
    }

    /// Mostly what an image has, sometimes anything.
    fn size(&mut self) -> u32 {
        match self.below(12) {
            0 => self.next() as u32,
            1 => 0,
            2 => 1 << self.below(17),
            _ => 1 + self.below(3000),
        }
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.next() as usize % from.len()]
    }
}

fn random_chip(random: &mut Random, known: &[(String, Chip)]) -> Option<Chip> {
    let mut registers = *known[random.next() as usize % known.len()].1.registers();
    if random.one_in(3) {
        registers = ChipRegisters::new(
            random.pick(&GfxLevel::ALL),
            random.below(0xa0),
            random.below(256),
            random.next() as u32 ^ (random.next() << 8) as u32,
        );
        for mode in &mut registers.tile_modes {
            *mode = random.next() as u32;
        }
        for mode in &mut registers.macrotile_modes {
            *mode = random.next() as u32;
        }
        registers.enabled_rb_mask = random.next();
        registers.render_backends = random.below(70);
        registers.compute_units = random.below(70);
    } else if random.one_in(4) {
        registers.gb_addr_config ^= 1 << random.below(32);
    }
    Chip::new(&registers).ok()
}

fn random_config(random: &mut Random, chip: &Chip) -> SurfaceConfig {
    let mut config = SurfaceConfig::new(random.size(), random.size(), random.pick(&[1, 2, 4, 8, 12, 16, 3]));
    config.samples = random.pick(&[1, 1, 1, 2, 4, 8, 16, 3]);
    config.storage_samples = random.pick(&[config.samples, config.samples, 1, 2, 8]);
    match random.below(9) {
        0..=2 => {
            config.depth = random.size();
            config.dimension = Dimension::D3;
        }
        3 | 4 => {
            config.layers = random.size();
            config.dimension = random.pick(&[Dimension::D1, Dimension::D2, Dimension::Cube]);
        }
        _ => {}
    }
    if random.one_in(3) {
        config.levels = random.below(18);
    }
    if random.one_in(4) {
        config.block = random.pick(&[(4, 4), (2, 1), (5, 4), (12, 12), (0, 1)]);
    }
    config.channels = random.below(5);
    config.mode = random.pick(&[TilingMode::Linear, TilingMode::Tiled1d, TilingMode::Tiled2d, TilingMode::Tiled2d]);
    config.usage = SurfaceUsage::from_bits_truncate(if random.one_in(2) {
        1 << random.below(20)
    } else {
        random.next() as u32 & random.next() as u32 & random.next() as u32
    });
    config.surface_index = Some(random.next() as u32);
    config.fmask_index = Some(random.next() as u32);
    config.swizzle_mode = random.next() as u8;
    config.micro_mode = random.pick(&[MicroMode::Display, MicroMode::Standard, MicroMode::Depth, MicroMode::Render]);
    if random.one_in(6) {
        config.modifier = Modifier::decode((2 << 56) | (random.next() << 31 ^ random.next()) & 0xff_ffff_ffff).ok();
    }
    if random.one_in(6) {
        let flags = random.next() << 40 ^ random.next() << 20 ^ random.next();
        let _ = config.apply_tiling_flags(chip, flags);
    }
    config
}

fn texel(random: &mut Random) -> Texel {
    Texel {
        x: random.below(4000),
        y: random.below(4000),
        z: random.below(20),
        sample: random.below(9),
        level: random.below(3),
    }
}

/// Returns `true` if the whole image has a layout.
fn ask(random: &mut Random, chip: &Chip) -> bool {
    let config = random_config(random, chip);
    let whole = SurfaceLayout::new(chip, &config);
    if let Ok(layout) = &whole {
        assert!(layout.total_bytes >= layout.bytes);
        let _ = layout.planes(&config);
        let _ = layout.tiling_flags(chip);
        let _ = layout.supports_dcc_image_stores(chip);
        let _ = layout.nbc_view(chip, &config, random.below(20), random.below(20));
    }
    let bits = random.pick(&[8, 16, 32, 64, 128, 24, 0]);
    let (width, height, slices) = (random.size(), random.size(), random.size());
    let (levels, samples) = (random.pick(&[1, 1, 5, 16, 17, 0]), random.pick(&[1, 1, 2, 4, 8, 16, 5]));
    let usage = random.next() as u32 & random.next() as u32 & random.next() as u32;
    if let (Some(mode), Some(tile_type)) = (TileMode::new(random.below(25) as u8), TileType::new(random.below(5))) {
        let mut image = addr1::Image::new(mode, tile_type, bits, width, height);
        (image.slices, image.levels, image.samples) = (slices, levels, samples);
        image.usage = addr1::Usage::from_bits_truncate(usage);
        if let Ok(layout) = addr1::layout(chip, &image) {
            for (level, _) in layout.levels() {
                if let Ok(addresser) = addr1::Addresser::new(chip, &image, level, random.next() as u32, 0) {
                    let _ = addresser.address(texel(random));
                }
            }
        }
    }
    if let Some(mode) = SwizzleMode::new(random.below(32) as u8) {
        let mut image = addr2::Image::new(mode, bits, width, height);
        (image.slices, image.levels, image.samples) = (slices, levels, samples);
        image.usage = addr2::Usage::from_bits_truncate(usage);
        image.dimension = random.pick(&[addr2::Dimension::D1, addr2::Dimension::D2, addr2::Dimension::D3]);
        if let Ok(layout) = addr2::layout(chip, &image)
            && let Ok(addresser) = addr2::Addresser::new(chip, &image, &layout, random.next() as u32)
        {
            let _ = addresser.address(texel(random));
        }
    }
    whole.is_ok()
}

#[test]
fn any_description_is_answered() {
    let known = chips::recorded();
    let rounds: u32 = std::env::var("AMDGPU_SURFACE_ROUNDS").ok().and_then(|n| n.parse().ok()).unwrap_or(60_000);
    let mut random = Random(0x5eed);
    let mut laid_out = 0;
    for _ in 0..rounds {
        if let Some(chip) = random_chip(&mut random, &known) {
            laid_out += u32::from(ask(&mut random, &chip));
        }
    }
    assert!(laid_out > rounds / 20, "only {laid_out} of {rounds} images have a layout");
}
