//! LDS.

use amdgpu_hw::GfxLevel;

use super::access::{AtomicOperands, Ends, Local, Space, atomic_lane, one_lane};
use crate::{
    program::{
        decoded_inst::{LdsKind, LdsOp, MemoryKind, Source},
        source::M0,
    },
    watch::observer::Observer,
    wave::state::{Surroundings, Wave},
};

impl Wave {
    /// Executes a DS operation.
    pub(crate) fn lds(&mut self, op: &LdsOp, around: &mut Surroundings<'_, impl Observer>) {
        if matches!(op.kind, LdsKind::Swizzle | LdsKind::Permute | LdsKind::BackwardPermute) {
            return self.permute(op);
        }
        // Up to GFX8, M0 limits the addresses.
        let m0 = self.registers.scalars[usize::from(M0)];
        let limit = if self.registers.level <= GfxLevel::Gfx8 { m0 as usize } else { usize::MAX };
        let size = around.lds.len().min(limit);
        let mut local = Local { bytes: &mut around.lds[..size], observer: around.observer };
        if let LdsKind::Append(append) = op.kind {
            return self.count_in_lds(op, append, Local { bytes: &mut around.lds[..], observer: around.observer });
        }
        for lane in self.active() {
            local.lane(lane);
            let base = self.registers.vectors[usize::from(op.address)][lane];
            let at = |offset: u32| u64::from(base.wrapping_add(offset));
            match op.kind {
                LdsKind::Access(kind) => {
                    let ends = Ends { data: op.data[0], destination: op.destination };
                    let address = |_: &_, _, byte: u32| Some(at(op.offset.wrapping_add(byte)));
                    one_lane(&mut self.registers, &mut local, MemoryKind::Access(kind), ends, lane, address);
                }
                LdsKind::Load2(bytes) => {
                    let values = op.offsets.map(|offset| load(&mut local, at(offset), bytes));
                    self.write_two(op.destination, bytes, lane, values);
                }
                LdsKind::Store2(bytes) => {
                    for (offset, data) in op.offsets.into_iter().zip(op.data) {
                        let value = self.registers.lane(Source::Vgpr(data), bytes / 4, lane);
                        local.store(at(offset), &value.to_le_bytes()[..bytes.into()]);
                    }
                }
                LdsKind::Exchange2(bytes) => {
                    let mut old = [0; 2];
                    for (index, offset) in op.offsets.into_iter().enumerate() {
                        let value = self.registers.lane(Source::Vgpr(op.data[index]), bytes / 4, lane);
                        old[index] = local.atomic(at(offset), bytes, &mut |_| value);
                    }
                    self.write_two(op.destination, bytes, lane, old);
                }
                LdsKind::Atomic { atomic, bytes, returns, swapped } => {
                    let [first, second] = op.data;
                    // What is compared comes first, up to GFX10.
                    let (data, other) = if atomic.compares() && !swapped { (second, first) } else { (first, second) };
                    let destination = returns.then_some(op.destination);
                    let operands = AtomicOperands { atomic, bytes, data, other, destination };
                    atomic_lane(&mut self.registers, &mut local, lane, operands, Some(at(op.offset)));
                }
                LdsKind::AtomicFromMemory { atomic, bytes } => {
                    // The second address is relative to the first, in dwords, in offset bits 14:0.
                    let distance = (op.offset << 17).cast_signed() >> 17 << 2;
                    let data = load(&mut local, u64::from(base.wrapping_add_signed(distance)), bytes);
                    local.atomic(base.into(), bytes, &mut |old| atomic.apply(bytes, old, data, 0));
                }
                LdsKind::LaneAddress(store) => {
                    let address = u64::from((m0 & 0xffff) + op.offset) + 4 * lane as u64;
                    if store {
                        let value = self.registers.vectors[usize::from(op.data[0])][lane];
                        local.store(address, &value.to_le_bytes());
                    } else {
                        let value = load(&mut local, address, 4) as u32;
                        self.registers.write_lane(op.destination, lane, value);
                    }
                }
                _ => {}
            }
        }
    }

    /// Writes two values of 4 or 8 bytes to consecutive registers.
    fn write_two(&mut self, first: u16, bytes: u8, lane: usize, values: [u64; 2]) {
        let dwords = u16::from(bytes) / 4;
        for (index, value) in values.into_iter().enumerate() {
            let register = first + index as u16 * dwords;
            self.registers.write_lane(register, lane, value as u32);
            if dwords == 2 {
                self.registers.write_lane(register + 1, lane, (value >> 32) as u32);
            }
        }
    }

    /// Adds the number of lanes that are on to a counter, or takes it away, and gives the old value to all.
    fn count_in_lds(&mut self, op: &LdsOp, append: bool, mut local: Local<'_, impl Observer>) {
        let exec = self.registers.exec();
        let count = u64::from(exec.count_ones());
        let old = local.atomic(op.offset.into(), 4, &mut |old| {
            if append { old.wrapping_add(count) } else { old.wrapping_sub(count) }
        });
        self.registers.write(op.destination, &[old as u32; 64], exec);
    }
}

/// Returns 4 or 8 bytes of LDS.
fn load(local: &mut Local<'_, impl Observer>, address: u64, bytes: u8) -> u64 {
    let mut word = [0; 8];
    local.load(address, &mut word[..bytes.into()]);
    u64::from_le_bytes(word)
}
