//! The request for the layout of one mip level.

use super::image::Usage;
use super::mode::{TileMode, TileType};
use super::setup;
use super::table::TileInfo;

/// One mip level of an image, in elements.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request {
    pub(crate) mode: TileMode,
    pub(crate) tile_type: TileType,
    pub(crate) bits: u32,
    pub(crate) block_compressed: bool,
    /// `true` for formats that thick tiles do not support (GFX7-8).
    pub(crate) packed: bool,
    pub(crate) width: u32,
    pub(crate) height: u32,
    pub(crate) slices: u32,
    /// The number of stored fragments.
    pub(crate) samples: u32,
    pub(crate) coverage: u32,
    pub(crate) level: u32,
    pub(crate) base_pitch: u32,
    pub(crate) usage: Usage,
    /// Macro tile parameters and indices, if given.
    pub(crate) given: Option<(TileInfo, i32, i32)>,
    /// The tile index, if only it is given.
    pub(crate) given_index: Option<i32>,
}

impl Request {
    pub(super) fn setup(&self, mode: TileMode) -> setup::Request {
        setup::Request {
            mode,
            tile_type: self.tile_type,
            bits: self.bits,
            samples: self.samples,
            usage: self.usage,
            given: self.given,
        }
    }
}
