//! Vector operations.

use super::{
    file::Register,
    operands::Selection,
    registers::{Registers, lanes},
    state::{Pad, Wave},
};
use crate::{
    alu::{
        kernel::{Kernel, Lanes, Operation, Type},
        mask, moves,
    },
    mutation::WaveMutation,
    number::round::Direction,
    outcome::Reason,
    program::{
        decoded_inst::{Destination, Direct, Flushes, Function, Source, Vector},
        source::{EXEC, VCC},
    },
};

/// Returns an operand of up to 32 bits; whatever is in `buffer` for one that the operation lacks.
fn read<'a>(
    registers: &'a Registers,
    vector: &Vector,
    operation: &Operation,
    index: usize,
    selection: &Selection,
    buffer: &'a mut Lanes,
) -> &'a Lanes {
    let source = vector.sources[index];
    match operation.sources.get(index) {
        None => buffer,
        Some(kind) if vector.plain => registers.narrow(source, *kind, buffer),
        Some(kind) => registers.modified((source, index), *kind, &vector.modifiers, selection, buffer),
    }
}

/// Computes all lanes of an operation.
#[inline(always)]
fn evaluate(
    registers: &Registers,
    direct: &Direct,
    (function, flushes): (Function, Flushes),
    (pads, out, carries): (&mut [Register; 3], &mut Register, &mut Lanes),
) {
    let [x, y, z] = pads;
    let [a, b, c] = &direct.operands;
    let bit = |index: u8| flushes.operands >> index & 1 != 0;
    let sources = [registers.operand(a, bit(0), x), registers.operand(b, bit(1), y), registers.operand(c, bit(2), z)];
    match function {
        Function::Plain(function) => function(registers.unit, out, &sources, registers.mode),
        Function::Carry(function) => function(registers.unit, out, carries, &sources),
    }
    if flushes.result {
        moves::flush(registers.unit, out);
    }
}

impl Wave {
    /// Executes a vector operation by its general rule.
    pub(crate) fn vector(&mut self, vector: &Vector) -> Result<(), Reason> {
        if self.indexing.on {
            let indexed = self.indexed(vector)?;
            self.compute(&indexed);
        } else {
            self.compute(vector);
        }
        self.store_result(vector)
    }

    /// Executes a vector operation whose kernel gives all that is written, as most instructions are. Returns `false`, and does nothing,
    /// if it or the mode asks for more.
    #[inline(always)]
    pub(crate) fn direct(&mut self, vector: &Vector) -> bool {
        let Some(direct) = vector.direct.as_ref().filter(|_| self.takes_shortcuts) else { return false };
        let Self { registers, pad, counters, .. } = self;
        let Some(chosen) = direct.function(registers.mode) else { return false };
        let Pad { narrow, out, carries, .. } = &mut **pad;
        evaluate(registers, direct, chosen, (narrow, out, carries));
        let on = registers.exec();
        counters.instructions += 1;
        counters.lanes += registers.count(on);
        if let (Destination::Vgpr(register), None) = (vector.destination, vector.carry) {
            registers.exchange(register, out, on);
        } else {
            self.write_with_masks((vector.destination, vector.carry), on);
        }
        true
    }

    /// Writes the result and the lane masks of an operation whose kernel gives all that is written.
    #[inline(never)]
    pub(super) fn write_with_masks(&mut self, (destination, carry): (Destination, Option<u8>), on: u64) {
        if let Some(slot) = carry {
            self.write_carries(slot, on);
        }
        match destination {
            Destination::Vgpr(register) => self.registers.exchange(register, &mut self.pad.out, on),
            Destination::Mask { slot, exec } => self.write_mask(slot, exec, on),
            Destination::Scalar(_) => {}
        }
    }

    /// Executes two operations that read their operands before either writes.
    pub(crate) fn dual(&mut self, pair: &[Vector; 2]) -> Result<(), Reason> {
        if self.dual_direct(pair) {
            return Ok(());
        }
        self.compute(&pair[0]);
        let first = self.pad.out.clone();
        self.compute(&pair[1]);
        let second = std::mem::replace(&mut self.pad.out, first);
        // The mark is that of the second alone; to replace denormals again does no harm.
        self.pad.flushed = false;
        self.store_result(&pair[0])?;
        self.pad.out = second;
        self.store_result(&pair[1])
    }

    /// Executes two operations whose kernels give all that is written. Returns `false`, and does nothing, if one is not of this kind.
    fn dual_direct(&mut self, pair: &[Vector; 2]) -> bool {
        let [first, second] = pair;
        let (Some(a), Some(b)) = (&first.direct, &second.direct) else { return false };
        if !self.takes_shortcuts {
            return false;
        }
        let (Destination::Vgpr(to), Destination::Vgpr(other)) = (first.destination, second.destination) else {
            return false;
        };
        let Self { registers, pad, .. } = self;
        let (Some(chosen_a), Some(chosen_b)) = (a.function(registers.mode), b.function(registers.mode)) else {
            return false;
        };
        let Pad { narrow, out, second, carries, .. } = &mut **pad;
        evaluate(registers, a, chosen_a, (&mut *narrow, out, &mut *carries));
        evaluate(registers, b, chosen_b, (narrow, second, carries));
        let on = registers.exec();
        registers.exchange(to, out, on);
        registers.exchange(other, second, on);
        true
    }

    /// Returns the lanes that a selection leaves on.
    fn lanes_on(&self, vector: &Vector) -> u64 {
        let exec = self.registers.exec();
        vector.modifiers.dpp.as_ref().map_or(exec, |dpp| dpp.resolve(exec, self.registers.lanes).1)
    }

    /// Computes all lanes into the pad.
    fn compute(&mut self, vector: &Vector) {
        let Self { registers, pad, unit, .. } = self;
        let (mode, unit) = (registers.mode, *unit);
        let operation = match vector.directed {
            Some(directed) if mode.round32() != Direction::Nearest => directed,
            _ => vector.operation,
        };
        let selection = vector.modifiers.dpp.as_ref().map(|dpp| dpp.resolve(registers.exec(), registers.lanes).0);
        let [x, y, z] = &mut pad.narrow;
        // Denormals of operands and of the result are replaced in the same pass, where nothing else is done to them.
        // A result that is rescaled may leave the denormals.
        let flushes = |_: &_| vector.plain && !vector.rescales && mode.flushes_input32() && mode.flushes_output32();
        let flushing = operation.flushing.filter(flushes);
        pad.flushed = flushing.is_some();
        match operation.kernel {
            Kernel::Narrow(_) if let Some(function) = flushing => {
                let [a, b, c] = vector.sources;
                let third: &Lanes = if operation.sources.len() > 2 { registers.narrow(c, Type::Bits32, z) } else { z };
                let sources = [registers.narrow(a, Type::Bits32, x), registers.narrow(b, Type::Bits32, y), third];
                function(unit, &mut pad.out, &sources, mode);
            }
            Kernel::Narrow(_) | Kernel::NarrowCarry(_) => {
                let sources = [
                    read(registers, vector, operation, 0, &selection, x),
                    read(registers, vector, operation, 1, &selection, y),
                    read(registers, vector, operation, 2, &selection, z),
                ];
                match operation.kernel {
                    Kernel::Narrow(function) => function(unit, &mut pad.out, &sources, mode),
                    Kernel::NarrowCarry(function) => function(unit, &mut pad.out, &mut pad.carries, &sources),
                    _ => {}
                }
            }
            Kernel::Wide(_) | Kernel::WideCarry(_) => {
                let [x, y, z] = &mut pad.wide;
                for (index, buffer) in [&mut *x, &mut *y, &mut *z].into_iter().enumerate() {
                    if let Some(kind) = operation.sources.get(index).copied() {
                        let source = (vector.sources[index], index);
                        registers.wide(source, kind, &vector.modifiers, &selection, buffer);
                    }
                }
                let sources = [&*x, &*y, &*z];
                match operation.kernel {
                    Kernel::Wide(function) => function(unit, &mut pad.wide_out, &sources, mode),
                    Kernel::WideCarry(function) => function(unit, &mut pad.wide_out, &mut pad.carries, &sources),
                    _ => {}
                }
                if operation.result.dwords() == 1 {
                    moves::halves(unit, &mut pad.out, &pad.wide_out, false);
                }
            }
        }
        if vector.rescales {
            self.rescale(vector);
        }
    }

    /// Scales the result of a division step where VCC is set.
    fn rescale(&mut self, vector: &Vector) {
        let vcc = self.registers.lane_mask(VCC);
        for lane in lanes(vcc) {
            if vector.operation.result == Type::F64 {
                let large = self.pad.wide[2][lane] >> 52 & 0x7ff > 1023;
                let scale = 2.0_f64.powi(if large { 128 } else { -128 });
                self.pad.wide_out[lane] = (f64::from_bits(self.pad.wide_out[lane]) * scale).to_bits();
            } else {
                let third = self.registers.lane(vector.sources[2], 1, lane);
                let scale = 2.0_f32.powi(if third >> 23 & 0xff > 127 { 64 } else { -64 });
                self.pad.out[lane] = (f32::from_bits(self.pad.out[lane]) * scale).to_bits();
            }
        }
    }

    /// Modifies and writes what [`Self::compute`] left in the pad.
    fn store_result(&mut self, vector: &Vector) -> Result<(), Reason> {
        let on = self.lanes_on(vector);
        let operation = vector.operation;
        self.finish(operation.result, &vector.modifiers);
        if let Some(slot) = vector.carry {
            self.write_carries(slot, on);
        }
        match vector.destination {
            Destination::Mask { slot, exec } => self.write_mask(slot, exec, on),
            Destination::Scalar(slot) => self.registers.set_scalar(slot, 1, self.pad.out[0].into()),
            Destination::Vgpr(register) => {
                let register = self.indexed_destination(register, operation.result.dwords())?;
                self.place(register, operation.result, &vector.modifiers);
                if operation.result.dwords() == 2 {
                    let Self { registers, pad, unit, .. } = self;
                    moves::halves(*unit, &mut pad.out, &pad.wide_out, false);
                    registers.exchange(register, &mut pad.out, on);
                    moves::halves(*unit, &mut pad.out, &pad.wide_out, true);
                    registers.exchange(register + 1, &mut pad.out, on);
                } else {
                    self.registers.exchange(register, &mut self.pad.out, on);
                }
            }
        }
        Ok(())
    }

    /// Writes the carries in the pad to a lane mask.
    fn write_carries(&mut self, slot: u8, on: u64) {
        let lost = self.mutation == Some(WaveMutation::LostCarry);
        let carries = if lost { 0 } else { mask::gather(self.unit, &self.pad.carries) & on };
        self.registers.set_mask(slot, carries);
    }

    /// Writes the bits in the pad to lane masks.
    fn write_mask(&mut self, slot: Option<u8>, exec: bool, on: u64) {
        let mask = mask::gather(self.unit, &self.pad.out) & on;
        if let Some(slot) = slot {
            self.registers.set_mask(slot, mask);
        }
        if exec {
            self.registers.set_mask(EXEC, mask);
        }
    }

    /// Returns the operation with the indexed numbers of its sources.
    fn indexed(&self, vector: &Vector) -> Result<Vector, Reason> {
        let mut indexed = vector.clone();
        for (index, source) in indexed.sources.iter_mut().enumerate() {
            if let Source::Vgpr(register) = source
                && self.indexing.mode >> index & 1 != 0
                && let Some(kind) = vector.operation.sources.get(index)
            {
                *register = self.checked(u32::from(*register) + self.indexing.offset, kind.dwords())?;
            }
        }
        Ok(indexed)
    }

    /// Returns the number of the destination after indexing.
    fn indexed_destination(&self, register: u16, dwords: u8) -> Result<u16, Reason> {
        if self.indexing.on && self.indexing.mode & 8 != 0 {
            return self.checked(u32::from(register) + self.indexing.offset, dwords);
        }
        Ok(register)
    }

    /// Returns a register's number if it and what follows it are allocated.
    pub(super) fn checked(&self, register: u32, dwords: u8) -> Result<u16, Reason> {
        let allocated = self.registers.vectors.len() as u32;
        let last = register.saturating_add(u32::from(dwords) - 1);
        if last >= allocated {
            return Err(Reason::Register { register: last, allocated });
        }
        Ok(register as u16)
    }
}
