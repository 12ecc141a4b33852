//! Why an engine came to a stop, and where.

use std::fmt;

use amdgpu_hw::GpuVa;
use amdgpu_packets::pm4::{Compare, Register};
use amdgpu_packets::{DecodeError, Target};

use crate::gpu::{Ib, PageFault};

/// Where in a job an engine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Who executes.
    pub target: Target,
    /// The IB that is executed.
    pub ib: Ib,
    /// The packet's header, in dwords from the start of that IB.
    pub offset: usize,
    /// 1 for the IB that was submitted and those it chains to, 2 for one that it calls.
    pub level: u8,
    /// The packet's name; that of its opcode where the packet is unknown.
    pub packet: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, ib, offset, level, packet } = self;
        write!(f, "{packet} at dword {offset} of the level-{level} IB at {} ({} dwords), {target}", ib.va, ib.dwords)
    }
}

/// What a wait looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Watched {
    /// A dword or qword of memory.
    Memory(GpuVa),
    /// A register.
    Register(Register),
}

impl fmt::Display for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(va) => va.fmt(f),
            Self::Register(register) => write!(f, "register {:#x}", 4 * u64::from(register.index())),
        }
    }
}

/// Why an engine stopped in the middle of a job. Hardware would hang, or do something it should not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The ring does not take the packet, or this simulator does not know it.
    #[error("{place}: unknown packet with opcode {opcode:#x}")]
    Unknown {
        /// Where.
        place: Place,
        /// The opcode; for SDMA the sub-opcode in bits 15:8.
        opcode: u16,
    },
    /// The dwords are no packet.
    #[error("{place}: {source}")]
    Malformed {
        /// Where.
        place: Place,
        /// What is wrong with them.
        source: DecodeError,
    },
    /// The packet is known, but does something that must not be, or that is not simulated.
    #[error("{place}: {what}")]
    Refused {
        /// Where.
        place: Place,
        /// What it does.
        what: &'static str,
    },
    /// The IB lies where nothing is mapped, in part at least.
    #[error("{place}: fetching commands failed: {fault}")]
    Fetch {
        /// Where.
        place: Place,
        /// The first dword that could not be fetched.
        fault: PageFault,
    },
    /// A wait was not satisfied before the job's patience ended.
    #[error("{place}: gave up waiting for ({last:#x} at {at} & {mask:#x}) {function:?} {reference:#x}")]
    GaveUp {
        /// Where.
        place: Place,
        /// What was watched.
        at: Watched,
        /// How it should have compared, after masking.
        function: Compare,
        /// The bits that count.
        mask: u64,
        /// What it was compared with.
        reference: u64,
        /// What was there last, unmasked.
        last: u64,
    },
    /// The job ran for longer than any stream does: its IBs chain in a circle.
    #[error("{place}: still not at the end after {packets} packets")]
    Endless {
        /// Where.
        place: Place,
        /// How many packets were executed.
        packets: u64,
    },
    /// A wave of what the packet started can not go on; the job was told why.
    #[error("{place}: a wave hangs")]
    Wave {
        /// Where.
        place: Place,
    },
    /// The job was cancelled.
    #[error("{place}: cancelled")]
    Cancelled {
        /// Where.
        place: Place,
    },
}
