//! Ownership of the kernel's numbers that come from outside.

/// Ownership of a handle that the caller made with requests of its own on the device's open file.
///
/// A driver that moves to this library object by object has handles that it made itself, on the
/// [descriptor](crate::winsys::Device::as_fd) of the same open file. Handles of another file mean nothing here: those travel as
/// descriptors, see [`Bo::import`](crate::winsys::Bo::import) and [`Syncobj::import`](crate::winsys::Syncobj::import).
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
    /// The library closes the handle with the last clone of its object. The caller gives it up.
    Owned,
    /// The caller closes the handle, and not before the last clone of the object is gone.
    Borrowed,
}
