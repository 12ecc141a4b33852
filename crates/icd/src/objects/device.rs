//! Devices.

use std::sync::Arc;

use super::{Gpu, Queue};
use crate::border::Handed;

/// A `VkDevice`: contexts and queues on the open file of its physical device.
#[derive(Debug)]
pub(crate) struct Device {
    /// The GPU.
    pub(crate) gpu: Arc<Gpu>,
    /// The queues that were asked for at its creation.
    pub(crate) queues: Vec<Handed<Queue>>,
    /// Extensions that were enabled.
    pub(crate) extensions: Vec<&'static str>,
}

impl Device {
    /// Returns a queue by family and index.
    pub(crate) fn queue(&self, family: u32, index: u32) -> Option<&Handed<Queue>> {
        self.queues.iter().find(|queue| queue.place == (family, index))
    }
}
