//! Device memory: allocated, imported, mapped.

use std::{
    os::fd::{AsRawFd, IntoRawFd, OwnedFd},
    ptr::NonNull,
};

use ash::{prelude::VkResult, vk};

use super::{Gpu, handle_type::HandleType};

/// Preferred place of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MemoryPlace {
    /// Near the GPU.
    Device,
    /// Memory for the CPU to read and write; cached if possible.
    Host,
}

/// Source of memory.
pub(crate) enum Source<'a> {
    /// New, for this device only.
    Fresh,
    /// New, with addresses for shaders.
    Addressed,
    /// New, and may be exported as this.
    Exportable(HandleType),
    /// From a descriptor of this type; consumed on success, closed on failure.
    Descriptor(HandleType, OwnedFd),
    /// Pages of this process, both ends at `minImportedHostPointerAlignment`.
    Pages(&'a mut [u8]),
}

/// Device memory; mapped as long as it lives, if the CPU can see it.
pub(crate) struct Memory<'g> {
    pub(super) gpu: &'g Gpu,
    pub(super) raw: vk::DeviceMemory,
    /// Bytes that were asked for.
    pub(crate) size: u64,
    /// Index of its memory type.
    pub(crate) kind: u32,
    map: Option<NonNull<u8>>,
}

impl Gpu {
    /// The first memory type among `allowed` (a bit per type) that serves a place.
    pub(crate) fn memory_type(&self, allowed: u32, place: MemoryPlace) -> Option<u32> {
        use vk::MemoryPropertyFlags as Flags;
        let odd = Flags::PROTECTED | Flags::DEVICE_COHERENT_AMD | Flags::LAZILY_ALLOCATED;
        let plain = Flags::HOST_VISIBLE | Flags::HOST_COHERENT;
        let find = |wanted: Flags| {
            (0..).zip(self.memory.memory_types_as_slice()).find_map(|(index, kind)| {
                let flags = kind.property_flags;
                let fits = allowed >> index & 1 == 1 && flags.contains(wanted) && !flags.intersects(odd);
                fits.then_some(index)
            })
        };
        match place {
            MemoryPlace::Device => find(Flags::DEVICE_LOCAL),
            MemoryPlace::Host => find(plain | Flags::HOST_CACHED).or_else(|| find(plain)),
        }
    }

    /// The heap a memory type is in: its index and its bytes.
    pub(crate) fn heap_of(&self, kind: u32) -> (usize, u64) {
        let heap = self.memory.memory_types_as_slice().get(kind as usize).map_or(0, |kind| kind.heap_index as usize);
        (heap, self.memory.memory_heaps_as_slice().get(heap).map_or(0, |heap| heap.size))
    }

    /// Allocates, or imports, memory of a type; the CPU's mapping comes with it.
    ///
    /// # Errors
    ///
    /// The errors of vkAllocateMemory or vkMapMemory.
    pub(crate) fn allocate<'a>(&'a self, size: u64, kind: u32, source: Source<'a>) -> VkResult<Memory<'a>> {
        let mut export = vk::ExportMemoryAllocateInfo::default();
        let mut addressed = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let mut descriptor = vk::ImportMemoryFdInfoKHR::default();
        let mut pages = vk::ImportMemoryHostPointerInfoEXT::default();
        let plain = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(kind);
        let mut handed = None;
        let info = match source {
            Source::Fresh => plain,
            Source::Addressed => plain.push_next(&mut addressed),
            Source::Exportable(what) => {
                export.handle_types = what.of_memory();
                plain.push_next(&mut export)
            }
            Source::Descriptor(what, fd) => {
                descriptor = descriptor.handle_type(what.of_memory()).fd(fd.as_raw_fd());
                handed = Some(fd);
                plain.push_next(&mut descriptor)
            }
            Source::Pages(bytes) => {
                // PANIC: the caller's promise; a check made the slice for this very size.
                assert!(bytes.len() as u64 == size, "the pages are the memory");
                pages = pages
                    .handle_type(vk::ExternalMemoryHandleTypeFlags::HOST_ALLOCATION_EXT)
                    .host_pointer(bytes.as_mut_ptr().cast());
                plain.push_next(&mut pages)
            }
        };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`); imported pages are borrowed for as long as the memory
        // lives.
        let raw = unsafe { self.device.allocate_memory(&info, None) }?;
        // The driver owns the descriptor now.
        let _: Option<i32> = handed.map(IntoRawFd::into_raw_fd);
        let mut memory = Memory { gpu: self, raw, size, kind, map: None };
        memory.map = memory.map_if_visible()?;
        Ok(memory)
    }
}

impl Memory<'_> {
    fn map_if_visible(&self) -> VkResult<Option<NonNull<u8>>> {
        let kind = self.gpu.memory.memory_types_as_slice().get(self.kind as usize);
        if !kind.is_some_and(|kind| kind.property_flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE)) {
            return Ok(None);
        }
        let flags = vk::MemoryMapFlags::empty();
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); of a visible type, not mapped yet, and mapped whole.
        let start = unsafe { self.gpu.device.map_memory(self.raw, 0, vk::WHOLE_SIZE, flags) }?;
        Ok(NonNull::new(start.cast()))
    }

    /// Copies bytes in through the CPU's mapping. The GPU must be done with them.
    ///
    /// # Panics
    ///
    /// If the CPU does not see the memory, or the bytes do not fit.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) {
        let at = self.cpu_address(offset, bytes.len());
        // SAFETY: `cpu_address` checked that this number of mapped bytes follow; a local slice does not overlap them.
        unsafe { at.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    }

    /// Copies bytes out through the CPU's mapping. The GPU must be done with them.
    ///
    /// # Panics
    ///
    /// If the CPU does not see the memory, or there are fewer bytes.
    pub(crate) fn read(&self, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let at = self.cpu_address(offset, len);
        // SAFETY: `cpu_address` checked that this number of mapped bytes follow; a new vector does not overlap them.
        unsafe { at.copy_to_nonoverlapping(bytes.as_mut_ptr(), len) };
        bytes
    }

    fn cpu_address(&self, offset: u64, len: usize) -> *mut u8 {
        let Some(start) = self.map else { panic!("a check reads memory that the CPU does not see") };
        let fits = offset.checked_add(len as u64).is_some_and(|end| end <= self.size);
        assert!(fits, "a check reads outside of its memory");
        // SAFETY: `start` is where `size` bytes are mapped until `Drop`, and `offset` is no further than their end.
        unsafe { start.as_ptr().add(offset as usize) }
    }
}

impl Drop for Memory<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`); freeing unmaps, and no pointer into the mapping outlives a call
        // above.
        unsafe { self.gpu.device.free_memory(self.raw, None) };
    }
}
