//! Image operations, decoded.

use crate::atomic::Atomic;

/// VGPRs of addresses that an instruction can have.
pub(super) const MOST_ADDRESSES: usize = 16;

/// An image operation.
#[derive(Clone)]
pub(crate) struct ImageOp {
    pub(crate) operation: Operation,
    /// VGPRs of the address, dword by dword.
    pub(crate) addresses: [u16; MOST_ADDRESSES],
    /// Dimension of the coordinates; up to GFX9 the descriptor says it.
    pub(crate) dimension: Option<u8>,
    /// Up to GFX9: the coordinates have a layer.
    pub(crate) has_layer: bool,
    pub(crate) resource: u8,
    /// The descriptor has four words.
    pub(crate) is_short: bool,
    pub(crate) sampler: u8,
    pub(crate) data: u16,
    /// Components in registers.
    pub(crate) mask: u8,
    /// Data has 16 bits.
    pub(crate) half_data: bool,
    /// Coordinates have 16 bits.
    pub(crate) half_addresses: bool,
    /// Gradients have 16 bits.
    pub(crate) half_gradients: bool,
    pub(crate) unnormalized: bool,
    /// One more register says which pages were missing.
    pub(crate) residency: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Load(Transfer),
    Store(Transfer),
    Atomic {
        atomic: Atomic,
        returns: bool,
    },
    /// Extent, layers and levels.
    Size,
    /// One component of four samples.
    LoadSamples,
    Sample(Lookup),
    Gather(Lookup),
    /// Level of detail: clamped and as computed.
    Lod,
}

/// A load or store of texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Transfer {
    /// The level is the last coordinate.
    pub(crate) has_level: bool,
    /// Elements are not converted.
    pub(crate) is_raw: bool,
    /// Small elements are sign-extended.
    pub(crate) is_signed: bool,
}

/// The level of detail of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Detail {
    /// From the coordinates of neighbouring lanes.
    Neighbours,
    Gradients,
    Explicit,
    Zero,
}

/// A lookup with a sampler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent parts of an operation's name")]
pub(crate) struct Lookup {
    pub(crate) has_offset: bool,
    pub(crate) has_bias: bool,
    pub(crate) compares: bool,
    pub(crate) has_clamp: bool,
    pub(crate) detail: Detail,
}
