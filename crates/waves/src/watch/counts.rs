//! Counts of a dispatch's instructions and bytes.

use std::fmt;

use amdgpu_isa::{Format, Instruction, Op};

/// A class of instructions in the counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum InstructionClass {
    /// Scalar arithmetic and moves.
    Scalar,
    /// Scalar loads, stores and atomics.
    ScalarMemory,
    /// Vector arithmetic, and cross-lane operations.
    Vector,
    /// LDS operations, and permutations that use LDS hardware.
    Lds,
    /// Buffer, FLAT, GLOBAL and SCRATCH operations.
    Memory,
    /// Image operations.
    Image,
    /// Branches and jumps.
    Branch,
    /// Barriers between the waves of a work-group.
    Barrier,
    /// Waits, hints, and the end of the program.
    Other,
}

impl InstructionClass {
    /// All classes of instructions.
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

    /// Returns the name of the class in reports.
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

    /// Returns `true` if each lane executes the instructions of this class.
    pub const fn is_of_lanes(self) -> bool {
        matches!(self, Self::Vector | Self::Lds | Self::Memory | Self::Image)
    }

    pub(super) fn of(instruction: &Instruction) -> Self {
        match instruction.op() {
            Op::SBranch
            | Op::SCbranchCdbgsys
            | Op::SCbranchCdbgsysAndUser
            | Op::SCbranchCdbgsysOrUser
            | Op::SCbranchCdbguser
            | Op::SCbranchExecnz
            | Op::SCbranchExecz
            | Op::SCbranchGFork
            | Op::SCbranchIFork
            | Op::SCbranchJoin
            | Op::SCbranchScc0
            | Op::SCbranchScc1
            | Op::SCbranchVccnz
            | Op::SCbranchVccz
            | Op::SSetpcB64
            | Op::SSwappcB64
            | Op::SCallB64
            | Op::SSubvectorLoopBegin
            | Op::SSubvectorLoopEnd => return Self::Branch,
            Op::SBarrier
            | Op::SBarrierInit
            | Op::SBarrierJoin
            | Op::SBarrierLeave
            | Op::SBarrierSignal
            | Op::SBarrierSignalIsfirst
            | Op::SBarrierWait => return Self::Barrier,
            _ => {}
        }
        match instruction.format() {
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

/// The counts of a watched dispatch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchCounts {
    pub(super) instructions: [u64; InstructionClass::ALL.len()],
    /// The number of active lanes, summed over all instructions that lanes execute.
    pub lanes_on: u64,
    /// The number of lanes of the wave, active or not, summed over the same instructions.
    pub lanes: u64,
    /// The number of lane instructions with fewer active lanes than at the start of their wave.
    pub divergent: u64,
    /// The number of branches and jumps that were taken.
    pub taken: u64,
    /// The number of bytes loaded from memory.
    pub loaded: u64,
    /// The number of bytes stored to memory.
    pub stored: u64,
    /// The number of bytes of atomic operations on memory.
    pub atomic: u64,
    /// The number of bytes of loads, stores and atomic operations on LDS.
    pub lds: u64,
}

impl WatchCounts {
    /// Returns the number of instructions of a class that waves executed.
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
