//! Image views and samplers. They are not used for accesses, because there are no shaders.

use ash::vk;

use crate::{
    border::{Allocator, Failure, Handed, Out, object},
    facts::formats::Texel,
    objects::{Device, Image, ImageView, Sampler},
};

/// Creates an image view. The image must exist, and the texels of both formats must have the same size.
pub(crate) fn create_view(
    _: &Device,
    info: &vk::ImageViewCreateInfo<'_>,
    _: Allocator,
    mut view: Out<'_, vk::ImageView>,
) -> Result<(), Failure> {
    let image = object::<Image>(info.image).ok_or(vk::Result::ERROR_UNKNOWN)?;
    let texel = Texel::of(info.format).filter(|texel| texel.bytes() == image.texel.bytes());
    texel.ok_or(vk::Result::ERROR_UNKNOWN)?;
    view.set(Handed::new(ImageView).give());
    Ok(())
}

pub(crate) fn destroy_view(_: &Device, view: Option<Handed<ImageView>>, _: Allocator) {
    drop(view);
}

pub(crate) fn create_sampler(
    _: &Device,
    _: &vk::SamplerCreateInfo<'_>,
    _: Allocator,
    mut sampler: Out<'_, vk::Sampler>,
) -> vk::Result {
    sampler.set(Handed::new(Sampler).give());
    vk::Result::SUCCESS
}

pub(crate) fn destroy_sampler(_: &Device, sampler: Option<Handed<Sampler>>, _: Allocator) {
    drop(sampler);
}
