//! Objects that clients make: framebuffers and blobs.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
};

/// Objects by their ids. One that a file made lives while the file has it, and each lives while a configuration uses it.
#[derive(Debug)]
pub(super) struct Table<T>(BTreeMap<u32, Entry<T>>);

#[derive(Debug)]
struct Entry<T> {
    object: Weak<T>,
    /// The number of the file that has it.
    owner: Option<(u64, Arc<T>)>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self(BTreeMap::new())
    }
}

impl<T> Table<T> {
    /// Adds an object under an id, and forgets those that nothing uses any more.
    pub(super) fn add(&mut self, id: u32, owner: Option<u64>, object: &Arc<T>) {
        self.0.retain(|_, entry| entry.object.strong_count() > 0);
        let owner = owner.map(|file| (file, Arc::clone(object)));
        self.0.insert(id, Entry { object: Arc::downgrade(object), owner });
    }

    /// Returns the object with an id.
    pub(super) fn find(&self, id: u32) -> Option<Arc<T>> {
        self.0.get(&id)?.object.upgrade()
    }

    /// Takes an object from the file that has it; `None` if another has it.
    pub(super) fn take(&mut self, id: u32, file: u64) -> Option<Arc<T>> {
        let owner = &mut self.0.get_mut(&id)?.owner;
        owner.take_if(|(owner, _)| *owner == file).map(|(_, object)| object)
    }

    /// Returns the ids of a file's objects.
    pub(super) fn of_file(&self, file: u64) -> Vec<u32> {
        let is_its = |entry: &Entry<T>| entry.owner.as_ref().is_some_and(|(owner, _)| *owner == file);
        self.0.iter().filter(|(_, entry)| is_its(entry)).map(|(id, _)| *id).collect()
    }

    /// Returns the number of ids.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}
