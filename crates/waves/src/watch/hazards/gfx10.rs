//! The hazards of GFX10.1, most of which last until something resolves them.

use amdgpu_isa::Op;

use super::{
    found::Found,
    groups,
    rules::{
        FLAT_OFFSET, HazardRule, INSTRUCTION_PREFETCH, LANE_TO_NSA, LDS_BRANCH_VMEM, NSA_IN_CLAUSE, NSA_TO_VMEM,
        OFFSET_3F, SMEM_TO_VECTOR, VCMPX_EXEC, VCMPX_PERMLANE_OLD, VMEM_TO_SCALAR,
    },
    traits::{Scalars, Traits, Unit, pair},
};
use crate::program::source::EXEC;

/// Scalar registers that an operation may still read, and its address.
#[derive(Clone, Copy, Debug, Default)]
struct Held {
    registers: Scalars,
    pc: u64,
}

impl Held {
    fn add(&mut self, registers: Scalars, pc: u64) {
        *self = Self { registers: self.registers | registers, pc };
    }
}

/// The state of a wave.
#[derive(Debug, Default)]
pub(in crate::watch) struct Gfx10 {
    /// The registers that loads, stores and LDS read.
    by_memory: [Held; 3],
    by_scalar_memory: Held,
    /// Another operation than one of vectors read EXEC.
    exec_read: Option<u64>,
    /// A comparison wrote EXEC.
    exec_compared: Option<u64>,
    memory: Option<u64>,
    memory_branch: Option<u64>,
    lds: Option<u64>,
    lds_branch: Option<u64>,
    /// The instruction directly before is an image operation with more than one dword of addresses, or `v_writelane`.
    scattered: Option<u64>,
    lane_written: Option<u64>,
    /// The clause: the number of its instructions that follow, and its address.
    clause: (u32, u64),
}

fn found(rule: &'static HazardRule, earlier: u64) -> Found {
    Found { rule, register: None, earlier: Some(earlier) }
}

impl Gfx10 {
    /// Returns the hazard of the next instruction, and remembers it.
    pub(super) fn step(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        let all = [
            self.scalar_write(pc, traits),
            self.permlane(pc, traits),
            self.exec(pc, traits),
            self.vector_write(pc, traits),
            self.branch(pc, traits),
            self.image(pc, traits),
            self.clause(pc, traits),
        ];
        let fixed = match traits.unit {
            Unit::Control if traits.is_branch && traits.constant == 0x3f => Some(&OFFSET_3F),
            Unit::Control if traits.op == Op::SInstPrefetch => Some(&INSTRUCTION_PREFETCH),
            Unit::Memory if traits.is_generic && traits.offset != 0 => Some(&FLAT_OFFSET),
            _ => None,
        };
        let fixed = fixed.map(|rule| Found { rule, register: None, earlier: None });
        all.into_iter().flatten().next().or(fixed)
    }

    fn scalar_write(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        match traits.unit {
            Unit::Memory | Unit::Lds => {
                let registers = traits.reads | pair(EXEC);
                if traits.unit == Unit::Memory {
                    self.by_memory[usize::from(!traits.has_result)].add(registers, pc);
                }
                if traits.unit == Unit::Lds || traits.is_generic {
                    self.by_memory[2].add(registers, pc);
                }
                None
            }
            Unit::Vector => {
                self.by_memory = Default::default();
                None
            }
            Unit::Export | Unit::LdsDirect => None,
            Unit::Scalar | Unit::Control | Unit::ScalarMemory => {
                let all = traits.depctr().vm_vsrc;
                for (held, is_drained) in self.by_memory.iter_mut().zip(traits.drains) {
                    if is_drained || all {
                        *held = Held::default();
                    }
                }
                let hit = self.by_memory.iter().find(|held| held.registers & traits.writes != 0).copied()?;
                self.by_memory = Default::default();
                let register = (hit.registers & traits.writes).trailing_zeros() as u16;
                Some(Found { register: Some(register), ..found(&VMEM_TO_SCALAR, hit.pc) })
            }
        }
    }

    fn permlane(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if traits.unit != Unit::Vector {
            return None;
        }
        if groups::compares_to_exec(traits.op) {
            self.exec_compared = Some(pc);
        } else if groups::permutes_lanes(traits.op) {
            return self.exec_compared.take().map(|pc| found(&VCMPX_PERMLANE_OLD, pc));
        } else if traits.op != Op::VNop {
            self.exec_compared = None;
        }
        None
    }

    fn exec(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if traits.unit == Unit::Vector {
            if traits.writes & pair(EXEC) != 0 {
                return self.exec_read.take().map(|pc| found(&VCMPX_EXEC, pc));
            }
            if traits.writes != 0 {
                self.exec_read = None;
            }
        } else if traits.unit != Unit::Control && traits.reads & pair(EXEC) != 0 {
            self.exec_read = Some(pc);
        } else if traits.depctr().sa_sdst {
            self.exec_read = None;
        }
        None
    }

    fn vector_write(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        match traits.unit {
            Unit::ScalarMemory => self.by_scalar_memory.add(traits.reads, pc),
            Unit::Vector => {
                let common = self.by_scalar_memory.registers & traits.writes;
                if common != 0 {
                    let hit = std::mem::take(&mut self.by_scalar_memory);
                    let register = common.trailing_zeros() as u16;
                    return Some(Found { register: Some(register), ..found(&SMEM_TO_VECTOR, hit.pc) });
                }
            }
            Unit::Scalar if traits.has_result => self.by_scalar_memory = Held::default(),
            Unit::Scalar | Unit::Control if traits.drains[2] => self.by_scalar_memory = Held::default(),
            _ => {}
        }
        None
    }

    fn branch(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        match traits.unit {
            Unit::Memory if traits.is_generic => {}
            Unit::Memory => {
                let hit = self.lds_branch;
                (self.memory_branch, self.lds_branch, self.lds, self.memory) = (None, None, None, Some(pc));
                return hit.map(|pc| found(&LDS_BRANCH_VMEM, pc));
            }
            Unit::Lds => {
                let hit = self.memory_branch;
                (self.memory_branch, self.lds_branch, self.memory, self.lds) = (None, None, None, Some(pc));
                return hit.map(|pc| found(&LDS_BRANCH_VMEM, pc));
            }
            _ if traits.is_branch => {
                self.memory_branch = self.memory.take().or(self.memory_branch);
                self.lds_branch = self.lds.take().or(self.lds_branch);
            }
            Unit::Scalar if traits.op == Op::SWaitcntVscnt && traits.drains[1] => {
                (self.memory, self.memory_branch, self.lds, self.lds_branch) = Default::default();
            }
            _ => {}
        }
        None
    }

    fn clause(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        if traits.op == Op::SClause {
            self.clause = ((traits.constant & 63) + 1, pc);
            return None;
        }
        let (left, first) = self.clause;
        self.clause.0 = left.saturating_sub(1);
        (left > 0 && traits.scattered > 0).then_some(found(&NSA_IN_CLAUSE, first))
    }

    fn image(&mut self, pc: u64, traits: &Traits) -> Option<Found> {
        let (scattered, lane) = (self.scattered.take(), self.lane_written.take());
        if traits.scattered > 1 {
            self.scattered = Some(pc);
        }
        if traits.op == Op::VWritelaneB32 {
            self.lane_written = Some(pc);
        }
        let buffer = scattered.filter(|_| traits.is_buffer && traits.offset & 6 != 0);
        let image = lane.filter(|_| traits.scattered > 0);
        buffer.map(|pc| found(&NSA_TO_VMEM, pc)).or_else(|| image.map(|pc| found(&LANE_TO_NSA, pc)))
    }
}
