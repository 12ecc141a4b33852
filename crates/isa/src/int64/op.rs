//! Operations on 64-bit integers.

use super::Options;

/// The class of registers in which an operation is performed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Bank {
    /// Scalar registers.
    Scalar,
    /// Vector registers.
    Vector,
}

/// An operation with a 64-bit source or result, with its name in NIR.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Sum: `iadd`.
    Iadd,
    /// Difference: `isub`.
    Isub,
    /// Negation: `ineg`.
    Ineg,
    /// Low half of a product: `imul`.
    Imul,
    /// Product of signed 32-bit values: `imul_2x32_64`.
    Imul2x32,
    /// Product of unsigned 32-bit values: `umul_2x32_64`.
    Umul2x32,
    /// High half of a signed product: `imul_high`.
    ImulHigh,
    /// High half of an unsigned product: `umul_high`.
    UmulHigh,
    /// Unsigned quotient: `udiv`.
    Udiv,
    /// Signed quotient, towards zero: `idiv`.
    Idiv,
    /// Unsigned remainder: `umod`.
    Umod,
    /// Signed remainder with the sign of the divisor: `imod`.
    Imod,
    /// Signed remainder with the sign of the dividend: `irem`.
    Irem,
    /// The sign: -1, 0 or 1: `isign`.
    Isign,
    /// Absolute value: `iabs`.
    Iabs,
    /// Signed minimum: `imin`.
    Imin,
    /// Signed maximum: `imax`.
    Imax,
    /// Unsigned minimum: `umin`.
    Umin,
    /// Unsigned maximum: `umax`.
    Umax,
    /// Equality: `ieq`.
    Ieq,
    /// Inequality: `ine`.
    Ine,
    /// Unsigned less: `ult`.
    Ult,
    /// Signed less: `ilt`.
    Ilt,
    /// Unsigned greater or equal: `uge`.
    Uge,
    /// Signed greater or equal: `ige`.
    Ige,
    /// Selection by a truth value: `bcsel`.
    Bcsel,
    /// Bitwise and: `iand`.
    Iand,
    /// Bitwise or: `ior`.
    Ior,
    /// Bitwise exclusive or: `ixor`.
    Ixor,
    /// Bitwise complement: `inot`.
    Inot,
    /// Shift left, modulo 64: `ishl`.
    Ishl,
    /// Arithmetic shift right, modulo 64: `ishr`.
    Ishr,
    /// Logical shift right, modulo 64: `ushr`.
    Ushr,
    /// Number of set bits: `bit_count`.
    BitCount,
    /// Index of the highest set bit; -1 if there is none: `ufind_msb`.
    UfindMsb,
    /// Index of the lowest set bit; -1 if there is none: `find_lsb`.
    FindLsb,
    /// The byte with this index, zero-extended: `extract_u8`.
    ExtractU8(u8),
    /// The byte with this index, sign-extended: `extract_i8`.
    ExtractI8(u8),
    /// The 16-bit word with this index, zero-extended: `extract_u16`.
    ExtractU16(u8),
    /// The 16-bit word with this index, sign-extended: `extract_i16`.
    ExtractI16(u8),
    /// Signed saturating sum: `iadd_sat`.
    IaddSat,
    /// Signed saturating difference: `isub_sat`.
    IsubSat,
    /// Unsigned saturating sum: `uadd_sat`.
    UaddSat,
    /// Unsigned saturating difference: `usub_sat`.
    UsubSat,
    /// Low byte: `i2i8`.
    I2i8,
    /// Low word: `i2i16`.
    I2i16,
    /// Low dword: `i2i32`.
    I2i32,
    /// Low dword: `u2u32`.
    U2u32,
    /// Sign extension of a dword: `i2i64`.
    I2i64,
    /// Zero extension of a dword: `u2u64`.
    U2u64,
    /// Sign extension of a word: `i2i64`.
    I2i64From16,
    /// Zero extension of a word: `u2u64`.
    U2u64From16,
    /// Sign extension of a byte: `i2i64`.
    I2i64From8,
    /// Zero extension of a byte: `u2u64`.
    U2u64From8,
    /// A truth value as 1 or 0: `b2i64`.
    B2i64,
    /// Signed to the nearest float: `i2f32`.
    I2f32,
    /// Unsigned to the nearest float: `u2f32`.
    U2f32,
    /// Signed to the nearest double: `i2f64`.
    I2f64,
    /// Unsigned to the nearest double: `u2f64`.
    U2f64,
    /// Float to signed, towards zero: `f2i64`.
    F2i64,
    /// Float to unsigned, towards zero: `f2u64`.
    F2u64,
    /// Double to signed, towards zero: `f2i64`.
    F2i64From64,
    /// Double to unsigned, towards zero: `f2u64`.
    F2u64From64,
}

impl Op {
    /// All operations. Extractions are listed with the lowest part.
    pub const ALL: [Self; 63] = [
        Self::Iadd,
        Self::Isub,
        Self::Ineg,
        Self::Imul,
        Self::Imul2x32,
        Self::Umul2x32,
        Self::ImulHigh,
        Self::UmulHigh,
        Self::Udiv,
        Self::Idiv,
        Self::Umod,
        Self::Imod,
        Self::Irem,
        Self::Isign,
        Self::Iabs,
        Self::Imin,
        Self::Imax,
        Self::Umin,
        Self::Umax,
        Self::Ieq,
        Self::Ine,
        Self::Ult,
        Self::Ilt,
        Self::Uge,
        Self::Ige,
        Self::Bcsel,
        Self::Iand,
        Self::Ior,
        Self::Ixor,
        Self::Inot,
        Self::Ishl,
        Self::Ishr,
        Self::Ushr,
        Self::BitCount,
        Self::UfindMsb,
        Self::FindLsb,
        Self::ExtractU8(0),
        Self::ExtractI8(0),
        Self::ExtractU16(0),
        Self::ExtractI16(0),
        Self::IaddSat,
        Self::IsubSat,
        Self::UaddSat,
        Self::UsubSat,
        Self::I2i8,
        Self::I2i16,
        Self::I2i32,
        Self::U2u32,
        Self::I2i64,
        Self::U2u64,
        Self::I2i64From16,
        Self::U2u64From16,
        Self::I2i64From8,
        Self::U2u64From8,
        Self::B2i64,
        Self::I2f32,
        Self::U2f32,
        Self::I2f64,
        Self::U2f64,
        Self::F2i64,
        Self::F2u64,
        Self::F2i64From64,
        Self::F2u64From64,
    ];

    /// Returns the name in NIR.
    pub const fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns the number of bits of each source; 1 for a truth value.
    pub const fn sources(self) -> &'static [u8] {
        self.facts().1
    }

    /// Returns the number of bits of the result.
    pub const fn bits(self) -> u8 {
        self.facts().2
    }

    /// Returns the option under which the operation is lowered.
    pub const fn option(self) -> Options {
        self.facts().3
    }

    const fn facts(self) -> (&'static str, &'static [u8], u8, Options) {
        use Options as O;
        match self {
            Self::Iadd => ("iadd", &[64, 64], 64, O::IADD),
            Self::Isub => ("isub", &[64, 64], 64, O::IADD),
            Self::Ineg => ("ineg", &[64], 64, O::INEG),
            Self::Imul => ("imul", &[64, 64], 64, O::IMUL),
            Self::Imul2x32 => ("imul_2x32_64", &[32, 32], 64, O::IMUL_2X32),
            Self::Umul2x32 => ("umul_2x32_64", &[32, 32], 64, O::IMUL_2X32),
            Self::ImulHigh => ("imul_high", &[64, 64], 64, O::IMUL_HIGH),
            Self::UmulHigh => ("umul_high", &[64, 64], 64, O::IMUL_HIGH),
            Self::Udiv => ("udiv", &[64, 64], 64, O::DIVMOD),
            Self::Idiv => ("idiv", &[64, 64], 64, O::DIVMOD),
            Self::Umod => ("umod", &[64, 64], 64, O::DIVMOD),
            Self::Imod => ("imod", &[64, 64], 64, O::DIVMOD),
            Self::Irem => ("irem", &[64, 64], 64, O::DIVMOD),
            Self::Isign => ("isign", &[64], 64, O::ISIGN),
            Self::Iabs => ("iabs", &[64], 64, O::IABS),
            Self::Imin => ("imin", &[64, 64], 64, O::MINMAX),
            Self::Imax => ("imax", &[64, 64], 64, O::MINMAX),
            Self::Umin => ("umin", &[64, 64], 64, O::MINMAX),
            Self::Umax => ("umax", &[64, 64], 64, O::MINMAX),
            Self::Ieq => ("ieq", &[64, 64], 1, O::ICMP),
            Self::Ine => ("ine", &[64, 64], 1, O::ICMP),
            Self::Ult => ("ult", &[64, 64], 1, O::ICMP),
            Self::Ilt => ("ilt", &[64, 64], 1, O::ICMP),
            Self::Uge => ("uge", &[64, 64], 1, O::ICMP),
            Self::Ige => ("ige", &[64, 64], 1, O::ICMP),
            Self::Bcsel => ("bcsel", &[1, 64, 64], 64, O::BCSEL),
            Self::Iand => ("iand", &[64, 64], 64, O::LOGIC),
            Self::Ior => ("ior", &[64, 64], 64, O::LOGIC),
            Self::Ixor => ("ixor", &[64, 64], 64, O::LOGIC),
            Self::Inot => ("inot", &[64], 64, O::LOGIC),
            Self::Ishl => ("ishl", &[64, 32], 64, O::SHIFT),
            Self::Ishr => ("ishr", &[64, 32], 64, O::SHIFT),
            Self::Ushr => ("ushr", &[64, 32], 64, O::SHIFT),
            Self::BitCount => ("bit_count", &[64], 32, O::BIT_COUNT),
            Self::UfindMsb => ("ufind_msb", &[64], 32, O::UFIND_MSB),
            Self::FindLsb => ("find_lsb", &[64], 32, O::FIND_LSB),
            Self::ExtractU8(_) => ("extract_u8", &[64], 64, O::EXTRACT),
            Self::ExtractI8(_) => ("extract_i8", &[64], 64, O::EXTRACT),
            Self::ExtractU16(_) => ("extract_u16", &[64], 64, O::EXTRACT),
            Self::ExtractI16(_) => ("extract_i16", &[64], 64, O::EXTRACT),
            Self::IaddSat => ("iadd_sat", &[64, 64], 64, O::IADD_SAT),
            Self::IsubSat => ("isub_sat", &[64, 64], 64, O::IADD_SAT),
            Self::UaddSat => ("uadd_sat", &[64, 64], 64, O::UADD_SAT),
            Self::UsubSat => ("usub_sat", &[64, 64], 64, O::USUB_SAT),
            Self::I2i8 => ("i2i8", &[64], 8, O::CONV),
            Self::I2i16 => ("i2i16", &[64], 16, O::CONV),
            Self::I2i32 => ("i2i32", &[64], 32, O::CONV),
            Self::U2u32 => ("u2u32", &[64], 32, O::CONV),
            Self::I2i64 => ("i2i64", &[32], 64, O::CONV),
            Self::U2u64 => ("u2u64", &[32], 64, O::CONV),
            Self::I2i64From16 => ("i2i64", &[16], 64, O::CONV),
            Self::U2u64From16 => ("u2u64", &[16], 64, O::CONV),
            Self::I2i64From8 => ("i2i64", &[8], 64, O::CONV),
            Self::U2u64From8 => ("u2u64", &[8], 64, O::CONV),
            Self::B2i64 => ("b2i64", &[1], 64, O::CONV),
            Self::I2f32 => ("i2f32", &[64], 32, O::CONV),
            Self::U2f32 => ("u2f32", &[64], 32, O::CONV),
            Self::I2f64 => ("i2f64", &[64], 64, O::CONV),
            Self::U2f64 => ("u2f64", &[64], 64, O::CONV),
            Self::F2i64 => ("f2i64", &[32], 64, O::CONV),
            Self::F2u64 => ("f2u64", &[32], 64, O::CONV),
            Self::F2i64From64 => ("f2i64", &[64], 64, O::CONV),
            Self::F2u64From64 => ("f2u64", &[64], 64, O::CONV),
        }
    }
}
