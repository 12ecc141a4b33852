//! Comparisons: sixteen conditions for every type.

use amdgpu_isa::Op;

use super::{
    kernel::{Form, Kernel, Lane, Lanes, Operation, Traits, Type, WideLanes},
    unit::for_each_unit_alone,
};
use crate::number::half::Half;

/// A table of comparisons: the operations of the instruction sets, and the condition. Those that signal, and those that write EXEC,
/// compare alike.
macro_rules! conditions {
    ($table:ident, $kind:ident($lanes:ty), $ty:ty, |$value:ident| $convert:expr; $([$($op:ident)+]: |$a:ident, $b:ident| $result:expr;)*) => {
        static $table: &[Operation] = &[$(Operation {
            ops: &[$(Op::$op),+],
            form: Form::Plain,
            sources: &[<$ty as Lane>::TYPE, <$ty as Lane>::TYPE],
            result: Type::Mask,
            traits: Traits::new(&[<$ty as Lane>::TYPE, <$ty as Lane>::TYPE], Type::Mask),
            kernel: Kernel::$kind(for_each_unit_alone!(|out: &mut $lanes, sources: &[&$lanes; 3]| {
                for lane in 0..crate::alu::kernel::LANES {
                    let convert = |$value: $ty| $convert;
                    let $a = convert(<$ty as Lane>::from_word(sources[0][lane].into()));
                    let $b = convert(<$ty as Lane>::from_word(sources[1][lane].into()));
                    out[lane] = ($result).into();
                }
            })),
            flushing: None,
            clean: None,
        }),*];
    };
}

macro_rules! integers {
    ($table:ident, $kind:ident($lanes:ty), $ty:ty; $f:tt $lt:tt $eq:tt $le:tt $gt:tt $ne:tt $ge:tt $t:tt) => {
        conditions! { $table, $kind($lanes), $ty, |value| value;
            $f: |_a, _b| false;
            $lt: |a, b| a < b;
            $eq: |a, b| a == b;
            $le: |a, b| a <= b;
            $gt: |a, b| a > b;
            $ne: |a, b| a != b;
            $ge: |a, b| a >= b;
            $t: |_a, _b| true;
        }
    };
}

macro_rules! floats {
    ($table:ident, $kind:ident($lanes:ty), $ty:ty, |$value:ident| $convert:expr; $f:tt $lt:tt $eq:tt $le:tt $gt:tt $lg:tt $ge:tt $o:tt $u:tt $nge:tt $nlg:tt $ngt:tt $nle:tt $neq:tt $nlt:tt $t:tt) => {
        conditions! { $table, $kind($lanes), $ty, |$value| $convert;
            $f: |_a, _b| false;
            $lt: |a, b| a < b;
            $eq: |a, b| a == b;
            $le: |a, b| a <= b;
            $gt: |a, b| a > b;
            $lg: |a, b| a < b || a > b;
            $ge: |a, b| a >= b;
            $o: |a, b| !a.is_nan() && !b.is_nan();
            $u: |a, b| a.is_nan() || b.is_nan();
            $nge: |a, b| !(a >= b);
            $nlg: |a, b| !(a < b || a > b);
            $ngt: |a, b| !(a > b);
            $nle: |a, b| !(a <= b);
            $neq: |a, b| a != b;
            $nlt: |a, b| !(a < b);
            $t: |_a, _b| true;
        }
    };
}

integers! { UNSIGNED32, Narrow(Lanes), u32;
    [VCmpFU32 VCmpxFU32]
    [VCmpLtU32 VCmpxLtU32]
    [VCmpEqU32 VCmpxEqU32]
    [VCmpLeU32 VCmpxLeU32]
    [VCmpGtU32 VCmpxGtU32]
    [VCmpNeU32 VCmpxNeU32]
    [VCmpGeU32 VCmpxGeU32]
    [VCmpTU32 VCmpxTU32]
}
integers! { SIGNED32, Narrow(Lanes), i32;
    [VCmpFI32 VCmpxFI32]
    [VCmpLtI32 VCmpxLtI32]
    [VCmpEqI32 VCmpxEqI32]
    [VCmpLeI32 VCmpxLeI32]
    [VCmpGtI32 VCmpxGtI32]
    [VCmpNeI32 VCmpxNeI32]
    [VCmpGeI32 VCmpxGeI32]
    [VCmpTI32 VCmpxTI32]
}
integers! { UNSIGNED16, Narrow(Lanes), u16;
    [VCmpFU16 VCmpxFU16]
    [VCmpLtU16 VCmpxLtU16]
    [VCmpEqU16 VCmpxEqU16]
    [VCmpLeU16 VCmpxLeU16]
    [VCmpGtU16 VCmpxGtU16]
    [VCmpNeU16 VCmpxNeU16]
    [VCmpGeU16 VCmpxGeU16]
    [VCmpTU16 VCmpxTU16]
}
integers! { SIGNED16, Narrow(Lanes), i16;
    [VCmpFI16 VCmpxFI16]
    [VCmpLtI16 VCmpxLtI16]
    [VCmpEqI16 VCmpxEqI16]
    [VCmpLeI16 VCmpxLeI16]
    [VCmpGtI16 VCmpxGtI16]
    [VCmpNeI16 VCmpxNeI16]
    [VCmpGeI16 VCmpxGeI16]
    [VCmpTI16 VCmpxTI16]
}
integers! { UNSIGNED64, Wide(WideLanes), u64;
    [VCmpFU64 VCmpxFU64]
    [VCmpLtU64 VCmpxLtU64]
    [VCmpEqU64 VCmpxEqU64]
    [VCmpLeU64 VCmpxLeU64]
    [VCmpGtU64 VCmpxGtU64]
    [VCmpNeU64 VCmpxNeU64]
    [VCmpGeU64 VCmpxGeU64]
    [VCmpTU64 VCmpxTU64]
}
integers! { SIGNED64, Wide(WideLanes), i64;
    [VCmpFI64 VCmpxFI64]
    [VCmpLtI64 VCmpxLtI64]
    [VCmpEqI64 VCmpxEqI64]
    [VCmpLeI64 VCmpxLeI64]
    [VCmpGtI64 VCmpxGtI64]
    [VCmpNeI64 VCmpxNeI64]
    [VCmpGeI64 VCmpxGeI64]
    [VCmpTI64 VCmpxTI64]
}
floats! { FLOAT32, Narrow(Lanes), f32, |value| value;
    [VCmpFF32 VCmpxFF32 VCmpsFF32 VCmpsxFF32]
    [VCmpLtF32 VCmpxLtF32 VCmpsLtF32 VCmpsxLtF32]
    [VCmpEqF32 VCmpxEqF32 VCmpsEqF32 VCmpsxEqF32]
    [VCmpLeF32 VCmpxLeF32 VCmpsLeF32 VCmpsxLeF32]
    [VCmpGtF32 VCmpxGtF32 VCmpsGtF32 VCmpsxGtF32]
    [VCmpLgF32 VCmpxLgF32 VCmpsLgF32 VCmpsxLgF32]
    [VCmpGeF32 VCmpxGeF32 VCmpsGeF32 VCmpsxGeF32]
    [VCmpOF32 VCmpxOF32 VCmpsOF32 VCmpsxOF32]
    [VCmpUF32 VCmpxUF32 VCmpsUF32 VCmpsxUF32]
    [VCmpNgeF32 VCmpxNgeF32 VCmpsNgeF32 VCmpsxNgeF32]
    [VCmpNlgF32 VCmpxNlgF32 VCmpsNlgF32 VCmpsxNlgF32]
    [VCmpNgtF32 VCmpxNgtF32 VCmpsNgtF32 VCmpsxNgtF32]
    [VCmpNleF32 VCmpxNleF32 VCmpsNleF32 VCmpsxNleF32]
    [VCmpNeqF32 VCmpxNeqF32 VCmpsNeqF32 VCmpsxNeqF32]
    [VCmpNltF32 VCmpxNltF32 VCmpsNltF32 VCmpsxNltF32]
    [VCmpTF32 VCmpxTF32 VCmpTruF32 VCmpxTruF32 VCmpsTruF32 VCmpsxTruF32]
}
floats! { FLOAT64, Wide(WideLanes), f64, |value| value;
    [VCmpFF64 VCmpxFF64 VCmpsFF64 VCmpsxFF64]
    [VCmpLtF64 VCmpxLtF64 VCmpsLtF64 VCmpsxLtF64]
    [VCmpEqF64 VCmpxEqF64 VCmpsEqF64 VCmpsxEqF64]
    [VCmpLeF64 VCmpxLeF64 VCmpsLeF64 VCmpsxLeF64]
    [VCmpGtF64 VCmpxGtF64 VCmpsGtF64 VCmpsxGtF64]
    [VCmpLgF64 VCmpxLgF64 VCmpsLgF64 VCmpsxLgF64]
    [VCmpGeF64 VCmpxGeF64 VCmpsGeF64 VCmpsxGeF64]
    [VCmpOF64 VCmpxOF64 VCmpsOF64 VCmpsxOF64]
    [VCmpUF64 VCmpxUF64 VCmpsUF64 VCmpsxUF64]
    [VCmpNgeF64 VCmpxNgeF64 VCmpsNgeF64 VCmpsxNgeF64]
    [VCmpNlgF64 VCmpxNlgF64 VCmpsNlgF64 VCmpsxNlgF64]
    [VCmpNgtF64 VCmpxNgtF64 VCmpsNgtF64 VCmpsxNgtF64]
    [VCmpNleF64 VCmpxNleF64 VCmpsNleF64 VCmpsxNleF64]
    [VCmpNeqF64 VCmpxNeqF64 VCmpsNeqF64 VCmpsxNeqF64]
    [VCmpNltF64 VCmpxNltF64 VCmpsNltF64 VCmpsxNltF64]
    [VCmpTF64 VCmpxTF64 VCmpTruF64 VCmpxTruF64 VCmpsTruF64 VCmpsxTruF64]
}
floats! { FLOAT16, Narrow(Lanes), Half, |value| value.value();
    [VCmpFF16 VCmpxFF16]
    [VCmpLtF16 VCmpxLtF16]
    [VCmpEqF16 VCmpxEqF16]
    [VCmpLeF16 VCmpxLeF16]
    [VCmpGtF16 VCmpxGtF16]
    [VCmpLgF16 VCmpxLgF16]
    [VCmpGeF16 VCmpxGeF16]
    [VCmpOF16 VCmpxOF16]
    [VCmpUF16 VCmpxUF16]
    [VCmpNgeF16 VCmpxNgeF16]
    [VCmpNlgF16 VCmpxNlgF16]
    [VCmpNgtF16 VCmpxNgtF16]
    [VCmpNleF16 VCmpxNleF16]
    [VCmpNeqF16 VCmpxNeqF16]
    [VCmpNltF16 VCmpxNltF16]
    [VCmpTF16 VCmpxTF16 VCmpTruF16 VCmpxTruF16]
}

/// Every comparison.
pub(crate) static TABLES: [&[Operation]; 9] =
    [UNSIGNED32, SIGNED32, UNSIGNED16, SIGNED16, UNSIGNED64, SIGNED64, FLOAT32, FLOAT64, FLOAT16];
