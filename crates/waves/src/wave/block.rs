//! Execution of blocks of vector operations.

use super::{
    file::Register,
    registers::Registers,
    state::{Pad, Surroundings, Wave},
};
use crate::{
    alu::{kernel::Lanes, mask, moves},
    program::{
        block::{Block, Chosen, Member, Place, Plain, Quick},
        decoded_inst::{Destination, Function},
    },
    watch::observer::Observer,
};

/// Returns an operand, in `buffer` if nothing holds it as it is.
#[inline(always)]
fn held<'a>(registers: &'a Registers, place: &'a Place, written: &'a Register, buffer: &'a mut Lanes) -> &'a Lanes {
    // Comparisons for what most operands are, in place of a jump that depends on the operand.
    match place {
        Place::Vgpr(register) => &registers.vectors[usize::from(*register)],
        Place::Constant(lanes) => lanes,
        _ => rarely_held(registers, place, written, buffer),
    }
}

/// Returns an operand that is neither a register as it is nor a constant.
#[inline(never)]
fn rarely_held<'a>(
    registers: &'a Registers,
    place: &'a Place,
    written: &'a Register,
    buffer: &'a mut Lanes,
) -> &'a Lanes {
    match place {
        Place::Made(operand, flushes) => registers.operand(operand, *flushes, buffer),
        _ => written,
    }
}

impl Wave {
    /// Executes all operations of a block.
    pub(crate) fn block(&mut self, block: &Block, around: &mut Surroundings<'_, impl Observer>) {
        let on = self.registers.exec();
        self.counters.instructions += u64::from(block.instructions);
        self.counters.lanes += u64::from(block.vectors) * self.registers.count(on);
        let has_denormals = |register: &u16| {
            self.registers
                .vectors
                .get(usize::from(*register))
                .is_none_or(|lanes| moves::has_denormals(self.unit, lanes))
        };
        let operations = match &block.quick {
            Some(Quick { registers, operations }) if !registers.iter().any(has_denormals) => operations,
            _ => &block.operations,
        };
        for operation in operations {
            // A comparison for what most operations are, in place of a jump that depends on the operation.
            if let Member::Plain(plain) = operation {
                self.plain(plain, on);
            } else {
                self.member(operation, on, around);
            }
        }
    }

    /// Executes an operation of a block, whichever it is.
    #[inline(never)]
    fn member(&mut self, member: &Member, on: u64, around: &mut Surroundings<'_, impl Observer>) {
        match member {
            Member::Plain(plain) => self.plain(plain, on),
            Member::Vector(chosen) => self.chosen(chosen, on),
            Member::Scalar(scalar) => self.scalar(scalar),
            Member::Buffer(buffer) => self.buffer(buffer, around),
            Member::Global(global) => self.global(global, around),
            Member::Lds(lds) => self.lds(lds, around),
        }
    }

    /// Executes an operation of a block that only writes a register.
    #[inline(always)]
    fn plain(&mut self, plain: &Plain, on: u64) {
        let Self { registers, pad, .. } = self;
        let Pad { narrow: [x, y, z], out, written, .. } = &mut **pad;
        let [a, b, c] = &plain.places;
        let sources = [held(registers, a, written, x), held(registers, b, written, y), held(registers, c, written, z)];
        (plain.function)(registers.unit, out, &sources, registers.mode);
        registers.exchange(plain.destination, out, on);
    }

    /// Executes an operation of a block.
    #[inline(never)]
    fn chosen(&mut self, chosen: &Chosen, on: u64) {
        let Self { registers, pad, .. } = self;
        let Pad { narrow: [x, y, z], out, carries, written, .. } = &mut **pad;
        let [a, b, c] = &chosen.places;
        let sources = [held(registers, a, written, x), held(registers, b, written, y), held(registers, c, written, z)];
        match chosen.function {
            Function::Plain(function) => function(registers.unit, out, &sources, registers.mode),
            Function::Carry(function) => function(registers.unit, out, carries, &sources),
        }
        if chosen.flushes {
            moves::flush(registers.unit, out);
        }
        match (chosen.destination, chosen.carry) {
            (Destination::Vgpr(register), None) => registers.exchange(register, out, on),
            (Destination::Mask { slot: Some(slot), .. }, None) => {
                let bits = mask::gather(registers.unit, out) & on;
                registers.set_mask(slot, bits);
                std::mem::swap(written, out);
            }
            (destination, _) => self.write_with_masks((destination, chosen.carry), on),
        }
    }
}
