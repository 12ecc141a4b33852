//! Graphics pipelines without vertex buffers, and draws with them.

use ash::{prelude::VkResult, vk};

use super::target::Target;
use crate::gpu::{Gpu, commands::Recorder};

/// A vertex and a pixel shader that draw triangles into one colour target.
pub(crate) struct DrawPipeline<'g> {
    gpu: &'g Gpu,
    modules: [vk::ShaderModule; 2],
    layout: vk::PipelineLayout,
    raw: vk::Pipeline,
}

impl Gpu {
    /// Makes a pipeline of the SPIR-V of a vertex and a pixel shader, both with entry point `main`, for a colour target of a format.
    /// The shaders use no resources.
    ///
    /// # Errors
    ///
    /// The errors of making the modules, the layout and the pipeline.
    pub(crate) fn draw_pipeline(&self, shaders: [&[u32]; 2], format: vk::Format) -> VkResult<DrawPipeline<'_>> {
        // Null handles may be destroyed, so that what is made so far goes with the value.
        let mut made = DrawPipeline {
            gpu: self,
            modules: [vk::ShaderModule::null(); 2],
            layout: vk::PipelineLayout::null(),
            raw: vk::Pipeline::null(),
        };
        for (module, words) in made.modules.iter_mut().zip(shaders) {
            let info = vk::ShaderModuleCreateInfo::default().code(words);
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
            // pointers is local (the premises of `gpu`); the words are a valid module, compiled into this program.
            *module = unsafe { self.device.create_shader_module(&info, None) }?;
        }
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        made.layout = unsafe { self.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default(), None) }?;
        let kinds = [vk::ShaderStageFlags::VERTEX, vk::ShaderStageFlags::FRAGMENT];
        let stage =
            |(kind, module)| vk::PipelineShaderStageCreateInfo::default().stage(kind).module(module).name(c"main");
        let stages: Vec<_> = kinds.into_iter().zip(made.modules).map(stage).collect();
        let vertices = vk::PipelineVertexInputStateCreateInfo::default();
        let assembly =
            vk::PipelineInputAssemblyStateCreateInfo::default().topology(vk::PrimitiveTopology::TRIANGLE_LIST);
        let viewport = vk::PipelineViewportStateCreateInfo::default().viewport_count(1).scissor_count(1);
        let raster = vk::PipelineRasterizationStateCreateInfo::default().line_width(1.0);
        let samples =
            vk::PipelineMultisampleStateCreateInfo::default().rasterization_samples(vk::SampleCountFlags::TYPE_1);
        let blends = [vk::PipelineColorBlendAttachmentState::default().color_write_mask(vk::ColorComponentFlags::RGBA)];
        let blend = vk::PipelineColorBlendStateCreateInfo::default().attachments(&blends);
        let changing = [vk::DynamicState::VIEWPORT, vk::DynamicState::SCISSOR];
        let dynamic = vk::PipelineDynamicStateCreateInfo::default().dynamic_states(&changing);
        let formats = [format];
        let mut rendering = vk::PipelineRenderingCreateInfo::default().color_attachment_formats(&formats);
        let info = [vk::GraphicsPipelineCreateInfo::default()
            .stages(&stages)
            .vertex_input_state(&vertices)
            .input_assembly_state(&assembly)
            .viewport_state(&viewport)
            .rasterization_state(&raster)
            .multisample_state(&samples)
            .color_blend_state(&blend)
            .dynamic_state(&dynamic)
            .layout(made.layout)
            .push_next(&mut rendering)];
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`); callers have a device of Vulkan 1.3 whose feature of dynamic rendering is enabled.
        let pipelines = unsafe { self.device.create_graphics_pipelines(vk::PipelineCache::null(), &info, None) };
        made.raw = pipelines.map_err(|(_, error)| error)?.first().copied().ok_or(vk::Result::ERROR_UNKNOWN)?;
        Ok(made)
    }
}

impl Drop for DrawPipeline<'_> {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`); a null handle is ignored.
        unsafe { device.destroy_pipeline(self.raw, None) };
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { device.destroy_pipeline_layout(self.layout, None) };
        for module in self.modules {
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at
            // once (the premises of `gpu`); the pipeline made of it is gone.
            unsafe { device.destroy_shader_module(module, None) };
        }
    }
}

impl<'a> Recorder<'a> {
    /// Draws vertices into a target that is cleared to zeroes. The image is in the layout of attachments.
    #[expect(clippy::cast_precision_loss, reason = "targets have fewer than 2^24 columns and rows")]
    pub(crate) fn draw(&self, target: &'a Target<'_>, pipeline: &'a DrawPipeline<'_>, vertices: u32) {
        let extent = target.extent();
        let area = vk::Rect2D { offset: vk::Offset2D::default(), extent };
        let (width, height) = (extent.width as f32, extent.height as f32);
        let viewport = [vk::Viewport { x: 0.0, y: 0.0, width, height, min_depth: 0.0, max_depth: 1.0 }];
        self.render(target, vk::ClearColorValue::default(), || {
            let device = &self.gpu.device;
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
            // (the premises of `gpu`).
            unsafe { device.cmd_bind_pipeline(self.raw, vk::PipelineBindPoint::GRAPHICS, pipeline.raw) };
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
            // what the call reads through pointers is local (the premises of `gpu`).
            unsafe { device.cmd_set_viewport(self.raw, 0, &viewport) };
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
            // what the call reads through pointers is local (the premises of `gpu`).
            unsafe { device.cmd_set_scissor(self.raw, 0, &[area]) };
            // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and no other call uses them at once
            // (the premises of `gpu`); a pipeline without resources was just bound, inside of rendering.
            unsafe { device.cmd_draw(self.raw, vertices, 1, 0, 0) };
        });
    }
}
