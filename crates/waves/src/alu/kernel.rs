//! Vector operations as functions over all lanes, and the macro that writes them.

use amdgpu_isa::Op;

use super::unit::Unit;
use crate::number::{half::Half, mode::Mode};

/// The number of lanes of the larger wave.
pub(crate) const LANES: usize = 64;

/// A 32-bit value of every lane.
pub(crate) type Lanes = [u32; LANES];

/// A 64-bit value of every lane.
pub(crate) type WideLanes = [u64; LANES];

/// The type of an operand: its size, the meaning of constants, and the modifiers that apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    F16,
    F32,
    F64,
    Int16,
    Int32,
    /// Bits of a float that are not computed with; sign modifiers apply, denormals are kept.
    Bits16,
    Bits32,
    Bits64,
    /// 64-bit integer; a literal is zero-extended.
    Unsigned64,
    /// 64-bit integer; a literal is sign-extended.
    Signed64,
    /// One bit of a lane mask.
    Mask,
}

impl Type {
    /// Returns the number of dwords.
    pub(crate) const fn dwords(self) -> u8 {
        match self {
            Self::F64 | Self::Bits64 | Self::Unsigned64 | Self::Signed64 => 2,
            _ => 1,
        }
    }

    /// Returns `true` if the type has 16 bits.
    pub(crate) const fn is_16_bits(self) -> bool {
        matches!(self, Self::F16 | Self::Bits16 | Self::Int16)
    }

    /// Returns the bit that negation changes; `None` for integers.
    pub(crate) fn sign_bit(self) -> Option<u32> {
        match self {
            Self::F16 | Self::Bits16 => Some(15),
            Self::F32 | Self::Bits32 => Some(31),
            Self::F64 | Self::Bits64 => Some(63),
            _ => None,
        }
    }
}

/// A value that lanes hold.
pub(crate) trait Lane: Copy {
    const TYPE: Type;

    fn from_word(word: u64) -> Self;
    fn word(self) -> u64;
}

macro_rules! lane {
    ($($ty:ty, $kind:ident, |$word:ident| $from:expr, |$value:ident| $to:expr;)*) => {
        $(impl Lane for $ty {
            const TYPE: Type = Type::$kind;

            #[inline(always)]
            fn from_word($word: u64) -> Self {
                $from
            }

            #[inline(always)]
            fn word(self) -> u64 {
                let $value = self;
                $to
            }
        })*
    };
}

/// Bits of a float that are not computed with.
#[derive(Clone, Copy)]
pub(crate) struct Bits16(pub(crate) u16);

/// 32 bits that are moved without computation.
#[derive(Clone, Copy)]
pub(crate) struct Bits32(pub(crate) u32);

/// Bits of a float that are not computed with.
#[derive(Clone, Copy)]
pub(crate) struct Bits64(pub(crate) u64);

/// The NaN that operations produce from other values.
const NAN32: u32 = 0x7fc0_0000;
const NAN64: u64 = 0x7ff8_0000_0000_0000;

lane! {
    u32, Int32, |word| word as u32, |value| u64::from(value);
    i32, Int32, |word| word as i32, |value| u64::from(value as u32);
    u16, Int16, |word| word as u16, |value| u64::from(value);
    i16, Int16, |word| word as i16, |value| u64::from(value as u16);
    u64, Unsigned64, |word| word, |value| value;
    i64, Signed64, |word| word as i64, |value| value as u64;
    Half, F16, |word| Half(word as u16), |value| u64::from(value.0);
    Bits16, Bits16, |word| Bits16(word as u16), |value| u64::from(value.0);
    Bits32, Bits32, |word| Bits32(word as u32), |value| u64::from(value.0);
    Bits64, Bits64, |word| Bits64(word), |value| value.0;
    bool, Mask, |word| word & 1 != 0, |value| u64::from(value);
    f32, F32, |word| f32::from_bits(word as u32), |value| u64::from(if value.is_nan() { NAN32 } else { value.to_bits() });
    f64, F64, |word| f64::from_bits(word), |value| if value.is_nan() { NAN64 } else { value.to_bits() };
}

pub(crate) type Narrow = fn(Unit, &mut Lanes, &[&Lanes; 3], Mode);
type Wide = fn(Unit, &mut WideLanes, &[&WideLanes; 3], Mode);
pub(crate) type NarrowCarry = fn(Unit, &mut Lanes, &mut Lanes, &[&Lanes; 3]);
type WideCarry = fn(Unit, &mut WideLanes, &mut Lanes, &[&WideLanes; 3]);

/// The function of an operation.
#[derive(Clone, Copy)]
pub(crate) enum Kernel {
    /// Sources and result have up to 32 bits.
    Narrow(Narrow),
    /// A source or the result has 64 bits.
    Wide(Wide),
    /// 32 bits and a bit of a lane mask.
    NarrowCarry(NarrowCarry),
    /// 64 bits and a bit of a lane mask.
    WideCarry(WideCarry),
}

/// The form of an instruction that a kernel computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Rounded to nearest, or as MODE says if the operation has no other form; results wrap.
    Plain,
    /// Rounded as MODE says.
    Directed,
    /// The integer result saturates.
    Clamped,
    /// The instruction also writes a lane mask of carries.
    Carrying,
    /// As before, and the result saturates.
    CarryingClamped,
}

impl Form {
    /// The number of forms.
    pub(crate) const COUNT: usize = Self::CarryingClamped as usize + 1;
}

/// Properties of the types of an operation that decoding asks for. The compiler computes them.
pub(crate) struct Traits {
    /// The operands that are 32-bit floats, a bit each.
    pub(crate) floats: u8,
    /// An operand or the result has 16 bits.
    pub(crate) has_halves: bool,
    /// An operand or the result has 64 bits.
    pub(crate) is_wide: bool,
}

impl Traits {
    pub(crate) const fn new(sources: &[Type], result: Type) -> Self {
        let (mut floats, mut has_halves, mut is_wide) = (0, result.is_16_bits(), result.dwords() == 2);
        let mut index = 0;
        while index < sources.len() {
            floats |= (matches!(sources[index], Type::F32) as u8) << index;
            has_halves |= sources[index].is_16_bits();
            is_wide |= sources[index].dwords() == 2;
            index += 1;
        }
        Self { floats, has_halves, is_wide }
    }
}

/// A vector operation.
pub(crate) struct Operation {
    /// The operations of the tables that it computes, in this form.
    pub(crate) ops: &'static [Op],
    pub(crate) form: Form,
    pub(crate) sources: &'static [Type],
    pub(crate) result: Type,
    pub(crate) traits: Traits,
    pub(crate) kernel: Kernel,
    /// The kernel that also flushes 32-bit denormals to zero, in operands and the result.
    pub(crate) flushing: Option<Narrow>,
    /// The kernel that flushes them in the result, for operands that have none.
    pub(crate) clean: Option<Narrow>,
}

/// Returns zero of the same sign for the bits of a 32-bit denormal.
#[inline(always)]
pub(crate) fn flush32(bits: u32) -> u32 {
    // If the exponent is zero, all bits but the sign are cleared. Vector units compute this mask from the comparison.
    let denormal = u32::from(bits & 0x7f80_0000 == 0).wrapping_neg();
    bits & !(denormal >> 1)
}

/// Returns the bits of an operand that has no denormals.
#[inline(always)]
pub(crate) fn kept(bits: u32) -> u32 {
    bits
}

/// Defines a table of operations: those of the tables with their form if it is not the plain one, typed sources, the type of the result, and the result of one lane.
///
/// A kernel is `narrow` if no type has 64 bits, else `wide`; `narrow_carry` and `wide_carry` also give a bit. A `float` is `narrow`
/// with a second kernel that flushes denormals.
macro_rules! operations {
    ($table:ident; $($kind:ident [$($op:ident),+ $(; $form:ident)?] ($a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty)?)? $(; $mode:ident)?) -> $out:ty $body:block)*) => {
        pub(crate) static $table: &[$crate::alu::kernel::Operation] = &[
            $($crate::alu::kernel::Operation {
                ops: &[$(amdgpu_isa::Op::$op),+],
                form: $crate::alu::kernel::operations!(@form $($form)?),
                sources: &[<$ta as $crate::alu::kernel::Lane>::TYPE $(, <$tb as $crate::alu::kernel::Lane>::TYPE $(, <$tc as $crate::alu::kernel::Lane>::TYPE)?)?],
                result: <$out as $crate::alu::kernel::Lane>::TYPE,
                traits: $crate::alu::kernel::Traits::new(
                    &[<$ta as $crate::alu::kernel::Lane>::TYPE $(, <$tb as $crate::alu::kernel::Lane>::TYPE $(, <$tc as $crate::alu::kernel::Lane>::TYPE)?)?],
                    <$out as $crate::alu::kernel::Lane>::TYPE,
                ),
                kernel: $crate::alu::kernel::operations!(@$kind ($a: $ta $(, $b: $tb $(, $c: $tc)?)? $(; $mode)?) -> $out $body),
                flushing: $crate::alu::kernel::operations!(@flushing $kind flush32 ($a: $ta $(, $b: $tb $(, $c: $tc)?)? $(; $mode)?) -> $out $body),
                clean: $crate::alu::kernel::operations!(@flushing $kind kept ($a: $ta $(, $b: $tb $(, $c: $tc)?)? $(; $mode)?) -> $out $body),
            }),*
        ];
    };
    (@form) => {
        $crate::alu::kernel::Form::Plain
    };
    (@form $form:ident) => {
        $crate::alu::kernel::Form::$form
    };
    (@flushing float $operand:ident ($a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty)?)?) -> $out:ty $body:block) => {
        Some($crate::alu::unit::for_each_unit_alone!(|out: &mut $crate::alu::kernel::Lanes, sources: &[&$crate::alu::kernel::Lanes; 3]| {
            use $crate::alu::kernel::{Lane, flush32, $operand as operand};
            for lane in 0..$crate::alu::kernel::LANES {
                let $a = <$ta as Lane>::from_word(u64::from(operand(sources[0][lane])));
                $(let $b = <$tb as Lane>::from_word(u64::from(operand(sources[1][lane])));
                $(let $c = <$tc as Lane>::from_word(u64::from(operand(sources[2][lane])));)?)?
                let value: $out = $body;
                out[lane] = flush32(Lane::word(value) as u32);
            }
        }))
    };
    (@flushing $kind:ident $operand:ident $sources:tt -> $out:ty $body:block) => {
        None
    };
    (@float $sources:tt -> $out:ty $body:block) => {
        $crate::alu::kernel::operations!(@narrow $sources -> $out $body)
    };
    (@narrow ($a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty)?)?) -> $out:ty $body:block) => {
        $crate::alu::kernel::Kernel::Narrow($crate::alu::unit::for_each_unit_alone!(|out: &mut $crate::alu::kernel::Lanes, sources: &[&$crate::alu::kernel::Lanes; 3]| {
            for lane in 0..$crate::alu::kernel::LANES {
                use $crate::alu::kernel::Lane;
                let $a = <$ta as Lane>::from_word(u64::from(sources[0][lane]));
                $(let $b = <$tb as Lane>::from_word(u64::from(sources[1][lane]));
                $(let $c = <$tc as Lane>::from_word(u64::from(sources[2][lane]));)?)?
                let value: $out = $body;
                out[lane] = Lane::word(value) as u32;
            }
        }))
    };
    (@narrow ($a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty)?)?; $mode:ident) -> $out:ty $body:block) => {
        $crate::alu::kernel::Kernel::Narrow($crate::alu::unit::for_each_unit!(|out: &mut $crate::alu::kernel::Lanes, sources: &[&$crate::alu::kernel::Lanes; 3], _mode: $crate::number::mode::Mode| {
            let $mode = _mode;
            for lane in 0..$crate::alu::kernel::LANES {
                use $crate::alu::kernel::Lane;
                let $a = <$ta as Lane>::from_word(u64::from(sources[0][lane]));
                $(let $b = <$tb as Lane>::from_word(u64::from(sources[1][lane]));
                $(let $c = <$tc as Lane>::from_word(u64::from(sources[2][lane]));)?)?
                let value: $out = $body;
                out[lane] = Lane::word(value) as u32;
            }
        }))
    };
    (@wide ($a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty)?)?) -> $out:ty $body:block) => {
        $crate::alu::kernel::Kernel::Wide($crate::alu::unit::for_each_unit_alone!(|out: &mut $crate::alu::kernel::WideLanes, sources: &[&$crate::alu::kernel::WideLanes; 3]| {
            for lane in 0..$crate::alu::kernel::LANES {
                use $crate::alu::kernel::Lane;
                let $a = <$ta as Lane>::from_word(sources[0][lane]);
                $(let $b = <$tb as Lane>::from_word(sources[1][lane]);
                $(let $c = <$tc as Lane>::from_word(sources[2][lane]);)?)?
                let value: $out = $body;
                out[lane] = Lane::word(value);
            }
        }))
    };
    (@wide ($a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty)?)?; $mode:ident) -> $out:ty $body:block) => {
        $crate::alu::kernel::Kernel::Wide($crate::alu::unit::for_each_unit!(|out: &mut $crate::alu::kernel::WideLanes, sources: &[&$crate::alu::kernel::WideLanes; 3], _mode: $crate::number::mode::Mode| {
            let $mode = _mode;
            for lane in 0..$crate::alu::kernel::LANES {
                use $crate::alu::kernel::Lane;
                let $a = <$ta as Lane>::from_word(sources[0][lane]);
                $(let $b = <$tb as Lane>::from_word(sources[1][lane]);
                $(let $c = <$tc as Lane>::from_word(sources[2][lane]);)?)?
                let value: $out = $body;
                out[lane] = Lane::word(value);
            }
        }))
    };
    (@narrow_carry ($a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty)?)?) -> $out:ty $body:block) => {
        $crate::alu::kernel::Kernel::NarrowCarry($crate::alu::unit::for_each_unit!(|out: &mut $crate::alu::kernel::Lanes, carries: &mut $crate::alu::kernel::Lanes, sources: &[&$crate::alu::kernel::Lanes; 3]| {
            for lane in 0..$crate::alu::kernel::LANES {
                use $crate::alu::kernel::Lane;
                let $a = <$ta as Lane>::from_word(u64::from(sources[0][lane]));
                $(let $b = <$tb as Lane>::from_word(u64::from(sources[1][lane]));
                $(let $c = <$tc as Lane>::from_word(u64::from(sources[2][lane]));)?)?
                let (value, carry): ($out, bool) = $body;
                out[lane] = Lane::word(value) as u32;
                carries[lane] = u32::from(carry);
            }
        }))
    };
    (@wide_carry ($a:ident: $ta:ty $(, $b:ident: $tb:ty $(, $c:ident: $tc:ty)?)?) -> $out:ty $body:block) => {
        $crate::alu::kernel::Kernel::WideCarry($crate::alu::unit::for_each_unit!(|out: &mut $crate::alu::kernel::WideLanes, carries: &mut $crate::alu::kernel::Lanes, sources: &[&$crate::alu::kernel::WideLanes; 3]| {
            for lane in 0..$crate::alu::kernel::LANES {
                use $crate::alu::kernel::Lane;
                let $a = <$ta as Lane>::from_word(sources[0][lane]);
                $(let $b = <$tb as Lane>::from_word(sources[1][lane]);
                $(let $c = <$tc as Lane>::from_word(sources[2][lane]);)?)?
                let (value, carry): ($out, bool) = $body;
                out[lane] = Lane::word(value);
                carries[lane] = u32::from(carry);
            }
        }))
    };
}

pub(crate) use operations;
