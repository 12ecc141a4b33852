//! Format modifiers, by which processes and drivers exchange the names of layouts.

mod amd;
mod list;
pub mod rfc2018;

pub use amd::{AmdModifier, DccModifier, MaxBlock, Modifier, ModifierError, TileVersion};
pub(crate) use list::stores_with;
pub use list::{FormatClass, ListOptions, ModifierList, max_extent, supports_image_stores};
