//! `m2`: metadata of GFX9 to GFX11.

use amdgpu_surface::addr2::meta::{self, CoordTerm, MetaAddresser, MetaEquation, MetaImage, MetaKind};
use amdgpu_surface::addr2::{self, Usage};
use amdgpu_surface::{Chip, GfxLevel};
use serde_json::{Value, json};

use super::a2::error;
use super::{Object, Question, put};

/// Writes a term as the goldens do: `y3^x7`, lowest bit first, x before y before z; samples first, block indices last.
pub(crate) fn term_text(term: CoordTerm) -> String {
    let mut parts: Vec<(u32, u32, String)> = Vec::new();
    let axes = [
        ("s", u64::from(term.s)),
        ("x", u64::from(term.x)),
        ("y", u64::from(term.y)),
        ("z", u64::from(term.z)),
        ("m", term.m),
    ];
    for (order, (name, bits)) in (0..).zip(axes) {
        for bit in (0..64).filter(|bit| bits >> bit & 1 == 1) {
            let group = match name {
                "s" => 0,
                "m" => 1000,
                _ => 1 + bit,
            };
            parts.push((group, order, format!("{name}{bit}")));
        }
    }
    parts.sort();
    parts.into_iter().map(|(_, _, text)| text).collect::<Vec<_>>().join("^")
}

pub(crate) fn equation(equation: &MetaEquation, skip: usize) -> Value {
    match equation {
        MetaEquation::Gfx9(equation) => {
            let mut bits: Vec<String> = equation.terms().iter().map(|term| term_text(*term)).collect();
            let len = bits.len();
            while bits.last().is_some_and(String::is_empty) {
                bits.pop();
            }
            let mut out = Object::new();
            put(&mut out, "num_bits", len);
            put(&mut out, "num_pipe_bits", equation.pipe_bits());
            put(&mut out, "bits", bits);
            Value::Object(out)
        }
        MetaEquation::Gfx10(equation) => {
            let mut flat: Vec<u16> =
                equation.terms().iter().skip(skip).flat_map(|term| [term.x(), term.y(), term.z(), term.s()]).collect();
            while flat.last() == Some(&0) {
                flat.pop();
            }
            json!(flat)
        }
    }
}

fn fmask(chip: &Chip, question: &Question<'_>) -> Object {
    let mut image = super::a2::image(question);
    image.fragments = question.u32("fr", 1);
    image.usage = Usage::empty();
    let layout = match meta::fmask(chip, &image) {
        Ok(layout) => layout,
        Err(code) => return error(code),
    };
    let mut out = Object::new();
    put(&mut out, "pitch", layout.pitch);
    put(&mut out, "height", layout.height);
    put(&mut out, "align", layout.align);
    put(&mut out, "slices", layout.slices);
    put(&mut out, "size", layout.bytes);
    put(&mut out, "bpp", meta::fmask_bits(image.samples, image.fragments));
    put(&mut out, "samples", 1);
    put(&mut out, "slice", layout.slice_bytes);
    out
}

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let kind = match question.text("meta") {
        "dcc" => MetaKind::Dcc,
        "cmask" => MetaKind::Cmask,
        "htile" => MetaKind::Htile,
        "fmask" => return fmask(chip, question),
        other => panic!("metadata {other}"),
    };
    let mut out = Object::new();
    let mut surface = super::a2::image(question);
    if surface.bits == 0 {
        surface.bits = 32;
    }
    let fragments = question.u32("fr", 1);
    if surface.levels > 1 {
        surface.usage = if kind == MetaKind::Htile { Usage::DEPTH } else { Usage::COLOR };
    }
    let first_tail = if surface.levels > 1 { addr2::layout(chip, &surface).map_or(0, |l| l.first_tail) } else { 0 };
    put(&mut out, "first_tail_in", first_tail);
    let image = MetaImage {
        kind,
        mode: surface.mode,
        dimension: surface.dimension,
        bits: surface.bits,
        width: surface.width,
        height: surface.height,
        slices: surface.slices,
        levels: surface.levels,
        samples: fragments,
        fragments,
        pipe_aligned: question.u32("pipe", 1) != 0,
        rb_aligned: question.u32("rb", 1) != 0,
        first_tail,
    };
    let layout = match image.layout(chip) {
        Ok(layout) => layout,
        Err(code) => return error(code),
    };
    put(&mut out, "align", layout.align);
    put(&mut out, "size", layout.bytes);
    put(&mut out, "pitch", layout.pitch);
    put(&mut out, "height", layout.height);
    put(&mut out, "slice", layout.slice_bytes);
    put(&mut out, "mblk_per_slice", layout.blocks_per_slice);
    if kind == MetaKind::Dcc {
        put(&mut out, "depth", layout.depth);
        put(&mut out, "cblk", layout.compressed_block.to_vec());
        put(&mut out, "mblk", layout.block.to_vec());
        put(&mut out, "mblk_size", layout.block_bytes);
    } else {
        put(&mut out, "mblk", layout.block[..2].to_vec());
    }
    if surface.levels > 1 {
        let mips: Vec<Value> = layout.levels[..surface.levels as usize]
            .iter()
            .map(|l| {
                let tail = u32::from(l.in_tail);
                if chip.level() == GfxLevel::Gfx9 {
                    json!([tail, l.start[0], l.start[1], l.start[2], l.extent[0], l.extent[1], l.extent[2]])
                } else {
                    json!([tail, l.offset, l.bytes])
                }
            })
            .collect();
        put(&mut out, "mips", mips);
    }
    if let Ok(found) = image.equation(chip, &layout) {
        put(&mut out, "eq", equation(&found, 0));
    }
    if let Ok(addresser) = MetaAddresser::new(chip, &image, &layout, question.u32("xor", 0)) {
        let tables = addresser.tables().unwrap();
        let points: Vec<Value> = question
            .points("pts")
            .iter()
            .map(|p| {
                let [x, y, z, sample] = [p[0], p[1], p[2], p[3]].map(|at| at as u32);
                let at = addresser.address(x, y, z, sample);
                assert_eq!(tables.address(x, y, z, sample), at, "{p:?}, prepared");
                if p.len() > 5 {
                    json!([p[0], p[1], p[2], p[3], at.byte, at.bit])
                } else {
                    json!([p[0], p[1], p[2], p[3], at.byte])
                }
            })
            .collect();
        put(&mut out, "pts", points);
    }
    out
}
