//! `surf`: whole images.

use amdgpu_surface::addr2::meta::MetaImage;
use amdgpu_surface::modifier::{MaxBlock, Modifier};
use amdgpu_surface::surface::{
    DccSettings, Dimension, Legacy, LegacyLevel, LegacyTiles, LevelPlace, MicroMode, SurfaceConfig, SurfaceLayout,
    SurfaceUsage, TilingMode,
};
use amdgpu_surface::{Chip, GfxLevel};
use serde_json::{Value, json};

use super::{Object, Question, put};

const FLAGS: [(&str, SurfaceUsage); 20] = [
    ("scanout", SurfaceUsage::SCANOUT),
    ("zbuffer", SurfaceUsage::ZBUFFER),
    ("sbuffer", SurfaceUsage::SBUFFER),
    ("no_dcc", SurfaceUsage::DISABLE_DCC),
    ("tc_htile", SurfaceUsage::TC_COMPATIBLE_HTILE),
    ("imported", SurfaceUsage::IMPORTED),
    ("contig_dcc", SurfaceUsage::CONTIGUOUS_DCC_LAYERS),
    ("shareable", SurfaceUsage::SHAREABLE),
    ("no_rt", SurfaceUsage::NO_RENDER_TARGET),
    ("force_sw", SurfaceUsage::FORCE_SWIZZLE_MODE),
    ("no_fmask", SurfaceUsage::NO_FMASK),
    ("no_htile", SurfaceUsage::NO_HTILE),
    ("force_micro", SurfaceUsage::FORCE_MICRO_TILE_MODE),
    ("prt", SurfaceUsage::PRT),
    ("vrs", SurfaceUsage::VRS_RATE),
    ("no_texture", SurfaceUsage::NO_TEXTURE),
    ("no_stencil_adjust", SurfaceUsage::NO_STENCIL_ADJUST),
    ("prefer_4k", SurfaceUsage::PREFER_4K_ALIGNMENT),
    ("prefer_64k", SurfaceUsage::PREFER_64K_ALIGNMENT),
    ("video_ref", SurfaceUsage::VIDEO_REFERENCE),
];

pub(crate) fn config(chip: &Chip, question: &Question<'_>) -> SurfaceConfig {
    let mut config = SurfaceConfig::new(question.u32("w", 1), question.u32("h", 1), question.u32("bpe", 4));
    config.depth = question.u32("d", 1);
    config.layers = question.u32("a", 1);
    config.levels = question.u32("lv", 1);
    config.samples = question.u32("s", 1);
    config.storage_samples = question.u32("ss", config.samples);
    config.block = (question.u32("bw", 1), question.u32("bh", 1));
    config.channels = question.u32("nch", 4);
    config.dimension = match question.text("t") {
        "1d" => Dimension::D1,
        "3d" => Dimension::D3,
        "cube" => Dimension::Cube,
        _ => Dimension::D2,
    };
    config.mode = match question.text("m") {
        "lin" => TilingMode::Linear,
        "1d" => TilingMode::Tiled1d,
        _ => TilingMode::Tiled2d,
    };
    for flag in question.flags() {
        config.usage |= FLAGS.iter().find(|(name, _)| *name == flag).unwrap_or_else(|| panic!("flag {flag}")).1;
    }
    if question.input.contains_key("mod") {
        config.modifier = Some(Modifier::decode(question.number("mod", 0)).unwrap());
    }
    let optional = |key| question.input.contains_key(key).then(|| question.u32(key, 0));
    config.surface_index = optional("si");
    config.fmask_index = optional("fi");
    config.swizzle_mode = question.u32("sw", 0) as u8;
    config.micro_mode =
        [MicroMode::Display, MicroMode::Standard, MicroMode::Depth, MicroMode::Render][question.u32("mic", 0) as usize];
    let dcc = question.number("dccp", 0);
    config.dcc = DccSettings {
        independent_64b: dcc & 1 == 1,
        independent_128b: dcc >> 1 & 1 == 1,
        max_block: MaxBlock::new(dcc >> 2).unwrap(),
    };
    let tiles: Vec<u32> = question.text("legacy").split(',').filter_map(|n| n.parse().ok()).collect();
    if let [bank_width, bank_height, aspect, tile_split, banks, pipe_config] = tiles[..] {
        config.legacy = Some(LegacyTiles { bank_width, bank_height, aspect, tile_split, banks, pipe_config });
    }
    if question.input.contains_key("tf") {
        config.apply_tiling_flags(chip, question.number("tf", 0)).unwrap();
    }
    config
}

fn place(place: &LevelPlace) -> Value {
    json!([place.offset, place.pitch])
}

fn equation(chip: &Chip, image: Option<&MetaImage>, skip: usize, sides: usize) -> Object {
    let mut out = Object::new();
    let Some(image) = image else { return out };
    let layout = image.layout(chip).unwrap();
    let Ok(found) = image.equation(chip, &layout) else { return out };
    for (key, side) in ["bw", "bh", "bd"].iter().zip(layout.block).take(sides) {
        put(&mut out, key, side);
    }
    match super::m2::equation(&found, skip) {
        Value::Object(inner) => out.extend(inner),
        bits => put(&mut out, "bits", bits),
    }
    out
}

fn flags(usage: SurfaceUsage) -> String {
    FLAGS.iter().filter(|(_, flag)| usage.contains(*flag)).map(|(name, _)| *name).collect::<Vec<_>>().join("+")
}

fn metadata(chip: &Chip, question: &Question<'_>, layout: &SurfaceLayout, out: &mut Object) {
    let with_equations = question.u32("eq", 0) != 0;
    let Some(meta) = layout.meta.as_ref().filter(|meta| meta.bytes > 0) else { return };
    let mut object = Object::new();
    put(&mut object, "off", meta.offset);
    put(&mut object, "size", meta.bytes);
    put(&mut object, "slice", meta.slice_bytes);
    put(&mut object, "align_log2", meta.align_log2);
    put(&mut object, "pitch", meta.pitch);
    put(&mut object, "levels", meta.levels);
    if question.u32("lv", 1) > 1 && chip.level() >= GfxLevel::Gfx9 {
        let places: Vec<Value> = meta
            .places
            .iter()
            .take((meta.levels as usize + 1).min(question.u32("lv", 1) as usize))
            .map(place)
            .collect();
        put(&mut object, "lv", places);
    }
    let Some(dcc) = &layout.dcc else {
        if !layout.usage.intersects(SurfaceUsage::Z_OR_S) {
            out.insert("dcc".into(), Value::Object(object));
            return;
        }
        if with_equations {
            put(&mut object, "eq", equation(chip, layout.htile_image.as_ref(), 2, 2));
        }
        out.insert("htile".into(), Value::Object(object));
        return;
    };
    let settings = layout.dcc_settings;
    put(&mut object, "rb", u32::from(dcc.rb_aligned));
    put(&mut object, "pipe", u32::from(dcc.pipe_aligned));
    put(&mut object, "i64", u32::from(settings.independent_64b));
    put(&mut object, "i128", u32::from(settings.independent_128b));
    put(&mut object, "max", settings.max_block as u32);
    put(&mut object, "blk", dcc.block.to_vec());
    put(&mut object, "pitch_max", dcc.pitch_max);
    put(&mut object, "height", dcc.height);
    put(&mut object, "stores", u32::from(layout.supports_dcc_image_stores(chip)));
    let skip = 1;
    if with_equations {
        put(&mut object, "eq", equation(chip, dcc.image.as_ref(), skip, 3));
    }
    out.insert("dcc".into(), Value::Object(object));
    if let Some(display) = &layout.display_dcc {
        let mut object = Object::new();
        put(&mut object, "off", display.offset);
        put(&mut object, "size", display.bytes);
        put(&mut object, "align_log2", display.align_log2);
        put(&mut object, "pitch_max", display.pitch_max);
        put(&mut object, "height", display.height);
        if with_equations {
            put(&mut object, "eq", equation(chip, display.image.as_ref(), skip, 3));
        }
        out.insert("display_dcc".into(), Value::Object(object));
    }
}

fn masks(chip: &Chip, question: &Question<'_>, layout: &SurfaceLayout, out: &mut Object) {
    if let Some(fmask) = &layout.fmask {
        let mut object = Object::new();
        put(&mut object, "off", fmask.offset);
        put(&mut object, "size", fmask.bytes);
        put(&mut object, "slice", fmask.slice_bytes);
        put(&mut object, "align_log2", fmask.align_log2);
        put(&mut object, "tile_swizzle", fmask.tile_swizzle);
        put(&mut object, "sw", fmask.swizzle_mode);
        put(&mut object, "epitch", fmask.epitch);
        out.insert("fmask".into(), Value::Object(object));
    }
    if let Some(cmask) = &layout.cmask {
        let mut object = Object::new();
        put(&mut object, "off", cmask.offset);
        put(&mut object, "size", cmask.bytes);
        put(&mut object, "slice", cmask.slice_bytes);
        put(&mut object, "align_log2", cmask.align_log2);
        put(&mut object, "pitch", cmask.pitch);
        put(&mut object, "height", cmask.height);
        if cmask.level0 != LevelPlace::default() {
            put(&mut object, "lv0", place(&cmask.level0));
        }
        if question.u32("eq", 0) != 0 {
            put(
                &mut object,
                "eq",
                equation(chip, cmask.image.as_ref().filter(|_| chip.level() == GfxLevel::Gfx9), 0, 3),
            );
        }
        out.insert("cmask".into(), Value::Object(object));
    }
}

/// The keys of GFX9 and later.
fn blocks(chip: &Chip, config: &SurfaceConfig, layout: &SurfaceLayout, out: &mut Object) {
    let levels = config.levels as usize;
    if chip.level() >= GfxLevel::Gfx9 {
        put(out, "sw", layout.swizzle_mode);
        put(out, "rsrc", layout.resource_type);
        put(out, "pitch", layout.pitch);
        put(out, "height", layout.height);
        put(out, "slice", layout.slice_bytes);
        if chip.level() == GfxLevel::Gfx9 {
            put(out, "epitch", layout.epitch);
        }
        if layout.base_mip != [0, 0] {
            put(out, "base_mip", layout.base_mip.to_vec());
        }
        if layout.linear {
            put(out, "lv", layout.levels[..levels].iter().map(place).collect::<Vec<_>>());
        }
        if layout.has_stencil {
            let mut object = Object::new();
            put(&mut object, "off", layout.stencil.offset);
            put(&mut object, "sw", layout.stencil.swizzle_mode);
            if chip.level() == GfxLevel::Gfx9 {
                put(&mut object, "epitch", layout.stencil.epitch);
            }
            put(out, "st", object);
        }
    }
    if chip.level() == GfxLevel::Gfx12 {
        put(out, "enable_dcc", u32::from(layout.enable_dcc));
        if layout.enable_dcc && !layout.usage.intersects(SurfaceUsage::Z_OR_S) {
            put(out, "dcc_max", layout.dcc_settings.max_block as u32);
        }
        put(out, "custom_pitch", u32::from(layout.custom_pitch));
        for (key, piece) in [("hiz", &layout.hiz), ("his", &layout.his)] {
            if let Some(piece) = piece {
                put(
                    out,
                    key,
                    json!({"off": piece.offset, "size": piece.bytes, "w": piece.width, "h": piece.height,
                        "sw": piece.swizzle_mode}),
                );
            }
        }
    }
}

/// The keys of GFX6 to GFX8.
fn tiles(config: &SurfaceConfig, legacy: &Legacy, layout: &SurfaceLayout, out: &mut Object) {
    let levels = config.levels as usize;
    let level = |l: &LegacyLevel| json!([l.offset, l.slice_bytes, l.pitch, l.height, l.mode as u32, l.tile_index]);
    let depth = config.usage.contains(SurfaceUsage::ZBUFFER) || !layout.has_stencil;
    if depth {
        put(out, "lv", legacy.levels[..levels].iter().map(level).collect::<Vec<_>>());
    }
    if layout.has_stencil {
        put(out, "slv", legacy.stencil_levels[..levels].iter().map(level).collect::<Vec<_>>());
    }
    let mut object = Object::new();
    let t = &legacy.tiles;
    put(&mut object, "bankw", t.bank_width);
    put(&mut object, "bankh", t.bank_height);
    put(&mut object, "mtilea", t.aspect);
    put(&mut object, "tile_split", t.tile_split);
    put(&mut object, "stencil_tile_split", legacy.stencil_tile_split);
    put(&mut object, "pipe_config", t.pipe_config);
    put(&mut object, "num_banks", t.banks);
    put(&mut object, "macro_index", legacy.macro_index);
    put(&mut object, "stencil_adjusted", u32::from(legacy.stencil_adjusted));
    put(out, "tile", object);
    if let Some(Value::Object(fmask)) = out.get_mut("fmask") {
        put(fmask, "slice_tile_max", legacy.fmask_slice_tile_max);
        put(fmask, "tiling_index", legacy.fmask_tile_index);
        put(fmask, "bankh", legacy.fmask_bank_height);
        put(fmask, "pitch", legacy.fmask_pitch);
    }
    if let Some(Value::Object(cmask)) = out.get_mut("cmask") {
        put(cmask, "slice_tile_max", legacy.cmask_slice_tile_max);
    }
    if let Some(Value::Object(dcc)) = out.get_mut("dcc")
        && let Some(meta) = &layout.meta
    {
        let places: Vec<Value> = legacy.dcc_levels[..meta.levels as usize]
            .iter()
            .map(|(place, slice)| json!([place.offset, place.pitch, slice]))
            .collect();
        put(dcc, "lv", places);
    }
}

pub(crate) fn answer(chip: &Chip, question: &Question<'_>) -> Object {
    let mut chip = *chip;
    if question.input.contains_key("drm_minor") {
        let mut registers = *chip.registers();
        registers.drm_minor = question.u32("drm_minor", 0);
        chip = Chip::new(&registers).unwrap();
    }
    let chip = &chip;
    let config = config(chip, question);
    let mut out = Object::new();
    let layout = match SurfaceLayout::new(chip, &config) {
        Ok(layout) => layout,
        Err(error) => {
            put(&mut out, "ret", error.code());
            return out;
        }
    };
    put(&mut out, "surf_size", layout.bytes);
    put(&mut out, "surf_align_log2", layout.align_log2);
    if layout.total_bytes != layout.bytes {
        put(&mut out, "total_size", layout.total_bytes);
    }
    if layout.total_align_log2 != layout.align_log2 {
        put(&mut out, "align_log2", layout.total_align_log2);
    }
    put(&mut out, "micro", layout.micro_mode as u32);
    put(&mut out, "linear", u32::from(layout.linear));
    put(&mut out, "displayable", u32::from(layout.displayable));
    put(&mut out, "thick", u32::from(layout.thick));
    put(&mut out, "stencil", u32::from(layout.has_stencil));
    if layout.usage != config.usage {
        put(&mut out, "flags", flags(layout.usage));
    }
    put(&mut out, "tile_swizzle", layout.tile_swizzle);
    let levels = config.levels as usize;
    if let Some(prt) = &layout.prt {
        put(&mut out, "prt_tile", prt.tile.to_vec());
        put(&mut out, "first_tail", prt.first_tail);
        if chip.level() >= GfxLevel::Gfx9 {
            put(&mut out, "prt_lv", prt.levels[..levels].iter().map(place).collect::<Vec<_>>());
        }
    }
    metadata(chip, question, &layout, &mut out);
    masks(chip, question, &layout, &mut out);
    blocks(chip, &config, &layout, &mut out);
    if let Some(legacy) = &layout.legacy {
        tiles(&config, legacy, &layout, &mut out);
    }
    if question.u32("nbc", 0) != 0 {
        let views: Vec<Value> = question
            .points("nbc")
            .iter()
            .map(|p| match layout.nbc_view(chip, &config, p[0] as u32, p[1] as u32) {
                Ok(v) => json!([p[0], p[1], 1, v.width, v.height, v.level, v.levels, v.tile_swizzle, v.offset]),
                Err(_) => json!([p[0], p[1], 0]),
            })
            .collect();
        put(&mut out, "nbc", views);
    }
    if config.modifier.is_some() {
        let planes: Vec<Value> = layout
            .planes(&config)
            .as_slice()
            .iter()
            .map(|plane| json!([plane.offset, plane.stride, plane.bytes]))
            .collect();
        put(&mut out, "planes", planes);
    }
    if !config.usage.intersects(SurfaceUsage::Z_OR_S)
        && let Some(flags) = layout.tiling_flags(chip)
    {
        out.insert("tiling_flags".into(), json!(format!("{flags:#x}")));
    }
    out
}
