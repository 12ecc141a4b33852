//! Changes of the tile mode during the computation of a layout.

use core::fmt;

/// The reason why addrlib replaced a tile mode (GFX6-8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TileChange {
    /// The generation lacks the mode, and the most similar mode replaces it.
    Missing,
    /// The image is one row high.
    OneRow,
    /// Macro tiles would waste more than half of the image.
    Waste,
    /// A thick tile would exceed a DRAM row.
    RowOfDram,
    /// The level is smaller than a macro tile, or than the banks require.
    SmallLevel,
    /// Stencil has no tile mode that matches the tile mode of depth.
    StencilMatch,
}

impl fmt::Display for TileChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "the generation lacks it",
            Self::OneRow => "the image is one row high",
            Self::Waste => "macro tiles would waste a third or more of the memory",
            Self::RowOfDram => "such a tile is larger than a DRAM row",
            Self::SmallLevel => "the level is smaller than a macro tile",
            Self::StencilMatch => "stencil has no tiles that match",
        })
    }
}
