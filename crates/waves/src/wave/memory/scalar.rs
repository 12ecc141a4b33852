//! Scalar loads, stores and atomics.

use super::access::{Global, Space};
use crate::{
    buffer::descriptor::Buffer,
    memory::{Access, PageFault},
    program::decoded_inst::{ScalarAtomic, ScalarKind, ScalarLoad},
    watch::observer::Observer,
    wave::state::{Surroundings, Wave},
};

impl Wave {
    /// Returns the base address and the offset of an access and, for buffers, the number of bytes after the base that are in range.
    fn scalar_place(&self, op: &ScalarLoad) -> (u64, u64, Option<u64>) {
        let registers = &self.registers;
        let offset = op.register_offset.map_or(0, |source| registers.scalar(source, 1));
        let mut offset = op.offset.wrapping_add_unsigned(offset).cast_unsigned();
        if op.buffer {
            let words = std::array::from_fn(|index| registers.scalars[usize::from(op.base) + index]);
            let buffer = Buffer::new(registers.level, words);
            return (buffer.base, offset & !3, Some(buffer.bytes()));
        }
        if op.scratch {
            offset = offset.wrapping_mul(64);
        }
        let base = registers.pair(op.base);
        let part = matches!(op.kind, ScalarKind::Part(..));
        (0, if part { base.wrapping_add(offset) } else { base.wrapping_add(offset) & !3 }, None)
    }

    /// Executes a scalar load or store.
    pub(crate) fn scalar_load(&mut self, op: &ScalarLoad, around: &mut Surroundings<'_, impl Observer>) {
        let before = self.fault;
        self.scalar_transfer(op, around);
        self.blame_scalar(before);
    }

    /// Ascribes the first fault to the cache of constants if there was none before a scalar instruction.
    fn blame_scalar(&mut self, before: Option<PageFault>) {
        if let (None, Some(fault)) = (before, &mut self.fault) {
            fault.access = match fault.access {
                Access::Load => Access::ScalarLoad,
                Access::Store | Access::Atomic => Access::ScalarStore,
                other => other,
            };
        }
    }

    fn scalar_transfer(&mut self, op: &ScalarLoad, around: &mut Surroundings<'_, impl Observer>) {
        let (base, offset, limit) = self.scalar_place(op);
        let mut space = Global::new(around, &mut self.fault);
        if let ScalarKind::Part(bytes, signed) = op.kind {
            let mut read = [0; 4];
            if limit.is_none_or(|limit| offset.saturating_add(bytes.into()) <= limit) {
                space.load(base.wrapping_add(offset), &mut read[..bytes.into()]);
            }
            let shift = 32 - 8 * u32::from(bytes);
            let raised = u32::from_le_bytes(read) << shift;
            let value = if signed { (raised.cast_signed() >> shift).cast_unsigned() } else { raised >> shift };
            self.registers.set_scalar(op.data, 1, value.into());
            return;
        }
        let mut values = [0; 16];
        for (index, value) in values.iter_mut().enumerate().take(op.dwords.into()) {
            let at = offset.wrapping_add(4 * index as u64);
            if limit.is_some_and(|limit| at.saturating_add(4) > limit) {
                continue;
            }
            let slot = usize::from(op.data) + index;
            if op.kind == ScalarKind::Store {
                space.store(base.wrapping_add(at), &self.registers.scalars[slot].to_le_bytes());
            } else {
                let mut bytes = [0; 4];
                space.load(base.wrapping_add(at), &mut bytes);
                *value = u32::from_le_bytes(bytes);
            }
        }
        if op.kind == ScalarKind::Load {
            let first = usize::from(op.data);
            let count = usize::from(op.dwords);
            self.registers.scalars[first..first + count].copy_from_slice(&values[..count]);
        }
    }

    /// Executes a scalar atomic operation.
    pub(crate) fn scalar_atomic(&mut self, op: &ScalarAtomic, around: &mut Surroundings<'_, impl Observer>) {
        let (base, offset, limit) = self.scalar_place(&op.place);
        let dwords = op.bytes / 4;
        let read = |slot: u8| match dwords {
            2 => self.registers.pair(slot),
            _ => self.registers.scalars[usize::from(slot)].into(),
        };
        let (data, other) = (read(op.place.data), read(op.place.data + dwords));
        let before = self.fault;
        let mut space = Global::new(around, &mut self.fault);
        let old = if limit.is_none_or(|limit| offset.saturating_add(op.bytes.into()) <= limit) {
            space.atomic(base.wrapping_add(offset), op.bytes, &mut |old| op.atomic.apply(op.bytes, old, data, other))
        } else {
            0
        };
        if op.returns {
            self.registers.set_scalar(op.place.data, dwords, old);
        }
        self.blame_scalar(before);
    }
}
