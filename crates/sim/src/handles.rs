//! The GEM handles of one file.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use nix::errno::Errno;

use crate::{bo::Bo, file::MOST_HANDLES, ids::Ids};

/// Handles by number and by BO. A render node has no GEM_OPEN, so a BO never has two in one file.
#[derive(Debug)]
pub(crate) struct Handles {
    bos: Ids<Arc<Bo>>,
    /// By the BO's mmap offset.
    numbers: HashMap<u64, u32>,
}

impl Default for Handles {
    fn default() -> Self {
        Self { bos: Ids::new(MOST_HANDLES), numbers: HashMap::new() }
    }
}

impl Handles {
    pub(crate) fn get(&self, handle: u32) -> Option<&Arc<Bo>> {
        self.bos.get(handle)
    }

    /// The handle of a BO.
    pub(crate) fn of(&self, bo: &Bo) -> Option<u32> {
        self.numbers.get(&bo.mmap_offset()).copied()
    }

    /// The handle of a BO, a new one if it has none.
    pub(crate) fn get_or_insert(&mut self, bo: Arc<Bo>) -> Result<u32, Errno> {
        match self.numbers.entry(bo.mmap_offset()) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(free) => {
                let handle = self.bos.insert(bo).map_err(|_| Errno::ENOSPC)?;
                Ok(*free.insert(handle))
            }
        }
    }

    /// Takes the handle away from the BO, if it still is the BO's.
    pub(crate) fn remove(&mut self, handle: u32, bo: &Arc<Bo>) -> Result<(), Errno> {
        if self.of(bo) != Some(handle) {
            return Err(Errno::EINVAL);
        }
        self.numbers.remove(&bo.mmap_offset());
        self.bos.remove(handle).map(drop).ok_or(Errno::EINVAL)
    }

    pub(crate) fn clear(&mut self) {
        self.numbers.clear();
        self.bos.clear();
    }

    pub(crate) fn len(&self) -> usize {
        self.bos.len()
    }

    /// Bytes of all BOs.
    pub(crate) fn bytes(&self) -> u64 {
        self.bos.iter().map(|(_, bo)| bo.size()).sum()
    }
}
