//! The modifiers of primary planes.
//!
//! Source: Linux 6.12 `amdgpu_dm_plane.c`, `amdgpu_dm_plane_get_plane_modifiers` with the functions of the generations, and
//! `amdgpu_dm_plane_format_mod_supported`; Linux 7.0 of the same for GFX12, whose list has no modifier twice.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{
    Chip,
    modifier::{AmdModifier, DccModifier, MaxBlock, Modifier, TileVersion},
};

use super::format::Format;

/// DRM_FORMAT_MOD_LINEAR.
pub(super) const LINEAR: u64 = 0;

/// The swizzle modes of the lists.
mod tile {
    pub(super) const S_64K: u8 = 9;
    pub(super) const D_64K: u8 = 10;
    pub(super) const S_64K_X: u8 = 25;
    pub(super) const D_64K_X: u8 = 26;
    pub(super) const R_64K_X: u8 = 27;
    pub(super) const R_256K_X: u8 = 31;
    /// The modes of GFX12, the largest blocks first: 256 KiB, 64 KiB, 4 KiB and 256 bytes.
    pub(super) const GFX12: [u8; 4] = [4, 3, 2, 1];
}

/// Family RV: the APUs of GFX9.
const FAMILY_RV: u32 = 0x8e;
/// The first external revision of family RV whose DCC encodes constants: Raven 2.
const CONSTANT_ENCODE: u32 = 0x81;

const B64: DccModifier = DccModifier {
    retile: false,
    pipe_align: false,
    independent_64b: true,
    independent_128b: false,
    max_block: MaxBlock::B64,
    constant_encode: true,
};
const B128: DccModifier =
    DccModifier { independent_64b: false, independent_128b: true, max_block: MaxBlock::B128, ..B64 };
const BOTH: DccModifier = DccModifier { independent_128b: true, ..B64 };

/// Returns the modifiers of a chip's primary planes, best first.
pub(super) fn list(chip: &Chip) -> Vec<u64> {
    let mut list = match chip.level() {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => return Vec::new(),
        GfxLevel::Gfx9 => gfx9(chip),
        GfxLevel::Gfx10 => gfx10(chip),
        GfxLevel::Gfx10_3 => gfx10_3(chip),
        GfxLevel::Gfx11 | GfxLevel::Gfx11_5 => gfx11(chip),
        GfxLevel::Gfx12 => gfx12(),
    };
    list.push(Modifier::Linear);
    list.into_iter().map(Modifier::encode).collect()
}

/// Returns `true` if a chip's primary planes have the modifier for the format.
pub(super) fn supports(chip: &Chip, format: Format, modifier: u64) -> bool {
    if modifier == LINEAR {
        return true;
    }
    if !list(chip).contains(&modifier) {
        return false;
    }
    let Ok(Modifier::Amd(amd)) = Modifier::decode(modifier) else { return false };
    if amd.version == TileVersion::Gfx12 {
        return true;
    }
    let is_display_order = amd.tile & 3 == 2;
    let is_of_vega = chip.level() == GfxLevel::Gfx9 && chip.registers().family_id != FAMILY_RV;
    if is_display_order && !is_of_vega && format.bytes() < 8 {
        return false;
    }
    amd.dcc.is_none() || format.bytes() == 4 && format.other_planes().is_empty()
}

fn gfx9(chip: &Chip) -> Vec<Modifier> {
    let config = chip.addr_config();
    let pipe_xor = (config.pipes + config.shader_engines).min(8);
    let tiled = |tile| AmdModifier {
        pipe_xor_bits: pipe_xor as u8,
        bank_xor_bits: (8 - pipe_xor).min(config.banks) as u8,
        ..AmdModifier::new(TileVersion::Gfx9, tile)
    };
    let plain = |tile| Modifier::Amd(AmdModifier::new(TileVersion::Gfx9, tile));
    if chip.registers().family_id != FAMILY_RV {
        return vec![Modifier::Amd(tiled(tile::D_64K_X)), plain(tile::D_64K)];
    }
    let encodes = chip.registers().external_rev >= CONSTANT_ENCODE;
    let dcc = |retile: bool, constant_encode: bool| {
        let (rb, pipe) = if retile { (config.shader_engines + config.rbs_per_engine, config.pipes) } else { (0, 0) };
        let dcc = Some(DccModifier { retile, constant_encode, ..B64 });
        Modifier::Amd(AmdModifier { dcc, rb: rb as u8, pipe: pipe as u8, ..tiled(tile::S_64K_X) })
    };
    let mut list = Vec::new();
    for retile in [false, true] {
        list.extend(encodes.then(|| dcc(retile, true)));
        list.push(dcc(retile, false));
    }
    list.extend([Modifier::Amd(tiled(tile::D_64K_X)), Modifier::Amd(tiled(tile::S_64K_X))]);
    list.extend([plain(tile::D_64K), plain(tile::S_64K)]);
    list
}

fn gfx10(chip: &Chip) -> Vec<Modifier> {
    let tiled = |tile| AmdModifier {
        pipe_xor_bits: chip.addr_config().pipes as u8,
        ..AmdModifier::new(TileVersion::Gfx10, tile)
    };
    let with = |dcc| Modifier::Amd(AmdModifier { dcc: Some(dcc), ..tiled(tile::R_64K_X) });
    let mut list = vec![with(B64), with(DccModifier { retile: true, ..B64 })];
    list.extend([tile::R_64K_X, tile::S_64K_X].map(|tile| Modifier::Amd(tiled(tile))));
    list.extend([tile::D_64K, tile::S_64K].map(|tile| Modifier::Amd(AmdModifier::new(TileVersion::Gfx9, tile))));
    list
}

fn gfx10_3(chip: &Chip) -> Vec<Modifier> {
    let config = chip.addr_config();
    let tiled = |tile| AmdModifier {
        pipe_xor_bits: config.pipes as u8,
        packers: config.packers as u8,
        ..AmdModifier::new(TileVersion::Gfx10RbPlus, tile)
    };
    let with = |dcc| Modifier::Amd(AmdModifier { dcc: Some(dcc), ..tiled(tile::R_64K_X) });
    let mut list = Vec::new();
    for retile in [false, true] {
        list.extend([BOTH, B128].map(|dcc| with(DccModifier { retile, ..dcc })));
    }
    list.extend([tile::R_64K_X, tile::S_64K_X].map(|tile| Modifier::Amd(tiled(tile))));
    list.extend([tile::D_64K, tile::S_64K].map(|tile| Modifier::Amd(AmdModifier::new(TileVersion::Gfx9, tile))));
    list
}

fn gfx11(chip: &Chip) -> Vec<Modifier> {
    let config = chip.addr_config();
    let tiles = if config.pipes > 4 { [tile::R_256K_X, tile::R_64K_X] } else { [tile::R_64K_X, tile::R_256K_X] };
    let mut list = Vec::new();
    for tile in tiles {
        let tiled = AmdModifier {
            pipe_xor_bits: config.pipes as u8,
            packers: config.packers as u8,
            ..AmdModifier::new(TileVersion::Gfx11, tile)
        };
        for retile in [false, true] {
            // GFX11 always encodes constants, so that the modifier does not say it.
            let with = |dcc| DccModifier { retile, constant_encode: false, ..dcc };
            list.extend([B128, BOTH].map(|dcc| Modifier::Amd(AmdModifier { dcc: Some(with(dcc)), ..tiled })));
        }
        list.push(Modifier::Amd(tiled));
    }
    list.push(Modifier::Amd(AmdModifier::new(TileVersion::Gfx11, tile::D_64K)));
    list
}

fn gfx12() -> Vec<Modifier> {
    let plain = |tile| AmdModifier::new(TileVersion::Gfx12, tile);
    let with = |tile, max_block| {
        let dcc = DccModifier { max_block, ..DccModifier::default() };
        Modifier::Amd(AmdModifier { dcc: Some(dcc), ..plain(tile) })
    };
    let blocks = [MaxBlock::B256, MaxBlock::B128, MaxBlock::B64];
    let compressed = tile::GFX12.into_iter().flat_map(|tile| blocks.map(|block| with(tile, block)));
    compressed.chain(tile::GFX12.map(|tile| Modifier::Amd(plain(tile)))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chips::profile;
    use amdgpu_surface::ChipRegisters;

    /// Returns a row for each modifier with the formats that have it, as the lists of `drm_info` in public reports show them.
    fn rows(name: &str) -> String {
        let reported = profile(name).unwrap().reported(54);
        let chip = Chip::new(&ChipRegisters::reported(&reported)).unwrap();
        let has =
            |code: &[u8; 4], modifier| supports(&chip, Format::find(u32::from_le_bytes(*code)).unwrap(), modifier);
        let row = |modifier: u64| {
            let formats = match [b"XR24", b"RG16", b"NV12", b"P010", b"XR48"].map(|code| has(code, modifier)) {
                [true, true, true, true, true] => "all formats",
                [true, false, false, false, false] => "only formats of 4 bytes a pixel, one plane",
                [false, false, false, false, true] => "only formats of 8 bytes a pixel",
                other => panic!("{modifier:#x}: {other:?}"),
            };
            format!("{modifier:#018x}  {formats}\n")
        };
        list(&chip).into_iter().map(row).collect()
    }

    #[test]
    fn the_lists_are_those_of_the_kernel() {
        assert_eq!(rows("renoir"), include_str!("../../../tests/data/planes/renoir.txt"));
        assert_eq!(rows("navi10"), include_str!("../../../tests/data/planes/navi10.txt"));
        assert_eq!(rows("navi21"), include_str!("../../../tests/data/planes/navi21.txt"));
    }

    fn chip(level: GfxLevel, family: u32, external_rev: u32, config: u32) -> Chip {
        Chip::new(&ChipRegisters::new(level, family, external_rev, config)).unwrap()
    }

    #[test]
    fn raven_does_not_encode_constants_and_vega_shows_display_order_in_all_formats() {
        let raven = list(&chip(GfxLevel::Gfx9, FAMILY_RV, 1, 0x2400_0042));
        assert!(raven.iter().all(|modifier| modifier >> 20 & 1 == 0 || modifier >> 13 & 1 == 0), "{raven:#x?}");
        assert_eq!(raven.len(), 7);
        let vega = chip(GfxLevel::Gfx9, 0x8d, 1, 0x2a11_4042);
        let wide = Format::find(u32::from_le_bytes(*b"XR24")).unwrap();
        assert_eq!(list(&vega).len(), 3);
        assert!(list(&vega).into_iter().all(|modifier| supports(&vega, wide, modifier)));
    }

    #[test]
    fn large_chips_of_gfx11_prefer_large_blocks_and_gfx12_has_no_planes_of_dcc() {
        let first = |config| list(&chip(GfxLevel::Gfx11, 0x91, 1, config))[0] >> 8 & 31;
        assert_eq!((first(0x545), first(0x444)), (31, 27));
        let gfx12 = list(&chip(GfxLevel::Gfx12, 0x98, 0x51, 0x444));
        assert_eq!((gfx12.len(), gfx12[0]), (17, 0x0200_0000_0008_2405));
        let unique: std::collections::BTreeSet<_> = gfx12.iter().collect();
        assert_eq!(unique.len(), gfx12.len());
    }
}
