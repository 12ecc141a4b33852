//! Addressing along one axis: the texel of a coordinate, and coordinates outside of the image.

/// Addressing outside of an image, by the numbers of SQ_TEX_CLAMP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Clamp {
    Wrap,
    Mirror,
    LastTexel,
    MirrorOnceLastTexel,
    HalfBorder,
    MirrorOnceHalfBorder,
    Border,
    MirrorOnceBorder,
}

impl Clamp {
    /// Returns the mode of a number of three bits.
    pub(crate) fn new(number: u8) -> Self {
        match number & 7 {
            0 => Self::Wrap,
            1 => Self::Mirror,
            2 => Self::LastTexel,
            3 => Self::MirrorOnceLastTexel,
            4 => Self::HalfBorder,
            5 => Self::MirrorOnceHalfBorder,
            6 => Self::Border,
            _ => Self::MirrorOnceBorder,
        }
    }

    /// Returns the texel of a place that may lie outside of `0..size`; `None` for the border.
    fn texel(self, place: i64, size: u32) -> Option<u32> {
        let size = i64::from(size.max(1));
        let once = |place: i64| if place < 0 { -1 - place } else { place };
        let inside = |place: i64| (0..size).contains(&place).then_some(place);
        let texel = match self {
            Self::Wrap => Some(place.rem_euclid(size)),
            Self::Mirror => {
                let turn = place.rem_euclid(2 * size);
                Some(if turn < size { turn } else { 2 * size - 1 - turn })
            }
            Self::LastTexel => Some(place.clamp(0, size - 1)),
            Self::MirrorOnceLastTexel => Some(once(place).min(size - 1)),
            Self::HalfBorder | Self::Border => inside(place),
            Self::MirrorOnceHalfBorder | Self::MirrorOnceBorder => inside(once(place)),
        };
        texel.and_then(|texel| u32::try_from(texel).ok())
    }

    /// Returns a coordinate in texels, held half way to the border where the mode says so.
    fn held(self, coordinate: f64, size: u32) -> f64 {
        match self {
            Self::HalfBorder => coordinate.clamp(0.0, size.into()),
            Self::MirrorOnceHalfBorder => coordinate.abs().min(size.into()),
            _ => coordinate,
        }
    }
}

/// Texels along one axis, with their weights: one, or two neighbours. `None` is the border.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) texels: [Option<u32>; 2],
    pub(crate) weights: [f64; 2],
}

impl Span {
    /// Returns a single texel.
    pub(crate) fn one(texel: u32) -> Self {
        Self { texels: [Some(texel); 2], weights: [1.0, 0.0] }
    }
}

/// Places beyond which coordinates are the same as far outside.
const FAR: f64 = (1_u64 << 40) as f64;

/// Returns the texel of a coordinate in texels, and the distance of the coordinate from the texel's start. Infinities are far
/// outside; NaN is 0.
pub(crate) fn split(coordinate: f64) -> (i64, f64) {
    let coordinate = if coordinate.is_nan() { 0.0 } else { coordinate.clamp(-FAR, FAR) };
    let start = coordinate.floor();
    (start as i64, coordinate - start)
}

/// Returns the nearest texel of a coordinate, counted in texels.
pub(crate) fn nearest(clamp: Clamp, coordinate: f64, offset: i32, size: u32) -> Span {
    let (place, _) = split(clamp.held(coordinate, size));
    let place = place + i64::from(offset);
    let half = matches!(clamp, Clamp::HalfBorder | Clamp::MirrorOnceHalfBorder);
    let place = if half { place.min(i64::from(size) - 1) } else { place };
    Span { texels: [clamp.texel(place, size); 2], weights: [1.0, 0.0] }
}

/// Returns the two texels around a coordinate, counted in texels, with the weights of a linear blend.
pub(crate) fn linear(clamp: Clamp, coordinate: f64, offset: i32, size: u32) -> Span {
    let (place, fraction) = split(clamp.held(coordinate, size) - 0.5);
    let place = place + i64::from(offset);
    Span { texels: [clamp.texel(place, size), clamp.texel(place + 1, size)], weights: [1.0 - fraction, fraction] }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Walks from texel to texel, as a reader would on paper.
    fn slow(clamp: Clamp, place: i64, size: i64) -> Option<i64> {
        let mut place = place;
        match clamp {
            Clamp::Wrap => {
                while place < 0 {
                    place += size;
                }
                while place >= size {
                    place -= size;
                }
            }
            Clamp::Mirror => {
                while !(0..size).contains(&place) {
                    place = if place < 0 { -place - 1 } else { 2 * size - 1 - place };
                }
            }
            Clamp::LastTexel | Clamp::MirrorOnceLastTexel => {
                if clamp == Clamp::MirrorOnceLastTexel && place < 0 {
                    place = -place - 1;
                }
                place = place.max(0).min(size - 1);
            }
            Clamp::MirrorOnceHalfBorder | Clamp::MirrorOnceBorder if place < 0 => place = -place - 1,
            _ => {}
        }
        (0..size).contains(&place).then_some(place)
    }

    proptest! {
        #[test]
        fn modes_are_those_of_a_walk(number in 0_u8..8, place in -200_i64..200, size in 1_u32..40) {
            let clamp = Clamp::new(number);
            prop_assert_eq!(clamp.texel(place, size).map(i64::from), slow(clamp, place, size.into()));
        }

        #[test]
        fn linear_weights_are_the_distances_to_centres(coordinate in -50.0_f64..50.0, size in 1_u32..40) {
            let span = linear(Clamp::Wrap, coordinate, 0, size);
            prop_assert!((span.weights[0] + span.weights[1] - 1.0).abs() < 1.0e-12);
            for (texel, weight) in span.texels.into_iter().zip(span.weights) {
                let centre = f64::from(texel.unwrap()) + 0.5;
                let size = f64::from(size);
                let away = (coordinate - centre).rem_euclid(size);
                let distance = away.min(size - away);
                // In an image of one or two texels a texel is its own neighbour on the other side, too.
                prop_assert!((1.0 - distance - weight).abs() < 1.0e-9 || size < 3.0, "{distance} {weight}");
            }
        }
    }

    #[test]
    fn what_is_not_a_number_does_not_reach_outside() {
        for coordinate in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1.0e300] {
            for number in 0..8 {
                for texel in linear(Clamp::new(number), coordinate, 7, 5).texels.into_iter().flatten() {
                    assert!(texel < 5);
                }
            }
        }
    }
}
