//! `pref`: suggested modes.

use amdgpu_surface::addr2::{self, Blocks, Dimension, Format, Orders, Restrictions, Usage};
use amdgpu_surface::{Chip, GfxLevel, addr3};

use super::a2::error;
use super::{Object, Question, put};

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let mut out = Object::new();
    let max_align = question.u32("maxalign", 0);
    let rgb96 = question.u32("bpp", 0) == 96;
    if chip.level() == GfxLevel::Gfx12 {
        let mut image = super::a3::image(question);
        if rgb96 {
            image.format = Format::Rgb96;
        }
        match addr3::possible_modes(&image, max_align) {
            Ok(modes) => put(&mut out, "valid", format!("{modes:#x}")),
            Err(code) => return error(code),
        }
        return out;
    }
    let mut image = super::a2::image(question);
    image.bits = question.u32("bpp", 32);
    if !question.input.contains_key("f") {
        image.usage = Usage::empty();
    }
    if rgb96 {
        image.format = Format::Rgb96;
    }
    let restrictions = Restrictions {
        forbidden: Blocks::from_bits_truncate(question.u32("forbid", 0) as u8),
        preferred: Orders::from_bits_truncate(question.u32("prefer", 0) as u8),
        no_xor: question.u32("noxor", 0) != 0,
        max_align,
        memory_budget: question.text("budget").parse().unwrap_or(0.0),
    };
    let choice = match addr2::choose(chip, &image, &restrictions) {
        Ok(choice) => choice,
        Err(code) => return error(code),
    };
    put(&mut out, "sw", choice.mode.number());
    put(
        &mut out,
        "rsrc",
        match choice.dimension {
            Dimension::D1 => 0,
            Dimension::D2 => 1,
            Dimension::D3 => 2,
        },
    );
    put(&mut out, "blocks", format!("{:#x}", choice.blocks.bits()));
    put(&mut out, "can_xor", u32::from(choice.can_xor));
    put(&mut out, "types", format!("{:#x}", choice.orders.bits()));
    put(&mut out, "client", format!("{:#x}", choice.preferred.bits()));
    put(&mut out, "modes", format!("{:#x}", choice.modes));
    out
}
