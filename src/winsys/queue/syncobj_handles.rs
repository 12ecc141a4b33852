//! Sync objects that come with a handle, change places, or leave point by point.

use std::os::fd::OwnedFd;

use super::syncobj::Syncobj;
use crate::winsys::{Device, HandleOwnership, Result};

impl Syncobj {
    /// Takes a sync object's handle of the device's open file that the caller made with requests of its own. Nothing is asked: a
    /// number that the file has not is refused where it is first used, with `ENOENT`.
    ///
    /// Unlike [`Bo::from_handle`](crate::winsys::Bo::from_handle) it is safe, because a sync object gives access to no memory,
    /// and the library lets go of nothing because one has signalled: with a wrong number a wait ends too early or too late.
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
    /// drop(borrowed); // closes nothing
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
    /// [`Error::ForeignDevice`](crate::winsys::Error::ForeignDevice); nothing has changed then.
    pub fn swap(&mut self, other: &mut Self) -> Result<()> {
        self.same_device(other)?;
        std::mem::swap(self, other);
        Ok(())
    }

    /// Returns a sync file of a point of the timeline, by way of a sync object that lives for this call only; 0 is the binary
    /// state.
    ///
    /// Requests: SYNCOBJ_CREATE, SYNCOBJ_TRANSFER, SYNCOBJ_HANDLE_TO_FD with EXPORT_SYNC_FILE, SYNCOBJ_DESTROY.
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
    /// [`Error::Ioctl`](crate::winsys::Error::Ioctl), with `EINVAL` when nothing was submitted for the point yet.
    pub fn export_sync_file_at(&self, point: u64) -> Result<OwnedFd> {
        if point == 0 {
            return self.export_sync_file();
        }
        let binary = Self::new(self.device(), false)?;
        binary.transfer(0, self, point)?;
        binary.export_sync_file()
    }
}
