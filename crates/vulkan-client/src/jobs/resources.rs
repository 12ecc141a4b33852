//! The resources of a job.

use amdgpu_test_support::jobs::{Binding, Filter, Job, Resource as Type, Wrap};
use ash::vk;

use super::images::{self, MOST, Picture};
use crate::{
    gpu::{Buffer, Gpu, ImageView, Lane, MemoryPlace, Resource, Sampler, SamplerKind, Slot, TexelView},
    outcome::{ErrorContext, Stop, fail},
};

/// The objects made for one binding of a job.
enum Made<'g> {
    Buffers(Vec<Buffer<'g>>),
    Picture(Box<Picture<'g>>, Option<Sampler<'g>>),
    Sampler(Sampler<'g>),
}

/// The resources of a job.
pub(super) struct Resources<'g> {
    made: Vec<(Binding, Made<'g>)>,
}

/// The views of resources.
enum View<'r> {
    Buffers(&'r [Buffer<'r>], Type),
    Texels(Vec<TexelView<'r>>, Type),
    Image(ImageView<'r>, Option<&'r Sampler<'r>>, Type),
    Sampler(&'r Sampler<'r>),
}

/// The views of all resources of a job, with set and binding.
pub(super) struct Views<'r>(Vec<(u32, u32, View<'r>)>);

fn sampler<'g>(gpu: &'g Gpu, binding: &Binding) -> Result<Sampler<'g>, Stop> {
    let is_integer = binding.format.as_deref().is_some_and(|format| format.ends_with("INT"));
    let border = match (binding.border.as_deref().unwrap_or("white"), is_integer) {
        ("white", false) => vk::BorderColor::FLOAT_OPAQUE_WHITE,
        ("white", true) => vk::BorderColor::INT_OPAQUE_WHITE,
        ("black", false) => vk::BorderColor::FLOAT_OPAQUE_BLACK,
        ("black", true) => vk::BorderColor::INT_OPAQUE_BLACK,
        ("transparent", false) => vk::BorderColor::FLOAT_TRANSPARENT_BLACK,
        ("transparent", true) => vk::BorderColor::INT_TRANSPARENT_BLACK,
        (other, _) => return fail(format!("no border colour {other}")),
    };
    let kind = SamplerKind {
        linear: binding.filter == Filter::Linear,
        address: match binding.wrap {
            Wrap::Repeat => vk::SamplerAddressMode::REPEAT,
            Wrap::Mirror => vk::SamplerAddressMode::MIRRORED_REPEAT,
            Wrap::MirrorOnce => vk::SamplerAddressMode::MIRROR_CLAMP_TO_EDGE,
            Wrap::Clamp => vk::SamplerAddressMode::CLAMP_TO_EDGE,
            Wrap::Border => vk::SamplerAddressMode::CLAMP_TO_BORDER,
        },
        border,
        shadow: binding.shadow,
        bias: binding.bias,
        anisotropy: binding.anisotropy,
        lod: binding.lod.unwrap_or([0.0, 1000.0]),
    };
    gpu.sampler(&kind).context("make a sampler")
}

fn buffers<'g>(gpu: &'g Gpu, binding: &Binding) -> Result<Vec<Buffer<'g>>, Stop> {
    if binding.size == 0 || binding.size > MOST || binding.array == 0 || binding.array > 4096 {
        return fail(format!("no buffers of {} bytes times {}", binding.size, binding.array));
    }
    let mut bytes = binding.init.0.clone();
    bytes.resize(binding.size * binding.array as usize, 0);
    bytes
        .chunks(binding.size)
        .map(|bytes| {
            let buffer = gpu.program_buffer(binding.size as u64, MemoryPlace::Host).context("make a buffer")?;
            buffer.memory().write(0, bytes);
            Ok(buffer)
        })
        .collect()
}

impl<'g> Resources<'g> {
    /// Makes the resources of a job; images for all queues at once if they are filled and read on another one.
    pub(super) fn new(gpu: &'g Gpu, job: &Job, concurrent: bool) -> Result<Self, Stop> {
        let make = |binding: &Binding| {
            let resource = binding.resource;
            let sampler = || sampler(gpu, binding);
            Ok(if resource.has_image() {
                let picture = Picture::new(gpu, binding, concurrent)?;
                Made::Picture(Box::new(picture), resource.has_sampler().then(sampler).transpose()?)
            } else if resource.has_sampler() {
                Made::Sampler(sampler()?)
            } else {
                Made::Buffers(buffers(gpu, binding)?)
            })
        };
        let made = job.bindings.iter().map(|binding| Ok((binding.clone(), make(binding)?)));
        Ok(Self { made: made.collect::<Result<_, Stop>>()? })
    }

    /// Fills the images; buffers were filled when they were made.
    pub(super) fn fill(&mut self, gpu: &Gpu, lane: &Lane) -> Result<(), Stop> {
        for (binding, made) in &self.made {
            if let Made::Picture(picture, _) = made {
                picture.fill(gpu, lane, &binding.init.0)?;
            }
        }
        Ok(())
    }

    /// Returns the outputs with their keys.
    pub(super) fn read(&self, gpu: &Gpu, lane: &Lane) -> Result<Vec<(String, Vec<u8>)>, Stop> {
        let mut outputs = Vec::new();
        for (binding, made) in self.made.iter().filter(|(binding, _)| binding.out) {
            match made {
                Made::Buffers(buffers) => {
                    let bytes = buffers.iter().map(|buffer| buffer.memory().read(0, binding.size));
                    outputs.extend((0..).zip(bytes).map(|(element, bytes)| (binding.key(element), bytes)));
                }
                Made::Picture(picture, _) => outputs.push((binding.key(0), picture.read(gpu, lane)?)),
                Made::Sampler(_) => {}
            }
        }
        Ok(outputs)
    }

    /// Returns the push constants, with the addresses of buffers that belong there.
    pub(super) fn push(&self, job: &Job) -> Result<Vec<u8>, Stop> {
        let mut push = job.push.0.clone();
        for (binding, made) in &self.made {
            let (Some(at), Made::Buffers(buffers)) = (binding.push_address, made) else { continue };
            let address = buffers.first().and_then(Buffer::address);
            let place = push.get_mut(at..).and_then(|rest| rest.first_chunk_mut::<8>());
            match (address, place) {
                (Some(address), Some(place)) => *place = address.to_le_bytes(),
                (None, _) => return crate::outcome::skip("no addresses of buffers here"),
                (_, None) => return fail("an address outside of the push constants"),
            }
        }
        Ok(push)
    }

    /// Makes the views.
    pub(super) fn views(&self) -> Result<Views<'_>, Stop> {
        let mut views = Vec::new();
        for (binding, made) in &self.made {
            let kind = binding.resource;
            let view = match made {
                Made::Buffers(buffers) if matches!(kind, Type::UniformTexelBuffer | Type::StorageTexelBuffer) => {
                    let format = images::format(binding)?;
                    let texels: Result<_, _> = buffers.iter().map(|buffer| buffer.texels(format)).collect();
                    View::Texels(texels.context("make a view of texels")?, kind)
                }
                Made::Buffers(buffers) => View::Buffers(buffers, kind),
                Made::Picture(picture, sampler) => View::Image(picture.view(binding)?, sampler.as_ref(), kind),
                Made::Sampler(sampler) => View::Sampler(sampler),
            };
            views.push((binding.set, binding.binding, view));
        }
        Ok(Views(views))
    }
}

impl Views<'_> {
    /// Returns what a program binds.
    pub(super) fn slots(&self) -> Vec<Slot<'_>> {
        self.0
            .iter()
            .map(|(set, binding, view)| Slot { set: *set, binding: *binding, elements: view.elements() })
            .collect()
    }
}

impl View<'_> {
    fn elements(&self) -> Vec<Resource<'_>> {
        match self {
            Self::Buffers(buffers, Type::UniformBuffer) => buffers.iter().map(Resource::Uniform).collect(),
            Self::Buffers(buffers, _) => buffers.iter().map(Resource::Storage).collect(),
            Self::Texels(texels, Type::UniformTexelBuffer) => texels.iter().map(Resource::UniformTexels).collect(),
            Self::Texels(texels, _) => texels.iter().map(Resource::StorageTexels).collect(),
            Self::Image(view, Some(sampler), _) => vec![Resource::Combined(view, sampler)],
            Self::Image(view, None, Type::StorageImage) => vec![Resource::StorageImage(view)],
            Self::Image(view, None, _) => vec![Resource::SampledImage(view)],
            Self::Sampler(sampler) => vec![Resource::Sampler(sampler)],
        }
    }
}
