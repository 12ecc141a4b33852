//! The words that a driver leaves with the memory of an image that it shares, beside those of the layouts.

use amdgpu_descriptors::DescriptorError;
use amdgpu_descriptors::format::Swizzle;
use amdgpu_descriptors::umd::{UmdError, UmdMetadata};
use amdgpu_descriptors::vulkan::{Aspect, ViewType, VulkanImage, VulkanView};
use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_surface::surface::{Dimension, SurfaceLayout};

use super::answer::BoAnswer;
use crate::chip::Named;

/// The reason why there are no words.
#[derive(Debug, thiserror::Error)]
pub(super) enum NoWords {
    #[error("the offset of DCC does not fit the tiling word")]
    Tiling,
    #[error(transparent)]
    Descriptor(#[from] DescriptorError),
    #[error(transparent)]
    Words(#[from] UmdError),
}

/// Our words for an image.
#[derive(Debug)]
pub(super) struct ExpectedWords {
    pub(super) tiling: u64,
    /// The dwords behind the tiling word; `None` on GFX12, and for a format without a number: `R64_SFLOAT`, which is copied only, and
    /// those of depth and stencil.
    pub(super) words: Option<Vec<u32>>,
}

impl ExpectedWords {
    /// Returns the first difference from a driver's words: its name and both values.
    pub(super) fn difference(&self, theirs: &BoAnswer) -> Option<(&'static str, String)> {
        if self.tiling != theirs.tiling {
            return Some(("tiling word", format!("ours {:#x}, theirs {:#x}", self.tiling, theirs.tiling)));
        }
        let words = self.words.as_ref().filter(|words| **words != theirs.words)?;
        Some(("words of memory", format!("ours {words:x?}, theirs {:x?}", theirs.words)))
    }
}

/// Returns our words for an image of one plane (`radv_query_opaque_metadata`).
pub(super) fn words(named: &Named, image: &VulkanImage, layout: &SurfaceLayout) -> Result<ExpectedWords, NoWords> {
    let level = named.chip.level();
    let tiling = layout.tiling_flags(&named.chip).ok_or(NoWords::Tiling)? | image.format.compression_tiling(level);
    let view = VulkanView {
        view: match image.dimension {
            Dimension::D1 => ViewType::D1,
            Dimension::D3 => ViewType::D3,
            _ => ViewType::D2,
        },
        aspect: if image.format.has_depth() { Aspect::Depth } else { Aspect::Color },
        base_level: 0,
        level_count: image.levels,
        base_layer: 0,
        layer_count: image.layers,
        swizzle: Swizzle::IDENTITY,
        storage: false,
    };
    // On GFX12 RADV's descriptor says whether the memory is compressed. That depends on how RADV allocates the memory, which is not in
    // its answers about images.
    if level == GfxLevel::Gfx12 {
        return Ok(ExpectedWords { tiling, words: None });
    }
    // A format of depth and stencil together has no number, and RADV's descriptor is of neither.
    if image.format.has_depth() && image.format.has_stencil() {
        return Ok(ExpectedWords { tiling, words: None });
    }
    let descriptor = match image.descriptor(&named.chip, layout, GpuVa::NULL, &view) {
        Ok(descriptor) => descriptor,
        Err(DescriptorError::Format(_)) => return Ok(ExpectedWords { tiling, words: None }),
        Err(error) => return Err(error.into()),
    };
    let meta = layout.meta.map_or(0, |meta| meta.offset);
    let offsets = layout.legacy.as_ref().map(|legacy| legacy.levels.map(|level| level.offset));
    let offsets = offsets.as_ref().and_then(|offsets| offsets.get(..image.levels as usize)).unwrap_or_default();
    let words = UmdMetadata::new(level, named.device, descriptor, meta, offsets)?.encode(level)?;
    Ok(ExpectedWords { tiling, words: Some(words.as_slice().to_vec()) })
}
