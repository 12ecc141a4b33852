//! Events.

use std::sync::Arc;

use amdgpu_winsys::{
    cs::commands::{EVENT_RESET, EVENT_SET},
    vamgr::GpuVa,
};

use super::{Gpu, Memory};
use crate::border::Failure;

/// Bytes of an event's memory: a page, which is the least that the kernel gives.
const BYTES: u64 = 4096;

/// A `VkEvent`: a dword that CPU and GPU see.
#[derive(Debug)]
pub(crate) struct Event(Memory);

impl Event {
    /// Makes an event that is not set.
    ///
    /// # Errors
    ///
    /// Those of the allocation.
    pub(crate) fn new(gpu: &Arc<Gpu>) -> Result<Self, Failure> {
        let event = Self(Memory::internal(gpu, BYTES)?);
        event.set(false)?;
        Ok(event)
    }

    /// Returns its address.
    pub(crate) fn address(&self) -> GpuVa {
        self.0.memory.read().address()
    }

    /// Returns `true` if it is set.
    ///
    /// # Errors
    ///
    /// Those of the mapping.
    pub(crate) fn is_set(&self) -> Result<bool, Failure> {
        Ok(self.0.memory.read().map()?.load_u32(0)? == EVENT_SET)
    }

    /// Sets or resets it.
    ///
    /// # Errors
    ///
    /// Those of the mapping.
    pub(crate) fn set(&self, is_set: bool) -> Result<(), Failure> {
        let value = if is_set { EVENT_SET } else { EVENT_RESET };
        Ok(self.0.memory.read().map()?.store_u32(0, value)?)
    }
}
