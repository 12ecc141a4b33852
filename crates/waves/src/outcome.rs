//! Outcomes of dispatches.

use amdgpu_hw::GfxLevel;

use crate::{image::error::ImageError, memory::PageFault};

/// The outcome of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All waves ended.
    Done(Counters),
    /// All waves ended, but some accessed unmapped addresses. These loads returned 0, and these stores were dropped.
    Fault {
        /// The first access that faulted, in the lowest work-group.
        fault: PageFault,
        /// The counters of the dispatch.
        counters: Counters,
    },
    /// A wave cannot continue.
    Hang(Hang),
    /// [`Memory::is_stopped`](crate::Memory::is_stopped) returned `true`.
    Stopped,
}

/// A wave that cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wave {wave} of group {group:?} hangs at {pc:#x}: {reason} ({level}, {})", words(bytes))]
pub struct Hang {
    /// The address of the instruction.
    pub pc: u64,
    /// The dwords of the instruction, up to five, as far as they could be read.
    pub bytes: Vec<u32>,
    /// The generation for which the instruction was decoded.
    pub level: GfxLevel,
    /// The work-group ID in x, y and z.
    pub group: [u32; 3],
    /// The index of the wave in the work-group.
    pub wave: u32,
    /// The reason why the wave cannot continue.
    pub reason: Reason,
}

/// The reason why a wave cannot continue.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The address of the instruction is not mapped.
    #[error(transparent)]
    Fetch(#[from] PageFault),
    /// The dwords are not an instruction.
    #[error("illegal instruction: {0}")]
    Illegal(#[from] amdgpu_isa::DecodeError),
    /// The dwords decode, but the generation does not define what an instruction with these operands or modifiers does.
    #[error("illegal instruction: {instruction}: {why}")]
    IllegalForm {
        /// The text of the instruction.
        instruction: String,
        /// The rule that is broken.
        why: &'static str,
    },
    /// The instruction is valid but not supported.
    #[error("{instruction} is not executed: {why}")]
    NotExecuted {
        /// The text of the instruction.
        instruction: String,
        /// The reason why it is not supported.
        why: &'static str,
    },
    /// The shader uses a VGPR that is not allocated.
    #[error("v{register} is beyond the {allocated} allocated VGPRs")]
    Register {
        /// The number of the VGPR.
        register: u32,
        /// The number of VGPRs of the wave.
        allocated: u32,
    },
    /// The shader accesses scratch memory beyond the size for its wave.
    #[error("scratch offset {offset:#x} is beyond the {size:#x} bytes of a lane")]
    Scratch {
        /// The offset in the lane's scratch memory.
        offset: u64,
        /// The size of the lane's scratch memory in bytes.
        size: u64,
    },
    /// The texels of an image cannot be accessed.
    #[error("{why} (image descriptor {})", self::words(words))]
    Image {
        /// The dwords of the descriptor.
        words: [u32; 8],
        /// The reason why they cannot be accessed.
        why: ImageError,
    },
    /// The dispatch exceeds an instruction budget of [`Limits`](crate::Limits).
    #[error("the budget of {0} instructions is used up")]
    Budget(u64),
    /// A wave of a graphics stage exports without end: hardware has no room for what nothing takes.
    #[error("a wave has no room for more than {0} exports")]
    Exports(u32),
    /// The receiver of a [watched](crate::run_watched) dispatch's events ended it.
    #[error("ended by its watch")]
    Watch,
    /// The program reaches `s_code_end` or halts itself.
    #[error("the program halts")]
    Halt,
}

/// The counts of a dispatch's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// The number of waves that ended.
    pub waves: u64,
    /// The number of instructions that waves executed.
    pub instructions: u64,
    /// The number of active lanes, summed over all vector instructions.
    pub lanes: u64,
}

impl Counters {
    pub(crate) fn add(&mut self, other: Self) {
        self.waves += other.waves;
        self.instructions += other.instructions;
        self.lanes += other.lanes;
    }
}

/// Returns dwords as text.
fn words(words: &[u32]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("{word:08x}")).collect();
    words.join(" ")
}
