//! Messages, names and labels (`VK_EXT_debug_utils`).

use std::{
    ffi::{CStr, c_void},
    sync::Mutex,
};

use ash::vk;

use super::{all, ask};
use crate::gpu::entry;

type Seen = Mutex<Vec<(vk::DebugUtilsMessageSeverityFlagsEXT, String)>>;

/// Keeps what it is told.
extern "system" fn keep(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _: vk::DebugUtilsMessageTypeFlagsEXT,
    message: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: the driver's message lives for the length of the call.
    let text = unsafe { &*message }.p_message;
    // SAFETY: as above, and so does its text.
    let text = unsafe { CStr::from_ptr(text) };
    // SAFETY: the pointer is that of the messenger, whose list lives longer than it.
    let seen = unsafe { &*user.cast::<Seen>() };
    seen.lock().unwrap().push((severity, text.to_str().unwrap().to_owned()));
    vk::FALSE
}

#[test]
fn refusals_are_told_in_words_to_those_who_listen() {
    use vk::{DebugUtilsMessageSeverityFlagsEXT as Severity, DebugUtilsMessageTypeFlagsEXT as Kind};
    let entry = entry();
    let names = [ash::ext::debug_utils::NAME.as_ptr()];
    let info = vk::InstanceCreateInfo::default().enabled_extension_names(&names);
    let instance = ask!(entry.create_instance(&info, None)).unwrap();
    let extension = ash::ext::debug_utils::Instance::new(&entry, &instance);
    let seen: [Seen; 2] = Default::default();
    let listen = |seen: &Seen, severity| {
        let mut info = vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(severity)
            .message_type(Kind::GENERAL)
            .pfn_user_callback(Some(keep));
        info.p_user_data = std::ptr::from_ref(seen).cast_mut().cast();
        ask!(extension.create_debug_utils_messenger(&info, None)).unwrap()
    };
    let all_of_them = listen(&seen[0], Severity::INFO | Severity::ERROR);
    let errors = listen(&seen[1], Severity::ERROR);

    let physical = ask!(instance.enumerate_physical_devices()).unwrap()[4];
    let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
    let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
    let device = ask!(instance.create_device(physical, &info, None)).unwrap();
    let infos = [vk::ComputePipelineCreateInfo::default()];
    assert!(ask!(device.create_compute_pipelines(vk::PipelineCache::null(), &infos, None)).is_err());
    let labels = ash::ext::debug_utils::Device::new(&instance, &device);
    let label = vk::DebugUtilsLabelEXT::default().label_name(c"a label");
    let queue = ask!(device.get_device_queue(0, 0));
    let pool = ask!(device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)).unwrap();
    let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    let it = ask!(device.allocate_command_buffers(&info)).unwrap()[0];
    let named = vk::DebugUtilsObjectNameInfoEXT::default().object_handle(pool).object_name(c"a pool");
    let tagged = vk::DebugUtilsObjectTagInfoEXT::default().object_handle(pool).tag(&[1]);
    let text = vk::DebugUtilsMessengerCallbackDataEXT::default().message(c"the program's own");
    all! {
        labels.set_debug_utils_object_name(&named).unwrap();
        labels.set_debug_utils_object_tag(&tagged).unwrap();
        labels.queue_begin_debug_utils_label(queue, &label);
        labels.queue_insert_debug_utils_label(queue, &label);
        labels.queue_end_debug_utils_label(queue);
        device.begin_command_buffer(it, &vk::CommandBufferBeginInfo::default()).unwrap();
        labels.cmd_begin_debug_utils_label(it, &label);
        labels.cmd_insert_debug_utils_label(it, &label);
        labels.cmd_end_debug_utils_label(it);
        device.cmd_dispatch(it, 1, 1, 1);
        extension.submit_debug_utils_message(Severity::ERROR, Kind::GENERAL, &text);
        extension.submit_debug_utils_message(Severity::ERROR, Kind::PERFORMANCE, &text);
        extension.destroy_debug_utils_messenger(errors, None);
    }
    assert!(ask!(device.create_compute_pipelines(vk::PipelineCache::null(), &infos, None)).is_err());
    all! {
        device.destroy_command_pool(pool, None);
        device.destroy_device(None);
        extension.destroy_debug_utils_messenger(all_of_them, None);
        instance.destroy_instance(None);
    }
    let texts = |seen: &Seen| seen.lock().unwrap().iter().map(|(_, text)| text.clone()).collect::<Vec<_>>();
    let [heard, wrong] = seen.each_ref().map(texts);
    let pipelines = "vkCreateComputePipelines: this driver has no shader compiler";
    assert_eq!(wrong, [pipelines, "vkCmdDispatch: there are no pipelines", "the program's own"]);
    assert!(heard[0].contains("not legal"), "{heard:?}");
    assert_eq!(heard[1..4], wrong);
    assert_eq!(heard[4..], [pipelines]);
}
