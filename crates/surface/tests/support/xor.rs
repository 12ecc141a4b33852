//! `xor`: how surfaces and slices are spread over channels.

use amdgpu_surface::{Chip, GfxLevel, addr2, addr3};

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
    }
    out
}
