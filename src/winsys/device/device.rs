//! The device: a GPU through one open file.

use std::{os::fd::BorrowedFd, path::Path, sync::Arc};

use parking_lot::Mutex;

use super::{
    claim::Claim,
    device_options::DeviceOptions,
    query::{info, info_bytes, read_registers, version},
};
use crate::{
    host_memory::unique,
    uapi::{GpuvmFault, MemoryInfo, query},
    vamgr::{GpuVa, VaLease, VaManager, shard::CachePadded},
    winsys::{
        BoHistory, Error, Event, GpuInfo, Kernel, Observer, OpenError, OpenFile, PageFault, PageTableChanges,
        RenderNode, Result, UsageTracker, VaMap, bo::SharedHandles, watch::observer::notify,
    },
};

/// A GPU, used through one open file.
///
/// Handles, GPU addresses and contexts belong to the file: objects are not shared between devices, even on the same node.
/// No two devices of a process may use the same open file: the second one is refused. Every object made from a device keeps
/// it alive. A `Device` is a reference-counted handle: its clones are the same device and compare equal.
///
/// # After a fork
///
/// The child has copies of the device and its objects, but the open file is the same one: handles, GPU addresses and
/// contexts are the parent's. Only one of the two processes may continue to use them. The other one must not drop any,
/// because that closes them in the file, for both processes; it calls `exec` or `_exit`, which leave the file unchanged. To
/// use a GPU, it opens a device of its own, which can import inherited dma-bufs.
///
/// The kernel refuses a handle that the other process closed, like any unknown one. This is harmless until the kernel gives
/// the number to another object.
///
/// # Examples
///
/// ```
/// use amdgpu_winsys::winsys::Device;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // On a Radeon: Device::open("/dev/dri/renderD128")?
/// let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::new(kernel)?;
/// let elsewhere = device.clone();
/// assert_eq!(device, elsewhere);
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Device(
    /// The inner reference is to the state that all handles of the device share. The outer one counts the clones of this handle, in
    /// a cache line of its own: see [`Device::separate_handle`].
    triomphe::Arc<CachePadded<Arc<OpenDevice>>>,
);

/// The state that all handles of a device share.
struct OpenDevice {
    /// Dropped before the kernel, which owns the file.
    _claim: Claim,
    kernel: Box<dyn Kernel>,
    info: GpuInfo,
    addresses: VaManager,
    shared_handles: SharedHandles,
    tracker: UsageTracker,
    /// Leases whose addresses the kernel refused to unmap, kept until the file is closed.
    leaked: Mutex<Vec<VaLease>>,
    observer: Option<Box<dyn Observer>>,
    /// See [`DeviceOptions::unbind_by_closing`].
    unbinds_by_closing: bool,
    /// The number of users of a reserved VMID. The kernel keeps one reservation for each file and does not count.
    vmid_users: Mutex<usize>,
    page_table_changes: PageTableChanges,
    /// `true` if a context exists whose id is also the value of an unwritten answer.
    has_ambiguous_context: Mutex<bool>,
}

impl std::fmt::Debug for Device {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Device").field("chip", &self.info().chip_name()).finish_non_exhaustive()
    }
}

/// Two handles are equal if they refer to the same device.
impl PartialEq for Device {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0.0, &other.0.0)
    }
}

impl Eq for Device {}

impl Device {
    /// Opens a render node such as `/dev/dri/renderD128` and queries the GPU.
    ///
    /// # Errors
    ///
    /// [`Error::Open`] if the node cannot be opened; the errors of [`Device::new`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let node =
            RenderNode::open(path).map_err(|errno| Error::Open(OpenError::Node { path: path.to_owned(), errno }))?;
        Self::new(node)
    }

    /// Creates a device from a kernel (a render node, the simulator, or a wrapper of either) and queries the GPU.
    ///
    /// # Errors
    ///
    /// * [`OpenError::FileInUse`] if a device of this process, or an object of one, uses the kernel's open file;
    /// * [`OpenError::FilesNotCompared`] if it cannot be determined whether two descriptors refer to the same file;
    /// * [`OpenError::Addresses`] if the kernel reports impossible address ranges;
    /// * the errors of [`GpuInfo::query`].
    pub fn new(kernel: impl Kernel + 'static) -> Result<Self> {
        Self::with_options(kernel, DeviceOptions::default())
    }

    /// Creates a device like [`Device::new`], with an observer that receives the events of the device's objects.
    ///
    /// ```
    /// use amdgpu_winsys::winsys::{VaMap, BoHistory, Device, Observer};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
    /// let (map, history) = (VaMap::new(64), BoHistory::new(64));
    /// let observers: Vec<Box<dyn Observer>> = vec![Box::new(map.clone()), Box::new(history)];
    /// let device = Device::with_observer(kernel, observers)?;
    /// assert_eq!(device.va_map(), Some(&map));
    /// # Ok(()) }
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`Device::new`].
    pub fn with_observer(kernel: impl Kernel + 'static, observer: impl Observer + 'static) -> Result<Self> {
        let observer: Option<Box<dyn Observer>> = Some(Box::new(observer));
        Self::with_options(kernel, DeviceOptions { observer, ..DeviceOptions::default() })
    }

    /// Creates a device like [`Device::new`], with options.
    ///
    /// # Errors
    ///
    /// The errors of [`Device::new`].
    pub fn with_options(kernel: impl Kernel + 'static, options: DeviceOptions) -> Result<Self> {
        let DeviceOptions { observer, unbind_by_closing: unbinds_by_closing } = options;
        let span = tracing::debug_span!("bring-up").entered();
        let claim = Claim::new(kernel.open_file())?;
        let info = GpuInfo::query(&kernel)?;
        tracing::info!(chip = info.chip_name(), driver = ?info.driver, "opened");
        let addresses = VaManager::with_replay_windows(&info.address_limits()).map_err(OpenError::Addresses)?;
        let tracker = UsageTracker::new(info.memory.gart_page.into());
        let device = Self(triomphe::Arc::new(CachePadded(Arc::new(OpenDevice {
            _claim: claim,
            kernel: Box::new(kernel),
            info,
            addresses,
            shared_handles: SharedHandles::default(),
            tracker,
            leaked: Mutex::default(),
            observer,
            unbinds_by_closing,
            vmid_users: Mutex::new(0),
            page_table_changes: PageTableChanges::default(),
            has_ambiguous_context: Mutex::new(false),
        }))));
        // The span ends after the device has an owner, because a subscriber of traces may panic.
        drop(span);
        Ok(device)
    }

    /// Returns another handle of the same device, with a reference count of its own.
    ///
    /// Every object holds a clone of the handle that it was created with, so threads that create and drop many objects contend for
    /// the reference count if they use clones of one handle. With a separate handle for each, they do not.
    ///
    /// # Errors
    ///
    /// [`Error::HostMemory`] if host memory is exhausted.
    ///
    /// ```
    /// use amdgpu_winsys::winsys::Device;
    ///
    /// let device = Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
    /// let worker = device.separate_handle()?;
    /// assert_eq!(device, worker);
    /// drop(device); // `worker` keeps it open
    /// worker.ping()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn separate_handle(&self) -> Result<Self> {
        let handle = unique(CachePadded(Arc::clone(&self.0.0))).map_err(|error| error.of("a handle of a device"))?;
        Ok(Self(handle.shareable()))
    }

    #[inline]
    fn state(&self) -> &OpenDevice {
        &self.0.0
    }

    /// Returns the properties of the GPU.
    pub fn info(&self) -> &GpuInfo {
        &self.state().info
    }

    /// Returns the kernel that the device makes its requests to.
    ///
    /// Safe code can send it queries and waits ([`uapi::send`](crate::uapi::send), [`Harmless`](crate::uapi::Harmless)). All other
    /// requests are `unsafe`, because they may reach the objects of this library, whose memory it lends to safe code; the contract
    /// is that of [`Kernel::ioctl`].
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{uapi::{self, GetCap, cap}, winsys::Device};
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let mut question = GetCap { capability: cap::SYNCOBJ_TIMELINE, value: 0 };
    /// uapi::send(device.kernel(), &mut question)?;
    /// assert_eq!(question.value, 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// ```compile_fail,E0277
    /// # use amdgpu_sim::{SimKernel, profile};
    /// # use amdgpu_winsys::{uapi::{self, GemClose}, winsys::Device};
    /// # let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// uapi::send(device.kernel(), &mut GemClose { handle: 1, pad: 0 })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn kernel(&self) -> &dyn Kernel {
        &*self.state().kernel
    }

    /// Returns the descriptor of the device's open file; `None` for a kernel inside the process, such as the simulator.
    ///
    /// A caller may use it for requests that this library does not make, such as mode setting on a primary node, or for its
    /// own objects ([`Bo::from_handle`](crate::winsys::Bo::from_handle)). Handles, contexts and addresses that the library
    /// made belong to it: a caller that closes or unmaps them breaks the guarantees of the device's [`Kernel`].
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::winsys::Device;
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// assert!(device.as_fd().is_none(), "a simulated file is no descriptor");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn as_fd(&self) -> Option<BorrowedFd<'_>> {
        match self.state().kernel.open_file() {
            OpenFile::Descriptor(fd) => Some(fd),
            _ => None,
        }
    }

    /// Reads `values.len()` consecutive registers, starting at dword offset `first`. The kernel permits only registers that describe
    /// the configuration of the chip, at most 128 for each request.
    ///
    /// `instance` selects the shader engine in bits 7..0 and the shader array in bits 15..8, where 0xff selects all;
    /// [`ALL_INSTANCES`](Self::ALL_INSTANCES) is right for registers that exist once.
    ///
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`, READ_MMR_REG.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] with `EFAULT` or `EINVAL` if the kernel does not permit a register; `values` is then unspecified.
    ///
    /// # Examples
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::winsys::Device;
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let mut gb_addr_config = [0];
    /// device.read_registers(0x263e, &mut gb_addr_config, Device::ALL_INSTANCES)?;
    /// assert_eq!(gb_addr_config[0], device.info().tiling.gb_addr_config);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn read_registers(&self, first: u32, values: &mut [u32], instance: u32) -> Result<()> {
        read_registers(self.kernel(), first, values, instance)
    }

    /// The `instance` of [`Device::read_registers`] that selects every shader engine and array.
    pub const ALL_INSTANCES: u32 = u32::MAX;

    /// Makes the INFO query with number `question`, a constant of [`uapi::query`](crate::uapi::query), and copies the answer into
    /// `answer`. The length of `answer` is passed to the kernel; bytes that the kernel does not write become zero.
    ///
    /// Drivers use this method for properties that [`GpuInfo`] does not have, or if they need the raw answers.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query; `answer` is then unchanged.
    ///
    /// # Examples
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{uapi::query, winsys::Device};
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let mut dev_info = [0; 16];
    /// device.info_raw(query::DEV_INFO, [0; 4], &mut dev_info)?;
    /// assert_eq!(u32::from_ne_bytes(dev_info[..4].try_into()?), 0x73bf);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn info_raw(&self, question: u32, input: [u32; 4], answer: &mut [u8]) -> Result<()> {
        info_bytes(self.kernel(), question, input, answer)
    }

    /// Returns the address of the shared state, which no other device has while this one exists.
    #[inline]
    pub(crate) fn address(&self) -> usize {
        Arc::as_ptr(&self.0.0).addr()
    }

    /// Queries the sizes and the current usage of the memory pools, for all processes together.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn memory_info(&self) -> Result<MemoryInfo> {
        info(self.kernel(), "MEMORY", query::MEMORY, [0; 4])
    }

    /// Returns the GPU clock counter, in ticks of [`GpuInfo::clock_counter_khz`].
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn timestamp(&self) -> Result<u64> {
        info(self.kernel(), "TIMESTAMP", query::TIMESTAMP, [0; 4])
    }

    /// Returns the number of GPU resets so far that lost the contents of VRAM.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn vram_lost_counter(&self) -> Result<u32> {
        info(self.kernel(), "VRAM_LOST_COUNTER", query::VRAM_LOST_COUNTER, [0; 4])
    }

    /// Returns the number of BOs that were evicted from VRAM since the driver was loaded, for all processes together.
    ///
    /// Source: Linux 6.12 `amdgpu_object.c`, `amdgpu_bo_move_notify`, which counts in `num_evictions`.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query.
    pub fn evictions(&self) -> Result<u64> {
        info(self.kernel(), "NUM_EVICTIONS", query::NUM_EVICTIONS, [0; 4])
    }

    /// Returns the last VM fault of this file's address space; `None` if there was none. Needs DRM 3.55.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the query: `EINVAL` before DRM 3.55.
    pub fn page_fault(&self) -> Result<Option<PageFault>> {
        let fault: GpuvmFault = info(self.kernel(), "GPUVM_FAULT", query::GPUVM_FAULT, [0; 4])?;
        Ok((fault != GpuvmFault::ZEROED).then(|| PageFault {
            page: GpuVa::from_48_bits(fault.addr),
            status: fault.status,
            hub: fault.vmhub,
        }))
    }

    /// Queries the driver's version again, as a cheap check that the GPU has not been unplugged.
    ///
    /// # Errors
    ///
    /// [`Error::Kernel`] if the kernel refuses the request, with `ENODEV` once the GPU is unplugged.
    pub fn ping(&self) -> Result<()> {
        version(self.kernel()).map(drop)
    }

    /// Returns the allocator of GPU virtual addresses in the address space of the device's file.
    pub fn addresses(&self) -> &VaManager {
        &self.state().addresses
    }

    /// Returns the usage tracker of the device, which counts the memory of every BO.
    pub fn usage_tracker(&self) -> &UsageTracker {
        &self.state().tracker
    }

    /// Returns the map of the bound addresses; `None` if the device's observer neither is nor contains a [`VaMap`].
    pub fn va_map(&self) -> Option<&VaMap> {
        self.state().observer.as_ref()?.va_map()
    }

    /// Returns the history of the device's BOs; `None` if the device's observer neither is nor contains a [`BoHistory`].
    pub fn history(&self) -> Option<&BoHistory> {
        self.state().observer.as_ref()?.history()
    }

    /// Keeps addresses allocated for the rest of the device's life, because the page tables may still map them.
    #[cold]
    pub(in crate::winsys) fn leak(&self, lease: VaLease) {
        let range = lease.range();
        let mut leaked = self.state().leaked.lock();
        if leaked.try_reserve(1).is_ok() {
            leaked.push(lease);
        } else {
            // Not even the end of the device frees these addresses.
            std::mem::forget(lease);
        }
        drop(leaked);
        let (start, len) = (range.start(), range.len());
        tracing::error!(%start, len, "addresses leaked: the kernel refused to unbind them");
    }

    /// Returns the number of changes of the device's page tables.
    #[inline]
    pub(in crate::winsys) fn page_table_changes(&self) -> &PageTableChanges {
        &self.state().page_table_changes
    }

    /// Reports an event to the observer. Without an observer, `event` is not called.
    #[inline]
    pub(crate) fn notify(&self, event: impl FnOnce() -> Event) {
        notify(self.state().observer.as_deref(), event);
    }

    /// Returns `true` if the device has an observer.
    #[inline]
    pub(crate) fn is_observed(&self) -> bool {
        self.state().observer.is_some()
    }

    /// Returns `true` if closing the only handle of a BO stands for unbinding it, see [`DeviceOptions::unbind_by_closing`].
    #[inline]
    pub(in crate::winsys) fn unbinds_by_closing(&self) -> bool {
        self.state().unbinds_by_closing
    }

    /// Returns `true` if events have a listener: an observer, or possibly a subscriber of traces.
    #[inline]
    pub(crate) fn has_listeners(&self) -> bool {
        self.is_observed() || tracing::level_enabled!(tracing::Level::TRACE)
    }

    pub(in crate::winsys) fn vmid_users(&self) -> &Mutex<usize> {
        &self.state().vmid_users
    }

    pub(in crate::winsys) fn has_ambiguous_context(&self) -> &Mutex<bool> {
        &self.state().has_ambiguous_context
    }

    pub(in crate::winsys) fn shared_handles(&self) -> &SharedHandles {
        &self.state().shared_handles
    }
}
