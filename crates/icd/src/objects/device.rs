//! Devices.

use std::{collections::BTreeMap, sync::Arc};

use amdgpu_winsys::winsys::Deadline;
use ash::vk;
use parking_lot::Mutex;

use super::{Family, Gpu, Program, Queue, queue::STEP};
use crate::border::{Failure, Handed};

/// A `VkDevice`: contexts and queues on the open file of its physical device.
pub(crate) struct Device {
    /// The GPU.
    pub(crate) gpu: Arc<Gpu>,
    /// Families of the physical device.
    pub(crate) families: Vec<Family>,
    /// The queues that were asked for at its creation.
    pub(crate) queues: Vec<Handed<Queue>>,
    /// Extensions that were enabled.
    pub(crate) extensions: Vec<&'static str>,
    /// `true` if the types of memory that the device does not cache were enabled.
    pub(crate) has_coherent_memory: bool,
    /// The program's requests to the instance.
    pub(crate) program: Arc<Program>,
}

impl Device {
    /// Returns a queue by family and index.
    pub(crate) fn queue(&self, family: u32, index: u32) -> Option<&Handed<Queue>> {
        self.queues.iter().find(|queue| queue.place == (family, index))
    }

    /// Returns a family by its index.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_UNKNOWN` for an index that there is not.
    pub(crate) fn family(&self, index: u32) -> Result<Family, Failure> {
        let family = usize::try_from(index).ok().and_then(|index| self.families.get(index));
        family.copied().ok_or(Failure(vk::Result::ERROR_UNKNOWN))
    }

    /// Asks if work of any queue was lost.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST`.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.queues.iter().try_for_each(|queue| queue.check())
    }

    /// Returns `true` if a fence or semaphore has signalled, and nothing was lost; `wait` waits for that until a deadline.
    ///
    /// The wait is made in steps, and between them the device is asked for a loss: what a submission was to signal that could
    /// not be made never signals.
    ///
    /// # Errors
    ///
    /// Those of `wait`, and `VK_ERROR_DEVICE_LOST`.
    pub(crate) fn wait(
        &self,
        until: Deadline,
        wait: impl Fn(Deadline) -> Result<bool, Failure>,
    ) -> Result<bool, Failure> {
        loop {
            let step = until.min(Deadline::after(STEP));
            if wait(step)? {
                self.check()?;
                return Ok(true);
            }
            self.queues.iter().try_for_each(|queue| queue.check_held().map(|_is_held| ()))?;
            if step == until {
                return Ok(false);
            }
        }
    }
}

/// A `VkPrivateDataSlot`: a number for each object that has one.
#[derive(Debug, Default)]
pub(crate) struct PrivateSlot(pub(crate) Mutex<BTreeMap<(i32, u64), u64>>);
