//! A device that several threads use at once.

use super::Gpu;

/// A device for threads that each make their own buffers, pools and fences of it.
pub(crate) struct SharedGpu<'g>(&'g Gpu);

// SAFETY: Vulkan lets threads call functions of one device at once, as long as no two use an object that is to be synchronised
// externally. Such are queues, for which `Gpu::turn` is held, and what is made of the device: that borrows the `Gpu`, which is not
// `Sync`, and so never leaves the thread that made it. The rest of a `Gpu` is read only.
unsafe impl Sync for SharedGpu<'_> {}

impl<'g> SharedGpu<'g> {
    /// Shares a device.
    pub(crate) const fn new(gpu: &'g Gpu) -> Self {
        Self(gpu)
    }

    /// The device, for the calling thread.
    pub(crate) const fn gpu(&self) -> &Gpu {
        self.0
    }
}
