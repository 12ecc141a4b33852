//! `a1`: GFX6 to GFX8 with an explicit mode.

use amdgpu_surface::addr1::{self, Addresser, Image, TileMode, TileType, Usage};
use amdgpu_surface::equation::Texel;
use amdgpu_surface::{Chip, GfxLevel};
use serde_json::json;

use super::{Object, Question, put};

pub(crate) fn usage(flags: &[&str]) -> Usage {
    flags.iter().fold(Usage::empty(), |usage, flag| {
        usage
            | match *flag {
                "color" => Usage::COLOR,
                "depth" => Usage::DEPTH,
                "stencil" => Usage::STENCIL,
                "display" => Usage::DISPLAY,
                "prt" => Usage::PRT,
                "opt4space" => Usage::OPT_4_SPACE,
                "pow2pad" => Usage::POW2_PAD,
                "compressz" => Usage::COMPRESSED_DEPTH,
                "matchstencil" => Usage::MATCH_STENCIL,
                "nostencil" => Usage::NO_STENCIL,
                "tc" => Usage::TC_COMPATIBLE,
                "dcc" => Usage::DCC,
                other => panic!("flag {other}"),
            }
    })
}

pub(crate) fn image(question: &Question<'_>) -> Image {
    let mode = TileMode::new(question.u32("tm", 0) as u8).unwrap();
    let tile_type = TileType::new(question.u32("tt", 0)).unwrap();
    let mut image = Image::new(mode, tile_type, question.u32("bpp", 0), question.u32("w", 1), question.u32("h", 1));
    image.slices = question.u32("d", 1);
    image.levels = question.u32("lv", 1);
    image.samples = question.u32("s", 1);
    image.fragments = question.u32("fr", 0);
    if question.input.contains_key("f") {
        image.usage = usage(&question.flags());
    }
    match question.text("t") {
        "3d" => image.usage |= Usage::VOLUME,
        "cube" => image.usage |= Usage::CUBE,
        _ => {}
    }
    image
}

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let image = image(question);
    let mut out = Object::new();
    let layout = match addr1::layout_checked(chip, &image) {
        Ok(layout) => layout,
        Err((error, level)) => {
            put(&mut out, "ret", error.code());
            put(&mut out, "ret_level", level);
            return out;
        }
    };
    let (first, _) = layout.level(0).unwrap();
    let info = first.info;
    put(&mut out, "tt", first.tile_type as u32);
    put(&mut out, "macro", first.macro_index.cast_unsigned());
    put(
        &mut out,
        "ti",
        vec![info.banks, info.bank_width, info.bank_height, info.aspect, info.tile_split, info.pipe_config],
    );
    put(&mut out, "al", vec![first.base_align, first.pitch_align, first.height_align, first.depth_align]);
    put(&mut out, "tc", u32::from(first.tc_compatible));
    put(&mut out, "dcc_unsupported", u32::from(first.no_dcc));
    put(&mut out, "stencil_ti", first.stencil_index.cast_unsigned());
    if first.macro_tile[0] != 0 {
        put(&mut out, "eq_blk", first.macro_tile.to_vec());
    }
    put(&mut out, "bpp", image.bits);
    let levels: Vec<_> = layout
        .levels()
        .map(|(l, offset)| {
            json!([
                l.mode.number(),
                l.tile_index.cast_unsigned(),
                l.pitch,
                l.height,
                l.depth,
                l.slice_bytes,
                l.bytes,
                offset,
                l.base_align
            ])
        })
        .collect();
    put(&mut out, "lv", levels);
    let addressers: Vec<_> = layout
        .levels()
        .map(|(level, _)| Addresser::new(chip, &image, level, question.u32("swz", 0), 0).unwrap())
        .collect();
    let points: Vec<_> = question
        .points("pts")
        .iter()
        .map(|p| {
            let texel =
                Texel { x: p[0] as u32, y: p[1] as u32, z: p[2] as u32, sample: p[3] as u32, level: p[4] as u32 };
            json!([p[0], p[1], p[2], p[3], p[4], addressers[p[4] as usize].address(texel).unwrap_or(u64::MAX)])
        })
        .collect();
    put(&mut out, "pts", points);
    let _ = GfxLevel::Gfx6;
    out
}
