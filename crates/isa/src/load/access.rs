//! Phase 1: from a request to accesses.
//!
//! Source: Mesa 25.0.7 `src/amd/common/nir/ac_nir_lower_mem_access_bit_sizes.c` and
//! `src/compiler/nir/nir_lower_mem_access_bit_sizes.c`, by the rules of the project's notes on loads, section 4.

use super::{Alignment, Kind, List, LoadError, Request};

/// The maximum number of bytes of a request: sixteen components of 64 bits.
const MOST_BYTES: u32 = 128;

/// The maximum number of accesses of a request.
const MOST_ACCESSES: usize = 64;

/// The number of bytes to drop at the start of an access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shift {
    /// No bytes are dropped.
    #[default]
    None,
    /// The first 1 to 3 bytes are dropped.
    Known(u8),
    /// The number is `address & (align - 1)`, and the load is from the address rounded down.
    Dynamic,
}

/// A load of components with their alignment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Access {
    /// The offset in bytes of the access from the first requested byte. For a dynamic shift it applies to an address exactly at the
    /// alignment's offset.
    pub at: i32,
    /// Bits of a component: 8 to 64.
    pub bits: u8,
    /// The number of components.
    pub components: u8,
    /// The alignment of the access.
    pub align: Alignment,
    /// The bytes to drop at the start.
    pub shift: Shift,
    /// The number of requested bytes that the access provides.
    pub yields: u32,
}

impl Access {
    /// Returns the number of bytes that are loaded.
    pub const fn bytes(&self) -> u32 {
        self.bits as u32 / 8 * self.components as u32
    }
}

/// The accesses of one request.
pub type Accesses = List<Access, MOST_ACCESSES>;

/// An answer of the rules for one place: components of some bits, the alignment they need.
#[derive(Clone, Copy)]
struct Wish {
    bits: u32,
    components: u32,
    align: u32,
}

/// Returns the best load of `bytes` bytes of components of `bits` bits at `align`.
fn wish(kind: Kind, bytes: u32, bits: u32, align: Alignment) -> Wish {
    let scalar = kind.is_scalar();
    let known = align.known();
    let bits = if bits == 8 && known.is_multiple_of(2) && bytes.is_multiple_of(2) { 16 } else { bits };
    let most = |bits: u32| if scalar { (512 / bits).min(16) } else { 4 };
    let components = (bytes / (bits / 8)).min(most(bits));
    let plain = Wish { bits, components, align: (bits / 8).min(4) };
    if bits >= 32 || components == 1 && !scalar {
        return plain;
    }
    let pad = 4 - known.min(4);
    let unchecked = matches!(kind, Kind::Global | Kind::ScalarGlobal);
    let dwords = if unchecked {
        if align.mul < 4 && !scalar && bytes.next_multiple_of(4) - pad < bytes {
            return plain;
        }
        bytes.div_ceil(4)
    } else {
        (bytes + pad).div_ceil(4)
    };
    Wish { bits: 32, components: dwords.min(most(32)), align: 4 }
}

/// Cuts and widens a request into accesses.
///
/// # Errors
///
/// [`LoadError`] for a request of impossible shape. Scalar loads with sub-dword components or without dword alignment are allowed,
/// because this phase widens them.
pub fn accesses(request: &Request) -> Result<Accesses, LoadError> {
    request.check_shape(MOST_BYTES)?;
    let kind = request.kind;
    let bits = u32::from(request.component_bytes) * 8;
    let size = request.bytes();
    let mut accesses = Accesses::default();
    let mut push = |mut access: Access| {
        // For an LDS access Mesa keeps only the largest power of two that divides the address.
        if kind == Kind::Lds {
            access.align = Alignment { mul: access.align.known(), offset: 0 };
        }
        if accesses.push(access) { Ok(()) } else { Err(LoadError::TooMany(MOST_ACCESSES)) }
    };
    let first = wish(kind, size, bits, request.align);
    if first.bits == bits && first.components == request.components.into() && first.align <= request.align.known() {
        push(Access {
            at: 0,
            bits: bits as u8,
            components: request.components,
            align: request.align,
            shift: Shift::None,
            yields: size,
        })?;
        return Ok(accesses);
    }
    let mut at = 0;
    while at < size {
        let align = request.align.advanced(at.cast_signed());
        let left = size - at;
        let wish = wish(kind, left, bits, align);
        if wish.components == 0 {
            return Err(LoadError::Bytes(left));
        }
        let loaded = wish.bits / 8 * wish.components;
        let access = |at: i32, align: Alignment, shift: Shift, yields: u32| Access {
            at,
            bits: wish.bits as u8,
            components: wish.components as u8,
            align,
            shift,
            yields,
        };
        let place = at.cast_signed();
        let piece = if align.mul < wish.align {
            let lost = wish.align - align.known();
            let rounded = (request.align.offset + at) / wish.align * wish.align;
            let place = rounded.cast_signed() - request.align.offset.cast_signed();
            let align = Alignment { mul: wish.align, offset: 0 };
            access(place, align, Shift::Dynamic, left.min(loaded.saturating_sub(lost)))
        } else if !align.offset.is_multiple_of(wish.align) {
            let lost = align.offset % wish.align;
            let aligned = Alignment { mul: align.mul, offset: align.offset - lost };
            let yields = left.min(loaded - lost);
            access(place - lost.cast_signed(), aligned, Shift::Known(lost as u8), yields)
        } else {
            access(place, align, Shift::None, left.min(loaded))
        };
        if piece.yields == 0 {
            return Err(LoadError::Bytes(left));
        }
        push(piece)?;
        at += piece.yields;
    }
    Ok(accesses)
}
