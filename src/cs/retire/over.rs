//! The resources of jobs that have ended, on their way to be dropped.

use super::job::{Few, Job};
use crate::{
    host_memory::{self, NoHostMemory, TryBox},
    winsys::Binding,
};

/// The resources of jobs that have ended. Dropping the value drops them; [`Jobs::let_go`] also keeps the containers of large jobs.
#[derive(Debug, Default)]
pub(in crate::cs) struct Over {
    /// The resources of a small finished job.
    pub(super) few: Option<Few>,
    pub(super) rest: Option<Rest>,
}

/// Resources that only few submissions leave.
#[derive(Debug, Default)]
pub(super) struct Rest {
    /// The oldest finished job, unless it was small. More finished jobs may follow it.
    pub(super) finished: Option<TryBox<Job>>,
    /// A job whose lists are used again, but not its other resources.
    pub(super) reused: Option<TryBox<Job>>,
    /// A job of which the kernel accepted nothing.
    pub(super) refused: Option<TryBox<Job>>,
    /// Resources of the reused job that the submission does not use.
    pub(super) changed: Option<Few>,
    pub(super) memory: Vec<Binding>,
}

impl Over {
    /// Returns `true` if there are no resources to drop.
    #[inline]
    pub(in crate::cs) fn is_empty(&self) -> bool {
        self.few.is_none() && self.rest.is_none()
    }

    /// Adds resources of the reused job that the submission does not use.
    pub(in crate::cs) fn add_few(&mut self, few: Few) {
        self.rest().changed = Some(few);
    }

    /// Adds memory of the reused job, from index `from` on.
    #[cold]
    pub(in crate::cs) fn take_memory(&mut self, kept: &mut Vec<Binding>, from: usize) -> Result<(), NoHostMemory> {
        host_memory::extend(&mut self.rest().memory, kept.drain(from..))
    }

    #[cold]
    pub(super) fn rest(&mut self) -> &mut Rest {
        self.rest.get_or_insert_default()
    }
}
