//! Samplers.

use ash::{prelude::VkResult, vk};

use crate::gpu::Gpu;

/// The properties of a sampler.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SamplerKind {
    /// Filter of texels and levels.
    pub(crate) linear: bool,
    /// Coordinates outside of the image.
    pub(crate) address: vk::SamplerAddressMode,
    /// Colour outside of the image.
    pub(crate) border: vk::BorderColor,
    /// `true` if texels are compared (less or equal).
    pub(crate) shadow: bool,
    /// Bias of the level of detail.
    pub(crate) bias: f32,
    /// Most anisotropic samples; 0 without.
    pub(crate) anisotropy: f32,
    /// Lowest and highest level of detail.
    pub(crate) lod: [f32; 2],
}

/// A sampler.
pub(crate) struct Sampler<'g> {
    gpu: &'g Gpu,
    pub(super) raw: vk::Sampler,
}

impl Gpu {
    /// Creates a sampler.
    ///
    /// # Errors
    ///
    /// The errors of vkCreateSampler.
    pub(crate) fn sampler(&self, kind: &SamplerKind) -> VkResult<Sampler<'_>> {
        let filter = if kind.linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
        let levels = if kind.linear { vk::SamplerMipmapMode::LINEAR } else { vk::SamplerMipmapMode::NEAREST };
        let [min_lod, max_lod] = kind.lod;
        let info = vk::SamplerCreateInfo::default()
            .mag_filter(filter)
            .min_filter(filter)
            .mipmap_mode(levels)
            .address_mode_u(kind.address)
            .address_mode_v(kind.address)
            .address_mode_w(kind.address)
            .border_color(kind.border)
            .compare_enable(kind.shadow)
            .compare_op(vk::CompareOp::LESS_OR_EQUAL)
            .mip_lod_bias(kind.bias)
            .anisotropy_enable(kind.anisotropy > 1.0)
            .max_anisotropy(kind.anisotropy.max(1.0))
            .min_lod(min_lod)
            .max_lod(max_lod);
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows and what the call reads through
        // pointers is local (the premises of `gpu`).
        let raw = unsafe { self.device.create_sampler(&info, None) }?;
        Ok(Sampler { gpu: self, raw })
    }
}

impl Drop for Sampler<'_> {
    fn drop(&mut self) {
        // SAFETY: the handles live as long as their wrappers, which this function holds or borrows, no other call uses them at once and
        // the work that uses them has ended (the premises of `gpu`).
        unsafe { self.gpu.device.destroy_sampler(self.raw, None) };
    }
}
