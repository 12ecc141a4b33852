//! The loss of a device.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use ash::vk;

use crate::border::Failure;

/// The loss of a device because a submission could not be made after its command had returned success.
///
/// The signals of such a submission never occur, so the program gets `VK_ERROR_DEVICE_LOST`: every command of the device that can
/// return this error does so, and commands that wait return in finite time.
///
/// Source: Vulkan 1.3 specification, sections "Lost Device" and "Queue Submission" (`vkQueueSubmit`, where a failed submission
/// leaves semaphores, fences and resources as they were, or the device is lost).
#[derive(Clone, Debug, Default)]
pub(crate) struct Loss(Arc<AtomicBool>);

impl Loss {
    /// Declares the device lost permanently.
    pub(super) fn declare(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Checks that the device is not lost.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST` if it is lost.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.0.load(Ordering::Acquire) { Err(Failure(vk::Result::ERROR_DEVICE_LOST)) } else { Ok(()) }
    }
}
