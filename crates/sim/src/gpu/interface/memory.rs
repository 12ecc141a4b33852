//! The GPU's view of memory.

use amdgpu_hw::GpuVa;

/// Kind of access to an address.
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
    /// Kind of access.
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

    /// Reads a dword for each lane of a bit mask; addresses have 48 bits and need not be aligned. Lanes that can not read get 0.
    ///
    /// # Errors
    ///
    /// The first byte that the lowest such lane can not read.
    fn read_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        let mut result = Ok(());
        for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
            let mut bytes = [0; 4];
            let read = self.read(GpuVa::from_48_bits(addresses[lane]), &mut bytes);
            out[lane] = if read.is_ok() { u32::from_le_bytes(bytes) } else { 0 };
            result = result.and(read);
        }
        result
    }

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
