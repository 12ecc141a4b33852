//! `xor`: how surfaces and slices are spread over channels.

use amdgpu_surface::{Chip, GfxLevel, addr1, addr2, addr3};

use super::{Object, Question, put};

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let mut out = Object::new();
    if chip.level() == GfxLevel::Gfx12 {
        let image = super::a3::image(question);
        let base: Vec<u32> = (0..32).map(|index| addr3::surface_xor(chip, image.mode, index)).collect();
        put(&mut out, "slice_of_base7", vec![base[7]; 16]);
        put(&mut out, "base", base);
    } else if chip.level() >= GfxLevel::Gfx9 {
        let mut image = super::a2::image(question);
        // The one who asked named no format, which addrlib takes for a small element.
        image.bits = image.bits.min(if chip.level() == GfxLevel::Gfx9 { 32 } else { 128 });
        let base: Vec<u32> = (0..32).map(|index| addr2::surface_xor(chip, &image, index)).collect();
        let slices: Result<Vec<u32>, _> = (0..16).map(|slice| addr2::slice_xor(chip, &image, base[7], slice)).collect();
        match slices {
            Ok(slices) => put(&mut out, "slice_of_base7", slices),
            Err(error) => put(&mut out, "slice_ret", error.code()),
        }
        put(&mut out, "base", base);
    } else {
        let mut image = super::a1::image(question);
        (image.width, image.height) = (1024, 1024);
        let layout = match addr1::layout(chip, &image) {
            Ok(layout) => layout,
            Err(code) => return super::a2::error(code),
        };
        let (level, _) = *layout.level(0).unwrap();
        let info = level.info;
        let index = i32::cast_unsigned;
        put(&mut out, "idx", vec![u32::from(level.mode.number()), index(level.tile_index), index(level.macro_index)]);
        put(
            &mut out,
            "ti",
            vec![info.banks, info.bank_width, info.bank_height, info.aspect, info.tile_split, info.pipe_config],
        );
        let base: Vec<u32> = (0..32)
            .map(|index| addr1::surface_swizzle(level.mode, &info, index, question.u32("gen", 0) == 1))
            .collect();
        let slices: Vec<u32> = (0..16).map(|slice| addr1::slice_swizzle(level.mode, &info, base[7], slice)).collect();
        put(&mut out, "slice_of_base7", slices);
        put(&mut out, "base", base);
    }
    out
}
