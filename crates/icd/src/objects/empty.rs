//! Empty objects of the face `full`. They have no contents, because there are no shaders that could use them.

use ash::vk;
use parking_lot::Mutex;

use crate::border::{Failure, Handed};

/// Declares empty objects.
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

/// A `VkDescriptorPool` of empty sets, with a maximum number of sets.
#[derive(Debug)]
pub(crate) struct DescriptorPool {
    most: usize,
    sets: Mutex<Vec<Handed<DescriptorSet>>>,
}

impl DescriptorPool {
    /// Creates a pool of at most `most` sets.
    pub(crate) fn new(most: u32) -> Self {
        Self { most: usize::try_from(most).unwrap_or(usize::MAX), sets: Mutex::default() }
    }

    /// Allocates a set.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_OUT_OF_POOL_MEMORY` if the pool has its maximum number of sets.
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

    /// Frees sets. Null handles and handles of other pools are ignored.
    pub(crate) fn free(&self, handles: &[vk::DescriptorSet]) {
        self.sets.lock().retain(|set| !handles.contains(&set.handle()));
    }

    /// Frees all sets of the pool.
    pub(crate) fn reset(&self) {
        self.sets.lock().clear();
    }
}
