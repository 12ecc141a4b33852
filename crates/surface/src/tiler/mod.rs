//! A CPU tiler: one level of an image, prepared so that an address takes a few table look-ups, and copies between rows and
//! tiles.

mod area;
mod blocks;
mod cell;
mod copy;
mod error;
mod plane;
mod subresource;
mod tiles;

pub use blocks::BlockTables;
pub use error::TilerError;
pub use subresource::{Region, Rows, Subresource};

pub(crate) use blocks::{BlockPlan, fill};
pub(crate) use tiles::{Contribution, TilePlan, Turn};
