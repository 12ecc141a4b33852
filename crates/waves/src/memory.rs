//! The memory interface of shaders.

use crate::program::cache::CodeCache;

/// The address bits that page tables translate.
pub(crate) const ADDRESS_MASK: u64 = (1 << 48) - 1;

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read of data.
    Load,
    /// A write of data.
    Store,
    /// An atomic operation.
    Atomic,
    /// A read of data by a scalar instruction, through the cache of constants.
    ScalarLoad,
    /// A write or an atomic operation of a scalar instruction.
    ScalarStore,
    /// A fetch of instructions.
    Fetch,
}

/// The reach of an instruction's accesses: the caches that they pass by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// The compute unit: through its caches.
    Unit,
    /// The shader array: past the caches of the compute unit, but through GL1 of GFX10.
    Array,
    /// The device: past all caches in front of L2.
    Device,
    /// The system: past L2 of GFX12 as well.
    System,
    /// The lane itself: scratch memory, whose place the hardware chooses.
    Private,
    /// The compression metadata of an image, which has a cache of its own on GFX9 to GFX11.5.
    Metadata,
}

/// An access to an address that is not mapped, or that does not permit this access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no page for {access:?} at {va:#x}")]
pub struct PageFault {
    /// The first address that faulted, with 48 bits.
    pub va: u64,
    /// The kind of access that faulted.
    pub access: Access,
}

/// The address space of a job, and the cancellation of the job. Addresses have 48 bits without sign extension.
///
/// If several threads use the memory concurrently, accesses of up to eight aligned bytes must be atomic.
pub trait Memory {
    /// Reads `out.len()` bytes, starting at `va`.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first address that cannot be read.
    fn load(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault>;

    /// Writes `data` to memory, starting at `va`.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first address that cannot be written.
    fn store(&self, va: u64, data: &[u8]) -> Result<(), PageFault>;

    /// Atomically replaces the 4 or 8 bytes at `va`, which is aligned, with the result of `change`, and returns the old value.
    /// If another access changes the bytes in between, `change` is called again with the new value; the last call counts.
    ///
    /// # Errors
    ///
    /// [`PageFault`] if the address cannot be read and written.
    fn atomic(&self, va: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault>;

    /// Fetches `out.len()` bytes of instructions, starting at `va`.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first address that cannot be fetched.
    fn fetch(&self, va: u64, out: &mut [u8]) -> Result<(), PageFault> {
        self.load(va, out).map_err(|fault| PageFault { access: Access::Fetch, ..fault })
    }

    /// Tells the unit that makes the accesses after this call, and how far they reach. Only [`run_checked`](crate::run_checked) and
    /// [`run_watched`](crate::run_watched) call it, before each instruction that accesses memory.
    fn route(&self, is_scalar: bool, reach: Reach) {
        let _ = (is_scalar, reach);
    }

    /// Reads a dword for each lane in a mask. Addresses need not be aligned; those of lanes that are not in the mask are undefined. Lanes
    /// whose address is not mapped read 0.
    ///
    /// This is called once for each load instruction, so that implementations can avoid a page table lookup for each lane.
    ///
    /// # Errors
    ///
    /// [`PageFault`] of the lowest lane that cannot read.
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

    /// Writes a dword for each lane of a bit mask, the lowest lane first. The addresses need not be aligned; those of lanes that are not
    /// in the mask are undefined. Dwords on unmapped pages are dropped.
    ///
    /// # Errors
    ///
    /// [`PageFault`] of the lowest lane that cannot write.
    fn store_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        let mut result = Ok(());
        let mut rest = lanes;
        while rest != 0 {
            let lane = rest.trailing_zeros() as usize % 64;
            rest &= rest - 1;
            result = result.and(self.store(addresses[lane], &data[lane].to_le_bytes()));
        }
        result
    }

    /// Reads the dwords from `va` on, one for each lane of a wave: at most 64.
    ///
    /// This is called for loads whose lanes follow each other, so that implementations can look a page up once and copy a block.
    ///
    /// # Errors
    ///
    /// [`PageFault`] if any of them cannot be read; `out` is undefined then, and the caller reads lane by lane.
    fn load_row(&self, va: u64, out: &mut [u32]) -> Result<(), PageFault> {
        for (at, word) in (va..).step_by(4).zip(out) {
            let mut bytes = [0; 4];
            self.load(at, &mut bytes)?;
            *word = u32::from_le_bytes(bytes);
        }
        Ok(())
    }

    /// Writes the dwords of the lanes of a wave, at most 64, from `va` on.
    ///
    /// # Errors
    ///
    /// [`PageFault`] if any of them cannot be written. Any of the others are written then, and the caller writes all of them again
    /// lane by lane.
    fn store_row(&self, va: u64, data: &[u32]) -> Result<(), PageFault> {
        (va..).step_by(4).zip(data).try_for_each(|(at, word)| self.store(at, &word.to_le_bytes()))
    }

    /// Returns `true` if the dispatch should end because its job has ended: it was cancelled, or its time is over. Called before each
    /// work-group and every few hundred instructions of a wave; must not block. Once it has returned `true`, it does so for ever.
    fn is_stopped(&self) -> bool {
        false
    }

    /// Calls `work` with the same memory for this thread alone, which may keep what it finds for one access for the next, and returns
    /// `true`; returns `false` without a call, as by default, if there is no such memory. Each thread of a dispatch calls it once.
    fn on_thread(&self, work: &mut dyn FnMut(&dyn Memory)) -> bool {
        let _ = work;
        false
    }

    /// Returns the cache of decoded code that dispatches on this memory share; `None`, the default, if each decodes its own.
    fn code_cache(&self) -> Option<&CodeCache> {
        None
    }
}
