//! One description per packet, read in two directions.
//!
//! A packet is described by one function that walks its dwords in order and names each field with its bits:
//!
//! ```text
//! let mut d = wire.open()?;                                      // the next dword
//! let sel = d.bits::<11, 8>("dst_sel", self.dst.selector())?;    // bits 11:8
//! let confirm = d.flag::<20>(self.confirm);                      // bit 20
//! wire.close(d)?;                                                // nothing else may be set
//! ```
//!
//! Run over a [`Writer`](super::wire::Writer) a field takes the value it is handed and puts it on the wire; over a
//! [`Reader`](super::wire::Reader) it ignores that value and answers with what the wire holds; over a
//! [`Counter`](super::wire::Counter) it only counts. Either way the function returns the packet, so what was written
//! and what is read back can not drift apart. Bits that no field claims must be zero: the reader refuses them, which
//! catches a packet of another generation before it does something else than was meant.
//!
//! Everything is generic and small: encoding compiles to the same shifts and stores one would write by hand. A writer does
//! not say what is wrong, only that something is ([`Unfit`](super::wire::Unfit)), so that its checks are one comparison
//! each and no code that puts errors together stands between the stores; whoever is refused asks a counter, which runs
//! over the same description.

#![expect(clippy::inline_always, reason = "as in the writer: what is not inlined is not folded away")]

use amdgpu_hw::{GpuVa, InTheHole};

/// Why a value does not fit its packet, or dwords do not make one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The field is too narrow for the value; values are never cut.
    #[error("{field} = {value:#x} is above {max:#x}, the most its field holds")]
    TooWide {
        /// The field's name.
        field: &'static str,
        /// What was to be stored.
        value: u64,
        /// The largest value that fits.
        max: u64,
    },
    /// A selector holds a number that means nothing here, or means something this library does not do.
    #[error("{field} = {value:#x} is not known here")]
    Unknown {
        /// The field's name.
        field: &'static str,
        /// The number found.
        value: u32,
    },
    /// Flag bits that have no meaning on this generation or ring.
    #[error("{field} has bits {bits:#x} that mean nothing here")]
    Flags {
        /// The field's name.
        field: &'static str,
        /// The bits that are too many, at their place in the value.
        bits: u32,
    },
    /// Bits set that belong to no field.
    #[error("bits {bits:#x} of dword {dword} belong to no field")]
    Reserved {
        /// Index of the dword, counted from the header, which is 0.
        dword: usize,
        /// The bits that should have been zero.
        bits: u32,
    },
    /// The address is not canonical.
    #[error("{field}: {source}")]
    Address {
        /// The field's name.
        field: &'static str,
        /// The address.
        source: InTheHole,
    },
    /// The value is not a multiple of what the hardware asks for.
    #[error("{field} = {value:#x} is not a multiple of {multiple}")]
    Misaligned {
        /// The field's name.
        field: &'static str,
        /// The address or length.
        value: u64,
        /// What it should be a multiple of, in bytes.
        multiple: u64,
    },
    /// The value is zero where the hardware has no way to say zero, or gives it another meaning.
    #[error("{field} is empty")]
    Empty {
        /// The field's name.
        field: &'static str,
    },
    /// This generation or ring has no such variant of the packet.
    #[error("{form} is not possible here")]
    NoSuchForm {
        /// What was asked for, in words.
        form: &'static str,
    },
    /// This generation or ring has no such field in the packet, or another field says that it means nothing.
    #[error("there is no {field} here")]
    NoSuchField {
        /// The field's name.
        field: &'static str,
    },
    /// The dwords end before the packet does.
    #[error("dword {dword} is missing")]
    Missing {
        /// Index of the last dword known to be missing, counted from the header, which is 0.
        dword: usize,
    },
    /// The packet ends before its dwords do.
    #[error("{dwords} dwords follow the last field")]
    Surplus {
        /// How many dwords no field claims.
        dwords: usize,
    },
}

/// Checks a condition that holds for every legal packet, in both directions.
#[inline(always)]
pub(crate) const fn require(holds: bool, otherwise: FieldError) -> Result<(), FieldError> {
    if holds { Ok(()) } else { Err(otherwise) }
}

/// Refuses a variant that this generation or ring does not have.
#[inline(always)]
pub(crate) const fn require_form(holds: bool, form: &'static str) -> Result<(), FieldError> {
    require(holds, FieldError::NoSuchForm { form })
}

/// Checks that an address or length is a multiple of `multiple`, a power of two.
#[inline(always)]
pub(crate) const fn require_multiple(field: &'static str, value: u64, multiple: u64) -> Result<(), FieldError> {
    require(value & (multiple - 1) == 0, FieldError::Misaligned { field, value, multiple })
}

/// Joins the halves of an address read from the wire.
#[inline(always)]
pub(crate) fn join(field: &'static str, low: u32, high: u32) -> Result<GpuVa, FieldError> {
    GpuVa::from_halves(low, high).map_err(|source| FieldError::Address { field, source })
}

/// An enum whose variants are numbers on the wire. Made by [`choices!`](crate::field::choices).
pub(crate) trait Choice: Copy {
    /// The bits that the numbers need.
    const BITS: u32;
    /// The variant's number.
    fn raw(self) -> u32;
    /// The variant with this number.
    fn from_raw(raw: u32) -> Option<Self>;
}

/// Declares an enum and its numbers in one place.
macro_rules! choices {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$doc:meta])* $variant:ident = $raw:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$doc])* $variant = $raw,)+ }

        impl $name {
            /// Every value, by its number on the wire.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];
        }

        impl $crate::field::Choice for $name {
            const BITS: u32 = $($raw)|+;

            #[inline]
            fn raw(self) -> u32 {
                self as u32
            }

            #[inline]
            fn from_raw(raw: u32) -> Option<Self> {
                match raw {
                    $($raw => Some(Self::$variant),)+
                    _ => None,
                }
            }
        }
    };
}
pub(crate) use choices;

/// The fields of one dword.
pub(crate) trait Bits {
    /// What is told of a field that is refused.
    type Error: From<FieldError>;

    /// The bits of `mask`, left in place. Writing: refuses a value with other bits.
    fn masked(&mut self, field: &'static str, mask: u32, value: u32) -> Result<u32, Self::Error>;

    /// A number in bits `HI..=LO`.
    fn bits<const HI: u32, const LO: u32>(&mut self, field: &'static str, value: u32) -> Result<u32, Self::Error>;

    /// Bit `BIT`.
    fn flag<const BIT: u32>(&mut self, value: bool) -> bool;

    /// An enum in bits `HI..=LO`.
    fn choice<const HI: u32, const LO: u32, C: Choice>(
        &mut self,
        field: &'static str,
        value: C,
    ) -> Result<C, Self::Error>;

    /// A number in bits `HI..=LO` that every such packet carries.
    #[inline(always)]
    fn fixed<const HI: u32, const LO: u32>(&mut self, field: &'static str, value: u32) -> Result<(), Self::Error> {
        let found = self.bits::<HI, LO>(field, value)?;
        Ok(require(found == value, FieldError::Unknown { field, value: found })?)
    }

    /// The low half of an address, in place, in bits `31..=LO`: a multiple of `1 << LO`.
    #[inline(always)]
    fn aligned<const LO: u32>(&mut self, field: &'static str, value: u32) -> Result<u32, Self::Error> {
        require_multiple(field, value.into(), 1 << LO)?;
        self.masked(field, u32::MAX << LO, value)
    }
}

/// A packet being written, read or counted, one dword after the other.
pub(crate) trait Wire<'a> {
    /// What is told of a packet that is refused.
    type Error: From<FieldError>;

    /// One dword on its way.
    type Dword: Bits<Error = Self::Error>;

    /// Begins the next dword.
    fn open(&mut self) -> Result<Self::Dword, Self::Error>;

    /// Ends a dword. Reading: every set bit must have been claimed.
    fn close(&mut self, dword: Self::Dword) -> Result<(), Self::Error>;

    /// Exactly `count` dwords of payload. Writing: `data`, whose length is `count`.
    fn take(&mut self, data: &'a [u32], count: usize) -> Result<&'a [u32], Self::Error>;

    /// The dwords up to the end of the packet. Writing: `data`.
    fn rest(&mut self, data: &'a [u32]) -> Result<&'a [u32], Self::Error>;

    /// The address whose halves were just described. Writing: `va`, which they came from.
    #[inline(always)]
    fn joined(&self, field: &'static str, _va: GpuVa, low: u32, high: u32) -> Result<GpuVa, Self::Error> {
        Ok(join(field, low, high)?)
    }

    /// A dword that is one number.
    #[inline(always)]
    fn word(&mut self, value: u32) -> Result<u32, Self::Error> {
        let mut d = self.open()?;
        let value = d.masked("dword", u32::MAX, value)?;
        self.close(d)?;
        Ok(value)
    }

    /// A dword without fields.
    #[inline(always)]
    fn zero(&mut self) -> Result<(), Self::Error> {
        let d = self.open()?;
        self.close(d)
    }

    /// A 64-bit number, low half first.
    #[inline(always)]
    fn wide(&mut self, value: u64) -> Result<u64, Self::Error> {
        let low = self.word(value as u32)?;
        let high = self.word((value >> 32) as u32)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    /// An address in two dwords, low half first: a multiple of `1 << LO`, with bits `HI..=0` of the high half.
    #[inline(always)]
    fn address<const LO: u32, const HI: u32>(&mut self, field: &'static str, va: GpuVa) -> Result<GpuVa, Self::Error> {
        let mut d = self.open()?;
        let low = d.aligned::<LO>(field, va.low())?;
        self.close(d)?;
        let mut d = self.open()?;
        let high = d.bits::<HI, 0>(field, va.high())?;
        self.close(d)?;
        self.joined(field, va, low, high)
    }
}
