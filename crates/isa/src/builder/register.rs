//! Handles of registers.

use std::fmt;

/// Consecutive scalar registers. `Display` prints assembler text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// The number of the first register; 106 is VCC.
    pub first: u8,
    /// The number of registers.
    pub count: u8,
}

/// Consecutive vector registers. `Display` prints assembler text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vector {
    /// The number of the first register.
    pub first: u8,
    /// The number of registers.
    pub count: u8,
}

/// The number of TTMP0. On GFX12 TTMP registers contain the work-group IDs.
pub(super) const TTMP: u8 = 108;

impl Scalar {
    /// Returns `count` of the registers, starting at `index`.
    #[must_use]
    pub const fn part(self, index: u8, count: u8) -> Self {
        Self { first: self.first + index, count }
    }

    /// Returns the register with this index.
    #[must_use]
    pub const fn at(self, index: u8) -> Self {
        self.part(index, 1)
    }
}

impl Vector {
    /// Returns `count` of the registers, starting at `index`.
    #[must_use]
    pub const fn part(self, index: u8, count: u8) -> Self {
        Self { first: self.first.wrapping_add(index), count }
    }

    /// Returns the register with this index.
    #[must_use]
    pub const fn at(self, index: u8) -> Self {
        self.part(index, 1)
    }
}

fn range(f: &mut fmt::Formatter<'_>, class: &str, first: u8, count: u8) -> fmt::Result {
    if count <= 1 {
        write!(f, "{class}{first}")
    } else {
        write!(f, "{class}[{first}:{}]", u16::from(first) + u16::from(count) - 1)
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.first, self.count) {
            (106, 2) => f.write_str("vcc"),
            (106, _) => f.write_str("vcc_lo"),
            (107, _) => f.write_str("vcc_hi"),
            (first, count) if first >= TTMP => range(f, "ttmp", first - TTMP, count),
            (first, count) => range(f, "s", first, count),
        }
    }
}

impl fmt::Display for Vector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        range(f, "v", self.first, self.count)
    }
}

/// An allocator of the registers of one class.
#[derive(Clone, Debug)]
pub(super) struct Pool {
    taken: [bool; 256],
    limit: usize,
    /// The maximum number of registers in use: one more than the highest number.
    pub(super) most: usize,
}

impl Pool {
    pub(super) fn new(limit: usize) -> Self {
        Self { taken: [false; 256], limit, most: 0 }
    }

    /// Allocates consecutive registers whose first number is a multiple of `align`; `None` if there are none left.
    pub(super) fn take(&mut self, count: u8, align: usize) -> Option<u8> {
        let count = usize::from(count);
        let first = (0..=self.limit.checked_sub(count)?)
            .step_by(align.max(1))
            .find(|&first| self.taken[first..first + count].iter().all(|taken| !taken))?;
        self.taken[first..first + count].fill(true);
        self.most = self.most.max(first + count);
        u8::try_from(first).ok()
    }

    /// Frees registers.
    pub(super) fn free(&mut self, first: u8, count: u8) {
        let first = usize::from(first);
        if let Some(taken) = self.taken.get_mut(first..first + usize::from(count)) {
            taken.fill(false);
        }
    }
}
