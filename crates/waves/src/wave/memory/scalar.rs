//! Scalar loads, stores and atomics.

use super::access::{Global, Space};
use crate::{
    buffer::descriptor::Buffer,
    memory::{Access, PageFault},
    program::step::{ScalarAtomic, ScalarKind, ScalarLoad},
    watch::observer::Observer,
    wave::state::{Surroundings, Wave},
};

impl Wave {
    /// Returns the base address and the offset of an access and, for buffers, the number of bytes after the base that are in range.
    fn scalar_place(&self, step: &ScalarLoad) -> (u64, u64, Option<u64>) {
        let registers = &self.registers;
        let offset = step.register_offset.map_or(0, |source| registers.scalar(source, 1));
        let mut offset = step.offset.wrapping_add_unsigned(offset).cast_unsigned();
        if step.buffer {
            let words = std::array::from_fn(|index| registers.scalars[usize::from(step.base) + index]);
            let buffer = Buffer::new(registers.level, words);
            return (buffer.base, offset & !3, Some(buffer.bytes()));
        }
        if step.scratch {
            offset = offset.wrapping_mul(64);
        }
        let base = registers.pair(step.base);
        let part = matches!(step.kind, ScalarKind::Part(..));
        (0, if part { base.wrapping_add(offset) } else { base.wrapping_add(offset) & !3 }, None)
    }

    /// Executes a scalar load or store.
    pub(crate) fn scalar_load(&mut self, step: &ScalarLoad, around: &mut Surroundings<'_, impl Observer>) {
        let before = self.fault;
        self.scalar_transfer(step, around);
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

    fn scalar_transfer(&mut self, step: &ScalarLoad, around: &mut Surroundings<'_, impl Observer>) {
        let (base, offset, limit) = self.scalar_place(step);
        let mut space = Global::new(around, &mut self.fault);
        if let ScalarKind::Part(bytes, signed) = step.kind {
            let mut read = [0; 4];
            if limit.is_none_or(|limit| offset.saturating_add(bytes.into()) <= limit) {
                space.load(base.wrapping_add(offset), &mut read[..bytes.into()]);
            }
            let shift = 32 - 8 * u32::from(bytes);
            let raised = u32::from_le_bytes(read) << shift;
            let value = if signed { (raised.cast_signed() >> shift).cast_unsigned() } else { raised >> shift };
            self.registers.set_scalar(step.data, 1, value.into());
            return;
        }
        let mut values = [0; 16];
        for (index, value) in values.iter_mut().enumerate().take(step.dwords.into()) {
            let at = offset.wrapping_add(4 * index as u64);
            if limit.is_some_and(|limit| at.saturating_add(4) > limit) {
                continue;
            }
            let slot = usize::from(step.data) + index;
            if step.kind == ScalarKind::Store {
                space.store(base.wrapping_add(at), &self.registers.scalars[slot].to_le_bytes());
            } else {
                let mut bytes = [0; 4];
                space.load(base.wrapping_add(at), &mut bytes);
                *value = u32::from_le_bytes(bytes);
            }
        }
        if step.kind == ScalarKind::Load {
            let first = usize::from(step.data);
            let count = usize::from(step.dwords);
            self.registers.scalars[first..first + count].copy_from_slice(&values[..count]);
        }
    }

    /// Executes a scalar atomic operation.
    pub(crate) fn scalar_atomic(&mut self, step: &ScalarAtomic, around: &mut Surroundings<'_, impl Observer>) {
        let (base, offset, limit) = self.scalar_place(&step.place);
        let dwords = step.bytes / 4;
        let read = |slot: u8| match dwords {
            2 => self.registers.pair(slot),
            _ => self.registers.scalars[usize::from(slot)].into(),
        };
        let (data, other) = (read(step.place.data), read(step.place.data + dwords));
        let before = self.fault;
        let mut space = Global::new(around, &mut self.fault);
        let old = if limit.is_none_or(|limit| offset.saturating_add(step.bytes.into()) <= limit) {
            space.atomic(base.wrapping_add(offset), step.bytes, &mut |old| {
                step.atomic.apply(step.bytes, old, data, other)
            })
        } else {
            0
        };
        if step.returns {
            self.registers.set_scalar(step.place.data, dwords, old);
        }
        self.blame_scalar(before);
    }
}
