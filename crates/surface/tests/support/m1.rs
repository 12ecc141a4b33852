//! `m1`: metadata of GFX6 to GFX8.

use amdgpu_surface::Chip;
use amdgpu_surface::addr1::mask::{self, Mask};
use amdgpu_surface::addr1::{self, Image, Level, TileMode, TileType, Usage, meta};
use serde_json::{Value, json};

use super::{Object, Question, put};

fn points(question: &Question<'_>, address: impl Fn(u32, u32, u32) -> (u64, u32)) -> Vec<Value> {
    let point = |p: &Vec<u64>| {
        let (byte, bit) = address(p[0] as u32, p[1] as u32, p[2] as u32);
        json!([p[0], p[1], p[2], p[3], byte, bit])
    };
    question.points("pts").iter().map(point).collect()
}

fn mask(chip: &Chip, question: &Question<'_>, mask: &Mask, out: &mut Object) {
    put(out, "pitch", mask.pitch);
    put(out, "height", mask.height);
    put(out, "size", mask.bytes);
    put(out, "align", mask.align);
    put(out, "macro", mask.macro_tile.to_vec());
    put(out, "slice", mask.slice_bytes);
    let tables = mask.tables(chip);
    let both = |x, y, z| {
        let found = mask.address(chip, x, y, z);
        assert_eq!(tables.address(x, y, z), found, "{x} {y} {z}, prepared");
        found
    };
    put(out, "pts", points(question, both));
}

fn fmask(chip: &Chip, question: &Question<'_>, image: &Image, level: &Level, out: &mut Object) {
    let size = [level.pitch, image.height, image.slices];
    let fmask = match meta::fmask(chip, level, size, image.samples, image.stored()) {
        Ok(fmask) => fmask,
        Err(error) => {
            put(out, "ret", error.code());
            return;
        }
    };
    let (bits, planes) = meta::fmask_bits(image.samples, image.stored());
    put(out, "pitch", fmask.pitch);
    put(out, "height", fmask.height);
    put(out, "slices", fmask.depth);
    put(out, "size", fmask.bytes);
    put(out, "align", fmask.base_align);
    put(out, "al", vec![fmask.pitch_align, fmask.height_align]);
    put(out, "bpp", bits);
    put(out, "samples", planes);
    put(out, "tile_index", fmask.tile_index.cast_unsigned());
    put(out, "macro_index", fmask.macro_index.cast_unsigned());
    put(out, "slice", fmask.slice_bytes);
    let info = fmask.info;
    put(out, "ti", vec![info.banks, info.bank_width, info.bank_height, info.aspect, info.tile_split, info.pipe_config]);
    // addrlib answers 0 for every address of FMASK.
    put(out, "pts", points(question, |_, _, _| (0, 0)));
}

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let mut image = super::a1::image(question);
    if !question.input.contains_key("tm") {
        image.mode = TileMode::THIN_2D;
    }
    if !question.input.contains_key("tt") {
        let depth = image.usage.intersects(Usage::DEPTH | Usage::STENCIL);
        image.tile_type = if depth { TileType::Depth } else { TileType::NonDisplay };
    }
    let mut out = Object::new();
    let layout = match addr1::layout(chip, &image) {
        Ok(layout) => layout,
        Err(code) => return super::a2::error(code),
    };
    let (level, _) = *layout.level(0).unwrap();
    put(
        &mut out,
        "surf",
        vec![
            u64::from(level.mode.number()),
            u64::from(level.tile_index.cast_unsigned()),
            u64::from(level.macro_index.cast_unsigned()),
            u64::from(level.pitch),
            u64::from(level.height),
            u64::from(level.depth),
            level.bytes,
            u64::from(level.tc_compatible),
            level.tile_type as u64,
        ],
    );
    let linear = question.u32("lin", 0) != 0;
    match question.text("meta") {
        "dcc" => match meta::dcc(chip, &level, level.bytes, image.bits, image.stored()) {
            None => put(&mut out, "ret", 4),
            Some(dcc) => {
                put(&mut out, "align", dcc.align);
                put(&mut out, "size", dcc.bytes);
                put(&mut out, "fast_clear", dcc.clear_bytes);
                put(&mut out, "size_aligned", u32::from(dcc.aligned));
                put(&mut out, "sub_level_compressible", u32::from(dcc.next_level));
            }
        },
        "cmask" => {
            let found = mask::cmask(chip, &level, linear);
            mask(chip, question, &found, &mut out);
            let area = u64::from(found.pitch) * u64::from(found.height);
            put(&mut out, "block_max", (area / (128 * 128)).saturating_sub(1));
        }
        "htile" if level.tc_compatible => {
            let htile = meta::htile(chip, &level);
            put(&mut out, "pitch", htile.pitch);
            put(&mut out, "height", htile.height);
            put(&mut out, "size", htile.bytes);
            put(&mut out, "align", htile.align);
            put(&mut out, "bpp", 32);
            put(&mut out, "slice", htile.slice_bytes);
            put(&mut out, "slice_interleaved", u32::from(htile.interleaved));
            put(&mut out, "next_level_compressible", u32::from(htile.next_level));
            // Their addresses follow those of depth, of which the one who asked gave 0.
            put(&mut out, "pts", points(question, |_, _, _| (0, 0)));
        }
        "htile" => {
            mask(chip, question, &mask::htile(chip, &level, linear), &mut out);
            put(&mut out, "bpp", 32);
        }
        "fmask" => fmask(chip, question, &image, &level, &mut out),
        other => panic!("meta {other}"),
    }
    out
}
