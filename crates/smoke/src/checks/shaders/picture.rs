//! Images of shader checks: in tiles, as a driver lays them out, filled and read by the CPU.

use amdgpu_descriptors::{
    format::{Format, Swizzle},
    vulkan::{AddressMode, Aspect, Filter, ViewType, VulkanImage, VulkanSampler, VulkanView},
};
use amdgpu_surface::{
    surface::{Dimension, SurfaceLayout},
    tiler::Subresource,
};

use crate::{
    gpu::test_context::{HostMemory, TestContext},
    result::outcome::{ErrorContext, Stop, fail, skip},
};

/// Texels of the image in x and y: in both, more than a small block of any order of texels.
pub(crate) const WIDTH: u32 = 128;
pub(crate) const HEIGHT: u32 = 32;

/// The value of output that no shader has stored to.
pub(crate) const UNTOUCHED: u32 = 0xa5a5_a5a5;

/// `VK_IMAGE_USAGE_TRANSFER_DST_BIT`, `_SRC_BIT`, `_SAMPLED_BIT` and `_STORAGE_BIT`.
const USAGE: u32 = 0xf;

/// An image of 4-byte texels that a shader accesses.
#[derive(Clone, Copy)]
pub(crate) struct Picture<'p> {
    pub(crate) format: Format,
    /// The texels at the start, row by row.
    pub(crate) texels: &'p [u32],
    /// `true` if the shader stores to the image, whose texels then are its output.
    pub(crate) is_output: bool,
}

/// An image in memory.
pub(crate) struct Tiled {
    memory: HostMemory,
    /// The bytes at the start.
    blank: Vec<u8>,
    places: Vec<usize>,
    /// Words of the image's descriptor, and of a sampler that blends neighbours and stays within the image.
    pub(crate) user: [u32; 12],
}

/// Returns the place of each texel, row by row.
fn places(texels: &Subresource) -> Result<Vec<usize>, Stop> {
    let place = |index: u32| {
        let at = texels.address(index % WIDTH, index / WIDTH, 0, 0).context("computing the address of a texel")?;
        usize::try_from(at).map_err(|_| Stop::failed("the address of a texel is too large"))
    };
    (0..WIDTH * HEIGHT).map(place).collect()
}

impl Tiled {
    /// Lays an image out and fills it.
    pub(crate) fn new(test: &TestContext<'_>, picture: &Picture<'_>) -> Result<Self, Stop> {
        let info = test.device.info();
        let chip = match info.surface_chip() {
            Ok(chip) => chip,
            Err(error) => return skip(format!("the order of texels is not known: {error}")),
        };
        let image = VulkanImage {
            format: picture.format,
            dimension: Dimension::D2,
            extent: [WIDTH, HEIGHT, 1],
            layers: 1,
            levels: 1,
            samples: 1,
            linear: false,
            usage: USAGE,
        };
        let layout: SurfaceLayout = image.layout(&chip, None).context("laying out an image")?;
        let texels = layout.texels(&chip, &image.surface(chip.level(), None), 0).context("laying out an image")?;
        let places = places(&texels)?;
        let memory = test.host_memory(layout.total_bytes)?;
        let len = usize::try_from(layout.total_bytes).map_err(|_| Stop::failed("the image is too large"))?;
        let mut blank: Vec<u8> = UNTOUCHED.to_le_bytes().into_iter().cycle().take(len).collect();
        for (place, texel) in places.iter().zip(picture.texels) {
            match blank.get_mut(*place..*place + 4) {
                Some(bytes) => bytes.copy_from_slice(&texel.to_le_bytes()),
                None => return fail(format!("a texel at {place:#x} is behind the image's {len:#x} bytes")),
            }
        }
        memory.write(0, &blank)?;
        let view = VulkanView {
            view: ViewType::D2,
            aspect: Aspect::Color,
            base_level: 0,
            level_count: 1,
            base_layer: 0,
            layer_count: 1,
            swizzle: Swizzle::IDENTITY,
            storage: picture.is_output,
        };
        let level = info.gfx_level;
        let descriptor = image.descriptor(&chip, &layout, memory.at(0)?, &view).context("making a descriptor")?;
        let sampler = VulkanSampler {
            mag: Filter::Linear,
            min: Filter::Linear,
            address: [AddressMode::ClampToEdge; 3],
            ..VulkanSampler::default()
        };
        let sampler = sampler.descriptor(level, false).context("making a sampler")?;
        let mut user = [0; 12];
        user[..8].copy_from_slice(&descriptor.words());
        user[8..].copy_from_slice(&sampler.words());
        Ok(Self { memory, blank, places, user })
    }

    pub(crate) fn memory(&self) -> &HostMemory {
        &self.memory
    }

    /// Returns `true` if the shader has stored something.
    pub(crate) fn is_touched(&self) -> bool {
        self.memory.differs(&self.blank)
    }

    /// Returns the texels, row by row; fails if bytes between them were stored to.
    pub(crate) fn read(&self) -> Result<Vec<u32>, Stop> {
        let mut bytes = self.memory.read(0, self.blank.len())?;
        let mut texels = Vec::with_capacity(self.places.len());
        for place in &self.places {
            let texel: Option<&mut [u8; 4]> = bytes.get_mut(*place..).and_then(|rest| rest.first_chunk_mut());
            let Some(texel) = texel else { continue };
            texels.push(u32::from_le_bytes(*texel));
            // What remains is to be as it was.
            texel.copy_from_slice(&self.blank[*place..*place + 4]);
        }
        match bytes.iter().zip(&self.blank).position(|(now, before)| now != before) {
            Some(at) => fail(format!("byte {at:#x} of the image, which is in no texel, is {:#x}", bytes[at])),
            None => Ok(texels),
        }
    }
}
