//! The fields of image descriptors (SQ_IMG_RSRC).
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`, merged over the generations.

use amdgpu_hw::GfxLevel::{Gfx6, Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx11, Gfx11_5, Gfx12};
use amdgpu_registers::enums::{
    GFX10_FORMAT, GFX11_FORMAT, IMG_DATA_FORMAT, IMG_DATA_FORMAT_STENCIL, IMG_NUM_FORMAT, IMG_NUM_FORMAT_FMASK,
    SQ_IMG_RSRC_WORD3__BC_SWIZZLE, SQ_IMG_RSRC_WORD4__BC_SWIZZLE, SQ_RSRC_IMG_TYPE, SQ_SEL_XYZW01,
};

use crate::field::{Field, on};
use crate::marker::Image;

/// The address of the first byte, a multiple of 256. Bits 8 and up also hold the tile swizzle.
pub const BASE_ADDRESS: Field<Image> =
    Field::new("base_address", &[on(Gfx6, Gfx12, &[(0, 0, 32), (1, 0, 8)]).shifted(8)]);

/// The smallest level of detail, in 1/256.
pub const MIN_LOD: Field<Image> = Field::new(
    "min_lod",
    &[
        on(Gfx6, Gfx10_3, &[(1, 8, 12)]),
        on(Gfx12, Gfx12, &[(5, 26, 6), (6, 0, 7)]),
        on(Gfx11, Gfx11_5, &[(5, 27, 5), (6, 0, 7)]),
    ],
);

/// The last level of the image; for multisampled images the base-2 logarithm of the number of samples.
pub const MAX_MIP: Field<Image> = Field::new(
    "max_mip",
    &[
        on(Gfx12, Gfx12, &[(1, 12, 5)]),
        on(Gfx11, Gfx11_5, &[(1, 16, 4)]),
        on(Gfx10, Gfx10_3, &[(5, 4, 4)]),
        on(Gfx9, Gfx9, &[(5, 28, 4)]),
    ],
);

/// Keeps the data out of the last-level cache.
pub const LLC_NOALLOC: Field<Image> =
    Field::new("llc_noalloc", &[on(Gfx11, Gfx11_5, &[(1, 13, 2)]), on(Gfx10_3, Gfx10_3, &[(6, 8, 2)])]);

/// Marks the image's memory as mapped with big pages.
pub const BIG_PAGE: Field<Image> =
    Field::new("big_page", &[on(Gfx11, Gfx11_5, &[(1, 15, 1)]), on(Gfx10_3, Gfx10_3, &[(5, 31, 1)])]);

/// The layout and numeric type of an element.
pub const FORMAT: Field<Image> = Field::new(
    "format",
    &[
        on(Gfx12, Gfx12, &[(1, 17, 8)]).named(GFX11_FORMAT),
        on(Gfx11, Gfx11_5, &[(1, 20, 8)]).named(GFX11_FORMAT),
        on(Gfx10, Gfx10_3, &[(1, 20, 9)]).named(GFX10_FORMAT),
    ],
);

/// The layout of an element: the number and sizes of its components.
pub const DATA_FORMAT: Field<Image> =
    Field::new("data_format", &[on(Gfx6, Gfx9, &[(1, 20, 6)]).named(IMG_DATA_FORMAT)]);

/// The layout of a stencil element of an image that also has depth.
pub const DATA_FORMAT_STENCIL: Field<Image> = Field::new(
    "data_format_stencil",
    &[on(Gfx9, Gfx9, &[(1, 20, 6)]).named(IMG_DATA_FORMAT_STENCIL).instead_of("data_format")],
);

/// The first level of the view.
pub const BASE_LEVEL: Field<Image> =
    Field::new("base_level", &[on(Gfx12, Gfx12, &[(1, 25, 5)]), on(Gfx6, Gfx11_5, &[(3, 12, 4)])]);

/// The numeric type of an element.
pub const NUM_FORMAT: Field<Image> = Field::new("num_format", &[on(Gfx6, Gfx9, &[(1, 26, 4)]).named(IMG_NUM_FORMAT)]);

/// The number of samples and fragments of an FMASK.
pub const NUM_FORMAT_FMASK: Field<Image> = Field::new(
    "num_format_fmask",
    &[on(Gfx9, Gfx9, &[(1, 26, 4)]).named(IMG_NUM_FORMAT_FMASK).instead_of("num_format")],
);

/// The low bits of the cache policy (memory type).
pub const MTYPE: Field<Image> = Field::new("mtype", &[on(Gfx6, Gfx8, &[(1, 30, 2)])]);

/// Marks the memory as non-volatile.
pub const NV: Field<Image> = Field::new("nv", &[on(Gfx9, Gfx9, &[(1, 30, 1)])]);

/// The width of level 0 in elements.
pub const WIDTH: Field<Image> = Field::new(
    "width",
    &[
        on(Gfx10, Gfx11_5, &[(1, 30, 2), (2, 0, 12)]).less_one(),
        on(Gfx12, Gfx12, &[(1, 30, 2), (2, 0, 14)]).less_one(),
        on(Gfx6, Gfx9, &[(2, 0, 14)]).less_one(),
    ],
);

/// Addresses metadata directly, without an equation.
pub const META_DIRECT: Field<Image> = Field::new("meta_direct", &[on(Gfx9, Gfx9, &[(1, 31, 1)])]);

/// The height of level 0 in elements.
pub const HEIGHT: Field<Image> =
    Field::new("height", &[on(Gfx6, Gfx11_5, &[(2, 14, 14)]).less_one(), on(Gfx12, Gfx12, &[(2, 14, 16)]).less_one()]);

/// The filtering quality to trade for speed. Drivers write 4.
pub const PERF_MOD: Field<Image> =
    Field::new("perf_mod", &[on(Gfx6, Gfx9, &[(2, 28, 3)]), on(Gfx10, Gfx12, &[(5, 20, 3)])]);

/// Marks the image as interlaced.
pub const INTERLACED: Field<Image> = Field::new("interlaced", &[on(Gfx6, Gfx8, &[(2, 31, 1)])]);

/// Always 1 on GFX10 and GFX10.3.
pub const RESOURCE_LEVEL: Field<Image> = Field::new("resource_level", &[on(Gfx10, Gfx10_3, &[(2, 31, 1)])]);

/// The source of component x: a component of the texel, 0 or 1.
pub const DST_SEL_X: Field<Image> = Field::new("dst_sel_x", &[on(Gfx6, Gfx12, &[(3, 0, 3)]).named(SQ_SEL_XYZW01)]);

/// The source of component y: a component of the texel, 0 or 1.
pub const DST_SEL_Y: Field<Image> = Field::new("dst_sel_y", &[on(Gfx6, Gfx12, &[(3, 3, 3)]).named(SQ_SEL_XYZW01)]);

/// The source of component z: a component of the texel, 0 or 1.
pub const DST_SEL_Z: Field<Image> = Field::new("dst_sel_z", &[on(Gfx6, Gfx12, &[(3, 6, 3)]).named(SQ_SEL_XYZW01)]);

/// The source of component w: a component of the texel, 0 or 1.
pub const DST_SEL_W: Field<Image> = Field::new("dst_sel_w", &[on(Gfx6, Gfx12, &[(3, 9, 3)]).named(SQ_SEL_XYZW01)]);

/// Disables clamping of reads from partial compressed blocks at the edge.
pub const NO_EDGE_CLAMP: Field<Image> = Field::new("no_edge_clamp", &[on(Gfx12, Gfx12, &[(3, 12, 1)])]);

/// The last level of the view; for multisampled images the base-2 logarithm of the number of samples.
pub const LAST_LEVEL: Field<Image> =
    Field::new("last_level", &[on(Gfx12, Gfx12, &[(3, 15, 5)]), on(Gfx6, Gfx11_5, &[(3, 16, 4)])]);

/// The swizzle mode: the order of the texels in memory.
pub const SW_MODE: Field<Image> = Field::new("sw_mode", &[on(Gfx9, Gfx12, &[(3, 20, 5)])]);

/// The index into the table of tile modes.
pub const TILING_INDEX: Field<Image> = Field::new("tiling_index", &[on(Gfx6, Gfx8, &[(3, 20, 5)])]);

/// The order of components for border colours.
pub const BC_SWIZZLE: Field<Image> = Field::new(
    "bc_swizzle",
    &[
        on(Gfx10, Gfx12, &[(3, 25, 3)]).named(SQ_IMG_RSRC_WORD3__BC_SWIZZLE),
        on(Gfx9, Gfx9, &[(4, 29, 3)]).named(SQ_IMG_RSRC_WORD4__BC_SWIZZLE),
    ],
);

/// Marks the levels as padded to powers of two.
pub const POW2_PAD: Field<Image> = Field::new("pow2_pad", &[on(Gfx6, Gfx8, &[(3, 25, 1)])]);

/// Bit 2 of the cache policy (memory type).
pub const MTYPE_HIGH: Field<Image> = Field::new("mtype_high", &[on(Gfx6, Gfx8, &[(3, 26, 1)])]);

/// Translates addresses through the IOMMU.
pub const ATC: Field<Image> = Field::new("atc", &[on(Gfx6, Gfx8, &[(3, 27, 1)])]);

/// The kind of resource: the type of the image.
pub const TYPE: Field<Image> = Field::new("type", &[on(Gfx6, Gfx12, &[(3, 28, 4)]).named(SQ_RSRC_IMG_TYPE)]);

/// The last slice of a 3D image, or the last layer of an array; up to GFX8 the number of slices or layers minus one.
pub const DEPTH: Field<Image> =
    Field::new("depth", &[on(Gfx6, Gfx11_5, &[(4, 0, 13)]), on(Gfx12, Gfx12, &[(4, 0, 14)])]);

/// The distance between rows in elements. On GFX9 the stored number is addrlib's epitch.
pub const PITCH: Field<Image> = Field::new(
    "pitch",
    &[
        on(Gfx10_3, Gfx11_5, &[(4, 0, 13), (4, 13, 1)]).less_one().instead_of("depth"),
        on(Gfx12, Gfx12, &[(4, 0, 14), (4, 14, 2)]).less_one().instead_of("depth"),
        on(Gfx6, Gfx8, &[(4, 13, 14)]).less_one(),
        on(Gfx9, Gfx9, &[(4, 13, 16)]).less_one(),
    ],
);

/// The first layer of the view.
pub const BASE_ARRAY: Field<Image> = Field::new(
    "base_array",
    &[on(Gfx10, Gfx11_5, &[(4, 16, 13)]), on(Gfx12, Gfx12, &[(4, 16, 14)]), on(Gfx6, Gfx9, &[(5, 0, 13)])],
);

/// 1 for stores to the slices of a 3D image; on GFX9 the base-2 logarithm of the distance between layers.
pub const ARRAY_PITCH: Field<Image> =
    Field::new("array_pitch", &[on(Gfx10, Gfx11_5, &[(5, 0, 4)]), on(Gfx9, Gfx9, &[(5, 13, 4)])]);

/// Enables stores to the slices of a 3D image.
pub const UAV3D: Field<Image> = Field::new("uav3d", &[on(Gfx12, Gfx12, &[(5, 4, 1)])]);

/// The level of detail below which a residency warning is raised, in 1/256.
pub const MIN_LOD_WARN: Field<Image> = Field::new(
    "min_lod_warn",
    &[on(Gfx12, Gfx12, &[(5, 5, 13)]), on(Gfx10, Gfx11_5, &[(5, 8, 12)]), on(Gfx6, Gfx9, &[(6, 0, 12)])],
);

/// The last layer of the view.
pub const LAST_ARRAY: Field<Image> = Field::new("last_array", &[on(Gfx6, Gfx8, &[(5, 13, 13)])]);

/// Places texels at corners instead of centres.
pub const CORNER_SAMPLES: Field<Image> = Field::new("corner_samples", &[on(Gfx10, Gfx12, &[(5, 23, 1)])]);

/// Enables the counters of levels of detail.
pub const LOD_HDW_CNT_EN: Field<Image> =
    Field::new("lod_hdw_cnt_en", &[on(Gfx10, Gfx10_3, &[(5, 25, 1)]), on(Gfx6, Gfx9, &[(6, 20, 1)])]);

/// Marks the metadata as linear.
pub const META_LINEAR: Field<Image> = Field::new("meta_linear", &[on(Gfx9, Gfx9, &[(5, 25, 1)])]);

/// Marks the metadata as aligned to pipes.
pub const META_PIPE_ALIGNED: Field<Image> =
    Field::new("meta_pipe_aligned", &[on(Gfx9, Gfx9, &[(5, 26, 1)]), on(Gfx10, Gfx11_5, &[(6, 19, 1)])]);

/// The value that reads of non-resident texels return.
pub const PRT_DEFAULT: Field<Image> = Field::new("prt_default", &[on(Gfx10, Gfx11_5, &[(5, 26, 1)])]);

/// Marks the metadata as aligned to render backends.
pub const META_RB_ALIGNED: Field<Image> = Field::new("meta_rb_aligned", &[on(Gfx9, Gfx9, &[(5, 27, 1)])]);

/// The bank of the counters of levels of detail.
pub const COUNTER_BANK_ID: Field<Image> =
    Field::new("counter_bank_id", &[on(Gfx10, Gfx10_3, &[(6, 0, 8)]), on(Gfx6, Gfx9, &[(6, 12, 8)])]);

/// Makes HTILE of a multisampled image iterate over 256 bytes.
pub const ITERATE_256: Field<Image> = Field::new("iterate_256", &[on(Gfx10, Gfx11_5, &[(6, 10, 1)])]);

/// The index of the first sample position.
pub const SAMPLE_PATTERN_OFFSET: Field<Image> = Field::new("sample_pattern_offset", &[on(Gfx11, Gfx12, &[(6, 11, 4)])]);

/// The size of the largest uncompressed DCC block: 0 to 2 for 64, 128 or 256 bytes.
pub const MAX_UNCOMPRESSED_BLOCK_SIZE: Field<Image> =
    Field::new("max_uncompressed_block_size", &[on(Gfx12, Gfx12, &[(6, 15, 1)]), on(Gfx10, Gfx11_5, &[(6, 15, 2)])]);

/// The size of the largest compressed DCC block: 0 to 2 for 64, 128 or 256 bytes.
pub const MAX_COMPRESSED_BLOCK_SIZE: Field<Image> =
    Field::new("max_compressed_block_size", &[on(Gfx10, Gfx12, &[(6, 17, 2)])]);

/// Makes stores write compressed data.
pub const WRITE_COMPRESS_ENABLE: Field<Image> = Field::new("write_compress_enable", &[on(Gfx10, Gfx12, &[(6, 20, 1)])]);

/// Makes loads read compressed data.
pub const COMPRESSION_EN: Field<Image> = Field::new("compression_en", &[on(Gfx8, Gfx12, &[(6, 21, 1)])]);

/// Marks alpha as the most significant component.
pub const ALPHA_IS_ON_MSB: Field<Image> = Field::new("alpha_is_on_msb", &[on(Gfx8, Gfx11_5, &[(6, 22, 1)])]);

/// The access mode for compressed data.
pub const COMPRESSION_ACCESS_MODE: Field<Image> =
    Field::new("compression_access_mode", &[on(Gfx12, Gfx12, &[(6, 22, 2)])]);

/// Enables the colour transform of DCC.
pub const COLOR_TRANSFORM: Field<Image> = Field::new("color_transform", &[on(Gfx8, Gfx11_5, &[(6, 23, 1)])]);

/// The number of low alpha bits that lossy DCC drops.
pub const LOST_ALPHA_BITS: Field<Image> = Field::new("lost_alpha_bits", &[on(Gfx8, Gfx9, &[(6, 24, 4)])]);

/// The address of DCC or HTILE, a multiple of 256.
pub const META_DATA_ADDRESS: Field<Image> = Field::new(
    "meta_data_address",
    &[
        on(Gfx10, Gfx11_5, &[(6, 24, 8), (7, 0, 32)]).shifted(8),
        on(Gfx8, Gfx8, &[(7, 0, 32)]).shifted(8),
        on(Gfx9, Gfx9, &[(7, 0, 32), (5, 17, 8)]).shifted(8),
    ],
);

/// The number of low colour bits that lossy DCC drops.
pub const LOST_COLOR_BITS: Field<Image> = Field::new("lost_color_bits", &[on(Gfx8, Gfx9, &[(6, 28, 4)])]);

/// All fields, ordered by their first dword and bit on the oldest generation that has them.
pub const ALL: &[Field<Image>] = &[
    BASE_ADDRESS,
    MIN_LOD,
    MAX_MIP,
    LLC_NOALLOC,
    BIG_PAGE,
    FORMAT,
    DATA_FORMAT,
    DATA_FORMAT_STENCIL,
    BASE_LEVEL,
    NUM_FORMAT,
    NUM_FORMAT_FMASK,
    MTYPE,
    NV,
    WIDTH,
    META_DIRECT,
    HEIGHT,
    PERF_MOD,
    INTERLACED,
    RESOURCE_LEVEL,
    DST_SEL_X,
    DST_SEL_Y,
    DST_SEL_Z,
    DST_SEL_W,
    NO_EDGE_CLAMP,
    LAST_LEVEL,
    SW_MODE,
    TILING_INDEX,
    BC_SWIZZLE,
    POW2_PAD,
    MTYPE_HIGH,
    ATC,
    TYPE,
    DEPTH,
    PITCH,
    BASE_ARRAY,
    ARRAY_PITCH,
    UAV3D,
    MIN_LOD_WARN,
    LAST_ARRAY,
    CORNER_SAMPLES,
    LOD_HDW_CNT_EN,
    META_LINEAR,
    META_PIPE_ALIGNED,
    PRT_DEFAULT,
    META_RB_ALIGNED,
    COUNTER_BANK_ID,
    ITERATE_256,
    SAMPLE_PATTERN_OFFSET,
    MAX_UNCOMPRESSED_BLOCK_SIZE,
    MAX_COMPRESSED_BLOCK_SIZE,
    WRITE_COMPRESS_ENABLE,
    COMPRESSION_EN,
    ALPHA_IS_ON_MSB,
    COMPRESSION_ACCESS_MODE,
    COLOR_TRANSFORM,
    LOST_ALPHA_BITS,
    META_DATA_ADDRESS,
    LOST_COLOR_BITS,
];
