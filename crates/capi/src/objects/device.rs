//! Devices.

use std::{
    ffi::{CString, c_char},
    os::fd::{AsRawFd, BorrowedFd, OwnedFd},
    path::Path,
    ptr::NonNull,
    sync::{Arc, atomic::AtomicBool},
};

use amdgpu_winsys::vamgr::shard::{SHARDS, own_shard};
use amdgpu_winsys::winsys::{
    BoHistory, Device, DeviceOptions, Errno, Error, HandleOwnership, Kernel, KernelError, Observer, OpenError,
    RenderNode, VaMap, VmidReservation,
};

use crate::border::{
    AGW_ERROR_INCOMPATIBLE_DRIVER, AGW_ERROR_INITIALIZATION_FAILED, AGW_ERROR_UNKNOWN, Answer, Failure, Handle, Out,
    Versioned, create, entry, get, read, reference, release, text, touch, value, within,
};

/// Records the bindings and the history of BOs for `agw_device_dump`.
pub const AGW_DEVICE_OBSERVE: u32 = 1 << 0;
/// Reserves a VMID, so that all jobs of the device run on it.
pub const AGW_DEVICE_RESERVE_VMID: u32 = 1 << 1;
/// A BO without other handles is unbound by closing it, which saves a request to the kernel; nothing else opens handles of its BOs in
/// the file. Has no effect together with `AGW_DEVICE_OBSERVE`.
pub const AGW_DEVICE_UNBIND_BY_CLOSING: u32 = 1 << 2;

/// Number of freed ranges and past events that an observed device records.
const REMEMBERED: usize = 4096;
/// Maximum number of dwords that a poisoned stream accepts in one chunk: 4 MiB of addresses, which occupy memory only when
/// written.
pub(crate) const SINK_DWORDS: usize = 1 << 20;

/// A GPU, accessed through one open file.
pub struct agw_device {
    _private: [u8; 0],
}

/// Options of a device. All zeros select the defaults, and so does a null pointer to the structure.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct agw_device_options {
    /// `sizeof(struct agw_device_options)`.
    pub struct_size: u32,
    /// Reserved, zero.
    pub reserved: u32,
    /// `AGW_DEVICE_*`.
    pub flags: u32,
    /// Reserved, zero.
    pub pad: u32,
}

// SAFETY: all fields are integers, and the first two are the size and zero.
unsafe impl Versioned for agw_device_options {
    const NAME: &'static str = "struct agw_device_options";

    fn unused(&self) -> u32 {
        self.reserved | self.pad
    }
}

/// The state of a device, which every object of the device keeps alive.
pub(crate) struct DeviceState {
    pub(crate) device: Device,
    /// A handle of the device for each shard of threads, so that threads that create BOs do not contend for a reference count.
    handles: Vec<Device>,
    pub(crate) name: CString,
    poisoned: AtomicBool,
    _vmid: Option<VmidReservation>,
    sink: Sink,
}

impl DeviceState {
    /// Records that the current call works on the device.
    #[inline]
    pub(crate) fn touch(&self) -> Answer {
        touch(&self.poisoned)
    }

    /// Returns the handle of the device for objects that the calling thread creates.
    #[inline]
    pub(super) fn own_handle(&self) -> &Device {
        self.handles.get(own_shard()).unwrap_or(&self.device)
    }

    /// Returns memory for commands that are discarded: [`SINK_DWORDS`] dwords.
    pub(crate) fn sink(&self) -> *mut u32 {
        self.sink.0.as_ptr()
    }
}

/// A reference to a device's state that an object needs only to [`touch`](DeviceState::touch) it. The object has other
/// references to the device. In a build in which a panic ends the process, devices are not marked, so this contains no
/// reference.
pub(crate) struct DeviceMark {
    #[cfg(panic = "unwind")]
    state: Arc<DeviceState>,
}

impl From<&Arc<DeviceState>> for DeviceMark {
    #[cfg(panic = "unwind")]
    fn from(state: &Arc<DeviceState>) -> Self {
        Self { state: Arc::clone(state) }
    }

    #[cfg(not(panic = "unwind"))]
    fn from(_state: &Arc<DeviceState>) -> Self {
        Self {}
    }
}

impl DeviceMark {
    /// Records that the current call works on the device, see [`DeviceState::touch`].
    #[cfg(panic = "unwind")]
    #[inline]
    pub(crate) fn touch(&self) -> Answer {
        self.state.touch()
    }

    #[cfg(not(panic = "unwind"))]
    #[inline]
    #[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "as where there is something to look at")]
    pub(crate) fn touch(&self) -> Answer {
        Ok(())
    }
}

/// Memory that can be written and is never read. The poisoned streams of all threads share it.
struct Sink(NonNull<u32>);

// SAFETY: addresses of a mapping that belongs to no thread; no Rust code reads or writes there.
unsafe impl Send for Sink {}
// SAFETY: as above.
unsafe impl Sync for Sink {}

impl Sink {
    const BYTES: usize = SINK_DWORDS * size_of::<u32>();

    fn new() -> Answer<Self> {
        let (rights, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE);
        // SAFETY: an anonymous mapping at addresses that the kernel picks.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), Self::BYTES, rights, flags, -1, 0) };
        let refused = || Failure::from(Error::Kernel(KernelError::new("mmap", Errno::last())));
        if start == libc::MAP_FAILED {
            return Err(refused());
        }
        NonNull::new(start.cast()).map(Self).ok_or_else(refused)
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`; streams, which may write there, keep the device and therefore this alive.
        let _ = unsafe { libc::munmap(self.0.as_ptr().cast(), Self::BYTES) };
    }
}

impl Handle for agw_device {
    type Head = ();
    type Body = Arc<DeviceState>;
    const NAME: &'static str = "agw_device";
}

/// Returns the state behind a handle, and records that the current call works on the device.
///
/// # Safety
///
/// The requirements of `shell`.
pub(crate) unsafe fn device<'a>(handle: *const agw_device) -> Answer<&'a Arc<DeviceState>> {
    // SAFETY: the caller's promise.
    let state = unsafe { get(handle, "device") }?;
    state.touch()?;
    Ok(state)
}

/// Creates a device on a kernel, such as a simulator in a test or a wrapper around a render node.
///
/// # Errors
///
/// The errors of [`Device::new`], as a result number; the text is the last error of the calling thread.
pub fn device_of_kernel(kernel: impl Kernel + 'static) -> Result<*mut agw_device, i32> {
    let mut device = std::ptr::null_mut();
    let result = entry(|| {
        device = open(kernel, 0)?;
        Ok(())
    });
    if device.is_null() { Err(result) } else { Ok(device) }
}

fn open(kernel: impl Kernel + 'static, flags: u32) -> Answer<*mut agw_device> {
    if flags & !(AGW_DEVICE_OBSERVE | AGW_DEVICE_RESERVE_VMID | AGW_DEVICE_UNBIND_BY_CLOSING) != 0 {
        return Err(Failure::argument("flags", "has unknown bits"));
    }
    let observer = (flags & AGW_DEVICE_OBSERVE != 0).then(|| -> Box<dyn Observer> {
        let observers: Vec<Box<dyn Observer>> =
            vec![Box::new(VaMap::new(REMEMBERED)), Box::new(BoHistory::new(REMEMBERED))];
        Box::new(observers)
    });
    let options = DeviceOptions { observer, unbind_by_closing: flags & AGW_DEVICE_UNBIND_BY_CLOSING != 0 };
    let device = Device::with_options(kernel, options).map_err(not_opened)?;
    let vmid = if flags & AGW_DEVICE_RESERVE_VMID == 0 { None } else { Some(VmidReservation::new(&device)?) };
    let name = CString::new(device.info().marketing_name.as_str()).unwrap_or_default();
    let sink = Sink::new()?;
    let handles = (0..SHARDS).map(|_| device.separate_handle()).collect::<Result<_, _>>()?;
    let state = DeviceState { device, handles, name, poisoned: AtomicBool::new(false), _vmid: vmid, sink };
    create((), Arc::new(state))
}

/// Creates the failure of a device that cannot be opened.
fn not_opened(error: Error) -> Failure {
    // VERSION is the first request. Files of other kinds than DRM nodes do not know it: pipes and regular files return ENOTTY,
    // some others EINVAL.
    let is_no_node = matches!(error, Error::Kernel(KernelError { request: "VERSION", errno, .. }) if [Errno::ENOTTY, Errno::EINVAL].contains(&errno));
    let failure = Failure::from(error);
    match failure.code() {
        _ if is_no_node => failure.with_hint("the file is no DRM node").with_code(AGW_ERROR_INCOMPATIBLE_DRIVER),
        AGW_ERROR_UNKNOWN => failure.with_code(AGW_ERROR_INITIALIZATION_FAILED),
        _ => failure,
    }
}

/// # Safety
///
/// `options` is null, or meets the requirements of [`read`].
unsafe fn flags_of(options: *const agw_device_options) -> Answer<u32> {
    if options.is_null() {
        return Ok(0);
    }
    // SAFETY: the caller's promise.
    unsafe { read(options) }.map(|options| options.flags)
}

/// Opens a device on a duplicate of a descriptor of a render node. The caller keeps the descriptor, and both share the open
/// file. Returns `AGW_ERROR_INITIALIZATION_FAILED` if another device of the process uses the open file.
///
/// # Safety
///
/// `options` is null or a structure of its `struct_size`; `device` is null or valid for writing.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_open_fd(
    fd: i32,
    options: *const agw_device_options,
    device: *mut *mut agw_device,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let device = unsafe { Out::new(device, "device") }?;
        // SAFETY: the caller's promise.
        let flags = unsafe { flags_of(options) }?;
        let copy = duplicate(fd)?;
        let opened = open(RenderNode::from_fd(copy), flags)?;
        device.put(opened);
        Ok(())
    })
}

/// Opens a render node, such as `/dev/dri/renderD128`.
///
/// # Safety
///
/// `path` is null or a string; `options` and `device` are as for `agw_device_open_fd`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_open(
    path: *const c_char,
    options: *const agw_device_options,
    device: *mut *mut agw_device,
) -> i32 {
    entry(|| {
        // SAFETY: the caller's promise.
        let device = unsafe { Out::new(device, "device") }?;
        // SAFETY: the caller's promise.
        let flags = unsafe { flags_of(options) }?;
        // SAFETY: the caller's promise.
        let path = Path::new(unsafe { text(path, "path") }?);
        let node =
            RenderNode::open(path).map_err(|errno| Error::Open(OpenError::Node { path: path.to_owned(), errno }))?;
        let opened = open(node, flags)?;
        device.put(opened);
        Ok(())
    })
}

/// Duplicates a caller's descriptor. The duplicate is closed on exec.
pub(crate) fn duplicate(fd: i32) -> Answer<OwnedFd> {
    if fd < 0 {
        return Err(Failure::argument("fd", "is negative"));
    }
    // SAFETY: the caller of the C function lends an open descriptor for the duration of the call. If it is not open,
    // duplicating it fails, and it is not closed.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    let refused = |error: std::io::Error| {
        Error::Kernel(KernelError::of_descriptor(
            "F_DUPFD_CLOEXEC",
            fd.as_raw_fd(),
            Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)),
        ))
    };
    Ok(fd.try_clone_to_owned().map_err(refused)?)
}

/// Returns the ownership of a handle that the caller created.
pub(super) fn ownership(is_owned: bool) -> HandleOwnership {
    if is_owned { HandleOwnership::Owned } else { HandleOwnership::Borrowed }
}

/// Adds a reference to a device, and returns it.
///
/// # Safety
///
/// `device` is null or a device that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_ref(device: *mut agw_device) -> *mut agw_device {
    // SAFETY: the caller's promise.
    unsafe { within(|| reference(device, "device")) }
}

/// Removes a reference to a device. The device stays open until its objects are freed too.
///
/// # Safety
///
/// `device` is null or a device that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_unref(device: *mut agw_device) {
    // SAFETY: the caller's promise.
    unsafe { within(|| release(device, "device")) };
}

/// Returns the descriptor of the device, which the device owns; -1 if it has none.
///
/// # Safety
///
/// `device` is null or a device that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_fd(device: *const agw_device) -> i32 {
    // SAFETY: the caller's promise.
    value(-1, || Ok(unsafe { get(device, "device") }?.device.as_fd().map_or(-1, |fd| fd.as_raw_fd())))
}

/// Returns `true` if a descriptor refers to the same node as a device. A driver can use it to look up a device in a table, as
/// `radv_amdgpu_winsys_create` in Mesa 25.0.7 does: all open files of a node share a device there.
///
/// # Safety
///
/// `device` is null or a device that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_is_of_node(device: *const agw_device, fd: i32) -> bool {
    // SAFETY: the caller's promise.
    let own = unsafe { agw_device_fd(device) };
    let node = |fd: i32| {
        if fd < 0 {
            return None;
        }
        // SAFETY: lent for the duration of the call, as in `duplicate`.
        let status = nix::sys::stat::fstat(unsafe { BorrowedFd::borrow_raw(fd) }).ok()?;
        Some((status.st_rdev, status.st_dev, status.st_ino))
    };
    let (own, other) = (node(own), node(fd));
    own.is_some() && own == other
}

/// Returns the name of the GPU, which is valid as long as the device.
///
/// # Safety
///
/// `device` is null or a device that was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn agw_device_name(device: *const agw_device) -> *const c_char {
    // SAFETY: the caller's promise.
    value(std::ptr::null(), || Ok(unsafe { get(device, "device") }?.name.as_ptr()))
}
