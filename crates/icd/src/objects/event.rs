//! Events.

use std::sync::Arc;

use amdgpu_winsys::{
    cs::commands::{EVENT_RESET, EVENT_SET},
    vamgr::GpuVa,
};

use super::{Gpu, Memory};
use crate::border::Failure;

/// The size of an event's memory in bytes: a page, the minimum that the kernel allocates.
const BYTES: u64 = 4096;

/// A `VkEvent`: a dword that CPU and GPU can access.
#[derive(Debug)]
pub(crate) struct Event(Memory);

impl Event {
    /// Creates an event that is not set.
    ///
    /// # Errors
    ///
    /// The errors of the allocation.
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, Failure> {
        let event = Self(Memory::polled(gpu, BYTES)?);
        event.set(false)?;
        Ok(event)
    }

    /// Returns the memory of the event.
    #[cfg(test)]
    pub(crate) fn memory(&self) -> &Memory {
        &self.0
    }

    /// Returns the GPU address of the event.
    pub(crate) fn address(&self) -> GpuVa {
        self.0.address()
    }

    /// Returns `true` if the event is set.
    ///
    /// # Errors
    ///
    /// The errors of mapping the memory.
    pub(crate) fn is_set(&self) -> Result<bool, Failure> {
        Ok(self.0.map()?.load_u32(0)? == EVENT_SET)
    }

    /// Sets or resets the event.
    ///
    /// # Errors
    ///
    /// The errors of mapping the memory.
    pub(crate) fn set(&self, is_set: bool) -> Result<(), Failure> {
        let value = if is_set { EVENT_SET } else { EVENT_RESET };
        Ok(self.0.map()?.store_u32(0, value)?)
    }
}
