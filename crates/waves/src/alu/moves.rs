//! Loops over all lanes that move or change bits without an operation of the instruction sets.
//!
//! They are compiled for each [`Unit`], like operations: a vector that the host writes in two pieces and reads as one costs
//! more than the operation in between.

use super::{
    kernel::{LANES, Lanes, WideLanes, flush32},
    unit::{Unit, for_each_unit},
};

/// Writes one value to all lanes.
#[inline]
pub(crate) fn fill(unit: Unit, to: &mut Lanes, value: u32) {
    let run = for_each_unit!(|to: &mut Lanes, value: u32| {
        *to = [value; LANES];
    });
    run(unit, to, value);
}

/// Copies all lanes.
#[inline]
pub(crate) fn copy(unit: Unit, to: &mut Lanes, from: &Lanes) {
    let run = for_each_unit!(|to: &mut Lanes, from: &Lanes| {
        *to = *from;
    });
    run(unit, to, from);
}

/// Copies all lanes with the bits of `kept` alone, then changes those of `flipped`.
#[inline]
pub(crate) fn change(unit: Unit, to: &mut Lanes, from: &Lanes, (kept, flipped): (u32, u32)) {
    let run = for_each_unit!(|to: &mut Lanes, from: &Lanes, kept: u32, flipped: u32| {
        for lane in 0..LANES {
            to[lane] = from[lane] & kept ^ flipped;
        }
    });
    run(unit, to, from, kept, flipped);
}

/// Copies all lanes, with zeroes for the denormals of 32 bits.
#[inline]
pub(crate) fn flushed(unit: Unit, to: &mut Lanes, from: &Lanes) {
    let run = for_each_unit!(|to: &mut Lanes, from: &Lanes| {
        for lane in 0..LANES {
            to[lane] = flush32(from[lane]);
        }
    });
    run(unit, to, from);
}

/// Replaces denormals of 32 bits by zeroes.
#[inline]
pub(crate) fn flush(unit: Unit, lanes: &mut Lanes) {
    let run = for_each_unit!(|lanes: &mut Lanes| {
        for lane in 0..LANES {
            lanes[lane] = flush32(lanes[lane]);
        }
    });
    run(unit, lanes);
}

/// Returns `true` if a lane holds a denormal of 32 bits.
#[inline]
pub(crate) fn has_denormals(unit: Unit, lanes: &Lanes) -> bool {
    let run = for_each_unit!(|found: &mut u32, lanes: &Lanes| {
        *found = 0;
        for lane in 0..LANES {
            *found |= lanes[lane] ^ flush32(lanes[lane]);
        }
    });
    let mut found = 0;
    run(unit, &mut found, lanes);
    found != 0
}

/// Makes 0 of 0, and all bits of 1.
#[inline]
pub(crate) fn negate(unit: Unit, lanes: &mut Lanes) {
    let run = for_each_unit!(|lanes: &mut Lanes| {
        for lane in 0..LANES {
            lanes[lane] = lanes[lane].wrapping_neg();
        }
    });
    run(unit, lanes);
}

/// Copies the bits that are set in `mask`.
#[inline]
pub(crate) fn blend(unit: Unit, to: &mut Lanes, from: &Lanes, mask: &Lanes) {
    let run = for_each_unit!(|to: &mut Lanes, from: &Lanes, mask: &Lanes| {
        for lane in 0..LANES {
            to[lane] = to[lane] & !mask[lane] | from[lane] & mask[lane];
        }
    });
    run(unit, to, from, mask);
}

/// Writes words of 64 bits, of a low and a high half each.
#[inline]
pub(crate) fn join(unit: Unit, to: &mut WideLanes, low: &Lanes, high: &Lanes) {
    let run = for_each_unit!(|to: &mut WideLanes, low: &Lanes, high: &Lanes| {
        for lane in 0..LANES {
            to[lane] = u64::from(low[lane]) | u64::from(high[lane]) << 32;
        }
    });
    run(unit, to, low, high);
}

/// Copies the low halves of words, or the high halves.
#[inline]
pub(crate) fn halves(unit: Unit, to: &mut Lanes, from: &WideLanes, high: bool) {
    let run = for_each_unit!(|to: &mut Lanes, from: &WideLanes, shift: u32| {
        for lane in 0..LANES {
            to[lane] = (from[lane] >> shift) as u32;
        }
    });
    run(unit, to, from, if high { 32 } else { 0 });
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn all_lanes_are_moved_as_one_lane_is(
            values in prop::collection::vec(any::<u32>(), 3 * LANES), kept in any::<u32>(), flipped in any::<u32>(),
        ) {
            let [a, b, c]: [Lanes; 3] = std::array::from_fn(|index| std::array::from_fn(|lane| values[LANES * index + lane]));
            // Every second value is a denormal, or nearly one.
            let a: Lanes = std::array::from_fn(|lane| if lane % 2 == 0 { a[lane] & 0x81ff_ffff } else { a[lane] });
            for unit in [Unit::Baseline, Unit::detect_avx2(), Unit::detect()] {
                let (mut narrow, mut wide) = ([0; LANES], [0; LANES]);
                fill(unit, &mut narrow, kept);
                prop_assert_eq!(narrow, [kept; LANES]);
                copy(unit, &mut narrow, &a);
                prop_assert_eq!(narrow, a);
                change(unit, &mut narrow, &a, (kept, flipped));
                prop_assert_eq!(narrow, a.map(|value| value & kept ^ flipped));
                flushed(unit, &mut narrow, &a);
                prop_assert_eq!(narrow, a.map(flush32));
                narrow = a;
                flush(unit, &mut narrow);
                prop_assert_eq!(narrow, a.map(flush32));
                narrow = a;
                negate(unit, &mut narrow);
                prop_assert_eq!(narrow, a.map(u32::wrapping_neg));
                narrow = a;
                blend(unit, &mut narrow, &b, &c);
                prop_assert_eq!(narrow, std::array::from_fn(|lane| a[lane] & !c[lane] | b[lane] & c[lane]));
                join(unit, &mut wide, &a, &b);
                prop_assert_eq!(wide, std::array::from_fn(|lane| u64::from(a[lane]) | u64::from(b[lane]) << 32));
                halves(unit, &mut narrow, &wide, false);
                prop_assert_eq!(narrow, a);
                halves(unit, &mut narrow, &wide, true);
                prop_assert_eq!(narrow, b);
            }
        }
    }
}
