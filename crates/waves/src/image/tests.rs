//! Comparison of texel addresses from descriptors with the layouts from which the descriptors were built.

use std::collections::{HashMap, HashSet};

use amdgpu_descriptors::{
    format::{Format, Swizzle},
    vulkan::{Aspect, ViewType, VulkanImage, VulkanView},
};
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_surface::{Chip, surface::Dimension};
use amdgpu_test_support::chips::recorded_chip;
use proptest::prelude::*;

use super::{descriptor::Image, texel::Texel};

const BASE: u64 = 0x1_2340_0000;

/// Returns the chips of the layout library's captures.
fn chips() -> Vec<Chip> {
    let names =
        ["pitcairn", "kaveri", "polaris10", "stoney", "vega10", "renoir", "navi10", "navi21", "navi31", "gfx1200"];
    names.map(recorded_chip).into()
}

fn image(format: Format, extent: [u32; 3], layers: u32, levels: u32) -> VulkanImage {
    VulkanImage {
        format,
        dimension: if extent[2] > 1 { Dimension::D3 } else { Dimension::D2 },
        extent,
        layers,
        levels,
        samples: 1,
        linear: false,
        usage: 0xf,
    }
}

fn view(image: &VulkanImage) -> VulkanView {
    VulkanView {
        view: if image.dimension == Dimension::D3 { ViewType::D3 } else { ViewType::D2 },
        aspect: Aspect::Color,
        base_level: 0,
        level_count: image.levels,
        base_layer: 0,
        layer_count: image.layers,
        swizzle: Swizzle::IDENTITY,
        storage: false,
    }
}

/// Compares the addresses of all texels of a view with the layout.
fn compare(chip: &Chip, made: &VulkanImage, view: &VulkanView) {
    // addrlib and descriptors of GFX11 count the tile swizzle differently.
    let is_gfx11 = matches!(chip.level(), GfxLevel::Gfx11 | GfxLevel::Gfx11_5);
    let index = (!is_gfx11).then_some(5);
    let config = made.surface(chip.level(), index);
    let layout = made.layout(chip, index).unwrap();
    let words = made.descriptor(chip, &layout, GpuVa::from_48_bits(BASE), view).unwrap().words();
    let mut found = Image::new(chip.level(), words, Some(chip)).unwrap().unwrap();
    let mut seen = HashSet::new();
    let is_volume = made.dimension == Dimension::D3;
    // All texels of a compressed block have its address.
    let (block, _) = config.block;
    for level in 0..view.level_count {
        let known = layout.texels(chip, &config, level + view.base_level).unwrap();
        let [width, height, depth] = made.extent.map(|size| (size >> (level + view.base_level)).max(1));
        let slices = if is_volume { depth } else { view.layer_count };
        let at = |x, y, z, sample| Texel { level, x, y, z, sample };
        for (z, y) in (0..slices).flat_map(|z| (0..height).map(move |y| (z, y))) {
            for (x, sample) in (0..width).flat_map(|x| (0..made.samples).map(move |sample| (x, sample))) {
                let address = found.address(at(x, y, z, sample)).unwrap().unwrap();
                let layer = if is_volume { z } else { z + view.base_layer };
                let expected = BASE + known.address(x / block, y / block, layer, sample).unwrap();
                assert_eq!(address, expected, "{} {made:?} {x} {y} {layer} {sample} {level}", chip.level());
                let is_first = x % block == 0 && y % block == 0;
                assert!(!is_first || seen.insert(address), "two texels at {address:#x}");
            }
        }
        for outside in [at(width, 0, 0, 0), at(0, height, 0, 0), at(0, 0, slices, 0), at(0, 0, 0, made.samples)] {
            assert_eq!(found.address(outside), Ok(None), "{} {made:?} {outside:?}", chip.level());
        }
    }
    assert_eq!(found.address(Texel { level: view.level_count, ..Texel::default() }), Ok(None));
}

fn compare_on_all(made: &VulkanImage, view: &VulkanView) {
    for chip in &chips() {
        compare(chip, made, view);
    }
}

#[test]
fn texels_of_all_sizes_are_found_in_their_tiles() {
    let formats = [
        Format::R8_UNORM,
        Format::R16_UINT,
        Format::R8G8B8A8_UNORM,
        Format::R16G16B16A16_SFLOAT,
        Format::R32G32B32A32_UINT,
    ];
    for format in formats {
        let made = image(format, [75, 41, 1], 1, 1);
        compare_on_all(&made, &view(&made));
    }
}

#[test]
fn levels_and_layers_are_found() {
    let made = image(Format::R8G8B8A8_UNORM, [75, 41, 1], 3, 7);
    compare_on_all(&made, &view(&made));
    let part = VulkanView { base_layer: 1, layer_count: 2, ..view(&made) };
    compare_on_all(&made, &part);
}

#[test]
fn a_cube_has_all_of_its_faces_though_its_view_ends_with_the_first() {
    let made = image(Format::R8G8B8A8_UNORM, [16, 16, 1], 6, 1);
    for chip in &chips() {
        let index = (chip.level() < GfxLevel::Gfx11).then_some(5);
        let layout = made.layout(chip, index).unwrap();
        let faces = made.descriptor(chip, &layout, GpuVa::from_48_bits(BASE), &view(&made)).unwrap().words();
        let mut cube = faces;
        // The type, and no last layer beyond the first: DEPTH, and up to GFX8 LAST_ARRAY.
        cube[3] = faces[3] & !(15 << 28) | 11 << 28;
        cube[4] &= !0x1fff;
        if chip.level() <= GfxLevel::Gfx8 {
            cube[5] &= !(0x1fff << 13);
        }
        let [mut faces, mut cube] =
            [faces, cube].map(|words| Image::new(chip.level(), words, Some(chip)).unwrap().unwrap());
        let at = |z| Texel { x: 3, y: 5, z, ..Texel::default() };
        for z in 0..6 {
            assert_eq!(cube.address(at(z)), faces.address(at(z)), "{} {z}", chip.level());
        }
        assert_eq!((cube.layers(), cube.address(at(6))), (6, Ok(None)), "{}", chip.level());
    }
}

#[test]
fn volumes_are_found() {
    for (format, levels) in [(Format::R32_UINT, 1), (Format::R8_UNORM, 4)] {
        let made = image(format, [33, 20, 9], 1, levels);
        compare_on_all(&made, &view(&made));
    }
}

#[test]
fn compressed_blocks_are_found() {
    for format in [Format::BC1_RGBA_UNORM_BLOCK, Format::BC7_SRGB_BLOCK] {
        let made = image(format, [75, 41, 1], 3, 7);
        compare_on_all(&made, &view(&made));
    }
}

#[test]
fn linear_images_are_found() {
    let made = VulkanImage { linear: true, ..image(Format::R8G8B8A8_UNORM, [75, 41, 1], 1, 1) };
    compare_on_all(&made, &view(&made));
}

#[test]
fn samples_are_found() {
    let made = VulkanImage { samples: 4, ..image(Format::R8G8B8A8_UNORM, [35, 21, 1], 1, 1) };
    compare_on_all(&made, &view(&made));
}

#[test]
fn compressed_images_and_unknown_formats_are_refused_by_name() {
    let chip = chips().into_iter().find(|chip| chip.level() == GfxLevel::Gfx10_3).unwrap();
    let made = image(Format::R8G8B8A8_UNORM, [64, 64, 1], 1, 1);
    let layout = made.layout(&chip, None).unwrap();
    let mut words = made.descriptor(&chip, &layout, GpuVa::from_48_bits(BASE), &view(&made)).unwrap().words();
    let refusal = |words| Image::new(GfxLevel::Gfx10_3, words, Some(&chip)).unwrap_err().to_string();
    // Formats without a decoder are found by their numbers in bits 28:20.
    let numbered = |number: u32| [words[0], words[1] & !(0x1ff << 20) | number << 20, words[2], words[3], 0, 0, 0, 0];
    let reasons = (0..512).filter_map(|number| Image::new(GfxLevel::Gfx10_3, numbered(number), Some(&chip)).err());
    let reasons: Vec<String> = reasons.map(|reason| reason.to_string()).collect();
    assert!(reasons.iter().any(|reason| reason == "image format GB_GR_UNORM is not decoded"), "{reasons:?}");
    assert!(!reasons.iter().any(|reason| reason.contains("BC7")), "{reasons:?}");
    // Metadata of depth, which has no place in the order of colour.
    words[6] |= 1 << 21;
    assert!(refusal(words).contains("no layout"), "{}", refusal(words));
    assert!(Image::new(GfxLevel::Gfx10_3, [0; 8], Some(&chip)).unwrap().is_none());
}

/// Checks the metadata of every texel: it is in the image's metadata, and belongs to one block of texels.
fn look_at_metadata(chip: &Chip, made: &VulkanImage, view: &VulkanView) {
    let index = (chip.level() < GfxLevel::Gfx11).then_some(5);
    let layout = made.layout(chip, index).unwrap();
    let Some(meta) = layout.meta else { panic!("{} {made:?} has no metadata", chip.level()) };
    // Not aligned further than drivers align images.
    let base = BASE + 0x2_0000;
    let words = made.descriptor(chip, &layout, GpuVa::from_48_bits(base), view).unwrap().words();
    let mut found = Image::new(chip.level(), words, Some(chip)).unwrap().unwrap();
    let all = base + meta.offset..base + meta.offset + meta.bytes;
    let mut blocks: HashMap<u64, Texel> = HashMap::new();
    let mut seen: HashMap<Texel, u64> = HashMap::new();
    for level in 0..meta.levels.min(view.level_count) {
        let [width, height, _] = made.extent.map(|size| (size >> level).max(1));
        let places =
            (0..made.layers).flat_map(|z| (0..height).step_by(3).flat_map(move |y| (0..width).map(move |x| [x, y, z])));
        for [x, y, z] in places {
            for sample in 0..made.samples {
                let texel = Texel { level, x, y, z, sample };
                let address = found.address(texel).unwrap().unwrap();
                let what = format!("{} {made:?} {texel:?}", chip.level());
                let Some(unit) = found.metadata(texel, address).unwrap() else {
                    // The chip compresses some fragments only.
                    assert!(sample > 0, "{what}");
                    continue;
                };
                assert!(all.contains(&unit.address), "{what}: {:#x} is not in {all:x?}", unit.address);
                if chip.level() >= GfxLevel::Gfx9 {
                    let first = found.first_of_block(texel);
                    let first = if made.format.has_depth() {
                        Texel { x: x & !7, y: y & !7, sample: 0, ..texel }
                    } else {
                        first
                    };
                    assert_eq!(*blocks.entry(unit.address).or_insert(first), first, "{what}");
                    assert_eq!(*seen.entry(first).or_insert(unit.address), unit.address, "{what}");
                }
            }
        }
    }
}

#[test]
fn each_block_of_texels_has_metadata_of_its_own() {
    const ATTACHMENT: u32 = 0x17;
    const DEPTH: u32 = 0x27;
    let with = |usage, extent, format| VulkanImage { usage, ..image(format, extent, 1, 1) };
    for chip in &chips() {
        if !(GfxLevel::Gfx8..GfxLevel::Gfx12).contains(&chip.level()) {
            continue;
        }
        for format in [Format::R8_UNORM, Format::R16_UINT, Format::R8G8B8A8_UNORM, Format::R32G32B32A32_UINT] {
            let made = with(ATTACHMENT, [523, 503, 1], format);
            look_at_metadata(chip, &made, &view(&made));
        }
        let depth = VulkanView { aspect: Aspect::Depth, ..view(&image(Format::D32_SFLOAT, [1; 3], 1, 1)) };
        look_at_metadata(chip, &with(DEPTH, [523, 503, 1], Format::D32_SFLOAT), &depth);
        if chip.level() < GfxLevel::Gfx10 {
            continue;
        }
        let several = VulkanImage { layers: 2, ..with(ATTACHMENT, [520, 510, 1], Format::R32_UINT) };
        look_at_metadata(chip, &several, &VulkanView { layer_count: 2, ..view(&several) });
        let levels = VulkanImage { levels: 5, ..with(ATTACHMENT, [520, 510, 1], Format::R32_UINT) };
        look_at_metadata(chip, &levels, &view(&levels));
        for samples in [2, 8] {
            let made = VulkanImage { samples, ..with(ATTACHMENT, [150, 100, 1], Format::R8G8B8A8_UNORM) };
            look_at_metadata(chip, &made, &view(&made));
        }
    }
}

#[test]
fn all_samples_of_a_tile_of_depth_have_one_dword() {
    for chip in chips().iter().filter(|chip| chip.level() == GfxLevel::Gfx8) {
        let made = VulkanImage { samples: 4, usage: 0x27, ..image(Format::D32_SFLOAT, [128, 64, 1], 1, 1) };
        let layout = made.layout(chip, Some(5)).unwrap();
        assert!(layout.meta.is_some());
        let depth = VulkanView { aspect: Aspect::Depth, ..view(&made) };
        let words = made.descriptor(chip, &layout, GpuVa::from_48_bits(BASE), &depth).unwrap().words();
        let mut found = Image::new(chip.level(), words, Some(chip)).unwrap().unwrap();
        for tile in [[0, 0], [8, 0], [40, 24]] {
            let places = (0..8).flat_map(|y| (0..8).flat_map(move |x| (0..4).map(move |sample| [x, y, sample])));
            let units: HashSet<u64> = places
                .map(|[x, y, sample]| {
                    let texel = Texel { x: tile[0] + x, y: tile[1] + y, z: 0, sample, level: 0 };
                    let address = found.address(texel).unwrap().unwrap();
                    found.metadata(texel, address).unwrap().unwrap().address
                })
                .collect();
            assert_eq!(units.len(), 1, "{} {tile:?}", chip.level());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_words_have_addresses_or_a_reason(
        words: [u32; 8], small: bool, level in 0_u32..3, x in 0_u32..70, y in 0_u32..70, z in 0_u32..4, sample in 0_u32..3,
    ) {
        for chip in &chips() {
            let mut words = words;
            // The kind of an image, and half of the time a size that an image may have.
            words[3] |= 1 << 31;
            if small {
                words[2] &= 0x0000_c03f;
                words[4] &= 0x7;
            }
            if let Ok(Some(mut image)) = Image::new(chip.level(), words, Some(chip)) {
                let _ = image.address(Texel { level, x, y, z, sample });
            }
        }
    }
}

#[test]
fn tile_swizzle_of_fmask_moves_its_texels_and_not_its_cmask() {
    for chip in chips().iter().filter(|chip| chip.level() == GfxLevel::Gfx8) {
        // FMASK8_S4_F4 of 32 x 32 texels and a pitch of 64, in tiling 14 of macro tiles, whose CMASK is read through the descriptor.
        let places = |swizzle: u32| {
            let (base, meta) = (0x0100_0600 | swizzle, 0x0100_0700 | swizzle);
            let words = [base, 0x1310_0000, 0x0007_c01f, 0x90e0_0924, 0x0007_e000, 0, 0x0020_0000, meta];
            let mut found = Image::new(chip.level(), words, Some(chip)).unwrap().unwrap();
            let mut at = |x, y| {
                let texel = Texel { x, y, z: 0, sample: 0, level: 0 };
                let address = found.address(texel).unwrap().unwrap();
                let unit = found.metadata(texel, address).unwrap().unwrap();
                (address, (unit.address, unit.bit))
            };
            (0..32).step_by(8).flat_map(|y| (0..32).step_by(8).map(move |x| (x, y))).map(|(x, y)| at(x, y)).unzip()
        };
        let (texels, units): (Vec<u64>, Vec<(u64, u32)>) = places(0);
        for swizzle in 1..16 {
            let (moved, same) = places(swizzle);
            assert_ne!(moved, texels, "{} {swizzle}", chip.level());
            assert_eq!(same, units, "{} {swizzle}", chip.level());
        }
    }
}

#[test]
fn stencil_that_gfx9_reads_through_htile_has_a_format_that_tells_the_size_of_depth() {
    let chip = chips().into_iter().find(|chip| chip.level() == GfxLevel::Gfx9).unwrap();
    // A descriptor that RADV made for the stencil of a D32_S8 image of 32 x 32 texels on a Vega 10, with data format 60.
    let words =
        [0x0100_1a10, 0x13c0_0080, 0x4007_c01f, 0x9140_0204, 0x0007_e000, 0x0d00_0000, 0x0020_0000, 0x0100_1b00];
    let mut image = Image::new(GfxLevel::Gfx9, words, Some(&chip)).unwrap().unwrap();
    assert_eq!((image.format.bits, image.samples), (8, 1));
    let texel = Texel { x: 9, y: 17, z: 0, sample: 0, level: 0 };
    let address = image.address(texel).unwrap().unwrap();
    let stencil = image.metadata(texel, address).unwrap().unwrap();
    // The same dword as that of the depth, whose descriptor has 32 bits a texel.
    let depth_words =
        [words[0], words[1] & !(0x3f << 20) | 4 << 20, words[2], words[3], words[4], words[5], words[6], words[7]];
    let mut depth = Image::new(GfxLevel::Gfx9, depth_words, Some(&chip)).unwrap().unwrap();
    assert_eq!(depth.format.bits, 32);
    assert_eq!(depth.metadata(texel, 0).unwrap().unwrap(), stencil);
}
