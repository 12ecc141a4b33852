//! Names of rings.

use crate::border::{Answer, Failure};

/// Number of kinds of IPs, and of rings of each.
pub(super) const IPS: usize = 10;
pub(super) const RINGS: usize = 8;

/// A ring of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Ring {
    pub(super) ip: u32,
    pub(super) ring: u32,
}

impl Ring {
    /// Checks the numbers of a ring. There is one instance of each IP; libdrm reads beyond an array for others.
    pub(super) fn new(ip: u32, instance: u32, ring: u32) -> Answer<Self> {
        if ip as usize >= IPS || ring as usize >= RINGS || instance != 0 {
            return Err(Failure::INVALID);
        }
        Ok(Self { ip, ring })
    }

    /// Returns the place of the ring among all.
    pub(super) fn index(self) -> usize {
        self.ip as usize * RINGS + self.ring as usize
    }
}
