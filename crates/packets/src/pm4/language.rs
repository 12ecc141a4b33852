//! The packet language of PM4 rings: padding and chaining.

use super::header::{HeaderFlags, type3};
use super::indirect_buffer::IndirectBuffer;
use super::opcode;
use super::target::{HEADER_ONLY_NOP, TYPE_2_FILLER, Target};
use crate::{EncodeError, Language, Packet};
use amdgpu_hw::{GfxLevel, GpuVa};

/// The length of the longest NOP in dwords, including the header: COUNT 0x3ffe.
const LONGEST_NOP: usize = 0x4000;

impl Language for Target {
    const PAD_DWORDS: usize = 8;

    const CHAIN_DWORDS: usize = IndirectBuffer::LEN;

    /// A single dword is filled with a one-dword packet. A longer gap is covered by a NOP of the gap's length, whose payload the
    /// engine skips.
    fn fill(self, gap: &mut [u32]) {
        for piece in gap.chunks_mut(LONGEST_NOP) {
            piece.fill(0);
            let len = piece.len();
            if let Some(header) = piece.first_mut() {
                *header = match len {
                    1 if self.level == GfxLevel::Gfx6 => TYPE_2_FILLER,
                    1 => HEADER_ONLY_NOP,
                    _ => type3(opcode::NOP, len - 1, HeaderFlags::empty()),
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
