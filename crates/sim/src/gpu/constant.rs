//! The memory and counters of the constant engine of GFX6 to GFX10.3.

use super::ram::Ram;

/// The state of the constant engine.
#[derive(Clone, Debug)]
pub(super) struct Constant {
    pub(super) ram: Ram,
    /// The counter that the constant engine increments, modulo 2^32.
    pub(super) ce: u32,
    /// The counter that the draw engine increments, modulo 2^32.
    pub(super) de: u32,
}

impl Constant {
    pub(super) const fn new() -> Self {
        Self { ram: Ram::new(), ce: 0, de: 0 }
    }

    /// Returns by how much the constant engine is ahead of the draw engine.
    pub(super) const fn lead(&self) -> i32 {
        self.ce.wrapping_sub(self.de).cast_signed()
    }
}
