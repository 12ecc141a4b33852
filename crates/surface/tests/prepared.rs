//! Prepared addresses are those that are computed one by one, also far from the origin and for tilings that no table has; and
//! nothing that is asked of an image takes memory from the heap.
#![expect(unsafe_code, reason = "a counting allocator")]

use std::alloc::{GlobalAlloc, System};
use std::cell::Cell;

use amdgpu_surface::addr1::{self, TileInfo, TileMode, TileType, Tiles};
use amdgpu_surface::addr2::meta::{MetaAddresser, MetaImage, MetaKind};
use amdgpu_surface::addr2::{self, SwizzleMode};
use amdgpu_surface::equation::Texel;
use amdgpu_surface::modifier::{FormatClass, ListOptions, ModifierList};
use amdgpu_surface::surface::{Dimension, SurfaceConfig, SurfaceLayout, SurfaceUsage, TilingMode};
use amdgpu_surface::tiler::{Region, Rows, Subresource};
use amdgpu_surface::{Chip, GfxLevel};
use amdgpu_test_support::chips;
use proptest::prelude::*;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator unchanged; counting touches nothing but a cell.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: std::alloc::Layout) -> *mut u8 {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: std::alloc::Layout) {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The tile modes of GFX6 to GFX8, without linear ones.
const TILE_MODES: [u8; 14] = [2, 3, 4, 7, 12, 13, 16, 17, 19, 20, 21, 22, 23, 24];
const PIPE_CONFIGS: [u32; 14] = [1, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18];

/// Levels in any tiles, and places in them.
fn tiles() -> impl Strategy<Value = (Tiles, [u32; 2], Vec<[u32; 3]>)> {
    let info = (1_u32..5, 0_u32..4, 0_u32..4, 0_u32..4, 0_u32..7, prop::sample::select(&PIPE_CONFIGS[..]));
    let level = (prop::sample::select(&TILE_MODES[..]), 0_u8..5, 3_u32..8, 1_u32..260, 1_u32..130);
    let places = prop::collection::vec(any::<[u32; 3]>(), 1..40);
    (info, level, any::<[u32; 2]>(), places).prop_map(|(info, (mode, order, bits, width, height), swizzle, places)| {
        let (banks, bank_width, bank_height, aspect, split, pipe_config) = info;
        let orders = [TileType::Display, TileType::NonDisplay, TileType::Depth, TileType::Rotated, TileType::Thick];
        let info = TileInfo {
            banks: 1 << banks,
            bank_width: 1 << bank_width,
            bank_height: 1 << bank_height,
            aspect: 1 << aspect.min(banks),
            tile_split: 64 << split,
            pipe_config,
        };
        let tiles = Tiles {
            mode: TileMode::new(mode).unwrap(),
            tile_type: orders[usize::from(order)],
            info,
            bits: 1 << bits,
            pitch: width * 64,
            height: height * 128,
            depth: 24,
            samples: 1,
        };
        let places = places.iter().map(|[x, y, z]| [x % tiles.pitch, y % tiles.height, z % tiles.depth]).collect();
        (tiles, swizzle, places)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tiles_of_any_tiling((tiles, [bank, pipe], places) in tiles()) {
        for (name, chip) in chips::recorded().iter().filter(|(_, chip)| chip.level() < GfxLevel::Gfx9) {
            let Ok(slow) = addr1::Addresser::of_tiles(chip, &tiles, bank, pipe) else { continue };
            let Ok(fast) = Subresource::gfx6(&slow) else { continue };
            for &[x, y, z] in &places {
                let texel = Texel { x, y, z, sample: 0, level: 0 };
                prop_assert_eq!(fast.address(x, y, z, 0).ok(), slow.address(texel).ok(), "{} {:?} {:?}", name, tiles, texel);
                let line = fast.line(y, z, 0).unwrap();
                prop_assert_eq!(line.address(x), slow.address(texel).ok(), "{} {:?} {:?}", name, tiles, texel);
            }
        }
    }

    #[test]
    fn metadata_of_any_image(
        (kind, mode, bits) in (0_u8..3, 0_u8..32, 0_u32..5),
        (fragments, aligned, xor) in (0_u32..4, any::<[bool; 2]>(), any::<u32>()),
        size in (1_u32..16384, 1_u32..16384, 1_u32..200),
        places in prop::collection::vec(any::<[u32; 4]>(), 1..40),
    ) {
        let kind = [MetaKind::Dcc, MetaKind::Cmask, MetaKind::Htile][usize::from(kind)];
        let (width, height, slices) = size;
        for (name, chip) in chips::recorded().iter().filter(|(_, chip)| (GfxLevel::Gfx9..GfxLevel::Gfx12).contains(&chip.level())) {
            let image = MetaImage {
                kind,
                mode: SwizzleMode::new(mode).unwrap_or(SwizzleMode::LINEAR),
                dimension: addr2::Dimension::D2,
                bits: 8 << bits,
                width,
                height,
                slices,
                levels: 1,
                samples: 1 << fragments,
                fragments: 1 << fragments,
                pipe_aligned: aligned[0],
                rb_aligned: aligned[1],
                first_tail: 0,
            };
            let Ok(layout) = image.layout(chip) else { continue };
            let Ok(slow) = MetaAddresser::new(chip, &image, &layout, xor) else { continue };
            let fast = slow.tables().unwrap();
            for &[x, y, z, s] in &places {
                let [x, y, z, s] = [x % layout.pitch, y % layout.height, z % slices, s % (1 << fragments)];
                prop_assert_eq!(fast.address(x, y, z, s), slow.address(x, y, z, s), "{} {:?} {} {} {} {}", name, image, x, y, z, s);
            }
        }
    }
}

/// Images of each kind that a driver asks for.
fn configs() -> impl Iterator<Item = SurfaceConfig> {
    let plain = SurfaceConfig::new(1920, 1080, 4);
    let depth = SurfaceUsage::ZBUFFER | SurfaceUsage::SBUFFER;
    [
        plain,
        SurfaceConfig { mode: TilingMode::Linear, ..plain },
        SurfaceConfig { width: 1024, height: 1024, levels: 11, ..plain },
        SurfaceConfig { samples: 4, storage_samples: 4, ..plain },
        SurfaceConfig { samples: 8, storage_samples: 8, bytes: 8, layers: 3, ..plain },
        SurfaceConfig { usage: depth | SurfaceUsage::TC_COMPATIBLE_HTILE, ..plain },
        SurfaceConfig { usage: SurfaceUsage::SCANOUT, ..plain },
        SurfaceConfig { usage: SurfaceUsage::PRT, layers: 5, levels: 3, ..plain },
        SurfaceConfig { dimension: Dimension::D3, width: 64, height: 64, depth: 64, levels: 7, ..plain },
        SurfaceConfig { dimension: Dimension::Cube, bytes: 16, block: (4, 4), ..plain },
    ]
    .into_iter()
}

#[test]
fn elements_of_a_line_have_the_addresses_that_they_have_alone() {
    let mut compared = 0;
    for (name, chip) in chips::recorded() {
        for config in configs() {
            let Ok(layout) = SurfaceLayout::new(&chip, &config) else { continue };
            let Ok(level) = layout.texels(&chip, &config, config.levels - 1) else { continue };
            let [width, height, depth] = level.extent();
            let (z, sample) = (depth - 1, config.samples - 1);
            for y in [0, height / 2, height - 1] {
                let line = level.line(y, z, sample).unwrap();
                for x in (0..width).step_by(3).chain([width, u32::MAX]) {
                    assert_eq!(line.address(x), level.address(x, y, z, sample).ok(), "{name} {config:?} {x} {y}");
                    compared += 1;
                }
                let mut found = Vec::new();
                line.each((0..width + 3).map(|x| (x, x)), |x, address| found.push((x, address)));
                let alone = (0..width).map(|x| (x, line.address(x).unwrap()));
                assert!(found.iter().copied().eq(alone), "{name} {config:?} {y}");
            }
            let outside = [(height, z, sample), (0, depth, sample), (0, z, config.samples)];
            assert!(outside.iter().all(|(y, z, sample)| level.line(*y, *z, *sample).is_none()), "{name} {config:?}");
        }
    }
    assert!(compared > 10_000);
}

#[test]
fn nothing_takes_memory_from_the_heap() {
    let mut rows = vec![0_u8; 64 * 64 * 16];
    for (name, chip) in chips::recorded() {
        for config in configs() {
            let mut tiled = Vec::new();
            for round in 0..2 {
                let before = ALLOCATIONS.get();
                let remade = Chip::new(chip.registers()).unwrap();
                let layout =
                    SurfaceLayout::new(&remade, &config).unwrap_or_else(|error| panic!("{name} {config:?}: {error}"));
                let level = layout.texels(&remade, &config, config.levels - 1);
                if round == 0 {
                    assert_eq!(ALLOCATIONS.get(), before, "{name} {config:?}");
                    tiled = vec![0; layout.bytes as usize];
                    continue;
                }
                let Ok(level) = level else { break };
                let [width, height, _] = level.extent();
                let (bytes, side) = (config.bytes as usize, 64.min(width).min(height));
                let (part, places) = (Region::whole(side, side, 1), Rows { pitch: 64 * bytes, slice: 0 });
                level.tile(&part, &rows, places, &mut tiled).unwrap();
                level.detile(&part, &tiled, &mut rows, places).unwrap();
                for meta in [layout.dcc.and_then(|dcc| dcc.image), layout.htile_image].into_iter().flatten() {
                    let found = meta.layout(&remade).and_then(|sizes| MetaAddresser::new(&remade, &meta, &sizes, 0));
                    let _ = found.and_then(|addresser| addresser.tables()).map(|tables| tables.address(5, 6, 0, 0));
                }
                let format = FormatClass { bits: 32, compressed: false, depth_stencil: false, planes: 1 };
                assert!(
                    ModifierList::new(&remade, format, ListOptions { dcc: true, retile: true }).as_slice().len() < 100
                );
                assert_eq!(ALLOCATIONS.get(), before, "{name} {config:?}");
            }
        }
    }
}
