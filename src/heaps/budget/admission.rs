//! Admission control, which reports or refuses allocations that exceed a limit.
//!
//! The kernel accepts allocations of far more memory than fits. It places BOs only when they are used, and refuses a submission
//! with ENOMEM if its BOs do not fit together. RADV lets `vkAllocateMemory` succeed and then loses the device (Mesa 25.0.7
//! `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`). An [`AdmissionPolicy`] refuses the allocation
//! instead, while the program can still react, and reports the figures.

use amdgpu_hw::num::index;
use parking_lot::{Mutex, MutexGuard};

use super::budget_monitor::{BudgetMonitor, Heaps};
use crate::{
    heaps::{AllocateMemoryError, BudgetRule, Budgets, HeapBudget, Limit, MAX_HEAPS, Refusal},
    winsys::{Device, Event},
};

/// The response to an allocation that would exceed a limit.
///
/// ```
/// use amdgpu_winsys::heaps::{AdmissionPolicy, AllocateInfo, Response};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let mut policy = AdmissionPolicy { quota: Response::Report, ..AdmissionPolicy::default() };
/// policy.quotas[0] = Some(64 << 10); // bytes of heap 0
/// let large = AllocateInfo::new(0, 128 << 10);
/// assert!(manager.clone().with_admission(policy).allocate(&large).is_ok()); // observers are notified
/// policy.quota = Response::Refuse;
/// assert!(manager.with_admission(policy).allocate(&large).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Response {
    /// Allocate without notifying the observer.
    #[default]
    Ignore,
    /// Notify the observer ([`Event::OverCommitted`](crate::winsys::Event::OverCommitted)) and allocate.
    Report,
    /// Notify the observer and refuse the allocation.
    Refuse,
}

/// Limits on the memory of each heap, and the response if one is exceeded. The default admits every allocation, as RADV does.
///
/// Limits are compared with all memory that this file holds in a heap ([`HeapBudget::usage`]), including imports, user memory
/// and internal BOs of the library. RADV's check for VK_AMD_memory_overallocation_behavior counts only `vkAllocateMemory` (Mesa
/// 25.0.7 `src/amd/vulkan/radv_device_memory.c`, `radv_alloc_memory`).
///
/// ```
/// use amdgpu_winsys::heaps::{AdmissionPolicy, AllocateInfo, AllocateMemoryError, Limit, Response};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let policy = AdmissionPolicy::no_overallocation();
/// assert_eq!((policy.heap_size, policy.budget, policy.quota), (Response::Refuse, Response::Ignore, Response::Ignore));
/// let manager = manager.with_admission(policy);
/// let most_of_the_heap = AllocateInfo::new(0, manager.properties().heaps()[0].size / 4 * 3);
/// let memory = manager.allocate(&most_of_the_heap)?;
/// let error = manager.allocate(&most_of_the_heap).unwrap_err();
/// assert!(matches!(error, AllocateMemoryError::Refused(refusal) if refusal.limit == Limit::HeapSize));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdmissionPolicy {
    /// The response if usage would exceed the size of the heap.
    pub heap_size: Response,
    /// The response if usage would exceed the [corrected](BudgetRule::Corrected) budget. The budget may be as old as
    /// [`MemoryManager::with_budget_interval`](crate::heaps::MemoryManager::with_budget_interval) allows, but it is queried
    /// again before an allocation is refused.
    pub budget: Response,
    /// Quotas by heap index, bytes; `None` for no quota.
    pub quotas: [Option<u64>; MAX_HEAPS],
    /// The response if usage would exceed the heap's quota.
    pub quota: Response,
}

impl AdmissionPolicy {
    /// Returns the policy of `VK_MEMORY_OVERALLOCATION_BEHAVIOR_DISALLOWED_AMD`, which refuses usage beyond the size of a heap.
    pub fn no_overallocation() -> Self {
        Self { heap_size: Response::Refuse, ..Self::default() }
    }

    /// Returns a policy that refuses usage beyond the size or the budget of a heap.
    pub fn within_budget() -> Self {
        Self { heap_size: Response::Refuse, budget: Response::Refuse, ..Self::default() }
    }

    fn quota_of(&self, heap: u32) -> Option<u64> {
        self.quotas.get(index(heap)).copied().flatten()
    }

    fn refuses(&self) -> bool {
        [self.heap_size, self.budget, self.quota].contains(&Response::Refuse)
    }
}

/// The admission control of a policy.
#[derive(Debug, Default)]
pub(in crate::heaps) struct Admission {
    policy: AdmissionPolicy,
    /// `true` if the policy has to check allocations. Computed once, because it is needed for every allocation.
    is_on: bool,
    /// Locked from the check of an allocation until it is charged, if the policy may refuse, so that two threads cannot both
    /// take the last bytes.
    turn: Mutex<()>,
}

/// The permission for one allocation, valid until it is dropped.
#[must_use = "the allocation must be charged before the next one is judged"]
pub(in crate::heaps) struct AdmissionGuard<'a> {
    _turn: Option<MutexGuard<'a, ()>>,
}

impl Admission {
    /// Creates the admission control of a policy.
    pub(in crate::heaps) fn new(policy: &AdmissionPolicy) -> Self {
        Self { policy: *policy, is_on: *policy != AdmissionPolicy::default(), turn: Mutex::default() }
    }

    /// Returns the policy.
    pub(in crate::heaps) const fn policy(&self) -> &AdmissionPolicy {
        &self.policy
    }

    /// Checks an allocation of `size` bytes in a heap. The caller keeps the result until the allocation is charged.
    ///
    /// # Errors
    ///
    /// [`AllocateMemoryError::Refused`] if the policy refuses the allocation; [`AllocateMemoryError::Usage`] if the kernel does
    /// not report the budget.
    #[inline]
    pub(in crate::heaps) fn admit(
        &self,
        heaps: Heaps<'_>,
        monitor: &BudgetMonitor,
        heap: u32,
        size: u64,
    ) -> Result<AdmissionGuard<'_>, AllocateMemoryError> {
        if self.is_on { self.judge(heaps, monitor, heap, size) } else { Ok(AdmissionGuard { _turn: None }) }
    }

    fn judge(
        &self,
        heaps: Heaps<'_>,
        monitor: &BudgetMonitor,
        heap: u32,
        size: u64,
    ) -> Result<AdmissionGuard<'_>, AllocateMemoryError> {
        let turn = self.policy.refuses().then(|| self.turn.lock());
        let heap_size = heaps.properties.heaps().get(index(heap)).map_or(0, |heap| heap.size);
        let first_passed =
            |response: Response, budgets: &Budgets| self.policy.first_passed(response, heap, heap_size, size, budgets);
        let mut budgets = monitor.budgets(heaps, BudgetRule::Corrected)?;
        let mut passed = first_passed(Response::Refuse, &budgets);
        if passed.as_ref().is_some_and(|refusal| refusal.limit == Limit::Budget) {
            // The budget may be out of date; the other limits are not.
            budgets = heaps.budgets(&monitor.refresh(heaps)?.usage, BudgetRule::Corrected);
            passed = first_passed(Response::Refuse, &budgets);
        }
        if let Some(refusal) = passed {
            tracing::debug!(%refusal, "allocation refused");
            notify(heaps.device, &refusal, true);
            return Err(AllocateMemoryError::Refused(Box::new(refusal)));
        }
        if let Some(report) = first_passed(Response::Report, &budgets) {
            notify(heaps.device, &report, false);
        }
        Ok(AdmissionGuard { _turn: turn })
    }
}

impl AdmissionPolicy {
    /// Returns the first limit with this response that an allocation would exceed.
    fn first_passed(
        &self,
        response: Response,
        heap: u32,
        heap_size: u64,
        size: u64,
        budgets: &Budgets,
    ) -> Option<Refusal> {
        let HeapBudget { budget, usage } = budgets.heaps().get(index(heap)).copied().unwrap_or_default();
        let limits = [
            (Limit::Quota, self.quota, self.quota_of(heap).unwrap_or(u64::MAX)),
            (Limit::HeapSize, self.heap_size, heap_size),
            (Limit::Budget, self.budget, budget),
        ];
        let after = usage.saturating_add(size);
        let (limit, _, most) = limits.into_iter().find(|&(_, set, most)| set == response && after > most)?;
        Some(Refusal { size, heap, usage, limit, most, heaps: *budgets })
    }
}

fn notify(device: &Device, refusal: &Refusal, refused: bool) {
    let &Refusal { size, heap, usage, most: limit, .. } = refusal;
    device.notify(|| Event::OverCommitted { heap, size, usage, limit, refused });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_tells_the_figures_of_all_heaps() {
        let mut heaps = Budgets::NONE;
        heaps.push_for_tests(HeapBudget { budget: 10, usage: 4 });
        heaps.push_for_tests(HeapBudget { budget: 20, usage: 5 });
        let refusal = |limit| Refusal { size: 7, heap: 0, usage: 4, limit, most: 10, heaps };
        let message = |limit| refusal(limit).to_string();
        let of_limit = |words| {
            format!(
                "7 bytes would bring heap 0 from 4 to more than {words} of 10 bytes; heaps: 0 uses 4 of 10, 1 uses 5 of 20"
            )
        };
        assert_eq!(message(Limit::Budget), of_limit("its budget"));
        assert_eq!(message(Limit::HeapSize), of_limit("its size"));
        assert_eq!(message(Limit::Quota), of_limit("its quota"));
    }

    #[test]
    fn only_a_policy_with_a_refusal_in_it_refuses() {
        let policy = AdmissionPolicy::default();
        assert!(!policy.refuses());
        for (heap_size, budget, quota) in [(1, 0, 0), (0, 1, 0), (0, 0, 1)] {
            let response = |refuses| if refuses == 1 { Response::Refuse } else { Response::Report };
            let (heap_size, budget, quota) = (response(heap_size), response(budget), response(quota));
            assert!(AdmissionPolicy { heap_size, budget, quota, ..policy }.refuses());
        }
        assert!(!AdmissionPolicy { heap_size: Response::Report, ..policy }.refuses());
    }
}
