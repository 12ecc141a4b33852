//! Copies of depth and stencil to colour.

use crate::{
    DepthCopy, DrawState, Surface,
    execute::{
        cover::quad::bits,
        target::{
            targets::Targets,
            value::{Access, number},
        },
    },
};

/// Copies the depth and the stencil of one sample of a pixel to samples of its colour in the first target. Bits are copied as they are
/// where the component is as wide; other depths are converted.
///
/// Source: Mesa 25.0.7 `si_blit.c`, `si_blit_dbcb_copy`, and `si_texture.c`, `si_init_flushed_depth_texture`, for the formats.
pub(in crate::execute) fn copy(
    state: &DrawState,
    copy: DepthCopy,
    targets: &mut Targets,
    access: &mut Access<'_>,
    (pixel, samples): ([u32; 3], u16),
) {
    let Targets { colours, depth, stencil, htile, .. } = targets;
    let Some((_, format, plane)) = colours.first() else { return };
    if let Some(htile) = htile
        && let Err(word) = htile.open(access, pixel, [depth.as_ref(), stencil.as_ref()])
    {
        access.compressed = access.compressed.or(Some(word));
    }
    access.enter(Surface::Depth);
    let mut element = 0;
    if let Some(depth) = depth.as_ref().filter(|_| copy.depth)
        && let Some(from) = depth.address(pixel, copy.sample)
    {
        let code = state.depth.plane.map_or(3, |plane| plane.format);
        let width = [32, 16, 24, 32][code as usize & 3];
        let raw = access.load(from, depth.bytes) & ((1 << width) - 1);
        let mask = format.bits_of(1);
        element |= if mask.count_ones() == width {
            raw << mask.trailing_zeros()
        } else {
            let largest = if code == 3 { 1.0 } else { f64::from((1_u32 << width) - 1) };
            format.pack([((number(code, raw as u32) / largest) as f32).to_bits(), 0, 0, 0]) & mask
        };
    }
    if let Some(stencil) = stencil.as_ref().filter(|_| copy.stencil)
        && let Some(from) = stencil.address(pixel, copy.sample)
    {
        let mask = format.bits_of(2);
        element |= access.load(from, 1).checked_shl(mask.trailing_zeros()).unwrap_or(0) & mask;
    }
    access.enter(Surface::Color);
    for to in bits(samples).filter_map(|sample| plane.address(pixel, sample)) {
        access.store(to, plane.bytes, element);
    }
}
