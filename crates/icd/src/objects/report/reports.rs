//! The reports of a device.

use std::{collections::BTreeMap, fmt, sync::Arc};

use amdgpu_winsys::{
    heaps::{DeviceMemory, ExternalHandleTypes, HeapFlags, MemoryHeap, MemoryManager},
    uapi::GemDomain,
};
use ash::vk::{self, DeviceAddressBindingTypeEXT, DeviceMemoryReportEventTypeEXT as Kind, Handle};
use parking_lot::Mutex;

use super::{MemoryId, addresses::AddressReports};
use crate::{
    border::{MemoryCallback, chain},
    objects::Program,
};

/// The callbacks of a device for its memory (`VK_EXT_device_memory_report`), and its messages about addresses.
///
/// All memory that the device holds is reported: that of Vulkan objects with the object, and that of the library, such as command
/// buffers, with the device. A program that sums up the reports has the memory of the device, and 0 after the device is destroyed.
pub(crate) struct Reports {
    callbacks: Vec<MemoryCallback>,
    /// The messages about addresses.
    pub(crate) addresses: AddressReports,
    /// The heaps of the library's memory in VRAM and in system memory.
    heaps: [u32; 2],
    library: Mutex<Library>,
}

/// The memory of the library.
#[derive(Default)]
struct Library {
    /// The handle of the device; `None` while the device is being created.
    device: Option<vk::Device>,
    /// The size in bytes and the heap of reported memory, or of memory to be reported once the device has a handle.
    memory: BTreeMap<u64, (u64, u32)>,
    /// The size in bytes of bound addresses, by the first one.
    addresses: BTreeMap<u64, u64>,
}

impl Reports {
    /// Creates the reports that a program requests for a device.
    pub(super) fn new(info: &vk::DeviceCreateInfo<'_>, manager: &MemoryManager, program: &Arc<Program>) -> Self {
        let heap = |is_local| {
            let is_such = |heap: &MemoryHeap| heap.flags.contains(HeapFlags::DEVICE_LOCAL) == is_local;
            let found = manager.properties().heaps().iter().zip(0..).find(|(heap, _)| is_such(heap));
            found.map_or(0, |(_, index)| index)
        };
        let callbacks: Vec<_> = chain::all(info).map(MemoryCallback::new).collect();
        let addresses = AddressReports::new(info, program);
        let heaps = [heap(true), heap(false)];
        Self { callbacks, addresses, heaps, library: Mutex::default() }
    }

    /// Returns `true` if the program requested reports.
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.has_callbacks() || self.addresses.is_on()
    }

    /// Returns `true` if the program has callbacks for memory.
    pub(crate) fn has_callbacks(&self) -> bool {
        !self.callbacks.is_empty()
    }

    /// Sets the handle of the device, and reports the library's memory that its creation has allocated.
    pub(crate) fn start(&self, device: vk::Device) {
        let mut library = self.library.lock();
        library.device = Some(device);
        let (memory, addresses) = (library.memory.clone(), library.addresses.clone());
        drop(library);
        for place in addresses {
            self.addresses.library(device, place, DeviceAddressBindingTypeEXT::BIND);
        }
        for (number, (size, heap)) in memory {
            self.send(Kind::ALLOCATE, number, size, device, heap);
        }
    }

    /// Returns the identity of memory that was allocated.
    pub(crate) fn id_of(memory: &DeviceMemory) -> MemoryId {
        match memory.export(ExternalHandleTypes::DMA_BUF) {
            Ok(descriptor) => MemoryId::of_dma_buf(descriptor, false),
            Err(_) => MemoryId::of_process(false),
        }
    }

    /// Reports the memory of an object.
    pub(crate) fn allocated(&self, id: &MemoryId, memory: &DeviceMemory, object: impl Handle) {
        let kind = if id.is_imported { Kind::IMPORT } else { Kind::ALLOCATE };
        self.send(kind, id.number, memory.size(), object, memory.heap());
    }

    /// Reports the end of an object's memory.
    pub(crate) fn freed(&self, id: &MemoryId, memory: &DeviceMemory, object: impl Handle) {
        let kind = if id.is_imported { Kind::UNIMPORT } else { Kind::FREE };
        self.send(kind, id.number, memory.size(), object, memory.heap());
    }

    /// Reports that memory could not be allocated or imported.
    pub(crate) fn failed(&self, size: u64, heap: u32) {
        self.send(Kind::ALLOCATION_FAILED, 0, size, vk::DeviceMemory::null(), heap);
    }

    /// Reports memory of the library.
    pub(super) fn library_allocated(&self, number: u64, size: u64, domains: GemDomain) {
        let [vram, system] = self.heaps;
        let heap = if domains.contains(GemDomain::VRAM) { vram } else { system };
        let mut library = self.library.lock();
        library.memory.insert(number, (size, heap));
        let device = library.device;
        drop(library);
        if let Some(device) = device {
            self.send(Kind::ALLOCATE, number, size, device, heap);
        }
    }

    /// Reports the end of memory of the library.
    pub(super) fn library_freed(&self, number: u64) {
        let mut library = self.library.lock();
        let freed = library.memory.remove(&number).zip(library.device);
        drop(library);
        if let Some(((size, heap), device)) = freed {
            self.send(Kind::FREE, number, size, device, heap);
        }
    }

    /// Reports addresses of the library's memory.
    pub(super) fn library_bound(&self, first: u64, size: u64) {
        let mut library = self.library.lock();
        library.addresses.insert(first, size);
        let device = library.device;
        drop(library);
        if let Some(device) = device {
            self.addresses.library(device, (first, size), DeviceAddressBindingTypeEXT::BIND);
        }
    }

    /// Reports that the library's memory no longer has addresses, if they were reported.
    pub(super) fn library_unbound(&self, first: u64) {
        let mut library = self.library.lock();
        let unbound = library.addresses.remove(&first).zip(library.device);
        drop(library);
        if let Some((size, device)) = unbound {
            self.addresses.library(device, (first, size), DeviceAddressBindingTypeEXT::UNBIND);
        }
    }

    fn send(&self, kind: Kind, number: u64, size: u64, object: impl Handle, heap: u32) {
        let report = vk::DeviceMemoryReportCallbackDataEXT {
            ty: kind,
            memory_object_id: number,
            size,
            object_type: type_of(&object),
            object_handle: object.as_raw(),
            heap_index: heap,
            ..vk::DeviceMemoryReportCallbackDataEXT::default()
        };
        self.callbacks.iter().for_each(|callback| callback.call(&report));
    }
}

fn type_of<T: Handle>(_: &T) -> vk::ObjectType {
    T::TYPE
}

/// Reports the end of the library's memory that outlives the device, because devices of the same GPU share it.
impl Drop for Reports {
    fn drop(&mut self) {
        let Library { device, memory, addresses } = std::mem::take(self.library.get_mut());
        let Some(device) = device else { return };
        for place in addresses {
            self.addresses.library(device, place, DeviceAddressBindingTypeEXT::UNBIND);
        }
        for (number, (size, heap)) in memory {
            self.send(Kind::FREE, number, size, device, heap);
        }
    }
}

impl fmt::Debug for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reports").field("callbacks", &self.callbacks.len()).finish_non_exhaustive()
    }
}
