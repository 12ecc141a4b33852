//! Block types, orders, restrictions, and the suggestion.

use core::fmt;

use bitflags::bitflags;

use crate::addr2::dimension::Dimension;
use crate::addr2::mode::SwizzleMode;

bitflags! {
    /// Block types, by addrlib's bits (`ADDR2_BLOCK_SET`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Blocks: u8 {
        /// 256 bytes.
        const MICRO = 1;
        /// Thin, 4 KiB.
        const THIN_4K = 1 << 1;
        /// Thick, 4 KiB.
        const THICK_4K = 1 << 2;
        /// Thin, 64 KiB.
        const THIN_64K = 1 << 3;
        /// Thick, 64 KiB.
        const THICK_64K = 1 << 4;
        /// Of variable size (GFX10), thin and 256 KiB (GFX11).
        const BIG = 1 << 5;
        /// Thick, 256 KiB (GFX11).
        const THICK_256K = 1 << 6;
        /// Rows.
        const LINEAR = 1 << 7;
    }
}

bitflags! {
    /// Orders of elements, by addrlib's bits (`ADDR2_SWTYPE_SET`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Orders: u8 {
        /// Depth, Morton.
        const Z = 1;
        /// Standard.
        const S = 1 << 1;
        /// Display.
        const D = 1 << 2;
        /// Rotated, render target.
        const R = 1 << 3;
    }
}

/// Restrictions by the caller on the choice of a mode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Restrictions {
    /// Block types that must not be used.
    pub forbidden: Blocks,
    /// Orders to choose from; empty means any.
    pub preferred: Orders,
    /// No mode with a pipe and bank XOR.
    pub no_xor: bool,
    /// The largest block in bytes; 0 for no limit.
    pub max_align: u32,
    /// Multiple of the smallest size that is acceptable; 0 to weigh sizes as addrlib does by default.
    pub memory_budget: f64,
}

/// The step of a choice that decided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// One mode is all that the description leaves.
    OnlyMode,
    /// The block type was compared by size: the exponent of its bytes and the size of the image with it.
    BlockBySize {
        /// The block type taken.
        block: Blocks,
        /// Bytes of the image with it.
        bytes: u64,
    },
    /// Only one block type is left; the order of elements decided.
    OrderByUse,
}

/// A suggested mode, and from what it was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The mode.
    pub mode: SwizzleMode,
    /// The dimension the mode is meant for.
    pub dimension: Dimension,
    /// All modes that the image can have under the restrictions, as a mask.
    pub modes: u32,
    /// Block types of these modes.
    pub blocks: Blocks,
    /// Orders of these modes.
    pub orders: Orders,
    /// The orders that were preferred.
    pub preferred: Orders,
    /// One of the modes has a pipe and bank XOR.
    pub can_xor: bool,
    /// The step that decided.
    pub reason: Reason,
}

impl fmt::Display for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        bitflags::parser::to_writer(self, f)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlyMode => f.write_str("the only mode that the use leaves"),
            Self::BlockBySize { block, bytes } => write!(f, "blocks {block} suit the size best, {bytes} bytes"),
            Self::OrderByUse => f.write_str("the order of elements suits the use best"),
        }
    }
}
