//! The modifiers that a chip supports, best first. Source: `ac_get_supported_modifiers`, `ac_is_modifier_supported`.

use amdgpu_hw::GfxLevel;

use super::amd::{AmdModifier, DccModifier, MaxBlock, Modifier, TileVersion};
use crate::chip::{Chip, Family};

/// The properties of a format that determine its modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormatClass {
    /// The size of a texel or of a compressed block, in bits.
    pub bits: u32,
    /// `true` if the format is block-compressed.
    pub compressed: bool,
    /// `true` if the format has depth or stencil.
    pub depth_stencil: bool,
    /// The number of planes of the format; 1 unless it is multi-planar.
    pub planes: u32,
}

/// Options for listing modifiers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ListOptions {
    /// `true` to list modifiers with DCC.
    pub dcc: bool,
    /// `true` to list modifiers with a second, displayable DCC that the caller updates by a retile blit.
    pub retile: bool,
}

/// The maximum number of modifiers of a chip.
const MAX: usize = 16;

/// A list of modifiers, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModifierList {
    items: [Modifier; MAX],
    len: usize,
}

/// The swizzle modes that modifiers use.
mod tile {
    pub(super) const S_64K: u8 = 9;
    pub(super) const D_64K: u8 = 10;
    pub(super) const S_64K_X: u8 = 25;
    pub(super) const D_64K_X: u8 = 26;
    pub(super) const R_64K_X: u8 = 27;
    pub(super) const R_256K_X: u8 = 31;
}

const ALIGNED: DccModifier = DccModifier {
    retile: false,
    pipe_align: true,
    independent_64b: false,
    independent_128b: true,
    max_block: MaxBlock::B128,
    constant_encode: false,
};

impl ModifierList {
    /// Lists the modifiers that a chip supports for a format.
    pub fn new(chip: &Chip, format: FormatClass, options: ListOptions) -> Self {
        let mut list = Self { items: [Modifier::Linear; MAX], len: 0 };
        let mut add = |modifier| {
            if supported(chip, format, options, modifier) && list.len < MAX {
                list.items[list.len] = modifier;
                list.len += 1;
            }
        };
        match chip.level() {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => {}
            GfxLevel::Gfx9 => gfx9(chip, format, &mut add),
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => gfx10(chip, format, &mut add),
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => gfx11(chip, &mut add),
            GfxLevel::Gfx12 => gfx12(&mut add),
        }
        if chip.level() >= GfxLevel::Gfx9 {
            add(Modifier::Linear);
        }
        list
    }

    /// Returns the modifiers, best first.
    pub fn as_slice(&self) -> &[Modifier] {
        &self.items[..self.len]
    }
}

fn gfx9(chip: &Chip, format: FormatClass, add: &mut impl FnMut(Modifier)) {
    let config = chip.config;
    let pipe_xor = (config.pipes + config.shader_engines).min(8);
    let bank_xor = (8 - pipe_xor).min(config.banks);
    let rb = (config.rbs_per_engine + config.shader_engines) as u8;
    let tiled = |tile| AmdModifier {
        pipe_xor_bits: pipe_xor as u8,
        bank_xor_bits: bank_xor as u8,
        ..AmdModifier::new(TileVersion::Gfx9, tile)
    };
    let dcc = DccModifier {
        retile: false,
        pipe_align: false,
        independent_64b: true,
        independent_128b: false,
        max_block: MaxBlock::B64,
        constant_encode: chip.info.has_dcc_constant_encode,
    };
    // Only DCC whose layout depends on pipes and render backends names their numbers. The kernel (`add_gfx9_modifiers` in Linux 6.12
    // `amdgpu_dm_plane.c`) and Mesa leave both fields 0 otherwise, whatever the chip has.
    let with = |tile, dcc: DccModifier| {
        let (rb, pipe) = if dcc.retile || dcc.pipe_align { (rb, config.pipes as u8) } else { (0, 0) };
        Modifier::Amd(AmdModifier { dcc: Some(dcc), rb, pipe, ..tiled(tile) })
    };
    add(with(tile::D_64K_X, DccModifier { pipe_align: true, ..dcc }));
    add(with(tile::S_64K_X, DccModifier { pipe_align: true, ..dcc }));
    if format.bits == 32 {
        if chip.info.render_backends == 1 {
            add(with(tile::S_64K_X, dcc));
        }
        add(with(tile::S_64K_X, DccModifier { retile: true, ..dcc }));
    }
    for tile in [tile::D_64K_X, tile::S_64K_X] {
        add(Modifier::Amd(tiled(tile)));
    }
    for tile in [tile::D_64K, tile::S_64K] {
        add(Modifier::Amd(AmdModifier::new(TileVersion::Gfx9, tile)));
    }
}

fn gfx10(chip: &Chip, format: FormatClass, add: &mut impl FnMut(Modifier)) {
    let rb_plus = chip.level() == GfxLevel::Gfx10_3;
    let version = if rb_plus { TileVersion::Gfx10RbPlus } else { TileVersion::Gfx10 };
    let tiled = AmdModifier {
        pipe_xor_bits: chip.config.pipes as u8,
        packers: if rb_plus { chip.config.packers as u8 } else { 0 },
        ..AmdModifier::new(version, tile::R_64K_X)
    };
    let aligned = DccModifier { constant_encode: true, ..ALIGNED };
    let with = |dcc| Modifier::Amd(AmdModifier { dcc: Some(dcc), ..tiled });
    add(with(aligned));
    if rb_plus {
        let retile = DccModifier { retile: true, pipe_align: false, ..aligned };
        add(with(retile));
        add(with(DccModifier { independent_64b: true, max_block: MaxBlock::B64, ..retile }));
    }
    add(Modifier::Amd(tiled));
    if format.bits != 32 {
        add(Modifier::Amd(AmdModifier::new(TileVersion::Gfx9, tile::D_64K)));
    }
    add(Modifier::Amd(AmdModifier::new(TileVersion::Gfx9, tile::S_64K)));
}

fn gfx11(chip: &Chip, add: &mut impl FnMut(Modifier)) {
    let tiles: &[u8] = match (chip.info.has_dedicated_vram, chip.config.pipes > 4) {
        (false, _) => &[tile::R_64K_X],
        (true, true) => &[tile::R_256K_X, tile::R_64K_X],
        (true, false) => &[tile::R_64K_X, tile::R_256K_X],
    };
    for &tile in tiles {
        let tiled = AmdModifier {
            pipe_xor_bits: chip.config.pipes as u8,
            packers: chip.config.packers as u8,
            ..AmdModifier::new(TileVersion::Gfx11, tile)
        };
        let with = |dcc| Modifier::Amd(AmdModifier { dcc: Some(dcc), ..tiled });
        let retiled = |dcc| DccModifier { retile: true, pipe_align: false, ..dcc };
        let big = DccModifier { max_block: MaxBlock::B256, ..ALIGNED };
        if chip.level() == GfxLevel::Gfx11_5 {
            add(with(big));
        }
        add(with(ALIGNED));
        add(with(retiled(ALIGNED)));
        add(with(DccModifier { independent_64b: true, max_block: MaxBlock::B64, ..retiled(ALIGNED) }));
        add(Modifier::Amd(tiled));
    }
    add(Modifier::Amd(AmdModifier::new(TileVersion::Gfx11, tile::D_64K)));
}

fn gfx12(add: &mut impl FnMut(Modifier)) {
    let plain = |tile| AmdModifier::new(TileVersion::Gfx12, tile);
    let with = |tile, max_block| {
        let dcc = DccModifier { max_block, ..DccModifier::default() };
        Modifier::Amd(AmdModifier { dcc: Some(dcc), ..plain(tile) })
    };
    for max_block in [MaxBlock::B256, MaxBlock::B128, MaxBlock::B64] {
        add(with(3, max_block));
    }
    for tile in [4, 2, 1] {
        add(with(tile, MaxBlock::B256));
    }
    add(Modifier::Amd(plain(3)));
    // Blocks of 64 KiB have the modifier of GFX11.
    add(Modifier::Amd(AmdModifier::new(TileVersion::Gfx11, tile::D_64K)));
    add(Modifier::Amd(plain(1)));
}

/// Returns `true` if the chip supports the modifier for the format.
fn supported(chip: &Chip, format: FormatClass, options: ListOptions, modifier: Modifier) -> bool {
    if format.compressed || format.depth_stencil || format.bits > 64 {
        return false;
    }
    let Modifier::Amd(amd) = modifier else { return true };
    let dcc = amd.dcc.is_some();
    let allowed: u32 = match (chip.level(), dcc) {
        (GfxLevel::Gfx9, false) => 0x0666_0660,
        (GfxLevel::Gfx9, true) => 0x0600_0000,
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, false) => 0x0e66_0660,
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, true) => 0x0800_0000,
        (GfxLevel::Gfx11 | GfxLevel::Gfx11_5, false) => 0xcc44_0440,
        (GfxLevel::Gfx11 | GfxLevel::Gfx11_5, true) => 0x8800_0000,
        (GfxLevel::Gfx12, _) if amd.version != TileVersion::Gfx12 => 1 << tile::D_64K,
        (GfxLevel::Gfx12, _) => 0x1e,
        _ => 0,
    };
    if allowed >> amd.tile & 1 == 0 {
        return false;
    }
    let Some(dcc) = amd.dcc else { return true };
    if format.planes > 1 || !chip.info.has_graphics || !options.dcc {
        return false;
    }
    !dcc.retile || (format.bits == 32 && chip.info.display_dcc_retile && options.retile)
}

/// Returns the maximum width and height of images with a modifier (`ac_modifier_max_extent`).
pub fn max_extent(chip: &Chip, modifier: Modifier) -> (u32, u32) {
    match modifier.dcc() {
        // Above this size the display requires independent 64-byte parts.
        Some(dcc) if chip.level() >= GfxLevel::Gfx10 && chip.level() < GfxLevel::Gfx12 && !dcc.independent_64b => {
            (2560, 2560)
        }
        _ => (16384, 16384),
    }
}

/// Returns `true` if shaders can store to images with this compression (`ac_modifier_supports_dcc_image_stores`).
pub fn supports_image_stores(chip: &Chip, modifier: Modifier) -> bool {
    modifier.dcc().is_some_and(|dcc| {
        chip.level() == GfxLevel::Gfx12 || stores_with(chip, dcc.independent_64b, dcc.independent_128b, dcc.max_block)
    })
}

/// Returns `true` if shaders can store to images with these DCC settings (`ac_surface_supports_dcc_image_stores`).
pub(crate) fn stores_with(chip: &Chip, i64b: bool, i128b: bool, max_block: MaxBlock) -> bool {
    let level = chip.level();
    level >= GfxLevel::Gfx10
        && i128b
        && ((!i64b && max_block == MaxBlock::B128)
            || (level >= GfxLevel::Gfx10_3 && i64b && max_block == MaxBlock::B64)
            || (level >= GfxLevel::Gfx11_5 && !i64b && max_block == MaxBlock::B256))
}

impl Chip {
    /// Returns `true` for Navi12 and Navi14, whose L2 cache supports independent 64-byte parts but no stores to DCC.
    pub(crate) fn is_navi12_or_14(&self) -> bool {
        matches!(self.family, Family::Navi12 | Family::Navi14)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    use crate::chip::ChipRegisters;

    fn with_dcc(rev: u32, gb_addr_config: u32, render_backends: u32) -> Vec<u64> {
        let registers = ChipRegisters {
            render_backends,
            has_dcc_constant_encode: true,
            display_dcc_retile: true,
            ..ChipRegisters::new(GfxLevel::Gfx9, 0x8e, rev, gb_addr_config)
        };
        let chip = Chip::new(&registers).unwrap();
        let format = FormatClass { bits: 32, compressed: false, depth_stencil: false, planes: 1 };
        let list = ModifierList::new(&chip, format, ListOptions { dcc: true, retile: true });
        list.as_slice().iter().filter(|modifier| modifier.dcc().is_some()).map(|modifier| modifier.encode()).collect()
    }

    /// Raven 2 (PCI 1002:15d8) has one render backend, but its GB_ADDR_CONFIG counts two. The kernel's list of the display planes has
    /// the third and the fourth modifier, with these numbers.
    #[test]
    fn dcc_that_is_not_aligned_to_pipes_names_neither_pipes_nor_render_backends() {
        let aligned = [0x0200_0002_4331_ba01, 0x0200_0002_4331_b901];
        let shown = [0x0200_0000_0331_3901, 0x0200_0002_4331_7901];
        assert_eq!(with_dcc(0x82, 0x2601_3041, 1), [aligned, shown].concat());
        // With more render backends every layout of DCC depends on them.
        assert_eq!(with_dcc(0x82, 0x2601_3041, 2), [aligned[0], aligned[1], shown[1]]);
    }
}
