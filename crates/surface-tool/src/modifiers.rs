//! The modifiers of a format.

use amdgpu_descriptors::format::Format;
use amdgpu_surface::Chip;
use amdgpu_surface::modifier::{
    FormatClass, ListOptions, MaxBlock, Modifier, ModifierList, TileVersion, max_extent, supports_image_stores,
};
use serde_json::{Value, json};

use crate::report::Report;

/// Returns the modifiers of a format on a chip, best first.
pub(crate) fn list(chip: &Chip, format: Format, options: ListOptions) -> ModifierList {
    ModifierList::new(chip, class(format, 1), options)
}

/// Returns the properties of a format that decide about modifiers; of several planes, `format` is the first's.
pub(crate) fn class(format: Format, planes: u32) -> FormatClass {
    FormatClass {
        bits: format.bytes() * 8,
        compressed: format.is_compressed(),
        depth_stencil: format.is_depth_or_stencil(),
        planes,
    }
}

/// Returns the words for a modifier.
pub(crate) fn describe(modifier: Modifier) -> String {
    let Modifier::Amd(amd) = modifier else { return "linear".to_owned() };
    let version = match amd.version {
        TileVersion::Gfx9 => "GFX9",
        TileVersion::Gfx10 => "GFX10",
        TileVersion::Gfx10RbPlus => "GFX10_RBPLUS",
        TileVersion::Gfx11 => "GFX11",
        TileVersion::Gfx12 => "GFX12",
    };
    let mut text = format!("{version} mode {}", amd.tile);
    if let Some(dcc) = amd.dcc {
        let block = match dcc.max_block {
            MaxBlock::B64 => 64,
            MaxBlock::B128 => 128,
            MaxBlock::B256 => 256,
        };
        text = format!("{text}, DCC of {block} bytes");
        for (set, word) in [
            (dcc.retile, "retiled for the display"),
            (dcc.pipe_align, "pipe-aligned"),
            (dcc.independent_64b, "independent 64B"),
            (dcc.independent_128b, "independent 128B"),
            (dcc.constant_encode, "constant encode"),
        ] {
            if set {
                text += ", ";
                text += word;
            }
        }
    }
    text
}

fn value(chip: &Chip, modifier: Modifier) -> Value {
    let (width, height) = max_extent(chip, modifier);
    json!({
        "modifier": format!("{:#018x}", modifier.encode()),
        "meaning": describe(modifier),
        "max_extent": [width, height],
        "image_stores": modifier.dcc().is_none() || supports_image_stores(chip, modifier),
    })
}

/// Adds a row for each modifier.
pub(crate) fn rows(chip: &Chip, list: &ModifierList, report: &mut Report) {
    for &modifier in list.as_slice() {
        let text = format!("{:#018x}  {}", modifier.encode(), describe(modifier));
        report.item("modifiers", text, value(chip, modifier));
    }
    if list.as_slice().is_empty() {
        report.row("modifiers", "none: the chip or the format has no modifiers", json!([]));
    }
}
