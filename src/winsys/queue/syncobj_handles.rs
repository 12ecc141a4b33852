//! Sync objects from existing handles, swaps of two sync objects, and exports of single points.

use std::os::fd::OwnedFd;

use super::syncobj::Syncobj;
use crate::{
    uapi::Errno,
    winsys::{Device, HandleOwnership, Result},
};

/// The first DRM minor version of kernels whose descriptors of sync objects have points. Linux 6.16 added both.
const POINTS_MINOR: i32 = 64;

impl Syncobj {
    /// Wraps a sync object handle that the caller created with its own requests on the device's open file. Makes no
    /// request: if the file has no such handle, its first use fails with `ENOENT`.
    ///
    /// Unlike [`Bo::from_handle`](crate::winsys::Bo::from_handle) this is safe. A sync object gives access to no memory,
    /// and the library never frees memory because a sync object has signalled. With a wrong handle, a wait ends too early
    /// or too late.
    ///
    /// # Examples
    ///
    /// ```
    /// use amdgpu_winsys::winsys::{Device, HandleOwnership, Syncobj};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
    /// let device = Device::new(kernel)?;
    /// let made_elsewhere = Syncobj::new(&device, true)?;
    /// let borrowed = Syncobj::from_handle(&device, made_elsewhere.handle(), HandleOwnership::Borrowed);
    /// borrowed.reset()?;
    /// drop(borrowed); // does not close the handle
    /// made_elsewhere.signal()?;
    /// # Ok(()) }
    /// ```
    pub fn from_handle(device: &Device, handle: u32, ownership: HandleOwnership) -> Self {
        Self::of_handle(device, handle, ownership)
    }

    /// Swaps the kernel objects behind two handles, for drivers that move payloads between semaphores. Existing clones and
    /// submissions keep the original object.
    ///
    /// ```
    /// use amdgpu_winsys::winsys::{Deadline, Device, Syncobj};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
    /// let device = Device::new(kernel)?;
    /// let (mut signalled, mut other) = (Syncobj::new(&device, true)?, Syncobj::new(&device, false)?);
    /// signalled.swap(&mut other)?;
    /// assert!(other.wait(Deadline::POLL)? && !signalled.wait(Deadline::POLL)?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::ForeignDevice`](crate::winsys::Error::ForeignDevice) if the sync objects belong to different devices; they
    /// are then unchanged.
    pub fn swap(&mut self, other: &mut Self) -> Result<()> {
        self.same_device(other)?;
        std::mem::swap(self, other);
        Ok(())
    }

    /// Creates a sync file of a point of the timeline; point 0 is the binary state.
    ///
    /// Request: SYNCOBJ_HANDLE_TO_FD with EXPORT_SYNC_FILE and TIMELINE. Kernels before Linux 6.16 have no points there: the point is
    /// copied to a temporary binary sync object first, with SYNCOBJ_CREATE, SYNCOBJ_TRANSFER and SYNCOBJ_DESTROY.
    ///
    /// ```
    /// use amdgpu_winsys::winsys::{Deadline, Device, Syncobj};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
    /// let device = Device::new(kernel)?;
    /// let (timeline, binary) = (Syncobj::new(&device, false)?, Syncobj::new(&device, false)?);
    /// timeline.signal_point(5)?;
    /// binary.import_sync_file(timeline.export_sync_file_at(5)?)?;
    /// assert!(binary.wait(Deadline::POLL)?);
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`](crate::winsys::Error::Kernel) if the kernel refuses a request: `EINVAL` if no work was submitted for
    /// the point yet.
    pub fn export_sync_file_at(&self, point: u64) -> Result<OwnedFd> {
        if point == 0 {
            return self.export_sync_file();
        }
        if self.device().info().driver.minor >= POINTS_MINOR {
            match self.export_point(point) {
                // The kernel has no points there after all, or no work was submitted, which the other way tells apart.
                Err(error) if error.errno() == Some(Errno::EINVAL) => {}
                exported => return exported,
            }
        }
        let binary = Self::new(self.device(), false)?;
        binary.transfer(0, self, point)?;
        binary.export_sync_file()
    }
}
