//! What can happen to a GPU at any time: a reset, VRAM that is lost, an unplug.

use std::sync::atomic::Ordering;

use super::{Gpu, SimDevice};

impl SimDevice {
    /// Resets the GPU as by hand, through the kernel's `amdgpu_gpu_recover` file: every job that has started ends with
    /// ECANCELED, and nobody is guilty.
    ///
    /// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_gpu_recover`.
    pub fn reset(&self) {
        self.gpu.reset_all(false);
    }

    /// Resets the GPU and loses VRAM, as most discrete cards do: besides what [`SimDevice::reset`] does, the counter of
    /// losses goes up, and contexts made before run nothing any more. What is in VRAM is undefined afterwards; here it
    /// stays as it was.
    pub fn reset_and_lose_vram(&self) {
        self.gpu.reset_all(true);
    }

    /// Pulls the GPU out for good: from now on every request and mmap of its files is ENODEV, and every job ends with
    /// ECANCELED. Mappings and descriptors stay.
    ///
    /// Source: Linux 6.12 `amdgpu_drv.c`, `amdgpu_pci_remove`; `drm_ioctl.c`, `drm_ioctl`.
    pub fn unplug(&self) {
        self.gpu.unplug();
    }
}

impl Gpu {
    /// A full reset that no job is the cause of.
    fn reset_all(&self, loses_vram: bool) {
        let rings = self.rings.lock();
        self.losses.fetch_add(loses_vram.into(), Ordering::AcqRel);
        self.reset(rings.values());
        drop(rings);
        self.events.ring();
    }

    fn unplug(&self) {
        self.unplugged.store(true, Ordering::Release);
        self.rings.lock().values().for_each(|ring| ring.cancel_running());
        self.events.ring();
    }

    /// Whether the GPU is gone, which every request asks first.
    pub(crate) fn is_unplugged(&self) -> bool {
        self.unplugged.load(Ordering::Acquire)
    }
}
