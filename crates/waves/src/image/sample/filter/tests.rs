//! Filters against a slow model.

use std::convert::Infallible;

use amdgpu_hw::GfxLevel;
use proptest::prelude::*;

use super::*;

/// A level of one channel whose texels are a hash of their place.
struct Noise {
    size: [u32; 3],
    levels: u32,
}

fn noise(level: u32, place: [u32; 3]) -> f64 {
    let mixed = [level, place[0], place[1], place[2]]
        .iter()
        .fold(7_u32, |sum, part| (sum ^ part).wrapping_mul(0x9e37_79b1).rotate_left(13));
    f64::from(mixed >> 8) / 65536.0
}

impl Texels for Noise {
    type Error = Infallible;

    fn texel(&mut self, level: u32, place: [u32; 3]) -> Result<[f64; 4], Infallible> {
        Ok([noise(level, place); 4])
    }

    fn size(&self, level: u32) -> [u32; 3] {
        self.size.map(|size| (size >> level).max(1))
    }

    fn levels(&self) -> u32 {
        self.levels
    }
}

fn sampler(filter: u32, mip: u32, clamp: u32) -> Sampler {
    let words = [clamp * 0o111, 0xfff << 12, filter << 20 | filter << 22 | mip << 26, 0];
    Sampler::new(GfxLevel::Gfx10, words).unwrap()
}

fn lookup(axes: u8, coordinates: [f64; 3], lod: f32) -> Lookup {
    Lookup {
        dimensionality: Dimensionality::Axes(axes),
        coordinates,
        normalized: true,
        layer: 0,
        face: 0,
        offsets: [0; 3],
        lod,
        reference: None,
        integers: false,
        border: [-1.0; 4],
    }
}

/// The weight of a texel at a distance from the place, with everything repeated: a tent over the texel's centre.
fn tent(coordinate: f64, texel: u32, size: u32) -> f64 {
    (-2..=2)
        .map(|turn| {
            let centre = f64::from(texel) + 0.5 + f64::from(turn) * f64::from(size);
            (1.0 - (coordinate * f64::from(size) - centre).abs()).max(0.0)
        })
        .sum()
}

/// Sums over every texel of a level.
fn slow(noise_of: u32, size: [u32; 3], coordinates: [f64; 3]) -> f64 {
    let mut sum = 0.0;
    for z in 0..size[2] {
        for y in 0..size[1] {
            for x in 0..size[0] {
                let weight = tent(coordinates[0], x, size[0])
                    * tent(coordinates[1], y, size[1])
                    * if size[2] > 1 { tent(coordinates[2], z, size[2]) } else { 1.0 };
                sum += weight * noise(noise_of, [x, y, z]);
            }
        }
    }
    sum
}

proptest! {
    #[test]
    fn linear_filters_are_sums_of_tents(
        x in -1.0_f64..2.0, y in -1.0_f64..2.0, z in 0.0_f64..1.0,
        width in 1_u32..9, height in 1_u32..9, depth in 1_u32..5,
    ) {
        let axes = if depth > 1 { 3 } else { 2 };
        let mut texels = Noise { size: [width, height, depth], levels: 1 };
        let value = lookup(axes, [x, y, z], 0.0).sample(&mut texels, &sampler(1, 0, 0)).unwrap()[0];
        let expected = slow(0, [width, height, depth], [x, y, z]);
        prop_assert!((value - expected).abs() < 1.0e-6 * 65536.0 * 1.0e-3, "{value} {expected}");
    }

    #[test]
    fn levels_are_blended_by_the_fraction_of_the_level_of_detail(x in 0.0_f64..1.0, y in 0.0_f64..1.0, lod in 0.0_f32..5.0) {
        let mut texels = Noise { size: [16, 16, 1], levels: 4 };
        let value = lookup(2, [x, y, 0.0], lod).sample(&mut texels, &sampler(1, 2, 0)).unwrap()[0];
        let lod = f64::from(lod).min(3.0);
        let level = |number: u32| slow(number, [16 >> number, 16 >> number, 1], [x, y, 0.0]);
        let (first, part) = (lod.floor() as u32, lod.fract());
        let expected = level(first) * (1.0 - part) + if part > 0.0 { level(first + 1) * part } else { 0.0 };
        prop_assert!((value - expected).abs() < 1.0e-3, "{value} {expected}");
    }

    #[test]
    fn the_nearest_texel_holds_the_coordinate(x in 0.0_f64..1.0, y in 0.0_f64..1.0, width in 1_u32..40, height in 1_u32..40) {
        let mut texels = Noise { size: [width, height, 1], levels: 1 };
        let value = lookup(2, [x, y, 0.0], 0.0).sample(&mut texels, &sampler(0, 0, 2)).unwrap()[0];
        let at = |coordinate: f64, size: u32| ((coordinate * f64::from(size)) as u32).min(size - 1);
        prop_assert_eq!(value, noise(0, [at(x, width), at(y, height), 0]));
    }

    #[test]
    fn gathered_texels_are_those_of_a_linear_filter(x in 0.1_f64..0.9, y in 0.1_f64..0.9) {
        let mut texels = Noise { size: [8, 8, 1], levels: 1 };
        let place = lookup(2, [x, y, 0.0], 0.0);
        let gathered = place.gather(&mut texels, &sampler(0, 0, 2)).unwrap().map(|texel| texel[0]);
        let (left, right) = split(x * 8.0 - 0.5);
        let (top, down) = split(y * 8.0 - 0.5);
        let at = |dx: i64, dy: i64| noise(0, [(left + dx) as u32, (top + dy) as u32, 0]);
        prop_assert_eq!(gathered, [at(0, 1), at(1, 1), at(1, 0), at(0, 0)]);
        let blended = place.sample(&mut texels, &sampler(1, 0, 2)).unwrap()[0];
        let [a, b, c, d] = gathered;
        let sum = (d * (1.0 - right) + c * right) * (1.0 - down) + (a * (1.0 - right) + b * right) * down;
        prop_assert!((sum - blended).abs() < 1.0e-6);
    }
}

#[test]
fn half_way_between_two_levels_the_larger_is_the_nearest() {
    assert_eq!(mip(MipFilter::Point, 0.5, 3), (0, 0.0));
    assert_eq!(mip(MipFilter::Point, 0.51, 3), (1, 0.0));
    assert_eq!(mip(MipFilter::Point, 9.0, 3), (2, 0.0));
    assert_eq!(mip(MipFilter::Linear, 1.25, 3), (1, 0.25));
    assert_eq!(mip(MipFilter::Linear, 2.0, 3), (2, 0.0));
    assert_eq!(mip(MipFilter::Base, 2.0, 3), (0, 0.0));
}

#[test]
fn magnified_and_minified_texels_have_filters_of_their_own() {
    let mut texels = Noise { size: [4, 1, 1], levels: 1 };
    let mut mixed = sampler(0, 0, 2);
    mixed.mag_linear = true;
    let mut at = |lod| lookup(1, [0.5, 0.0, 0.0], lod).sample(&mut texels, &mixed).unwrap()[0];
    let (one, two) = (noise(0, [1, 0, 0]), noise(0, [2, 0, 0]));
    assert!((at(0.0) - f64::midpoint(one, two)).abs() < 1.0e-9);
    assert!((at(0.1) - two).abs() < 1.0e-9);
}

#[test]
fn borders_and_comparisons_are_blended() {
    let mut texels = Noise { size: [4, 4, 1], levels: 1 };
    let mut compares = sampler(1, 0, 6);
    let border = lookup(2, [0.0, 0.5, 0.0], 0.0);
    let inside = f64::midpoint(noise(0, [0, 1, 0]), noise(0, [0, 2, 0]));
    let value = border.sample(&mut texels, &compares).unwrap()[0];
    assert!((value - f64::midpoint(inside, -1.0)).abs() < 1.0e-9);
    // Greater: everything is greater than the border, and nothing in the image is below zero.
    compares.compare = 4;
    let shadow = Lookup { reference: Some(-0.5), ..border };
    assert_eq!(shadow.sample(&mut texels, &compares).unwrap()[0], 0.5);
}

#[test]
fn reductions_take_the_least_or_the_most() {
    let mut texels = Noise { size: [2, 1, 1], levels: 1 };
    let both = [noise(0, [0, 0, 0]), noise(0, [1, 0, 0])];
    for (reduction, expected) in [(Reduction::Min, both[0].min(both[1])), (Reduction::Max, both[0].max(both[1]))] {
        let sampler = Sampler { reduction, ..sampler(1, 0, 2) };
        assert_eq!(lookup(1, [0.4, 0.0, 0.0], 0.0).sample(&mut texels, &sampler).unwrap()[0], expected);
    }
}

#[test]
fn cubes_blend_over_their_edges_and_corners() {
    let mut texels = Noise { size: [4, 4, 1], levels: 1 };
    let cube = |x, y| Lookup { dimensionality: Dimensionality::Cube, face: 4, ..lookup(2, [x, y, 0.0], 0.0) };
    let linear = sampler(1, 0, 2);
    // The left edge of +z touches the right edge of +x's opposite.
    let edge = cube(0.0, 0.125).sample(&mut texels, &linear).unwrap()[0];
    let expected = f64::midpoint(noise(0, [0, 0, 4]), noise(0, [3, 0, 1]));
    assert!((edge - expected).abs() < 1.0e-9, "{edge} {expected}");
    let corner = cube(0.0, 0.0).sample(&mut texels, &linear).unwrap()[0];
    let expected = (noise(0, [0, 0, 4]) + noise(0, [3, 0, 1]) + noise(0, [0, 3, 2])) / 3.0;
    assert!((corner - expected).abs() < 1.0e-9, "{corner} {expected}");
}
