//! Framebuffers and blobs, which clients make.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Weak},
};

/// Objects by their ids. An object lives while a file owns it or a configuration uses it.
#[derive(Debug)]
pub(super) struct Table<T> {
    entries: BTreeMap<u32, Entry<T>>,
    of_files: BTreeMap<u64, Share>,
    /// The number of entries after the last search for unused ones.
    looked_at: usize,
}

#[derive(Debug)]
struct Entry<T> {
    object: Weak<T>,
    /// The number of the file that owns it, and the object.
    owner: Option<(u64, Arc<T>)>,
    bytes: usize,
}

/// The entries of a table that a file owns.
#[derive(Debug, Default)]
struct Share {
    ids: BTreeSet<u32>,
    bytes: usize,
}

/// The number of new entries after which unused ones are searched for, unless the table has doubled before.
const GROWTH: usize = 64;

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { entries: BTreeMap::new(), of_files: BTreeMap::new(), looked_at: 0 }
    }
}

impl<T> Table<T> {
    /// Adds an object of a size under an id. Now and then it removes objects that are not used any more.
    pub(super) fn add(&mut self, id: u32, owner: Option<u64>, object: &Arc<T>, bytes: usize) {
        if self.entries.len() > self.looked_at.saturating_add(GROWTH.max(self.looked_at)) {
            self.entries.retain(|_, entry| entry.object.strong_count() > 0);
            self.looked_at = self.entries.len();
        }
        if let Some(file) = owner {
            let share = self.of_files.entry(file).or_default();
            share.ids.insert(id);
            share.bytes += bytes;
        }
        let owner = owner.map(|file| (file, Arc::clone(object)));
        self.entries.insert(id, Entry { object: Arc::downgrade(object), owner, bytes });
    }

    /// Returns the object with an id.
    pub(super) fn find(&self, id: u32) -> Option<Arc<T>> {
        self.entries.get(&id)?.object.upgrade()
    }

    /// Returns the ids of all objects, in ascending order.
    pub(super) fn ids(&self) -> impl Iterator<Item = u32> {
        self.entries.iter().filter(|(_, entry)| entry.object.strong_count() > 0).map(|(id, _)| *id)
    }

    /// Returns `true` if there is an object with an id.
    pub(super) fn has(&self, id: u32) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.object.strong_count() > 0)
    }

    /// Takes an object from the file that owns it; `None` if another file owns it.
    pub(super) fn take(&mut self, id: u32, file: u64) -> Option<Arc<T>> {
        let Entry { owner, bytes, .. } = self.entries.get_mut(&id)?;
        let (_, object) = owner.take_if(|(owner, _)| *owner == file)?;
        if let Some(share) = self.of_files.get_mut(&file) {
            share.ids.remove(&id);
            share.bytes -= *bytes;
            if share.ids.is_empty() {
                self.of_files.remove(&file);
            }
        }
        Some(object)
    }

    /// Returns the ids of a file's objects, in ascending order.
    pub(super) fn of_file(&self, file: u64) -> Vec<u32> {
        self.of_files.get(&file).map(|share| share.ids.iter().copied().collect()).unwrap_or_default()
    }

    /// Returns the number of a file's objects and their size in bytes.
    pub(super) fn share(&self, file: u64) -> (usize, usize) {
        self.of_files.get(&file).map_or((0, 0), |share| (share.ids.len(), share.bytes))
    }
}
