//! The addresses of a layer without tables.

use super::area::Area;
use super::cell::Cell;
use super::plane::Plane;
use crate::addr1;
use crate::equation::Texel;

/// A layer in tiles whose addresses are computed one by one, without tables.
pub(super) struct Formula<'a> {
    pub(super) level: &'a addr1::Addresser,
    pub(super) start: u64,
    pub(super) z: u32,
    pub(super) sample: u32,
}

impl Plane for Formula<'_> {
    type Line = u32;

    fn line(&self, y: u32) -> u32 {
        y
    }

    fn at(&self, y: u32, x: u32) -> u64 {
        let texel = Texel { x, y, z: self.z, sample: self.sample, level: 0 };
        // Regions are inside the level, so every element has an address.
        self.level.address(texel).map_or(0, |address| self.start + address)
    }

    fn cell(&self) -> Option<&Cell> {
        None
    }

    fn area(&self) -> Option<&Area> {
        None
    }
}
