//! FLAT, GLOBAL and SCRATCH.

use super::{
    access::{Ends, Flat, Global, Local, one_lane},
    at_once::{Addresses, all_lanes_of_memory, rises_by},
};
use crate::{
    alu::{
        kernel::{LANES, Lanes, WideLanes},
        unit::{Unit, for_each_unit},
    },
    memory::ADDRESS_MASK,
    mutation::WaveMutation,
    outcome::Reason,
    program::{
        data::DataKind,
        decoded_inst::{FlatOp, MemoryKind, Segment, Source},
    },
    watch::observer::Observer,
    wave::{
        registers::Registers,
        state::{Surroundings, Wave},
    },
};

/// The addresses of a GLOBAL operation.
struct GlobalAddresses {
    /// The base; `None` if registers have whole addresses.
    base: Option<u64>,
    vaddr: u16,
    offset: u64,
    unit: Unit,
}

impl Addresses for GlobalAddresses {
    fn of_lane(&self, registers: &Registers, lane: usize, byte: u32) -> Option<u64> {
        let vaddr = Source::Vgpr(self.vaddr);
        let address = match self.base {
            Some(base) => base.wrapping_add(registers.lane(vaddr, 1, lane)),
            None => registers.lane(vaddr, 2, lane),
        };
        Some(address.wrapping_add(self.offset).wrapping_add(byte.into()))
    }

    fn row(&self, registers: &Registers, byte: u32) -> Option<u64> {
        let (vaddr, count) = (usize::from(self.vaddr), registers.lanes as usize);
        let rises = |op, register: usize| rises_by(self.unit, op, &registers.vectors[register], count);
        let is_row = rises(4, vaddr) && (self.base.is_some() || rises(0, vaddr + 1));
        is_row.then(|| self.of_lane(registers, 0, byte)).flatten()
    }

    fn of_all(&self, registers: &Registers, byte: u32, on: u64, addresses: &mut WideLanes) -> u64 {
        let (base, vaddr) = (self.base.unwrap_or(0), usize::from(self.vaddr));
        let high = if self.base.is_none() { &registers.vectors[vaddr + 1] } else { &[0; LANES] };
        let start = base.wrapping_add(self.offset).wrapping_add(byte.into());
        let compute = for_each_unit!(|addresses: &mut WideLanes, low: &Lanes, high: &Lanes, start: u64| {
            for lane in 0..LANES {
                let vaddr = u64::from(low[lane]) | u64::from(high[lane]) << 32;
                addresses[lane] = vaddr.wrapping_add(start) & ADDRESS_MASK;
            }
        });
        compute(self.unit, addresses, &registers.vectors[vaddr], high, start);
        on
    }
}

impl Wave {
    /// Executes a FLAT, GLOBAL or SCRATCH operation.
    pub(crate) fn flat(&mut self, op: &FlatOp, around: &mut Surroundings<'_, impl Observer>) -> Result<(), Reason> {
        let ends = Ends { data: op.data, destination: op.destination };
        let offset = op.offset.cast_unsigned();
        match op.segment {
            Segment::Global => self.global(op, around),
            Segment::Flat => {
                let vaddr = Source::Vgpr(op.address.unwrap_or(0));
                let (scratch_base, lanes) = (self.scratch_base(), u64::from(self.registers.lanes));
                for lane in self.active() {
                    let global = Global::new(around, &mut self.fault);
                    let local = Local { bytes: around.lds, observer: around.observer };
                    let mut space = Flat { global, local, scratch_base, lanes, lane: lane as u64 };
                    one_lane(&mut self.registers, &mut space, op.kind, ends, lane, |registers, lane, byte| {
                        Some(registers.lane(vaddr, 2, lane).wrapping_add(offset).wrapping_add(byte.into()))
                    });
                }
            }
            Segment::Scratch => self.scratch(op, ends, around)?,
        }
        Ok(())
    }

    /// Executes a GLOBAL operation.
    pub(crate) fn global(&mut self, op: &FlatOp, around: &mut Surroundings<'_, impl Observer>) {
        let ends = Ends { data: op.data, destination: op.destination };
        let offset = op.offset.cast_unsigned();
        let base = op.scalar.map(|scalar| self.registers.scalar(scalar, 2));
        let mut space = Global::new(around, &mut self.fault);
        let Some(vaddr) = op.address else {
            let start = base.unwrap_or(0).wrapping_add(offset);
            let places = |_: &Registers, lane: usize, byte: u32| {
                Some(start.wrapping_add(4 * lane as u64).wrapping_add(byte.into()))
            };
            return all_lanes_of_memory((&mut self.registers, &mut self.pad), &mut space, op.kind, ends, &places);
        };
        let places = GlobalAddresses { base, vaddr, offset, unit: self.unit };
        all_lanes_of_memory((&mut self.registers, &mut self.pad), &mut space, op.kind, ends, &places);
    }

    /// Returns the address of the wave's scratch memory.
    fn scratch_base(&self) -> u64 {
        // FLAT_SCRATCH is a pair of scalar registers on GFX9.
        if self.registers.level == amdgpu_hw::GfxLevel::Gfx9 { self.registers.pair(102) } else { self.scratch.base }
    }

    /// Executes a SCRATCH operation: memory of the wave whose dwords are interleaved by lane.
    fn scratch(&mut self, op: &FlatOp, ends: Ends, around: &mut Surroundings<'_, impl Observer>) -> Result<(), Reason> {
        let base = op.scalar.map_or(0, |scalar| self.registers.scalar(scalar, 1));
        let (scratch, lanes) = (self.scratch, u64::from(self.registers.lanes));
        let start = self.scratch_base();
        let offset_of = |vaddr: u64| {
            // The offset is one of 32 bits.
            base.wrapping_add(vaddr).wrapping_add(op.offset.cast_unsigned()) & 0xffff_ffff
        };
        let size = match op.kind {
            MemoryKind::Access(DataKind::Load(data) | DataKind::Store(data)) => data.bytes(),
            MemoryKind::Atomic { bytes, .. } => bytes.into(),
        };
        let vaddr = |registers: &Registers, lane| {
            op.address.map_or(0, |register| registers.lane(Source::Vgpr(register), 1, lane))
        };
        if scratch.lane_bytes != 0 {
            for lane in self.active() {
                let offset = offset_of(vaddr(&self.registers, lane));
                if offset + u64::from(size) > scratch.lane_bytes {
                    return Err(Reason::Scratch { offset, size: scratch.lane_bytes });
                }
            }
        }
        let shares = self.mutation == Some(WaveMutation::SharedScratch);
        let mut space = Global::private(around, &mut self.fault);
        all_lanes_of_memory(
            (&mut self.registers, &mut self.pad),
            &mut space,
            op.kind,
            ends,
            &|registers: &Registers, lane, byte| {
                let offset = offset_of(vaddr(registers, lane)) + u64::from(byte);
                let lane = if shares { 0 } else { lane };
                Some(start.wrapping_add((offset / 4 * lanes + lane as u64) * 4 + offset % 4))
            },
        );
        Ok(())
    }
}
