//! One ring, and its name.

use std::fmt;

use amdgpu_winsys::winsys::{GpuInfo, Ip};

/// One ring of one IP. Prints as `gfx0`, `compute2` or `sdma1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ring {
    pub(crate) ip: Ip,
    pub(crate) index: u32,
}

/// More rings than any kernel offers of one IP; a larger answer is not believed.
const MOST_RINGS: u32 = 32;

impl Ring {
    /// The IPs that the library records for.
    const IPS: [Ip; 3] = [Ip::Gfx, Ip::Compute, Ip::Sdma];

    /// Returns `true` if the ring takes dispatches of compute shaders.
    pub(crate) fn dispatches(self) -> bool {
        matches!(self.ip, Ip::Gfx | Ip::Compute)
    }

    /// Every ring of a GPU that the library can record for.
    pub(crate) fn all(info: &GpuInfo) -> Vec<Self> {
        let of_ip = |ip| (0..info.ring_count(ip).min(MOST_RINGS)).map(move |index| Self { ip, index });
        Self::IPS.into_iter().flat_map(of_ip).collect()
    }
}

impl fmt::Display for Ring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.ip.name().to_ascii_lowercase(), self.index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_is_named_after_its_ip_and_number() {
        let names: Vec<_> =
            [(Ip::Gfx, 0), (Ip::Compute, 2), (Ip::Sdma, 1)].map(|(ip, index)| Ring { ip, index }.to_string()).into();
        assert_eq!(names, ["gfx0", "compute2", "sdma1"]);
    }
}
