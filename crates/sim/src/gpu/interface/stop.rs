//! Reasons why an engine stops, with the place.

use std::fmt;

use amdgpu_hw::GpuVa;
use amdgpu_packets::pm4::{Compare, Register};
use amdgpu_packets::{DecodeError, Target};

use crate::gpu::{Ib, PageFault};

/// Place in a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The engine.
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

/// Location that a wait polls.
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

/// Reason why an engine stopped in the middle of a job. Hardware would hang, or do something it should not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Stop {
    /// The ring does not take the packet, or this simulator does not know it.
    #[error("{place}: unknown packet with opcode {opcode:#x}")]
    Unknown {
        /// The place.
        place: Place,
        /// The opcode; for SDMA the sub-opcode in bits 15:8.
        opcode: u16,
    },
    /// The dwords are no packet.
    #[error("{place}: {source}")]
    Malformed {
        /// The place.
        place: Place,
        /// The error.
        source: DecodeError,
    },
    /// The packet is known, but does something that must not be, or that is not simulated.
    #[error("{place}: {what}")]
    Refused {
        /// The place.
        place: Place,
        /// Description of the fault.
        what: &'static str,
    },
    /// The IB lies where nothing is mapped, in part at least.
    #[error("{place}: fetching commands failed: {fault}")]
    Fetch {
        /// The place.
        place: Place,
        /// The first dword that could not be fetched.
        fault: PageFault,
    },
    /// A wait was not satisfied before the job's patience ended.
    #[error("{place}: gave up waiting for ({last:#x} at {at} & {mask:#x}) {function:?} {reference:#x}")]
    GaveUp {
        /// The place.
        place: Place,
        /// The location polled.
        at: Watched,
        /// The comparison that should have held, after masking.
        function: Compare,
        /// The bits that count.
        mask: u64,
        /// The reference value.
        reference: u64,
        /// The last value read, unmasked.
        last: u64,
    },
    /// The job ran for longer than any stream does: its IBs chain in a circle.
    #[error("{place}: still not at the end after {packets} packets")]
    Endless {
        /// The place.
        place: Place,
        /// Number of packets executed.
        packets: u64,
    },
    /// A wave of what the packet started can not go on; the job has the reason.
    #[error("{place}: a wave hangs")]
    Wave {
        /// The place.
        place: Place,
    },
    /// The job was cancelled.
    #[error("{place}: cancelled")]
    Cancelled {
        /// The place.
        place: Place,
    },
}
