//! `mods`: modifier lists.

use amdgpu_surface::Chip;
use amdgpu_surface::modifier::{FormatClass, ListOptions, ModifierList, max_extent, supports_image_stores};
use serde_json::{Value, json};

use super::{Object, Question, put};

fn format(name: &str) -> FormatClass {
    let plain = |bits| FormatClass { bits, compressed: false, depth_stencil: false, planes: 1 };
    match name {
        "B10G10R10A2_UNORM" | "B8G8R8A8_UNORM" | "B8G8R8X8_UNORM" | "R8G8B8A8_UNORM" | "R32_FLOAT" | "YUYV" => {
            plain(32)
        }
        "B5G6R5_UNORM" | "R16_UNORM" | "R8G8_UNORM" => plain(16),
        "R16G16B16A16_FLOAT" | "R32G32_FLOAT" => plain(64),
        "R32G32B32A32_FLOAT" => plain(128),
        "R32G32B32_FLOAT" => plain(96),
        "R8G8B8_UNORM" => plain(24),
        "R8_UNORM" => plain(8),
        "BC1_RGBA_UNORM" => FormatClass { compressed: true, ..plain(64) },
        "Z24_UNORM_S8_UINT" | "Z32_FLOAT" => FormatClass { depth_stencil: true, ..plain(32) },
        "NV12" => FormatClass { planes: 2, ..plain(8) },
        "P010" => FormatClass { planes: 2, ..plain(16) },
        other => panic!("format {other}"),
    }
}

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let options = ListOptions { dcc: question.u32("dcc", 1) != 0, retile: question.u32("retile", 1) != 0 };
    let list = ModifierList::new(chip, format(question.text("fmt")), options);
    let mut out = Object::new();
    let mods: Vec<String> = list.as_slice().iter().map(|modifier| format!("{:#x}", modifier.encode())).collect();
    let props: Vec<Value> = list
        .as_slice()
        .iter()
        .map(|&modifier| {
            let (w, h) = max_extent(chip, modifier);
            let dcc = modifier.dcc();
            json!([
                w,
                h,
                u32::from(dcc.is_some()),
                u32::from(dcc.is_some_and(|dcc| dcc.retile)),
                u32::from(supports_image_stores(chip, modifier))
            ])
        })
        .collect();
    put(&mut out, "mods", mods);
    put(&mut out, "props", props);
    out
}
