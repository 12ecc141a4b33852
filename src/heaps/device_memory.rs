//! What vkAllocateMemory returns.

use std::sync::Arc;

use super::{BoRequest, Charge, Ledger, MemoryError, Replay};
use crate::{
    vamgr::{GpuVa, VaRequest},
    winsys::{self, Binding, Bo, Device, Mapping},
};

/// Device memory: a BO, bound at leased addresses, mapped when asked, charged to its heap.
#[derive(Debug)]
pub struct DeviceMemory {
    // Fields drop top to bottom, in the only legal order: the CPU lets go of the pages, then the GPU's page tables of
    // the addresses; with the binding go the BO's handle and last the addresses.
    mapping: Option<Mapping>,
    binding: Arc<Binding>,
    charge: Charge,
    memory_type: u32,
    heap: u32,
    priority: u32,
}

impl DeviceMemory {
    pub(super) fn new(device: &Arc<Device>, request: &BoRequest, ledger: &Arc<Ledger>) -> Result<Self, MemoryError> {
        let no_address = |source| MemoryError::Address {
            size: request.size,
            memory_type: request.memory_type,
            replay: matches!(request.replay, Replay::At(_)),
            source,
        };
        let lease = device.addresses().allocate(va_request(request)).map_err(no_address)?;
        let bo = Arc::new(Bo::create(
            device,
            winsys::BoRequest {
                size: request.size,
                alignment: request.alignment,
                domains: request.domains,
                flags: request.create_flags,
            },
        )?);
        let binding = if request.guard_page {
            Binding::with_guard_page(bo, lease, request.va_flags)?
        } else {
            Binding::new(bo, lease, request.va_flags).map_err(|(_lease, error)| error)?
        };
        Ok(Self {
            mapping: None,
            binding: Arc::new(binding),
            charge: ledger.charge(request.account, request.size),
            memory_type: request.memory_type,
            heap: request.heap,
            priority: request.priority,
        })
    }

    /// The CPU mapping of all of it, made at the first call.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] with [`NotMappable`](winsys::Error::NotMappable) for a type that is not host-visible, or
    /// what the kernel refuses.
    pub fn map(&mut self) -> Result<&Mapping, MemoryError> {
        match self.mapping {
            Some(ref mapping) => Ok(mapping),
            None => Ok(self.mapping.insert(Mapping::new(self.binding.bo())?)),
        }
    }

    /// The CPU mapping, if there is one.
    pub fn mapping(&self) -> Option<&Mapping> {
        self.mapping.as_ref()
    }

    /// Takes the CPU mapping away; nothing happens if there is none.
    pub fn unmap(&mut self) {
        self.mapping = None;
    }

    /// Where the GPU finds it: what vkGetBufferDeviceAddress builds on, and the opaque capture address.
    pub fn address(&self) -> GpuVa {
        self.binding.address()
    }

    /// Bytes, a multiple of the page size.
    pub fn size(&self) -> u64 {
        self.binding.len()
    }

    /// Index of its memory type.
    pub fn memory_type(&self) -> u32 {
        self.memory_type
    }

    /// Index of its heap.
    pub fn heap(&self) -> u32 {
        self.heap
    }

    /// Priority in submissions, 0 to 27.
    pub fn priority(&self) -> u32 {
        self.priority
    }

    /// The BO behind it.
    pub fn bo(&self) -> &Arc<Bo> {
        self.binding.bo()
    }

    /// The binding, which submissions list to keep the memory resident and alive.
    pub fn binding(&self) -> &Arc<Binding> {
        &self.binding
    }

    /// What it is charged.
    pub fn charge(&self) -> &Charge {
        &self.charge
    }
}
