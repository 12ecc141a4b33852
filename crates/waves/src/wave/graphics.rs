//! Exports and interpolation.

use super::{
    registers::lanes,
    state::{Graphics, Wave},
};
use crate::{
    alu::kernel::{Lanes, flush32},
    export::{Export, Interpolant},
    outcome::Reason,
    program::step::{GraphicsStep, Interpolation},
};

/// The number of exports that a wave may make: more than the 64 targets of an export, and less than fills memory.
const MOST_EXPORTS: usize = 256;

/// Returns the lanes of all quads that have a lane in `mask`.
fn quads(mask: u64) -> u64 {
    let any = (mask | mask >> 1 | mask >> 2 | mask >> 3) & 0x1111_1111_1111_1111;
    any * 15
}

/// Returns the values of an attribute's component for the quad of a lane: P0, P10 and P20. Attributes that the wave lacks are 0.
fn values(graphics: &Graphics, lane: usize, attribute: u8, channel: u8) -> [u32; 3] {
    let primitive = graphics.quads.get(lane / 4).and_then(|number| graphics.primitives.get(usize::from(*number)));
    let found: Option<&Interpolant> = primitive.and_then(|attributes| attributes.get(usize::from(attribute)));
    found.map_or([0; 3], |components| components[usize::from(channel) & 3])
}

impl Wave {
    /// Executes an instruction of a graphics shader.
    ///
    /// # Errors
    ///
    /// [`Reason::Exports`] for an export more than [`MOST_EXPORTS`].
    pub(crate) fn graphics_step(&mut self, step: &GraphicsStep) -> Result<(), Reason> {
        let exec = self.registers.exec();
        let Some(graphics) = &mut self.graphics else { return Ok(()) };
        match *step {
            GraphicsStep::Export { target, enabled, is_compressed, is_last, is_valid_mask, sources } => {
                if graphics.exports.len() >= MOST_EXPORTS {
                    return Err(Reason::Exports(MOST_EXPORTS as u32));
                }
                let mut values = [[0; 64]; 4];
                for (index, to) in values.iter_mut().enumerate() {
                    if enabled >> index & 1 == 0 {
                        continue;
                    }
                    let from = sources[if is_compressed { index / 2 } else { index }];
                    let register: &Lanes = &self.registers.vectors[usize::from(from)];
                    for (to, from) in to.iter_mut().zip(register) {
                        *to = match index {
                            _ if !is_compressed => *from,
                            1 | 3 => *from >> 16,
                            _ => *from & 0xffff,
                        };
                    }
                }
                graphics.exports.push(Export {
                    target,
                    enabled,
                    is_compressed,
                    is_last,
                    is_valid_mask,
                    lanes: exec,
                    values,
                });
            }
            GraphicsStep::Interpolate { kind, destination, source, attribute, channel } => {
                let mut out: Lanes = self.registers.vectors[usize::from(destination)].0;
                let flushes = self.registers.mode.flushes_output32();
                for lane in lanes(exec) {
                    let [p0, p10, p20] = values(graphics, lane, attribute, channel);
                    let read = |bits: u32| f32::from_bits(bits);
                    let by = || read(self.registers.vectors[usize::from(source)][lane]);
                    let sum = match kind {
                        Interpolation::Move(0) => p10,
                        Interpolation::Move(1) => p20,
                        Interpolation::Move(_) => p0,
                        Interpolation::First => read(p10).mul_add(by(), read(p0)).to_bits(),
                        Interpolation::Second => read(p20).mul_add(by(), read(out[lane])).to_bits(),
                    };
                    let is_move = matches!(kind, Interpolation::Move(_));
                    out[lane] = if flushes && !is_move { flush32(sum) } else { sum };
                }
                self.registers.write(destination, &out, exec);
            }
            GraphicsStep::Parameter { destination, attribute, channel } => {
                let on = quads(exec) & self.registers.all();
                let mut out: Lanes = [0; 64];
                for lane in lanes(on) {
                    out[lane] = values(graphics, lane, attribute, channel).get(lane % 4).copied().unwrap_or(0);
                }
                self.registers.write(destination, &out, on);
            }
            GraphicsStep::Combine { destination, sources, negates, first_lane, adds_first, clamp } => {
                let mut out: Lanes = [0; 64];
                let flushes = self.registers.mode.flushes_output32();
                for lane in lanes(exec) {
                    let quad = lane & !3;
                    let at = [quad + usize::from(first_lane), lane, if adds_first { quad } else { lane }];
                    let [a, b, c] = [0, 1, 2].map(|index| {
                        let bits = self.registers.lane(sources[index], 1, at[index]) as u32;
                        f32::from_bits(if negates >> index & 1 != 0 { bits ^ 1 << 31 } else { bits })
                    });
                    let sum = a.mul_add(b, c);
                    let sum = if clamp { sum.clamp(0.0, 1.0) } else { sum };
                    out[lane] = if flushes { flush32(sum.to_bits()) } else { sum.to_bits() };
                }
                self.registers.write(destination, &out, exec);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quad_is_whole_if_any_of_its_lanes_is_on() {
        assert_eq!(quads(0), 0);
        assert_eq!(quads(1 << 2 | 1 << 4 | 1 << 63), 0xf000_0000_0000_00ff);
        assert_eq!(quads(u64::MAX), u64::MAX);
    }
}
