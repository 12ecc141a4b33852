//! A device of the driver.

use std::{
    ffi::{CStr, c_void},
    ptr,
    sync::Once,
};

use ash::vk;
use vulkan_amdgpu_winsys::loader;

/// Chips of several generations, with and without video memory of their own.
pub(crate) const CHIPS: [&str; 7] = ["pitcairn", "polaris10", "vega10", "renoir", "navi21", "navi31", "gfx1201"];

/// Extensions that the tests enable.
const EXTENSIONS: &[&CStr] = &[
    ash::amd::device_coherent_memory::NAME,
    ash::ext::device_fault::NAME,
    ash::ext::external_memory_dma_buf::NAME,
    ash::ext::external_memory_host::NAME,
    ash::ext::host_image_copy::NAME,
    ash::ext::host_query_reset::NAME,
    ash::ext::image_drm_format_modifier::NAME,
    ash::ext::map_memory_placed::NAME,
    ash::ext::memory_budget::NAME,
    ash::ext::memory_priority::NAME,
    ash::ext::pageable_device_local_memory::NAME,
    ash::ext::private_data::NAME,
    ash::khr::buffer_device_address::NAME,
    ash::khr::calibrated_timestamps::NAME,
    ash::khr::copy_commands2::NAME,
    ash::khr::external_fence_fd::NAME,
    ash::khr::external_memory_fd::NAME,
    ash::khr::external_semaphore_fd::NAME,
    ash::khr::maintenance4::NAME,
    ash::khr::map_memory2::NAME,
    ash::khr::synchronization2::NAME,
    ash::khr::timeline_semaphore::NAME,
];

/// A callback for messages about addresses, and its pointer, which must stay valid until the device is dropped.
pub(crate) struct Messenger {
    pub(crate) function: unsafe extern "system" fn(
        vk::DebugUtilsMessageSeverityFlagsEXT,
        vk::DebugUtilsMessageTypeFlagsEXT,
        *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
        *mut c_void,
    ) -> vk::Bool32,
    pub(crate) user: *mut c_void,
}

/// A device with every queue, and what it was made of.
pub(crate) struct Gpu {
    _entry: ash::Entry,
    pub(crate) instance: ash::Instance,
    messenger: Option<(ash::ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    pub(crate) physical: vk::PhysicalDevice,
    pub(crate) device: ash::Device,
    pub(crate) families: Vec<vk::QueueFamilyProperties>,
    pub(crate) memory: vk::PhysicalDeviceMemoryProperties,
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: the tests have destroyed what they made.
        unsafe { self.device.destroy_device(None) };
        if let Some((messages, messenger)) = &self.messenger {
            // SAFETY: no device is left whose messages it gets.
            unsafe { messages.destroy_debug_utils_messenger(*messenger, None) };
        }
        // SAFETY: its one device is gone.
        unsafe { self.instance.destroy_instance(None) };
    }
}

/// Returns the driver's functions without a loader.
pub(crate) fn entry() -> ash::Entry {
    static CHIPS_ARE_SET: Once = Once::new();
    CHIPS_ARE_SET.call_once(|| {
        // SAFETY: whatever reads the environment in this process does so through the standard library, which has a lock.
        unsafe { std::env::set_var("AMDGPU_WINSYS_ICD_SIM", CHIPS.join(",")) };
        // SAFETY: as above.
        unsafe { std::env::set_var("AMDGPU_WINSYS_ICD", "full") };
    });
    let get_instance_proc_addr = loader::vk_icdGetInstanceProcAddr;
    // SAFETY: the function has the type and meaning of vkGetInstanceProcAddr.
    unsafe { ash::Entry::from_static_fn(ash::StaticFn { get_instance_proc_addr }) }
}

impl Gpu {
    /// Opens a simulated chip.
    pub(crate) fn new(chip: &str) -> Self {
        Self::with(chip, &[], ptr::null_mut())
    }

    /// Opens a simulated chip with more extensions, and a chain of structures for the creation of the device.
    pub(crate) fn with(chip: &str, more: &[&CStr], chain: *mut c_void) -> Self {
        Self::with_messenger(chip, more, chain, None)
    }

    /// Opens a chip as above, with a messenger for addresses.
    pub(crate) fn with_messenger(chip: &str, more: &[&CStr], chain: *mut c_void, messenger: Option<Messenger>) -> Self {
        let entry = entry();
        let names = [ash::ext::debug_utils::NAME.as_ptr()];
        let names = if messenger.is_some() { &names[..] } else { &[] };
        let info = vk::InstanceCreateInfo::default().enabled_extension_names(names);
        // SAFETY: the structure is valid.
        let instance = unsafe { entry.create_instance(&info, None) }.unwrap();
        let messenger = messenger.map(|Messenger { function, user }| {
            let messages = ash::ext::debug_utils::Instance::new(&entry, &instance);
            let mut info = vk::DebugUtilsMessengerCreateInfoEXT::default()
                .message_severity(vk::DebugUtilsMessageSeverityFlagsEXT::INFO)
                .message_type(vk::DebugUtilsMessageTypeFlagsEXT::DEVICE_ADDRESS_BINDING)
                .pfn_user_callback(Some(function));
            info.p_user_data = user;
            // SAFETY: the structure is valid.
            let made = unsafe { messages.create_debug_utils_messenger(&info, None) }.unwrap();
            (messages, made)
        });
        // SAFETY: the instance is live.
        let all = unsafe { instance.enumerate_physical_devices() }.unwrap();
        let physical = all[CHIPS.iter().position(|name| *name == chip).unwrap()];
        // SAFETY: the physical device is live.
        let families = unsafe { instance.get_physical_device_queue_family_properties(physical) };
        // SAFETY: the physical device is live.
        let memory = unsafe { instance.get_physical_device_memory_properties(physical) };
        let priorities = [1.0; 8];
        let queues: Vec<_> = families
            .iter()
            .zip(0..)
            .map(|(family, index)| {
                let priorities = &priorities[..family.queue_count as usize];
                vk::DeviceQueueCreateInfo::default().queue_family_index(index).queue_priorities(priorities)
            })
            .collect();
        let names: Vec<_> = EXTENSIONS.iter().chain(more).map(|name| name.as_ptr()).collect();
        let mut coherent = vk::PhysicalDeviceCoherentMemoryFeaturesAMD::default().device_coherent_memory(true);
        coherent.p_next = chain;
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut coherent);
        // SAFETY: the structure is valid.
        let device = unsafe { instance.create_device(physical, &info, None) }.unwrap();
        Self { _entry: entry, instance, messenger, physical, device, families, memory }
    }

    /// Returns the first queue of a family.
    pub(crate) fn queue(&self, family: u32) -> vk::Queue {
        // SAFETY: every queue was asked for.
        unsafe { self.device.get_device_queue(family, 0) }
    }

    /// Returns the first type of memory that CPU and GPU see, and the CPU caches.
    pub(crate) fn host_type(&self) -> u32 {
        use vk::MemoryPropertyFlags as Flags;
        let wanted = Flags::HOST_VISIBLE | Flags::HOST_COHERENT | Flags::HOST_CACHED;
        let types = &self.memory.memory_types[..self.memory.memory_type_count as usize];
        types.iter().position(|kind| kind.property_flags == wanted).unwrap() as u32
    }

    /// Allocates memory.
    pub(crate) fn allocate(&self, kind: u32, size: u64) -> vk::DeviceMemory {
        let info = vk::MemoryAllocateInfo::default().memory_type_index(kind).allocation_size(size);
        // SAFETY: the structure is valid.
        unsafe { self.device.allocate_memory(&info, None) }.unwrap()
    }

    /// Makes a buffer that is bound to memory of its own.
    pub(crate) fn buffer(&self, kind: u32, size: u64) -> (vk::Buffer, vk::DeviceMemory) {
        let info = vk::BufferCreateInfo::default().size(size).usage(vk::BufferUsageFlags::TRANSFER_DST);
        // SAFETY: the structure is valid.
        let buffer = unsafe { self.device.create_buffer(&info, None) }.unwrap();
        // SAFETY: the buffer is live.
        let wanted = unsafe { self.device.get_buffer_memory_requirements(buffer) };
        assert_ne!(wanted.memory_type_bits & 1 << kind, 0);
        let memory = self.allocate(kind, wanted.size);
        // SAFETY: both are live, and the memory is long enough.
        unsafe { self.device.bind_buffer_memory(buffer, memory, 0) }.unwrap();
        (buffer, memory)
    }

    /// Makes a buffer as above; `None` if buffers cannot use this type of memory.
    pub(crate) fn buffer_if_possible(&self, kind: u32, size: u64) -> Option<(vk::Buffer, vk::DeviceMemory)> {
        let info = vk::BufferCreateInfo::default().size(size);
        let asked = vk::DeviceBufferMemoryRequirements::default().create_info(&info);
        let mut wanted = vk::MemoryRequirements2::default();
        // SAFETY: the structures are valid.
        unsafe { self.device.get_device_buffer_memory_requirements(&asked, &mut wanted) };
        let is_possible = wanted.memory_requirements.memory_type_bits & 1 << kind != 0;
        is_possible.then(|| self.buffer(kind, size))
    }

    /// Destroys a buffer and its memory.
    pub(crate) fn discard(&self, (buffer, memory): (vk::Buffer, vk::DeviceMemory)) {
        // SAFETY: nothing uses the buffer.
        unsafe { self.device.destroy_buffer(buffer, None) };
        // SAFETY: nothing uses the memory.
        unsafe { self.device.free_memory(memory, None) };
    }

    /// Reads memory from its start.
    pub(crate) fn read(&self, memory: vk::DeviceMemory, bytes: usize) -> Vec<u8> {
        // SAFETY: the memory is live and of a type that the CPU sees.
        let mapped = unsafe { self.device.map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty()) }.unwrap();
        // SAFETY: the memory is at least that long and mapped, and the GPU is done with it.
        let copy = unsafe { std::slice::from_raw_parts(mapped.cast::<u8>(), bytes) }.to_vec();
        // SAFETY: the memory is mapped.
        unsafe { self.device.unmap_memory(memory) };
        copy
    }

    /// Records commands for a family, and returns the command buffer and its pool.
    pub(crate) fn recorded(
        &self,
        family: u32,
        record: impl FnOnce(&ash::Device, vk::CommandBuffer),
    ) -> (vk::CommandPool, vk::CommandBuffer) {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
        // SAFETY: the structure is valid.
        let pool = unsafe { self.device.create_command_pool(&info, None) }.unwrap();
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        // SAFETY: the pool is live.
        let commands = unsafe { self.device.allocate_command_buffers(&info) }.unwrap()[0];
        // SAFETY: the command buffer is in its initial state.
        unsafe { self.device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default()) }.unwrap();
        record(&self.device, commands);
        // SAFETY: the command buffer is recording.
        unsafe { self.device.end_command_buffer(commands) }.unwrap();
        (pool, commands)
    }

    /// Records commands, runs them, and waits for them.
    pub(crate) fn run(&self, family: u32, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        let (pool, commands) = self.recorded(family, record);
        // SAFETY: the structure is valid.
        let fence = unsafe { self.device.create_fence(&vk::FenceCreateInfo::default(), None) }.unwrap();
        let buffers = [commands];
        let submit = vk::SubmitInfo::default().command_buffers(&buffers);
        // SAFETY: what was recorded is executable, and all it uses is live.
        unsafe { self.device.queue_submit(self.queue(family), &[submit], fence) }.unwrap();
        // SAFETY: the fence is live.
        unsafe { self.device.wait_for_fences(&[fence], true, u64::MAX) }.unwrap();
        // SAFETY: the fence has signalled.
        unsafe { self.device.destroy_fence(fence, None) };
        // SAFETY: its command buffer has run.
        unsafe { self.device.destroy_command_pool(pool, None) };
    }
}
