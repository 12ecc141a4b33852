//! Samples: the mask of samples that a shader's alpha or its invocation stands for.

use crate::AlphaToMask;

/// Returns the samples that an iteration of the pixel shader computes: each `iterations`-th one.
///
/// Source: Mesa 25.0.7 `ac_get_ps_iter_mask`, which says that the fixed functions do so.
pub(in crate::execute) fn of_iteration(number: u32, iterations: u32) -> u16 {
    if iterations <= 1 {
        return u16::MAX;
    }
    (0..16).filter(|sample| sample % iterations == number).fold(0, |mask, sample| mask | 1 << sample)
}

/// Returns the samples that an alpha covers, of `samples`. Each pixel of a quad has an offset of its own, in quarters of a sample, so
/// that neighbours round differently.
///
/// How many samples an alpha covers is the hardware's to choose: the Vulkan specification wants none for 0, all for 1, and more for
/// more. So are the samples, which are the first ones here.
pub(in crate::execute) fn of_alpha(state: &AlphaToMask, alpha: f32, [x, y]: [i32; 2], samples: u32) -> u16 {
    let offset = state.offsets[((y & 1) << 1 | x & 1) as usize] as f32;
    let threshold = (offset + if state.rounds { 0.5 } else { 0.0 }) / 4.0;
    // What is not a number covers nothing.
    let count = (alpha.clamp(0.0, 1.0) * samples as f32 + threshold).floor() as u32;
    let count = if alpha <= 0.0 { 0 } else { count.min(samples) };
    ((1_u32 << count) - 1) as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn iterations_share_the_samples_out() {
        assert_eq!(of_iteration(0, 1), u16::MAX);
        assert_eq!([0, 1].map(|number| of_iteration(number, 2) & 15), [0b0101, 0b1010]);
        assert_eq!([0, 1, 2, 3].map(|number| of_iteration(number, 4) & 15), [1, 2, 4, 8]);
    }

    #[test]
    fn alpha_covers_more_samples_the_larger_it_is_and_pixels_of_a_quad_differ() {
        let dithered = AlphaToMask { offsets: [3, 1, 0, 2], rounds: true };
        let plain = AlphaToMask { offsets: [2; 4], rounds: false };
        for state in [dithered, plain] {
            for pixel in [[0, 0], [1, 0], [0, 1], [1, 1]] {
                let counts: Vec<u32> =
                    (0..=32_u8).map(|step| of_alpha(&state, f32::from(step) / 32.0, pixel, 4).count_ones()).collect();
                assert_eq!((counts[0], counts[32]), (0, 4));
                assert!(counts.is_sorted());
            }
        }
        let halves: Vec<u32> =
            [[0, 0], [1, 0], [0, 1], [1, 1]].map(|pixel| of_alpha(&dithered, 0.625, pixel, 4).count_ones()).into();
        assert_eq!(halves, [3, 2, 2, 3]);
        assert_eq!(of_alpha(&plain, f32::NAN, [0, 0], 4), 0);
    }
}
