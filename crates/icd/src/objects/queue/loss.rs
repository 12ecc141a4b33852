//! The loss of a device.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use ash::vk;

use crate::border::Failure;

/// The loss of a device by a submission that its command had answered with success, and that could not be made later.
///
/// Its signals never come, so the program is told by `VK_ERROR_DEVICE_LOST`: every command of the device that may answer so does,
/// and those that wait do in finite time.
///
/// Source: Vulkan 1.3 specification, sections "Lost Device" and "Queue Submission" (`vkQueueSubmit`, where a failed submission
/// leaves semaphores, fences and resources as they were, or the device is lost).
#[derive(Clone, Debug, Default)]
pub(crate) struct Loss(Arc<AtomicBool>);

impl Loss {
    /// Declares the device lost, for good.
    pub(super) fn declare(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// Asks if the device was lost.
    ///
    /// # Errors
    ///
    /// `VK_ERROR_DEVICE_LOST`.
    pub(super) fn check(&self) -> Result<(), Failure> {
        if self.0.load(Ordering::Acquire) { Err(Failure(vk::Result::ERROR_DEVICE_LOST)) } else { Ok(()) }
    }
}
