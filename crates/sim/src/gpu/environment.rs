//! What an engine works on: memory, a clock and a job.

use amdgpu_hw::GpuVa;

use super::{Ib, Place, Shaders};

/// What was tried at an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A packet read data.
    Read,
    /// A packet wrote data.
    Write,
    /// The engine fetched commands.
    Fetch,
}

/// An access to an address that is not mapped, or not for this access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("page fault: {access:?} at {va}")]
pub struct PageFault {
    /// The first byte that could not be accessed.
    pub va: GpuVa,
    /// What was tried.
    pub access: Access,
}

/// The GPU's address space, as the page tables of one process (VMID) show it. Little-endian.
///
/// A call that fails has done what lies before the faulting byte, or less; the engine then goes on page by page. Ranges
/// may be empty, and may end at the end of either half of the address space, but never run over it.
pub trait Memory {
    /// Reads `out.len()` bytes from `va` on.
    ///
    /// # Errors
    ///
    /// The first byte that can not be read.
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault>;

    /// Writes `data` from `va` on.
    ///
    /// # Errors
    ///
    /// The first byte that can not be written.
    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault>;

    /// Copies `len` bytes between ranges that do not overlap.
    ///
    /// # Errors
    ///
    /// The first byte that can not be read or written.
    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault>;

    /// Fills `len` bytes with the bytes of `pattern`, the lowest first, again and again.
    ///
    /// # Errors
    ///
    /// The first byte that can not be written.
    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault>;
}

/// The GPU's reference counter, the one that `AMDGPU_INFO_TIMESTAMP` answers from.
pub trait Clock {
    /// The counter now. It never goes back.
    fn ticks(&self) -> u64;
}

/// The job that an engine runs.
pub trait Job {
    /// Whether a wait goes on. Asked after each look at memory that did not satisfy it; may sleep for a while before it
    /// answers. False means that the job has timed out or was cancelled.
    fn keep_waiting(&self) -> bool;

    /// A packet's data was not there. The packet goes on: what it wrote there is lost, what it read there is zero. Told
    /// once for each packet and kind of access.
    fn fault(&self, fault: PageFault, place: Place);

    /// Whether the job shall end where it is. Asked whenever another IB begins, and now and then in
    /// between; does not sleep.
    fn is_cancelled(&self) -> bool {
        false
    }

    /// An IB was fetched: the one submitted, or one that it calls or chains to.
    fn fetched(&self, ib: Ib, dwords: &[u32]) {
        let _ = (ib, dwords);
    }
}

/// All that an engine works on.
#[derive(Clone, Copy)]
pub struct Environment<'e> {
    /// The memory the packets see.
    pub memory: &'e dyn Memory,
    /// The counter that timestamps come from.
    pub clock: &'e dyn Clock,
    /// The job that is run.
    pub job: &'e dyn Job,
    /// What executes shaders; [`NoShaders`](super::NoShaders) for nothing.
    pub shaders: &'e dyn Shaders,
}
