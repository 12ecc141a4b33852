//! Images that draws write: in tiles, as a driver lays them out, filled and read by the CPU.

use amdgpu_descriptors::{format::Format, target::RegisterWrite, vulkan::VulkanImage};
use amdgpu_surface::surface::Dimension;
use amdgpu_winsys::vamgr::GpuVa;

use crate::{
    gpu::test_context::{HostMemory, TestContext},
    result::outcome::{ErrorContext, Stop, fail, skip},
};

/// `VK_IMAGE_USAGE_COLOR_ATTACHMENT_BIT` and `VK_IMAGE_USAGE_DEPTH_STENCIL_ATTACHMENT_BIT`.
const COLOR: u32 = 0x10;
const DEPTH: u32 = 0x20;

/// The value of bytes between texels.
const BETWEEN: u8 = 0x5b;

/// A target of a draw: an image of 4-byte texels.
pub(crate) struct Target {
    memory: HostMemory,
    /// The offset of the image in its memory, which is aligned as the image needs.
    start: u64,
    /// The bytes at the start.
    blank: Vec<u8>,
    places: Vec<usize>,
    writes: Vec<RegisterWrite>,
}

impl Target {
    /// Lays out a colour target whose texels have 8 bits for each component, all of which are `first`.
    pub(crate) fn color(test: &TestContext<'_>, size: [u32; 2], first: u32) -> Result<Self, Stop> {
        Self::new(test, Format::R8G8B8A8_UNORM, size, first)
    }

    /// Lays out a depth target of floats, all of which are `first`.
    pub(crate) fn depth(test: &TestContext<'_>, size: [u32; 2], first: f32) -> Result<Self, Stop> {
        Self::new(test, Format::D32_SFLOAT, size, first.to_bits())
    }

    fn new(test: &TestContext<'_>, format: Format, [width, height]: [u32; 2], first: u32) -> Result<Self, Stop> {
        let info = test.device.info();
        let chip = match info.surface_chip() {
            Ok(chip) => chip,
            Err(error) => return skip(format!("the order of texels is not known: {error}")),
        };
        let is_depth = format == Format::D32_SFLOAT;
        let image = VulkanImage {
            format,
            dimension: Dimension::D2,
            extent: [width, height, 1],
            layers: 1,
            levels: 1,
            samples: 1,
            linear: false,
            usage: if is_depth { DEPTH } else { COLOR },
        };
        let level = info.gfx_level;
        let layout = image.layout(&chip, None).context("laying out a target")?;
        let texels = layout.texels(&chip, &image.surface(level, None), 0).context("laying out a target")?;
        let align = 1_u64 << layout.total_align_log2.min(31);
        let memory = test.host_memory(layout.total_bytes + align)?;
        let address = memory.at(0)?.as_u64();
        let start = address.next_multiple_of(align) - address;
        let base = memory.at(start)?;
        let mut places = Vec::new();
        for index in 0..width * height {
            let at = texels.address(index % width, index / width, 0, 0).context("computing the address of a texel")?;
            places.push(usize::try_from(at).map_err(|_| Stop::failed("the address of a texel is too large"))?);
        }
        let len = usize::try_from(layout.total_bytes).map_err(|_| Stop::failed("the target is too large"))?;
        let mut blank = vec![BETWEEN; len];
        for place in &places {
            match blank.get_mut(*place..*place + 4) {
                Some(bytes) => bytes.copy_from_slice(&first.to_le_bytes()),
                None => return fail(format!("a texel at {place:#x} is behind the target's {len:#x} bytes")),
            }
        }
        memory.write(start, &blank)?;
        let writes = if is_depth {
            let registers = image.depth_target(&chip, &layout, base).registers(level).context("binding a target")?;
            registers.writes(level).collect()
        } else {
            let registers = image.color_target(&chip, &layout, base).registers(level).context("binding a target")?;
            registers.writes(level).collect()
        };
        Ok(Self { memory, start, blank, places, writes })
    }

    pub(crate) fn memory(&self) -> &HostMemory {
        &self.memory
    }

    /// Returns the registers that bind the target.
    pub(crate) fn writes(&self) -> &[RegisterWrite] {
        &self.writes
    }

    /// Returns `true` if something was drawn.
    pub(crate) fn is_touched(&self) -> bool {
        self.memory.read(self.start, self.blank.len()).is_ok_and(|now| now != self.blank)
    }

    /// Returns the address of a texel, by its number row by row.
    pub(crate) fn address(&self, index: usize) -> Result<GpuVa, Stop> {
        self.memory.at(self.start + self.places.get(index).copied().unwrap_or(0) as u64)
    }

    /// Returns the texels, row by row; fails if bytes between them were written.
    pub(crate) fn read(&self) -> Result<Vec<u32>, Stop> {
        let mut bytes = self.memory.read(self.start, self.blank.len())?;
        let mut texels = Vec::with_capacity(self.places.len());
        for place in &self.places {
            let texel: Option<&mut [u8; 4]> = bytes.get_mut(*place..).and_then(|rest| rest.first_chunk_mut());
            let Some(texel) = texel else { continue };
            texels.push(u32::from_le_bytes(*texel));
            texel.copy_from_slice(&self.blank[*place..*place + 4]);
        }
        match bytes.iter().zip(&self.blank).position(|(now, before)| now != before) {
            Some(at) => fail(format!("byte {at:#x} of the target, which is in no texel, is {:#x}", bytes[at])),
            None => Ok(texels),
        }
    }
}
