//! Operations across lanes.

use super::{packed::halves, registers::lanes, state::Wave};
use crate::{
    outcome::Reason,
    program::{
        decoded_inst::{LaneKind, LaneOp, Source},
        source::M0,
    },
};

/// Returns part `index` of `bits` bits.
fn part(value: u32, bits: u8, index: u32, signed: bool) -> i64 {
    let bits = u32::from(bits);
    let raised = value << (32 - bits * (index + 1));
    if signed { i64::from(raised.cast_signed() >> (32 - bits)) } else { i64::from(raised >> (32 - bits)) }
}

impl Wave {
    /// Executes an operation across lanes.
    pub(crate) fn lane_op(&mut self, op: &LaneOp) -> Result<(), Reason> {
        let exec = self.registers.exec();
        let count = self.registers.lanes;
        match op.kind {
            LaneKind::ReadFirst => {
                let lane = if exec == 0 { 0 } else { exec.trailing_zeros() as usize };
                let value = self.registers.lane(op.sources[0], 1, lane);
                self.registers.set_scalar(op.destination as u8, 1, value);
            }
            LaneKind::Read => {
                let lane = self.registers.scalar(op.sources[1], 1) as u32 & (count - 1);
                let value = self.registers.lane(op.sources[0], 1, lane as usize);
                self.registers.set_scalar(op.destination as u8, 1, value);
            }
            LaneKind::Write => {
                let lane = self.registers.scalar(op.sources[1], 1) as u32 & (count - 1);
                let value = self.registers.scalar(op.sources[0], 1) as u32;
                self.registers.write_lane(op.destination, lane as usize, value);
            }
            LaneKind::CountLow | LaneKind::CountHigh => self.count_lanes(op),
            LaneKind::Swap => self.swap(op, 0, 0)?,
            LaneKind::SwapIndexed => {
                let index = self.registers.scalars[usize::from(M0)];
                self.swap(op, index & 0x3ff, index >> 16 & 0x3ff)?;
            }
            LaneKind::Move { source, destination, split } => self.move_indexed(op, source, destination, split)?,
            LaneKind::Permute { crosses, variable } => self.permute_rows(op, crosses, variable),
            // A wave of 32 lanes has no other half: nothing happens.
            LaneKind::SwapHalves if count == 32 => {}
            LaneKind::SwapHalves => {
                for lane in 0..64 {
                    self.pad.out[lane] = self.registers.lane(op.sources[0], 1, lane ^ 32) as u32;
                }
                self.registers.exchange(op.destination, &mut self.pad.out, exec);
            }
            LaneKind::Dot { bits, highs } => {
                for lane in 0..64 {
                    let operand = |index: usize| halves(&self.registers, op.sources[index], index, lane, highs);
                    let (a, b) = (operand(0), operand(1));
                    let product =
                        |index| part(a, bits, index, op.flags & 1 != 0) * part(b, bits, index, op.flags & 2 != 0);
                    let products: i64 = (0..32 / u32::from(bits)).map(product).sum();
                    let added = self.registers.lane(op.sources[2], 1, lane) as u32;
                    let sum = products + i64::from(added.cast_signed());
                    let clamped = sum.clamp(i64::from(i32::MIN), i64::from(i32::MAX));
                    self.pad.out[lane] = if op.flags & 0x80 != 0 { clamped as u32 } else { sum as u32 };
                }
                self.registers.exchange(op.destination, &mut self.pad.out, exec);
            }
        }
        Ok(())
    }

    /// Returns the lane that each lane reads its first source from (`None` reads 0), and the lanes that stay on.
    fn selected(&self, op: &LaneOp) -> ([Option<u8>; 64], u64) {
        let exec = self.registers.exec();
        match &op.dpp {
            Some(dpp) => dpp.resolve(exec, self.registers.lanes),
            None => (std::array::from_fn(|lane| Some(lane as u8)), exec),
        }
    }

    /// Counts the bits of a mask that belong to lanes below each lane.
    fn count_lanes(&mut self, op: &LaneOp) {
        let (sources, on) = self.selected(op);
        let high = op.kind == LaneKind::CountHigh;
        for lane in 0..64_usize {
            let mask = sources[lane].map_or(0, |from| self.registers.lane(op.sources[0], 1, from.into())) as u32;
            let below = (1_u64 << lane) - 1;
            let below = if high { below >> 32 } else { below } as u32;
            let start = self.registers.lane(op.sources[1], 1, lane) as u32;
            self.pad.out[lane] = start.wrapping_add((mask & below).count_ones());
        }
        self.registers.exchange(op.destination, &mut self.pad.out, on);
    }

    /// Swaps two registers, whose numbers are raised.
    fn swap(&mut self, op: &LaneOp, source: u32, destination: u32) -> Result<(), Reason> {
        let Source::Vgpr(first) = op.sources[0] else { return Ok(()) };
        let first = self.checked(u32::from(first) + source, 1)?;
        let second = self.checked(u32::from(op.destination) + destination, 1)?;
        let exec = self.registers.exec();
        let (a, b) = (self.registers.vectors[usize::from(first)].0, self.registers.vectors[usize::from(second)].0);
        self.registers.write(first, &b, exec);
        self.registers.write(second, &a, exec);
        Ok(())
    }

    /// Moves between registers that M0 selects.
    fn move_indexed(&mut self, op: &LaneOp, source: bool, destination: bool, split: bool) -> Result<(), Reason> {
        let index = self.registers.scalars[usize::from(M0)];
        let (from, to) = if split { (index & 0x3ff, index >> 16 & 0x3ff) } else { (index, index) };
        let read = match op.sources[0] {
            Source::Vgpr(register) if source => {
                Source::Vgpr(self.checked(u32::from(register).saturating_add(from), 1)?)
            }
            other => other,
        };
        let raised = u32::from(op.destination).saturating_add(if destination { to } else { 0 });
        let written = self.checked(raised, 1)?;
        let (sources, on) = self.selected(op);
        for lane in 0..64 {
            self.pad.out[lane] = sources[lane].map_or(0, |from| self.registers.lane(read, 1, from.into())) as u32;
        }
        self.registers.exchange(written, &mut self.pad.out, on);
        Ok(())
    }

    /// Permutes within rows of 16 lanes, or across pairs of rows, by four bits a lane.
    fn permute_rows(&mut self, op: &LaneOp, crosses: bool, variable: bool) {
        let exec = self.registers.exec();
        let (fetches_inactive, reads_zero) = (op.flags & 1 != 0, op.flags & 2 != 0);
        let selectors = self.registers.scalar(op.sources[1], 1) | self.registers.scalar(op.sources[2], 1) << 32;
        let mut on = exec;
        for lane in 0..64_usize {
            let column = if variable {
                self.registers.lane(op.sources[1], 1, lane) as usize & 15
            } else {
                (selectors >> (4 * (lane & 15))) as usize & 15
            };
            let row = if crosses { (lane & !15) ^ 16 } else { lane & !15 };
            let from = row | column;
            let is_on = fetches_inactive || exec >> from & 1 != 0;
            self.pad.out[lane] = if is_on { self.registers.lane(op.sources[0], 1, from) as u32 } else { 0 };
            if !is_on && !reads_zero {
                on &= !(1 << lane);
            }
        }
        self.registers.exchange(op.destination, &mut self.pad.out, on);
    }

    /// Returns the lanes that are on, lowest first.
    pub(super) fn active(&self) -> impl Iterator<Item = usize> + use<> {
        lanes(self.registers.exec())
    }
}
