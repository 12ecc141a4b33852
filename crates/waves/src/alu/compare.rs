//! Comparisons: sixteen conditions for every type.

use super::{
    kernel::{Kernel, Lane, Lanes, Operation, Type, WideLanes},
    unit::for_each_unit,
};
use crate::number::{half::Half, mode::Mode};

/// A comparison's name and its operation.
macro_rules! conditions {
    ($table:ident, $kind:ident($lanes:ty), $ty:ty, |$value:ident| $convert:expr, $suffix:literal; $($cmp:literal $([$other:literal])?: |$a:ident, $b:ident| $result:expr;)*) => {
        static $table: &[Operation] = &[$(Operation {
            names: &[concat!("v_cmp_", $cmp, "_", $suffix) $(, concat!("v_cmp_", $other, "_", $suffix))?],
            sources: &[<$ty as Lane>::TYPE, <$ty as Lane>::TYPE],
            result: Type::Mask,
            kernel: Kernel::$kind(for_each_unit!(|out: &mut $lanes, sources: &[&$lanes; 3], _mode: Mode| {
                for lane in 0..crate::alu::kernel::LANES {
                    let convert = |$value: $ty| $convert;
                    let $a = convert(<$ty as Lane>::from_word(sources[0][lane].into()));
                    let $b = convert(<$ty as Lane>::from_word(sources[1][lane].into()));
                    out[lane] = ($result).into();
                }
            })),
            flushing: None,
        }),*];
    };
}

macro_rules! integers {
    ($table:ident, $kind:ident($lanes:ty), $ty:ty, $suffix:literal) => {
        conditions! { $table, $kind($lanes), $ty, |value| value, $suffix;
            "f": |_a, _b| false;
            "lt": |a, b| a < b;
            "eq": |a, b| a == b;
            "le": |a, b| a <= b;
            "gt": |a, b| a > b;
            "ne"["lg"]: |a, b| a != b;
            "ge": |a, b| a >= b;
            "t"["tru"]: |_a, _b| true;
        }
    };
}

macro_rules! floats {
    ($table:ident, $kind:ident($lanes:ty), $ty:ty, |$value:ident| $convert:expr, $suffix:literal) => {
        conditions! { $table, $kind($lanes), $ty, |$value| $convert, $suffix;
            "f": |_a, _b| false;
            "lt": |a, b| a < b;
            "eq": |a, b| a == b;
            "le": |a, b| a <= b;
            "gt": |a, b| a > b;
            "lg": |a, b| a < b || a > b;
            "ge": |a, b| a >= b;
            "o": |a, b| !a.is_nan() && !b.is_nan();
            "u": |a, b| a.is_nan() || b.is_nan();
            "nge": |a, b| !(a >= b);
            "nlg": |a, b| !(a < b || a > b);
            "ngt": |a, b| !(a > b);
            "nle": |a, b| !(a <= b);
            "neq": |a, b| a != b;
            "nlt": |a, b| !(a < b);
            "t"["tru"]: |_a, _b| true;
        }
    };
}

integers!(UNSIGNED32, Narrow(Lanes), u32, "u32");
integers!(SIGNED32, Narrow(Lanes), i32, "i32");
integers!(UNSIGNED16, Narrow(Lanes), u16, "u16");
integers!(SIGNED16, Narrow(Lanes), i16, "i16");
integers!(UNSIGNED64, Wide(WideLanes), u64, "u64");
integers!(SIGNED64, Wide(WideLanes), i64, "i64");
floats!(FLOAT32, Narrow(Lanes), f32, |value| value, "f32");
floats!(FLOAT64, Wide(WideLanes), f64, |value| value, "f64");
floats!(FLOAT16, Narrow(Lanes), Half, |value| value.value(), "f16");

/// Every comparison.
pub(crate) static TABLES: [&[Operation]; 9] =
    [UNSIGNED32, SIGNED32, UNSIGNED16, SIGNED16, UNSIGNED64, SIGNED64, FLOAT32, FLOAT64, FLOAT16];
