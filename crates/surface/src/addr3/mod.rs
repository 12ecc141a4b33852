//! Sizes and addresses of images with a given swizzle mode, on GFX12.
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
        /// The image is a depth target.
        const DEPTH = 1;
        /// The image is a stencil target.
        const STENCIL = 1 << 1;
        /// The image is partially resident.
        const PRT = 1 << 2;
        /// The display scans out the image.
        const DISPLAY = 1 << 3;
        /// The image contains shading rates.
        const VRS = 1 << 4;
        /// The image is HiZ or HiS.
        const HIZ_HIS = 1 << 5;
        /// The image is 3D, and its slices are viewed as layers.
        const VIEW_3D_AS_2D = 1 << 6;
    }
}

/// The description of an image with a given swizzle mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Image {
    /// The swizzle mode of the image.
    pub mode: Mode,
    /// The dimension of the image: 1D, 2D or 3D.
    pub dimension: Dimension,
    /// The class of the format, which restricts the modes.
    pub format: Format,
    /// The size of an element in bits: 8 to 128.
    pub bits: u32,
    /// The width of level 0 in elements.
    pub width: u32,
    /// The height of level 0 in elements.
    pub height: u32,
    /// The number of array layers, or the depth of a 3D image.
    pub slices: u32,
    /// The number of mip levels.
    pub levels: u32,
    /// The number of samples.
    pub samples: u32,
    /// The uses of the image.
    pub usage: Usage,
    /// A pitch to use instead of the minimum, in elements (linear images of one level); 0 for the minimum.
    pub pitch: u32,
}

impl Image {
    /// Creates the description of a 2D image with one layer, level and sample.
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

    /// Returns the number of units of a pitch in an element: elements of 96 bits are laid out as three of 32 bits.
    const fn expansion(&self) -> u32 {
        if self.bits == 96 { 3 } else { 1 }
    }

    fn bytes_log2(&self) -> u32 {
        crate::bits::log2(self.bits >> 3)
    }

    fn is_3d(&self) -> bool {
        self.dimension == Dimension::D3
    }
}

/// Returns the pipe and bank XOR of the surface with this index (`Gfx12Lib::HwlComputePipeBankXor`).
pub fn surface_xor(chip: &Chip, mode: Mode, index: u32) -> u32 {
    let bits = if chip.config.pipes >= 3 { chip.config.pipes - 2 } else { 0 };
    if mode.block_bits() > 8 { index & crate::bits::mask(bits) } else { 0 }
}
