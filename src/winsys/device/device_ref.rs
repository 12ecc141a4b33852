//! References that keep a device alive for as long as its objects.

use std::{array, fmt, ops::Deref, sync::Arc};

use crate::{
    host_memory::{ArcRoom, NoHostMemory},
    winsys::Device,
};
use amdgpu_sharding::{STRIPES, Striped, stripe};

/// A share in a device.
///
/// Every BO has one. If that were a reference count of the device, all threads that allocate would contend for it; so code that
/// makes many BOs keeps [`DeviceRefs`] and gives out shares of those, and each thread counts up and down on lines of its
/// own.
#[derive(Clone)]
pub(crate) struct DeviceRef(Arc<Striped<Device>>);

impl DeviceRef {
    pub(crate) fn new(device: &Device) -> Result<Self, NoHostMemory> {
        Ok(Self(ArcRoom::new()?.fill(Striped(device.clone()))))
    }
}

impl Deref for DeviceRef {
    type Target = Device;

    #[inline]
    fn deref(&self) -> &Device {
        &self.0.0
    }
}

impl fmt::Debug for DeviceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

/// Shares in a device for code that makes many BOs, see [`DeviceRefs::create_bound`]. They keep the device alive.
///
/// ```
/// use amdgpu_winsys::winsys::{Device, DeviceRefs};
///
/// let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let shares = DeviceRefs::new(&device);
/// drop(device); // and goes on
/// # drop(shares);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DeviceRefs([DeviceRef; STRIPES]);

impl DeviceRefs {
    /// Creates shares in a device.
    pub fn new(device: &Device) -> Self {
        Self(array::from_fn(|_| DeviceRef(Arc::new(Striped(device.clone())))))
    }

    /// A share for what the calling thread makes.
    #[inline]
    pub(crate) fn share(&self) -> DeviceRef {
        // PANIC: a stripe is below the length.
        self.0[stripe()].clone()
    }
}
