//! `a2`: GFX9 to GFX11 with an explicit mode.

use amdgpu_surface::addr2::{self, Addresser, Dimension, Image, Levels, SwizzleMode, Usage};
use amdgpu_surface::equation::Texel;
use amdgpu_surface::{AddrError, Chip};
use serde_json::{Value, json};

use super::{Object, Question, put};

pub(crate) fn usage(flags: &[&str]) -> Usage {
    flags.iter().fold(Usage::empty(), |usage, flag| {
        usage
            | match *flag {
                "color" => Usage::COLOR,
                "depth" => Usage::DEPTH,
                "stencil" => Usage::STENCIL,
                "texture" => Usage::TEXTURE,
                "display" => Usage::DISPLAY,
                "prt" => Usage::PRT,
                "fmask" => Usage::FMASK,
                "view3das2d" => Usage::VIEW_3D_AS_2D,
                "unordered" => Usage::UNORDERED,
                "opt4space" => Usage::OPT_4_SPACE,
                "minalign" => Usage::MINIMIZE_ALIGN,
                "needmeta" => Usage::NEED_METADATA,
                other => panic!("flag {other}"),
            }
    })
}

pub(crate) fn dimension(text: &str) -> Dimension {
    match text {
        "1d" => Dimension::D1,
        "3d" => Dimension::D3,
        "2d" | "" => Dimension::D2,
        other => panic!("dimension {other}"),
    }
}

pub(crate) fn image(question: &Question<'_>) -> Image {
    let mode = SwizzleMode::new(question.u32("sw", 0) as u8).unwrap();
    let mut image = Image::new(mode, question.u32("bpp", 0), question.u32("w", 1), question.u32("h", 1));
    image.dimension = dimension(question.text("t"));
    image.slices = question.u32("d", 1);
    image.levels = question.u32("lv", 1);
    image.samples = question.u32("s", 1);
    image.pitch = question.u32("pitch", 0);
    if question.input.contains_key("f") {
        image.usage = usage(&question.flags());
    }
    image
}

/// Returns the levels in the form of the goldens.
pub(super) fn mips(levels: &Levels) -> Vec<Value> {
    let mips = levels.as_slice().iter().map(|l| {
        let [x, y, z] = l.tail;
        json!([l.pitch, l.height, l.depth, l.offset, l.block_offset, l.tail_offset, x, y, z])
    });
    mips.collect()
}

/// Puts the addresses of the points that the golden has, or else the error, into the answer.
pub(super) fn put_points<A>(
    out: &mut Object,
    question: &Question<'_>,
    addresser: Result<A, AddrError>,
    address: impl Fn(&A, Texel) -> Result<u64, AddrError>,
) {
    match addresser {
        Err(error) => {
            if question.out.contains_key("pts_ret") || question.out.contains_key("pts") {
                put(out, "pts_ret", error.code());
            }
        }
        Ok(addresser) => {
            let points = question.points("pts").into_iter().map(|p| {
                let [x, y, z, sample, level] = [0, 1, 2, 3, 4].map(|at| p[at] as u32);
                let found = address(&addresser, Texel { x, y, z, sample, level });
                json!([x, y, z, sample, level, found.unwrap_or(u64::MAX)])
            });
            let points: Vec<_> = points.collect();
            put(out, "pts", points);
        }
    }
}

pub(crate) fn error(error: AddrError) -> Object {
    let mut out = Object::new();
    put(&mut out, "ret", error.code());
    out
}

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let image = image(question);
    let layout = match addr2::layout(chip, &image) {
        Ok(layout) => layout,
        Err(code) => return error(code),
    };
    let mut out = Object::new();
    put(&mut out, "pitch", layout.pitch);
    put(&mut out, "height", layout.height);
    put(&mut out, "slices", layout.slices);
    put(&mut out, "slice_size", layout.slice_bytes);
    put(&mut out, "surf_size", layout.bytes);
    put(&mut out, "align", layout.align);
    put(&mut out, "blk", layout.block.to_vec());
    put(&mut out, "bpp", image.bits);
    put(&mut out, "chain_pitch", layout.chain_pitch);
    put(&mut out, "chain_height", layout.chain_height);
    put(&mut out, "chain_slices", layout.chain_slices);
    put(&mut out, "epitch_is_height", u32::from(layout.epitch_is_height));
    put(&mut out, "chain_in_tail", u32::from(layout.chain_in_tail));
    if image.levels > 1 {
        if image.mode.is_linear() {
            // addrlib leaves the field as it was.
            if let Some(value) = question.out.get("first_tail") {
                put(&mut out, "first_tail", value.clone());
            }
        } else {
            put(&mut out, "first_tail", layout.first_tail);
        }
        put(&mut out, "mips", mips(&layout.levels));
    }
    let addresser = Addresser::new(chip, &image, &layout, question.u32("xor", 0));
    put_points(&mut out, question, addresser, Addresser::address);
    out
}
