//! `a3`: GFX12 with an explicit mode.

use amdgpu_surface::Chip;
use amdgpu_surface::addr3::{self, Addresser, Format, Image, Mode, Usage};

use super::a2::{dimension, error, mips, put_points};
use super::{Object, Question, put};

pub(crate) fn image(question: &Question<'_>) -> Image {
    let mode = Mode::new(question.u32("sw", 0) as u8).unwrap();
    let mut image = Image::new(mode, question.u32("bpp", 0), question.u32("w", 1), question.u32("h", 1));
    image.dimension = dimension(question.text("t"));
    image.slices = question.u32("d", 1);
    image.levels = question.u32("lv", 1);
    image.samples = question.u32("s", 1);
    image.pitch = question.u32("pitch", 0);
    for flag in question.flags() {
        match flag {
            "depth" => image.usage |= Usage::DEPTH,
            "stencil" => image.usage |= Usage::STENCIL,
            "prt" => image.usage |= Usage::PRT,
            "display" => image.usage |= Usage::DISPLAY,
            "vrs" => image.usage |= Usage::VRS,
            "hizhis" => image.usage |= Usage::HIZ_HIS,
            "view3das2d" => image.usage |= Usage::VIEW_3D_AS_2D,
            "bc" => image.format = Format::BlockCompressed,
            other => panic!("flag {other}"),
        }
    }
    image
}

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let image = image(question);
    let layout = match addr3::layout(chip, &image) {
        Ok(layout) => layout,
        Err(code) => return error(code),
    };
    let mut out = Object::new();
    put(&mut out, "pitch", layout.pitch);
    if layout.slice_pitch != layout.pitch {
        put(&mut out, "pitch_for_slice", layout.slice_pitch);
    }
    put(&mut out, "height", layout.height);
    put(&mut out, "slices", layout.slices);
    put(&mut out, "slice_size", layout.slice_bytes);
    if layout.dense_slice_bytes != layout.slice_bytes {
        put(&mut out, "slice_size_dense", layout.dense_slice_bytes);
    }
    put(&mut out, "surf_size", layout.bytes);
    put(&mut out, "align", layout.align);
    put(&mut out, "blk", layout.block.to_vec());
    put(&mut out, "bpp", image.bits);
    put(&mut out, "chain_in_tail", u32::from(layout.chain_in_tail));
    if image.levels > 1 {
        put(&mut out, "first_tail", layout.first_tail);
        put(&mut out, "mips", mips(&layout.levels));
    }
    let addresser = Addresser::new(&image, &layout);
    put_points(&mut out, question, addresser, Addresser::address);
    out
}
