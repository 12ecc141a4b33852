//! The record of a device.

use std::{
    ffi::{CStr, CString, c_char, c_int},
    os::fd::{AsRawFd as _, FromRawFd as _, IntoRawFd as _, OwnedFd},
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{
            AtomicI32, AtomicPtr, AtomicUsize,
            Ordering::{AcqRel, Relaxed},
        },
    },
};

use amdgpu_winsys::winsys::Errno;

use super::{GpuInfo, facts::DevInfoAnswer, faults::Faults, node::NodeName, table::Table};
use crate::{
    border::{Answer, Failure, Handle},
    kernel::{Lent, Trace},
    va::{Bounds, Manager},
};

/// A device. Its first fields are where libdrm has them, because libdrm's own tests read them through its private header; what
/// clients write there changes nothing but the count.
#[repr(C)]
pub(crate) struct Device {
    /// The number of `amdgpu_device_initialize` calls that were not taken back.
    references: AtomicI32,
    /// The next device in the list of the process.
    pub(super) next: AtomicPtr<Device>,
    /// The descriptor; -1 after the last `amdgpu_device_deinitialize`.
    fd: AtomicI32,
    /// The descriptor for names of BOs: the same one, or one of an authenticated client on a primary node.
    names_fd: AtomicI32,
    major: u32,
    minor: u32,
    marketing_name: AtomicPtr<c_char>,
    unused: [u64; 9],
    pub(crate) dev_info: DevInfoAnswer,
    pub(crate) info: GpuInfo,
    pub(crate) addresses: Manager,
    pub(crate) table: Table,
    /// Contexts and BO lists that were not freed, for the report of leaks.
    pub(crate) contexts: AtomicUsize,
    pub(crate) lists: AtomicUsize,
    name: CString,
    pub(super) node: NodeName,
    trace: Option<Trace>,
    /// The mapped ranges, if faults are to be reported.
    pub(crate) faults: Option<Faults>,
}

const _: () = {
    assert!(std::mem::offset_of!(Device, fd) == 16);
    assert!(std::mem::offset_of!(Device, major) == 24);
    assert!(std::mem::offset_of!(Device, marketing_name) == 32);
    assert!(std::mem::offset_of!(Device, dev_info) == 112);
    assert!(std::mem::offset_of!(Device, info) == 560);
};

/// The facts of a descriptor that initialisation found.
pub(crate) struct Opened {
    pub(crate) fd: OwnedFd,
    pub(crate) major: u32,
    pub(crate) minor: u32,
    pub(crate) dev_info: DevInfoAnswer,
    pub(crate) info: GpuInfo,
    pub(crate) bounds: Bounds,
    pub(crate) name: CString,
    pub(crate) node: NodeName,
    pub(crate) trace: Option<Trace>,
}

impl Device {
    /// Makes the record, with one reference.
    pub(super) fn new(opened: Opened) -> Arc<Self> {
        let Opened { fd, major, minor, dev_info, info, bounds, name, node, trace } = opened;
        let marketing_name = AtomicPtr::new(name.as_ptr().cast_mut());
        let fd = fd.into_raw_fd();
        Arc::new(Self {
            references: AtomicI32::new(1),
            next: AtomicPtr::default(),
            fd: AtomicI32::new(fd),
            names_fd: AtomicI32::new(fd),
            major,
            minor,
            marketing_name,
            unused: [0; 9],
            dev_info,
            info,
            addresses: Manager::new(&bounds),
            table: Table::default(),
            contexts: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
            name,
            node,
            trace,
            faults: Faults::from_environment(),
        })
    }

    /// Borrows the descriptor for a call; ENODEV after the last `amdgpu_device_deinitialize`.
    #[inline]
    pub(crate) fn kernel(&self) -> Result<Lent<'_>, Errno> {
        Lent::new(self.fd.load(Relaxed), self.trace.as_ref()).map_err(|_| Errno::ENODEV)
    }

    /// Borrows the descriptor for names of BOs.
    pub(crate) fn names(&self) -> Result<Lent<'_>, Errno> {
        Lent::new(self.names_fd.load(Relaxed), self.trace.as_ref()).map_err(|_| Errno::ENODEV)
    }

    /// Borrows a descriptor that the caller passed.
    pub(crate) fn foreign(&self, fd: c_int) -> Result<Lent<'_>, Errno> {
        Lent::new(fd, self.trace.as_ref())
    }

    /// Returns `true` if names of BOs go through another file.
    pub(crate) fn names_are_elsewhere(&self) -> bool {
        self.names_fd.load(Relaxed) != self.fd.load(Relaxed)
    }

    /// Uses a duplicate of another descriptor for names of BOs, and closes the one before it.
    pub(super) fn set_names(&self, fd: OwnedFd) {
        let old = self.names_fd.swap(fd.into_raw_fd(), AcqRel);
        if old != self.fd.load(Relaxed) {
            close(old);
        }
    }

    pub(crate) fn fd(&self) -> c_int {
        self.fd.load(Relaxed)
    }

    pub(crate) fn version(&self) -> (u32, u32) {
        (self.major, self.minor)
    }

    pub(super) fn title(&self) -> &CStr {
        &self.name
    }

    pub(super) fn reference(&self) {
        self.references.fetch_add(1, AcqRel);
    }

    /// Takes a reference back. Returns `true` if it was the last.
    pub(super) fn unreference(&self) -> bool {
        self.references.fetch_sub(1, AcqRel) == 1
    }

    /// Closes the descriptors. What was made of the device may live on, and makes no more requests.
    pub(super) fn close(&self) {
        let (fd, names) = (self.fd.swap(-1, AcqRel), self.names_fd.swap(-1, AcqRel));
        if names != fd {
            close(names);
        }
        close(fd);
    }
}

/// Closes a descriptor of the device's. The client may have closed it already, which is no reason to end the process.
fn close(fd: c_int) {
    if fd >= 0 {
        // SAFETY: a number that the device owned and has forgotten.
        unsafe { libc::close(fd) };
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        close(std::mem::replace(self.fd.get_mut(), -1));
    }
}

/// A reference to a device that an object of it holds: the device's own address, which libdrm's objects have there too. It keeps the
/// record, not the descriptor.
#[repr(transparent)]
pub(crate) struct Count(NonNull<Device>);

// SAFETY: like the `Arc` that it stands for; a device is shared between threads.
unsafe impl Send for Count {}
// SAFETY: as above.
unsafe impl Sync for Count {}

impl Count {
    /// Counts a device up that a caller passed.
    pub(crate) fn of(device: Handle<Device>) -> Answer<Self> {
        let pointer = NonNull::new(device.pointer()).ok_or(Failure::INVALID)?;
        // SAFETY: every device is in an `Arc`, whose pointer is the handle; the caller holds a reference, which one count stands for.
        unsafe { Arc::increment_strong_count(pointer.as_ptr().cast_const()) };
        Ok(Self(pointer))
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        // SAFETY: the count that `of` made.
        unsafe { Arc::decrement_strong_count(self.0.as_ptr().cast_const()) };
    }
}

impl std::ops::Deref for Count {
    type Target = Device;

    fn deref(&self) -> &Device {
        // SAFETY: the device lives at least as long as the count.
        unsafe { self.0.as_ref() }
    }
}

/// Duplicates a descriptor, to be closed on exec.
pub(super) fn duplicate(fd: c_int) -> Result<OwnedFd, Errno> {
    // SAFETY: a number; if it is no descriptor, the kernel says so.
    let copy = Errno::result(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 0) })?;
    // SAFETY: the kernel made it just now for this call.
    let copy = unsafe { OwnedFd::from_raw_fd(copy) };
    debug_assert_ne!(copy.as_raw_fd(), fd);
    Ok(copy)
}
