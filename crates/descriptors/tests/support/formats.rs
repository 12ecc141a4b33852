//! The table of formats.

use amdgpu_descriptors::format::Format;
use amdgpu_hw::GfxLevel;
use serde_json::{Map, Value};

use super::line::number;
use super::lines;

/// Returns what the crate says about a format on a generation, in the keys of the goldens.
fn ours(format: Format, level: GfxLevel) -> Vec<(&'static str, Option<u64>)> {
    let legacy = level <= GfxLevel::Gfx9;
    let image = format.legacy_image(level).ok();
    let buffer = format.legacy_buffer(level).ok();
    let modern = format.image(level).or(format.buffer(level)).ok();
    let color = format.color(level).ok();
    let knows_msb = GfxLevel::Gfx8..GfxLevel::Gfx12;
    vec![
        ("img_data", image.map(|image| image.data.into())),
        ("img_num", image.map(|image| image.number.into())),
        ("buf_data", buffer.map(|buffer| buffer.data.into())),
        ("buf_num", buffer.map(|buffer| buffer.number.into())),
        ("format", modern.map(u64::from).filter(|_| !legacy)),
        ("cb", color.map(|color| color.format.into())),
        ("cb_swap", color.map(|color| color.swap.into())),
        ("cb_num", color.map(|color| color.number.into())),
        ("db", format.depth(level).ok().map(u64::from)),
        ("bc_swizzle", (level >= GfxLevel::Gfx9).then(|| format.bc_swizzle().into())),
        ("alpha_on_msb", knows_msb.contains(&level).then(|| format.alpha_is_on_msb(level).into())),
    ]
}

/// Returns what a line says for a key; `None` for a number that stands for none.
fn theirs(facts: &Map<String, Value>, key: &str) -> Option<u64> {
    let value = facts.get(key)?;
    if key == "cb_swap" {
        let swaps = ["STD", "ALT", "STD_REV", "ALT_REV"];
        return swaps.iter().position(|swap| value == swap).map(|swap| swap as u64);
    }
    let none = match key {
        "img_num" => facts["img_data"].as_i64() < Some(0),
        "buf_num" => facts["buf_data"].as_i64() <= Some(0),
        "buf_data" | "format" => value.as_i64() == Some(0),
        // Stencil alone has no number, and is a depth target all the same.
        "db" if value.as_i64() < Some(0) => return Some(0),
        _ => value.as_i64().is_some_and(|value| value < 0),
    };
    if none { None } else { Some(number(value)) }
}

pub(crate) fn check_formats() {
    let (mut wrong, mut first, mut asked) = (0, None, 0);
    let lines = lines("formats");
    for line in &lines {
        let name = line.whole["format"].as_str().unwrap();
        let format = Format::named(name).unwrap();
        assert_eq!(u64::from(format.vulkan()), number(&line.whole["vk"]), "{name}");
        assert_eq!(Format::of_vulkan(format.vulkan()), Some(format));
        assert_eq!(u64::from(format.bytes()), number(&line.whole["bytes"]), "{name}");
        let block = (line.whole["block"][0].as_u64(), line.whole["block"][1].as_u64());
        assert_eq!((Some(format.block().0.into()), Some(format.block().1.into())), block, "{name}");
        let swizzle = line.whole["swizzle"].as_str().unwrap().replace('-', "0");
        assert_eq!(format.swizzle().to_string(), swizzle, "{name}");
        for level in GfxLevel::ALL {
            let facts = line.whole["gens"][level.name()].as_object().unwrap();
            for (key, own) in ours(format, level) {
                asked += 1;
                let known = theirs(facts, key);
                // Depth formats have no order of components, so nothing to say.
                let silent = known.is_none() && key == "alpha_on_msb" && own == Some(0);
                if known != own && !silent {
                    wrong += 1;
                    first.get_or_insert_with(|| format!("{name} {level} {key}: {own:?}, not {known:?}"));
                }
            }
        }
    }
    assert_eq!(wrong, 0, "{wrong} of {asked} differ, first {first:?}");
    assert_eq!(lines.len(), Format::all().len());
}
