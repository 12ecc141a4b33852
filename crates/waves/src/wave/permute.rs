//! DS operations that move values between lanes.

use amdgpu_hw::GfxLevel;

use super::state::Wave;
use crate::program::decoded_inst::{LdsKind, LdsOp};

/// Returns the lane that `lane` reads by a swizzle pattern. LLVM has names for rotations from GFX9 on, but ACO uses them for clustered
/// rotations on GFX8 too (Mesa 25.0.7, `emit_rotate_by_constant`).
fn swizzled(lane: u32, pattern: u32, level: GfxLevel) -> u32 {
    if pattern & 0x8000 == 0 {
        let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
        return lane & 32 | ((lane & 31 & and | or) ^ xor);
    }
    match pattern >> 13 {
        // Rotation within 32 lanes by bits 9:5, upwards if bit 10 is set; lanes of the mask stay.
        6 if level >= GfxLevel::Gfx8 => {
            let (keep, amount) = (pattern & 31, pattern >> 5 & 31);
            let moved = if pattern & 0x400 != 0 { lane.wrapping_sub(amount) } else { lane.wrapping_add(amount) };
            lane & 32 | lane & keep | moved & 31 & !keep
        }
        // Reversal of bits, as a Fourier transform needs it.
        7 if level >= GfxLevel::Gfx9 => {
            let mode = pattern & 31;
            let swizzled = if mode >= 0x1f {
                lane & 31
            } else {
                let mask = mode;
                let reversed = (0..5).fold(0, |result, bit| result | (lane >> bit & 1) << (4 - bit));
                reversed & !mask | lane & mask
            };
            lane & 32 | swizzled & 31
        }
        _ => lane & !3 | pattern >> (2 * (lane & 3)) & 3,
    }
}

impl Wave {
    /// Executes `ds_swizzle`, `ds_permute` or `ds_bpermute`.
    pub(super) fn permute(&mut self, op: &LdsOp) {
        let exec = self.registers.exec();
        let lanes = self.registers.lanes;
        let level = self.registers.level;
        let is_on = |lane: u32| exec >> lane & 1 != 0;
        let mut out = [0; 64];
        let value = |register: u16, lane: u32| self.registers.vectors[usize::from(register)][lane as usize];
        // Lanes of one half do not see the other on GFX10 and GFX11.
        let halves = level >= GfxLevel::Gfx10 && level < GfxLevel::Gfx12;
        let within = |lane: u32, index: u32| if halves { lane & 32 | index & 31 } else { index & (lanes - 1) };
        for lane in 0..lanes {
            match op.kind {
                LdsKind::Swizzle => {
                    let from = swizzled(lane, op.offset, level);
                    out[lane as usize] = if is_on(from) { value(op.address, from) } else { 0 };
                }
                LdsKind::BackwardPermute => {
                    let index = value(op.address, lane).wrapping_add(op.offset) / 4;
                    let from = within(lane, index);
                    out[lane as usize] = if is_on(from) { value(op.data[0], from) } else { 0 };
                }
                _ if is_on(lane) => {
                    let index = value(op.address, lane).wrapping_add(op.offset) / 4;
                    out[within(lane, index) as usize] = value(op.data[0], lane);
                }
                _ => {}
            }
        }
        self.registers.write(op.destination, &out, exec);
    }
}

#[cfg(test)]
mod tests {
    use amdgpu_hw::GfxLevel;

    use super::swizzled;

    fn all(pattern: u32, level: GfxLevel) -> Vec<u32> {
        (0..64).map(|lane| swizzled(lane, pattern, level)).collect()
    }

    #[test]
    fn masks_work_within_32_lanes() {
        let (and, or, xor) = (0b10111, 0b00100, 0b00010);
        let expected: Vec<u32> = (0..64).map(|lane| lane / 32 * 32 + ((((lane % 32) & and) | or) ^ xor)).collect();
        assert_eq!(all(and | or << 5 | xor << 10, GfxLevel::Gfx6), expected);
    }

    #[test]
    fn quads_are_permuted() {
        let expected: Vec<u32> = (0..64).map(|lane| lane / 4 * 4 + [2, 0, 3, 1][lane as usize % 4]).collect();
        assert_eq!(all(0x8000 | 2 | 3 << 4 | 1 << 6, GfxLevel::Gfx6), expected);
    }

    #[test]
    fn lanes_rotate_within_clusters_from_gfx8_on() {
        // By three lanes within eight: bits 4 and 3 of the lane stay.
        let pattern = 0xc000 | 3 << 5 | 0x18;
        let expected: Vec<u32> = (0..64).map(|lane| lane / 8 * 8 + (lane + 3) % 8).collect();
        assert_eq!(all(pattern, GfxLevel::Gfx8), expected);
        assert_eq!(all(pattern, GfxLevel::Gfx11), expected);
        let upwards: Vec<u32> = (0..64).map(|lane| lane / 8 * 8 + (lane + 5) % 8).collect();
        assert_eq!(all(pattern | 0x400, GfxLevel::Gfx9), upwards);
    }

    #[test]
    fn bits_are_reversed_from_gfx9_on() {
        let reversed: Vec<u32> = (0..64_u32).map(|lane| lane & 32 | lane.reverse_bits() >> 27).collect();
        assert_eq!(all(0xe000, GfxLevel::Gfx9), reversed);
        assert_eq!(all(0xe01f, GfxLevel::Gfx9), (0..64).collect::<Vec<_>>());
    }
}
