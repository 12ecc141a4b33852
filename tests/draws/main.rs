//! Draws through the library on simulated chips: the picture of the example, and states that no driver would make.

mod absurd;
#[path = "../../examples/commands/draw.rs"]
#[expect(dead_code, reason = "the example's own main")]
mod example;
mod hostile;
mod rig;

use amdgpu_sim::{SimKernel, profile};
use amdgpu_winsys::winsys::Device;

use example::{BACKGROUND, HEIGHT, WIDTH, draw};

/// A chip of each generation.
pub(crate) const CHIPS: [&str; 9] =
    ["pitcairn", "bonaire", "polaris10", "vega10", "navi10", "navi21", "navi31", "gfx1150", "gfx1201"];

/// Returns the colour of the example's triangle at the centre of a pixel, in steps of 8 bits; `None` outside.
fn expected(x: u32, y: u32) -> Option<[f64; 4]> {
    // Corners in pixels, clockwise.
    let corners = [[0.0, -0.875], [0.75, 0.75], [-0.75, 0.75]]
        .map(|[x, y]: [f64; 2]| [(x + 1.0) * f64::from(WIDTH) / 2.0, (y + 1.0) * f64::from(HEIGHT) / 2.0]);
    let at = [f64::from(x) + 0.5, f64::from(y) + 0.5];
    let side =
        |from: [f64; 2], to: [f64; 2]| (to[0] - from[0]) * (at[1] - from[1]) - (to[1] - from[1]) * (at[0] - from[0]);
    let shares = [1, 2, 0].map(|next: usize| side(corners[next], corners[(next + 1) % 3]));
    let area: f64 = shares.iter().sum();
    // No edge goes through the centre of a pixel, so that the rule of edges does not matter here.
    shares.iter().all(|share| *share > 0.0).then(|| {
        let [red, green, blue] = shares.map(|share| share / area * 255.0);
        [red, green, blue, 255.0]
    })
}

#[test]
fn the_example_draws_its_triangle_on_every_generation() {
    for chip in CHIPS {
        let device = Device::new(SimKernel::open(profile(chip).expect("a known chip"))).unwrap();
        let pixels = draw(&device).unwrap_or_else(|error| panic!("{chip}: {error}"));
        let mut drawn = 0;
        for (at, pixel) in (0..).zip(pixels.as_chunks::<4>().0) {
            let (x, y) = (at % WIDTH, at / WIDTH);
            match expected(x, y) {
                None => assert_eq!(*pixel, BACKGROUND, "{chip}: ({x}, {y})"),
                Some(colour) => {
                    drawn += 1;
                    let is_near =
                        colour.iter().zip(pixel).all(|(value, found)| (value - f64::from(*found)).abs() <= 1.5);
                    assert!(is_near, "{chip}: ({x}, {y}) is {pixel:?}, expected {colour:?}");
                }
            }
        }
        assert!(drawn > WIDTH * HEIGHT / 4, "{chip}: {drawn}");
    }
}
