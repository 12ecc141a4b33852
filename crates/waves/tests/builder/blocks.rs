//! Image loads and samples decode compressed blocks, each lane the texel that it asks for.

use amdgpu_descriptors::{
    format::{Format, Swizzle},
    vulkan::{Aspect, ViewType, VulkanImage, VulkanView},
};
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_isa::{WaveSize, builder::Builder};
use amdgpu_surface::{Chip, ChipRegisters, surface::Dimension};

use crate::machine::{DATA, run_with_image};

/// Texels of the image in each axis: two blocks.
const SIDE: u32 = 8;
/// The place of the image in the data, in bytes.
const IMAGE: u64 = 0x1_0000;

/// Returns a Navi 21.
fn chip() -> Chip {
    Chip::new(&ChipRegisters::new(GfxLevel::Gfx10_3, 143, 41, 0x444)).unwrap()
}

/// Runs `body` for each texel of an image of four blocks in BC1, one red, one green, one blue, one white; returns the results.
fn run(
    body: impl FnOnce(&mut Builder, [amdgpu_isa::builder::Vector; 2], amdgpu_isa::builder::Scalar),
) -> Vec<[f32; 4]> {
    let chip = chip();
    let image = VulkanImage {
        format: Format::BC1_RGBA_UNORM_BLOCK,
        dimension: Dimension::D2,
        extent: [SIDE, SIDE, 1],
        layers: 1,
        levels: 1,
        samples: 1,
        linear: false,
        usage: 4,
    };
    let view = VulkanView {
        view: ViewType::D2,
        aspect: Aspect::Color,
        base_level: 0,
        level_count: 1,
        base_layer: 0,
        layer_count: 1,
        swizzle: Swizzle::IDENTITY,
        storage: false,
    };
    let layout = image.layout(&chip, None).unwrap();
    let base = GpuVa::from_48_bits(DATA + IMAGE);
    let words = image.descriptor(&chip, &layout, base, &view).unwrap().words();
    let mut data = vec![0; 0x4_0000];
    let places = layout.texels(&chip, &image.surface(chip.level(), None), 0).unwrap();
    for (block, colour) in (0..).zip([0xf800_u16, 0x07e0, 0x001f, 0xffff]) {
        let at = (IMAGE + places.address(block % 2, block / 2, 0, 0).unwrap()) as usize;
        data[at..at + 2].copy_from_slice(&colour.to_le_bytes());
    }
    let mut code = Builder::new(chip.level(), WaveSize::Wave64, 12);
    let (buffer, resource) = (code.user(0, 4), code.user(4, 8));
    let (at, texel, result) = (code.vector(1), code.vector(2), code.vector(4));
    code.op(format_args!("v_and_b32 {}, 7, {}", texel.at(0), code.thread()));
    code.op(format_args!("v_lshrrev_b32 {}, 3, {}", texel.at(1), code.thread()));
    code.op(format_args!("v_lshlrev_b32 {at}, 4, {}", code.thread()));
    body(&mut code, [result, texel], resource);
    code.buffer_store(result, at, buffer);
    let data = run_with_image(&chip, &code.finish().unwrap(), words, data);
    let word = |bytes: &[u8; 4]| f32::from_le_bytes(*bytes);
    let texels = data[..64 * 16].as_chunks::<4>().0.as_chunks::<4>().0;
    texels.iter().map(|texel| texel.each_ref().map(word)).collect()
}

#[test]
fn each_lane_loads_the_texel_of_its_block() {
    let texels = run(|code, [result, texel], image| code.image_load(result, texel, image));
    for (lane, found) in (0_usize..).zip(texels) {
        let block = lane % 8 / 4 + lane / 32 * 2;
        let expected = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0; 3]][block];
        assert_eq!(found[..3], expected, "lane {lane}");
        assert!(found[3] > 0.99, "lane {lane}");
    }
}
