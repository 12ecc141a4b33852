//! Pictures: a rectangle of one colour, triangles, depth, and a texture.

use amdgpu_descriptors::{format::Format, pipeline::Primitive};
use amdgpu_isa::graphics::Shade;

use super::{
    bench::Picture,
    model::{self, Corner, Pixel, UNIT},
};
use crate::{
    checks::{
        check::Check,
        shaders::picture::{self, HEIGHT, Tiled, WIDTH},
    },
    gpu::{pattern::pattern_dwords, test_context::TestContext},
    result::outcome::Outcome,
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("draw.clear", "a rectangle fills its pixels of a colour target, and no others", clear)
        .needs("a graphics ring"),
    Check::once("draw.triangle", "triangles cover the pixels of the top-left rule and interpolate", triangle)
        .needs("a graphics ring"),
    Check::once("draw.depth", "the nearest of overlapping triangles is seen, and its depth is stored", depth)
        .needs("a graphics ring"),
    Check::once("draw.texture", "a triangle shows the texels of a texture", texture).needs("a graphics ring"),
];

/// The size of pictures in pixels: a power of two.
const SIZE: [u32; 2] = [64, 64];

/// Returns a corner in pixels and parts of 1/256 pixel.
const fn corner(x: [i64; 2], y: [i64; 2], z: f32, w: f32, parameter: [f32; 4]) -> Corner {
    Corner { place: [x[0] * UNIT + x[1], y[0] * UNIT + y[1]], z, w, parameter }
}

fn clear(test: &TestContext<'_>) -> Outcome {
    // Steps of 8 bits, so that nothing is rounded.
    let steps = [0x33_u8, 0xcc, 0x66, 0xff];
    let user = steps.map(|step| (f32::from(step) / 255.0).to_bits());
    let parameter = steps.map(|step| f64::from(step) / 255.0);
    let (left, top, right, bottom) = ([9, 0], [5, 128], [52, 0], [41, 0]);
    let corners = [(left, top), (left, bottom), (right, top)].map(|(x, y)| corner(x, y, 0.0, 1.0, [0.0; 4]));
    let place = |[pixel, part]: [i64; 2]| pixel * UNIT + part;
    let expected = model::rectangle([place(left), place(top)], [place(right), place(bottom)], SIZE, parameter);
    let picture = Picture {
        size: SIZE,
        primitive: Primitive::Rectangles,
        corners: &corners,
        shade: Shade::Constant,
        user: &user,
        texture: None,
        depth: None,
        expected: &expected,
        tolerance: 0,
    };
    picture.run(test)
}

/// Colours whose red and blue differ everywhere.
const RED: [f32; 4] = [1.0, 0.25, 0.0, 1.0];
const ORANGE: [f32; 4] = [0.75, 0.5, 0.125, 0.5];
const BLUE: [f32; 4] = [0.0, 0.75, 1.0, 0.25];

fn triangle(test: &TestContext<'_>) -> Outcome {
    let corners = [
        // Two halves of a square, whose diagonal goes through centres of pixels, as do its upper and its left edge.
        corner([2, 128], [2, 128], 0.0, 1.0, RED),
        corner([26, 128], [2, 128], 0.0, 1.0, RED),
        corner([2, 128], [26, 128], 0.0, 1.0, ORANGE),
        corner([26, 128], [2, 128], 0.0, 1.0, BLUE),
        corner([2, 128], [26, 128], 0.0, 1.0, BLUE),
        corner([26, 128], [26, 128], 0.0, 1.0, BLUE),
        // A fan around a corner between pixels, counter-clockwise, in perspective.
        corner([44, 77], [20, 3], 0.5, 1.0, RED),
        corner([62, 1], [3, 200], 0.5, 4.0, ORANGE),
        corner([31, 19], [1, 1], 0.25, 2.0, BLUE),
        corner([44, 77], [20, 3], 0.5, 1.0, RED),
        corner([31, 19], [1, 1], 0.25, 2.0, BLUE),
        corner([30, 240], [50, 90], 0.75, 1.0, ORANGE),
        corner([44, 77], [20, 3], 0.5, 1.0, RED),
        corner([30, 240], [50, 90], 0.75, 1.0, ORANGE),
        corner([61, 100], [60, 60], 0.5, 8.0, BLUE),
        // A triangle between the centres of pixels, and one that leaves the picture.
        corner([10, 140], [40, 140], 0.0, 1.0, RED),
        corner([11, 100], [40, 140], 0.0, 1.0, RED),
        corner([10, 140], [41, 100], 0.0, 1.0, RED),
        corner([-20, 0], [35, 0], 0.0, 1.0, BLUE),
        corner([25, 0], [58, 17], 0.0, 1.0, RED),
        corner([-3, 0], [90, 0], 0.0, 1.0, ORANGE),
    ];
    let expected = model::triangles(&corners, SIZE, None);
    let picture = Picture {
        size: SIZE,
        primitive: Primitive::Triangles,
        corners: &corners,
        shade: Shade::Parameter,
        user: &[],
        texture: None,
        depth: None,
        expected: &expected,
        tolerance: 1,
    };
    picture.run(test)
}

fn depth(test: &TestContext<'_>) -> Outcome {
    let flat =
        |z: f32, colour: [f32; 4], places: [[i64; 2]; 3]| places.map(|[x, y]| corner([x, 0], [y, 0], z, 1.0, colour));
    // A middle one, a farther one that reaches beyond it, a nearer one over both, and one behind what was there before.
    let layers = [
        flat(0.5, RED, [[4, 4], [40, 8], [8, 44]]),
        flat(0.75, ORANGE, [[2, 20], [62, 2], [50, 62]]),
        flat(0.25, BLUE, [[20, 10], [44, 30], [12, 36]]),
        flat(0.9375, RED, [[0, 0], [64, 0], [0, 64]]),
    ];
    let corners = layers.as_flattened();
    let first = 0.875;
    let expected = model::triangles(corners, SIZE, Some(first));
    let picture = Picture {
        size: SIZE,
        primitive: Primitive::Triangles,
        corners,
        shade: Shade::Parameter,
        user: &[],
        texture: None,
        depth: Some(first),
        expected: &expected,
        tolerance: 1,
    };
    picture.run(test)
}

fn texture(test: &TestContext<'_>) -> Outcome {
    let texels = pattern_dwords(0x56 ^ test.settings.seed, (WIDTH * HEIGHT) as usize);
    let image = picture::Picture { format: Format::R8G8B8A8_UNORM, texels: &texels, is_output: false };
    let tiled = Tiled::new(test, &image)?;
    let size = [WIDTH, HEIGHT];
    // The texture is mirrored along both axes; coordinates at the centres of pixels are those of centres of texels.
    let [width, height] = size.map(i64::from);
    let places = [[0, 0], [width, 0], [0, height], [width, 0], [width, height], [0, height]];
    let corners = places.map(|[x, y]| {
        let coordinate = |at: i64| if at == 0 { 1.0 } else { 0.0 };
        corner([x, 0], [y, 0], 0.0, 1.0, [coordinate(x), coordinate(y), 0.0, 0.0])
    });
    let expected: Vec<Option<Pixel>> = texels
        .iter()
        .rev()
        .map(|texel| {
            let parameter = texel.to_le_bytes().map(|component| f64::from(component) / 255.0);
            Some(Pixel { parameter, depth: 0.0 })
        })
        .collect();
    let picture = Picture {
        size,
        primitive: Primitive::Triangles,
        corners: &corners,
        shade: Shade::Texture,
        user: &tiled.user,
        texture: Some(tiled.memory()),
        depth: None,
        expected: &expected,
        tolerance: 0,
    };
    picture.run(test)
}
