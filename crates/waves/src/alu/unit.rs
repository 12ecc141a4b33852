//! The vector instructions of the processor that executes the waves.

use fearless_simd::{Avx2, Avx512, Level};

/// The vector instructions with which all lanes of an operation are computed. They do not affect results.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Unit {
    /// Those of [`Baseline`](Self::Baseline), and every instruction of a shader is executed by its general rule, an access lane by lane:
    /// what the shortcuts for frequent forms are compared with.
    Plain,
    /// The instructions that all processors of the target have.
    Baseline,
    /// AVX2 and FMA, which this processor has.
    Avx2(Avx2),
    /// AVX-512 as Ice Lake and Zen 4 have it, which this processor has.
    Avx512(Avx512),
}

impl Unit {
    /// Returns the widest vector instructions of this processor.
    pub(crate) fn detect() -> Self {
        Level::new().as_avx512().map_or_else(Self::detect_avx2, Self::Avx512)
    }

    /// Returns AVX2 and FMA, if this processor has them.
    pub(crate) fn detect_avx2() -> Self {
        Level::new().as_avx2().map_or(Self::Baseline, Self::Avx2)
    }

    /// Returns `true` unless every instruction is executed by its general rule.
    pub(crate) fn takes_shortcuts(self) -> bool {
        !matches!(self, Self::Plain)
    }
}

/// Compiles a function over all lanes for each [`Unit`], which becomes its first argument. In the body `FUSES` is `true` if a fused
/// multiply-add is one instruction.
macro_rules! for_each_unit {
    (|$($name:ident: $ty:ty),*| $body:block) => {
        |unit, $($name),*| {
            #[inline(always)]
            fn body<const FUSES: bool>($($name: $ty),*) $body
            match unit {
                $crate::alu::unit::Unit::Baseline | $crate::alu::unit::Unit::Plain => body::<false>($($name),*),
                $crate::alu::unit::Unit::Avx2(avx2) => {
                    fearless_simd::Simd::vectorize(avx2, #[inline(always)] move || body::<true>($($name),*))
                }
                $crate::alu::unit::Unit::Avx512(avx512) => {
                    fearless_simd::Simd::vectorize(avx512, #[inline(always)] move || body::<true>($($name),*))
                }
            }
        }
    };
}

/// Compiles a function of a result and operands, which does not ask for the mode, as [`for_each_unit`] does. Two references are passed in
/// registers of the host; a third argument would be stored and loaded.
macro_rules! for_each_unit_alone {
    (|$out:ident: $out_type:ty, $sources:ident: $sources_type:ty| $body:block) => {
        |unit: $crate::alu::unit::Unit, $out: $out_type, $sources: $sources_type, _: $crate::number::mode::Mode| {
            let run = $crate::alu::unit::for_each_unit!(|$out: $out_type, $sources: $sources_type| $body);
            run(unit, $out, $sources)
        }
    };
}

pub(crate) use for_each_unit;
pub(crate) use for_each_unit_alone;

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{
        alu::{
            kernel::{Kernel, LANES, Lanes, Operation, WideLanes},
            kernels,
        },
        number::mode::Mode,
    };

    /// Words whose halves and wholes are numbers at the edges of 16, 32 and 64 bits: zeroes, denormals, infinities, NaNs.
    const EDGES: [u64; 12] = [
        0,
        0x8000_0000_8000_8000,
        1,
        0x0010_0000_0080_0400,
        0x8000_0000_807f_83ff,
        0x3ff0_0000_3f80_3c00,
        0x7ff0_0000_7f80_7c00,
        0xfff0_0000_ff80_fc00,
        0x7ff8_0000_7fc1_7e01,
        0x7ff4_0000_7fa0_7d00,
        0x7fef_ffff_7f7f_7bff,
        u64::MAX,
    ];

    fn operand() -> impl Strategy<Value = u64> {
        prop_oneof![
            any::<u64>(),
            prop::sample::select(&EDGES[..]),
            any::<f32>().prop_map(|value| value.to_bits().into())
        ]
    }

    /// Returns what each kernel of an operation leaves.
    fn results(operation: &Operation, unit: Unit, wide: [&WideLanes; 3], mode: Mode) -> Vec<(WideLanes, Lanes)> {
        let narrow = wide.map(|lanes| lanes.map(|value| value as u32));
        let mut kernels = vec![operation.kernel];
        kernels.extend([operation.flushing, operation.clean].into_iter().flatten().map(Kernel::Narrow));
        let one = |kernel| {
            let (mut out, mut wide_out, mut carries) = ([0; LANES], [0; LANES], [0; LANES]);
            match kernel {
                Kernel::Narrow(function) => function(unit, &mut out, &narrow.each_ref(), mode),
                Kernel::NarrowCarry(function) => function(unit, &mut out, &mut carries, &narrow.each_ref()),
                Kernel::Wide(function) => function(unit, &mut wide_out, &wide, mode),
                Kernel::WideCarry(function) => function(unit, &mut wide_out, &mut carries, &wide),
            }
            if operation.result.dwords() == 1 && wide_out == [0; LANES] {
                wide_out = out.map(u64::from);
            }
            (wide_out, carries)
        };
        kernels.into_iter().map(one).collect()
    }

    proptest! {
        #[test]
        fn every_operation_gives_the_same_bits_with_all_vector_instructions(
            values in vec(operand(), 3 * LANES), mode in any::<u32>()
        ) {
            let lanes: [WideLanes; 3] = std::array::from_fn(|index| std::array::from_fn(|lane| values[LANES * index + lane]));
            let lanes = lanes.each_ref();
            for operation in kernels::operations() {
                let baseline = results(operation, Unit::Baseline, lanes, Mode(mode));
                for unit in [Unit::detect_avx2(), Unit::detect()] {
                    let found = results(operation, unit, lanes, Mode(mode));
                    prop_assert_eq!(found, baseline.clone(), "{:?} {:?}", unit, operation.ops);
                }
            }
        }
    }
}
