//! Creation and destruction of empty objects.

use ash::vk;

use crate::{
    border::{Allocator, Handed, Ignored, Out},
    objects::{
        BufferView, DescriptorSetLayout, DescriptorUpdateTemplate, Device, Framebuffer, PipelineCache, PipelineLayout,
        RenderPass, SamplerYcbcrConversion, ShaderModule,
    },
};

/// Declares the commands that create and destroy an empty object.
macro_rules! empty {
    ($($create:ident, $destroy:ident: $Object:ident;)*) => {$(
        pub(crate) fn $create(_: &Device, _: Ignored, _: Allocator, mut object: Out<'_, vk::$Object>) -> vk::Result {
            object.set(Handed::new($Object).give());
            vk::Result::SUCCESS
        }

        pub(crate) fn $destroy(_: &Device, object: Option<Handed<$Object>>, _: Allocator) {
            drop(object);
        }
    )*};
}

empty! {
    create_buffer_view, destroy_buffer_view: BufferView;
    create_descriptor_set_layout, destroy_descriptor_set_layout: DescriptorSetLayout;
    create_update_template, destroy_update_template: DescriptorUpdateTemplate;
    create_framebuffer, destroy_framebuffer: Framebuffer;
    create_pipeline_cache, destroy_pipeline_cache: PipelineCache;
    create_pipeline_layout, destroy_pipeline_layout: PipelineLayout;
    create_render_pass, destroy_render_pass: RenderPass;
    create_conversion, destroy_conversion: SamplerYcbcrConversion;
    create_shader_module, destroy_shader_module: ShaderModule;
}

/// Returns the render area granularity: one texel.
pub(crate) fn granularity(_: &Device, _: Ignored, mut out: Out<'_, vk::Extent2D>) {
    out.set(vk::Extent2D { width: 1, height: 1 });
}
