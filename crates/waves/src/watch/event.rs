//! Events of a watched dispatch.

use std::fmt;

use super::{change::Change, hazards::InstructionHazard, waits::MissingWait};

/// An event of a watched dispatch. Its text form is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A traced wave executed an instruction.
    Instruction(TracedInstruction),
    /// A lane stored to a watched address.
    Store(Hit),
    /// Two accesses race.
    Race(Race),
    /// An instruction accesses a register of an outstanding operation.
    MissingWait(MissingWait),
    /// An instruction follows another too soon.
    Hazard(InstructionHazard),
}

/// An instruction of a traced wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedInstruction {
    /// The work-group ID in x, y and z.
    pub group: [u32; 3],
    /// The index of the wave in the work-group.
    pub wave: u32,
    /// The address of the instruction.
    pub pc: u64,
    /// The instruction as text.
    pub text: String,
    /// The mask of lanes that were active before the instruction.
    pub exec: u64,
    /// The registers that the instruction changed.
    pub changes: Vec<Change>,
}

/// A store to a watched address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The work-group ID in x, y and z.
    pub group: [u32; 3],
    /// The index of the wave in the work-group.
    pub wave: u32,
    /// The lane; `None` for a store of the whole wave.
    pub lane: Option<u8>,
    /// The address of the instruction.
    pub pc: u64,
    /// The text of the instruction.
    pub text: String,
    /// The text of the previous instruction of the wave.
    pub previous: String,
    /// The address of the first stored byte.
    pub address: u64,
    /// The stored bytes; empty for an atomic operation.
    pub data: Vec<u8>,
    /// The vector registers of the lane; for a whole wave those of the first lane.
    pub vectors: Vec<u32>,
}

/// The kind of memory in which a race occurs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// The LDS of a work-group.
    Lds,
    /// Global memory, which is accessed through page tables.
    Memory,
}

/// One of the two accesses of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// The work-group ID in x, y and z.
    pub group: [u32; 3],
    /// The index of the wave in the work-group.
    pub wave: u32,
    /// The lane; `None` for an access of the whole wave.
    pub lane: Option<u8>,
    /// The address of the instruction.
    pub pc: u64,
    /// The text of the instruction.
    pub text: String,
}

/// Two accesses that neither a barrier nor atomic operations order. Each pair of instructions is reported once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The kind of memory.
    pub memory: MemoryKind,
    /// The address of the dword.
    pub address: u64,
    /// The access that happened first in this run.
    pub first: RaceSide,
    /// The access that happened second in this run.
    pub second: RaceSide,
}

/// Writes a work-group ID and a wave index.
fn place(f: &mut fmt::Formatter<'_>, [x, y, z]: [u32; 3], wave: u32) -> fmt::Result {
    write!(f, "group {x},{y},{z} wave {wave}")
}

fn lane(f: &mut fmt::Formatter<'_>, lane: Option<u8>) -> fmt::Result {
    lane.map_or(Ok(()), |lane| write!(f, " lane {lane}"))
}

impl fmt::Display for TracedInstruction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(f, self.group, self.wave)?;
        write!(f, " {:#x} exec {:x}: {}", self.pc, self.exec, self.text)?;
        for (index, change) in self.changes.iter().enumerate() {
            f.write_str(if index == 0 { "  ; " } else { ", " })?;
            change.fmt(f)?;
        }
        Ok(())
    }
}

impl fmt::Display for Hit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("store by ")?;
        place(f, self.group, self.wave)?;
        lane(f, self.lane)?;
        write!(f, " to {:#x}", self.address)?;
        if !self.data.is_empty() {
            f.write_str(" of bytes")?;
            self.data.iter().try_for_each(|byte| write!(f, " {byte:02x}"))?;
        }
        write!(f, ": {:#x} `{}`, after `{}`", self.pc, self.text, self.previous)?;
        for (register, value) in self.vectors.iter().enumerate() {
            write!(f, "{} v{register} {value:#x}", if register == 0 { ";" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for RaceSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        place(f, self.group, self.wave)?;
        lane(f, self.lane)?;
        write!(f, " at {:#x} `{}`", self.pc, self.text)
    }
}

impl fmt::Display for Race {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = match self.memory {
            MemoryKind::Lds => "LDS",
            MemoryKind::Memory => "memory",
        };
        write!(f, "race in {memory} at {:#x}: {}, and {}", self.address, self.first, self.second)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Instruction(instruction) => instruction.fmt(f),
            Self::Store(hit) => hit.fmt(f),
            Self::Race(race) => race.fmt(f),
            Self::MissingWait(wait) => wait.fmt(f),
            Self::Hazard(hazard) => hazard.fmt(f),
        }
    }
}
