//! The counters of outstanding operations, and the instructions that wait for them.
//!
//! Sources: Mesa 25.0.7 `src/amd/compiler/aco_ir.cpp`, `wait_imm::max` and `wait_imm::unpack`; LLVM 19
//! `llvm/lib/Target/AMDGPU/Utils/AMDGPUBaseInfo.cpp`, `decodeWaitcnt` and `decodeLoadcntDscnt`.

use amdgpu_hw::GfxLevel;
use amdgpu_isa::{Field, Instruction, Op};

use crate::program::source::{SINK, destination};

/// A counter. Generations that lack one count its operations in another, as [`Counter::of`] says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::watch) enum Counter {
    Load,
    Store,
    Sample,
    Bvh,
    Lds,
    Scalar,
    Export,
}

/// The number of counters.
pub(super) const COUNTERS: usize = 7;

impl Counter {
    const ALL: [Self; COUNTERS] =
        [Self::Load, Self::Store, Self::Sample, Self::Bvh, Self::Lds, Self::Scalar, Self::Export];

    /// Returns the counter that a generation has for the operations of `self`.
    pub(super) fn of(self, level: GfxLevel) -> Self {
        match self {
            Self::Sample | Self::Bvh if level < GfxLevel::Gfx12 => Self::Load,
            Self::Store if level < GfxLevel::Gfx10 => Self::Load,
            Self::Scalar if level < GfxLevel::Gfx12 => Self::Lds,
            other => other,
        }
    }

    /// Returns the name of the counter.
    pub(super) fn name(self, level: GfxLevel) -> &'static str {
        let names = match self {
            Self::Load => ["vmcnt", "loadcnt"],
            Self::Store => ["vscnt", "storecnt"],
            Self::Sample => ["vmcnt", "samplecnt"],
            Self::Bvh => ["vmcnt", "bvhcnt"],
            Self::Lds => ["lgkmcnt", "dscnt"],
            Self::Scalar => ["lgkmcnt", "kmcnt"],
            Self::Export => ["expcnt"; 2],
        };
        names[usize::from(level >= GfxLevel::Gfx12)]
    }

    /// Returns the largest value that a wait can have, which does not wait.
    pub(super) fn most(self, level: GfxLevel) -> u8 {
        match self {
            Self::Load | Self::Sample | Self::Bvh if level < GfxLevel::Gfx9 => 15,
            Self::Lds | Self::Scalar if level < GfxLevel::Gfx10 => 15,
            Self::Scalar if level >= GfxLevel::Gfx12 => 31,
            Self::Bvh | Self::Export => 7,
            _ => 63,
        }
    }
}

/// The values that counters may have after an instruction, by counter; `None` for any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::watch) struct Limits([Option<u8>; COUNTERS]);

impl Limits {
    /// Returns the limits that an instruction waits for. `s_waitcnt_depctr` and `s_wait_alu` wait for other counters, and
    /// barriers for none.
    pub(in crate::watch) fn of(instruction: &Instruction) -> Self {
        let level = instruction.level();
        let value = instruction.field(Field::Simm16);
        let bits = |high: u32, low: u32| (value >> low & ((1 << (high - low + 1)) - 1)) as u8;
        let low = bits(5, 0);
        let mut limits = Self::default();
        let values: &[(Counter, u8)] = match instruction.op() {
            Op::SWaitcnt => match level {
                GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => {
                    &[(Counter::Load, bits(3, 0)), (Counter::Export, bits(6, 4)), (Counter::Lds, bits(11, 8))]
                }
                GfxLevel::Gfx9 => &[
                    (Counter::Load, bits(3, 0) | bits(15, 14) << 4),
                    (Counter::Export, bits(6, 4)),
                    (Counter::Lds, bits(11, 8)),
                ],
                GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => &[
                    (Counter::Load, bits(3, 0) | bits(15, 14) << 4),
                    (Counter::Export, bits(6, 4)),
                    (Counter::Lds, bits(13, 8)),
                ],
                _ => &[(Counter::Load, bits(15, 10)), (Counter::Export, bits(2, 0)), (Counter::Lds, bits(9, 4))],
            },
            // The limit is the sum of a scalar register and a constant; with a register other than null nothing is known.
            Op::SWaitcntVmcnt | Op::SWaitcntVscnt | Op::SWaitcntExpcnt | Op::SWaitcntLgkmcnt
                if destination(level, instruction.field(Field::Sdst)) != Ok(SINK) =>
            {
                &[]
            }
            Op::SWaitcntVmcnt | Op::SWaitLoadcnt => &[(Counter::Load, low)],
            Op::SWaitcntVscnt | Op::SWaitStorecnt => &[(Counter::Store, low)],
            Op::SWaitcntExpcnt | Op::SWaitExpcnt => &[(Counter::Export, bits(2, 0))],
            Op::SWaitcntLgkmcnt | Op::SWaitDscnt => &[(Counter::Lds, low)],
            Op::SWaitSamplecnt => &[(Counter::Sample, low)],
            Op::SWaitBvhcnt => &[(Counter::Bvh, bits(2, 0))],
            Op::SWaitKmcnt => &[(Counter::Scalar, bits(4, 0))],
            Op::SWaitLoadcntDscnt => &[(Counter::Load, bits(13, 8)), (Counter::Lds, low)],
            Op::SWaitStorecntDscnt => &[(Counter::Store, bits(13, 8)), (Counter::Lds, low)],
            Op::SWaitIdle => &Counter::ALL.map(|counter| (counter, 0)),
            _ => &[],
        };
        for &(counter, value) in values {
            if value < counter.most(level) {
                limits.0[counter as usize] = Some(value);
            }
        }
        limits
    }

    /// Returns the largest value that a counter may have afterwards; `None` if there is no limit.
    pub(in crate::watch) fn get(&self, counter: Counter) -> Option<u8> {
        self.0[counter as usize]
    }

    /// Returns `true` if the instruction waits for no counter.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }
}
