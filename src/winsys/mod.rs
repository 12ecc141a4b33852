//! The kernel's objects, one safe wrapper per ioctl.
mod chip;

pub use chip::{GfxLevel, Ip};
