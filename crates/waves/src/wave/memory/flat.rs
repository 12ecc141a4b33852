//! FLAT, GLOBAL and SCRATCH.

use super::access::{Ends, Flat, Global, Local, all_lanes_of_memory, one_lane};
use crate::{
    flaw::Flaw,
    outcome::Reason,
    program::{
        data::DataKind,
        step::{FlatStep, MemoryKind, Segment, Source},
    },
    watch::observer::{Observer, Place},
    wave::state::{Surroundings, Wave},
};

impl Wave {
    /// Executes a FLAT, GLOBAL or SCRATCH operation.
    pub(crate) fn flat(&mut self, step: &FlatStep, around: &mut Surroundings<'_, impl Observer>) -> Result<(), Reason> {
        let ends = Ends { data: step.data, destination: step.destination };
        let offset = step.offset.cast_unsigned();
        match step.segment {
            Segment::Global => {
                let base = step.scalar.map(|scalar| self.registers.scalar(scalar, 2));
                let vaddr = Source::Vgpr(step.address.unwrap_or(0));
                let mut space = Global::new(around, &mut self.fault);
                all_lanes_of_memory(&mut self.registers, &mut space, step.kind, ends, |registers, lane, byte| {
                    let address = match base {
                        Some(base) => base.wrapping_add(registers.lane(vaddr, 1, lane)),
                        None => registers.lane(vaddr, 2, lane),
                    };
                    Some(address.wrapping_add(offset).wrapping_add(byte.into()))
                });
            }
            Segment::Flat => {
                let vaddr = Source::Vgpr(step.address.unwrap_or(0));
                let (scratch_base, lanes) = (self.scratch_base(), u64::from(self.registers.lanes));
                for lane in self.active() {
                    let global = Global::new(around, &mut self.fault);
                    let local = Local { bytes: around.lds, observer: around.observer };
                    let mut space = Flat { global, local, scratch_base, lanes, lane: lane as u64 };
                    one_lane(&mut self.registers, &mut space, step.kind, ends, lane, |registers, lane, byte| {
                        Some(registers.lane(vaddr, 2, lane).wrapping_add(offset).wrapping_add(byte.into()))
                    });
                }
            }
            Segment::Scratch => self.scratch(step, ends, around)?,
        }
        Ok(())
    }

    /// Returns the address of the wave's scratch memory.
    fn scratch_base(&self) -> u64 {
        // FLAT_SCRATCH is a pair of scalar registers on GFX9.
        if self.registers.level == amdgpu_hw::GfxLevel::Gfx9 { self.registers.pair(102) } else { self.scratch.base }
    }

    /// Executes a SCRATCH operation: memory of the wave whose dwords are interleaved by lane.
    fn scratch(
        &mut self,
        step: &FlatStep,
        ends: Ends,
        around: &mut Surroundings<'_, impl Observer>,
    ) -> Result<(), Reason> {
        let base = step.scalar.map_or(0, |scalar| self.registers.scalar(scalar, 1));
        let (scratch, lanes) = (self.scratch, u64::from(self.registers.lanes));
        let start = self.scratch_base();
        let offset_of = |vaddr: u64| {
            // The offset is one of 32 bits.
            base.wrapping_add(vaddr).wrapping_add(step.offset.cast_unsigned()) & 0xffff_ffff
        };
        let size = match step.kind {
            MemoryKind::Access(DataKind::Load(data) | DataKind::Store(data)) => data.bytes(),
            MemoryKind::Atomic { bytes, .. } => bytes.into(),
        };
        let vaddr = |registers: &crate::wave::registers::Registers, lane| {
            step.address.map_or(0, |register| registers.lane(Source::Vgpr(register), 1, lane))
        };
        if scratch.lane_bytes != 0 {
            for lane in self.active() {
                let offset = offset_of(vaddr(&self.registers, lane));
                if offset + u64::from(size) > scratch.lane_bytes {
                    return Err(Reason::Scratch { offset, size: scratch.lane_bytes });
                }
            }
        }
        let shares = self.flaw == Some(Flaw::SharedScratch);
        let mut space = Global { place: Place::Scratch, ..Global::new(around, &mut self.fault) };
        all_lanes_of_memory(&mut self.registers, &mut space, step.kind, ends, |registers, lane, byte| {
            let offset = offset_of(vaddr(registers, lane)) + u64::from(byte);
            let lane = if shares { 0 } else { lane };
            Some(start.wrapping_add((offset / 4 * lanes + lane as u64) * 4 + offset % 4))
        });
        Ok(())
    }
}
