//! The lanes and registers of elements.
//!
//! Row `r` of A and column `r` of B belong to the lanes whose number modulo 16 is `r`; elements of less than 32 bits follow each other
//! from the low bits of the first register on. On GFX11 every such lane has all elements of its row: the first 16 lanes are read,
//! which the others must repeat. On GFX12 the groups of 16 lanes share them, each with as many as fill its registers.
//!
//! An element of C and D in column `c` belongs to a lane whose number modulo 16 is `c`.
//!
//! | generation | wave | row of the element `i` of a lane in the group `g` of 16 lanes |
//! |---|---|---|
//! | GFX11 | 32, 64 | `i` * groups + `g`, in one register each |
//! | GFX12 | 32 | 8 `g` + `i` |
//! | GFX12 | 64 | 8 (`g` mod 2) + 4 (`g` / 2) + `i` |
//!
//! Sources: AMD's matrix instruction calculator for GFX11, `radv_nir_lower_cooperative_matrix` of Mesa for both.

use super::element::Element;

/// The number of rows and columns of C and D.
pub(super) const SIDE: usize = 16;

/// The arrangement of elements in a wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The lanes of the wave: 32 or 64.
    pub(super) lanes: u32,
    /// `true` if every group of 16 lanes has the whole factors (GFX11).
    pub(super) repeats: bool,
}

impl Layout {
    /// Returns the registers of a factor with `depth` elements a row or column.
    pub(super) fn factor_dwords(self, depth: u32, element: Element) -> u32 {
        let bits = depth * element.bits();
        if self.repeats { bits / 32 } else { (16 * bits / self.lanes / 32).max(1) }
    }

    /// Returns the elements of a factor that a lane has.
    pub(super) fn factor_elements(self, depth: u32, element: Element) -> u32 {
        32 * self.factor_dwords(depth, element) / element.bits()
    }

    /// Returns the elements of C or D that a lane has.
    pub(super) fn sum_elements(self) -> u32 {
        256 / self.lanes
    }

    /// Returns `true` if two elements of C or D share a register.
    pub(super) fn packs(self, element: Element) -> bool {
        !self.repeats && element.bits() == 16
    }

    /// Returns the registers of C or D.
    pub(super) fn sum_dwords(self, element: Element) -> u32 {
        if self.packs(element) { self.sum_elements() / 2 } else { self.sum_elements() }
    }

    /// Returns the row of an element of C or D.
    pub(super) fn row(self, lane: usize, index: u32) -> usize {
        let group = lane as u32 / 16;
        let row = match (self.repeats, self.lanes) {
            (true, lanes) => index * (lanes / 16) + group,
            (false, 32) => 8 * group + index,
            (false, _) => 8 * (group % 2) + 4 * (group / 2) + index,
        };
        row as usize % SIDE
    }
}
