//! The tables of a device: from GEM handles and from global names to records.
//!
//! The kernel gives one handle for one BO in a file, and one GEM_CLOSE ends it, however often it was imported. So there is one
//! record for each handle. Imports and frees hold the lock from the request to the record, so that none closes a handle that another
//! is about to return.

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
};

use super::Bo;
use crate::border::{Answer, Failure, Handle};

/// Handles are the lowest free numbers, so an array is dense. Beyond this number a kernel is not believed.
const HANDLES_END: usize = 1 << 24;

/// The tables of a device.
#[derive(Default)]
pub(crate) struct Table(Mutex<Entries>);

/// The tables, locked.
#[derive(Default)]
pub(super) struct Entries {
    handles: Vec<Handle<Bo>>,
    names: BTreeMap<u32, Handle<Bo>>,
}

// SAFETY: the records are shared between threads by their handles anyway; their fields are atomic, locked or constant.
unsafe impl Send for Entries {}

impl Table {
    pub(super) fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Describes the BOs that were not freed.
    pub(crate) fn leaks(&self) -> Vec<String> {
        let entries = self.lock();
        let describe = |bo: &Bo| {
            let (handle, size, count) = (bo.handle(), bo.size(), bo.references());
            let mapped = if bo.mapping().count() > 0 { ", mapped for the CPU" } else { "" };
            format!("BO {handle} of {size} bytes, {count} references{mapped}")
        };
        entries.iter().map(describe).collect()
    }
}

impl Entries {
    pub(super) fn by_handle(&self, handle: u32) -> Option<Handle<Bo>> {
        self.handles.get(handle as usize).copied().filter(|bo| !bo.is_null())
    }

    pub(super) fn by_name(&self, name: u32) -> Option<Handle<Bo>> {
        self.names.get(&name).copied()
    }

    /// Makes the record of a handle that has none, and enters it.
    ///
    /// # Errors
    ///
    /// ENOMEM if there is no memory for the entry.
    pub(super) fn enter(&mut self, bo: Bo) -> Answer<Handle<Bo>> {
        let index = bo.handle() as usize;
        if index >= HANDLES_END {
            return Err(Failure::NO_MEMORY);
        }
        if index >= self.handles.len() {
            let len = (index + 1).next_power_of_two().max(512);
            self.handles.try_reserve(len - self.handles.len()).map_err(|_| Failure::NO_MEMORY)?;
            self.handles.resize(len, Handle::NULL);
        }
        let record = Handle::new(Box::into_raw(Box::new(bo)));
        self.handles[index] = record;
        Ok(record)
    }

    pub(super) fn enter_name(&mut self, name: u32, bo: Handle<Bo>) {
        self.names.insert(name, bo);
    }

    /// Removes what leads to a record.
    pub(super) fn remove(&mut self, record: Handle<Bo>, bo: &Bo) {
        let is_it = |entry: &Handle<Bo>| entry.pointer() == record.pointer();
        if let Some(entry) = self.handles.get_mut(bo.handle() as usize).filter(|entry| is_it(entry)) {
            *entry = Handle::NULL;
        }
        if bo.name() != 0 && self.names.get(&bo.name()).is_some_and(is_it) {
            self.names.remove(&bo.name());
        }
    }

    /// Returns the records in the order of their handles.
    pub(super) fn records(&self) -> impl Iterator<Item = Handle<Bo>> {
        self.handles.iter().copied().filter(|bo| !bo.is_null())
    }

    /// Borrows the records in the order of their handles.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Bo> {
        self.records().filter_map(|bo| bo.get().ok())
    }
}
