//! The memory that shaders see.

/// A kind of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Reading data.
    Load,
    /// Writing data, or an atomic operation.
    Store,
    /// Reading instructions.
    Fetch,
}

/// An address without a page, or with one that does not allow the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no page for {access:?} at {va:#x}")]
pub struct PageFault {
    /// The first address that faulted: 48 bits.
    pub va: u64,
    /// Kind of access.
    pub access: Access,
}

/// GPU memory behind a job's page tables, and the job's end. Addresses have 48 bits; the upper half of the address space is not
/// sign-extended.
///
/// If several threads use it at once, accesses of up to eight aligned bytes must not tear.
pub trait Memory {
    /// Reads `out.len()` bytes.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first address that can not be read.
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault>;

    /// Writes `data`.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first address that can not be written.
    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault>;

    /// Replaces the 4 or 8 bytes at `va`, which is aligned, by what `change` makes of them, and returns the old value. No other
    /// access of this address happens in between.
    ///
    /// # Errors
    ///
    /// [`PageFault`] if the address can not be read and written.
    fn atomic(&self, va: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault>;

    /// Reads instructions.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first address that can not be fetched from.
    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.load(va, out).map_err(|fault| PageFault { access: Access::Fetch, ..fault })
    }

    /// Reads a dword for each lane of a bit mask, which need not be aligned. Lanes without a page read 0.
    ///
    /// Memory that looks addresses up has this once for each loading instruction, and may do better than one lookup a lane.
    ///
    /// # Errors
    ///
    /// [`PageFault`] of the lowest lane that can not read.
    fn load_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        let mut result = Ok(());
        let mut rest = lanes;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize % 64;
            rest &= rest - 1;
            let mut bytes = [0; 4];
            out[lane] = match self.load(addresses[lane], &mut bytes) {
                Ok(()) => u32::from_le_bytes(bytes),
                Err(fault) => {
                    result = result.and(Err(fault));
                    0
                }
            };
        }
        result
    }

    /// Returns `true` if the dispatch is to end soon: its job was cancelled. Asked often; does not wait.
    fn is_stopped(&self) -> bool {
        false
    }
}
