//! Formats and their hardware numbers on each generation.

mod facts;
mod id;
mod row;
mod swizzle;
mod table;

pub use facts::{ColorFormat, FormatUse, LegacyFormat, NoFormat};
pub use id::Format;
pub use swizzle::Swizzle;
