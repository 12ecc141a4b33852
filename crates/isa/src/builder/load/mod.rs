//! Planned loads: recording, and joining of their bytes.

mod join;
mod uniform;

pub use join::LoadFrom;
