//! Exports and interpolation.

use super::state::{Graphics, Wave};
use crate::{
    alu::{
        kernel::{LANES, Lane, Lanes, flush32},
        unit::{Unit, for_each_unit},
    },
    export::{Export, Interpolant},
    outcome::Reason,
    program::decoded_inst::{GraphicsOp, Interpolation, Source},
};

/// The number of quads of the larger wave.
const QUADS: usize = LANES / 4;

/// The number of exports that a wave may make: more than the 64 targets of an export, and less than fills memory.
const MOST_EXPORTS: usize = 256;

/// Returns the lanes of all quads that have a lane in `mask`.
fn quads(mask: u64) -> u64 {
    let any = (mask | mask >> 1 | mask >> 2 | mask >> 3) & 0x1111_1111_1111_1111;
    any * 15
}

/// Returns the values of an attribute's component for a primitive: P0, P10 and P20. Attributes that the wave lacks are 0.
fn of_primitive(graphics: &Graphics, number: u16, attribute: u8, channel: u8) -> [u32; 3] {
    let attributes = graphics.primitives.get(usize::from(number));
    let found: Option<&Interpolant> = attributes.and_then(|all| all.get(usize::from(attribute)));
    found.map_or([0; 3], |components| components[usize::from(channel) & 3])
}

/// The values of an attribute's component for the quads of a wave: P0, P10 and P20.
enum Values {
    /// Those of the only primitive, which count for lanes that are off too.
    Same([u32; 3]),
    /// Those of each quad.
    Own(Box<[[u32; 3]; QUADS]>),
}

impl Values {
    fn new(graphics: &Graphics, attribute: u8, channel: u8) -> Self {
        if let Some(only) = graphics.only {
            return Self::Same(of_primitive(graphics, only, attribute, channel));
        }
        let mut all = Box::new([[0; 3]; QUADS]);
        for (quad, number) in all.iter_mut().zip(&graphics.quads) {
            *quad = of_primitive(graphics, *number, attribute, channel);
        }
        Self::Own(all)
    }

    /// Returns the values of a quad.
    fn of(&self, quad: usize) -> [u32; 3] {
        match self {
            Self::Same(values) => *values,
            Self::Own(all) => all[quad],
        }
    }

    /// Returns one of the values of each quad in its four lanes.
    fn spread(&self, which: usize) -> Lanes {
        match self {
            Self::Same(values) => [values[which]; LANES],
            Self::Own(all) => {
                let mut lanes = [0; LANES];
                for (quad, values) in lanes.as_chunks_mut::<4>().0.iter_mut().zip(all.iter()) {
                    quad.fill(values[which]);
                }
                lanes
            }
        }
    }
}

/// Adds the product of a number and a register in all lanes, rounded once.
fn fuse_one(unit: Unit, out: &mut Lanes, factor: u32, sources: &[&Lanes; 2], flushes: bool) {
    let run = for_each_unit!(|out: &mut Lanes, factor: u32, sources: &[&Lanes; 2], flushes: bool| {
        let factor = f32::from_bits(factor);
        for lane in 0..LANES {
            let [by, addend] = [0, 1].map(|index: usize| f32::from_bits(sources[index][lane]));
            let bits = Lane::word(factor.mul_add(by, addend)) as u32;
            out[lane] = if flushes { flush32(bits) } else { bits };
        }
    });
    run(unit, out, factor, sources, flushes);
}

/// Changes of the result of a fused multiply-add.
#[derive(Clone, Copy)]
struct After {
    clamps: bool,
    flushes: bool,
}

impl Values {
    /// Returns the sums of what is there before and one of the values times a coordinate.
    fn added(&self, unit: Unit, which: usize, by: &Lanes, before: &Lanes, after: After) -> Lanes {
        let mut out = [0; LANES];
        match self {
            Self::Same(values) => fuse_one(unit, &mut out, values[which], &[by, before], after.flushes),
            Self::Own(_) => fuse(unit, &mut out, &[&self.spread(which), by, before], after),
        }
        out
    }
}

/// Multiplies and adds in all lanes, rounded once.
fn fuse(unit: Unit, out: &mut Lanes, sources: &[&Lanes; 3], after: After) {
    let run = for_each_unit!(|out: &mut Lanes, sources: &[&Lanes; 3], after: After| {
        for lane in 0..LANES {
            let [a, b, c] = [0, 1, 2].map(|index: usize| f32::from_bits(sources[index][lane]));
            let sum = a.mul_add(b, c);
            let sum = if after.clamps { sum.clamp(0.0, 1.0) } else { sum };
            let bits = Lane::word(sum) as u32;
            out[lane] = if after.flushes { flush32(bits) } else { bits };
        }
    });
    run(unit, out, sources, after);
}

impl Wave {
    /// Executes an instruction of a graphics shader.
    ///
    /// # Errors
    ///
    /// [`Reason::Exports`] for an export more than [`MOST_EXPORTS`].
    pub(crate) fn graphics_op(&mut self, op: &GraphicsOp) -> Result<(), Reason> {
        let exec = self.registers.exec();
        let Some(graphics) = &mut self.graphics else { return Ok(()) };
        match *op {
            GraphicsOp::Export { target, enabled, is_compressed, is_last, is_valid_mask, sources } => {
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
                    *to = *register;
                    if is_compressed {
                        let shift = 16 * (index as u32 & 1);
                        for value in to.iter_mut() {
                            *value = *value >> shift & 0xffff;
                        }
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
            GraphicsOp::Interpolate { kind, destination, source, attribute, channel } => {
                let all = Values::new(graphics, attribute, channel);
                let after = After { clamps: false, flushes: self.registers.mode.flushes_output32() };
                let by = &self.registers.vectors[usize::from(source)].0;
                let out = match kind {
                    Interpolation::Move(0) => all.spread(1),
                    Interpolation::Move(1) => all.spread(2),
                    Interpolation::Move(_) => all.spread(0),
                    Interpolation::First => all.added(self.unit, 1, by, &all.spread(0), after),
                    Interpolation::Second => {
                        let first = &self.registers.vectors[usize::from(destination)].0;
                        all.added(self.unit, 2, by, first, after)
                    }
                };
                self.registers.write(destination, &out, exec);
            }
            GraphicsOp::Parameter { destination, attribute, channel } => {
                let on = quads(exec) & self.registers.all();
                let mut out: Lanes = [0; LANES];
                let all = Values::new(graphics, attribute, channel);
                for (quad, lanes) in out.as_chunks_mut::<4>().0.iter_mut().enumerate() {
                    let [p0, p10, p20] = all.of(quad);
                    *lanes = [p0, p10, p20, 0];
                }
                self.registers.write(destination, &out, on);
            }
            GraphicsOp::Combine { destination, sources, negates, first_lane, adds_first, clamp } => {
                let mut operands = [0, 1, 2].map(|index: usize| {
                    let sign = u32::from(negates >> index & 1) << 31;
                    match sources[index] {
                        Source::Vgpr(register) => self.registers.vectors[usize::from(register)].map(|bits| bits ^ sign),
                        other => std::array::from_fn(|lane| self.registers.lane(other, 1, lane) as u32 ^ sign),
                    }
                });
                for quad in operands[0].as_chunks_mut::<4>().0 {
                    let first = quad[usize::from(first_lane) & 3];
                    quad.fill(first);
                }
                for quad in operands[2].as_chunks_mut::<4>().0.iter_mut().filter(|_| adds_first) {
                    let first = quad[0];
                    quad.fill(first);
                }
                let mut out: Lanes = [0; LANES];
                let after = After { clamps: clamp, flushes: self.registers.mode.flushes_output32() };
                fuse(self.unit, &mut out, &operands.each_ref(), after);
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
    fn each_quad_has_the_values_of_its_own_primitive() {
        let attributes = |value: u32| vec![[[value, value + 1, value + 2]; 4]];
        let graphics = |quads: &[u16]| {
            let mut graphics = Graphics::default();
            graphics.attribute(&[attributes(10), attributes(20)], quads);
            graphics
        };
        let several = Values::new(&graphics(&[1, 1, 0, 2, 1]), 0, 3);
        let found = [0, 1, 2, 3, 4, 5].map(|quad: usize| several.of(quad));
        assert_eq!(found, [[20, 21, 22], [20, 21, 22], [10, 11, 12], [0; 3], [20, 21, 22], [0; 3]]);
        assert_eq!(several.spread(1)[4..12], [21, 21, 21, 21, 11, 11, 11, 11]);
        assert_eq!(Values::new(&graphics(&[0, 1]), 1, 0).spread(0), [0; LANES]);
        let same = Values::new(&graphics(&[1, 1]), 0, 0);
        assert_eq!((same.of(1), same.spread(2)[7]), ([20, 21, 22], 22));
    }

    #[test]
    fn a_primitive_alone_is_interpolated_as_it_is_among_others() {
        let numbers = [0.1, 3.7, -1.0e-39, f32::INFINITY, f32::NAN, 0.0].map(f32::to_bits);
        let by: Lanes = std::array::from_fn(|lane| numbers[lane % 6]);
        let before: Lanes = std::array::from_fn(|lane| numbers[lane / 6 % 6]);
        for unit in [Unit::Baseline, Unit::detect_avx2(), Unit::detect()] {
            for (factor, flushes) in numbers.into_iter().zip([false, true].into_iter().cycle()) {
                let values = [7, factor, 9];
                let after = After { clamps: false, flushes };
                let alone = Values::Same(values).added(unit, 1, &by, &before, after);
                let own = Values::Own(Box::new([values; QUADS])).added(unit, 1, &by, &before, after);
                assert_eq!(alone, own, "{factor:#x}");
            }
        }
    }

    #[test]
    fn a_fused_product_is_rounded_once_and_has_one_nan_on_all_vector_units() {
        let one = |value: f32| [value.to_bits(); LANES];
        let op = f32::EPSILON;
        for unit in [Unit::Baseline, Unit::detect_avx2(), Unit::detect()] {
            let of = |a: f32, b: f32, c: f32, after: After| {
                let mut out = [0; LANES];
                fuse(unit, &mut out, &[&one(a), &one(b), &one(c)], after);
                assert!(out.iter().all(|lane| *lane == out[0]));
                out[0]
            };
            let plain = After { clamps: false, flushes: false };
            // Rounded twice, the product is 1 + 2 steps, and nothing is left.
            assert_eq!(of(1.0 + op, 1.0 + op, -1.0 - 2.0 * op, plain), (op * op).to_bits());
            assert_eq!(of(f32::INFINITY, 0.0, 1.0, plain), 0x7fc0_0000);
            assert_eq!(of(1.0, 1.0e-40, 0.0, After { flushes: true, ..plain }), 0);
            assert_eq!(of(2.0, 2.0, 0.0, After { clamps: true, ..plain }), 1.0_f32.to_bits());
        }
    }

    #[test]
    fn a_quad_is_whole_if_any_of_its_lanes_is_on() {
        assert_eq!(quads(0), 0);
        assert_eq!(quads(1 << 2 | 1 << 4 | 1 << 63), 0xf000_0000_0000_00ff);
        assert_eq!(quads(u64::MAX), u64::MAX);
    }
}
