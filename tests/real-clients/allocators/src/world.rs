//! An instance and a device with the first queue family, and the messages of layers and drivers.

use std::{
    error::Error,
    ffi::{CStr, c_void},
    sync::Mutex,
};

use ash::vk;

/// Calls a command of Vulkan or of VMA.
macro_rules! ask {
    ($call:expr) => {
        // SAFETY: handles are live and structures valid; nothing is used after it was destroyed.
        unsafe { $call }
    };
}

pub(crate) use ask;

type Messages = Mutex<Vec<String>>;

/// A device, and what it was made of.
pub struct World {
    entry: ash::Entry,
    pub instance: ash::Instance,
    pub physical: vk::PhysicalDevice,
    /// The device's name.
    pub name: String,
    /// The version of Vulkan that the device has.
    pub version: u32,
    pub device: ash::Device,
    pub queue: vk::Queue,
    messenger: vk::DebugUtilsMessengerEXT,
    messages: Box<Messages>,
}

/// Keeps a message, but for what informs alone.
extern "system" fn keep(
    _: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    message: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the sender's message lives for the length of the call.
    let text = unsafe { CStr::from_ptr((*message).p_message) };
    // SAFETY: the list lives longer than the messenger that it was given to.
    let messages = unsafe { &*user.cast::<Messages>() };
    messages.lock().unwrap().push(text.to_string_lossy().into_owned());
    vk::FALSE
}

impl World {
    /// Opens the first physical device.
    pub fn open() -> Result<Self, Box<dyn Error>> {
        let entry = ask!(ash::Entry::load())?;
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let names = [ash::ext::debug_utils::NAME.as_ptr()];
        let info = vk::InstanceCreateInfo::default().application_info(&application).enabled_extension_names(&names);
        let instance = ask!(entry.create_instance(&info, None))?;
        let messages = Box::<Messages>::default();
        let (severity, kind) = (
            vk::DebugUtilsMessageSeverityFlagsEXT::WARNING | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
        );
        let mut info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(severity)
            .message_type(kind)
            .pfn_user_callback(Some(keep));
        info.p_user_data = std::ptr::from_ref(&*messages).cast_mut().cast();
        let messenger =
            ask!(ash::ext::debug_utils::Instance::new(&entry, &instance).create_debug_utils_messenger(&info, None))?;
        let physical = *ask!(instance.enumerate_physical_devices())?.first().ok_or("no physical device")?;
        let found = ask!(instance.get_physical_device_properties(physical));
        let name = found.device_name_as_c_str()?.to_string_lossy().into_owned();
        let version = vk::make_api_version(0, 1, vk::api_version_minor(found.api_version), 0);
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let names = [
            ash::ext::memory_budget::NAME.as_ptr(),
            ash::khr::buffer_device_address::NAME.as_ptr(),
            ash::khr::maintenance4::NAME.as_ptr(),
        ];
        let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default().buffer_device_address(true);
        let mut fourth = vk::PhysicalDeviceMaintenance4Features::default().maintenance4(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&names)
            .push_next(&mut addresses)
            .push_next(&mut fourth);
        let device = ask!(instance.create_device(physical, &info, None))?;
        let queue = ask!(device.get_device_queue(0, 0));
        Ok(Self { entry, instance, physical, name, version, device, queue, messenger, messages })
    }

    /// Closes everything, and returns what was said.
    pub fn close(self) -> Vec<String> {
        ask!(self.device.destroy_device(None));
        let extension = ash::ext::debug_utils::Instance::new(&self.entry, &self.instance);
        ask!(extension.destroy_debug_utils_messenger(self.messenger, None));
        ask!(self.instance.destroy_instance(None));
        self.messages.into_inner().unwrap()
    }

    /// Records commands, runs them, and waits for them.
    pub fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) -> Result<(), vk::Result> {
        let device = &self.device;
        let pool = ask!(device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
        let commands = ask!(device.allocate_command_buffers(&info))?;
        ask!(device.begin_command_buffer(commands[0], &vk::CommandBufferBeginInfo::default()))?;
        record(device, commands[0]);
        ask!(device.end_command_buffer(commands[0]))?;
        let submit = vk::SubmitInfo::default().command_buffers(&commands);
        ask!(device.queue_submit(self.queue, &[submit], vk::Fence::null()))?;
        ask!(device.queue_wait_idle(self.queue))?;
        ask!(device.destroy_command_pool(pool, None));
        Ok(())
    }

    /// Returns the properties of a memory type.
    pub fn memory_type(&self, index: u32) -> vk::MemoryPropertyFlags {
        let all = ask!(self.instance.get_physical_device_memory_properties(self.physical));
        all.memory_types[index as usize].property_flags
    }
}

/// Returns a description of a buffer for copies.
pub fn buffer(size: u64) -> vk::BufferCreateInfo<'static> {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::TRANSFER_DST;
    vk::BufferCreateInfo::default().size(size).usage(usage)
}

/// Returns a description of an image for copies.
pub fn image(width: u32, height: u32) -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width, height, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_SRC | vk::ImageUsageFlags::TRANSFER_DST)
}

/// Numbers that look random, the same in each run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % end
    }
}
