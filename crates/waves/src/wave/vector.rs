//! Vector operations.

use super::{
    operands::{Selection, flush_lanes},
    registers::{Registers, lanes},
    state::Wave,
};
use crate::{
    alu::{
        kernel::{Kernel, Lanes, Operation, Type},
        mask,
    },
    flaw::Flaw,
    number::round::Direction,
    outcome::Reason,
    program::{
        source::{EXEC, VCC},
        step::{Destination, Source, Vector},
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

impl Wave {
    /// Executes a vector operation.
    #[inline(always)]
    pub(crate) fn vector(&mut self, vector: &Vector) -> Result<(), Reason> {
        if vector.direct
            && !self.indexing.on
            && let Destination::Vgpr(register) = vector.destination
            && self.direct(vector, register)
        {
            return Ok(());
        }
        if self.indexing.on {
            let indexed = self.indexed(vector)?;
            self.compute(&indexed);
        } else {
            self.compute(vector);
        }
        self.store_result(vector)
    }

    /// Executes an operation of 32 bits whose operands and result are as they lie in registers. Returns `false`, and does nothing, if
    /// its kernel is another.
    #[inline(always)]
    fn direct(&mut self, vector: &Vector, register: u16) -> bool {
        let Self { registers, pad, unit, .. } = self;
        let mode = registers.mode;
        let operation = match vector.directed {
            Some(directed) if mode.round32() != Direction::Nearest => directed,
            _ => vector.operation,
        };
        let (flushes_input, flushes_output) = (mode.flushes_input32(), mode.flushes_output32());
        let flushing = operation.flushing.filter(|_| flushes_input && flushes_output);
        let ((Some(function), _) | (None, Kernel::Narrow(function))) = (flushing, operation.kernel) else {
            return false;
        };
        let [x, y, z] = &mut pad.narrow;
        // Only floats are read other than they lie, and only if the kernel does not do it.
        let kind = |index: usize| match operation.sources.get(index) {
            Some(kind) if flushing.is_none() => *kind,
            _ => Type::Bits32,
        };
        let [a, b, c] = vector.sources;
        let sources = match operation.sources.len() {
            1 => [registers.narrow(a, kind(0), x), &*y, &*z],
            2 => [registers.narrow(a, kind(0), x), registers.narrow(b, kind(1), y), &*z],
            _ => [registers.narrow(a, kind(0), x), registers.narrow(b, kind(1), y), registers.narrow(c, kind(2), z)],
        };
        function(*unit, &mut pad.out, &sources, mode);
        if operation.result == Type::F32 && flushes_output && flushing.is_none() {
            flush_lanes(&mut pad.out);
        }
        let on = registers.exec();
        registers.write(register, &pad.out, on);
        true
    }

    /// Executes two operations that read their operands before either writes.
    pub(crate) fn dual(&mut self, pair: &[Vector; 2]) -> Result<(), Reason> {
        self.compute(&pair[0]);
        let first = self.pad.out;
        self.compute(&pair[1]);
        let second = std::mem::replace(&mut self.pad.out, first);
        // The mark is that of the second alone; to replace denormals again does no harm.
        self.pad.flushed = false;
        self.store_result(&pair[0])?;
        self.pad.out = second;
        self.store_result(&pair[1])
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
                    for (value, to) in pad.wide_out.iter().zip(&mut pad.out) {
                        *to = *value as u32;
                    }
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
            let lost = self.flaw == Some(Flaw::LostCarry);
            let carries = if lost { 0 } else { mask::gather(&self.pad.carries) & on };
            self.registers.set_mask(slot, carries);
        }
        match vector.destination {
            Destination::Mask { slot, exec } => {
                let mask = mask::gather(&self.pad.out) & on;
                if let Some(slot) = slot {
                    self.registers.set_mask(slot, mask);
                }
                if exec {
                    self.registers.set_mask(EXEC, mask);
                }
            }
            Destination::Scalar(slot) => self.registers.set_scalar(slot, 1, self.pad.out[0].into()),
            Destination::Vgpr(register) => {
                let register = self.indexed_destination(register, operation.result.dwords())?;
                self.place(register, operation.result, &vector.modifiers);
                if operation.result.dwords() == 2 {
                    let Self { registers, pad, .. } = self;
                    for (value, to) in pad.wide_out.iter().zip(&mut pad.out) {
                        *to = *value as u32;
                    }
                    registers.write(register, &pad.out, on);
                    for (value, to) in pad.wide_out.iter().zip(&mut pad.out) {
                        *to = (*value >> 32) as u32;
                    }
                    registers.write(register + 1, &pad.out, on);
                } else {
                    self.registers.write(register, &self.pad.out, on);
                }
            }
        }
        Ok(())
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
