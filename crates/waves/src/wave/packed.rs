//! Packed 16-bit operations, dot products of chosen halves, and multiplications of mixed sizes.

use super::{
    operands::{Selection, flush16},
    registers::Registers,
    state::Wave,
};
use crate::{
    alu::{
        float::single::flushed,
        kernel::{Kernel, Type},
    },
    number::{
        half::Half as HalfFloat,
        round::{Direction, directed_sum, fma32, to_f32},
    },
    program::{
        decoded_inst::{Half, Mix, Modifiers, Packed, Source},
        lanes::Dpp,
    },
};

/// Returns a half of a lane's operand.
fn half(registers: &Registers, source: Source, lane: usize, high: bool) -> u32 {
    let value = registers.lane(source, 1, lane) as u32;
    if high { value >> 16 } else { value & 0xffff }
}

/// Returns a lane's operand after the selection of lanes, which only the first source has: 0 where there is no lane.
fn selected(registers: &Registers, selection: &Selection, (source, index): (Source, usize), lane: usize) -> u32 {
    match selection {
        Some(lanes) if index == 0 => lanes[lane].map_or(0, |from| registers.lane(source, 1, from.into()) as u32),
        _ => registers.lane(source, 1, lane) as u32,
    }
}

/// Returns the selection of the lanes of the first source, and the lanes that stay on.
fn selection(registers: &Registers, dpp: Option<&Dpp>) -> (Selection, u64) {
    let exec = registers.exec();
    dpp.map_or((None, exec), |dpp| {
        let (lanes, on) = dpp.resolve(exec, registers.lanes);
        (Some(lanes), on)
    })
}

/// Returns a word of the halves of a lane's operand that op_sel (`highs[0]`) and op_sel_hi (`highs[1]`) choose for source `index`.
pub(super) fn halves(registers: &Registers, source: Source, index: usize, lane: usize, highs: [u8; 2]) -> u32 {
    let [low, high] = highs.map(|mask| half(registers, source, lane, mask >> index & 1 != 0));
    low | high << 16
}

impl Wave {
    /// Executes a dot product, whose first two sources are words of chosen halves; the third is a sum of 32 bits.
    pub(crate) fn dot(&mut self, dot: &Packed) {
        let Kernel::Narrow(function) = dot.operation.kernel else { return };
        let Self { registers, pad, unit, .. } = self;
        let (selection, on) = selection(registers, dot.dpp.as_ref());
        let bit = |mask: u8, index: usize| mask >> index & 1 != 0;
        let sign = |part: usize, index: usize| if bit(dot.negates[part], index) { 0x8000_u32 } else { 0 };
        for lane in 0..64 {
            for index in 0..2 {
                let word = selected(registers, &selection, (dot.sources[index], index), lane);
                let part = |high: bool| if high { word >> 16 } else { word & 0xffff };
                let [low, high] = dot.highs.map(|mask| part(bit(mask, index)));
                pad.narrow[index][lane] = low ^ sign(0, index) | (high ^ sign(1, index)) << 16;
            }
            let added = registers.lane(dot.sources[2], 1, lane) as u32;
            // The sum has 32 bits: one modifier is its sign, the other removes it.
            pad.narrow[2][lane] = added & !(sign(1, 2) << 16) ^ sign(0, 2) << 16;
        }
        let [x, y, z] = &pad.narrow;
        function(*unit, &mut pad.out, &[x, y, z], registers.mode);
        self.finish(dot.operation.result, &Modifiers { clamp: dot.clamp, ..Modifiers::NONE });
        self.registers.exchange(dot.destination, &mut self.pad.out, on);
    }

    /// Executes both halves of a packed operation.
    pub(crate) fn packed(&mut self, packed: &Packed) {
        let Kernel::Narrow(function) = packed.operation.kernel else { return };
        let modifiers = Modifiers { clamp: packed.clamp, ..Modifiers::NONE };
        let mut results = [[0; 64]; 2];
        for (part, result) in results.iter_mut().enumerate() {
            let Self { registers, pad, unit, .. } = self;
            let (selection, _) = selection(registers, packed.dpp.as_ref());
            for (index, kind) in packed.operation.sources.iter().enumerate() {
                let high = packed.highs[part] >> index & 1 != 0;
                let sign = if packed.negates[part] >> index & 1 != 0 && *kind == Type::F16 { 0x8000 } else { 0 };
                let flushes = *kind == Type::F16 && registers.mode.flushes_input64();
                for lane in 0..64 {
                    let word = selected(registers, &selection, (packed.sources[index], index), lane);
                    let value = if high { word >> 16 } else { word & 0xffff } ^ sign;
                    pad.narrow[index][lane] = if flushes { flush16(value) } else { value };
                }
            }
            let [x, y, z] = &pad.narrow;
            function(*unit, &mut pad.out, &[x, y, z], registers.mode);
            self.finish(packed.operation.result, &modifiers);
            *result = self.pad.out.0;
        }
        for lane in 0..64 {
            self.pad.out[lane] = results[0][lane] & 0xffff | results[1][lane] << 16;
        }
        let (_, on) = selection(&self.registers, packed.dpp.as_ref());
        self.registers.exchange(packed.destination, &mut self.pad.out, on);
    }

    /// Executes a multiplication and addition whose operands have either size.
    pub(crate) fn mix(&mut self, mix: &Mix) {
        let Self { registers, pad, .. } = self;
        let mode = registers.mode;
        let (selection, on) = selection(registers, mix.dpp.as_ref());
        let bit = |mask: u8, index: usize| mask >> index & 1 != 0;
        for lane in 0..64 {
            let operand = |index: usize| {
                let word = selected(registers, &selection, (mix.sources[index], index), lane);
                let mut value = if bit(mix.halves, index) {
                    HalfFloat(if bit(mix.highs, index) { word >> 16 } else { word } as u16).value()
                } else {
                    let value = f32::from_bits(word);
                    if mode.flushes_input32() { flushed(value) } else { value }
                };
                if bit(mix.absolutes, index) {
                    value = value.abs();
                }
                if bit(mix.negates, index) { -value } else { value }
            };
            let (a, b, c) = (operand(0), operand(1), operand(2));
            let exact = |direction| directed_sum(f64::from(a) * f64::from(b), f64::from(c), direction);
            let mut value = if !mix.fused {
                a * b + c
            } else if mode.round32() == Direction::Nearest {
                fma32::<false>(a, b, c)
            } else {
                to_f32(exact(mode.round32()), mode.round32())
            };
            if mix.clamp {
                value = if value > 0.0 { value.min(1.0) } else { 0.0 };
            }
            pad.out[lane] = match mix.half {
                None if value.is_nan() => 0x7fc0_0000,
                None if mode.flushes_output32() => flushed(value).to_bits(),
                None => value.to_bits(),
                Some(place) => {
                    let wide = if mix.fused && !mix.clamp { exact(mode.round64()) } else { f64::from(value) };
                    let bits = u32::from(HalfFloat::new(wide, mode).0);
                    let old = registers.vectors[usize::from(mix.destination)][lane];
                    if place == Half::High { old & 0xffff | bits << 16 } else { old & 0xffff_0000 | bits }
                }
            };
        }
        registers.exchange(mix.destination, &mut pad.out, on);
    }
}
