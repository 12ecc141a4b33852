//! The fields of buffer descriptors (SQ_BUF_RSRC).
//!
//! Source: Mesa 25.0.7 `src/amd/registers/`, merged over the generations.

use amdgpu_hw::GfxLevel::{Gfx6, Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx11, Gfx11_5, Gfx12};
use amdgpu_registers::enums::{
    BUF_DATA_FORMAT, BUF_NUM_FORMAT, GFX10_FORMAT, GFX11_FORMAT, SQ_BUF_RSRC_WORD3__OOB_SELECT, SQ_RSRC_BUF_TYPE,
    SQ_SEL_XYZW01,
};

use crate::field::{Field, on};
use crate::marker::Buffer;

/// The address of the first byte.
pub const BASE_ADDRESS: Field<Buffer> = Field::new("base_address", &[on(Gfx6, Gfx12, &[(0, 0, 32), (1, 0, 16)])]);

/// The distance between records in bytes.
pub const STRIDE: Field<Buffer> = Field::new("stride", &[on(Gfx6, Gfx12, &[(1, 16, 14)])]);

/// Swizzles addresses for the texture cache.
pub const CACHE_SWIZZLE: Field<Buffer> = Field::new("cache_swizzle", &[on(Gfx6, Gfx10_3, &[(1, 30, 1)])]);

/// Interleaves the records of a wave. On GFX11 and later the value also selects the element size: 1, 2 and 3 for 4, 8 and 16 bytes.
pub const SWIZZLE_ENABLE: Field<Buffer> =
    Field::new("swizzle_enable", &[on(Gfx11, Gfx12, &[(1, 30, 2)]), on(Gfx6, Gfx10_3, &[(1, 31, 1)])]);

/// The number of records; the number of bytes if the stride is 0.
pub const NUM_RECORDS: Field<Buffer> = Field::new("num_records", &[on(Gfx6, Gfx12, &[(2, 0, 32)])]);

/// The source of component x: a component of the data, 0 or 1.
pub const DST_SEL_X: Field<Buffer> = Field::new("dst_sel_x", &[on(Gfx6, Gfx12, &[(3, 0, 3)]).named(SQ_SEL_XYZW01)]);

/// The source of component y: a component of the data, 0 or 1.
pub const DST_SEL_Y: Field<Buffer> = Field::new("dst_sel_y", &[on(Gfx6, Gfx12, &[(3, 3, 3)]).named(SQ_SEL_XYZW01)]);

/// The source of component z: a component of the data, 0 or 1.
pub const DST_SEL_Z: Field<Buffer> = Field::new("dst_sel_z", &[on(Gfx6, Gfx12, &[(3, 6, 3)]).named(SQ_SEL_XYZW01)]);

/// The source of component w: a component of the data, 0 or 1.
pub const DST_SEL_W: Field<Buffer> = Field::new("dst_sel_w", &[on(Gfx6, Gfx12, &[(3, 9, 3)]).named(SQ_SEL_XYZW01)]);

/// The layout and numeric type of an element.
pub const FORMAT: Field<Buffer> = Field::new(
    "format",
    &[on(Gfx11, Gfx12, &[(3, 12, 6)]).named(GFX11_FORMAT), on(Gfx10, Gfx10_3, &[(3, 12, 7)]).named(GFX10_FORMAT)],
);

/// The numeric type of an element.
pub const NUM_FORMAT: Field<Buffer> = Field::new("num_format", &[on(Gfx6, Gfx9, &[(3, 12, 3)]).named(BUF_NUM_FORMAT)]);

/// The layout of an element: the number and sizes of its components.
pub const DATA_FORMAT: Field<Buffer> =
    Field::new("data_format", &[on(Gfx6, Gfx9, &[(3, 15, 4)]).named(BUF_DATA_FORMAT)]);

/// The base-2 logarithm of the factor by which the stride is multiplied.
pub const STRIDE_SCALE: Field<Buffer> = Field::new("stride_scale", &[on(Gfx12, Gfx12, &[(3, 18, 2)])]);

/// The size of an element of a swizzled buffer: 0 to 3 for 2, 4, 8 or 16 bytes.
pub const ELEMENT_SIZE: Field<Buffer> = Field::new("element_size", &[on(Gfx6, Gfx8, &[(3, 19, 2)])]);

/// Translates addresses with the page tables that `user_vm_mode` selects.
pub const USER_VM_ENABLE: Field<Buffer> = Field::new("user_vm_enable", &[on(Gfx9, Gfx9, &[(3, 19, 1)])]);

/// Selects the page tables for `user_vm_enable`.
pub const USER_VM_MODE: Field<Buffer> = Field::new("user_vm_mode", &[on(Gfx9, Gfx9, &[(3, 20, 1)])]);

/// The number of lanes that a swizzled buffer interleaves: 0 to 3 for 8, 16, 32 or 64.
pub const INDEX_STRIDE: Field<Buffer> = Field::new("index_stride", &[on(Gfx6, Gfx12, &[(3, 21, 2)])]);

/// Adds the lane number to the index. On GFX8 and GFX9 the data format field then contains bits 17:14 of the stride.
pub const ADD_TID_ENABLE: Field<Buffer> = Field::new("add_tid_enable", &[on(Gfx6, Gfx12, &[(3, 23, 1)])]);

/// Translates addresses through the IOMMU.
pub const ATC: Field<Buffer> = Field::new("atc", &[on(Gfx6, Gfx8, &[(3, 24, 1)])]);

/// Always 1 on GFX10 and GFX10.3.
pub const RESOURCE_LEVEL: Field<Buffer> = Field::new("resource_level", &[on(Gfx10, Gfx10_3, &[(3, 24, 1)])]);

/// Makes stores write compressed data.
pub const WRITE_COMPRESS_ENABLE: Field<Buffer> =
    Field::new("write_compress_enable", &[on(Gfx12, Gfx12, &[(3, 24, 1)])]);

/// Makes loads read compressed data.
pub const COMPRESSION_EN: Field<Buffer> = Field::new("compression_en", &[on(Gfx12, Gfx12, &[(3, 25, 1)])]);

/// Hashes addresses over the memory channels.
pub const HASH_ENABLE: Field<Buffer> = Field::new("hash_enable", &[on(Gfx6, Gfx8, &[(3, 25, 1)])]);

/// The access mode for compressed data.
pub const COMPRESSION_ACCESS_MODE: Field<Buffer> =
    Field::new("compression_access_mode", &[on(Gfx12, Gfx12, &[(3, 26, 2)])]);

/// Selects the heap of the shader.
pub const HEAP: Field<Buffer> = Field::new("heap", &[on(Gfx6, Gfx8, &[(3, 26, 1)])]);

/// Keeps the data out of the last-level cache.
pub const LLC_NOALLOC: Field<Buffer> = Field::new("llc_noalloc", &[on(Gfx10_3, Gfx11_5, &[(3, 26, 2)])]);

/// The cache policy (memory type).
pub const MTYPE: Field<Buffer> = Field::new("mtype", &[on(Gfx6, Gfx8, &[(3, 27, 3)])]);

/// Marks the memory as non-volatile.
pub const NV: Field<Buffer> = Field::new("nv", &[on(Gfx9, Gfx9, &[(3, 27, 1)])]);

/// The rule that decides whether an access is out of bounds.
pub const OOB_SELECT: Field<Buffer> =
    Field::new("oob_select", &[on(Gfx10, Gfx12, &[(3, 28, 2)]).named(SQ_BUF_RSRC_WORD3__OOB_SELECT)]);

/// The kind of resource, which distinguishes buffers from images.
pub const TYPE: Field<Buffer> = Field::new("type", &[on(Gfx6, Gfx12, &[(3, 30, 2)]).named(SQ_RSRC_BUF_TYPE)]);

/// All fields, ordered by their first dword and bit on the oldest generation that has them.
pub const ALL: &[Field<Buffer>] = &[
    BASE_ADDRESS,
    STRIDE,
    CACHE_SWIZZLE,
    SWIZZLE_ENABLE,
    NUM_RECORDS,
    DST_SEL_X,
    DST_SEL_Y,
    DST_SEL_Z,
    DST_SEL_W,
    FORMAT,
    NUM_FORMAT,
    DATA_FORMAT,
    STRIDE_SCALE,
    ELEMENT_SIZE,
    USER_VM_ENABLE,
    USER_VM_MODE,
    INDEX_STRIDE,
    ADD_TID_ENABLE,
    ATC,
    RESOURCE_LEVEL,
    WRITE_COMPRESS_ENABLE,
    COMPRESSION_EN,
    HASH_ENABLE,
    COMPRESSION_ACCESS_MODE,
    HEAP,
    LLC_NOALLOC,
    MTYPE,
    NV,
    OOB_SELECT,
    TYPE,
];
