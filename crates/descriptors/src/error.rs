//! Errors: the thing that is refused, and the reason.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::TypedFieldError;
use thiserror::Error;

use crate::format::NoFormat;

/// The refusal of a number in a field of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The generation has no such field.
    #[error("{descriptor} has no {field} on {level}")]
    NoSuchField {
        /// The descriptor.
        descriptor: &'static str,
        /// The field.
        field: &'static str,
        /// The generation.
        level: GfxLevel,
    },
    /// The number does not fit; numbers are never cut.
    #[error("{descriptor}.{field} = {value} is not within {least} to {most}")]
    OutOfRange {
        /// The descriptor.
        descriptor: &'static str,
        /// The field.
        field: &'static str,
        /// The number.
        value: i64,
        /// The smallest number that fits.
        least: i64,
        /// The largest number that fits.
        most: i64,
    },
    /// The field has more bits than the values that hold it.
    #[error("{descriptor}.{field} has {bits} bits, too many for one word")]
    TooManyBits {
        /// The descriptor.
        descriptor: &'static str,
        /// The field.
        field: &'static str,
        /// The bits.
        bits: u32,
    },
    /// The number is no multiple of the field's unit.
    #[error("{descriptor}.{field} = {value:#x} is no multiple of {alignment}")]
    Misaligned {
        /// The descriptor.
        descriptor: &'static str,
        /// The field.
        field: &'static str,
        /// The number.
        value: i64,
        /// The unit.
        alignment: i64,
    },
}

/// Something that a view asks for and that a generation may lack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Feature {
    /// DCC.
    #[error("DCC")]
    Dcc,
    /// HTILE that the texture units read.
    #[error("HTILE")]
    Htile,
    /// FMASK.
    #[error("FMASK")]
    Fmask,
    /// CMASK.
    #[error("CMASK")]
    Cmask,
    /// The ring of vertex attributes.
    #[error("an attribute ring")]
    AttributeRing,
    /// Tiling of another generation.
    #[error("this tiling")]
    Tiling,
    /// A pitch of the view's own.
    #[error("a pitch of its own")]
    Pitch,
    /// Views of a volume's slices.
    #[error("2D views of a volume")]
    SliceView,
    /// A wider format in the place of depth.
    #[error("widened depth")]
    WidenedDepth,
    /// HiZ and HiS.
    #[error("HiZ and HiS")]
    HizHis,
}

/// The refusal of a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DescriptorError {
    /// A number does not go into a field of a descriptor.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A number does not go into a field of a register.
    #[error(transparent)]
    Register(#[from] TypedFieldError),
    /// The generation has no number of a format for a use.
    #[error(transparent)]
    Format(#[from] NoFormat),
    /// The generation lacks something that the view asks for.
    #[error("{level} has no {feature} here")]
    NoFeature {
        /// The feature.
        feature: Feature,
        /// The generation.
        level: GfxLevel,
    },
    /// A number of samples or of stored samples that is no power of two up to 16.
    #[error("{samples} samples, {stored} of them stored")]
    Samples {
        /// The samples.
        samples: u32,
        /// The samples that are stored.
        stored: u32,
    },
    /// A pitch that is zero or no multiple of the generation's unit.
    #[error("a pitch of {pitch} elements of {bytes} bytes is no multiple of {alignment} bytes")]
    Pitch {
        /// The pitch in elements.
        pitch: u32,
        /// The bytes of an element.
        bytes: u32,
        /// The unit in bytes.
        alignment: u32,
    },
    /// An address and offset whose sum leaves the 48 bits that the GPU has.
    #[error("{offset:#x} bytes behind {base:#x} is no GPU address")]
    Address {
        /// The address.
        base: u64,
        /// The offset.
        offset: u64,
    },
    /// A view with more layers or levels than the image has, or in the wrong order.
    #[error("{first} to {last} is no part of {count} {what}")]
    Span {
        /// `levels` or `layers`.
        what: &'static str,
        /// The first.
        first: u32,
        /// The last.
        last: u32,
        /// The number that there are.
        count: u32,
    },
    /// A size of zero.
    #[error("a {0} of zero")]
    Zero(&'static str),
}
