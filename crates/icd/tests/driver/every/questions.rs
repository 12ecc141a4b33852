//! Questions to instances, physical devices and devices.

use ash::vk;

use super::ask;
use crate::gpu::{CHIPS, Gpu, entry};

#[test]
fn lists_are_as_long_as_they_are_said_to_be_and_cut_where_there_is_no_room() {
    let gpu = Gpu::new("navi21");
    let entry = entry();
    assert_eq!(ask!(entry.try_enumerate_instance_version()), Ok(Some(vk::make_api_version(0, 1, 3, 281))));
    let names = ask!(entry.enumerate_instance_extension_properties(None)).unwrap();
    assert!(names.iter().any(|it| it.extension_name_as_c_str() == Ok(ash::ext::debug_utils::NAME)));
    let absent = Some(Err(vk::Result::ERROR_LAYER_NOT_PRESENT));
    assert_eq!(Some(ask!(entry.enumerate_instance_extension_properties(Some(c"a layer"))).map(|_| ())), absent);
    assert!(ask!(entry.enumerate_instance_layer_properties()).unwrap().is_empty());
    assert!(ask!(gpu.instance.enumerate_device_layer_properties(gpu.physical)).unwrap().is_empty());
    assert_eq!(ask!(gpu.instance.enumerate_device_extension_properties(gpu.physical)).unwrap().len(), 48);

    let mut groups = [vk::PhysicalDeviceGroupProperties::default(); CHIPS.len()];
    ask!(gpu.instance.enumerate_physical_device_groups(&mut groups)).unwrap();
    assert!(groups.iter().all(|group| group.physical_device_count == 1));
    let function = gpu.instance.fp_v1_1().enumerate_physical_device_groups;
    let mut count = 2;
    let short = ask!(function(gpu.instance.handle(), &raw mut count, groups.as_mut_ptr()));
    assert_eq!((short, count), (vk::Result::INCOMPLETE, 2));
    let devices = gpu.instance.fp_v1_0().enumerate_physical_devices;
    let mut one = [vk::PhysicalDevice::null()];
    count = 1;
    let short = ask!(devices(gpu.instance.handle(), &raw mut count, one.as_mut_ptr()));
    assert_eq!((short, count), (vk::Result::INCOMPLETE, 1));

    ask!(gpu.instance.get_physical_device_tool_properties(gpu.physical, &mut [])).unwrap();
    let mut families = vec![vk::QueueFamilyProperties2::default(); gpu.families.len()];
    ask!(gpu.instance.get_physical_device_queue_family_properties2(gpu.physical, &mut families));
    for (family, plain) in families.iter().zip(&gpu.families) {
        assert!(family.queue_family_properties.queue_flags == plain.queue_flags);
    }
    let clocks = ash::khr::calibrated_timestamps::Instance::new(&entry, &gpu.instance);
    let domains = ask!(clocks.get_physical_device_calibrateable_time_domains(gpu.physical)).unwrap();
    assert!(domains.contains(&vk::TimeDomainKHR::DEVICE));
}

#[test]
fn features_of_both_versions_are_the_same() {
    let gpu = Gpu::new("navi21");
    let plain = ask!(gpu.instance.get_physical_device_features(gpu.physical));
    let mut twelve = vk::PhysicalDeviceVulkan12Features::default();
    let mut both = vk::PhysicalDeviceFeatures2::default().push_next(&mut twelve);
    ask!(gpu.instance.get_physical_device_features2(gpu.physical, &mut both));
    let core = both.features;
    assert_eq!((plain.sparse_binding, plain.robust_buffer_access), (core.sparse_binding, core.robust_buffer_access));
    assert_eq!((plain.robust_buffer_access, plain.geometry_shader), (vk::TRUE, vk::FALSE));
    let mut properties = vk::PhysicalDeviceProperties2::default();
    ask!(gpu.instance.get_physical_device_properties2(gpu.physical, &mut properties));
    let limits = ask!(gpu.instance.get_physical_device_properties(gpu.physical)).limits;
    assert_eq!(properties.properties.limits.max_image_dimension2_d, limits.max_image_dimension2_d);
    assert_eq!((twelve.timeline_semaphore, twelve.shader_int8), (vk::TRUE, vk::FALSE));
}

#[test]
fn external_kinds_have_their_properties() {
    let gpu = Gpu::new("navi21");
    let info =
        vk::PhysicalDeviceExternalBufferInfo::default().handle_type(vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT);
    let mut out = vk::ExternalBufferProperties::default();
    ask!(gpu.instance.get_physical_device_external_buffer_properties(gpu.physical, &info, &mut out));
    let features = out.external_memory_properties.external_memory_features;
    assert!(features.contains(vk::ExternalMemoryFeatureFlags::EXPORTABLE | vk::ExternalMemoryFeatureFlags::IMPORTABLE));

    let kind = vk::ExternalFenceHandleTypeFlags::SYNC_FD;
    let info = vk::PhysicalDeviceExternalFenceInfo::default().handle_type(kind);
    let mut out = vk::ExternalFenceProperties::default();
    ask!(gpu.instance.get_physical_device_external_fence_properties(gpu.physical, &info, &mut out));
    assert!(out.compatible_handle_types == kind);

    let kind = vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;
    let mut timeline = vk::SemaphoreTypeCreateInfo::default().semaphore_type(vk::SemaphoreType::TIMELINE);
    let binary = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(kind);
    for (info, wanted) in
        [(binary, kind), (binary.push_next(&mut timeline), vk::ExternalSemaphoreHandleTypeFlags::empty())]
    {
        let mut out = vk::ExternalSemaphoreProperties::default();
        ask!(gpu.instance.get_physical_device_external_semaphore_properties(gpu.physical, &info, &mut out));
        assert!(out.compatible_handle_types == wanted);
    }
}

#[test]
fn images_of_other_processes_have_properties_and_none_is_sparse() {
    let gpu = Gpu::new("navi21");
    let (format, kind) = (vk::Format::R8G8B8A8_UNORM, vk::ImageType::TYPE_2D);
    let (usage, one) = (vk::ImageUsageFlags::TRANSFER_SRC, vk::SampleCountFlags::TYPE_1);
    let plain = vk::PhysicalDeviceImageFormatInfo2::default().format(format).ty(kind).usage(usage);
    let dma_buf = vk::ExternalMemoryHandleTypeFlags::DMA_BUF_EXT;
    for (tiling, wanted) in
        [(vk::ImageTiling::LINEAR, Ok(())), (vk::ImageTiling::OPTIMAL, Err(vk::Result::ERROR_FORMAT_NOT_SUPPORTED))]
    {
        let mut external = vk::PhysicalDeviceExternalImageFormatInfo::default().handle_type(dma_buf);
        let info = plain.tiling(tiling).push_next(&mut external);
        let mut found = vk::ExternalImageFormatProperties::default();
        let mut out = vk::ImageFormatProperties2::default().push_next(&mut found);
        let result = ask!(gpu.instance.get_physical_device_image_format_properties2(gpu.physical, &info, &mut out));
        assert_eq!(result, wanted, "{}", tiling.as_raw());
    }
    let tiling = vk::ImageTiling::OPTIMAL;
    let sparse = ask!(gpu.instance.get_physical_device_sparse_image_format_properties(
        gpu.physical,
        format,
        kind,
        one,
        usage,
        tiling
    ));
    assert!(sparse.is_empty());
    let info = vk::PhysicalDeviceSparseImageFormatInfo2::default().format(format).ty(kind).usage(usage);
    let mut none = [];
    ask!(gpu.instance.get_physical_device_sparse_image_format_properties2(gpu.physical, &info, &mut none));
}

#[test]
fn a_device_is_a_group_of_one_and_knows_its_queues() {
    let gpu = Gpu::new("navi21");
    let info = vk::DeviceQueueInfo2::default().queue_family_index(1).queue_index(0);
    assert_eq!(ask!(gpu.device.get_device_queue2(&info)), gpu.queue(1));
    let peers = ask!(gpu.device.get_device_group_peer_memory_features(0, 0, 0));
    assert!(peers.contains(vk::PeerMemoryFeatureFlags::COPY_DST));
    let memory = gpu.allocate(0, 1 << 16);
    let _committed = ask!(gpu.device.get_device_memory_commitment(memory));
    let priority = ash::ext::pageable_device_local_memory::Device::new(&gpu.instance, &gpu.device);
    let set_priority = priority.fp().set_device_memory_priority_ext;
    ask!(set_priority(gpu.device.handle(), memory, 0.75));
    ask!(gpu.device.free_memory(memory, None));
}
