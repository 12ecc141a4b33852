//! The memory of a pool, and the handle by which streams return IBs to it.

use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use super::memory::IbMemory;
use crate::{cs::IbPlacement, winsys::Device};

/// The state of a pool, shared with the streams that use it.
#[derive(Debug)]
pub(in crate::cs) struct Shared {
    pub(in crate::cs) device: Device,
    pub(in crate::cs) placement: IbPlacement,
    /// The maximum amount of idle memory that the pool keeps, in dwords.
    pub(in crate::cs) most: usize,
    pub(in crate::cs) idle: Mutex<Idle>,
}

/// Idle memory of a pool.
#[derive(Debug, Default)]
pub(in crate::cs) struct Idle {
    pub(super) memories: Vec<IbMemory>,
    pub(in crate::cs) dwords: usize,
}

/// The origin and destination of a stream's IBs: a pool, or none.
#[derive(Clone, Debug, Default)]
pub(in crate::cs) struct Home(Weak<Shared>);

impl Home {
    /// Returns a handle to a pool.
    pub(in crate::cs) fn of(shared: &Arc<Shared>) -> Self {
        Self(Arc::downgrade(shared))
    }

    /// Takes the smallest idle memory that `fits`; `None` if there is none or no pool.
    pub(in crate::cs) fn take(&self, fits: impl Fn(&IbMemory) -> bool) -> Option<IbMemory> {
        let shared = self.0.upgrade()?;
        let mut idle = shared.idle.lock();
        let fitting = idle.memories.iter().enumerate().filter(|(_, memory)| fits(memory));
        let (at, _) = fitting.min_by_key(|(_, memory)| memory.capacity())?;
        let memory = idle.memories.swap_remove(at);
        idle.dwords -= memory.capacity();
        Some(memory)
    }

    /// Returns unused memory to the pool. Memory beyond the pool's limit, of another placement or without a pool is freed.
    pub(in crate::cs) fn give(&self, memories: impl IntoIterator<Item = IbMemory>) {
        let Some(shared) = self.0.upgrade() else { return drop(memories) };
        for memory in memories {
            let mut idle = shared.idle.lock();
            let is_wanted = memory.placement() == shared.placement && idle.dwords + memory.capacity() <= shared.most;
            if is_wanted && idle.memories.try_reserve(1).is_ok() {
                idle.dwords += memory.capacity();
                idle.memories.push(memory);
            }
        }
    }
}
