//! Fences: something that will be done, well or badly.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, Ordering},
};

use nix::errno::Errno;

use crate::events::Events;

/// A fence. It signals once, with an error or without.
#[derive(Debug)]
pub(crate) enum Fence {
    /// The end of a job, or a moment of the CPU's choosing.
    Single(Single),
    /// Done when all of them are, each a single one; its error is the first one's that has any.
    All(Vec<Arc<Fence>>),
}

#[derive(Debug)]
pub(crate) struct Single {
    outcome: OnceLock<Result<(), Errno>>,
    started: AtomicBool,
    events: Arc<Events>,
}

impl Fence {
    /// One that is yet to signal.
    pub(crate) fn pending(events: &Arc<Events>) -> Arc<Self> {
        Arc::new(Self::Single(Single {
            outcome: OnceLock::new(),
            started: AtomicBool::new(false),
            events: Arc::clone(events),
        }))
    }

    /// Done when all of these are. Only those count that are not done yet, and what they consist of themselves: so fences
    /// made of fences are never deep, and keep nothing alive that is over.
    pub(crate) fn all(fences: impl IntoIterator<Item = Arc<Self>>) -> Arc<Self> {
        let mut pending = Vec::new();
        for fence in fences {
            match &*fence {
                Self::Single(_) if !fence.is_signalled() => pending.push(fence),
                Self::Single(_) => {}
                Self::All(inner) => pending.extend(inner.iter().filter(|fence| !fence.is_signalled()).cloned()),
            }
        }
        Arc::new(Self::All(pending))
    }

    /// One that has signalled.
    pub(crate) fn signalled() -> Arc<Self> {
        Arc::new(Self::All(Vec::new()))
    }

    /// What came of it; `None` before it signals.
    pub(crate) fn outcome(&self) -> Option<Result<(), Errno>> {
        match self {
            Self::Single(single) => single.outcome.get().copied(),
            Self::All(fences) => {
                let mut all = Ok(());
                for fence in fences {
                    all = all.and(fence.outcome()?);
                }
                Some(all)
            }
        }
    }

    pub(crate) fn is_signalled(&self) -> bool {
        match self {
            Self::Single(single) => single.outcome.get().is_some(),
            Self::All(fences) => fences.iter().all(|fence| fence.is_signalled()),
        }
    }

    /// Whether the job behind it has started, which scheduled dependencies wait for.
    pub(crate) fn has_started(&self) -> bool {
        match self {
            Self::Single(single) => single.started.load(Ordering::Acquire) || single.outcome.get().is_some(),
            Self::All(fences) => fences.iter().all(|fence| fence.has_started()),
        }
    }

    pub(crate) fn start(&self) {
        if let Self::Single(single) = self {
            single.started.store(true, Ordering::Release);
            single.events.ring();
        }
    }

    /// Signals; later outcomes change nothing.
    pub(crate) fn signal(&self, outcome: Result<(), Errno>) {
        if let Self::Single(single) = self
            && single.outcome.set(outcome).is_ok()
        {
            single.events.ring();
        }
    }
}
