//! Where the memory of IBs goes back to.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::{IbPlacement, ib::IbMemory};
use crate::winsys::Device;

/// A pool's memory.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) device: Arc<Device>,
    pub(super) placement: IbPlacement,
    /// The most that lies idle, in dwords.
    pub(super) most: usize,
    pub(super) idle: Mutex<Idle>,
}

/// What lies idle of it.
#[derive(Debug, Default)]
pub(super) struct Idle {
    pub(super) memories: Vec<IbMemory>,
    pub(super) dwords: usize,
}

/// Where a stream's memory comes from and goes: a pool, or nowhere.
#[derive(Clone, Debug, Default)]
pub(super) struct Home(Weak<Shared>);

impl Home {
    /// The home that a pool is.
    pub(super) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// The smallest idle memory that `fits`.
    pub(super) fn take(&self, fits: impl Fn(&IbMemory) -> bool) -> Option<IbMemory> {
        let shared = self.0.upgrade()?;
        let mut idle = shared.idle.lock();
        let fitting = idle.memories.iter().enumerate().filter(|(_, memory)| fits(memory));
        let (at, _) = fitting.min_by_key(|(_, memory)| memory.capacity())?;
        let memory = idle.memories.swap_remove(at);
        idle.dwords -= memory.capacity();
        Some(memory)
    }

    /// Keeps memory that nobody uses any more, as far as the pool has room. Without a pool it is freed.
    pub(super) fn give(&self, memories: impl IntoIterator<Item = IbMemory>) {
        let Some(shared) = self.0.upgrade() else { return drop(memories) };
        for memory in memories {
            let mut idle = shared.idle.lock();
            if memory.placement() == shared.placement && idle.dwords + memory.capacity() <= shared.most {
                idle.dwords += memory.capacity();
                idle.memories.push(memory);
            }
        }
    }
}
