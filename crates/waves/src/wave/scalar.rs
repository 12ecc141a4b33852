//! Scalar operations and jumps.

use super::state::{Flow, Wave};
use crate::{
    alu::scalar::{Input, Output},
    program::{
        decoded_inst::{Condition, Jump, SaveExec, ScalarMove, ScalarOp, Source},
        source::{EXEC, M0},
    },
};

impl Wave {
    /// Executes a scalar operation.
    pub(crate) fn scalar(&mut self, op: &ScalarOp) {
        let registers = &mut self.registers;
        let read = |(source, dwords): (Source, u8)| registers.scalar(source, dwords);
        let input = Input { a: read(op.a), b: read(op.b), c: read(op.c), scc: registers.scc, mode: registers.mode };
        let value = match (op.function)(input) {
            Output::Value(value) => value,
            Output::Both(value, scc) => {
                registers.scc = scc;
                value
            }
            Output::Scc(scc) => {
                registers.scc = scc;
                return;
            }
            Output::Nothing => return,
        };
        if let Some((slot, dwords)) = op.destination {
            registers.set_scalar(slot, dwords, value);
        }
    }

    /// Executes a `saveexec` or `wrexec` operation.
    pub(crate) fn save_exec(&mut self, op: &SaveExec) {
        let SaveExec { combine, writes_both, source, destination, dwords } = *op;
        let registers = &mut self.registers;
        let mask = if dwords == 2 { u64::MAX } else { 0xffff_ffff };
        let old = registers.pair(EXEC) & mask;
        let new = combine(registers.scalar(source, dwords), old) & mask;
        registers.set_scalar(destination, dwords, if writes_both { new } else { old });
        registers.set_scalar(EXEC, dwords, new);
        registers.scc = new != 0;
    }

    /// Returns `true` if a branch is taken.
    pub(crate) fn holds(&self, condition: Condition) -> bool {
        let zero = |slot| self.registers.lane_mask(slot) == 0;
        match condition {
            Condition::Always => true,
            Condition::Scc(value) => self.registers.scc == value,
            Condition::VccZero(value) => zero(crate::program::source::VCC) == value,
            Condition::ExecZero(value) => zero(EXEC) == value,
        }
    }

    /// Executes a jump through registers; `next` is the address of the following instruction.
    pub(crate) fn jump(&mut self, jump: Jump, next: u64) -> Flow {
        // Addresses are sign-extended from 48 bits in registers, but on the newest generation.
        let extended = if self.registers.level >= amdgpu_hw::GfxLevel::Gfx12 {
            next
        } else {
            (next << 16).cast_signed().wrapping_shr(16).cast_unsigned()
        };
        match jump {
            Jump::Get(slot) => {
                self.registers.set_scalar(slot, 2, extended);
                Flow::Next
            }
            Jump::Set(source) => Flow::Jump(self.registers.scalar(source, 2)),
            Jump::Swap(slot, source) => {
                let target = self.registers.scalar(source, 2);
                self.registers.set_scalar(slot, 2, extended);
                Flow::Jump(target)
            }
            Jump::Call(slot, offset) => {
                self.registers.set_scalar(slot, 2, extended);
                Flow::Jump(next.wrapping_add_signed(offset))
            }
        }
    }

    /// Executes a move between scalar registers that M0 selects.
    pub(crate) fn scalar_move(&mut self, op: ScalarMove) {
        let index = self.registers.scalars[usize::from(M0)];
        let (low, high) = if op.split { (index & 0x3ff, index >> 16 & 0x3ff) } else { (index, index) };
        // Numbers past the last register stay inside the array.
        let raised = |slot: u8, indexed: bool, index: u32| {
            let slot = u32::from(slot).saturating_add(if indexed { index } else { 0 });
            slot.min(u32::from(crate::program::source::SINK)) as u8
        };
        let source = raised(op.source, op.indexes_source, low);
        let destination = raised(op.destination, op.indexes_destination, high);
        let value = self.registers.scalar(Source::Scalar(source), op.dwords);
        self.registers.set_scalar(destination, op.dwords, value);
    }
}
