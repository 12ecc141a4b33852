//! RADV, and our own driver, through the Vulkan loader.
#![expect(unsafe_code, reason = "Vulkan: every call is unsafe")]

use std::ffi::OsStr;

use ash::{Device, Entry, Instance, vk};

/// AMD.
const VENDOR: u32 = 0x1002;
/// Its first queue family: graphics.
const FAMILY: u32 = 0;
/// Commands recorded at most between two resets.
const QUERIES: u32 = 16;

/// The reason why RADV cannot be measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Missing {
    #[error("no Vulkan loader: {0}")]
    Loader(#[from] ash::LoadingError),
    #[error("{0}")]
    Vulkan(#[from] vk::Result),
    #[error("the loader finds no RADV")]
    NoDevice,
    #[error("no memory type of the kind")]
    NoType,
}

/// A device of RADV, or of another driver, with one graphics queue. Its objects live until the child process ends.
pub(crate) struct Radv {
    pub(crate) device: Device,
    queue: vk::Queue,
    types: vk::PhysicalDeviceMemoryProperties,
    pool: vk::CommandPool,
    pub(super) instance: Instance,
    pub(super) physical: vk::PhysicalDevice,
    _entry: Entry,
}

/// Describes a device with one graphics queue, all memory resident for every submission, and submissions of the second form.
macro_rules! with_device_info {
    ($info:ident => $use_it:expr) => {{
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(FAMILY).queue_priorities(&[1.0])];
        // With device addresses all memory that may be shared is resident for every submission.
        let mut features12 = vk::PhysicalDeviceVulkan12Features::default().buffer_device_address(true);
        let mut features13 = vk::PhysicalDeviceVulkan13Features::default().synchronization2(true);
        let extensions = [ash::khr::external_memory_fd::NAME.as_ptr()];
        let $info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .push_next(&mut features12)
            .push_next(&mut features13);
        $use_it
    }};
}

/// Has the loader find the drivers of these manifests, and no others, from the next instance on.
fn name_manifests(manifests: &OsStr) {
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"] {
        // SAFETY: no other thread of this process reads or writes the environment while benches run.
        unsafe { std::env::set_var(name, manifests) };
    }
}

impl Radv {
    pub(crate) fn open() -> Result<Self, Missing> {
        Self::open_where(|found| found.vendor_id == VENDOR)
    }

    /// Opens the first device of the drivers that a list of manifests names.
    pub(crate) fn open_from(manifests: &OsStr) -> Result<Self, Missing> {
        name_manifests(manifests);
        Self::open()
    }

    /// Opens the first device that fits.
    pub(crate) fn open_where(fits: impl Fn(&vk::PhysicalDeviceProperties) -> bool) -> Result<Self, Missing> {
        // SAFETY: the loader's initialisers do nothing that matters here.
        let entry = unsafe { Entry::load() }?;
        let about = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        // SAFETY: the structures outlive the call.
        let instance =
            unsafe { entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&about), None) }?;
        // SAFETY: the instance lives.
        let physical = unsafe { instance.enumerate_physical_devices() }?;
        let fits = |physical: &vk::PhysicalDevice| {
            // SAFETY: it is the instance's.
            fits(&unsafe { instance.get_physical_device_properties(*physical) })
        };
        let physical = physical.into_iter().find(fits).ok_or(Missing::NoDevice)?;
        // SAFETY: the structures outlive the call.
        let device = with_device_info!(info => unsafe { instance.create_device(physical, &info, None) })?;
        // SAFETY: the device was made with this queue.
        let queue = unsafe { device.get_device_queue(FAMILY, 0) };
        // SAFETY: it is the instance's.
        let types = unsafe { instance.get_physical_device_memory_properties(physical) };
        let pool = vk::CommandPoolCreateInfo::default()
            .queue_family_index(FAMILY)
            .flags(vk::CommandPoolCreateFlags::RESET_COMMAND_BUFFER);
        // SAFETY: the structure outlives the call.
        let pool = unsafe { device.create_command_pool(&pool, None) }?;
        Ok(Self { device, queue, types, pool, instance, physical, _entry: entry })
    }

    /// Makes another device of the same physical one, and destroys it.
    pub(crate) fn another_device(&self) {
        // SAFETY: the structures outlive the call.
        let device = with_device_info!(info => unsafe { self.instance.create_device(self.physical, &info, None) });
        // SAFETY: nothing uses it.
        unsafe { device.expect("as the first one").destroy_device(None) };
    }

    /// Makes an instance of the drivers that a list of manifests names, and destroys it.
    pub(crate) fn another_instance(entry: &Entry, manifests: &OsStr) {
        name_manifests(manifests);
        let about = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&about);
        // SAFETY: the structures outlive the call.
        let instance = unsafe { entry.create_instance(&info, None) }.expect("the loader finds the driver");
        // SAFETY: nothing uses it.
        unsafe { instance.destroy_instance(None) };
    }

    /// Loads the Vulkan loader.
    pub(crate) fn entry() -> Result<Entry, Missing> {
        // SAFETY: the loader's initialisers do nothing that matters here.
        Ok(unsafe { Entry::load() }?)
    }

    /// The first memory type with all of some properties.
    pub(crate) fn memory_type(&self, properties: vk::MemoryPropertyFlags) -> Result<u32, Missing> {
        let types = self.types.memory_types_as_slice();
        let found = types.iter().position(|kind| kind.property_flags.contains(properties));
        found.and_then(|index| u32::try_from(index).ok()).ok_or(Missing::NoType)
    }

    #[inline]
    pub(crate) fn allocate(&self, memory_type: u32, size: u64) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default().allocation_size(size).memory_type_index(memory_type);
        // SAFETY: the structure outlives the call.
        unsafe { self.device.allocate_memory(&info, None) }.expect("the null kernel refuses nothing")
    }

    /// Memory that may be shared, and so is listed in every submission.
    pub(crate) fn allocate_exported(&self, memory_type: u32, size: u64) -> vk::DeviceMemory {
        let mut export =
            vk::ExportMemoryAllocateInfo::default().handle_types(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(size)
            .memory_type_index(memory_type)
            .push_next(&mut export);
        // SAFETY: the structures outlive the call.
        unsafe { self.device.allocate_memory(&info, None) }.expect("the null kernel refuses nothing")
    }

    #[inline]
    pub(crate) fn map(&self, memory: vk::DeviceMemory) {
        // SAFETY: the memory is live, host-visible and not mapped.
        let address = unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) };
        std::hint::black_box(address.expect("the null kernel refuses nothing"));
    }

    #[inline]
    pub(crate) fn unmap(&self, memory: vk::DeviceMemory) {
        // SAFETY: the memory is live and mapped, and nothing uses the mapping.
        unsafe { self.device.unmap_memory(memory) };
    }

    /// Makes a buffer without memory, and destroys it.
    #[inline]
    pub(crate) fn another_buffer(&self, size: u64) {
        let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::STORAGE_BUFFER);
        // SAFETY: the structure outlives the call.
        let buffer = unsafe { self.device.create_buffer(&info, None) }.expect("the null kernel refuses nothing");
        // SAFETY: nothing uses it.
        unsafe { self.device.destroy_buffer(buffer, None) };
    }

    #[inline]
    pub(crate) fn free(&self, memory: vk::DeviceMemory) {
        // SAFETY: the memory is live and in no use.
        unsafe { self.device.free_memory(memory, None) };
    }

    /// A buffer with memory.
    pub(crate) fn buffer(&self, size: u64) -> Result<vk::Buffer, Missing> {
        let info = vk::BufferCreateInfo::default()
            .size(size)
            .usage(vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the structure outlives the call.
        let buffer = unsafe { self.device.create_buffer(&info, None) }?;
        let memory = self.allocate(self.memory_type(vk::MemoryPropertyFlags::DEVICE_LOCAL)?, size);
        // SAFETY: the buffer has no memory yet, and this is large enough.
        unsafe { self.device.bind_buffer_memory(buffer, memory, 0) }?;
        Ok(buffer)
    }

    pub(crate) fn timestamps(&self) -> Result<vk::QueryPool, Missing> {
        let info = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(QUERIES);
        // SAFETY: the structure outlives the call.
        Ok(unsafe { self.device.create_query_pool(&info, None) }?)
    }

    pub(crate) fn command_buffer(&self) -> Result<vk::CommandBuffer, Missing> {
        let info = vk::CommandBufferAllocateInfo::default().command_pool(self.pool).command_buffer_count(1);
        // SAFETY: the pool is live and used by this thread only.
        let buffers = unsafe { self.device.allocate_command_buffers(&info) }?;
        buffers.into_iter().next().ok_or(Missing::NoDevice)
    }

    /// Starts recording, forgetting what was recorded.
    pub(crate) fn begin(&self, commands: vk::CommandBuffer) {
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::SIMULTANEOUS_USE);
        // SAFETY: the buffer is in no use: the null kernel is done when submitting returns.
        unsafe { self.device.begin_command_buffer(commands, &info) }.expect("host memory");
    }

    pub(crate) fn end(&self, commands: vk::CommandBuffer) {
        // SAFETY: it is being recorded.
        unsafe { self.device.end_command_buffer(commands) }.expect("host memory");
    }

    #[inline]
    pub(crate) fn update(&self, commands: vk::CommandBuffer, buffer: vk::Buffer, data: &[u8]) {
        // SAFETY: it is being recorded, and the buffer is live and large enough.
        unsafe { self.device.cmd_update_buffer(commands, buffer, 0, data) };
    }

    #[inline]
    pub(crate) fn copy(&self, commands: vk::CommandBuffer, from: vk::Buffer, to: vk::Buffer, size: u64) {
        let regions = [vk::BufferCopy { src_offset: 0, dst_offset: 0, size }];
        // SAFETY: it is being recorded, and the buffers are live and large enough.
        unsafe { self.device.cmd_copy_buffer(commands, from, to, &regions) };
    }

    #[inline]
    pub(crate) fn timestamp(&self, commands: vk::CommandBuffer, queries: vk::QueryPool) {
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        // SAFETY: it is being recorded, and the pool is live.
        unsafe { self.device.cmd_write_timestamp(commands, stage, queries, 0) };
    }

    /// Submits no command buffer.
    #[inline]
    pub(crate) fn submit_nothing(&self) {
        let submits = [vk::SubmitInfo2::default()];
        // SAFETY: the structures outlive the call.
        unsafe { self.device.queue_submit2(self.queue, &submits, vk::Fence::null()) }.expect("not lost");
    }

    #[inline]
    pub(crate) fn submit(&self, commands: vk::CommandBuffer) {
        let buffers = [vk::CommandBufferSubmitInfo::default().command_buffer(commands)];
        let submits = [vk::SubmitInfo2::default().command_buffer_infos(&buffers)];
        // SAFETY: the structures outlive the call, and the commands may be used several times at once.
        unsafe { self.device.queue_submit2(self.queue, &submits, vk::Fence::null()) }.expect("not lost");
    }
}
