//! DS operations that move values between lanes.

use amdgpu_hw::GfxLevel;

use super::state::Wave;
use crate::program::step::{LdsKind, LdsStep};

/// Returns the lane that `lane` reads by a swizzle pattern.
fn swizzled(lane: u32, pattern: u32, newer: bool) -> u32 {
    if pattern & 0x8000 == 0 {
        let (and, or, xor) = (pattern & 31, pattern >> 5 & 31, pattern >> 10 & 31);
        return lane & 32 | ((lane & 31 & and | or) ^ xor);
    }
    match pattern >> 13 {
        // Rotation within 32 lanes by bits 9:5, upwards if bit 10 is set; lanes of the mask stay.
        6 if newer => {
            let (keep, amount) = (pattern & 31, pattern >> 5 & 31);
            let moved = if pattern & 0x400 != 0 { lane.wrapping_sub(amount) } else { lane.wrapping_add(amount) };
            lane & 32 | lane & keep | moved & 31 & !keep
        }
        // Reversal of bits, as a Fourier transform needs it.
        7 if newer => {
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
    pub(super) fn permute(&mut self, step: &LdsStep) {
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
            match step.kind {
                LdsKind::Swizzle => {
                    let from = swizzled(lane, step.offset, level >= GfxLevel::Gfx9);
                    out[lane as usize] = if is_on(from) { value(step.address, from) } else { 0 };
                }
                LdsKind::BackwardPermute => {
                    let index = value(step.address, lane).wrapping_add(step.offset) / 4;
                    let from = within(lane, index);
                    out[lane as usize] = if is_on(from) { value(step.data[0], from) } else { 0 };
                }
                _ if is_on(lane) => {
                    let index = value(step.address, lane).wrapping_add(step.offset) / 4;
                    out[within(lane, index) as usize] = value(step.data[0], lane);
                }
                _ => {}
            }
        }
        self.registers.write(step.destination, &out, exec);
    }
}
