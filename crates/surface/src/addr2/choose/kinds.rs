//! Block types, orders, restrictions, and the result of choosing a mode.

use core::fmt;

use bitflags::bitflags;

use crate::addr2::dimension::Dimension;
use crate::addr2::mode::SwizzleMode;

bitflags! {
    /// Sets of block types, with addrlib's bits (`ADDR2_BLOCK_SET`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Blocks: u8 {
        /// Blocks of 256 bytes.
        const MICRO = 1;
        /// Thin blocks of 4 KiB.
        const THIN_4K = 1 << 1;
        /// Thick blocks of 4 KiB.
        const THICK_4K = 1 << 2;
        /// Thin blocks of 64 KiB.
        const THIN_64K = 1 << 3;
        /// Thick blocks of 64 KiB.
        const THICK_64K = 1 << 4;
        /// Blocks of variable size (GFX10); thin blocks of 256 KiB (GFX11).
        const BIG = 1 << 5;
        /// Thick blocks of 256 KiB (GFX11).
        const THICK_256K = 1 << 6;
        /// No blocks: linear rows.
        const LINEAR = 1 << 7;
    }
}

bitflags! {
    /// Sets of orders of elements, with addrlib's bits (`ADDR2_SWTYPE_SET`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Orders: u8 {
        /// The order for depth (Morton order).
        const Z = 1;
        /// The standard order.
        const S = 1 << 1;
        /// The order that the display reads.
        const D = 1 << 2;
        /// The rotated order (GFX9) or the order for render targets (GFX10 and later).
        const R = 1 << 3;
    }
}

/// The caller's restrictions on the choice of a mode.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Restrictions {
    /// The block types that must not be used.
    pub forbidden: Blocks,
    /// The orders to choose from; empty for any order.
    pub preferred: Orders,
    /// `true` to exclude modes with a pipe and bank XOR.
    pub no_xor: bool,
    /// The largest block in bytes; 0 for no limit.
    pub max_align: u32,
    /// The largest acceptable ratio of the size to the smallest size; 0 for addrlib's default rule.
    pub memory_budget: f64,
}

/// The rule that decided the choice of a mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The description allows only one mode.
    OnlyMode,
    /// The block type was chosen by comparing sizes.
    BlockBySize {
        /// The chosen block type.
        block: Blocks,
        /// The size of the image with it, in bytes.
        bytes: u64,
    },
    /// Only one block type is allowed; the use determined the order of elements.
    OrderByUse,
}

/// The preferred mode of an image, and the alternatives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The preferred mode.
    pub mode: SwizzleMode,
    /// The dimension for which the mode was chosen.
    pub dimension: Dimension,
    /// A mask of all modes that the restrictions allow, by mode number.
    pub modes: u32,
    /// The block types of the allowed modes.
    pub blocks: Blocks,
    /// The element orders of the allowed modes.
    pub orders: Orders,
    /// The orders that the description or the restrictions prefer.
    pub preferred: Orders,
    /// `true` if any of the allowed modes has a pipe and bank XOR.
    pub can_xor: bool,
    /// The rule that determined the preferred mode.
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
