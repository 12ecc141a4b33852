//! Which allocations are let in.
//!
//! The kernel takes allocations far beyond what fits: it places BOs only when they are used, and a submission whose BOs do
//! not fit together is refused with ENOMEM. RADV lets vkAllocateMemory succeed and loses the device then (Mesa 25.0.7
//! `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_cs.c`, `radv_amdgpu_cs_submit`). An [`AdmissionPolicy`] says no where a
//! program can still act on it, with the numbers.

use std::fmt;

use parking_lot::{Mutex, MutexGuard};

use super::{BudgetRule, Budgets, DeviceMemory, HeapBudget, MAX_HEAPS, MemoryError, MemoryManager};
use crate::winsys::Event;

/// What to do about an allocation that would pass a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Response {
    /// Nothing.
    #[default]
    Ignore,
    /// Tell the observer ([`Event::OverCommitted`](crate::winsys::Event::OverCommitted)) and let it in.
    Report,
    /// Tell the observer and refuse it.
    Refuse,
}

/// Which limit an allocation would pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The heap's size.
    HeapSize,
    /// The heap's budget: its size, less what others use of it.
    Budget,
    /// The quota that the policy sets for the heap.
    Quota,
}

/// What is let in. The default lets everything in, as RADV does.
///
/// Limits are compared with all that this file holds of a heap ([`HeapBudget::usage`]): also imports, user memory and the
/// library's own BOs. RADV's check for VK_AMD_memory_overallocation_behavior counts only vkAllocateMemory (Mesa 25.0.7
/// `src/amd/vulkan/radv_device_memory.c`, `radv_alloc_memory`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AdmissionPolicy {
    /// When usage would pass the heap's size.
    pub heap_size: Response,
    /// When usage would pass the [corrected](BudgetRule::Corrected) budget. The budget may be as old as
    /// [`MemoryManager::with_budget_interval`] allows; before it refuses, a fresh one is asked for.
    pub budget: Response,
    /// Quotas by heap index, bytes.
    pub quotas: [Option<u64>; MAX_HEAPS],
    /// When usage would pass the heap's quota.
    pub quota: Response,
}

impl AdmissionPolicy {
    /// `VK_MEMORY_OVERALLOCATION_BEHAVIOR_DISALLOWED_AMD`: no heap holds more than its size.
    pub fn no_overallocation() -> Self {
        Self { heap_size: Response::Refuse, ..Self::default() }
    }

    /// No heap holds more than its budget.
    pub fn within_budget() -> Self {
        Self { heap_size: Response::Refuse, budget: Response::Refuse, ..Self::default() }
    }

    fn quota_of(&self, heap: u32) -> Option<u64> {
        self.quotas.get(heap as usize).copied().flatten()
    }

    fn refuses(&self) -> bool {
        [self.heap_size, self.budget, self.quota].contains(&Response::Refuse)
    }
}

/// An allocation that was not let in, with the figures of all heaps at that moment.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{size} bytes would bring heap {heap} from {usage} to more than {limit} of {most} bytes; heaps: {}",
    Figures(heaps)
)]
pub struct Refusal {
    /// Bytes asked for, rounded up.
    pub size: u64,
    /// Index of the heap.
    pub heap: u32,
    /// What this process had of the heap, bytes.
    pub usage: u64,
    /// Which limit it would have passed.
    pub limit: Limit,
    /// That limit, bytes.
    pub most: u64,
    /// Budget and usage of all heaps.
    pub heaps: Budgets,
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::HeapSize => "its size",
            Self::Budget => "its budget",
            Self::Quota => "its quota",
        })
    }
}

struct Figures<'b>(&'b Budgets);

impl fmt::Display for Figures<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, HeapBudget { budget, usage }) in self.0.heaps().iter().enumerate() {
            write!(f, "{}{index} uses {usage} of {budget}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

/// A policy in force.
#[derive(Debug, Default)]
pub(super) struct Admission {
    policy: AdmissionPolicy,
    /// Whether the policy is to look at allocations at all: found out once, as it is asked for each.
    is_on: bool,
    /// Held from the check of an allocation until it is charged, if the policy may refuse: two threads must not both
    /// take the last bytes.
    turn: Mutex<()>,
}

/// The right to allocate what was asked for, while it lives.
#[must_use = "the allocation must be charged before the next one is judged"]
pub(super) struct Turn<'a> {
    _turn: Option<MutexGuard<'a, ()>>,
}

impl MemoryManager {
    /// Puts a policy in force.
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
        self.admission = Admission { policy, is_on: policy != AdmissionPolicy::default(), turn: Mutex::default() };
        self
    }

    /// The policy in force.
    pub fn admission(&self) -> &AdmissionPolicy {
        &self.admission.policy
    }

    /// Judges an allocation of `size` bytes of a heap. What comes back is kept until it is charged.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Refused`]; [`MemoryError::Winsys`] when the kernel does not tell the budget.
    #[inline]
    pub(super) fn admit(&self, heap: u32, size: u64) -> Result<Turn<'_>, MemoryError> {
        if self.admission.is_on { self.judge(heap, size) } else { Ok(Turn { _turn: None }) }
    }

    fn judge(&self, heap: u32, size: u64) -> Result<Turn<'_>, MemoryError> {
        let policy = &self.admission.policy;
        let turn = policy.refuses().then(|| self.admission.turn.lock());
        let mut budgets = self.cached_budgets(BudgetRule::Corrected)?;
        let mut passed = self.first_passed(Response::Refuse, heap, size, &budgets);
        if passed.as_ref().is_some_and(|refusal| refusal.limit == Limit::Budget) {
            // The budget may be out of date; the other limits are not.
            budgets = self.budgets(BudgetRule::Corrected)?;
            passed = self.first_passed(Response::Refuse, heap, size, &budgets);
        }
        if let Some(refusal) = passed {
            tracing::debug!(%refusal, "allocation refused");
            self.tell_over_commit(&refusal, true);
            return Err(MemoryError::Refused(Box::new(refusal)));
        }
        if let Some(report) = self.first_passed(Response::Report, heap, size, &budgets) {
            self.tell_over_commit(&report, false);
        }
        Ok(Turn { _turn: turn })
    }

    /// The first limit that the allocation would pass, of those with this response.
    fn first_passed(&self, response: Response, heap: u32, size: u64, budgets: &Budgets) -> Option<Refusal> {
        let policy = &self.admission.policy;
        let HeapBudget { budget, usage } = budgets.heaps().get(heap as usize).copied().unwrap_or_default();
        let heap_size = self.properties().heaps().get(heap as usize).map_or(0, |heap| heap.size);
        let limits = [
            (Limit::Quota, policy.quota, policy.quota_of(heap).unwrap_or(u64::MAX)),
            (Limit::HeapSize, policy.heap_size, heap_size),
            (Limit::Budget, policy.budget, budget),
        ];
        let after = usage.saturating_add(size);
        let (limit, _, most) = limits.into_iter().find(|&(_, set, most)| set == response && after > most)?;
        Some(Refusal { size, heap, usage, limit, most, heaps: *budgets })
    }

    fn tell_over_commit(&self, refusal: &Refusal, refused: bool) {
        let &Refusal { size, heap, usage, most: limit, .. } = refusal;
        self.device().tell(|| Event::OverCommitted { heap, size, usage, limit, refused });
    }

    /// Tells the observer of new device memory.
    pub(super) fn announce(&self, memory: &DeviceMemory) {
        self.device().tell(|| Event::Allocated {
            handle: memory.bo().handle(),
            memory_type: memory.memory_type(),
            heap: memory.heap(),
            size: memory.size(),
        });
    }
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
