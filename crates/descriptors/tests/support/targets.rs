//! Colour and depth targets.

use amdgpu_descriptors::DescriptorError;
use amdgpu_descriptors::target::{
    Base, ColorDcc, ColorFmask, ColorTarget, ColorTiling, DepthHtile, DepthTarget, DepthTiling, HizHis,
};
use amdgpu_descriptors::view::ImageMeta;
use amdgpu_hw::GfxLevel;
use serde_json::Value;

use super::line::number;
use super::{Answer, Line};

fn keys(plain: &[(&str, Option<u32>)], bases: &[(&str, Option<Base>)]) -> Answer {
    let plain = plain.iter().filter_map(|(key, value)| Some(((*key).to_owned(), u64::from((*value)?))));
    let bases = bases.iter().filter_map(|(key, base)| Some(((*key).to_owned(), (*base)?.0)));
    plain.chain(bases).collect()
}

pub(crate) fn color(line: &Line) -> Result<Answer, DescriptorError> {
    let tiling = if line.level <= GfxLevel::Gfx8 {
        ColorTiling::Legacy {
            index: line.u32("tiling_index"),
            blocks_x: line.u32("nblk_x"),
            blocks_y: line.u32("nblk_y"),
            macro_tiled: line.is("macro_tiled"),
            bank_height: line.u32("bankh"),
            cmask_slice_tile_max: line.u32("cmask_slice_tile_max"),
        }
    } else {
        ColorTiling::Modern {
            mode: line.u32("sw_mode"),
            fmask_mode: line.u32("fmask_sw_mode"),
            epitch: line.u32("epitch"),
            pitch: line.has("custom_pitch").then(|| line.u32("custom_pitch")),
            pipe_aligned: line.is("pipe_aligned"),
            rb_aligned: line.is("rb_aligned"),
        }
    };
    let dcc = ImageMeta::Dcc {
        offset: line.u64("meta_offset"),
        level_offset: line.u64("dcc_level_offset"),
        align_log2: line.u32("meta_alignment_log2"),
        pipe_aligned: line.is("pipe_aligned"),
        rb_aligned: line.is("rb_aligned"),
        alpha_is_on_msb: false,
    };
    let fmask = ColorFmask {
        offset: line.u64("fmask_offset"),
        tile_swizzle: line.u32("fmask_tile_swizzle"),
        index: line.u32("fmask_tiling_index"),
        pitch: line.u32("fmask_pitch"),
        slice_tile_max: line.u32("fmask_slice_tile_max"),
        bank_height: line.u32("fmask_bankh"),
    };
    let target = ColorTarget {
        format: line.format(),
        base: line.va(),
        offset: if line.has("level_offset") { line.u64("level_offset") } else { line.u64("surf_offset") },
        tile_swizzle: line.u32("tile_swizzle"),
        width: line.u32("width"),
        height: line.u32("height"),
        resource_type: line.u32("resource_type"),
        first_layer: line.u32("first_layer"),
        last_layer: line.u32("last_layer"),
        mip0_depth: line.u32("mip0_depth"),
        samples: line.u32("samples"),
        storage_samples: line.u32("storage_samples"),
        level: line.u32("base_level"),
        num_levels: line.u32("num_levels"),
        tiling,
        dcc: line.is("dcc").then_some(dcc),
        dcc_blocks: ColorDcc {
            independent_64: line.is("independent_64b"),
            independent_128: line.is("independent_128b"),
            max_compressed: line.u32("max_compressed_block_size"),
        },
        dcc_block_32: line.is("dedicated_vram"),
        fmask: line.is("fmask").then_some(fmask),
        cmask: line.is("cmask").then(|| line.u64("cmask_offset")),
        fast_clear: line.is("fast_clear"),
        tc_compatible_cmask: line.is("tc_compat_cmask"),
    };
    let out = target.registers(line.level)?;
    assert!(out.writes(line.level).all(|write| write.register.offset(line.level).is_some()), "{}", line.text);
    Ok(keys(
        &[
            ("info", Some(out.info)),
            ("view", Some(out.view)),
            ("view2", out.view2),
            ("attrib", Some(out.attrib)),
            ("attrib2", out.attrib2),
            ("attrib3", out.attrib3),
            ("dcc_control", out.dcc_control),
            ("pitch", out.pitch),
            ("slice", out.slice),
            ("cmask_slice", out.cmask_slice),
            ("fmask_slice", out.fmask_slice),
            ("mrt_epitch", out.mrt_epitch),
        ],
        &[("base", Some(out.base)), ("dcc_base", out.dcc_base), ("cmask", out.cmask), ("fmask", out.fmask)],
    ))
}

fn hiz_his(line: &Line, key: &str) -> Option<HizHis> {
    let facts = line.input.get(key)?.as_object()?;
    let of = |key: &str| facts.get(key).map_or(0, |value: &Value| number(value));
    Some(HizHis {
        offset: of("offset"),
        width: of("width_in_tiles") as u32,
        height: of("height_in_tiles") as u32,
        mode: of("sw_mode") as u32,
    })
}

pub(crate) fn depth(line: &Line) -> Result<Answer, DescriptorError> {
    let is_legacy = line.level <= GfxLevel::Gfx8;
    let tiling = if is_legacy {
        DepthTiling::Legacy {
            blocks_x: line.u32("nblk_x"),
            blocks_y: line.u32("nblk_y"),
            index: line.u32("tiling_index"),
            stencil_index: line.u32("stencil_tiling_index"),
            tile_mode: line.u32("tile_mode"),
            stencil_tile_mode: line.u32("stencil_tile_mode"),
            macrotile_mode: line.u32("macrotile_mode"),
        }
    } else {
        DepthTiling::Modern {
            mode: line.u32("sw_mode"),
            stencil_mode: line.u32("stencil_sw_mode"),
            epitch: line.u32("epitch"),
            stencil_epitch: line.u32("stencil_epitch"),
            hiz: hiz_his(line, "hiz"),
            his: hiz_his(line, "his"),
        }
    };
    let htile = DepthHtile {
        offset: line.u64("meta_offset"),
        allow_expclear: line.is("allow_expclear"),
        stencil_disabled: line.is("htile_stencil_disabled"),
        tc_compatible: line.is("tc_compat_htile"),
        vrs: line.is("vrs"),
    };
    let target = DepthTarget {
        format: line.format(),
        base: line.va(),
        offset: line.u64("level_offset"),
        stencil_offset: line.u64(if is_legacy { "stencil_level_offset" } else { "stencil_offset" }),
        width: line.u32("width"),
        height: line.u32("height"),
        level: line.u32("level"),
        num_levels: line.u32("num_levels"),
        samples: line.u32("samples"),
        first_layer: line.u32("first_layer"),
        last_layer: line.u32("last_layer"),
        z_read_only: line.is("z_read_only"),
        stencil_read_only: line.is("stencil_read_only"),
        zrange_precision: line.is("zrange_precision"),
        htile: line.is("htile").then_some(htile),
        no_d16_compression: line.is("no_d16_compression"),
        two_planes_bug: line.is("has_two_planes_iterate256_bug"),
        tiling,
    };
    let out = target.registers(line.level)?;
    assert!(out.writes(line.level).all(|write| write.register.offset(line.level).is_some()), "{}", line.text);
    Ok(keys(
        &[
            ("z_info", Some(out.z_info)),
            ("stencil_info", Some(out.stencil_info)),
            ("depth_view", Some(out.depth_view)),
            ("depth_view1", out.depth_view1),
            ("depth_size", Some(out.depth_size)),
            ("htile_surface", out.htile_surface),
            ("depth_info", out.depth_info),
            ("depth_slice", out.depth_slice),
            ("z_info2", out.z_info2),
            ("stencil_info2", out.stencil_info2),
            ("hiz_info", out.hiz_info),
            ("hiz_size_xy", out.hiz_size),
            ("his_info", out.his_info),
            ("his_size_xy", out.his_size),
        ],
        &[
            ("depth_base", Some(out.depth_base)),
            ("stencil_base", Some(out.stencil_base)),
            ("htile_data_base", out.htile_data_base),
            ("hiz_base", out.hiz_base),
            ("his_base", out.his_base),
        ],
    ))
}
