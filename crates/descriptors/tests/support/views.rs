//! Views in the hardware's terms.

use amdgpu_descriptors::DescriptorError;
use amdgpu_descriptors::view::{
    BufferView, Clamp, FmaskView, ImageKind, ImageMeta, ImagePlace, ImageView, OutOfBounds, SamplerState, Tiling,
};
use amdgpu_hw::GfxLevel;

use super::{Answer, Line, fields};

pub(crate) fn buffer(line: &Line) -> Result<Answer, DescriptorError> {
    let raw = BufferView::raw(line.va(), line.u32("num_records"));
    let view = match line.kind.as_str() {
        "raw_buffer" => raw,
        "attribute_ring" => BufferView::attribute_ring(raw.va, raw.num_records, line.u32("stride"), line.level)?,
        _ => BufferView {
            stride: line.u32("stride"),
            format: line.format(),
            swizzle: line.swizzle(),
            swizzle_enable: line.u32("swizzle_enable"),
            index_stride: line.u32("index_stride"),
            element_size: line.u32("element_size"),
            add_tid: line.is("add_tid"),
            oob: match line.u32("oob_select") {
                0 => OutOfBounds::StructuredWithOffset,
                1 => OutOfBounds::Structured,
                2 => OutOfBounds::Disabled,
                _ => OutOfBounds::Raw,
            },
            compression: line.is("compression_en"),
            write_compress: line.is("write_compress_enable"),
            ..raw
        },
    };
    Ok(fields(view.descriptor(line.level)?, line.level))
}

fn tiling(line: &Line) -> Tiling {
    match line.level {
        GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => Tiling::Legacy {
            index: line.u32("tiling_index"),
            pitch: line.u32("pitch"),
            macro_tiled: line.is("macro_tiled"),
        },
        GfxLevel::Gfx9 => Tiling::Gfx9 { mode: line.u32("sw_mode"), epitch: line.u32("epitch") },
        _ => Tiling::Modern {
            mode: line.u32("sw_mode"),
            pitch: line.has("custom_pitch").then(|| line.u32("custom_pitch")),
        },
    }
}

fn kind(name: &str) -> ImageKind {
    match name {
        "1d" => ImageKind::D1,
        "2d" => ImageKind::D2,
        "3d" => ImageKind::D3,
        "cube" => ImageKind::Cube,
        "1d_array" => ImageKind::D1Array,
        "2d_array" => ImageKind::D2Array,
        "2d_msaa" => ImageKind::D2Msaa,
        "2d_msaa_array" => ImageKind::D2MsaaArray,
        other => panic!("{other} is no type"),
    }
}

pub(crate) fn image(line: &Line) -> Result<Answer, DescriptorError> {
    let kind = kind(line.word("type"));
    let is_modern = line.level >= GfxLevel::Gfx10;
    let meta = if line.is("dcc") {
        Some(ImageMeta::Dcc {
            offset: line.u64("meta_offset"),
            level_offset: line.u64("dcc_level_offset"),
            align_log2: line.u32("meta_alignment_log2"),
            pipe_aligned: line.is("pipe_aligned"),
            rb_aligned: line.is("rb_aligned"),
            alpha_is_on_msb: line.format().alpha_is_on_msb(line.level),
        })
    } else if line.is("htile") {
        Some(ImageMeta::Htile { offset: line.u64("meta_offset"), iterate_256: line.is("iterate_256") })
    } else {
        None
    };
    // From GFX10 on the line holds the last slice of a volume, not their number.
    let last_slice = is_modern && kind == ImageKind::D3;
    let view = ImageView {
        kind,
        format: line.format(),
        swizzle: line.swizzle(),
        width: line.u32("width"),
        height: line.u32("height"),
        depth: line.u32("depth_arg") + u32::from(last_slice),
        first_layer: line.u32("first_layer"),
        last_layer: line.u32("last_layer"),
        num_levels: line.u32("num_levels"),
        first_level: line.u32("first_level"),
        last_level: line.u32("last_level"),
        samples: line.u32("samples"),
        storage_samples: line.u32("storage_samples"),
        min_lod: line.float("min_lod"),
        slice_view: line.is("uav3d"),
        widened_depth: line.is("upgraded_depth"),
        aniso_single_level: line.is("aniso_single_level"),
        no_edge_clamp: false,
        write_compress: line.is("write_compress"),
        stencil_beside: None,
        place: ImagePlace {
            base: line.va(),
            offset: if line.has("level_offset") { line.u64("level_offset") } else { line.u64("surf_offset") },
            tile_swizzle: line.u32("tile_swizzle"),
            tiling: tiling(line),
            meta,
            max_compressed_block: line.u32("max_compressed_block_size"),
        },
    };
    Ok(fields(view.descriptor(line.level)?, line.level))
}

pub(crate) fn fmask(line: &Line) -> Result<Answer, DescriptorError> {
    let view = FmaskView {
        base: line.va(),
        offset: line.u64("fmask_offset"),
        is_array: line.word("type") == "2d_array",
        width: line.u32("width"),
        height: line.u32("height"),
        layers: line.u32("layers"),
        first_layer: line.u32("first_layer"),
        last_layer: line.u32("last_layer"),
        samples: line.u32("samples"),
        storage_samples: line.u32("storage_samples"),
        tiling: match line.level {
            GfxLevel::Gfx9 => Tiling::Gfx9 { mode: line.u32("sw_mode"), epitch: line.u32("pitch") - 1 },
            _ => tiling(line),
        },
        tile_swizzle: line.u32("tile_swizzle"),
        cmask_offset: line.is("tc_compat_cmask").then(|| line.u64("cmask_offset")),
    };
    Ok(fields(view.descriptor(line.level)?, line.level))
}

pub(crate) fn sampler(line: &Line) -> Result<Answer, DescriptorError> {
    let clamp = |at: usize| match line.input["clamp"][at].as_u64().unwrap() {
        0 => Clamp::Wrap,
        1 => Clamp::Mirror,
        2 => Clamp::LastTexel,
        3 => Clamp::MirrorOnceLastTexel,
        4 => Clamp::HalfBorder,
        5 => Clamp::MirrorOnceHalfBorder,
        6 => Clamp::Border,
        _ => Clamp::MirrorOnceBorder,
    };
    let state = SamplerState {
        clamp: [clamp(0), clamp(1), clamp(2)],
        max_aniso_ratio: line.u32("max_aniso_ratio"),
        depth_compare_func: line.u32("depth_compare_func"),
        unnormalized: line.is("unnormalized"),
        cube_wrap: line.is("cube_wrap"),
        trunc_coord: line.is("trunc_coord"),
        filter_mode: line.u32("filter_mode"),
        mag_filter: line.u32("mag_filter"),
        min_filter: line.u32("min_filter"),
        mip_filter: line.u32("mip_filter"),
        aniso_single_level: line.is("aniso_single_level"),
        border_color_type: line.u32("border_color_type"),
        border_color_ptr: line.u32("border_color_ptr"),
        min_lod: line.float("min_lod"),
        max_lod: line.float("max_lod"),
        lod_bias: line.float("lod_bias"),
    };
    Ok(fields(state.descriptor(line.level)?, line.level))
}
