//! The registers of a wave.

use amdgpu_hw::GfxLevel;

use crate::{
    alu::{kernel::Lanes, mask::spread},
    number::mode::Mode,
    program::{
        source::{EXEC, VCC},
        step::Source,
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
    pub(crate) scalars: [u32; SLOTS],
    pub(crate) vectors: Vec<Lanes>,
    pub(crate) scc: bool,
    pub(crate) mode: Mode,
    /// The first VGPR that both halves of the wave share.
    pub(crate) first_shared: usize,
    /// All bits set for lanes of `mask_of`, a cache for masked writes.
    mask: Lanes,
    mask_of: u64,
}

impl Registers {
    pub(crate) fn new(level: GfxLevel, lanes: u32, vgprs: u32, first_shared: u32, mode: Mode) -> Self {
        Self {
            level,
            lanes,
            scalars: [0; SLOTS],
            vectors: vec![[0; 64]; vgprs as usize],
            scc: false,
            mode,
            first_shared: first_shared as usize,
            mask: [0; 64],
            mask_of: 0,
        }
    }

    /// Returns a mask with a bit for every lane.
    pub(crate) fn all(&self) -> u64 {
        if self.lanes == 32 { 0xffff_ffff } else { u64::MAX }
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
                let first_on = self.exec().trailing_zeros().min(63) as usize;
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

    /// Writes the lanes of `on`.
    pub(crate) fn write(&mut self, register: u16, values: &Lanes, on: u64) {
        let index = usize::from(register);
        if on == self.all() && index < self.first_shared {
            self.vectors[index] = *values;
            return;
        }
        if on != self.mask_of {
            self.mask_of = on;
            spread(on, &mut self.mask);
            self.mask = self.mask.map(u32::wrapping_neg);
        }
        let target = &mut self.vectors[index];
        for ((target, value), mask) in target.iter_mut().zip(values).zip(&self.mask) {
            *target = *target & !mask | value & mask;
        }
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
