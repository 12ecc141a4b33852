//! What vkAllocateMemory returns.

use std::sync::Arc;

use super::{Addressing, AllocationPlan, Charge, MemoryError, Replay};
use crate::{
    vamgr::{GpuVa, VaRequest, VaWindow},
    winsys::{Binding, Bo, Device, Mapping},
};

/// Device memory: a BO, bound at leased addresses, mapped when asked. The BO is charged to its heap.
#[derive(Debug)]
pub struct DeviceMemory {
    // Fields drop top to bottom, in the only legal order: the CPU lets go of the pages, then the GPU's page tables of
    // the addresses; with the binding go the BO's handle and last the addresses.
    mapping: Option<Mapping>,
    binding: Arc<Binding>,
    memory_type: u32,
    heap: u32,
    priority: u32,
}

impl DeviceMemory {
    pub(super) fn new(device: &Arc<Device>, plan: &AllocationPlan) -> Result<Self, MemoryError> {
        let lease = device.addresses().allocate(va_request(plan)).map_err(|source| MemoryError::Address {
            size: plan.bo.size,
            memory_type: plan.memory_type,
            replay: matches!(plan.replay, Replay::At(_)),
            source,
        })?;
        let bo = Arc::new(Bo::create(device, plan.bo)?);
        let binding = if plan.guard_page {
            Binding::with_guard_page(bo, lease, plan.va_flags)?
        } else {
            Binding::new(bo, lease, plan.va_flags).map_err(|(_lease, error)| error)?
        };
        Ok(Self {
            mapping: None,
            binding: Arc::new(binding),
            memory_type: plan.memory_type,
            heap: plan.heap,
            priority: plan.priority,
        })
    }

    /// The CPU mapping of all of it, made at the first call.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] with [`NotMappable`](crate::winsys::Error::NotMappable) for a type that is not host-visible, or
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

    /// What its BO is charged; `None` for a BO in neither VRAM nor GTT, which no memory type makes.
    pub fn charge(&self) -> Option<&Charge> {
        self.bo().charge()
    }
}

/// Where the addresses come from. A device without a high half takes those of the low one.
fn va_request(plan: &AllocationPlan) -> VaRequest {
    let window = match plan.addressing {
        Addressing::Bits64 => VaWindow::High,
        Addressing::Bits32 => VaWindow::High32,
    };
    let request = VaRequest::new(plan.va_size).aligned(plan.va_alignment).within(window);
    match plan.replay {
        Replay::No => request,
        Replay::Capture => request.highest(),
        Replay::At(address) => request.at(address),
    }
}
