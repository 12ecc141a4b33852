//! Copies between linear rows and tiled images on the CPU. A level of an image is prepared once; each address then takes a few
//! table look-ups.

mod area;
mod blocks;
mod cell;
mod copy;
mod error;
mod formula;
mod line;
mod plane;
mod subresource;
mod tiles;

pub use blocks::BlockTables;
pub use error::TilerError;
pub use line::Line;
pub use subresource::{Region, Rows, Subresource};

pub(crate) use blocks::{BlockPlan, fill};
pub(crate) use tiles::{Contribution, TilePlan, Turn};
