//! Buffers whose descriptor is known.

use amdgpu_hw::GfxLevel;

use super::descriptor::{Buffer, Reach};

/// The parts of an access that determine its buffer and its reach.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    /// The halves of the descriptor, which are compared in registers of the host. Four words would be compared as a vector that was just
    /// written in parts, which costs as much as to decode them.
    pub(crate) halves: (u64, u64),
    /// IDXEN.
    pub(crate) has_index: bool,
    /// The scalar offset.
    pub(crate) scalar: u32,
    /// The number of bytes that must be in range.
    pub(crate) bytes: u32,
}

/// A decoded descriptor, kept for the next access: neighbouring instructions mostly access one buffer in one way.
pub(crate) struct Described {
    level: GfxLevel,
    key: Key,
    pub(crate) buffer: Buffer,
    pub(crate) reach: Reach,
}

impl Described {
    pub(crate) fn new(level: GfxLevel, key: Key) -> Self {
        let (low, high) = key.halves;
        let buffer = Buffer::new(level, [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]);
        Self { level, key, buffer, reach: buffer.reach(key.has_index, key.scalar, key.bytes) }
    }

    /// Describes what an access asks for, unless the last one did.
    #[inline]
    pub(crate) fn describe(&mut self, key: Key) {
        if self.key != key {
            *self = Self::new(self.level, key);
        }
    }
}
