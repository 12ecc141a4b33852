//! The fields of the packets that copy boxes of elements.

use super::{
    level::{ImageLevel, Order},
    rows::{TexelBox, counts},
};
use crate::{
    cs::{
        layout::{FieldName, names as n},
        sdma::Version,
    },
    vamgr::GpuVa,
};

/// One side of a copy between linear surfaces.
#[derive(Clone, Copy, Debug)]
pub(super) struct Linear {
    pub(super) at: GpuVa,
    pub(super) first: [u32; 3],
    /// Distance between rows (`pitch`) and between slices (`slice`), in elements.
    pub(super) pitch: u64,
    pub(super) slice: u64,
}

/// Fields of a packet. Fields that the version does not have are zero.
pub(super) type Fields<const N: usize> = [(FieldName, u64); N];

/// Returns the fields of COPY_LINEAR_SUB_WINDOW.
pub(super) fn linear(version: Version, bytes: u32, to: &Linear, from: &Linear, extent: [u32; 3]) -> Fields<16> {
    let [width, height, depth] = counts(version, extent);
    let less = |count: u64| count.saturating_sub(1);
    [
        (n::elementsize, bytes.ilog2().into()),
        (n::src_addr, from.at.as_u64()),
        (n::src_x, from.first[0].into()),
        (n::src_y, from.first[1].into()),
        (n::src_z, from.first[2].into()),
        (n::src_pitch, less(from.pitch)),
        (n::src_slice_pitch, less(from.slice)),
        (n::dst_addr, to.at.as_u64()),
        (n::dst_x, to.first[0].into()),
        (n::dst_y, to.first[1].into()),
        (n::dst_z, to.first[2].into()),
        (n::dst_pitch, less(to.pitch)),
        (n::dst_slice_pitch, less(to.slice)),
        (n::rect_x, width),
        (n::rect_y, height),
        (n::rect_z, depth),
    ]
}

/// The names of the fields of a tiled surface.
struct Names {
    address: FieldName,
    first: [FieldName; 3],
    element: FieldName,
    tiles: [FieldName; 10],
    extent: [FieldName; 3],
    blocks: [FieldName; 5],
}

const TILED: Names = Names {
    address: n::tiled_addr,
    first: [n::tiled_x, n::tiled_y, n::tiled_z],
    element: n::element_size,
    tiles: [
        n::pitch_in_tile,
        n::slice_pitch,
        n::array_mode,
        n::micro_tile_mode,
        n::tilesplit_size,
        n::bank_width,
        n::bank_height,
        n::num_bank,
        n::macro_tile_aspect,
        n::pipe_config,
    ],
    extent: [n::width, n::height, n::depth],
    blocks: [n::swizzle_mode, n::dimension, n::epitch, n::mip_max, n::mip_id],
};

const SOURCE: Names = Names {
    address: n::src_addr,
    first: [n::src_x, n::src_y, n::src_z],
    element: n::src_element_size,
    tiles: [
        n::src_pitch_in_tile,
        n::src_slice_pitch,
        n::src_array_mode,
        n::src_mit_mode,
        n::src_tilesplit_size,
        n::src_bank_w,
        n::src_bank_h,
        n::src_num_bank,
        n::src_mat_aspt,
        n::src_pipe_config,
    ],
    extent: [n::src_width, n::src_height, n::src_depth],
    blocks: [n::src_swizzle_mode, n::src_dimension, n::src_epitch, n::src_mip_max, n::src_mip_id],
};

const DESTINATION: Names = Names {
    address: n::dst_addr,
    first: [n::dst_x, n::dst_y, n::dst_z],
    element: n::dst_element_size,
    tiles: [
        n::dst_pitch_in_tile,
        n::dst_slice_pitch,
        n::dst_array_mode,
        n::dst_mit_mode,
        n::dst_tilesplit_size,
        n::dst_bank_w,
        n::dst_bank_h,
        n::dst_num_bank,
        n::dst_mat_aspt,
        n::dst_pipe_config,
    ],
    extent: [n::dst_width, n::dst_height, n::dst_depth],
    blocks: [n::dst_swizzle_mode, n::dst_dimension, n::dst_epitch, n::dst_mip_max, n::dst_mip_id],
};

/// The number of fields of a tiled surface.
const SURFACE: usize = 23;

fn surface(names: &Names, image: &ImageLevel, first: [u32; 3]) -> Fields<SURFACE> {
    let mut tiles = [0; 10];
    let (mut extent, mut blocks) = ([0; 3], [0; 5]);
    match &image.order {
        Order::Rows { .. } => {}
        Order::Tiles(own) => {
            tiles = [
                own.pitch,
                own.slice,
                own.array_mode,
                own.micro_mode,
                own.split,
                own.bank_width,
                own.bank_height,
                own.banks,
                own.aspect,
                own.pipe_config,
            ];
        }
        Order::Blocks(own) => {
            extent = own.extent;
            blocks = [own.mode, own.dimension, own.epitch, own.last_level, own.level];
        }
    }
    let mut out = [(names.address, image.at.as_u64()); SURFACE];
    let rest = [(names.element, image.bytes.ilog2().into())].into_iter();
    let rest = rest.chain(names.first.into_iter().zip(first.map(u64::from)));
    let rest = rest.chain(names.tiles.into_iter().zip(tiles));
    let rest = rest.chain(names.extent.into_iter().zip(extent)).chain(names.blocks.into_iter().zip(blocks));
    out.iter_mut().skip(1).zip(rest).for_each(|(slot, field)| *slot = field);
    out
}

/// Returns the fields of COPY_TILED_SUB_WINDOW. `detile` copies from the image to rows, otherwise rows to the image.
pub(super) fn tiled(
    version: Version,
    image: &ImageLevel,
    texels: &TexelBox,
    rows: &Linear,
    detile: bool,
) -> Fields<{ SURFACE + 10 }> {
    let [width, height, depth] = counts(version, texels.extent);
    let mut out = [(n::detile, u64::from(detile)); SURFACE + 10];
    let rest = [
        (n::linear_addr, rows.at.as_u64()),
        (n::linear_x, rows.first[0].into()),
        (n::linear_y, rows.first[1].into()),
        (n::linear_z, rows.first[2].into()),
        (n::linear_pitch, rows.pitch.saturating_sub(1)),
        (n::linear_slice_pitch, rows.slice.saturating_sub(1)),
        (n::rect_x, width),
        (n::rect_y, height),
        (n::rect_z, depth),
    ];
    let all = surface(&TILED, image, texels.first).into_iter().chain(rest);
    out.iter_mut().skip(1).zip(all).for_each(|(slot, field)| *slot = field);
    out
}

/// Returns the fields of COPY_T2T_SUB_WINDOW. From 2.4 to 3.0 the destination has no element size field, and the size is rounded
/// down to whole tiles after one is subtracted.
///
/// Source: Mesa 17.0 `src/gallium/drivers/radeonsi/cik_sdma.c`, `cik_sdma_copy_texture`.
pub(super) fn between(
    version: Version,
    to: (&ImageLevel, [u32; 3]),
    from: (&ImageLevel, [u32; 3]),
    extent: [u32; 3],
) -> Fields<{ 2 * SURFACE + 3 }> {
    let one_size = matches!(version, Version::V2_4 | Version::V3_0);
    let [width, height, depth] = counts(version, extent);
    let [width, height] = if one_size { [width & !7, height & !7] } else { [width, height] };
    let mut out = [(n::rect_x, width); 2 * SURFACE + 3];
    let destination = surface(&DESTINATION, to.0, to.1).map(|(name, value)| {
        let is_size = name == n::dst_element_size;
        (name, if is_size && one_size { 0 } else { value })
    });
    let rest = [(n::rect_y, height), (n::rect_z, depth)].into_iter();
    let rest = rest.chain(surface(&SOURCE, from.0, from.1)).chain(destination);
    out.iter_mut().skip(1).zip(rest).for_each(|(slot, field)| *slot = field);
    out
}
