//! The registers of a wave.

use amdgpu_hw::GfxLevel;

use super::file::Register;
use crate::{
    alu::{
        kernel::{LANES, Lanes},
        mask::spread,
        moves,
        unit::Unit,
    },
    number::mode::Mode,
    program::{
        decoded_inst::Source,
        source::{EXEC, VCC},
    },
};

/// Slots for scalar registers: the 128 of the instruction set, and room behind them for what is written past their end or to
/// the null register.
const SLOTS: usize = 160;

/// The registers of a wave.
#[derive(Clone)]
pub(crate) struct Registers {
    pub(crate) level: GfxLevel,
    /// Lanes: 32 or 64.
    pub(crate) lanes: u32,
    /// A mask with a bit for every lane.
    all: u64,
    pub(crate) scalars: [u32; SLOTS],
    pub(crate) vectors: Vec<Box<Register>>,
    /// The vector instructions that move lanes.
    pub(crate) unit: Unit,
    pub(crate) scc: bool,
    pub(crate) mode: Mode,
    /// The first VGPR that both halves of the wave share.
    pub(crate) first_shared: usize,
    /// All bits set for lanes of `mask_of`, a cache for masked writes.
    mask: Lanes,
    mask_of: u64,
}

impl Registers {
    /// Returns registers that hold zeroes, with vector registers that do.
    pub(crate) fn new(
        level: GfxLevel,
        lanes: u32,
        (vectors, first_shared): (Vec<Box<Register>>, u32),
        mode: Mode,
        unit: Unit,
    ) -> Self {
        Self {
            level,
            lanes,
            all: if lanes == 32 { 0xffff_ffff } else { u64::MAX },
            scalars: [0; SLOTS],
            vectors,
            unit,
            scc: false,
            mode,
            first_shared: first_shared as usize,
            mask: [0; 64],
            mask_of: 0,
        }
    }

    /// Makes all registers hold zeroes.
    pub(crate) fn clear(&mut self, mode: Mode) {
        self.scalars = [0; SLOTS];
        for register in &mut self.vectors {
            ***register = [0; LANES];
        }
        (self.scc, self.mode) = (false, mode);
    }

    /// Copies all registers of a wave of the same size, without new memory.
    pub(crate) fn copy_from(&mut self, other: &Self) {
        let Self { level, lanes, all, scalars, vectors, unit, scc, mode, first_shared, mask, mask_of } = other;
        self.vectors.clone_from(vectors);
        (self.level, self.lanes, self.all) = (*level, *lanes, *all);
        (self.unit, self.first_shared) = (*unit, *first_shared);
        (self.scalars, self.scc, self.mode) = (*scalars, *scc, *mode);
        (self.mask, self.mask_of) = (*mask, *mask_of);
    }

    /// Returns a mask with a bit for every lane.
    pub(crate) fn all(&self) -> u64 {
        self.all
    }

    /// Returns the dwords of a lane mask.
    pub(crate) fn mask_dwords(&self) -> u8 {
        (self.lanes / 32) as u8
    }

    pub(crate) fn pair(&self, slot: u8) -> u64 {
        let slot = usize::from(slot);
        u64::from(self.scalars[slot]) | u64::from(self.scalars[slot + 1]) << 32
    }

    /// Returns a lane mask.
    pub(crate) fn lane_mask(&self, slot: u8) -> u64 {
        self.pair(slot) & self.all()
    }

    /// Returns the lanes that are on.
    pub(crate) fn exec(&self) -> u64 {
        self.lane_mask(EXEC)
    }

    /// Returns the number of lanes in a mask.
    #[inline(always)]
    pub(crate) fn count(&self, on: u64) -> u64 {
        // Processors without an instruction that counts bits need a dozen others.
        u64::from(if on == self.all { self.lanes } else { on.count_ones() })
    }

    /// Writes one or two scalar registers.
    pub(crate) fn set_scalar(&mut self, slot: u8, dwords: u8, value: u64) {
        let slot = usize::from(slot);
        self.scalars[slot] = value as u32;
        if dwords == 2 {
            self.scalars[slot + 1] = (value >> 32) as u32;
        }
    }

    /// Writes a lane mask.
    pub(crate) fn set_mask(&mut self, slot: u8, mask: u64) {
        self.set_scalar(slot, self.mask_dwords(), mask);
    }

    /// Returns a scalar value of one or two dwords.
    #[inline]
    pub(crate) fn scalar(&self, source: Source, dwords: u8) -> u64 {
        match source {
            Source::Scalar(slot) if dwords == 2 => self.pair(slot),
            Source::Scalar(slot) => u64::from(self.scalars[usize::from(slot)]),
            Source::Constant(value) => value,
            other => self.rare_scalar(other),
        }
    }

    /// Returns the value of a source that is neither a scalar register nor a constant.
    #[inline(never)]
    fn rare_scalar(&self, source: Source) -> u64 {
        match source {
            Source::Scalar(slot) => self.pair(slot),
            Source::Constant(value) => value,
            Source::Vccz => u64::from(self.lane_mask(VCC) == 0),
            Source::Execz => u64::from(self.exec() == 0),
            Source::Scc => u64::from(self.scc),
            Source::Vgpr(register) => {
                // As of an operation that reads the first lane: the lowest one if none is on. Waves of 32 have no lane 63.
                let on = self.exec();
                let first_on = if on == 0 { 0 } else { on.trailing_zeros() as usize };
                self.vectors.get(usize::from(register)).map_or(0, |lanes| u64::from(lanes[first_on]))
            }
        }
    }

    /// Returns one or two dwords of a lane.
    pub(crate) fn lane(&self, source: Source, dwords: u8, lane: usize) -> u64 {
        match source {
            Source::Vgpr(register) => {
                let register = usize::from(register);
                let low = u64::from(self.vectors[register][lane]);
                if dwords == 2 { low | u64::from(self.vectors[register + 1][lane]) << 32 } else { low }
            }
            other => self.scalar(other, dwords),
        }
    }

    /// Returns `true` if a write of the lanes in `on` replaces a register as a whole.
    fn replaces(&self, index: usize, on: u64) -> bool {
        on == self.all() && index < self.first_shared
    }

    /// Writes the lanes of `on`.
    pub(crate) fn write(&mut self, register: u16, values: &Lanes, on: u64) {
        let index = usize::from(register);
        if self.replaces(index, on) {
            moves::copy(self.unit, &mut self.vectors[index], values);
        } else {
            self.merge(index, values, on);
        }
    }

    /// Writes the lanes of `on`. What `values` holds afterwards is undefined.
    #[inline(always)]
    pub(crate) fn exchange(&mut self, register: u16, values: &mut Box<Register>, on: u64) {
        let index = usize::from(register);
        if self.replaces(index, on) {
            std::mem::swap(&mut self.vectors[index], values);
        } else {
            self.merge(index, values, on);
        }
    }

    /// Writes some lanes of a register.
    #[inline(never)]
    fn merge(&mut self, index: usize, values: &Lanes, on: u64) {
        if on != self.mask_of {
            self.mask_of = on;
            spread(self.unit, on, &mut self.mask);
            moves::negate(self.unit, &mut self.mask);
        }
        moves::blend(self.unit, &mut self.vectors[index], values, &self.mask);
        if index >= self.first_shared {
            self.mirror(index, on);
        }
    }

    /// Makes both halves of a shared register hold what was written last: the upper half's lanes come second.
    fn mirror(&mut self, index: usize, on: u64) {
        let target = &mut self.vectors[index];
        for lane in 0..32 {
            let upper = on >> (lane + 32) & 1 != 0;
            let value = if upper { target[lane + 32] } else { target[lane] };
            target[lane] = value;
            target[lane + 32] = value;
        }
    }

    /// Writes one lane.
    pub(crate) fn write_lane(&mut self, register: u16, lane: usize, value: u32) {
        let index = usize::from(register);
        self.vectors[index][lane] = value;
        if index >= self.first_shared {
            self.vectors[index][lane ^ 32] = value;
        }
    }
}

/// Returns the numbers of the bits that are set, lowest first.
pub(crate) fn lanes(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        if rest == 0 {
            return None;
        }
        let lane = rest.trailing_zeros();
        rest &= rest - 1;
        Some(lane as usize)
    })
}
