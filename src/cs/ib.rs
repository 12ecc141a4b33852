//! The memory of one IB.

use std::{ptr::NonNull, sync::Arc};

use super::Result;
use crate::{
    uapi::{GemCreateFlags, GemDomain, VaFlags},
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Bo, BoRequest, Device, Mapping, PAGE_SIZE},
};

/// A GPU buffer that holds dwords, written by the CPU through its one mapping and only read by the GPU.
///
/// It lies in write-combined system memory, so dwords are best stored in order and never read back.
///
/// # Invariants
///
/// `dwords` points at `capacity` dwords of `mapping`. The BO is reachable through this object alone: it is never
/// exported, never mapped twice, and its binding gives the GPU no right to write. So nobody but the owner of this
/// object ever writes to it.
#[derive(Debug)]
pub(super) struct IbMemory {
    dwords: NonNull<u32>,
    capacity: usize,
    // Fields drop top to bottom: the CPU lets go of the pages before the GPU does.
    _mapping: Mapping,
    binding: Arc<Binding>,
}

// SAFETY: the pointer leads into the mapping that the object owns, which any thread may access.
unsafe impl Send for IbMemory {}
// SAFETY: shared access only reads; writes take `&mut self`.
unsafe impl Sync for IbMemory {}

impl IbMemory {
    /// Allocates, binds and maps room for at least `capacity` dwords.
    pub(super) fn new(device: &Arc<Device>, capacity: usize) -> Result<Self> {
        let size = (capacity as u64 * 4).next_multiple_of(PAGE_SIZE);
        let lease = device.addresses().allocate(VaRequest::new(size))?;
        let bo = Arc::new(Bo::create(
            device,
            BoRequest {
                size,
                alignment: PAGE_SIZE,
                domains: GemDomain::GTT,
                flags: GemCreateFlags::CPU_ACCESS_REQUIRED
                    | GemCreateFlags::CPU_GTT_USWC
                    | GemCreateFlags::EXPLICIT_SYNC,
            },
        )?);
        let flags = VaFlags::READABLE | VaFlags::EXECUTABLE;
        let binding = Binding::new(Arc::clone(&bo), lease, flags).map_err(|(_lease, error)| error)?;
        let mapping = Mapping::new(&bo)?;
        // INVARIANT: a mapping is page-aligned and holds the BO's `size` bytes, which are at least `capacity` dwords.
        Ok(Self {
            dwords: mapping.as_ptr().cast(),
            capacity: (size / 4) as usize,
            _mapping: mapping,
            binding: Arc::new(binding),
        })
    }

    /// Room in dwords.
    pub(super) fn capacity(&self) -> usize {
        self.capacity
    }

    /// Where the GPU finds it.
    pub(super) fn address(&self) -> GpuVa {
        self.binding.address()
    }

    /// The binding, for the BO list.
    pub(super) fn binding(&self) -> &Arc<Binding> {
        &self.binding
    }

    /// The dwords, to read.
    pub(super) fn as_slice(&self) -> &[u32] {
        // SAFETY: `capacity` dwords are mapped and aligned as long as `self` lives, mapped bytes are always a valid u32
        // whatever they hold, and by the invariant nobody writes them while `self` is borrowed.
        unsafe { std::slice::from_raw_parts(self.dwords.as_ptr(), self.capacity) }
    }

    /// The dwords, to write.
    pub(super) fn as_mut_slice(&mut self) -> &mut [u32] {
        // SAFETY: `capacity` dwords are mapped and aligned as long as `self` lives, mapped bytes are always a valid u32
        // whatever they hold, and by the invariant nobody else writes them while `self` is borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.dwords.as_ptr(), self.capacity) }
    }
}
