//! The constant engine's memory and counters, GFX6 to GFX10.3.

use super::ram::Ram;

/// State of the constant engine.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) ram: Ram,
    /// Raised by the constant engine; modulo 2^32.
    pub(super) ce: u32,
    /// Raised by the draw engine; modulo 2^32.
    pub(super) de: u32,
}

impl Constant {
    pub(super) const fn new() -> Self {
        Self { ram: Ram::new(), ce: 0, de: 0 }
    }

    /// Returns the lead of the constant engine.
    pub(super) const fn lead(&self) -> i32 {
        self.ce.wrapping_sub(self.de).cast_signed()
    }
}
