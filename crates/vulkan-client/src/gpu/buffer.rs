//! Buffers with memory of their own.

use ash::{prelude::VkResult, vk};

use super::{
    Gpu,
    handle_type::HandleType,
    memory::{Memory, Place, Source},
};

/// The usage of every buffer.
const TRANSFERS: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw() | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// A buffer that is copied from and to.
pub(crate) struct Buffer<'g> {
    pub(super) gpu: &'g Gpu,
    pub(super) raw: vk::Buffer,
    /// Bytes.
    pub(crate) size: u64,
    /// The memory it is bound to; a sparse buffer has none of its own.
    memory: Option<Memory<'g>>,
}

impl Gpu {
    /// A buffer with memory of its own.
    ///
    /// # Errors
    ///
    /// The errors of creating, allocating and binding; `FEATURE_NOT_PRESENT` if no memory type fits.
    pub(crate) fn buffer(&self, size: u64, place: Place) -> VkResult<Buffer<'_>> {
        self.bare(size, vk::BufferCreateFlags::empty(), None)?.filled_by(place, Source::Fresh)
    }

    /// A buffer that shaders store to, with memory of its own.
    ///
    /// # Errors
    ///
    /// Those of [`buffer`](Self::buffer).
    pub(crate) fn storage_buffer(&self, size: u64, place: Place) -> VkResult<Buffer<'_>> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | TRANSFERS;
        self.used(size, usage, vk::BufferCreateFlags::empty(), None)?.filled_by(place, Source::Fresh)
    }

    /// A buffer whose memory may be exported.
    ///
    /// # Errors
    ///
    /// Those of [`buffer`](Self::buffer).
    pub(crate) fn exportable(&self, size: u64, place: Place, what: HandleType) -> VkResult<Buffer<'_>> {
        self.bare(size, vk::BufferCreateFlags::empty(), Some(what.of_memory()))?
            .filled_by(place, Source::Exportable(what))
    }

    /// A buffer on memory that came from elsewhere.
    ///
    /// # Errors
    ///
    /// Those of [`buffer`](Self::buffer).
    pub(crate) fn on<'a>(
        &'a self,
        memory: Memory<'a>,
        from: vk::ExternalMemoryHandleTypeFlags,
    ) -> VkResult<Buffer<'a>> {
        let external = (!from.is_empty()).then_some(from);
        self.bare(memory.size, vk::BufferCreateFlags::empty(), external)?.bound_to(memory)
    }

    /// A sparse buffer with residency: nothing bound yet.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateBuffer.
    pub(crate) fn sparse_buffer(&self, size: u64) -> VkResult<Buffer<'_>> {
        self.bare(size, vk::BufferCreateFlags::SPARSE_BINDING | vk::BufferCreateFlags::SPARSE_RESIDENCY, None)
    }

    fn bare(
        &self,
        size: u64,
        flags: vk::BufferCreateFlags,
        external: Option<vk::ExternalMemoryHandleTypeFlags>,
    ) -> VkResult<Buffer<'_>> {
        self.used(size, TRANSFERS, flags, external)
    }

    fn used(
        &self,
        size: u64,
        usage: vk::BufferUsageFlags,
        flags: vk::BufferCreateFlags,
        external: Option<vk::ExternalMemoryHandleTypeFlags>,
    ) -> VkResult<Buffer<'_>> {
        let mut families: Vec<u32> = self.lanes.iter().map(|lane| lane.family).collect();
        families.sort_unstable();
        families.dedup();
        let mut outside = vk::ExternalMemoryBufferCreateInfo::default();
        let mut info = vk::BufferCreateInfo::default().size(size).flags(flags).usage(usage);
        if families.len() > 1 {
            info = info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&families);
        }
        if let Some(types) = external {
            outside.handle_types = types;
            info = info.push_next(&mut outside);
        }
        // SAFETY: alive, alone, local.
        let raw = unsafe { self.device.create_buffer(&info, None) }?;
        Ok(Buffer { gpu: self, raw, size, memory: None })
    }
}

impl<'g> Buffer<'g> {
    /// Its own memory.
    ///
    /// # Panics
    ///
    /// For a sparse buffer.
    pub(crate) fn memory(&self) -> &Memory<'g> {
        let Some(memory) = &self.memory else { panic!("a check asks a sparse buffer for its memory") };
        memory
    }

    /// Returns its memory requirements.
    pub(crate) fn requirements(&self) -> vk::MemoryRequirements {
        // SAFETY: alive.
        unsafe { self.gpu.device.get_buffer_memory_requirements(self.raw) }
    }

    fn filled_by(self, place: Place, source: Source<'g>) -> VkResult<Self> {
        let needs = self.requirements();
        let kind = self.gpu.memory_type(needs.memory_type_bits, place).ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)?;
        let memory = self.gpu.allocate(needs.size, kind, source)?;
        self.bound_to(memory)
    }

    fn bound_to(mut self, memory: Memory<'g>) -> VkResult<Self> {
        // SAFETY: alive, alone; the buffer has no memory yet, and the memory was sized for it.
        unsafe { self.gpu.device.bind_buffer_memory(self.raw, memory.raw, 0) }?;
        self.memory = Some(memory);
        Ok(self)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: alive, alone, done. The memory is a field and therefore freed afterwards.
        unsafe { self.gpu.device.destroy_buffer(self.raw, None) };
    }
}
