//! The memory manager, which allocates device memory according to the tables, budgets and address space of one device.

use std::{
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
    time::Duration,
};

use super::import;
use crate::{
    heaps::{
        AdmissionPolicy, AllocateInfo, AllocateMemoryError, AllocationPlan, BudgetRule, Budgets, CreateManagerError,
        DeviceMemory, EffectivePool, ExternalHandleTypes, FdTypesError, HostMemory, ImportFdError,
        ImportHostPointerError, ImportInfo, MemoryFacts, MemoryProperties, ResidencyPolicy, SystemUsage, TableOptions,
        TypeMask, UnsupportedHandleType, UsageReading, UsageTracker, WorkingSet, WorkingSetError,
        budget::{
            admission::Admission,
            budget_monitor::{BudgetMonitor, Heaps},
        },
        suballocation::Clock,
    },
    uapi::GemCreateFlags,
    vamgr::shard::{SHARDS, own_shard},
    winsys::{self, Binding, Bo, Device, MoveCounters, ResidencySet, UserMemory},
};

/// An allocator of the memory of one device, which accounts for every allocation.
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
/// A `MemoryManager` is a handle: a clone of it refers to the same manager and compares equal. The [admission
/// policy](MemoryManager::with_admission) and the [budget interval](MemoryManager::with_budget_interval) belong to a handle and
/// to later clones of that handle.
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
    /// A handle of the device for each shard of threads, so that threads that allocate do not contend for a reference count.
    handles: Vec<Device>,
    properties: MemoryProperties,
    residents: ResidencySet,
    policy: MemoryPolicy,
}

/// Two handles are equal if they refer to the same manager.
impl PartialEq for MemoryManager {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.state, &other.state)
    }
}

impl Eq for MemoryManager {}

/// Options of a [`MemoryManager`]: residency, and gaps for debugging. The defaults match RADV.
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
    /// The policy that decides which memory submissions need not list.
    pub residency: ResidencyPolicy,
    /// For debugging: leaves a gap of addresses after each allocation, so that an access past its end is a VM fault. The gap is
    /// four times the alignment and at least 64 KiB. Freed addresses are also reused only after eight more frees, instead of
    /// three, and then by any allocation for which they are the lowest fit.
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
    /// Creates a manager with the default policy, and builds the tables of heaps and memory types of the device.
    ///
    /// # Errors
    ///
    /// [`CreateManagerError::Facts`] if the kernel's values contradict each other.
    pub fn new(device: &Device, options: &TableOptions) -> Result<Self, CreateManagerError> {
        Self::with_policy(device, options, MemoryPolicy::default())
    }

    /// Creates a manager with the given policy, and builds the tables of heaps and memory types of the device.
    ///
    /// # Errors
    ///
    /// [`CreateManagerError::Facts`] if the kernel's values contradict each other.
    pub fn with_policy(
        device: &Device,
        options: &TableOptions,
        policy: MemoryPolicy,
    ) -> Result<Self, CreateManagerError> {
        let facts = MemoryFacts::try_from(device.info())?;
        let state = Arc::new(ManagerState {
            device: device.clone(),
            handles: (0..SHARDS).map(|_| device.separate_handle()).collect::<Result<_, _>>()?,
            properties: MemoryProperties::new(&facts, options),
            residents: ResidencySet::new(),
            policy,
        });
        Ok(Self { state, monitor: Arc::default(), admission: Arc::default() })
    }

    /// Returns the device whose memory is managed.
    pub fn device(&self) -> &Device {
        &self.state.device
    }

    /// Returns the tables of heaps and memory types.
    pub fn properties(&self) -> &MemoryProperties {
        &self.state.properties
    }

    /// Returns the tracker that counts all memory of this process on the device, including memory that this manager did not
    /// allocate.
    pub fn usage_tracker(&self) -> &UsageTracker {
        self.state.device.usage_tracker()
    }

    /// Returns the budget and usage of every heap, as VK_EXT_memory_budget defines them. Takes one ioctl;
    /// [`MemoryManager::cached_budgets`] usually takes none.
    ///
    /// # Errors
    ///
    /// [`winsys::Error`] if the kernel refuses the query.
    pub fn budgets(&self, rule: BudgetRule) -> winsys::Result<Budgets> {
        Ok(self.budgets_from(&self.refresh_usage()?.usage, rule))
    }

    /// Allocates device memory: leases addresses, creates the BO, and binds it. If a step fails, the earlier steps are undone.
    ///
    /// A lease of the same size that the calling thread freed recently is reused first, at a cost that depends neither on the
    /// number of leases nor on other threads. Otherwise the lowest free addresses are leased. A single-threaded program that
    /// repeats the allocations of an earlier run gets the same addresses.
    ///
    /// # Errors
    ///
    /// * [`AllocateMemoryError::Refused`] if the [admission policy](Self::with_admission) refuses;
    /// * [`AllocateMemoryError::Request`] if the size is 0 or exceeds the heap, or there is no such memory type;
    /// * [`AllocateMemoryError::Address`] if no addresses are free, or the address to replay is not;
    /// * [`AllocateMemoryError::CapturedAddress`] if the kernel cannot bind at the address to replay;
    /// * [`AllocateMemoryError::Bo`] or [`AllocateMemoryError::Bind`] if the kernel refuses, or host memory is exhausted;
    /// * [`AllocateMemoryError::Usage`] if the admission policy has a limit and the kernel does not report the usage.
    pub fn allocate(&self, info: &AllocateInfo) -> Result<DeviceMemory, AllocateMemoryError> {
        let mut plan = self.state.properties.resolve(info)?;
        if plan.bo.flags.contains(GemCreateFlags::VM_ALWAYS_VALID) {
            self.state.policy.residency.apply(&mut plan, &self.state.properties, self.usage_tracker());
        }
        plan.va_size = plan.va_size.saturating_add(self.state.policy.gap(plan.va_alignment));
        if self.state.device.has_listeners() {
            return self.allocate_traced(&plan);
        }
        self.allocate_as(&plan)
    }

    /// Allocates as planned, if the admission policy permits it.
    #[inline]
    fn allocate_as(&self, plan: &AllocationPlan) -> Result<DeviceMemory, AllocateMemoryError> {
        let _turn = self.admission.admit(self.heaps(), &self.monitor, plan.heap, plan.bo.size)?;
        let device = self.state.handles.get(own_shard()).unwrap_or(&self.state.device);
        DeviceMemory::new(device, plan, !self.state.policy.guard_gaps)
    }

    /// Allocates and notifies the observer.
    #[cold]
    fn allocate_traced(&self, plan: &AllocationPlan) -> Result<DeviceMemory, AllocateMemoryError> {
        let span = tracing::trace_span!("allocate", size = plan.bo.size, memory_type = plan.memory_type).entered();
        let memory = self.allocate_as(plan)?;
        memory.announce();
        // Leave the span while the memory has an owner: a subscriber may panic.
        drop(span);
        Ok(memory)
    }

    /// Returns a handle that applies this admission policy. Other handles of the manager keep theirs.
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
    /// let AllocateMemoryError::Refused(refusal) = error else { return Err(error.into()) };
    /// assert_eq!((refusal.limit, refusal.most, refusal.usage), (Limit::Quota, 1 << 20, 768 << 10));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn with_admission(mut self, policy: AdmissionPolicy) -> Self {
        self.admission = Arc::new(Admission::new(&policy));
        self
    }

    /// Returns the admission policy of this handle.
    pub fn admission(&self) -> &AdmissionPolicy {
        self.admission.policy()
    }

    /// Returns a handle whose [`MemoryManager::cached_budgets`] queries the kernel at most once per `interval` of `clock`. The
    /// handle shares the cached answers with its clones. The default is 100 ms of [`CoarseClock`](crate::heaps::CoarseClock).
    #[must_use]
    pub fn with_budget_interval(mut self, clock: impl Clock + 'static, interval: Duration) -> Self {
        self.monitor = Arc::new(BudgetMonitor::new(clock, interval));
        self
    }

    /// Returns the budget and usage of every heap, from the kernel's last answer. If that is older than the
    /// [interval](Self::with_budget_interval), the kernel is queried again. The usage of this process is always current.
    ///
    /// Takes no lock unless it queries the kernel. While one thread queries, other threads get the previous answer.
    ///
    /// # Errors
    ///
    /// [`winsys::Error`] if a new query was necessary and the kernel refused it.
    pub fn cached_budgets(&self, rule: BudgetRule) -> winsys::Result<Budgets> {
        self.monitor.budgets(self.heaps(), rule)
    }

    /// Computes the budget and usage of every heap from a usage of the device that was queried earlier. Takes no ioctl.
    #[inline]
    pub fn budgets_from(&self, system: &SystemUsage, rule: BudgetRule) -> Budgets {
        self.heaps().budgets(system, rule)
    }

    /// Returns the budget and usage of every heap from the kernel's last answer, regardless of its age; `None` before the first.
    /// Makes no ioctl, takes no lock and reads no clock. For callers that [refresh](Self::refresh_usage) at times of their own
    /// choice, for example once a frame.
    pub fn last_budgets(&self, rule: BudgetRule) -> Option<Budgets> {
        Some(self.budgets_from(&self.monitor.last_usage()?, rule))
    }

    /// Returns the device's memory usage: the cached answer if it is recent enough, otherwise a new one.
    ///
    /// # Errors
    ///
    /// [`winsys::Error`] if a new query was necessary and the kernel refused it.
    pub fn cached_usage(&self) -> winsys::Result<UsageReading> {
        self.monitor.usage(self.heaps())
    }

    /// Queries the device's memory usage from the kernel, regardless of the cached answer. Takes one ioctl.
    ///
    /// # Errors
    ///
    /// [`winsys::Error`] if the kernel refuses the query.
    pub fn refresh_usage(&self) -> winsys::Result<UsageReading> {
        self.monitor.refresh(self.heaps())
    }

    /// Returns the number of moves by the kernel since the last call, over all processes; zeros on the first call. Notifies the
    /// observer if there were any. Takes two ioctls.
    ///
    /// # Errors
    ///
    /// [`winsys::Error`] if the kernel refuses a query.
    pub fn poll_evictions(&self) -> winsys::Result<MoveCounters> {
        self.monitor.poll_evictions(&self.state.device)
    }

    /// Returns the memory that is really available, given the state of the host's memory. Queries the kernel no more often than
    /// [`MemoryManager::cached_budgets`].
    ///
    /// # Errors
    ///
    /// [`winsys::Error`] if a new query was necessary and the kernel refused it.
    pub fn effective_pool(&self, host: &HostMemory) -> winsys::Result<EffectivePool> {
        let system = self.cached_usage()?.usage;
        Ok(EffectivePool::new(self.properties().facts(), &self.usage_tracker().usage(), &system, host))
    }

    /// Checks that the BOs that a submission lists can be resident together with all always-valid BOs. Takes one ioctl.
    /// The kernel can still refuse the submission if it pins more memory after the check.
    ///
    /// # Errors
    ///
    /// [`WorkingSetError::DoesNotFit`] if they cannot; [`WorkingSetError::Winsys`] if the kernel does not report the sizes.
    ///
    /// Source: Linux 6.12 `amdgpu_cs.c`, `amdgpu_cs_parser_bos` (every listed BO is validated for one job), and
    /// `amdgpu_vm.c`, `amdgpu_vm_validate` (always-valid BOs are validated too, once any was evicted).
    pub fn check_working_set(&self, set: &WorkingSet) -> Result<(), WorkingSetError> {
        set.check(&self.state.device)
    }

    /// Returns the device-wide residency set: the memory that every submission has to list, such as memory that shaders reach
    /// through pointers. Pass it in [`Submission::sets`](crate::cs::Submission::sets).
    ///
    /// RADV calls this the global BO list and holds its lock during every submission (Mesa 25.0.7
    /// `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_winsys_cs_submit_internal`). Here, adding, removing and
    /// submitting do not wait for each other.
    pub fn residents(&self) -> &ResidencySet {
        &self.state.residents
    }

    /// Adds memory to the device-wide residency set, unless it is always valid and therefore resident anyway. Returns `true` if
    /// it was added. It then stays alive until it is [removed](ResidencySet::remove) from [`MemoryManager::residents`].
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_make_resident`.
    pub fn make_resident(&self, memory: &Binding) -> bool {
        !memory.bo().flags().contains(GemCreateFlags::VM_ALWAYS_VALID) && self.state.residents.add(memory)
    }

    /// Returns the memory types that a descriptor may be imported as (`vkGetMemoryFdPropertiesKHR`). The descriptor is not
    /// imported.
    ///
    /// # Errors
    ///
    /// [`FdTypesError::HandleType`] if the handle type is not `DMA_BUF`, because Vulkan defines no query for opaque descriptors;
    /// [`FdTypesError::Import`] if the descriptor is not a dma-buf.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_GetMemoryFdPropertiesKHR`.
    pub fn fd_types(&self, handle_type: ExternalHandleTypes, fd: impl AsFd) -> Result<TypeMask, FdTypesError> {
        if handle_type != ExternalHandleTypes::DMA_BUF {
            return Err(UnsupportedHandleType { handle_type }.into());
        }
        Ok(self.properties().dma_buf_types(&Bo::import(self.device(), fd)?))
    }

    /// Returns the memory types that host memory may be imported as (`vkGetMemoryHostPointerPropertiesEXT`).
    ///
    /// # Errors
    ///
    /// [`UnsupportedHandleType`] if the handle type is not `HOST_ALLOCATION`.
    ///
    /// Source: Mesa 25.0.7 `radv_device.c`, `radv_GetMemoryHostPointerPropertiesEXT`.
    pub fn host_pointer_types(&self, handle_type: ExternalHandleTypes) -> Result<TypeMask, UnsupportedHandleType> {
        if handle_type != ExternalHandleTypes::HOST_ALLOCATION {
            return Err(UnsupportedHandleType { handle_type });
        }
        Ok(self.properties().host_pointer_types())
    }

    /// Imports a descriptor, which must be a dma-buf even if its Vulkan type is opaque. On success the descriptor is consumed
    /// and closed.
    ///
    /// The size and placement come from the kernel, not from the caller. A BO that is imported twice is counted once, but has an
    /// address for each import.
    ///
    /// # Errors
    ///
    /// The descriptor is returned with the error, and nothing has changed.
    /// * [`ImportFdError::Import`] if it is not a dma-buf, [`ImportFdError::Bind`] if the kernel refuses the binding.
    /// * [`ImportFdError::Fault`] if the BO is smaller than `info` requires, or cannot have the memory type.
    /// * [`ImportFdError::Request`] if there is no such memory type; [`ImportFdError::Address`] if no addresses are free.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd`, and `radv_device_memory.c`,
    /// `radv_alloc_memory`. RADV closes the descriptor once it has the BO, even if the allocation then fails.
    pub fn import_fd(&self, fd: OwnedFd, info: &ImportInfo) -> Result<DeviceMemory, (OwnedFd, ImportFdError)> {
        self.import_fd_if(fd, info, |_| Ok(()))
    }

    /// Imports a descriptor like [`MemoryManager::import_fd`], but calls `accept` with the BO before the import is final. A
    /// driver that imports an image computes its layout there from the BO's metadata.
    ///
    /// # Errors
    ///
    /// The errors of [`MemoryManager::import_fd`] and of `accept`.
    pub fn import_fd_if<E: From<ImportFdError>>(
        &self,
        fd: OwnedFd,
        info: &ImportInfo,
        accept: impl FnOnce(&Bo) -> Result<(), E>,
    ) -> Result<DeviceMemory, (OwnedFd, E)> {
        match import::import_fd(&self.state.device, &self.state.properties, &fd, info, accept) {
            Ok(memory) => Ok(memory),
            Err(error) => Err((fd, error)),
        }
    }

    /// Imports host memory of the process (`VkImportMemoryHostPointerInfoEXT`). Address and length must be multiples of 4096,
    /// Vulkan's `minImportedHostPointerAlignment`. The imported memory is mapped at that address.
    ///
    /// # Errors
    ///
    /// * [`ImportHostPointerError::UserMemory`] if the range is misaligned, not mapped or a file mapping, or the kernel refuses it
    ///   for another reason;
    /// * [`ImportHostPointerError::Fault`] if it is smaller than `info` requires, or host memory cannot have the memory type;
    /// * [`ImportHostPointerError::Request`] if there is no such memory type;
    /// * [`ImportHostPointerError::Address`] if no addresses are free;
    /// * [`ImportHostPointerError::Bind`] if the kernel refuses the binding.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_ptr`.
    ///
    /// # Safety
    ///
    /// The requirements of [`Bo::from_user_memory`], for as long as the memory exists. In addition, the process must be allowed
    /// to read and write the range, because the mapping gives access to it, even if the GPU only reads.
    pub unsafe fn import_host_pointer(
        &self,
        memory: UserMemory,
        info: &ImportInfo,
    ) -> Result<DeviceMemory, ImportHostPointerError> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { import::import_host_pointer(&self.state.device, &self.state.properties, memory, info) }
    }

    /// Returns the part of the manager that heap budgets need.
    #[inline]
    pub(in crate::heaps) fn heaps(&self) -> Heaps<'_> {
        Heaps { device: &self.state.device, properties: &self.state.properties }
    }
}
