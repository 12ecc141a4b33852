//! Copies of images that are larger than the areas in which the tiler goes from cell to cell, and refused copies.

use amdgpu_surface::addr3;
use amdgpu_surface::surface::{SurfaceConfig, SurfaceLayout, SurfaceUsage};
use amdgpu_surface::tiler::{Region, Rows, Subresource, TilerError};
use amdgpu_test_support::chips;
use proptest::prelude::*;

const SIDE: u32 = 40;
const PITCH: usize = 160;

/// Returns an image of 40x40 elements of 4 bytes, and its bytes.
fn image(mode: addr3::Mode) -> (Subresource, usize) {
    let image = addr3::Image::new(mode, 32, SIDE, SIDE);
    let layout = addr3::layout(&chip(), &image).unwrap();
    (Subresource::gfx12(&image, &layout, 0).unwrap(), layout.bytes as usize)
}

fn chip() -> amdgpu_surface::Chip {
    let registers = amdgpu_surface::ChipRegisters::new(amdgpu_surface::GfxLevel::Gfx12, 0x98, 0x40, 0x444);
    amdgpu_surface::Chip::new(&registers).unwrap()
}

#[test]
fn the_memory_that_ends_before_the_region_is_named_in_both_directions() {
    let (all, layout) = (Region::whole(SIDE, SIDE, 1), Rows { pitch: PITCH, slice: 0 });
    for mode in [addr3::Mode::D2_64K, addr3::Mode::Linear] {
        let (level, bytes) = image(mode);
        let rows_len = SIDE as usize * PITCH;
        let (mut rows, mut tiled) = (vec![0; rows_len], vec![0; bytes]);
        level.tile(&all, &rows, layout, &mut tiled).unwrap();
        level.detile(&all, &tiled, &mut rows, layout).unwrap();
        let short = rows_len - 1;
        let is_rows =
            |error| matches!(error, Err(TilerError::RowsTooShort { len, at }) if len == short && at >= len as u64);
        assert!(is_rows(level.tile(&all, &rows[..short], layout, &mut tiled)), "{mode:?}");
        assert!(is_rows(level.detile(&all, &tiled, &mut rows[..short], layout)), "{mode:?}");
        // Within the first cell or row.
        let is_tiled = |error| matches!(error, Err(TilerError::TiledTooShort { len: 100, at }) if at >= 100);
        assert!(is_tiled(level.tile(&all, &rows, layout, &mut tiled[..100])), "{mode:?}");
        assert!(is_tiled(level.detile(&all, &tiled[..100], &mut rows, layout)), "{mode:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_region_of_a_large_image_is_copied_element_by_element(
        (first, extent) in ([0_u32..600, 0_u32..300], [1_u32..600, 1_u32..300]), bytes_log2 in 0_u32..5, kind in 0_u8..3,
    ) {
        let usage = [SurfaceUsage::empty(), SurfaceUsage::SCANOUT, SurfaceUsage::ZBUFFER][usize::from(kind)];
        let bytes = if kind == 2 { 2 << (bytes_log2 & 1) } else { 1_u32 << bytes_log2 };
        let config = SurfaceConfig { usage, ..SurfaceConfig::new(1200, 600, bytes) };
        let all = chips::recorded();
        for (name, chip) in &all {
            let Ok(layout) = SurfaceLayout::new(chip, &config) else { continue };
            let level = layout.texels(chip, &config, 0).unwrap();
            let region = Region { first: [first[0], first[1], 0], extent: [extent[0], extent[1], 1], sample: 0 };
            let row = (extent[0] * bytes) as usize;
            let places = Rows { pitch: row + 5, slice: 0 };
            let rows: Vec<u8> = (0..places.pitch * extent[1] as usize).map(|at| (at.wrapping_mul(0x9e37) >> 7) as u8).collect();
            let mut tiled = vec![0_u8; layout.total_bytes as usize];
            level.tile(&region, &rows, places, &mut tiled).unwrap();
            for y in 0..extent[1] {
                for x in 0..extent[0] {
                    let at = level.address(first[0] + x, first[1] + y, 0, 0).unwrap() as usize;
                    let from = y as usize * places.pitch + (x * bytes) as usize;
                    prop_assert_eq!(&tiled[at..][..bytes as usize], &rows[from..][..bytes as usize], "{} {} {}", name, x, y);
                }
            }
            let mut back = vec![0_u8; rows.len()];
            level.detile(&region, &tiled, &mut back, places).unwrap();
            for (old, new) in rows.chunks(places.pitch).zip(back.chunks(places.pitch)) {
                prop_assert!(old[..row] == new[..row], "{} {:?}", name, region);
            }
        }
    }
}
