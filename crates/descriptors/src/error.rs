//! Errors of fields and views.

use amdgpu_hw::GfxLevel;
use amdgpu_registers::TypedFieldError;
use thiserror::Error;

use crate::format::NoFormat;

/// An error of accessing a field of a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum FieldError {
    /// The field does not exist on the generation.
    #[error("{descriptor} has no {field} on {level}")]
    NoSuchField {
        /// The name of the kind of descriptor.
        descriptor: &'static str,
        /// The name of the field.
        field: &'static str,
        /// The generation that lacks the field.
        level: GfxLevel,
    },
    /// The number does not fit into the field. Numbers are never truncated.
    #[error("{descriptor}.{field} = {value} is not within {least} to {most}")]
    OutOfRange {
        /// The name of the kind of descriptor.
        descriptor: &'static str,
        /// The name of the field.
        field: &'static str,
        /// The rejected number.
        value: i64,
        /// The smallest number that fits.
        least: i64,
        /// The largest number that fits.
        most: i64,
    },
    /// The field has more bits than the [`Word`](crate::Word) type that a [`Handler`](crate::Handler) works on.
    #[error("{descriptor}.{field} has {bits} bits, too many for one word")]
    TooManyBits {
        /// The name of the kind of descriptor.
        descriptor: &'static str,
        /// The name of the field.
        field: &'static str,
        /// The number of bits of the field.
        bits: u32,
    },
    /// The number is not a multiple of the field's unit.
    #[error("{descriptor}.{field} = {value:#x} is no multiple of {alignment}")]
    Misaligned {
        /// The name of the kind of descriptor.
        descriptor: &'static str,
        /// The name of the field.
        field: &'static str,
        /// The rejected number.
        value: i64,
        /// The unit: the alignment that the number must have.
        alignment: i64,
    },
}

/// A feature of a view or target that not all generations support.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Feature {
    /// Delta colour compression (DCC).
    #[error("DCC")]
    Dcc,
    /// HTILE that the texture units can read.
    #[error("HTILE")]
    Htile,
    /// FMASK, the map of samples to stored fragments.
    #[error("FMASK")]
    Fmask,
    /// CMASK, the metadata for fast clears and FMASK compression.
    #[error("CMASK")]
    Cmask,
    /// The ring buffer for vertex attributes.
    #[error("an attribute ring")]
    AttributeRing,
    /// A tiling description that belongs to another generation.
    #[error("this tiling")]
    Tiling,
    /// A pitch that differs from the one the hardware derives from the width.
    #[error("a pitch of its own")]
    Pitch,
    /// 2D views of slices of a 3D image.
    #[error("2D views of a volume")]
    SliceView,
    /// A depth format that is wider than the requested one.
    #[error("widened depth")]
    WidenedDepth,
    /// HiZ and HiS, the hierarchical depth and stencil buffers of GFX12.
    #[error("HiZ and HiS")]
    HizHis,
}

/// An error of building a descriptor or register values from a view or target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DescriptorError {
    /// A number does not fit into a field of a descriptor.
    #[error(transparent)]
    Field(#[from] FieldError),
    /// A number does not fit into a field of a register.
    #[error(transparent)]
    Register(#[from] TypedFieldError),
    /// The generation does not support the format for this use.
    #[error(transparent)]
    Format(#[from] NoFormat),
    /// The generation does not support a feature that the view needs.
    #[error("{level} has no {feature} here")]
    NoFeature {
        /// The missing feature.
        feature: Feature,
        /// The generation that lacks the feature.
        level: GfxLevel,
    },
    /// The number of samples or of stored samples is not a power of two up to 16.
    #[error("{samples} samples, {stored} of them stored")]
    Samples {
        /// The number of samples.
        samples: u32,
        /// The number of stored samples.
        stored: u32,
    },
    /// The pitch is zero or not a multiple of the generation's unit.
    #[error("a pitch of {pitch} elements of {bytes} bytes is no multiple of {alignment} bytes")]
    Pitch {
        /// The rejected pitch in elements.
        pitch: u32,
        /// The size of an element in bytes.
        bytes: u32,
        /// The required alignment of the pitch in bytes.
        alignment: u32,
    },
    /// The sum of address and offset exceeds the 48 bits of GPU addresses.
    #[error("{offset:#x} bytes behind {base:#x} is no GPU address")]
    Address {
        /// The base address.
        base: u64,
        /// The offset in bytes.
        offset: u64,
    },
    /// The view has levels or layers that the image does not have, or its last level or layer is before the first.
    #[error("{first} to {last} is no part of {count} {what}")]
    Span {
        /// The kind of range: `levels` or `layers`.
        what: &'static str,
        /// The first level or layer of the view.
        first: u32,
        /// The last level or layer of the view.
        last: u32,
        /// The number of levels or layers of the image.
        count: u32,
    },
    /// A size is zero; the text names it.
    #[error("a {0} of zero")]
    Zero(&'static str),
}
