//! Objects that hold nothing, for there are no shaders that would use them: the face `full` hands them out.

use ash::vk;
use parking_lot::Mutex;

use crate::border::{Failure, Handed};

/// Declares objects that hold nothing.
macro_rules! empty {
    ($($Object:ident),*) => {$(
        #[doc = concat!("A `Vk", stringify!($Object), "`, which holds nothing.")]
        #[derive(Debug)]
        pub(crate) struct $Object;
    )*};
}

empty!(
    BufferView,
    DescriptorSet,
    DescriptorSetLayout,
    DescriptorUpdateTemplate,
    Framebuffer,
    ImageView,
    PipelineCache,
    PipelineLayout,
    RenderPass,
    Sampler,
    SamplerYcbcrConversion,
    ShaderModule
);

/// A `VkDescriptorPool`: sets that hold nothing, as many as it was made for.
#[derive(Debug)]
pub(crate) struct DescriptorPool {
    most: usize,
    sets: Mutex<Vec<Handed<DescriptorSet>>>,
}

impl DescriptorPool {
    /// Makes a pool of at most `most` sets.
    pub(crate) fn new(most: u32) -> Self {
        Self { most: usize::try_from(most).unwrap_or(usize::MAX), sets: Mutex::default() }
    }

    /// Makes a set.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_OUT_OF_POOL_MEMORY` where the pool has as many as it was made for.
    pub(crate) fn allocate(&self) -> Result<vk::DescriptorSet, Failure> {
        let mut sets = self.sets.lock();
        if sets.len() >= self.most {
            return Err(Failure(vk::Result::ERROR_OUT_OF_POOL_MEMORY));
        }
        let set = Handed::new(DescriptorSet);
        let handle = set.handle();
        sets.push(set);
        Ok(handle)
    }

    /// Frees sets; null handles, and those of other pools, are ignored.
    pub(crate) fn free(&self, handles: &[vk::DescriptorSet]) {
        self.sets.lock().retain(|set| !handles.contains(&set.handle()));
    }

    /// Frees every set.
    pub(crate) fn reset(&self) {
        self.sets.lock().clear();
    }
}
