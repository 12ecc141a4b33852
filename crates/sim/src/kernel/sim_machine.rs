//! Simulated machines: devices, and the descriptors that they share.

use std::{
    ffi::{c_int, c_void},
    os::fd::{AsFd as _, BorrowedFd, OwnedFd},
    sync::Arc,
};

use amdgpu_uapi::{Errno, Request};
use nix::poll::PollFlags;

use crate::kernel::{
    client::{self, Client},
    files::{descriptors::SharedObject, file_id::FileId},
    ioctl,
    machine::Machine,
    mm::bo::dma_buf::DmaBuf,
    sync::events::Until,
    uevents::Uevent,
};

/// A simulated machine with any number of GPUs.
///
/// The GPUs of a machine accept each other's dma-bufs, sync files and sync object descriptors. Machines are isolated from each
/// other. [`SimDevice::new`](crate::SimDevice::new) creates a machine with one GPU.
///
/// # Descriptors
///
/// dma-bufs and sync files are descriptors of the host, and behave like the kernel's as far as the host allows: a dma-buf can be
/// mapped and its size queried, a sync file becomes readable, and both can be duplicated and sent to other processes. All other
/// system calls on them must be passed to this type. A layer between a client and the C library (a preloaded shim) calls for each
/// descriptor that is not a DRM node:
///
/// | call of the client | answered by |
/// |---|---|
/// | `ioctl` with type `'b'`, `'>'` or `'W'` | [`ioctl`](Self::ioctl) |
/// | `open` of `/dev/sw_sync` or debugfs's `sync/sw_sync` | [`open_sw_sync`](Self::open_sw_sync) |
/// | `poll` and its kin, on a dma-buf | [`poll`](Self::poll) |
/// | `mmap` of a dma-buf | [`check_map`](Self::check_map), then the C library |
/// | `lseek` on a dma-buf | [`seek`](Self::seek) |
///
/// A descriptor is recognized by its device and inode number (`fstat`), so it may have any number and come from any process.
#[derive(Clone, Debug, Default)]
pub struct SimMachine {
    machine: Arc<Machine>,
}

impl SimMachine {
    /// Creates a machine without GPUs.
    pub fn new() -> Self {
        Self::default()
    }

    pub(crate) fn of(machine: &Arc<Machine>) -> Self {
        Self { machine: Arc::clone(machine) }
    }

    pub(crate) const fn machine(&self) -> &Arc<Machine> {
        &self.machine
    }

    /// Returns `true` if the descriptor is a dma-buf, sync file, shared sync object or sw_sync file of this machine.
    ///
    /// # Errors
    ///
    /// EBADF if the descriptor is not open.
    pub fn knows(&self, fd: BorrowedFd<'_>) -> Result<bool, Errno> {
        self.machine
            .descriptors
            .find(fd)
            .map(|found| found.is_some_and(|shared| !matches!(shared, SharedObject::Node(_))))
    }

    /// Performs an ioctl on a dma-buf (DMA_BUF_IOCTL_SYNC, EXPORT_SYNC_FILE, IMPORT_SYNC_FILE, SET_NAME), on a sync file
    /// (SYNC_IOC_MERGE, FILE_INFO, SET_DEADLINE), or on a sw_sync file (SW_SYNC_IOC_CREATE_FENCE, INC, GET_DEADLINE).
    ///
    /// # Errors
    ///
    /// ENOTTY if the descriptor does not support the request or does not belong to this machine; otherwise the errno of Linux 6.12
    /// (`dma_buf_ioctl`, `sync_file_ioctl`, `sw_sync_ioctl`).
    ///
    /// # Safety
    ///
    /// The requirements of [`Kernel::ioctl`](amdgpu_uapi::Kernel::ioctl): `argument` is the request's argument (for SET_NAME the
    /// NUL-terminated name itself), and the addresses in it are valid for the accesses of the request.
    pub unsafe fn ioctl(&self, fd: BorrowedFd<'_>, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        self.serve_descriptor(fd, request, argument.expose_provenance() as u64).map(|()| 0)
    }

    /// Performs an ioctl of another process on a descriptor; `fd` is a copy of it. The argument is at `address` in the client's
    /// memory.
    ///
    /// # Errors
    ///
    /// The errors of [`ioctl`](Self::ioctl); EINTR if the client was interrupted in a wait.
    pub fn serve(
        &self,
        client: Arc<dyn Client>,
        fd: BorrowedFd<'_>,
        request: Request,
        address: u64,
    ) -> Result<c_int, Errno> {
        let _serving = client::enter(client);
        let result = self.serve_descriptor(fd, request, address);
        if client::was_interrupted() { Err(Errno::EINTR) } else { result.map(|()| 0) }
    }

    /// Opens sw_sync, on behalf of `process`: creates a timeline for tests, whose counter user space advances.
    ///
    /// When the last copy of the descriptor is closed, fences that are not yet signalled end with ENOENT.
    ///
    /// Source: Linux 6.12 `drivers/dma-buf/sw_sync.c`, `sw_sync_debugfs_open`.
    ///
    /// # Errors
    ///
    /// ENFILE if 1024 timelines are open; EMFILE or EAGAIN if the host has no free descriptor or thread.
    pub fn open_sw_sync(&self, process: &str) -> Result<OwnedFd, Errno> {
        let (fd, timeline) = self.machine.timelines.open(process, &self.machine.events)?;
        self.machine.descriptors.add_timeline(FileId::of(&fd)?, timeline);
        Ok(fd)
    }

    /// Returns the contents of a file of the cgroup controller `dmem`, such as `dmem.current`, in the group with a path such as
    /// `/games`. There are groups wherever somebody looks; the root is `/`.
    ///
    /// ```
    /// use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::of_kernel(KernelRelease::V7_2));
    /// let machine = gpu.machine();
    /// machine.write_cgroup("/browser", "dmem.max", "drm/0000:03:00.0/vram 2G")?;
    /// assert_eq!(machine.read_cgroup("/browser", "dmem.max")?, "drm/0000:03:00.0/vram 2147483648\n");
    /// gpu.open().join_cgroup("/browser");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// ENOENT if the group has no such file, because of its name, its place or the kernel's release.
    pub fn read_cgroup(&self, path: &str, file: &str) -> Result<String, Errno> {
        self.machine.regions.read(path, file)
    }

    /// Writes a file of the cgroup controller `dmem`: the name of a region, a space, and a number of bytes or `max`.
    ///
    /// # Errors
    ///
    /// As for [`read_cgroup`](Self::read_cgroup); EACCES for a file that cannot be written, EINVAL for an unknown region or a value that
    /// is none.
    pub fn write_cgroup(&self, path: &str, file: &str, text: &str) -> Result<(), Errno> {
        self.machine.regions.write(path, file, text)
    }

    /// Returns the events that the kernel has sent about the machine's devices (uevents) after the one with this number, the oldest
    /// first; with 0 from the start. The last 256 are kept. They tell of resets, from Linux 6.15 on.
    ///
    /// ```
    /// use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile};
    /// use amdgpu_uapi::WedgedEvent;
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::of_kernel(KernelRelease::V7_2));
    /// gpu.reset();
    /// let events = gpu.machine().uevents_after(0);
    /// let event = WedgedEvent::parse(&events[0].message).ok_or("another event")?;
    /// assert!(event.is_recovered() && event.is_of("0000:03:00.0"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn uevents_after(&self, number: u64) -> Vec<Uevent> {
        self.machine.uevents.after(number)
    }

    fn serve_descriptor(&self, fd: BorrowedFd<'_>, request: Request, address: u64) -> Result<(), Errno> {
        self.machine.timelines.close_what_is_over();
        match self.machine.descriptors.find(fd)? {
            Some(SharedObject::DmaBuf(dma_buf)) => {
                ioctl::sync::dma_buf::serve(&self.machine, &dma_buf, request, address)
            }
            Some(SharedObject::SyncFile(sync_file)) => {
                ioctl::sync::sync_file::serve(&self.machine, &sync_file, request, address)
            }
            Some(SharedObject::Timeline(timeline)) => {
                ioctl::sync::sw_sync::serve(&self.machine, &timeline, request, address)
            }
            Some(SharedObject::Syncobj(_) | SharedObject::Node(_)) | None => Err(Errno::ENOTTY),
        }
    }

    fn dma_buf(&self, fd: BorrowedFd<'_>) -> Result<Arc<DmaBuf>, Errno> {
        match self.machine.descriptors.find(fd)? {
            Some(SharedObject::DmaBuf(dma_buf)) => Ok(dma_buf),
            _ => Err(Errno::EINVAL),
        }
    }

    /// Polls a dma-buf: POLLIN once no job writes the BO, POLLOUT once no job uses it. Waits until one of the wanted events occurs,
    /// or until the timeout in nanoseconds has passed; `None` waits without limit.
    ///
    /// # Errors
    ///
    /// EBADF if the descriptor is not open, EINVAL if it is not a dma-buf of this machine.
    pub fn poll(&self, fd: BorrowedFd<'_>, wanted: PollFlags, timeout_ns: Option<u64>) -> Result<PollFlags, Errno> {
        let dma_buf = self.dma_buf(fd)?;
        let wanted = wanted & (PollFlags::POLLIN | PollFlags::POLLOUT);
        let ready = || Some(dma_buf.ready() & wanted).filter(|ready| !ready.is_empty());
        Ok(self.machine.events.wait(Until::after(timeout_ns), ready).unwrap_or(PollFlags::empty()))
    }

    /// Checks that `len` bytes of a dma-buf from `offset` may be mapped. The C library performs the mapping, and fails with EACCES
    /// if the dma-buf was exported without write access.
    ///
    /// # Errors
    ///
    /// EINVAL outside the BO, EPERM for a BO without CPU access; EBADF and EINVAL as for [`poll`](Self::poll).
    pub fn check_map(&self, fd: BorrowedFd<'_>, offset: u64, len: u64) -> Result<(), Errno> {
        self.dma_buf(fd)?.check_map(offset, len)
    }

    /// Performs lseek on a dma-buf: to 0, or to the end, which is the BO's size in bytes.
    ///
    /// # Errors
    ///
    /// EINVAL for all other positions; EBADF and EINVAL as for [`poll`](Self::poll).
    pub fn seek(&self, fd: BorrowedFd<'_>, offset: i64, whence: c_int) -> Result<u64, Errno> {
        self.dma_buf(fd)?.seek(offset, whence)
    }

    /// Returns the name that was set by DMA_BUF_SET_NAME; empty if none was set.
    ///
    /// # Errors
    ///
    /// The errors of [`poll`](Self::poll).
    pub fn dma_buf_name(&self, fd: BorrowedFd<'_>) -> Result<Vec<u8>, Errno> {
        self.dma_buf(fd.as_fd()).map(|dma_buf| dma_buf.name())
    }
}
