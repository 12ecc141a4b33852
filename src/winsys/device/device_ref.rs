//! References that objects hold to keep their device alive.

use std::{array, fmt, ops::Deref, sync::Arc};

use crate::{
    host_memory::{ArcRoom, NoHostMemory},
    winsys::Device,
};
use crate::vamgr::shard::{CachePadded, SHARDS, own_shard};

/// A reference to a device.
///
/// Every BO has one. If it were a plain reference count of the device, all threads that allocate would contend for it. Code
/// that creates many BOs therefore keeps [`DeviceRefs`] and clones its references, so that each thread changes a count in a
/// cache line of its own.
#[derive(Clone)]
pub(crate) struct DeviceRef(Arc<CachePadded<Device>>);

impl DeviceRef {
    pub(crate) fn new(device: &Device) -> Result<Self, NoHostMemory> {
        Ok(Self(ArcRoom::new()?.fill(CachePadded(device.clone()))))
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

/// References to a device for code that creates many BOs: see [`DeviceRefs::create_bound`]. They keep the device alive.
///
/// ```
/// use amdgpu_winsys::winsys::{Device, DeviceRefs};
///
/// let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let shares = DeviceRefs::new(&device);
/// drop(device); // the device stays open
/// # drop(shares);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct DeviceRefs([DeviceRef; SHARDS]);

impl DeviceRefs {
    /// Creates references to `device`.
    pub fn new(device: &Device) -> Self {
        Self(array::from_fn(|_| DeviceRef(Arc::new(CachePadded(device.clone())))))
    }

    /// Returns the reference to clone for an object that the calling thread creates.
    #[inline]
    pub(crate) fn share(&self) -> &DeviceRef {
        // PANIC: the shard number is below the length of the array.
        &self.0[own_shard()]
    }
}

/// Drops the references to the device that [released](DeviceRefs::release) bindings left for reuse. They are kept in the device's
/// own address manager, so the device would otherwise never be closed. No binding is being released here, because that takes a
/// reference to a `DeviceRefs`.
impl Drop for DeviceRefs {
    fn drop(&mut self) {
        self.share().addresses().drop_spare();
    }
}
