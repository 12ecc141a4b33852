//! News of a watched dispatch.

use std::fmt;

use super::change::Change;

/// Something that a watched dispatch did. Its text is one line.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Event {
    /// A traced wave executed an instruction.
    Step(TracedStep),
    /// A lane stores to a watched address.
    Store(Hit),
    /// Two accesses, of which one stores, are in no order.
    Race(Race),
}

/// An instruction of a traced wave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TracedStep {
    /// The group's number in x, y and z.
    pub group: [u32; 3],
    /// The wave's number in the group.
    pub wave: u32,
    /// The address of the instruction.
    pub pc: u64,
    /// The instruction as text.
    pub text: String,
    /// The lanes that were on before it.
    pub exec: u64,
    /// The registers that it changed.
    pub changes: Vec<Change>,
}

/// A store to a watched address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The group's number in x, y and z.
    pub group: [u32; 3],
    /// The wave's number in the group.
    pub wave: u32,
    /// The lane; none for a store of the whole wave.
    pub lane: Option<u8>,
    /// The address of the instruction.
    pub pc: u64,
    /// The instruction as text.
    pub text: String,
    /// The instruction that the wave executed before it, as text.
    pub previous: String,
    /// The first byte that is stored.
    pub address: u64,
    /// The bytes that are stored; empty for an atomic operation.
    pub data: Vec<u8>,
    /// The lane's vector registers, the first lane's for a whole wave.
    pub vectors: Vec<u32>,
}

/// Kind of memory that a race is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryKind {
    /// LDS of a group.
    Lds,
    /// Memory behind page tables.
    Memory,
}

/// A side of a race.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RaceSide {
    /// The group's number in x, y and z.
    pub group: [u32; 3],
    /// The wave's number in the group.
    pub wave: u32,
    /// The lane; none for an access of the whole wave.
    pub lane: Option<u8>,
    /// The address of the instruction.
    pub pc: u64,
    /// The instruction as text.
    pub text: String,
}

/// Two accesses that neither a barrier nor atomic operations put in an order. Each pair of instructions is told once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The memory.
    pub memory: MemoryKind,
    /// The address of the dword.
    pub address: u64,
    /// The access that came first in this run.
    pub first: RaceSide,
    /// The other.
    pub second: RaceSide,
}

/// Writes a group and a wave.
fn place(f: &mut fmt::Formatter<'_>, [x, y, z]: [u32; 3], wave: u32) -> fmt::Result {
    write!(f, "group {x},{y},{z} wave {wave}")
}

fn lane(f: &mut fmt::Formatter<'_>, lane: Option<u8>) -> fmt::Result {
    lane.map_or(Ok(()), |lane| write!(f, " lane {lane}"))
}

impl fmt::Display for TracedStep {
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
            Self::Step(step) => step.fmt(f),
            Self::Store(hit) => hit.fmt(f),
            Self::Race(race) => race.fmt(f),
        }
    }
}
