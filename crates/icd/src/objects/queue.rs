//! Queues.

use std::sync::Arc;

use amdgpu_winsys::{cs, winsys::Context};

use super::Family;
use crate::border::Failure;

/// A `VkQueue`: a ring, through a context of its `VkDevice`.
#[derive(Debug)]
pub(crate) struct Queue {
    /// Family and index.
    pub(crate) place: (u32, u32),
    /// The library's queue.
    pub(crate) ring: Arc<cs::Queue>,
}

impl Queue {
    /// Opens ring `index` of a family.
    pub(crate) fn new(context: &Arc<Context>, family: Family, place: (u32, u32)) -> Result<Self, Failure> {
        Ok(Self { place, ring: Arc::new(cs::Queue::new(context, family.ip, place.1)?) })
    }
}
