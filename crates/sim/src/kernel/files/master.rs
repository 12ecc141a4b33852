//! Masters of a display engine, and the objects that they lease to others.
//!
//! Source: Linux 6.12 `drm_auth.c`; `drm_lease.c`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

/// A master, with the files that it may authenticate. A master that drops its rights and sets them again stays the same.
///
/// Source: Linux 6.12 `drm_auth.h`, `struct drm_master`.
#[derive(Debug, Default)]
pub(super) struct Master {
    /// `true` if it requested an interface version, which assigns a bus ID.
    has_unique: AtomicBool,
    /// The files by their tokens; `None` for an authenticated file, whose token is not reused while the file is open.
    magics: Mutex<BTreeMap<u32, Option<Arc<AtomicBool>>>>,
    /// The lease of a lessee; `None` for a master that owns all objects.
    lease: Option<Lease>,
    /// Masters that lease objects from this one, by their numbers, oldest first.
    lessees: Mutex<Vec<(u32, Weak<Self>)>>,
}

/// Objects that a master leases from another one.
#[derive(Debug)]
struct Lease {
    number: u32,
    lessor: Arc<Master>,
    /// Ids of the objects; none after the lease was revoked.
    objects: Mutex<BTreeSet<u32>>,
}

impl Master {
    pub(super) fn give_unique(&self) {
        self.has_unique.store(true, Ordering::Release);
    }

    pub(super) fn has_unique(&self) -> bool {
        self.has_unique.load(Ordering::Acquire)
    }

    /// Gives a file the lowest free token.
    pub(super) fn add_magic(&self, authenticated: &Arc<AtomicBool>) -> u32 {
        let mut magics = self.magics.lock();
        let magic = (1..u32::MAX).find(|magic| !magics.contains_key(magic)).unwrap_or(u32::MAX);
        magics.insert(magic, Some(Arc::clone(authenticated)));
        magic
    }

    pub(super) fn remove_magic(&self, magic: u32) {
        self.magics.lock().remove(&magic);
    }

    /// Removes and returns the file of a token. A token can be used once.
    pub(super) fn take_file(&self, magic: u32) -> Option<Arc<AtomicBool>> {
        self.magics.lock().get_mut(&magic).and_then(Option::take)
    }

    /// Returns the master that owns all objects: itself or its lessor.
    pub(super) fn owner(self: &Arc<Self>) -> &Arc<Self> {
        self.lease.as_ref().map_or(self, |lease| &lease.lessor)
    }

    /// Returns `true` if it leases its objects from another master.
    pub(super) const fn is_lessee(&self) -> bool {
        self.lease.is_some()
    }

    /// Returns the number of a lessee; `None` for an owner.
    pub(super) fn number(&self) -> Option<u32> {
        self.lease.as_ref().map(|lease| lease.number)
    }

    /// Returns `true` if it may use an object.
    pub(super) fn holds(&self, id: u32) -> bool {
        self.lease.as_ref().is_none_or(|lease| lease.objects.lock().contains(&id))
    }

    /// Returns the objects of a lessee, in ascending order; `None` for an owner.
    pub(super) fn leased(&self) -> Option<Vec<u32>> {
        self.lease.as_ref().map(|lease| lease.objects.lock().iter().copied().collect())
    }

    /// Creates a lessee of some objects, with the lowest free number.
    ///
    /// # Errors
    ///
    /// EINVAL if this is a lessee itself, EBUSY if a lessee has one of the objects.
    pub(super) fn lend(self: &Arc<Self>, objects: BTreeSet<u32>) -> Result<Arc<Self>, Errno> {
        if self.is_lessee() {
            return Err(Errno::EINVAL);
        }
        let mut lessees = self.lessees.lock();
        lessees.retain(|(_, lessee)| lessee.strong_count() > 0);
        let is_taken =
            |id: &u32| lessees.iter().filter_map(|(_, lessee)| lessee.upgrade()).any(|lessee| lessee.holds(*id));
        if objects.iter().any(is_taken) {
            return Err(Errno::EBUSY);
        }
        let number =
            (1..u32::MAX).find(|number| lessees.iter().all(|(other, _)| other != number)).ok_or(Errno::ENOSPC)?;
        let lease = Lease { number, lessor: Arc::clone(self), objects: Mutex::new(objects) };
        let lessee = Arc::new(Self { lease: Some(lease), ..Self::default() });
        lessees.push((number, Arc::downgrade(&lessee)));
        Ok(lessee)
    }

    /// Returns the numbers of the lessees that have objects, oldest first.
    pub(super) fn lessees(&self) -> Vec<u32> {
        let lessees = self.lessees.lock();
        let has_objects = |lessee: &Weak<Self>| {
            lessee.upgrade().and_then(|lessee| lessee.leased()).is_some_and(|ids| !ids.is_empty())
        };
        lessees.iter().filter(|(_, lessee)| has_objects(lessee)).map(|(number, _)| *number).collect()
    }

    /// Takes all objects from a lessee of this master.
    ///
    /// # Errors
    ///
    /// ENOENT if the owner has no lessee of this number, EACCES if this is not the owner.
    pub(super) fn revoke(self: &Arc<Self>, number: u32) -> Result<(), Errno> {
        let owner = self.owner();
        let known =
            owner.lessees.lock().iter().find(|(other, _)| *other == number).map(|(_, lessee)| Weak::clone(lessee));
        let lessee = known.and_then(|lessee| lessee.upgrade()).ok_or(Errno::ENOENT)?;
        if self.is_lessee() {
            return Err(Errno::EACCES);
        }
        lessee.revoke_all();
        Ok(())
    }

    /// Removes all objects from this master and from its lessees. This happens when its file is closed.
    pub(super) fn revoke_all(&self) {
        if let Some(lease) = &self.lease {
            lease.objects.lock().clear();
        }
        let lessees: Vec<_> = self.lessees.lock().iter().filter_map(|(_, lessee)| lessee.upgrade()).collect();
        for lessee in lessees {
            lessee.revoke_all();
        }
    }
}
