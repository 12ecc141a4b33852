//! The builder's image operations on every generation.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{WaveSize, builder::Builder};

#[test]
fn image_operations_name_their_registers_on_every_generation() {
    for level in GfxLevel::ALL {
        let mut code = Builder::new(level, WaveSize::Wave64, 16);
        let (at, data) = (code.vector(2), code.vector(4));
        let (image, sampler) = (code.user(4, 8), code.user(12, 4));
        code.image_load(data, at, image);
        code.image_store(data, at, image);
        code.image_sample(data.part(0, 1), at, image, sampler);
        let text = code.finish().unwrap().text();
        let place = if level >= GfxLevel::Gfx12 { "[v1, v2]" } else { "v[1:2]" };
        for (operation, one_by_one) in [
            ("image_load v[3:6], PLACE, s[4:11] dmask:0xf", true),
            ("image_store v[3:6], PLACE, s[4:11] dmask:0xf", true),
            ("image_sample_lz v3, PLACE, s[4:11], s[12:15] dmask:0x1", false),
        ] {
            let line = text.lines().find(|line| line.contains(operation.split_once(' ').unwrap().0));
            let line = line.unwrap_or_else(|| panic!("{level}: {text}"));
            // Up to GFX9 the text of operations that take integers names the first register of the address alone.
            let named = line.contains(&operation.replace("PLACE", place))
                || level <= GfxLevel::Gfx9 && line.contains(&operation.replace("PLACE", "v1"));
            assert!(named, "{level}: {line}");
            assert_eq!(line.contains(" unorm"), one_by_one && level < GfxLevel::Gfx12, "{level}: {line}");
            assert_eq!(line.contains("dim:SQ_RSRC_IMG_2D"), level >= GfxLevel::Gfx10, "{level}: {line}");
        }
    }
}
