//! Swizzle modes of GFX9 to GFX11.

use amdgpu_hw::GfxLevel;

use super::dimension::Dimension;
use crate::chip::Chip;

/// A swizzle mode: the size of a block, and the order of elements in it.
///
/// The numbers are the values of the hardware's SW_MODE fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SwizzleMode(u8);

/// The order of elements in a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Order {
    /// Morton order, used for depth.
    Z,
    /// The standard order.
    S,
    /// The order that the display engine can read.
    D,
    /// The rotated order (GFX9), or the order for render targets (GFX10 and later).
    R,
}

/// Sets of modes, as masks by mode number. Source: the `*SwModeMask` constants of `gfx{9,10,11}addrlib.h`.
pub mod sets {
    /// The linear mode.
    pub const LINEAR: u32 = 1;

    /// The sets of modes that differ by generation.
    #[derive(Clone, Copy, Debug)]
    pub struct Sets {
        /// All modes of the generation.
        pub all: u32,
        /// The modes with blocks of 256 bytes.
        pub block_256: u32,
        /// The modes with blocks of 4 KiB.
        pub block_4k: u32,
        /// The modes with blocks of 64 KiB.
        pub block_64k: u32,
        /// The modes with blocks of variable size (GFX10) or 256 KiB (GFX11).
        pub block_big: u32,
        /// The modes with each order of elements, indexed by [`super::Order`].
        pub orders: [u32; 4],
        /// The modes with a pipe and bank XOR.
        pub xor: u32,
        /// The modes for 1D images.
        pub d1: u32,
        /// The modes for 2D images.
        pub d2: u32,
        /// The modes for 3D images.
        pub d3: u32,
        /// The modes for partially resident 2D images.
        pub d2_prt: u32,
        /// The modes for partially resident 3D images.
        pub d3_prt: u32,
        /// The thin modes for 3D images, by block (4 KiB, 64 KiB, big).
        pub d3_thin: [u32; 3],
        /// The thick modes for 3D images, by block (4 KiB, 64 KiB, big).
        pub d3_thick: [u32; 3],
        /// The modes for 3D images whose slices are viewed as layers.
        pub d3_as_2d: u32,
        /// The modes for multisampled images.
        pub msaa: u32,
    }

    /// The sets of GFX9.
    pub const GFX9: Sets = Sets {
        all: 0x0fff_0fff,
        block_256: 0xe,
        block_4k: 0x00f0_00f0,
        block_64k: 0x0f0f_0f00,
        block_big: 0,
        orders: [0x0111_0110, 0x0222_0222, 0x0444_0444, 0x0888_0888],
        xor: 0x0fff_0000,
        d1: 0x1,
        d2: 0x0fff_0fff,
        d3: 0x0777_0771,
        d2_prt: 0x000f_0ff0,
        d3_prt: 0x0003_0330,
        d3_thin: [0x0040_0040, 0x0404_0400, 0],
        d3_thick: [0x0030_0030, 0x0303_0300, 0],
        d3_as_2d: 0x0444_0441,
        msaa: 0x0fff_0ff0,
    };

    /// The sets of GFX10 and GFX10.3.
    pub const GFX10: Sets = Sets {
        all: 0x9fe6_0667,
        block_256: 0x6,
        block_4k: 0x0060_0060,
        block_64k: 0x0f06_0600,
        block_big: 0x9000_0000,
        orders: [0x1100_0000, 0x0222_0222, 0x0444_0444, 0x8800_0000],
        xor: 0x9f66_0000,
        d1: 0x9900_0001,
        d2: 0x9f66_0667,
        d3: 0x9f22_0221,
        d2_prt: 0x0006_0660,
        d3_prt: 0x0002_0220,
        d3_thin: [0, 0x0900_0000, 0x9000_0000],
        d3_thick: [0x0020_0020, 0x0602_0200, 0],
        d3_as_2d: 0x9900_0001,
        msaa: 0x9900_0000,
    };

    /// The sets of GFX11 and GFX11.5.
    pub const GFX11: Sets = Sets {
        all: 0xff66_0665,
        block_256: 0x4,
        block_4k: 0x0060_0060,
        block_64k: 0x0f06_0600,
        block_big: 0xf000_0000,
        orders: [0x1100_0000, 0x2222_0220, 0x4444_0444, 0x8800_0000],
        xor: 0xff66_0000,
        d1: 0x0900_0001,
        d2: 0xdd44_0445,
        d3: 0xbf22_0221,
        d2_prt: 0x0004_0440,
        d3_prt: 0x0002_0220,
        d3_thin: [0, 0x0900_0000, 0x9000_0000],
        d3_thick: [0x0020_0020, 0x0602_0200, 0x2000_0000],
        d3_as_2d: 0x9900_0001,
        msaa: 0x9900_0000,
    };
}

impl SwizzleMode {
    /// The linear mode.
    pub const LINEAR: Self = Self(0);

    /// Returns the mode with this number; `None` above 31. A generation need not have the mode, see [`Self::exists`].
    pub const fn new(number: u8) -> Option<Self> {
        if number < 32 { Some(Self(number)) } else { None }
    }

    pub(crate) const fn masked(number: u32) -> Self {
        Self((number & 31) as u8)
    }

    /// Returns the number of the mode in SW_MODE fields.
    pub const fn number(self) -> u8 {
        self.0
    }

    pub(crate) const fn bit(self) -> u32 {
        1 << self.0
    }

    /// Returns `true` if the generation has the mode.
    pub const fn exists(self, level: GfxLevel) -> bool {
        sets_of(level).all & self.bit() != 0
    }

    /// Returns `true` if the mode is linear.
    pub const fn is_linear(self) -> bool {
        self.0 == 0
    }

    /// Returns the order of elements. The result is meaningless for the linear mode.
    pub const fn order(self) -> Order {
        match self.0 & 3 {
            0 => Order::Z,
            1 => Order::S,
            2 => Order::D,
            _ => Order::R,
        }
    }

    /// Returns `true` if the address is XORed with pipe and bank bits (`_X`, `_T`).
    pub const fn is_xor(self) -> bool {
        self.0 >= 16
    }

    /// Returns `true` for modes of partially resident images that XOR only inside the block (`_T`).
    pub const fn is_prt_xor(self) -> bool {
        self.0 >= 16 && self.0 < 20
    }

    /// Returns `true` if blocks have 256 bytes.
    pub const fn is_256b(self) -> bool {
        self.0 >= 1 && self.0 <= 3
    }

    /// Returns the base-2 logarithm of the size of a block in bytes; 8 for the linear mode.
    pub const fn block_bits(self, chip: &Chip) -> u32 {
        match self.0 {
            0..=3 => 8,
            4..=7 | 20..=23 => 12,
            8..=11 | 16..=19 | 24..=27 => 16,
            _ => match chip.info.level {
                GfxLevel::Gfx10 => 0,
                // Blocks of variable size: 16 KiB for each pipe (GFX10.3).
                GfxLevel::Gfx10_3 => 14 + chip.config.pipes,
                _ => 18,
            },
        }
    }

    /// Returns `true` if blocks of this mode have more than one slice in an image of this dimension.
    pub fn is_thick(self, level: GfxLevel, dimension: Dimension) -> bool {
        dimension == Dimension::D3
            && !self.is_linear()
            && match self.order() {
                Order::S => true,
                Order::Z => level == GfxLevel::Gfx9,
                Order::D => level != GfxLevel::Gfx9,
                Order::R => false,
            }
    }
}

/// Returns the sets of a generation; GFX11's for generations other than GFX9 to GFX11.
pub(crate) const fn sets_of(level: GfxLevel) -> sets::Sets {
    match level {
        GfxLevel::Gfx9 => sets::GFX9,
        GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => sets::GFX10,
        _ => sets::GFX11,
    }
}

/// Returns a mask of the modes that the display can scan out with elements of `bits` bits.
///
/// Source: `Gfx9Dce12*`, `Gfx9Dcn*`, `Gfx10Dcn*`, `Gfx11Dcn32SwModeMask` and `IsValidDisplaySwizzleMode`.
pub(crate) fn display_modes(chip: &Chip, bits: u32) -> u32 {
    use crate::chip::Family;
    if bits > 64 {
        return 0;
    }
    match (chip.level(), chip.family) {
        (GfxLevel::Gfx9, Family::Vega10 | Family::Vega12 | Family::Vega20) => {
            if bits == 32 {
                0x0cc0_0ccd
            } else {
                0x0cc0_0cc1
            }
        }
        (GfxLevel::Gfx9, Family::Raven | Family::Raven2) => {
            if bits == 64 {
                0x0666_0661
            } else {
                0x0222_0221
            }
        }
        (GfxLevel::Gfx9, Family::Renoir) => {
            if bits == 64 {
                0x0606_0601
            } else {
                0x0202_0201
            }
        }
        (GfxLevel::Gfx9, _) => 0,
        (GfxLevel::Gfx10, Family::Navi10 | Family::Navi12 | Family::Navi14) => {
            if bits == 64 {
                0x0e66_0661
            } else {
                0x0a22_0221
            }
        }
        (GfxLevel::Gfx10 | GfxLevel::Gfx10_3, _) => {
            if bits == 64 {
                0x0e06_0601
            } else {
                0x0a02_0201
            }
        }
        (GfxLevel::Gfx11, family) if family != Family::Phoenix => 0xcc04_0401,
        _ => 0x0c04_0401,
    }
}
