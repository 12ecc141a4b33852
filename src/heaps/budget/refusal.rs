//! Refused allocations.

use std::fmt;

use crate::heaps::{Budgets, HeapBudget};

/// The limit that an allocation would exceed.
///
/// ```
/// use amdgpu_winsys::heaps::{AdmissionPolicy, AllocateInfo, AllocateMemoryError, Limit, Response};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let mut policy = AdmissionPolicy { quota: Response::Refuse, ..AdmissionPolicy::within_budget() };
/// policy.quotas[0] = Some(4096);
/// let error = manager.with_admission(policy).allocate(&AllocateInfo::new(0, 8192)).unwrap_err();
/// let AllocateMemoryError::Refused(refusal) = error else { return Err(error.into()) };
/// let free_some = match refusal.limit {
///     Limit::HeapSize | Limit::Budget => "memory of the whole device is short",
///     Limit::Quota => "the program's own rule",
/// };
/// assert_eq!(free_some, "the program's own rule");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The size of the heap.
    HeapSize,
    /// The heap's budget: its size minus the usage of other processes.
    Budget,
    /// The quota that the policy sets for the heap.
    Quota,
}

/// An allocation that the admission policy refused, with the budget and usage of all heaps at the time of the request.
///
/// ```
/// use amdgpu_winsys::heaps::{AdmissionPolicy, AllocateInfo, AllocateMemoryError, Limit, Response};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let mut policy = AdmissionPolicy { quota: Response::Refuse, ..AdmissionPolicy::default() };
/// policy.quotas[0] = Some(64 << 10);
/// let error = manager.with_admission(policy).allocate(&AllocateInfo::new(0, 100_000)).unwrap_err();
/// let AllocateMemoryError::Refused(refusal) = error else { return Err(error.into()) };
/// assert_eq!((refusal.heap, refusal.size, refusal.usage), (0, 102_400, 0));
/// assert_eq!((refusal.limit, refusal.most), (Limit::Quota, 64 << 10));
/// assert_eq!(refusal.heaps.heaps()[0].usage, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{size} bytes would bring heap {heap} from {usage} to more than {limit} of {most} bytes; heaps: {}",
    Figures(heaps)
)]
pub struct Refusal {
    /// Size of the allocation in bytes, rounded up to pages.
    pub size: u64,
    /// Index of the heap.
    pub heap: u32,
    /// This process's usage of the heap at the time of the request, in bytes.
    pub usage: u64,
    /// The kind of limit that the allocation would have exceeded.
    pub limit: Limit,
    /// The value of the limit in bytes.
    pub most: u64,
    /// The budget and usage of all heaps at the time of the request.
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
