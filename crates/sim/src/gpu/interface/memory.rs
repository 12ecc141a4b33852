//! The memory interface of the GPU.

use amdgpu_hw::GpuVa;
use amdgpu_waves::Reach;
use parking_lot::Mutex;

use super::target_caches::TargetCaches;

/// Held during an update, which is a read and a write, so that the updates of several rings are not interleaved.
pub(crate) static UPDATES: Mutex<()> = Mutex::new(());

/// The kind of a memory access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// A read of data by a packet or shader.
    Read,
    /// A write of data by a packet or shader.
    Write,
    /// A fetch of commands by the engine.
    Fetch,
}

/// An access to an address that is not mapped, or that does not permit this access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("page fault: {access:?} at {va}")]
pub struct PageFault {
    /// The first byte that could not be accessed.
    pub va: GpuVa,
    /// The kind of access that faulted.
    pub access: Access,
}

/// The unit that made an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Client {
    /// The engine of the ring, for a packet.
    Packet,
    /// The cache of vector instructions of shaders.
    Vector,
    /// The cache of scalar loads of shaders.
    Scalar,
    /// The instruction cache of shaders.
    Instructions,
    /// The fetch of indices for a draw.
    Indices,
    /// The render backends of a draw, which have caches of their own.
    Targets,
}

/// Known cause of a page fault, besides the fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FaultSource {
    /// The unit that made the access.
    pub client: Client,
    /// `true` for an atomic operation.
    pub is_atomic: bool,
    /// `true` if the page is mapped and may be read, so that the access lacks the permission to write alone.
    pub is_readable: bool,
}

impl FaultSource {
    /// Returns the source of a fault of `client`, for which the page is read once more if the access is a write.
    pub fn new(client: Client, fault: &PageFault, memory: &(impl Memory + ?Sized)) -> Self {
        let is_readable = fault.access == Access::Write && memory.read(fault.va, &mut [0]).is_ok();
        Self { client, is_atomic: false, is_readable }
    }
}

/// A GPU address space, defined by the page tables of one process (VMID). Little-endian.
///
/// A call that fails may have accessed the bytes before the faulting byte; the engine then continues page by page. Ranges may be
/// empty, and may end at the end of either half of the address space, but do not extend beyond it.
pub trait Memory {
    /// Reads `out.len()` bytes, starting at `va`.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first byte that cannot be read.
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault>;

    /// Reads commands, like [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    fn fetch(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.read(va, out)
    }

    /// Reads instructions of shaders, like [`read`](Self::read).
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    fn read_code(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.read(va, out)
    }

    /// Tells the cache of the accesses of [`Client::Targets`] after this call. Only a model of caches uses it.
    fn enter(&self, cache: TargetCaches) {
        let _ = cache;
    }

    /// Tells the unit of a shader that makes the accesses after this call, and the caches that they pass by. Only a model of caches
    /// uses it.
    fn route(&self, client: Client, reach: Reach) {
        let _ = (client, reach);
    }

    /// Reads a dword for each lane in a mask. Addresses have 48 bits and need not be aligned. Lanes that cannot read get 0.
    ///
    /// # Errors
    ///
    /// [`PageFault`] of the lowest lane that cannot read.
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

    /// Writes `data` to memory, starting at `va`.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first byte that cannot be written.
    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault>;

    /// Writes a dword for each lane of a bit mask, the lowest lane first. Addresses have 48 bits and need not be aligned. Dwords
    /// that cannot be written are dropped.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first byte that the lowest such lane cannot write.
    fn write_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        let mut result = Ok(());
        for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
            let written = self.write(GpuVa::from_48_bits(addresses[lane]), &data[lane].to_le_bytes());
            result = result.and(written);
        }
        result
    }

    /// Reads elements of `bytes` bytes, one for each address, into `out`, where they follow each other. Addresses have 48 bits.
    /// Elements that cannot be read are zero.
    ///
    /// # Errors
    ///
    /// [`PageFault`] of the first element that cannot be read.
    fn read_elements(&self, addresses: &[u64], bytes: usize, out: &mut [u8]) -> Result<(), PageFault> {
        let mut result = Ok(());
        for (&at, element) in addresses.iter().zip(out.chunks_exact_mut(bytes)) {
            let read = self.read(GpuVa::from_48_bits(at), element);
            if read.is_err() {
                element.fill(0);
            }
            result = result.and(read);
        }
        result
    }

    /// Writes elements of `bytes` bytes, one for each address, in order. Addresses have 48 bits. Elements that cannot be written are
    /// dropped.
    ///
    /// # Errors
    ///
    /// [`PageFault`] of the first element that cannot be written.
    fn write_elements(&self, addresses: &[u64], bytes: usize, data: &[u8]) -> Result<(), PageFault> {
        let mut result = Ok(());
        for (&at, element) in addresses.iter().zip(data.chunks_exact(bytes)) {
            result = result.and(self.write(GpuVa::from_48_bits(at), element));
        }
        result
    }

    /// Replaces the `bytes` (4 or 8) at an aligned address with the result of `change`, and returns the old value. No other update
    /// of these bytes happens in between. Memory that is shared with clients and threads also excludes writes in between; `change`
    /// is then called again with the value written.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first byte that cannot be read or written.
    fn update(&self, va: GpuVa, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let _guard = UPDATES.lock();
        let mut word = [0; 8];
        let word_len = usize::from(bytes).min(8);
        self.read(va, &mut word[..word_len])?;
        let old = u64::from_le_bytes(word);
        self.write(va, &change(old).to_le_bytes()[..word_len])?;
        Ok(old)
    }

    /// Returns the memory if several threads may use it at once.
    fn shared(&self) -> Option<&(dyn Memory + Sync)> {
        None
    }

    /// Calls `work` with the same memory for this thread alone, which may keep what it finds in page tables, and returns `true`. Returns
    /// `false` without a call, as by default, if page tables may change while `work` runs, or if each access is looked at.
    fn on_thread(&self, work: &mut dyn FnMut(&dyn Memory)) -> bool {
        let _ = work;
        false
    }

    /// Copies `len` bytes between ranges that do not overlap.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first byte that cannot be read or written.
    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault>;

    /// Fills `len` bytes by repeating the bytes of `pattern`, the lowest first.
    ///
    /// # Errors
    ///
    /// [`PageFault`] with the first byte that cannot be written.
    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault>;
}
