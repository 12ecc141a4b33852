//! An allocation that was not let in.

use std::fmt;

use crate::heaps::{Budgets, HeapBudget};

/// The limit that an allocation would pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Limit {
    /// The heap's size.
    HeapSize,
    /// The heap's budget: its size, less what others use of it.
    Budget,
    /// The quota that the policy sets for the heap.
    Quota,
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
    /// This process's usage of the heap at that time, bytes.
    pub usage: u64,
    /// The limit that it would have passed.
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
