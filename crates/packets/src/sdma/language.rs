//! The packet language of copy engines: padding.

use super::version::Version;
use crate::{EncodeError, Language};
use amdgpu_hw::GpuVa;

impl Language for Version {
    const PAD_DWORDS: usize = 16;

    /// The engine's INDIRECT packet is reserved for the kernel.
    const CHAIN_DWORDS: usize = 0;

    fn fill(self, gap: &mut [u32]) {
        gap.fill(self.nop());
    }

    fn chain(self, _: &mut [u32], _: GpuVa, _: u32) -> Result<(), EncodeError> {
        Err(EncodeError::NoSuchPacket { packet: "INDIRECT", target: self.into() })
    }

    /// Padding to a multiple of [`Self::PAD_DWORDS`]; an empty IB is padded to a full block.
    fn padding(self, used: usize, reserve: usize) -> usize {
        match (used + reserve) % Self::PAD_DWORDS {
            0 if used == 0 => Self::PAD_DWORDS,
            0 => 0,
            over => Self::PAD_DWORDS - over,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ib_is_padded_with_the_nops_of_its_version_and_an_empty_one_to_a_full_block() {
        for version in Version::ALL {
            assert_eq!([0, 1, 15, 16, 17].map(|used| version.padding(used, 0)), [16, 15, 1, 0, 15]);
            let mut gap = [7; 3];
            version.fill(&mut gap);
            assert_eq!(gap, [if version == Version::V1_0 { 0xf000_0000 } else { 0 }; 3]);
        }
    }
}
