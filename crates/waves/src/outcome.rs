//! Ends of a dispatch.

use amdgpu_hw::GfxLevel;

use crate::{image::error::ImageError, memory::PageFault};

/// The end of a dispatch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every wave ended.
    Done(Counters),
    /// Every wave ended; accesses without a page read 0 and wrote nothing.
    Fault {
        /// The first access that faulted, of the lowest group.
        fault: PageFault,
        /// Counts of the work done.
        counters: Counters,
    },
    /// A wave can not go on.
    Hang(Hang),
    /// [`Memory::is_stopped`](crate::Memory::is_stopped) said so.
    Stopped,
}

/// A wave that can not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("wave {wave} of group {group:?} hangs at {pc:#x}: {reason} ({level}, {})", words(bytes))]
pub struct Hang {
    /// The address of the instruction.
    pub pc: u64,
    /// Its dwords, up to five, as far as they could be read.
    pub bytes: Vec<u32>,
    /// The generation it was decoded for.
    pub level: GfxLevel,
    /// The group's number in x, y and z.
    pub group: [u32; 3],
    /// The wave's number in the group.
    pub wave: u32,
    /// The reason.
    pub reason: Reason,
}

/// A reason why a wave can not go on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// The address of the instruction has no page.
    #[error(transparent)]
    Fetch(#[from] PageFault),
    /// The dwords are no instruction.
    #[error("illegal instruction: {0}")]
    Illegal(#[from] amdgpu_isa::DecodeError),
    /// The instruction is legal and not executed.
    #[error("{instruction} is not executed: {why}")]
    NotExecuted {
        /// The instruction's text.
        instruction: String,
        /// The reason.
        why: &'static str,
    },
    /// The shader uses a VGPR that was not allocated.
    #[error("v{register} is beyond the {allocated} allocated VGPRs")]
    Register {
        /// The VGPR.
        register: u32,
        /// VGPRs of the wave.
        allocated: u32,
    },
    /// Scratch memory beyond what the dispatch gives a wave.
    #[error("scratch offset {offset:#x} is beyond the {size:#x} bytes of a lane")]
    Scratch {
        /// The offset within the lane's memory.
        offset: u64,
        /// The lane's memory in bytes.
        size: u64,
    },
    /// The texels behind an image descriptor can not be accessed.
    #[error("{why} (image descriptor {})", self::words(words))]
    Image {
        /// The words of the descriptor.
        words: [u32; 8],
        /// The reason.
        why: ImageError,
    },
    /// The instruction budget of the dispatch is used up.
    #[error("the budget of {0} instructions is used up")]
    Budget(u64),
    /// The receiver of a [watched](crate::run_watched) dispatch's news ended it.
    #[error("ended by its watch")]
    Watch,
    /// The program ends by `s_code_end` or halts itself.
    #[error("the program halts")]
    Halt,
}

/// Counts of a dispatch's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Waves that ended.
    pub waves: u64,
    /// Instructions that waves executed.
    pub instructions: u64,
    /// Lanes that were on in vector instructions, added up.
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
