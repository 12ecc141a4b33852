//! Conversion between lane masks and an array with a word for each lane.

use fearless_simd::{Simd, prelude::*, u32x8};

use super::{
    kernel::{LANES, Lanes},
    unit::{Unit, for_each_unit},
};

/// Returns the lanes whose value has its lowest bit set.
pub(crate) fn gather(unit: Unit, values: &Lanes) -> u64 {
    match unit {
        Unit::Plain | Unit::Baseline => gather_bytes(values),
        Unit::Avx2(simd) => gather_vectors(simd, values),
        Unit::Avx512(simd) => gather_vectors(simd, values),
    }
}

/// Does the work of [`gather`] by comparisons of vectors.
#[inline(always)]
fn gather_vectors<S: Simd>(simd: S, values: &Lanes) -> u64 {
    simd.vectorize(
        #[inline(always)]
        || {
            let one = u32x8::splat(simd, 1);
            values.as_chunks::<8>().0.iter().rev().fold(0, |mask, eight| {
                let set = (u32x8::from_slice(simd, eight) & one).simd_eq(one);
                mask << 8 | set.to_bitmask()
            })
        },
    )
}

/// Does the work of [`gather`] on every processor.
fn gather_bytes(values: &Lanes) -> u64 {
    let mut bytes = [0; LANES];
    for (byte, value) in bytes.iter_mut().zip(values) {
        *byte = (value & 1) as u8;
    }
    // The product moves the lowest bit of byte n to bit 56 + n, without collisions.
    let byte = |eight: &[u8; 8]| u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
    bytes.as_chunks().0.iter().rev().fold(0, |mask, eight| mask << 8 | byte(eight))
}

/// Writes 1 for the lanes of a mask, and 0 for the others.
pub(crate) fn spread(unit: Unit, mask: u64, to: &mut Lanes) {
    let run = for_each_unit!(|mask: u64, to: &mut Lanes| {
        let (low, high) = to.split_at_mut(LANES / 2);
        for (half, word) in [(low, mask as u32), (high, (mask >> 32) as u32)] {
            // A comparison is used because not all vector units can shift by a different count in each lane.
            for (lane, to) in half.iter_mut().enumerate() {
                *to = u32::from(word & 1 << lane != 0);
            }
        }
    });
    run(unit, mask, to);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_mask_has_the_lowest_bit_of_each_lane(mask in any::<u64>(), above in any::<u32>()) {
            for unit in [Unit::Baseline, Unit::detect_avx2(), Unit::detect()] {
                let mut lanes = [above; LANES];
                spread(unit, mask, &mut lanes);
                prop_assert_eq!(lanes, std::array::from_fn(|lane| (mask >> lane) as u32 & 1));
                prop_assert_eq!(gather(unit, &lanes.map(|bit| bit | above & !1)), mask);
            }
        }
    }
}
