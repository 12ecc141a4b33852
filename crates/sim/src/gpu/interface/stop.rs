//! The reasons why an engine stops.

use std::fmt;

use amdgpu_hw::GpuVa;
use amdgpu_packets::pm4::{Compare, Register};
use amdgpu_packets::{DecodeError, Target};

use crate::gpu::{Ib, PageFault};

/// A location in a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The target of the engine: its ring and generation.
    pub target: Target,
    /// The IB that contains the packet.
    pub ib: Ib,
    /// The offset of the packet in that IB, in dwords.
    pub offset: usize,
    /// The call depth: 1 for submitted IBs and IBs that they chain to, 2 for called IBs.
    pub level: u8,
    /// The name of the packet; the name of its opcode if the packet is unknown.
    pub packet: &'static str,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, ib, offset, level, packet } = self;
        write!(f, "{packet} at dword {offset} of the level-{level} IB at {} ({} dwords), {target}", ib.va, ib.dwords)
    }
}

/// The location that a wait polls.
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

impl Stop {
    /// Returns the location in the job.
    pub const fn place(&self) -> Place {
        match *self {
            Self::Unknown { place, .. }
            | Self::Malformed { place, .. }
            | Self::Refused { place, .. }
            | Self::Fetch { place, .. }
            | Self::GaveUp { place, .. }
            | Self::Endless { place, .. }
            | Self::Wave { place }
            | Self::Cancelled { place }
            | Self::WavesCancelled { place } => place,
        }
    }
}

/// The reason why an engine stopped before the end of a job. Hardware would hang or misbehave.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The ring does not accept the packet, or the simulator does not support it.
    #[error("{place}: unknown packet with opcode {opcode:#x}")]
    Unknown {
        /// The location in the job.
        place: Place,
        /// The opcode; for SDMA with the sub-opcode in bits 15:8.
        opcode: u16,
    },
    /// The dwords are not a valid packet.
    #[error("{place}: {source}")]
    Malformed {
        /// The location in the job.
        place: Place,
        /// The decoding error.
        source: DecodeError,
    },
    /// The packet is valid, but its operation is forbidden or not simulated.
    #[error("{place}: {what}")]
    Refused {
        /// The location in the job.
        place: Place,
        /// A description of the reason.
        what: &'static str,
    },
    /// The memory of the IB is not fully mapped.
    #[error("{place}: fetching commands failed: {fault}")]
    Fetch {
        /// The location in the job.
        place: Place,
        /// The page fault of the first dword that could not be fetched.
        fault: PageFault,
    },
    /// A wait was not satisfied before the job timed out.
    #[error("{place}: gave up waiting for ({last:#x} at {at} & {mask:#x}) {function:?} {reference:#x}")]
    GaveUp {
        /// The location in the job.
        place: Place,
        /// The location that the wait polled.
        at: Watched,
        /// The comparison that was not satisfied.
        function: Compare,
        /// The mask that is applied to the value.
        mask: u64,
        /// The reference value of the comparison.
        reference: u64,
        /// The last value read, without the mask.
        last: u64,
    },
    /// The job executed more packets than any valid stream: its IBs chain in a loop.
    #[error("{place}: still not at the end after {packets} packets")]
    Endless {
        /// The location in the job.
        place: Place,
        /// The number of executed packets.
        packets: u64,
    },
    /// A wave that the packet started cannot continue. The job was told the reason.
    #[error("{place}: a wave hangs")]
    Wave {
        /// The location in the job.
        place: Place,
    },
    /// The job was cancelled, or its time is over.
    #[error("{place}: ended before it was done")]
    Cancelled {
        /// The location in the job.
        place: Place,
    },
    /// The job was cancelled, or its time is over, while waves that the packet started were running.
    #[error("{place}: its waves were ended before they were done")]
    WavesCancelled {
        /// The location in the job.
        place: Place,
    },
}
