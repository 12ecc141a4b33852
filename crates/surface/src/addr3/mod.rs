//! GFX12: images whose swizzle mode is given.
//!
//! Reference: addrlib's third interface (`core/addrlib3.cpp`, `gfx12/gfx12addrlib.cpp`).

mod address;
mod choose;
mod layout;
mod mode;

pub use address::Addresser;
pub use choose::possible_modes;
pub use layout::{Layout, PaddedLevel, layout};
pub use mode::Mode;

pub use crate::addr2::{Dimension, Format};
use crate::chip::Chip;

use bitflags::bitflags;

bitflags! {
    /// The uses of an image that its layout depends on (addrlib's `ADDR3_SURFACE_FLAGS`).
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Usage: u32 {
        /// Depth target.
        const DEPTH = 1;
        /// Stencil target.
        const STENCIL = 1 << 1;
        /// Partially resident.
        const PRT = 1 << 2;
        /// Scanned out by the display.
        const DISPLAY = 1 << 3;
        /// Variable shading rates.
        const VRS = 1 << 4;
        /// HiZ or HiS.
        const HIZ_HIS = 1 << 5;
        /// A volume whose slices are viewed as layers.
        const VIEW_3D_AS_2D = 1 << 6;
    }
}

/// An image whose mode is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// Swizzle mode.
    pub mode: Mode,
    /// Dimension.
    pub dimension: Dimension,
    /// Property of the format.
    pub format: Format,
    /// Bits of an element: 8 to 128.
    pub bits: u32,
    /// Width in elements.
    pub width: u32,
    /// Height in elements.
    pub height: u32,
    /// Array layers, or depth.
    pub slices: u32,
    /// Mip levels.
    pub levels: u32,
    /// Samples.
    pub samples: u32,
    /// Uses.
    pub usage: Usage,
    /// A pitch to use instead of the smallest one (linear images of one level), in elements; 0 for none.
    pub pitch: u32,
}

impl Image {
    /// Returns a two-dimensional image of one layer, level and sample.
    pub const fn new(mode: Mode, bits: u32, width: u32, height: u32) -> Self {
        Self {
            mode,
            dimension: Dimension::D2,
            format: Format::Plain,
            bits,
            width,
            height,
            slices: 1,
            levels: 1,
            samples: 1,
            usage: Usage::empty(),
            pitch: 0,
        }
    }

    pub(crate) fn normalised(&self) -> Self {
        Self {
            width: self.width.max(1),
            height: self.height.max(1),
            slices: self.slices.max(1),
            levels: self.levels.max(1),
            samples: self.samples.max(1),
            ..*self
        }
    }

    fn bytes(&self) -> u32 {
        self.bits >> 3
    }

    fn bytes_log2(&self) -> u32 {
        crate::bits::log2(self.bits >> 3)
    }

    fn is_3d(&self) -> bool {
        self.dimension == Dimension::D3
    }
}

/// Returns the pipe and bank XOR of the `index`-th surface (`Gfx12Lib::HwlComputePipeBankXor`).
pub fn surface_xor(chip: &Chip, mode: Mode, index: u32) -> u32 {
    let bits = if chip.config.pipes >= 3 { chip.config.pipes - 2 } else { 0 };
    if mode.block_bits() > 8 { index & crate::bits::mask(bits) } else { 0 }
}
