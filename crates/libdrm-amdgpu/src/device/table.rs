//! The tables of a device: from GEM handles and from global names to records.
//!
//! The kernel gives one handle for one BO in a file, and one GEM_CLOSE ends it, however often it was imported. So there is one
//! record for each handle. Imports and frees hold the lock from the request to the record, so that none closes a handle that another
//! is about to return.

use std::collections::BTreeMap;

use parking_lot::{Mutex, MutexGuard};

use crate::border::{Answer, Failure, Handle};

/// Handles are the lowest free numbers, so an array is dense. Beyond this number a kernel is not believed.
const HANDLES_END: usize = 1 << 24;

/// The record of a BO, whose type the tables do not know.
pub(crate) enum Record {}

/// The tables of a device.
#[derive(Default)]
pub(crate) struct Table(Mutex<Entries>);

/// The tables, locked.
#[derive(Default)]
pub(crate) struct Entries {
    handles: Vec<Handle<Record>>,
    names: BTreeMap<u32, Handle<Record>>,
}

// SAFETY: the records are shared between threads by their handles anyway; their fields are atomic, locked or constant.
unsafe impl Send for Entries {}

impl Table {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock()
    }
}

impl Entries {
    pub(crate) fn by_handle(&self, handle: u32) -> Option<Handle<Record>> {
        self.handles.get(handle as usize).copied().filter(|record| !record.is_null())
    }

    pub(crate) fn by_name(&self, name: u32) -> Option<Handle<Record>> {
        self.names.get(&name).copied()
    }

    /// Makes room for the entry of a handle.
    ///
    /// # Errors
    ///
    /// ENOMEM if there is no memory for it.
    pub(crate) fn reserve(&mut self, handle: u32) -> Answer {
        let index = handle as usize;
        if index >= HANDLES_END {
            return Err(Failure::NO_MEMORY);
        }
        if index >= self.handles.len() {
            let len = (index + 1).next_power_of_two().max(512);
            self.handles.try_reserve(len - self.handles.len()).map_err(|_| Failure::NO_MEMORY)?;
            self.handles.resize(len, Handle::NULL);
        }
        Ok(())
    }

    /// Enters a record for whose handle there is room.
    pub(crate) fn enter(&mut self, handle: u32, record: Handle<Record>) {
        self.handles[handle as usize] = record;
    }

    pub(crate) fn enter_name(&mut self, name: u32, record: Handle<Record>) {
        self.names.insert(name, record);
    }

    /// Removes what leads to a record.
    pub(crate) fn remove(&mut self, handle: u32, name: u32, record: Handle<Record>) {
        let is_it = |entry: &Handle<Record>| entry.pointer() == record.pointer();
        if let Some(entry) = self.handles.get_mut(handle as usize).filter(|entry| is_it(entry)) {
            *entry = Handle::NULL;
        }
        if self.names.get(&name).is_some_and(is_it) {
            self.names.remove(&name);
        }
    }

    /// Returns the records in the order of their handles.
    pub(crate) fn records(&self) -> impl Iterator<Item = Handle<Record>> {
        self.handles.iter().copied().filter(|record| !record.is_null())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_record_that_is_entered_is_removed() {
        let (mut one, mut other) = (0_u8, 0_u8);
        let [one, other] = [&raw mut one, &raw mut other].map(|place| Handle::new(place.cast::<Record>()));
        let mut entries = Entries::default();
        entries.reserve(7).unwrap();
        entries.enter(7, one);
        // The client closed the handle by itself, and the kernel gave the number to another BO.
        entries.enter(7, other);
        entries.remove(7, 0, one);
        assert_eq!(entries.by_handle(7).map(Handle::pointer), Some(other.pointer()));
        entries.remove(7, 0, other);
        assert!(entries.by_handle(7).is_none() && entries.records().next().is_none());
    }

    #[test]
    fn a_handle_that_no_kernel_gives_takes_no_memory() {
        let mut entries = Entries::default();
        assert_eq!(entries.reserve(u32::MAX), Err(Failure::NO_MEMORY));
        assert!(entries.by_handle(u32::MAX).is_none());
    }
}
