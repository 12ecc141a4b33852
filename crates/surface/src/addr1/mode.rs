//! Tile modes and tile types of GFX6 to GFX8.

/// A tile mode with addrlib's number (`AddrTileMode`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TileMode(pub(crate) u8);

impl TileMode {
    /// Linear rows with any pitch.
    pub const LINEAR_GENERAL: Self = Self(0);
    /// Linear rows with an aligned pitch.
    pub const LINEAR_ALIGNED: Self = Self(1);
    /// Micro tiles of 8x8 elements.
    pub const THIN_1D: Self = Self(2);
    /// Micro tiles of 8x8x4 elements.
    pub const THICK_1D: Self = Self(3);
    /// Macro tiles; slices are rotated over banks.
    pub const THIN_2D: Self = Self(4);
    /// Macro tiles of thick micro tiles; slices are rotated over banks.
    pub const THICK_2D: Self = Self(7);
    /// Macro tiles; slices are rotated over pipes.
    pub const THIN_3D: Self = Self(12);
    /// Macro tiles of thick micro tiles; slices are rotated over pipes.
    pub const THICK_3D: Self = Self(13);
    /// Macro tiles of micro tiles of 8x8x8 elements; slices are rotated over banks.
    pub const XTHICK_2D: Self = Self(16);
    /// Macro tiles of micro tiles of 8x8x8 elements; slices are rotated over pipes.
    pub const XTHICK_3D: Self = Self(17);
    /// Tiles for partially resident images; slices are not rotated.
    pub const PRT_THIN: Self = Self(19);
    /// Tiles for partially resident images; slices are rotated over banks.
    pub const PRT_THIN_2D: Self = Self(20);
    /// Tiles for partially resident images; slices are rotated over pipes.
    pub const PRT_THIN_3D: Self = Self(21);
    /// Thick tiles for partially resident images; slices are not rotated.
    pub const PRT_THICK: Self = Self(22);
    /// Thick tiles for partially resident images; slices are rotated over banks.
    pub const PRT_THICK_2D: Self = Self(23);
    /// Thick tiles for partially resident images; slices are rotated over pipes.
    pub const PRT_THICK_3D: Self = Self(24);

    /// Returns the mode that has this number in addrlib; `None` if there is no such mode.
    pub const fn new(number: u8) -> Option<Self> {
        match number {
            0..=4 | 7 | 12 | 13 | 16 | 17 | 19..=24 => Some(Self(number)),
            _ => None,
        }
    }

    /// Returns addrlib's number of the mode.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the number of slices in a micro tile.
    pub const fn thickness(self) -> u32 {
        match self.0 {
            3 | 7 | 13 | 22 | 23 | 24 => 4,
            16 | 17 => 8,
            _ => 1,
        }
    }

    /// Returns `true` if the mode is linear.
    pub const fn is_linear(self) -> bool {
        self.0 < 2
    }

    /// Returns `true` if the mode has micro tiles but no macro tiles.
    pub const fn is_micro(self) -> bool {
        matches!(self.0, 2 | 3)
    }

    /// Returns `true` if the mode has macro tiles.
    pub const fn is_macro(self) -> bool {
        self.0 >= 4
    }

    /// Returns `true` if the mode is for partially resident images.
    pub const fn is_prt(self) -> bool {
        self.0 >= 19
    }

    /// Returns `true` if slices are rotated over pipes.
    pub(crate) const fn rotates_pipes(self) -> bool {
        matches!(self.0, 12 | 13 | 17 | 21 | 24)
    }

    /// Decodes the ARRAY_MODE field of GB_TILE_MODE. `level_6` is `true` for GFX6, `false` for GFX7 and GFX8.
    pub const fn of_register(level_6: bool, array_mode: u32) -> Self {
        Self(match array_mode {
            8 => 16,
            n @ 14.. if level_6 => n as u8 + 3,
            n if level_6 => n as u8,
            5 => 19,
            6 => 20,
            9 => 22,
            10 => 23,
            11 => 21,
            14 => 17,
            15 => 24,
            n => n as u8,
        })
    }

    /// Returns the mode with thinner micro tiles that replaces this mode.
    pub(crate) const fn thin(self) -> Self {
        Self(match self.0 {
            3 => 2,
            7 | 16 => 4,
            13 | 17 => 12,
            22 => 19,
            23 => 20,
            24 => 21,
            n => n,
        })
    }

    pub(crate) const fn thick(self) -> Self {
        Self(match self.0 {
            16 => 7,
            17 => 13,
            n => n,
        })
    }
}

/// The order of elements in a micro tile (`AddrTileType`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TileType {
    /// The order that the display reads.
    Display = 0,
    /// Morton order.
    NonDisplay = 1,
    /// Morton order with the samples of a texel together.
    Depth = 2,
    /// The order that the display reads, rotated by 90 degrees.
    Rotated = 3,
    /// Morton order in three dimensions.
    Thick = 4,
}

impl TileType {
    /// Returns the type with addrlib's number; `None` if there is no such type.
    pub const fn new(number: u32) -> Option<Self> {
        Some(match number {
            0 => Self::Display,
            1 => Self::NonDisplay,
            2 => Self::Depth,
            3 => Self::Rotated,
            4 => Self::Thick,
            _ => return None,
        })
    }
}
