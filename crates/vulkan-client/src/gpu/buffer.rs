//! Buffers with memory of their own.

use ash::{prelude::VkResult, vk};

use super::{
    Gpu,
    handle_type::HandleType,
    memory::{Memory, MemoryPlace, Source},
};

/// The usage of every buffer.
const TRANSFERS: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::TRANSFER_SRC.as_raw() | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// The usage of the buffers of programs.
const ANYTHING: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    TRANSFERS.as_raw()
        | vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_BUFFER.as_raw()
        | vk::BufferUsageFlags::STORAGE_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::UNIFORM_TEXEL_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDIRECT_BUFFER.as_raw(),
);

/// A buffer seen as texels.
pub(crate) struct TexelView<'b> {
    gpu: &'b Gpu,
    pub(super) raw: vk::BufferView,
}

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
    pub(crate) fn buffer(&self, size: u64, place: MemoryPlace) -> VkResult<Buffer<'_>> {
        self.bare(size, vk::BufferCreateFlags::empty(), None)?.filled_by(place, Source::Fresh)
    }

    /// A buffer that shaders store to, with memory of its own.
    ///
    /// # Errors
    ///
    /// Those of [`buffer`](Self::buffer).
    pub(crate) fn storage_buffer(&self, size: u64, place: MemoryPlace) -> VkResult<Buffer<'_>> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER | TRANSFERS;
        self.used(size, usage, vk::BufferCreateFlags::empty(), None)?.filled_by(place, Source::Fresh)
    }

    /// A buffer for any use by a program, with memory of its own.
    ///
    /// # Errors
    ///
    /// Those of [`buffer`](Self::buffer).
    pub(crate) fn program_buffer(&self, size: u64, place: MemoryPlace) -> VkResult<Buffer<'_>> {
        let (mut usage, mut source) = (ANYTHING, Source::Fresh);
        if self.has_addresses() {
            (usage, source) = (usage | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS, Source::Addressed);
        }
        if self.has_conditions() {
            usage |= vk::BufferUsageFlags::CONDITIONAL_RENDERING_EXT;
        }
        self.used(size, usage, vk::BufferCreateFlags::empty(), None)?.filled_by(place, source)
    }

    /// A buffer whose memory may be exported.
    ///
    /// # Errors
    ///
    /// Those of [`buffer`](Self::buffer).
    pub(crate) fn exportable(&self, size: u64, place: MemoryPlace, what: HandleType) -> VkResult<Buffer<'_>> {
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
        let families = self.families();
        let mut outside = vk::ExternalMemoryBufferCreateInfo::default();
        let mut info = vk::BufferCreateInfo::default().size(size).flags(flags).usage(usage);
        if families.len() > 1 {
            info = info.sharing_mode(vk::SharingMode::CONCURRENT).queue_family_indices(&families);
        }
        if let Some(types) = external {
            outside.handle_types = types;
            info = info.push_next(&mut outside);
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // what the call reads through pointers is local (the premises of `gpu`).
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
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows (the premises of `gpu`).
        unsafe { self.gpu.device.get_buffer_memory_requirements(self.raw) }
    }

    /// Returns its address, for a device whose shaders use addresses.
    pub(crate) fn address(&self) -> Option<u64> {
        let info = vk::BufferDeviceAddressInfo::default().buffer(self.raw);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the feature is enabled, and a buffer of a program then has the usage and the memory
        // for it.
        self.gpu.has_addresses().then(|| unsafe { self.gpu.device.get_buffer_device_address(&info) })
    }

    /// Creates a view of all of a program's buffer as texels.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateBufferView.
    pub(crate) fn texels(&self, format: vk::Format) -> VkResult<TexelView<'_>> {
        let info = vk::BufferViewCreateInfo::default().buffer(self.raw).format(format).range(vk::WHOLE_SIZE);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); the buffer has the usage.
        let raw = unsafe { self.gpu.device.create_buffer_view(&info, None) }?;
        Ok(TexelView { gpu: self.gpu, raw })
    }

    fn filled_by(self, place: MemoryPlace, source: Source<'g>) -> VkResult<Self> {
        let needs = self.requirements();
        let kind = self.gpu.memory_type(needs.memory_type_bits, place).ok_or(vk::Result::ERROR_FEATURE_NOT_PRESENT)?;
        let memory = self.gpu.allocate(needs.size, kind, source)?;
        self.bound_to(memory)
    }

    fn bound_to(mut self, memory: Memory<'g>) -> VkResult<Self> {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
        // (the premises of `gpu`); the buffer has no memory yet, and the memory was sized for it.
        unsafe { self.gpu.device.bind_buffer_memory(self.raw, memory.raw, 0) }?;
        self.memory = Some(memory);
        Ok(self)
    }
}

impl Drop for Buffer<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`). The memory is a field and therefore freed afterwards.
        unsafe { self.gpu.device.destroy_buffer(self.raw, None) };
    }
}

impl Drop for TexelView<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_buffer_view(self.raw, None) };
    }
}
