//! Counts of a dispatch's instructions and bytes.

use std::fmt;

use amdgpu_isa::{Format, Instruction};

/// A class of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionClass {
    /// Scalar arithmetic and moves.
    Scalar,
    /// Scalar loads, stores and atomics.
    ScalarMemory,
    /// Vector arithmetic, and operations across lanes.
    Vector,
    /// LDS, and permutations that go through it.
    Lds,
    /// Buffers, FLAT, GLOBAL and SCRATCH.
    Memory,
    /// Images.
    Image,
    /// Branches and jumps.
    Branch,
    /// Barriers.
    Barrier,
    /// Waits, hints, and the end.
    Other,
}

impl InstructionClass {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Scalar,
        Self::ScalarMemory,
        Self::Vector,
        Self::Lds,
        Self::Memory,
        Self::Image,
        Self::Branch,
        Self::Barrier,
        Self::Other,
    ];

    /// Returns the name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::ScalarMemory => "scalar memory",
            Self::Vector => "vector",
            Self::Lds => "LDS",
            Self::Memory => "memory",
            Self::Image => "image",
            Self::Branch => "branch",
            Self::Barrier => "barrier",
            Self::Other => "other",
        }
    }

    /// Returns `true` if lanes execute it.
    pub const fn is_of_lanes(self) -> bool {
        matches!(self, Self::Vector | Self::Lds | Self::Memory | Self::Image)
    }

    pub(super) fn of(instruction: &Instruction) -> Self {
        let name = instruction.name();
        let jumps = ["s_branch", "s_cbranch", "s_setpc", "s_swappc", "s_call", "s_subvector"];
        match instruction.format() {
            _ if jumps.iter().any(|start| name.starts_with(start)) => Self::Branch,
            _ if name.starts_with("s_barrier") => Self::Barrier,
            Format::Sop1 | Format::Sop2 | Format::Sopc | Format::Sopk => Self::Scalar,
            Format::Smem | Format::Smrd => Self::ScalarMemory,
            Format::Ds => Self::Lds,
            Format::Mubuf
            | Format::Mtbuf
            | Format::Vbuffer
            | Format::Flat
            | Format::Global
            | Format::Scratch
            | Format::Vflat
            | Format::Vglobal
            | Format::Vscratch => Self::Memory,
            Format::Mimg | Format::Vimage | Format::Vsample => Self::Image,
            Format::Sopp => Self::Other,
            _ => Self::Vector,
        }
    }
}

/// Counts of a watched dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchCounts {
    pub(super) instructions: [u64; InstructionClass::ALL.len()],
    /// Lanes that were on in instructions of lanes, added up.
    pub lanes_on: u64,
    /// Lanes that waves have, added up over the same instructions.
    pub lanes: u64,
    /// Instructions of lanes with fewer lanes on than their wave started with.
    pub divergent: u64,
    /// Branches and jumps that did not go on with the next instruction.
    pub taken: u64,
    /// Bytes that were loaded from memory.
    pub loaded: u64,
    /// Bytes that were stored to memory.
    pub stored: u64,
    /// Bytes of atomic operations on memory.
    pub atomic: u64,
    /// Bytes of loads, stores and atomic operations on LDS.
    pub lds: u64,
}

impl WatchCounts {
    /// Returns the instructions of a class that waves executed.
    pub fn instructions(&self, class: InstructionClass) -> u64 {
        self.instructions[class as usize]
    }

    pub(super) fn count(&mut self, class: InstructionClass) {
        self.instructions[class as usize] += 1;
    }
}

impl fmt::Display for WatchCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("instructions:")?;
        for class in InstructionClass::ALL {
            if self.instructions(class) > 0 {
                write!(f, " {} {},", class.name(), self.instructions(class))?;
            }
        }
        write!(
            f,
            " {} branches taken; lanes on {} of {}, {} instructions divergent; bytes: {} loaded, {} stored, {} atomic, {} of LDS",
            self.taken, self.lanes_on, self.lanes, self.divergent, self.loaded, self.stored, self.atomic, self.lds
        )
    }
}
