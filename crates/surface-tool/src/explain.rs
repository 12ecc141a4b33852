//! The layout of an image in words.

use amdgpu_surface::modifier::ListOptions;
use amdgpu_surface::surface::{Dimension, Presence};
use serde_json::{Value, json};

use crate::image::Image;
use crate::report::Report;
use crate::{modifiers, names};

/// Explains a layout.
pub(crate) fn explain(image: &Image) -> Report {
    let Image { gpu, chip, format, config, layout } = image;
    let mut report = Report::default();
    let depth = if config.dimension == Dimension::D3 { format!("x{}", config.depth) } else { String::new() };
    let mut described = format!("{} {}x{}{depth}", format.name(), config.width, config.height);
    for (count, word) in [(config.levels, "levels"), (config.layers, "layers"), (config.samples, "samples")] {
        if count > 1 {
            described = format!("{described}, {count} {word}");
        }
    }
    report.row("chip", format!("{gpu} ({})", chip.level()), json!(gpu));
    report.value("generation", json!(chip.level().to_string()));
    report.row("image", described, json!(format.name()));
    report.row("mode", names::mode(chip, layout), json!(names::mode(chip, layout)));
    report.row("because", layout.reasons.mode.to_string(), json!(layout.reasons.mode.to_string()));
    report.row(
        "buffer",
        format!(
            "{} bytes, {} of them texels, alignment {}",
            layout.total_bytes,
            layout.bytes,
            1_u64 << layout.total_align_log2
        ),
        json!({ "bytes": layout.total_bytes, "texels": layout.bytes, "alignment": 1_u64 << layout.total_align_log2 }),
    );
    report.row(
        "row",
        format!("pitch {} elements, {} rows, {} bytes a slice", layout.pitch, layout.height, layout.slice_bytes),
        json!({ "pitch": layout.pitch, "height": layout.height, "slice": layout.slice_bytes }),
    );
    report.row(
        "display",
        if layout.displayable { "can scan it out" } else { "cannot scan it out" },
        json!(layout.displayable),
    );
    if layout.tile_swizzle != 0 {
        let text = format!("{:#x}, in units of 256 bytes", layout.tile_swizzle);
        report.row("swizzle", text, json!(layout.tile_swizzle));
    }
    levels(image, &mut report);
    metadata(image, &mut report);
    let list = modifiers::list(chip, *format, ListOptions { dcc: true, retile: true });
    modifiers::rows(chip, &list, &mut report);
    report
}

fn levels(image: &Image, report: &mut Report) {
    for level in 0..image.config.levels {
        let [w, h, d] = image.extent(level);
        let found = image.layout.texels(&image.chip, &image.config, level);
        let place = found.and_then(|texels| Ok((texels.address(0, 0, 0, 0)?, texels.extent())));
        let (text, value) = match place {
            Ok((at, [pitch, height, depth])) => (
                format!("{level}: {w}x{h}x{d} at {at:#x}, padded to {pitch}x{height}x{depth}"),
                json!({ "level": level, "extent": [w, h, d], "offset": at, "padded": [pitch, height, depth] }),
            ),
            Err(error) => (
                format!("{level}: {w}x{h}x{d}, without addresses: {error}"),
                json!({ "level": level, "extent": [w, h, d], "error": error.to_string() }),
            ),
        };
        report.item("levels", text, value);
    }
    let stencil = &image.layout.stencil;
    if image.layout.has_stencil && image.layout.legacy.is_none() {
        let text = format!("at {:#x}, mode {}", stencil.offset, stencil.swizzle_mode);
        report.row("stencil", text, json!({ "offset": stencil.offset, "mode": stencil.swizzle_mode }));
    }
}

fn metadata(image: &Image, report: &mut Report) {
    let layout = &image.layout;
    let reasons = &layout.reasons;
    let meta = layout.meta.filter(|meta| meta.bytes > 0).map(|meta| (meta.offset, meta.bytes, 1 << meta.align_log2));
    let htile = if reasons.htile == Presence::Present {
        layout.hiz.map(|hiz| (hiz.offset, hiz.bytes, u64::from(hiz.align))).or(meta)
    } else {
        None
    };
    let display = layout.display_dcc.map(|dcc| (dcc.offset, dcc.bytes, 1 << dcc.align_log2));
    let fmask = layout.fmask.map(|fmask| (fmask.offset, fmask.bytes, 1 << fmask.align_log2));
    let cmask = layout.cmask.map(|cmask| (cmask.offset, cmask.bytes, 1 << cmask.align_log2));
    let dcc = if reasons.dcc == Presence::Present { meta.filter(|_| htile.is_none()) } else { None };
    for (name, presence, place) in [
        ("DCC", reasons.dcc, dcc),
        ("display DCC", reasons.display_dcc, display),
        ("HTILE", reasons.htile, htile),
        ("FMASK", reasons.fmask, fmask),
        ("CMASK", reasons.cmask, cmask),
    ] {
        piece(report, name, presence, place);
    }
}

fn piece(report: &mut Report, name: &'static str, presence: Presence, place: Option<(u64, u64, u64)>) {
    let (text, at) = match (presence, place) {
        (Presence::NotApplicable, _) => return,
        (Presence::Present, Some((offset, bytes, align))) => (
            format!("{bytes} bytes at {offset:#x}, alignment {align}"),
            json!({ "offset": offset, "bytes": bytes, "alignment": align }),
        ),
        (Presence::Present, None) => ("in the texels' pages".to_owned(), json!({})),
        (Presence::Absent(_), _) => (presence.to_string(), Value::Null),
    };
    let mut value = json!({ "name": name, "presence": presence.to_string() });
    if let (Value::Object(map), false) = (&mut value, at.is_null()) {
        map.insert("place".to_owned(), at);
    }
    report.item("metadata", format!("{name}: {text}"), value);
}
