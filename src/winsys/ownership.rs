//! Ownership of kernel handles that the caller created.

/// The ownership of a handle that the caller created with its own requests on the device's open file.
///
/// A driver that moves to this library object by object has handles that it created itself, through the
/// [descriptor](crate::winsys::Device::as_fd) of the same open file. Handles of other files are not valid here; objects are
/// shared between files as descriptors, see [`Bo::import`](crate::winsys::Bo::import) and
/// [`Syncobj::import`](crate::winsys::Syncobj::import).
///
/// ```
/// use amdgpu_winsys::winsys::{Deadline, HandleOwnership, Syncobj};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let own = Syncobj::new(&device, true)?;
/// let borrowed = Syncobj::from_handle(&device, own.handle(), HandleOwnership::Borrowed);
/// drop(borrowed); // `Owned` would have closed the handle
/// assert!(own.wait(Deadline::POLL)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandleOwnership {
    /// The library closes the handle with the last clone of its object; the caller must not.
    Owned,
    /// The caller closes the handle, after the last clone of the object is dropped.
    Borrowed,
}
