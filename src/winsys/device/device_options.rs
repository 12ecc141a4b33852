//! Options of a device.

use crate::winsys::Observer;

/// Options of [`Device::with_options`](crate::winsys::Device::with_options). The default is no observer, and to unbind memory before
/// its handle is closed.
///
/// ```
/// use amdgpu_winsys::{
///     heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions},
///     winsys::{Device, DeviceOptions},
/// };
///
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let options = DeviceOptions { unbind_by_closing: true, ..DeviceOptions::default() };
/// let device = Device::with_options(kernel, options)?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// drop(manager.allocate(&AllocateInfo::new(upload, 4096))?); // one request to the kernel
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
#[must_use]
pub struct DeviceOptions {
    /// Receives the events of the device's objects.
    pub observer: Option<Box<dyn Observer>>,
    /// Releases memory without unbinding it first: closing the only handle of a BO also removes its bindings from the page tables
    /// (Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_object_close`). An allocation and its release then take three requests instead of four.
    ///
    /// Otherwise memory is unbound before its handle is closed, as RADV does. That is also done if the device has an observer, or the
    /// BO has other handles, a name, or was exported or imported. With this option, nobody may open a second handle of a BO in the
    /// device's file past the library (GEM_FLINK and GEM_OPEN), because the bindings would then remain.
    pub unbind_by_closing: bool,
}

impl std::fmt::Debug for DeviceOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { observer, unbind_by_closing } = self;
        f.debug_struct("DeviceOptions")
            .field("is_observed", &observer.is_some())
            .field("unbind_by_closing", unbind_by_closing)
            .finish()
    }
}
