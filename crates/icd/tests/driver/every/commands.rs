//! The newer forms of commands, which do what the older ones do.

use ash::vk;

use super::{all, ask};
use crate::gpu::{CHIPS, Gpu};

const ROWS: u64 = 32 * 8 * 4;

fn described() -> vk::ImageCreateInfo<'static> {
    vk::ImageCreateInfo::default()
        .image_type(vk::ImageType::TYPE_2D)
        .format(vk::Format::R8G8B8A8_UNORM)
        .extent(vk::Extent3D { width: 32, height: 8, depth: 1 })
        .mip_levels(1)
        .array_layers(1)
        .samples(vk::SampleCountFlags::TYPE_1)
        .usage(vk::ImageUsageFlags::TRANSFER_DST | vk::ImageUsageFlags::HOST_TRANSFER_EXT)
}

/// Makes a buffer and two images, bound by the newer commands.
fn bound(gpu: &Gpu) -> ((vk::Buffer, vk::DeviceMemory), [(vk::Image, vk::DeviceMemory); 2]) {
    let device = &gpu.device;
    let buffer = ask!(device.create_buffer(&vk::BufferCreateInfo::default().size(2 * ROWS), None)).unwrap();
    let mut dedicated = vk::MemoryDedicatedRequirements::default();
    let mut out = vk::MemoryRequirements2::default().push_next(&mut dedicated);
    ask!(
        device.get_buffer_memory_requirements2(&vk::BufferMemoryRequirementsInfo2::default().buffer(buffer), &mut out)
    );
    let memory = gpu.allocate(gpu.host_type(), out.memory_requirements.size);
    assert_eq!(dedicated.requires_dedicated_allocation, vk::FALSE);
    ask!(device.bind_buffer_memory2(&[vk::BindBufferMemoryInfo::default().buffer(buffer).memory(memory)])).unwrap();
    let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
    assert_eq!(
        ask!(device.get_buffer_opaque_capture_address(&info)),
        ask!(device.get_buffer_device_address(&info)),
        "a buffer is where its memory is"
    );
    let images = [(); 2].map(|()| {
        let image = ask!(device.create_image(&described(), None)).unwrap();
        let mut out = vk::MemoryRequirements2::default();
        let asked = vk::ImageMemoryRequirementsInfo2::default().image(image);
        ask!(device.get_image_memory_requirements2(&asked, &mut out));
        let memory = gpu.allocate(gpu.host_type(), out.memory_requirements.size);
        ask!(device.bind_image_memory2(&[vk::BindImageMemoryInfo::default().image(image).memory(memory)])).unwrap();
        (image, memory)
    });
    ((buffer, memory), images)
}

#[test]
fn copies_and_events_of_the_second_form_run_on_every_family() {
    for chip in CHIPS {
        let gpu = Gpu::new(chip);
        let device = &gpu.device;
        for family in 0..gpu.families.len() as u32 {
            let has_timestamps = gpu.families[family as usize].timestamp_valid_bits > 0;
            let (buffer, images) = bound(&gpu);
            let event = ask!(device.create_event(&vk::EventCreateInfo::default(), None)).unwrap();
            let status = device.fp_v1_0().get_event_status;
            let status = || ask!(status(device.handle(), event));
            assert_eq!(status(), vk::Result::EVENT_RESET);
            let queries = vk::QueryPoolCreateInfo::default().query_type(vk::QueryType::TIMESTAMP).query_count(1);
            let queries = ask!(device.create_query_pool(&queries, None)).unwrap();
            let mut values = [1_u64];
            let results = |values: &mut [u64; 1]| {
                ask!(device.get_query_pool_results(queries, 0, values, vk::QueryResultFlags::TYPE_64))
            };
            ask!(device.reset_query_pool(queries, 0, 1));
            assert_eq!(results(&mut values), Err(vk::Result::NOT_READY));
            let layers = vk::ImageSubresourceLayers::default().aspect_mask(vk::ImageAspectFlags::COLOR).layer_count(1);
            let extent = described().extent;
            let rows =
                |at| [vk::BufferImageCopy2::default().buffer_offset(at).image_subresource(layers).image_extent(extent)];
            let (first, last) = (rows(0), rows(ROWS));
            let write =
                vk::CopyBufferToImageInfo2::default().src_buffer(buffer.0).dst_image(images[0].0).regions(&first);
            let read = vk::CopyImageToBufferInfo2::default().src_image(images[1].0).dst_buffer(buffer.0).regions(&last);
            let between = [vk::ImageCopy2::default().src_subresource(layers).dst_subresource(layers).extent(extent)];
            let copy = vk::CopyImageInfo2::default().src_image(images[0].0).dst_image(images[1].0).regions(&between);
            let barriers = [vk::MemoryBarrier2::default()
                .src_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .src_access_mask(vk::AccessFlags2::MEMORY_WRITE)
                .dst_stage_mask(vk::PipelineStageFlags2::ALL_COMMANDS)
                .dst_access_mask(vk::AccessFlags2::MEMORY_READ)];
            let all_of_it = vk::DependencyInfo::default().memory_barriers(&barriers);
            gpu.run(family, |device, it| {
                all! {
                    device.cmd_reset_event2(it, event, vk::PipelineStageFlags2::ALL_COMMANDS);
                    device.cmd_fill_buffer(it, buffer.0, 0, ROWS, 0x0a0b_0c0d);
                    device.cmd_pipeline_barrier2(it, &all_of_it);
                    device.cmd_copy_buffer_to_image2(it, &write);
                    device.cmd_set_event2(it, event, &all_of_it);
                    device.cmd_wait_events2(it, &[event], &[all_of_it]);
                    device.cmd_copy_image2(it, &copy);
                    device.cmd_pipeline_barrier2(it, &all_of_it);
                    device.cmd_copy_image_to_buffer2(it, &read);
                }
                if has_timestamps {
                    ask!(device.cmd_write_timestamp2(it, vk::PipelineStageFlags2::ALL_COMMANDS, queries, 0));
                }
            });
            assert_eq!(status(), vk::Result::EVENT_SET, "{chip} {family}");
            assert_eq!(results(&mut values).is_ok() && values[0] > 1, has_timestamps, "{chip} {family}");
            let found = gpu.read(buffer.1, 2 * ROWS as usize);
            assert!(found.chunks(4).all(|word| word == [0x0d, 0x0c, 0x0b, 0x0a]), "{chip} {family}");
            all! {
                device.destroy_query_pool(queries, None);
                device.destroy_event(event, None);
            }
            for (image, memory) in images {
                all! {
                    device.destroy_image(image, None);
                    device.free_memory(memory, None);
                }
            }
            gpu.discard(buffer);
        }
    }
}

#[test]
fn an_image_has_no_sparse_parts_and_one_layout() {
    let gpu = Gpu::new("navi21");
    let device = &gpu.device;
    let image = ask!(device.create_image(&described(), None)).unwrap();
    assert!(ask!(device.get_image_sparse_memory_requirements(image)).is_empty());
    let asked = vk::ImageSparseMemoryRequirementsInfo2::default().image(image);
    ask!(device.get_image_sparse_memory_requirements2(&asked, &mut []));
    let info = described();
    let asked = vk::DeviceImageMemoryRequirements::default().create_info(&info);
    ask!(device.get_device_image_sparse_memory_requirements(&asked, &mut []));
    let host = ash::ext::host_image_copy::Device::new(&gpu.instance, device);
    let transition = vk::HostImageLayoutTransitionInfoEXT::default().image(image).new_layout(vk::ImageLayout::GENERAL);
    ask!(host.transition_image_layout(&[transition])).unwrap();
    let mut size = vk::SubresourceHostMemcpySizeEXT::default();
    let mut layout = vk::SubresourceLayout2KHR::default().push_next(&mut size);
    ask!(host.get_image_subresource_layout2(image, &vk::ImageSubresource2KHR::default(), &mut layout));
    assert_eq!(size.size, ROWS);
    ask!(device.destroy_image(image, None));
}
