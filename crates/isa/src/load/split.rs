//! Phase 2: from an access to instructions.
//!
//! Source: Mesa 25.0.7 `src/amd/compiler/aco_instruction_selection.cpp`, `emit_load` and its callbacks, according to the project's
//! notes on loads, section 5.

use amdgpu_hw::GfxLevel;

use super::{
    Address, Alignment, Kind, List, LoadError, Place, Request,
    pick::{Picked, limit, pick},
};

/// The maximum number of instructions of an access: 64 single bytes.
pub(super) const MOST_LOADS: usize = 64;

/// A change of the request's address registers before a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressStep {
    /// Adds to the 32-bit offset.
    AddOffset(u32),
    /// Adds to the 64-bit address.
    AddAddress(u64),
    /// Adds the 32-bit offset to the 64-bit address, which replaces both.
    AddOffsetToAddress,
    /// Moves a scalar address or offset to vector registers.
    ToVector,
}

/// A load instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// The name of the operation up to GFX10. On GFX11 each operation has one new name.
    pub op: &'static str,
    /// The offset of the load from the first byte of the access, in bytes.
    pub distance: i32,
    /// The number of bytes that are loaded.
    pub bytes: u8,
    /// The encoded immediate offset.
    pub immediate: u32,
    /// The second immediate offset of a pair load.
    pub immediate1: Option<u8>,
    /// The address operands.
    pub address: Address,
    /// The changes of the address before the load.
    pub before: List<Option<AddressStep>, 3>,
}

/// The loads of one access.
pub type Loads = List<Load, MOST_LOADS>;

/// Splits an access into load instructions. It neither shifts bytes nor loads bytes before the first.
///
/// The loads together cover all bytes of the request. The last one may load more.
///
/// # Errors
///
/// [`LoadError`] if the request is invalid, or no instructions can load it.
pub fn split(request: &Request, level: GfxLevel) -> Result<Loads, LoadError> {
    request.check()?;
    let mut loads = Loads::default();
    let size = request.bytes();
    let swizzled = request.swizzle_element != 0;
    let mul = request.align.mul;
    let mut align = Alignment { mul, offset: request.align.offset % mul };
    let (mut read, mut constant, mut distance) = (0, request.const_offset, 0_i32);
    while read < size {
        let mut need = size - read;
        if swizzled {
            need = need.min(request.swizzle_element.into());
        }
        if request.component_stride != 0 {
            need = need.min(request.component_bytes.into());
        }
        let limit = limit(request.kind, level);
        let whole = constant.checked_div(limit).map_or(0, |times| times * limit);
        let part = constant - whole;
        let picked = pick(request, level, align, need, part);
        if !loads.push(finish(request, level, &picked, distance, whole)) {
            return Err(LoadError::TooMany(MOST_LOADS));
        }
        let got = u32::from(picked.bytes);
        let step = match request.component_stride {
            0 => got,
            stride => u32::from(stride) * (got / u32::from(request.component_bytes)).max(1),
        };
        constant = constant.wrapping_add(step);
        align = align.advanced(step.cast_signed());
        distance += step.cast_signed();
        read += got;
    }
    Ok(loads)
}

/// Adds the address steps to a picked load.
pub(super) fn finish(request: &Request, level: GfxLevel, picked: &Picked, distance: i32, whole: u32) -> Load {
    let mut before = List::default();
    let mut step = |step: AddressStep| {
        // Three steps are the most that any kind needs; the list has room for them.
        let _ = before.push(Some(step));
    };
    match request.kind {
        _ if whole == 0 => {}
        Kind::Global => step(AddressStep::AddAddress(whole.into())),
        Kind::ScalarGlobal if matches!(request.offset, Place::None | Place::Constant) => {
            step(AddressStep::AddAddress(whole.into()));
        }
        _ => step(AddressStep::AddOffset(whole)),
    }
    if picked.to_offset != 0 {
        step(AddressStep::AddOffset(picked.to_offset));
    }
    // Only GFX6 and the form with a scalar address have a register for the offset.
    let separate = match level {
        GfxLevel::Gfx6 => request.offset != Place::Vector,
        GfxLevel::Gfx7 | GfxLevel::Gfx8 => false,
        _ => request.address != Place::Vector,
    };
    let global_without_offset =
        request.kind == Kind::Global && !separate && matches!(request.offset, Place::Scalar | Place::Vector);
    if global_without_offset {
        step(AddressStep::AddOffsetToAddress);
    }
    Load {
        op: picked.op,
        distance,
        bytes: picked.bytes,
        immediate: picked.immediate,
        immediate1: picked.immediate1,
        address: picked.address,
        before,
    }
}
