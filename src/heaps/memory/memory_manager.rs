//! The memory manager: allocates device memory from the tables, the accounts and the addresses of one device.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
    time::Duration,
};

use super::import;
use crate::{
    heaps::{
        AdmissionPolicy, AllocateInfo, AllocationPlan, BudgetRule, Budgets, DeviceMemory, EffectivePool,
        ExternalHandleTypes, HostMemory, ImportInfo, MemoryError, MemoryFacts, MemoryProperties, ResidencyPolicy,
        SystemUsage, TableOptions, TypeMask, UsageReading, UsageTracker, WorkingSet,
        budget::{
            admission::Admission,
            budget_monitor::{BudgetMonitor, Heaps},
        },
        dump,
        suballocation::Clock,
    },
    uapi::GemCreateFlags,
    winsys::{Binding, Bo, Device, DeviceRefs, MoveCounters, ResidencySet, UserMemory, VaMap},
};

/// An allocator of device memory of one device, which keeps account of it.
///
/// ```
/// use amdgpu_winsys::{heaps::{AllocateInfo, MemoryManager, MemoryUsage, TableOptions}, winsys::Device};
///
/// # let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?);
/// let device = Device::new(kernel)?; // or Device::open("/dev/dri/renderD128")
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let upload = manager.properties().type_for(MemoryUsage::Upload).ok_or("no such type")?;
/// let memory = manager.allocate(&AllocateInfo::new(upload, 1 << 20))?;
/// memory.map()?.write(0, b"hello")?;
/// assert_eq!((memory.size(), manager.usage_tracker().usage().gtt), (1 << 20, 1 << 20));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A `MemoryManager` is a handle: a clone of it is the same manager, and equal to it. The
/// [admission policy](MemoryManager::with_admission) and the [budget interval](MemoryManager::with_budget_interval) belong to
/// a handle and to the clones of it that are made later.
#[derive(Clone, Debug)]
pub struct MemoryManager {
    state: Arc<ManagerState>,
    monitor: Arc<BudgetMonitor>,
    admission: Arc<Admission>,
}

/// The state that all handles of a manager share.
#[derive(Debug)]
struct ManagerState {
    device: Device,
    /// For what it allocates.
    shares: DeviceRefs,
    properties: MemoryProperties,
    residents: ResidencySet,
    policy: MemoryPolicy,
}

/// Two handles are equal if they are of the same manager.
impl PartialEq for MemoryManager {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }
}

impl Eq for MemoryManager {}

/// Policy of a manager. The default is RADV's.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, MemoryManager, MemoryPolicy, TableOptions};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// let policy = MemoryPolicy { guard_gaps: true, ..MemoryPolicy::default() };
/// let manager = MemoryManager::with_policy(&device, &TableOptions::default(), policy)?;
/// let (first, second) = (manager.allocate(&AllocateInfo::new(0, 4096))?, manager.allocate(&AllocateInfo::new(0, 4096))?);
/// let gap = second.address().as_u64() - (first.address().as_u64() + first.size());
/// assert!(gap >= 64 << 10); // running over the end is a page fault
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPolicy {
    /// Decides which memory submissions need not list.
    pub residency: ResidencyPolicy,
    /// Addresses behind each allocation stay free, so that running over its end is a page fault: four times its alignment
    /// and at least 64 KiB. And addresses that were freed rest until eight more were, where otherwise three suffice; then
    /// they are free for whatever they are the lowest fit of. For debugging.
    ///
    /// Source: Mesa 25.0.7 `amdgpu_bo.c` of radeonsi's winsys, `amdgpu_create_bo`, `check_vm`.
    pub guard_gaps: bool,
}

impl MemoryPolicy {
    const LEAST_GAP: u64 = 64 << 10;

    fn gap(self, alignment: u64) -> u64 {
        if self.guard_gaps { alignment.saturating_mul(4).max(Self::LEAST_GAP) } else { 0 }
    }
}

impl MemoryManager {
    /// Builds the heap and type tables of a device.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Facts`] when the kernel's numbers make no sense together.
    pub fn new(device: &Device, options: &TableOptions) -> Result<Self, MemoryError> {
        Self::with_policy(device, options, MemoryPolicy::default())
    }

    /// Creates a manager with the given policy.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Facts`] when the kernel's numbers make no sense together.
    pub fn with_policy(device: &Device, options: &TableOptions, policy: MemoryPolicy) -> Result<Self, MemoryError> {
        let facts = MemoryFacts::try_from(device.info())?;
        let state = Arc::new(ManagerState {
            device: device.clone(),
            shares: DeviceRefs::new(device),
            properties: MemoryProperties::new(&facts, options),
            residents: ResidencySet::new(),
            policy,
        });
        Ok(Self { state, monitor: Arc::default(), admission: Arc::default() })
    }

    /// Returns the device.
    pub fn device(&self) -> &Device {
        &self.state.device
    }

    /// Returns the heaps and memory types.
    pub fn properties(&self) -> &MemoryProperties {
        &self.state.properties
    }

    /// Returns the accounts of everything that this process holds on the device, including memory that this manager did not
    /// allocate.
    pub fn usage_tracker(&self) -> &UsageTracker {
        self.state.device.usage_tracker()
    }

    /// Returns the budget and usage of every heap, as VK_EXT_memory_budget defines them. One ioctl;
    /// [`MemoryManager::cached_budgets`] mostly makes none.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`].
    pub fn budgets(&self, rule: BudgetRule) -> Result<Budgets, MemoryError> {
        Ok(self.budgets_from(&self.refresh_usage()?.usage, rule))
    }

    /// Allocates device memory: addresses first, then the BO, then the binding. If a step fails, the earlier ones
    /// are undone.
    ///
    /// The addresses are the lowest that are free, or some of this size that the calling thread freed lately: then neither
    /// their number nor that of other threads matters. A program of one thread that repeats what it did in an earlier run has
    /// the same addresses.
    ///
    /// # Errors
    ///
    /// * [`MemoryError::Refused`]: the [admission policy](Self::with_admission) refuses;
    /// * [`MemoryError::Request`]: size 0 or beyond the heap, no such type;
    /// * [`MemoryError::Address`]: no address is free, or the replayed one is not;
    /// * [`MemoryError::CapturedAddress`]: the kernel has something at the replayed one;
    /// * [`MemoryError::Winsys`]: the kernel refuses.
    pub fn allocate(&self, info: &AllocateInfo) -> Result<DeviceMemory, MemoryError> {
        // Changed where it is, because to move all of it right after it was stored takes longer than the storing.
        let mut resolved = self.state.properties.resolve(info);
        let plan = match resolved {
            Ok(ref mut plan) => plan,
            Err(error) => return Err(error.into()),
        };
        if plan.bo.flags.contains(GemCreateFlags::VM_ALWAYS_VALID) {
            self.state.policy.residency.apply(plan, &self.state.properties, self.usage_tracker());
        }
        plan.va_size = plan.va_size.saturating_add(self.state.policy.gap(plan.va_alignment));
        if self.state.device.is_heard() {
            return self.allocate_aloud(plan);
        }
        let _turn = self.admission.admit(self.heaps(), &self.monitor, plan.heap, plan.bo.size)?;
        DeviceMemory::new(self.state.shares.share(), plan, !self.state.policy.guard_gaps)
    }

    /// The same where an observer is told.
    #[cold]
    fn allocate_aloud(&self, plan: &AllocationPlan) -> Result<DeviceMemory, MemoryError> {
        let span = tracing::trace_span!("allocate", size = plan.bo.size, memory_type = plan.memory_type).entered();
        let turn = self.admission.admit(self.heaps(), &self.monitor, plan.heap, plan.bo.size)?;
        let memory = DeviceMemory::new(self.state.shares.share(), plan, !self.state.policy.guard_gaps)?;
        drop(turn);
        memory.announce();
        // Left while the memory has an owner: a subscriber may panic.
        drop(span);
        Ok(memory)
    }

    /// Returns a handle with this policy in force. Other handles of the manager keep theirs.
    ///
    /// ```
    /// use amdgpu_sim::{SimKernel, profile};
    /// use amdgpu_winsys::{heaps::*, winsys::Device};
    ///
    /// let device = Device::new(SimKernel::open(profile("navi21").ok_or("no such chip")?))?;
    /// let manager = MemoryManager::new(&device, &TableOptions::default())?;
    /// let mut policy = AdmissionPolicy { quota: Response::Refuse, ..AdmissionPolicy::default() };
    /// policy.quotas[0] = Some(1 << 20);
    /// let manager = manager.with_admission(policy);
    /// let memory_type = 1; // in heap 0
    /// let first = manager.allocate(&AllocateInfo::new(memory_type, 768 << 10))?;
    /// let error = manager.allocate(&AllocateInfo::new(memory_type, 512 << 10)).unwrap_err();
    /// assert_eq!(error.vk_result(), VkResult::OutOfDeviceMemory);
    /// let MemoryError::Refused(refusal) = error else { return Err(error.into()) };
    /// assert_eq!((refusal.limit, refusal.most, refusal.usage), (Limit::Quota, 1 << 20, 768 << 10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_admission(mut self, policy: AdmissionPolicy) -> Self {
        self.admission = Arc::new(Admission::new(&policy));
        self
    }

    /// Returns the policy in force.
    pub fn admission(&self) -> &AdmissionPolicy {
        self.admission.policy()
    }

    /// Returns a handle that asks the kernel for [`MemoryManager::cached_budgets`] at most once in `interval` by this clock,
    /// and remembers the answers for itself and its clones. It is 100 ms by [`CoarseClock`](crate::heaps::CoarseClock) otherwise.
    #[must_use]
    pub fn with_budget_interval(mut self, clock: impl Clock + 'static, interval: Duration) -> Self {
        self.monitor = Arc::new(BudgetMonitor::new(clock, interval));
        self
    }

    /// Returns the budget and usage of every heap, from the kernel's last answer. If that is older than the
    /// [interval](Self::with_budget_interval), the kernel is asked again. The usage of this process is always current.
    ///
    /// Takes no lock unless it asks the kernel. While one thread asks, others get the previous answer.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] when the kernel was asked and refused.
    pub fn cached_budgets(&self, rule: BudgetRule) -> Result<Budgets, MemoryError> {
        self.monitor.budgets(self.heaps(), rule)
    }

    /// Returns the budget and usage of every heap after an answer of the kernel. No ioctl.
    #[inline]
    pub fn budgets_from(&self, system: &SystemUsage, rule: BudgetRule) -> Budgets {
        self.heaps().budgets(system, rule)
    }

    /// Returns the budget and usage of every heap from the kernel's last answer, however old it is; `None` before the first. No
    /// ioctl, no lock, no clock: for callers that refresh at times of their own, such as once a frame.
    pub fn last_budgets(&self, rule: BudgetRule) -> Option<Budgets> {
        Some(self.budgets_from(&self.monitor.last_usage()?, rule))
    }

    /// Returns the device's memory usage: the cached answer if it is recent enough, or a new one.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] when the kernel was asked and refused.
    pub fn cached_usage(&self) -> Result<UsageReading, MemoryError> {
        self.monitor.usage(self.heaps())
    }

    /// Asks the kernel what is in use, whatever is remembered. One ioctl.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] when the kernel refuses.
    pub fn refresh_usage(&self) -> Result<UsageReading, MemoryError> {
        self.monitor.refresh(self.heaps())
    }

    /// Returns the kernel's moves since the last call, over all processes; nothing the first time. Notifies the observer if
    /// there were any. Two ioctls.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] when the kernel refuses.
    pub fn poll_evictions(&self) -> Result<MoveCounters, MemoryError> {
        self.monitor.poll_evictions(&self.state.device)
    }

    /// Returns the memory that really exists, given the host's. The kernel is asked as rarely as for
    /// [`MemoryManager::cached_budgets`].
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] when the kernel was asked and refused.
    pub fn effective_pool(&self, host: &HostMemory) -> Result<EffectivePool, MemoryError> {
        let system = self.cached_usage()?.usage;
        Ok(EffectivePool::new(self.properties().facts(), &self.usage_tracker().usage(), &system, host))
    }

    /// Checks that the BOs that a submission lists can be resident together with those that are always valid. One ioctl; a
    /// set that passes can still be refused if the kernel pins more meanwhile.
    ///
    /// # Errors
    ///
    /// [`MemoryError::DoesNotFit`]; [`MemoryError::Winsys`] when the kernel does not report the sizes.
    ///
    /// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_parser_bos` (every listed BO is validated for one job), and
    /// `amdgpu_vm.c`, `amdgpu_vm_validate` (so are those that are always valid, once any was evicted).
    pub fn check_working_set(&self, set: &WorkingSet) -> Result<(), MemoryError> {
        set.check(&self.state.device)
    }

    /// Returns the device-wide set: memory that every submission is to list, such as what shaders reach through addresses in
    /// other memory. Pass it in [`Submission::sets`](crate::cs::Submission::sets).
    ///
    /// RADV calls it the global BO list and holds its lock during every submission (Mesa 25.0.7
    /// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`); adding, removing and
    /// submitting do not wait for each other here.
    pub fn residents(&self) -> &ResidencySet {
        &self.state.residents
    }

    /// Adds memory to the device-wide set, if it needs that: what is always valid is resident for every submission of the
    /// file anyway. Returns `true` if it was added; it then stays alive until it was
    /// [removed](ResidencySet::remove) from [`MemoryManager::residents`].
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_make_resident`.
    pub fn make_resident(&self, memory: &Binding) -> bool {
        !memory.bo().flags().contains(GemCreateFlags::VM_ALWAYS_VALID) && self.state.residents.add(memory)
    }

    /// Returns the types that the memory behind a descriptor may be imported as (`vkGetMemoryFdPropertiesKHR`). Nothing is kept.
    ///
    /// # Errors
    ///
    /// [`MemoryError::HandleType`] for anything but a dma-buf: Vulkan defines no query for opaque descriptors.
    /// [`MemoryError::Winsys`] for a descriptor that is no dma-buf.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_GetMemoryFdPropertiesKHR`.
    pub fn fd_types(&self, handle_type: ExternalHandleTypes, fd: impl AsFd) -> Result<TypeMask, MemoryError> {
        if handle_type != ExternalHandleTypes::DMA_BUF {
            return Err(MemoryError::HandleType { handle_type });
        }
        Ok(self.properties().dma_buf_types(&Bo::import(self.device(), fd)?))
    }

    /// Returns the types that memory of the process may be imported as (`vkGetMemoryHostPointerPropertiesEXT`).
    ///
    /// # Errors
    ///
    /// [`MemoryError::HandleType`] for anything but `HOST_ALLOCATION`.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_GetMemoryHostPointerPropertiesEXT`.
    pub fn host_pointer_types(&self, handle_type: ExternalHandleTypes) -> Result<TypeMask, MemoryError> {
        if handle_type != ExternalHandleTypes::HOST_ALLOCATION {
            return Err(MemoryError::HandleType { handle_type });
        }
        Ok(self.properties().host_pointer_types())
    }

    /// Imports a descriptor: a dma-buf, also where Vulkan calls it opaque. On success the descriptor is the memory's, and
    /// closed.
    ///
    /// Size and placement are those the kernel reports, whatever the caller says. The same BO imported twice takes memory
    /// once, but has an address for each.
    ///
    /// # Errors
    ///
    /// The descriptor comes back beside the error, and nothing has changed.
    /// * [`MemoryError::Winsys`]: it is no dma-buf; the kernel refuses.
    /// * [`MemoryError::TooSmall`], [`MemoryError::WrongType`]: it is not what the caller says.
    /// * [`MemoryError::Request`]: no such type. [`MemoryError::Address`]: no address.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd`, and `radv_device_memory.c`,
    /// `radv_alloc_memory`, which closes the descriptor once there is a BO, also if the allocation then fails.
    pub fn import_fd(&self, fd: OwnedFd, info: &ImportInfo) -> Result<DeviceMemory, (OwnedFd, MemoryError)> {
        self.import_fd_if(fd, info, |_| Ok(()))
    }

    /// Imports like [`MemoryManager::import_fd`] if `accept` agrees: a driver that imports an image computes its layout from
    /// the BO's metadata there, before the import is final.
    ///
    /// # Errors
    ///
    /// Those of [`MemoryManager::import_fd`], and those of `accept`.
    pub fn import_fd_if(
        &self,
        fd: OwnedFd,
        info: &ImportInfo,
        accept: impl FnOnce(&Bo) -> Result<(), MemoryError>,
    ) -> Result<DeviceMemory, (OwnedFd, MemoryError)> {
        match import::import_fd(&self.state.device, &self.state.properties, &fd, info, accept) {
            Ok(memory) => Ok(memory),
            Err(error) => Err((fd, error)),
        }
    }

    /// Imports memory of the process (`VkImportMemoryHostPointerInfoEXT`). Address and length are multiples of 4096,
    /// Vulkan's `minImportedHostPointerAlignment`. The mapping is the pointer itself.
    ///
    /// # Errors
    ///
    /// * [`MemoryError::HostPointer`]: misaligned, not there, a file's, or another thing the kernel refuses;
    /// * [`MemoryError::TooSmall`], [`MemoryError::WrongType`]: it is not what the info says;
    /// * [`MemoryError::Request`], [`MemoryError::Address`], [`MemoryError::Winsys`].
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_ptr`.
    ///
    /// # Safety
    ///
    /// As for [`Bo::from_user_memory`], for as long as the memory lives; and the process itself may read and write there,
    /// because the mapping does, also where the GPU only reads.
    pub unsafe fn import_host_pointer(
        &self,
        memory: UserMemory,
        info: &ImportInfo,
    ) -> Result<DeviceMemory, MemoryError> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { import::import_host_pointer(&self.state.device, &self.state.properties, memory, info) }
    }

    /// Returns everything that is known about the device's memory, as one JSON object:
    ///
    /// | key | holds |
    /// |---|---|
    /// | `schema` | [`DUMP_SCHEMA`](crate::heaps::DUMP_SCHEMA) |
    /// | `device` | `chip` and `name` |
    /// | `own`, `always_valid` | what this file holds, and the part that is always valid, by account |
    /// | `system` | what is in use on the device, as the kernel last reported, and `generation`, which answer that was |
    /// | `heaps` | `kind`, `flags`, `size`, `usage`, `budget` as RADV reports it, and `corrected_budget` |
    /// | `types` | `heap`, `flags`, and how many of the BOs below are device memory of the type: `allocations`, `bytes` |
    /// | `windows` | address windows: `start`, `len`, `leases`, `leased`, `free`, `holes`, `largest_hole`, `fragmentation_permille`, and `hole_sizes`, pairs of a power of two and how many holes have that size or up to twice of it |
    /// | `bos` | `handle`, `name`, `size`, `domains`, `memory_type` |
    /// | `bound`, `freed` | `handle`, `name`, `address`, `len`, `offset` in the BO; what is bound now, and what was |
    ///
    /// Sizes are integers in bytes, addresses strings in hexadecimal. BOs and addresses are those that `map` knows,
    /// which must have observed the device since it was opened.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`] when the kernel was asked what is in use, and refused.
    pub fn dump_json(&self, map: &VaMap) -> Result<String, MemoryError> {
        Ok(dump::json(self.heaps(), &self.cached_usage()?, map))
    }

    /// Returns the device memory that `map` knows, in the JSON form of `vmaBuildStatsString` with the detailed map, which the
    /// Vulkan Memory Allocator's visualiser draws. The budgets are those of [`BudgetRule::Radv`].
    ///
    /// # Errors
    ///
    /// Those of [`MemoryManager::dump_json`].
    pub fn dump_vma_json(&self, map: &VaMap) -> Result<String, MemoryError> {
        Ok(dump::vma_json(self.heaps(), &self.cached_budgets(BudgetRule::Radv)?, map))
    }

    /// The heaps, for those who need no more of the manager.
    #[inline]
    fn heaps(&self) -> Heaps<'_> {
        Heaps { device: &self.state.device, properties: &self.state.properties }
    }
}
