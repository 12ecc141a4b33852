//! Sizes and addresses of images with a given tile mode, on GFX6 to GFX8.
//!
//! Micro tiles of 8x8 elements form macro tiles, which are spread over pipes and banks. The kernel reports the pipes and banks in
//! tables of tile modes. Reference: AMD's addrlib, `core/addrlib1.cpp` and `r800/`.

mod address;
mod change;
mod image;
mod level;
pub mod mask;
pub mod meta;
mod mode;
mod plan;
mod request;
mod setup;
mod size;
mod table;
mod xor;

pub use address::{Addresser, Tiles};
pub use change::TileChange;
pub use image::{Image, Layout, Level, MAX_LEVELS, Usage};
pub(crate) use level::level;
pub use level::{layout, layout_checked, layout_of_view};
pub use mode::{TileMode, TileType};
pub(crate) use request::Request;
pub use table::macro_mode_index;
pub use table::{TileEntry, TileInfo};
pub(crate) use table::{max_alignments, pipes, tile_of};
pub use xor::{slice_swizzle, surface_swizzle};
