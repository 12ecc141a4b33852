//! One charge for each BO that is shared, however often it is imported.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use parking_lot::Mutex;

use super::Charge;
use crate::winsys::Bo;

/// The charges of BOs that were exported or imported, by handle: the same BO imported twice has one handle, and takes
/// memory once.
///
/// A charge is dropped before its owner lets go of the handle, so an entry that is alive belongs to the BO that has the
/// handle now.
#[derive(Debug, Default)]
pub(super) struct SharedCharges {
    by_handle: Mutex<HashMap<u32, Weak<Charge>>>,
}

impl SharedCharges {
    /// The charge of a BO that may be shared: the one there is, or the one that `make` makes.
    ///
    /// # Errors
    ///
    /// What `make` answers.
    pub(super) fn of<E>(&self, bo: &Bo, make: impl FnOnce() -> Result<Charge, E>) -> Result<Arc<Charge>, E> {
        let mut by_handle = self.by_handle.lock();
        if let Some(charge) = by_handle.get(&bo.handle()).and_then(Weak::upgrade) {
            return Ok(charge);
        }
        let charge = Arc::new(make()?);
        by_handle.insert(bo.handle(), Arc::downgrade(&charge));
        Ok(charge)
    }
}
