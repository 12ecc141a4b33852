//! Budgets, limits on allocations, and checks that a working set fits.

pub(super) mod admission;
mod budget;
pub(super) mod budget_monitor;
mod effective_pool;
mod over_commit;
mod refusal;
mod residency;
mod working_set;

pub use self::{
    admission::{AdmissionPolicy, Response},
    budget::{BudgetRule, Budgets, HeapBudget},
    budget_monitor::{CoarseClock, UsageReading},
    effective_pool::{EffectivePool, HostMemory, PoolLimit},
    over_commit::{OverCommit, Pool},
    refusal::{Limit, Refusal},
    residency::ResidencyPolicy,
    working_set::WorkingSet,
};
