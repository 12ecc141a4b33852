//! The older form of splitting, in which one step both cuts and shifts.
//!
//! Source: Mesa 22.3.6 `src/amd/compiler/aco_instruction_selection.cpp`, `emit_load`, by the rules of the project's notes on loads,
//! section 7.

use amdgpu_hw::GfxLevel;

use super::{
    Access, Alignment, Kind, LoadError, Loads, Piece, Plan, Request, Shift,
    pick::{limit, pick},
    split::{MOST_LOADS, finish},
};

/// The properties of a kind of load instructions that the older form distinguishes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Loads of dwords need the alignment of a dword, so badly aligned ones start at the dword below and are shifted.
    pub byte_align_loads: bool,
    /// There are loads of 8 and 16 bits.
    pub supports_8bit_16bit_loads: bool,
    /// The constant offset from which the immediate is too small; 0 if the kind checks this itself.
    pub max_const_offset_plus_one: u32,
}

impl Traits {
    /// Returns the properties of a kind of load instructions.
    pub fn of(kind: Kind, level: GfxLevel) -> Self {
        Self {
            byte_align_loads: !matches!(kind, Kind::Lds | Kind::Scratch),
            supports_8bit_16bit_loads: !matches!(kind, Kind::ScalarBuffer | Kind::ScalarGlobal),
            max_const_offset_plus_one: limit(kind, level),
        }
    }
}

/// The bytes below the next one that a load must start at.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Misaligned {
    /// The load starts at the next byte.
    Not,
    /// The load starts at the dword that begins this many bytes below.
    By(u32),
    /// The load starts at the dword below, by an unknown number of bytes.
    Unknown,
}

/// Plans a request by the rules of Mesa 22.3.
///
/// In this form `request.align` is the alignment of the registers, without the constant offset. Where Mesa cannot continue a badly
/// aligned vector of small components after the first load, this function continues with another piece.
///
/// # Errors
///
/// [`LoadError`] if the request is invalid or cannot be loaded. Scalar loads with sub-dword components or without dword alignment
/// are allowed, because they start at the dword below.
pub fn seed(request: &Request, level: GfxLevel) -> Result<Plan, LoadError> {
    request.check_size()?;
    request.check_bank()?;
    let traits = Traits::of(request.kind, level);
    let mul = request.align.mul;
    let size = request.bytes();
    // The alignment of the next byte, and the same for the first of the addresses that the alignment allows, which Mesa's tests use.
    let mut align = request.align.advanced(request.const_offset.cast_signed());
    let mut first = mul.wrapping_add(request.align.offset).wrapping_add(request.const_offset);
    let (mut read, mut constant, mut distance) = (0, request.const_offset, 0_i32);
    let mut plan = Plan::new();
    while read < size {
        let mut need = size - read;
        let misaligned = misaligned(traits, request, align, need);
        // The most bytes that are lost at the start. Mesa subtracts `mul` instead of the known alignment, so it loads too few bytes
        // for some vectors at odd addresses.
        let lost = match misaligned {
            Misaligned::Not => 0,
            Misaligned::By(bytes) => bytes,
            Misaligned::Unknown => 4 - align.known(),
        };
        if lost != 0 {
            need = (need + lost).next_multiple_of(4);
        }
        if request.swizzle_element != 0 {
            need = need.min(request.swizzle_element.into());
        }
        if request.component_stride != 0 {
            need = need.min(request.component_bytes.into());
        }
        // A load from below takes the whole constant in its address, because both are rounded down together.
        let immediate = if lost == 0 { constant } else { 0 };
        let whole =
            immediate.checked_div(traits.max_const_offset_plus_one).unwrap_or(0) * traits.max_const_offset_plus_one;
        let place = if lost == 0 { align } else { Alignment { mul: 4, offset: 0 } };
        let picked = pick(request, level, place, need, immediate - whole);
        let bytes = u32::from(picked.bytes);
        let got = bytes - lost;
        let at = distance
            - match misaligned {
                Misaligned::Unknown => first % 4,
                _ => lost,
            }
            .cast_signed();
        let shift = match misaligned {
            Misaligned::Not => Shift::None,
            Misaligned::By(bytes) => Shift::Known(bytes as u8),
            Misaligned::Unknown => Shift::Dynamic,
        };
        let access = Access {
            at,
            bits: bytes.min(4) as u8 * 8,
            components: bytes.div_ceil(4) as u8,
            align: match misaligned {
                Misaligned::Not => align,
                Misaligned::By(bytes) => Alignment { mul, offset: align.offset - bytes },
                Misaligned::Unknown => place,
            },
            shift,
            yields: got.min(size - read),
        };
        let rebase = match shift {
            Shift::Known(_) => i64::from(request.const_offset) + i64::from(at),
            Shift::None | Shift::Dynamic => 0,
        };
        let mut loads = Loads::default();
        if !loads.push(finish(request, level, &picked, 0, whole)) || plan.len() == MOST_LOADS {
            return Err(LoadError::TooMany(MOST_LOADS));
        }
        plan.push(Piece { access, rebase, loads });
        let step = match request.component_stride {
            0 => got,
            stride => u32::from(stride) * (got / u32::from(request.component_bytes)).max(1),
        };
        constant = constant.wrapping_add(step);
        first = first.wrapping_add(step);
        align = align.advanced(step.cast_signed());
        distance += step.cast_signed();
        read += got;
    }
    Ok(plan)
}

/// Determines whether a load of `need` bytes must start at the dword below. Swizzled memory is not contiguous, and its loads are no
/// larger than its elements, so they start where they should.
fn misaligned(traits: Traits, request: &Request, align: Alignment, need: u32) -> Misaligned {
    let small = need < 2 || need == 2 && align.known().is_multiple_of(2);
    if !traits.byte_align_loads || request.swizzle_element != 0 || small && traits.supports_8bit_16bit_loads {
        return Misaligned::Not;
    }
    match align {
        Alignment { mul: 1 | 2, .. } => Misaligned::Unknown,
        Alignment { offset, .. } if offset.is_multiple_of(4) => Misaligned::Not,
        Alignment { offset, .. } => Misaligned::By(offset % 4),
    }
}
