//! The resources of jobs that have ended, on their way to be dropped.

use super::{
    job::{Few, Job},
    jobs::Jobs,
};
use crate::{
    host_memory::{self, NoHostMemory, TryBox},
    winsys::Binding,
};

/// The resources of jobs that have ended. Dropping the value drops them; [`Jobs::let_go`] also keeps the containers of large jobs.
#[derive(Debug, Default)]
pub(in crate::cs) struct Over {
    /// The resources of a small finished job.
    pub(super) few: Option<Few>,
    rest: Option<Rest>,
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
    changed: Option<Few>,
    memory: Vec<Binding>,
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

impl<B> Jobs<B> {
    /// Drops the resources in `over`, and then those of further submissions up to this sequence number.
    #[inline]
    pub(in crate::cs) fn let_go(&self, over: &mut Over, done: u64) {
        // In place, because moving it after it was stored takes longer than storing it.
        if over.rest.is_some() {
            self.let_go_of_rest(over, done);
        }
        over.few = None;
    }

    #[cold]
    fn let_go_of_rest(&self, over: &mut Over, done: u64) {
        let Some(Rest { finished, reused, refused, changed, memory }) = over.rest.take() else { return };
        for job in [finished, reused, refused].into_iter().flatten() {
            self.let_go_of(job, done);
        }
        drop((changed, memory));
    }
}
