//! Where device memory comes from: the tables, the ledger and the addresses of one device.

use std::sync::Arc;

use super::{
    AllocateInfo, BudgetRule, Budgets, DeviceMemory, Ledger, MemoryError, MemoryFacts, MemoryProperties,
    ResidencyPolicy, TableOptions, admission::Admission, budget_monitor::BudgetMonitor,
};
use crate::{
    uapi::GemCreateFlags,
    winsys::{Device, DeviceRefs, ResidentSet},
};

/// Allocates device memory of one device and keeps account of it.
///
/// ```no_run
/// # use std::path::Path;
/// # use amdgpu_winsys::{heaps::*, winsys::Device};
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let device = Device::open(Path::new("/dev/dri/renderD128"))?;
/// let manager = MemoryManager::new(&device, &TableOptions::default())?;
/// let properties = manager.properties();
/// let usable = properties.buffer_types(Addressing::Bits64, false);
/// let upload = properties.find_type(usable, MemoryPropertyFlags::HOST_VISIBLE, MemoryPropertyFlags::empty());
/// let memory = manager.allocate(&AllocateInfo::new(upload.ok_or("no such type")?, 1 << 20))?;
/// memory.map()?.write(0, b"hello")?;
/// println!("the GPU finds it at {}", memory.address());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct MemoryManager {
    device: Arc<Device>,
    /// For what it allocates.
    shares: DeviceRefs,
    properties: MemoryProperties,
    pub(super) monitor: BudgetMonitor,
    pub(super) admission: Admission,
    pub(super) residents: ResidentSet,
    policy: MemoryPolicy,
}

/// What a manager does of its own accord. The default is RADV's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MemoryPolicy {
    /// What submissions need not list.
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
    pub fn new(device: &Arc<Device>, options: &TableOptions) -> Result<Self, MemoryError> {
        Self::with_policy(device, options, MemoryPolicy::default())
    }

    /// As [`MemoryManager::new`], with a policy of one's own.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Facts`] when the kernel's numbers make no sense together.
    pub fn with_policy(
        device: &Arc<Device>,
        options: &TableOptions,
        policy: MemoryPolicy,
    ) -> Result<Self, MemoryError> {
        let facts = MemoryFacts::try_from(device.info())?;
        Ok(Self {
            device: Arc::clone(device),
            shares: DeviceRefs::new(device),
            properties: MemoryProperties::new(&facts, options),
            monitor: BudgetMonitor::default(),
            admission: Admission::default(),
            residents: ResidentSet::new(),
            policy,
        })
    }

    /// The device.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Heaps and memory types.
    pub fn properties(&self) -> &MemoryProperties {
        &self.properties
    }

    /// What this process holds on the device: everything, also what did not come from this manager.
    pub fn ledger(&self) -> &Arc<Ledger> {
        self.device.ledger()
    }

    /// Budget and usage of every heap, as VK_EXT_memory_budget defines them. One ioctl; [`MemoryManager::cached_budgets`]
    /// mostly makes none.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Winsys`].
    pub fn budgets(&self, rule: BudgetRule) -> Result<Budgets, MemoryError> {
        Ok(self.budgets_from(&self.refresh_usage()?.usage, rule))
    }

    /// Allocates device memory: addresses first, then the BO, then the binding. Whatever step fails, the earlier ones
    /// are undone.
    ///
    /// The addresses are the lowest that are free, or some of this size that the calling thread freed lately: then neither
    /// their number nor that of other threads matters. A program of one thread that repeats what it did in an earlier run has
    /// the same addresses.
    ///
    /// # Errors
    ///
    /// * [`MemoryError::Refused`]: the [admission policy](Self::with_admission) says no;
    /// * [`MemoryError::Request`]: size 0 or beyond the heap, no such type;
    /// * [`MemoryError::Address`]: no address is free, or the replayed one is not;
    /// * [`MemoryError::CapturedAddress`]: the kernel has something at the replayed one;
    /// * [`MemoryError::Winsys`]: the kernel refuses.
    pub fn allocate(&self, info: &AllocateInfo) -> Result<DeviceMemory, MemoryError> {
        let mut plan = self.properties.resolve(info)?;
        if plan.bo.flags.contains(GemCreateFlags::VM_ALWAYS_VALID) {
            self.policy.residency.apply(&mut plan, &self.properties, self.ledger());
        }
        plan.va_size = plan.va_size.saturating_add(self.policy.gap(plan.va_alignment));
        let span = tracing::trace_span!("allocate", size = plan.bo.size, memory_type = plan.memory_type).entered();
        let turn = self.admit(plan.heap, plan.bo.size)?;
        let memory = DeviceMemory::new(self.shares.share(), &plan, !self.policy.guard_gaps)?;
        drop(turn);
        self.announce(&memory);
        // Left while the memory has an owner: a subscriber may panic.
        drop(span);
        Ok(memory)
    }
}
