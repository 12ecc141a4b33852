//! Who executes PM4: a generation and a ring.

use std::fmt;

use super::{IndirectBuffer, opcode};
use crate::{EncodeError, Language, Packet};
use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;

/// The kind of ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ring {
    /// The graphics ring: PFP fetches, ME executes.
    Gfx,
    /// A compute ring: MEC does everything, except on GFX6, where the graphics firmware serves compute rings too.
    Compute,
}

/// Who executes PM4 packets: the generation and the kind of ring decide which packets there are and how they look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The graphics generation.
    pub level: GfxLevel,
    /// The kind of ring.
    pub ring: Ring,
}

impl Target {
    /// Every combination, oldest generation first.
    pub fn all() -> impl Iterator<Item = Self> {
        GfxLevel::ALL.into_iter().flat_map(|level| [Self::gfx(level), Self::compute(level)])
    }

    /// The graphics ring of a chip.
    pub const fn gfx(level: GfxLevel) -> Self {
        Self { level, ring: Ring::Gfx }
    }

    /// The compute rings of a chip.
    pub const fn compute(level: GfxLevel) -> Self {
        Self { level, ring: Ring::Compute }
    }

    /// Whether MEC executes the packets. Compute rings of GFX6 take the graphics forms.
    ///
    /// Source: Linux 6.12 `drivers/gpu/drm/radeon/si.c`, `si_vm_packet3_compute_check`; Mesa 25.0.7
    /// `src/amd/vulkan/radv_cs.c`, where `is_mec` asks for GFX7.
    #[inline]
    pub fn is_mec(self) -> bool {
        self.ring == Ring::Compute && self.level >= GfxLevel::Gfx7
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ring = match self.ring {
            Ring::Gfx => "gfx",
            Ring::Compute => "compute",
        };
        write!(f, "the {} {ring} ring", self.level)
    }
}

/// A one-dword filler of type 2, which every generation takes and only GFX6 needs.
pub(super) const TYPE_2_FILLER: u32 = 0x8000_0000;

/// A NOP without payload: the reserved COUNT 0x3fff, known from GFX7 on.
pub(super) const HEADER_ONLY_NOP: u32 = 0xffff_1000;

/// The longest NOP, header included: COUNT 0x3ffe.
const LONGEST_NOP: usize = 0x4000;

impl Language for Target {
    const PAD_DWORDS: usize = 8;

    const CHAIN_DWORDS: usize = IndirectBuffer::LEN;

    /// A single dword takes a filler of its own; anything longer is covered by a NOP as long as the gap, whose body the
    /// engine skips.
    fn fill(self, gap: &mut [u32]) {
        for piece in gap.chunks_mut(LONGEST_NOP) {
            piece.fill(0);
            let len = piece.len();
            if let Some(header) = piece.first_mut() {
                *header = match len {
                    1 if self.level == GfxLevel::Gfx6 => TYPE_2_FILLER,
                    1 => HEADER_ONLY_NOP,
                    _ => super::header::type3(opcode::NOP, len - 1, super::HeaderFlags::empty()),
                };
            }
        }
    }

    fn chain(self, tail: &mut [u32], va: GpuVa, dwords: u32) -> Result<(), EncodeError> {
        IndirectBuffer::chain(va, dwords).encode(self, tail).map(|_| ())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_dword_is_a_type_2_filler_on_gfx6_and_a_bare_nop_later() {
        for level in GfxLevel::ALL {
            let mut gap = [7];
            Target::gfx(level).fill(&mut gap);
            assert_eq!(gap, [if level == GfxLevel::Gfx6 { 0x8000_0000 } else { 0xffff_1000 }]);
        }
    }

    #[test]
    fn a_gap_is_one_nop_whose_body_is_cleared() {
        let mut gap = [7; 5];
        Target::compute(GfxLevel::Gfx9).fill(&mut gap);
        assert_eq!(gap, [0xc003_1000, 0, 0, 0, 0]);
    }

    #[test]
    fn a_gap_above_the_longest_nop_takes_several() {
        let mut gap = vec![7; 0x4001];
        Target::gfx(GfxLevel::Gfx9).fill(&mut gap);
        assert_eq!((gap[0], gap[0x4000]), (0xfffe_1000, 0xffff_1000));
    }
}
