//! Operands of instructions.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Instruction, table};

use super::decoded_inst::Source;
use crate::alu::kernel::Type;

/// The index of M0 in a wave's scalar registers.
pub(crate) const M0: u8 = 124;
/// The indices of EXEC and VCC.
pub(crate) const EXEC: u8 = 126;
pub(crate) const VCC: u8 = 106;
/// The index for writes to the null register.
pub(crate) const SINK: u8 = 128;
/// The high half of the addresses of LDS and scratch memory in FLAT instructions.
pub(crate) const SHARED_APERTURE: u64 = 0x0001_0000;
pub(crate) const PRIVATE_APERTURE: u64 = 0x0002_0000;

/// The first number of vector registers in nine-bit sources.
const VGPRS: u32 = 256;

/// The reason why an instruction cannot be executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The generation does not define what it does.
    Illegal(&'static str),
    NotExecuted(&'static str),
}

impl From<&'static str> for Refusal {
    fn from(why: &'static str) -> Self {
        Self::NotExecuted(why)
    }
}

/// Returns the index of a scalar register that can be written.
pub(crate) fn destination(level: GfxLevel, number: u32) -> Result<u8, Refusal> {
    match named(level, number) {
        Some("null") => Ok(SINK),
        Some("m0") => Ok(M0),
        _ if number < 128 => Ok(number as u8),
        _ => Err(Refusal::Illegal("the scalar destination does not exist")),
    }
}

/// Returns the name of a scalar operand that is no SGPR.
fn named(level: GfxLevel, number: u32) -> Option<&'static str> {
    let sources = &table(level).sources;
    if number <= sources.last_sgpr.into() { None } else { sources.name(number) }
}

/// The floating-point constants, whose source numbers start at 240.
const FLOATS: [f64; 8] = [0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 4.0, -4.0];

/// Returns a float constant's bits as operand of a type.
fn float(value: f64, kind: Type) -> u64 {
    match kind {
        Type::F64 | Type::Bits64 | Type::Unsigned64 | Type::Signed64 => value.to_bits(),
        Type::F16 | Type::Bits16 | Type::Int16 => {
            u64::from(crate::number::half::Half::rounded(value, crate::number::round::Direction::Nearest).0)
        }
        _ => u64::from((value as f32).to_bits()),
    }
}

/// Returns 1 / (2 pi), as the units have it.
fn inverse_turn(kind: Type) -> u64 {
    match kind {
        Type::F64 | Type::Bits64 | Type::Unsigned64 | Type::Signed64 => 0x3fc4_5f30_6dc9_c882,
        Type::F16 | Type::Bits16 | Type::Int16 => 0x3118,
        _ => 0x3e22_f983,
    }
}

/// Returns a literal as operand of a type.
pub(crate) fn literal(value: u32, kind: Type) -> u64 {
    match kind {
        Type::F64 | Type::Bits64 => u64::from(value) << 32,
        Type::Signed64 => i64::from(value.cast_signed()).cast_unsigned(),
        Type::F16 | Type::Bits16 | Type::Int16 => u64::from(value & 0xffff),
        _ => u64::from(value),
    }
}

/// Returns the source with an 8-bit or 9-bit number. Compiled into its callers, as the parts of `vector::op` are.
#[inline(always)]
pub(crate) fn source(instruction: &Instruction, number: u32, kind: Type) -> Result<Source, Refusal> {
    let cut = |value: i64| match kind.dwords() {
        2 => value.cast_unsigned(),
        _ if kind.is_16_bits() => u64::from(value as u16),
        _ => u64::from(value as u32),
    };
    Ok(match number {
        VGPRS.. => Source::Vgpr((number - VGPRS) as u16),
        128..=192 => Source::Constant(cut(i64::from(number) - 128)),
        193..=208 => Source::Constant(cut(192 - i64::from(number))),
        235..=238 if named(instruction.level(), number).is_some() => {
            let base = if number < 237 { SHARED_APERTURE } else { PRIVATE_APERTURE };
            let limit = if number.is_multiple_of(2) { 0xffff_ffff } else { 0 };
            Source::Constant(if kind.dwords() == 2 { base << 32 | limit } else { base | limit })
        }
        240..=247 => Source::Constant(float(FLOATS[number as usize - 240], kind)),
        248 if instruction.level() >= GfxLevel::Gfx8 => Source::Constant(inverse_turn(kind)),
        251 => Source::Vccz,
        252 => Source::Execz,
        253 => Source::Scc,
        255 => Source::Constant(literal(instruction.literal().ok_or("a literal is missing")?, kind)),
        _ => match named(instruction.level(), number) {
            Some("null") => Source::Constant(0),
            Some("m0") => Source::Scalar(M0),
            _ if number < 128 => Source::Scalar(number as u8),
            Some("src_pops_exiting_wave_id") => return Err(Refusal::NotExecuted("ordered pixel shading is not there")),
            _ => return Err(Refusal::Illegal("the source operand does not exist")),
        },
    })
}
