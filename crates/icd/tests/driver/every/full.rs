//! The face `full`: objects that hold nothing, and commands that do nothing or are refused.

use ash::vk;

use super::{all, ask};
use crate::gpu::Gpu;

#[test]
fn empty_objects_come_and_go() {
    let gpu = Gpu::new("navi21");
    let device = &gpu.device;
    let (none, Gpu { .. }) = (None, &gpu);
    let module = ask!(device.create_shader_module(&vk::ShaderModuleCreateInfo::default(), none)).unwrap();
    let view = ask!(device.create_buffer_view(&vk::BufferViewCreateInfo::default(), none)).unwrap();
    let binding = vk::DescriptorSetLayoutBinding::default().descriptor_count(3);
    let bindings = [binding];
    let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    let set_layout = ask!(device.create_descriptor_set_layout(&info, none)).unwrap();
    let mut support = vk::DescriptorSetLayoutSupport::default();
    ask!(device.get_descriptor_set_layout_support(&info, &mut support));
    assert_eq!(support.supported, vk::TRUE);
    let bindings = [binding.descriptor_count(1025)];
    let many = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
    ask!(device.get_descriptor_set_layout_support(&many, &mut support));
    assert_eq!(support.supported, vk::FALSE, "more than maxPerSetDescriptors");
    let layout = ask!(device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), none)).unwrap();
    let template = vk::DescriptorUpdateTemplateCreateInfo::default();
    let template = ask!(device.create_descriptor_update_template(&template, none)).unwrap();
    let conversion = vk::SamplerYcbcrConversionCreateInfo::default();
    let conversion = ask!(device.create_sampler_ycbcr_conversion(&conversion, none)).unwrap();
    let pass = ask!(device.create_render_pass(&vk::RenderPassCreateInfo::default(), none)).unwrap();
    let pass2 = ask!(device.create_render_pass2(&vk::RenderPassCreateInfo2::default(), none)).unwrap();
    let granularity = ask!(device.get_render_area_granularity(pass));
    assert_eq!((granularity.width, granularity.height), (1, 1));
    let frame = ask!(device.create_framebuffer(&vk::FramebufferCreateInfo::default(), none)).unwrap();
    all! {
        device.destroy_framebuffer(frame, none);
        device.destroy_render_pass(pass2, none);
        device.destroy_render_pass(pass, none);
        device.destroy_sampler_ycbcr_conversion(conversion, none);
        device.destroy_descriptor_update_template(template, none);
        device.destroy_pipeline_layout(layout, none);
        device.destroy_descriptor_set_layout(set_layout, none);
        device.destroy_buffer_view(view, none);
        device.destroy_shader_module(module, none);
        device.destroy_shader_module(vk::ShaderModule::null(), none);
    }
}

#[test]
fn a_descriptor_pool_has_as_many_sets_as_it_was_made_for() {
    let gpu = Gpu::new("navi21");
    let device = &gpu.device;
    let layout = ask!(device.create_descriptor_set_layout(&vk::DescriptorSetLayoutCreateInfo::default(), None));
    let layout = layout.unwrap();
    let pool = ask!(device.create_descriptor_pool(&vk::DescriptorPoolCreateInfo::default().max_sets(3), None)).unwrap();
    let layouts = [layout; 2];
    let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&layouts);
    let first = ask!(device.allocate_descriptor_sets(&info)).unwrap();
    assert!(first.iter().all(|set| *set != vk::DescriptorSet::null()) && first[0] != first[1]);
    assert_eq!(ask!(device.allocate_descriptor_sets(&info)), Err(vk::Result::ERROR_OUT_OF_POOL_MEMORY));
    all! {
        device.update_descriptor_sets(&[vk::WriteDescriptorSet::default().dst_set(first[0])], &[]);
        device.update_descriptor_set_with_template(
            first[0], vk::DescriptorUpdateTemplate::null(), std::ptr::from_ref(&0_u32).cast()
        );
        device.free_descriptor_sets(pool, &first[..1]).unwrap();
    }
    let second = ask!(device.allocate_descriptor_sets(&info)).unwrap();
    assert!(!second.contains(&first[1]), "the failure took nothing, and the free gave one back");
    all! {
        device.reset_descriptor_pool(pool, vk::DescriptorPoolResetFlags::empty()).unwrap();
    }
    let third = ask!(device.allocate_descriptor_sets(&info)).unwrap();
    assert_eq!(third.len(), 2);
    all! {
        device.destroy_descriptor_pool(pool, None);
        device.destroy_descriptor_set_layout(layout, None);
    }
}

#[test]
fn pipelines_are_refused_and_their_caches_are_empty() {
    let gpu = Gpu::new("navi21");
    let device = &gpu.device;
    let cache = ask!(device.create_pipeline_cache(&vk::PipelineCacheCreateInfo::default(), None)).unwrap();
    let infos = [vk::ComputePipelineCreateInfo::default(); 2];
    let refused = (vec![vk::Pipeline::null(); 2], vk::Result::ERROR_UNKNOWN);
    assert_eq!(ask!(device.create_compute_pipelines(cache, &infos, None)), Err(refused.clone()));
    let infos = [vk::GraphicsPipelineCreateInfo::default(); 2];
    assert_eq!(ask!(device.create_graphics_pipelines(cache, &infos, None)), Err(refused));
    let data = ask!(device.get_pipeline_cache_data(cache)).unwrap();
    assert_eq!((data.len(), &data[..4], &data[4..8]), (32, &[32, 0, 0, 0][..], &[1, 0, 0, 0][..]));
    let found = ask!(gpu.instance.get_physical_device_properties(gpu.physical));
    assert_eq!(data[8..12], found.vendor_id.to_le_bytes());
    assert_eq!(data[16..], found.pipeline_cache_uuid);
    let (mut size, mut room) = (31, [0_u8; 32]);
    let function = device.fp_v1_0().get_pipeline_cache_data;
    let short = ask!(function(device.handle(), cache, &raw mut size, room.as_mut_ptr().cast()));
    assert_eq!((short, size), (vk::Result::INCOMPLETE, 0));
    all! {
        device.merge_pipeline_caches(cache, &[]).unwrap();
        device.destroy_pipeline(vk::Pipeline::null(), None);
        device.destroy_pipeline_cache(cache, None);
    }
}

#[test]
fn states_that_nothing_reads_can_be_set() {
    let gpu = Gpu::new("navi21");
    let (pass, frame) = (vk::RenderPass::null(), vk::Framebuffer::null());
    let begin = vk::RenderPassBeginInfo::default().render_pass(pass).framebuffer(frame);
    let (sub, end) = (vk::SubpassBeginInfo::default(), vk::SubpassEndInfo::default());
    let face = vk::StencilFaceFlags::FRONT_AND_BACK;
    let buffer = gpu.buffer(0, 4096);
    gpu.run(0, |device, it| {
        all! {
            device.cmd_begin_render_pass(it, &begin, vk::SubpassContents::INLINE);
            device.cmd_bind_pipeline(it, vk::PipelineBindPoint::GRAPHICS, vk::Pipeline::null());
            device.cmd_bind_descriptor_sets(
                it, vk::PipelineBindPoint::GRAPHICS, vk::PipelineLayout::null(), 0, &[], &[]
            );
            device.cmd_bind_index_buffer(it, buffer.0, 0, vk::IndexType::UINT16);
            device.cmd_bind_vertex_buffers(it, 0, &[buffer.0], &[0]);
            device.cmd_bind_vertex_buffers2(it, 0, &[buffer.0], &[0], None, None);
            device.cmd_push_constants(
                it, vk::PipelineLayout::null(), vk::ShaderStageFlags::VERTEX, 0, &[1, 2, 3, 4]
            );
            device.cmd_set_viewport(it, 0, &[vk::Viewport::default()]);
            device.cmd_set_viewport_with_count(it, &[vk::Viewport::default()]);
            device.cmd_set_scissor(it, 0, &[vk::Rect2D::default()]);
            device.cmd_set_scissor_with_count(it, &[vk::Rect2D::default()]);
            device.cmd_set_line_width(it, 1.0);
            device.cmd_set_depth_bias(it, 0.0, 0.0, 0.0);
            device.cmd_set_depth_bias_enable(it, false);
            device.cmd_set_depth_bounds(it, 0.0, 1.0);
            device.cmd_set_depth_bounds_test_enable(it, false);
            device.cmd_set_depth_compare_op(it, vk::CompareOp::ALWAYS);
            device.cmd_set_depth_test_enable(it, false);
            device.cmd_set_depth_write_enable(it, false);
            device.cmd_set_blend_constants(it, &[0.0; 4]);
            device.cmd_set_cull_mode(it, vk::CullModeFlags::NONE);
            device.cmd_set_front_face(it, vk::FrontFace::CLOCKWISE);
            device.cmd_set_primitive_restart_enable(it, false);
            device.cmd_set_primitive_topology(it, vk::PrimitiveTopology::POINT_LIST);
            device.cmd_set_rasterizer_discard_enable(it, true);
            device.cmd_set_stencil_compare_mask(it, face, 0);
            device.cmd_set_stencil_op(
                it, face, vk::StencilOp::KEEP, vk::StencilOp::KEEP, vk::StencilOp::KEEP, vk::CompareOp::ALWAYS
            );
            device.cmd_set_stencil_reference(it, face, 0);
            device.cmd_set_stencil_test_enable(it, false);
            device.cmd_set_stencil_write_mask(it, face, 0);
            device.cmd_clear_attachments(it, &[vk::ClearAttachment::default()], &[vk::ClearRect::default()]);
            device.cmd_next_subpass(it, vk::SubpassContents::INLINE);
            device.cmd_end_render_pass(it);
            device.cmd_begin_render_pass2(it, &begin, &sub);
            device.cmd_next_subpass2(it, &sub, &end);
            device.cmd_end_render_pass2(it, &end);
            device.cmd_begin_rendering(it, &vk::RenderingInfo::default());
            device.cmd_end_rendering(it);
            device.cmd_set_device_mask(it, 1);
        }
    });
    gpu.discard(buffer);
}

/// Records a command.
type Record<'a> = &'a dyn Fn(&ash::Device, vk::CommandBuffer);

#[test]
fn what_would_show_fails_the_end() {
    let gpu = Gpu::new("navi21");
    let device = &gpu.device;
    let buffer = gpu.buffer(0, 4096);
    let pool = ask!(device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)).unwrap();
    let info = vk::CommandBufferAllocateInfo::default().command_pool(pool).command_buffer_count(1);
    let commands = ask!(device.allocate_command_buffers(&info)).unwrap()[0];
    let (image, layout, filter) = (vk::Image::null(), vk::ImageLayout::GENERAL, vk::Filter::NEAREST);
    let (queries, at) = (vk::QueryPool::null(), buffer.0);
    let color = vk::ClearDepthStencilValue::default();
    let refused: &[(&str, Record<'_>)] = &[
        ("draw", &|d, it| ask!(d.cmd_draw(it, 3, 1, 0, 0))),
        ("indexed", &|d, it| ask!(d.cmd_draw_indexed(it, 3, 1, 0, 0, 0))),
        ("indirect", &|d, it| ask!(d.cmd_draw_indirect(it, at, 0, 1, 0))),
        ("indexed, indirect", &|d, it| ask!(d.cmd_draw_indexed_indirect(it, at, 0, 1, 0))),
        ("a count", &|d, it| ask!(d.cmd_draw_indirect_count(it, at, 0, at, 0, 1, 0))),
        ("indexed, a count", &|d, it| ask!(d.cmd_draw_indexed_indirect_count(it, at, 0, at, 0, 1, 0))),
        ("dispatch", &|d, it| ask!(d.cmd_dispatch(it, 1, 1, 1))),
        ("dispatch from a base", &|d, it| ask!(d.cmd_dispatch_base(it, 0, 0, 0, 1, 1, 1))),
        ("dispatch, indirect", &|d, it| ask!(d.cmd_dispatch_indirect(it, at, 0))),
        ("blit", &|d, it| ask!(d.cmd_blit_image(it, image, layout, image, layout, &[], filter))),
        ("blit 2", &|d, it| ask!(d.cmd_blit_image2(it, &vk::BlitImageInfo2::default()))),
        ("resolve", &|d, it| ask!(d.cmd_resolve_image(it, image, layout, image, layout, &[]))),
        ("resolve 2", &|d, it| ask!(d.cmd_resolve_image2(it, &vk::ResolveImageInfo2::default()))),
        ("depth", &|d, it| ask!(d.cmd_clear_depth_stencil_image(it, image, layout, &color, &[]))),
        ("a query", &|d, it| ask!(d.cmd_begin_query(it, queries, 0, vk::QueryControlFlags::empty()))),
        ("a query's end", &|d, it| ask!(d.cmd_end_query(it, queries, 0))),
    ];
    for (what, record) in refused {
        ask!(device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())).unwrap();
        record(device, commands);
        assert_eq!(ask!(device.end_command_buffer(commands)), Err(vk::Result::ERROR_UNKNOWN), "{what}");
        ask!(device.reset_command_buffer(commands, vk::CommandBufferResetFlags::empty())).unwrap();
    }
    all! {
        device.trim_command_pool(pool, vk::CommandPoolTrimFlags::empty());
        device.reset_command_pool(pool, vk::CommandPoolResetFlags::RELEASE_RESOURCES).unwrap();
        device.free_command_buffers(pool, &[commands, vk::CommandBuffer::null()]);
        device.destroy_command_pool(pool, None);
    }
    gpu.discard(buffer);
}
