//! Primary and render nodes: DRM master and authentication.
//!
//! Source: Linux 6.12 `drm_auth.c`; `drm_file.c`, `drm_file_alloc`; `drm_ioctl.c`, `drm_ioctl_permit`.

use std::{
    collections::BTreeSet,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use amdgpu_uapi::Errno;
use parking_lot::{Mutex, MutexGuard};

use super::master::Master;

/// The node through which a file was opened.
#[derive(Debug)]
pub(crate) enum Node {
    /// The render node, without master and authentication.
    Render,
    /// The primary node, with master and authentication.
    Primary(Primary),
}

/// A file of a primary node.
#[derive(Debug)]
pub(crate) struct Primary {
    authenticated: Arc<AtomicBool>,
    /// `true` if the file was opened with CAP_SYS_ADMIN.
    is_admin: bool,
    state: Mutex<FileState>,
    caps: Mutex<ClientCaps>,
}

/// The capabilities that a client has set.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientCaps {
    /// `true` if the client sees all planes, not only overlays.
    pub(crate) universal_planes: bool,
    /// `true` if the client sees the properties for atomic mode setting.
    pub(crate) atomic: bool,
    /// `true` if the client sees the colour pipelines of planes.
    pub(crate) color_pipelines: bool,
}

/// The state of a primary file that its requests change.
#[derive(Debug)]
struct FileState {
    /// The master of the file: its own, or the master at the time of its opening.
    master: Arc<Master>,
    /// `true` if the master was created for this file.
    is_master: bool,
    was_master: bool,
    /// The token of GET_MAGIC, once it was requested.
    magic: Option<u32>,
}

/// The current master of a device.
#[derive(Debug, Default)]
pub(crate) struct Masters(Mutex<Option<Arc<Master>>>);

impl Node {
    /// Creates a file of the primary node, which becomes master if there is none.
    pub(crate) fn primary(masters: &Masters, is_admin: bool) -> Self {
        let mut current = masters.0.lock();
        let is_master = current.is_none();
        let master = Arc::clone(current.get_or_insert_default());
        Self::Primary(Primary {
            authenticated: Arc::new(AtomicBool::new(is_admin || is_master)),
            is_admin,
            state: Mutex::new(FileState { master, is_master, was_master: is_master, magic: None }),
            caps: Mutex::default(),
        })
    }

    /// Returns a file of the primary node for a lessee of a file's master, and the lessee's number.
    ///
    /// # Errors
    ///
    /// EINVAL if the master is a lessee itself, EBUSY if one of the objects is leased already.
    pub(crate) fn lessee(lessor: &Primary, objects: BTreeSet<u32>) -> Result<(Self, u32), Errno> {
        let master = lessor.state.lock().master.lend(objects)?;
        let number = master.number().ok_or(Errno::EINVAL)?;
        let node = Self::Primary(Primary {
            authenticated: Arc::new(AtomicBool::new(true)),
            is_admin: lessor.is_admin,
            state: Mutex::new(FileState { master, is_master: true, was_master: false, magic: None }),
            caps: Mutex::default(),
        });
        Ok((node, number))
    }

    /// Returns `true` if the file's master may use an object that can be leased.
    ///
    /// Source: Linux 6.12 `drm_lease.c`, `drm_lease_held`.
    pub(crate) fn holds(&self, id: u32) -> bool {
        self.as_primary().is_none_or(|primary| primary.state.lock().master.holds(id))
    }

    /// Returns the primary file, if this is one.
    pub(crate) fn as_primary(&self) -> Option<&Primary> {
        match self {
            Self::Render => None,
            Self::Primary(primary) => Some(primary),
        }
    }
}

impl Primary {
    pub(crate) fn is_authenticated(&self) -> bool {
        self.authenticated.load(Ordering::Acquire)
    }

    /// Returns `true` if the file was opened with CAP_SYS_ADMIN.
    pub(crate) const fn is_admin(&self) -> bool {
        self.is_admin
    }

    /// Returns the client's capabilities.
    pub(crate) fn caps(&self) -> MutexGuard<'_, ClientCaps> {
        self.caps.lock()
    }

    /// Assigns a bus ID to the file's master, after SET_VERSION.
    pub(crate) fn give_unique(&self) {
        self.state.lock().master.give_unique();
    }

    /// Returns `true` if the file's master has a bus id.
    pub(crate) fn has_unique(&self) -> bool {
        self.state.lock().master.has_unique()
    }

    /// Performs GET_MAGIC: returns the file's token, the lowest one that was free for its master at the first call.
    pub(crate) fn magic(&self) -> u32 {
        let mut state = self.state.lock();
        if let Some(magic) = state.magic {
            return magic;
        }
        let magic = state.master.add_magic(&self.authenticated);
        state.magic = Some(magic);
        magic
    }

    /// Performs AUTH_MAGIC: authenticates a file of this file's master by its token, once.
    pub(crate) fn authenticate(&self, magic: u32) -> Result<(), Errno> {
        let found = self.state.lock().master.take_file(magic);
        found.ok_or(Errno::EINVAL)?.store(true, Ordering::Release);
        Ok(())
    }

    /// Returns `true` if the file's master leases its objects from another one.
    pub(crate) fn is_lessee(&self) -> bool {
        self.state.lock().master.is_lessee()
    }

    /// Returns the answer to MODE_LIST_LESSEES.
    pub(crate) fn lessees(&self) -> Vec<u32> {
        self.state.lock().master.lessees()
    }

    /// Returns the answer to MODE_GET_LEASE: the objects of a lessee; `None` for an owner.
    pub(crate) fn leased(&self) -> Option<Vec<u32>> {
        self.state.lock().master.leased()
    }

    /// Performs MODE_REVOKE_LEASE.
    pub(crate) fn revoke(&self, lessee: u32) -> Result<(), Errno> {
        self.state.lock().master.revoke(lessee)
    }
}

impl FileState {
    /// Returns `true` if the file is master: its own master, or the one that this leases from, is the current one.
    ///
    /// Source: Linux 6.12 `drm_auth.c`, `drm_is_current_master_locked`.
    fn is_current(&self, current: Option<&Arc<Master>>) -> bool {
        self.is_master && current.is_some_and(|current| Arc::ptr_eq(current, self.master.owner()))
    }
}

impl Masters {
    /// Returns `true` if a file is the device's master.
    pub(crate) fn is_master(&self, node: &Node) -> bool {
        node.as_primary().is_some_and(|primary| primary.state.lock().is_current(self.0.lock().as_ref()))
    }

    /// Performs SET_MASTER. A file that was never master becomes a new one, with its own tokens.
    pub(crate) fn set(&self, primary: &Primary) -> Result<(), Errno> {
        let mut state = primary.state.lock();
        if !primary.is_admin && !state.was_master {
            return Err(Errno::EACCES);
        }
        let mut current = self.0.lock();
        if state.is_current(current.as_ref()) {
            return Ok(());
        }
        if current.is_some() {
            return Err(Errno::EBUSY);
        }
        if state.is_master && state.master.is_lessee() {
            return Err(Errno::EINVAL);
        }
        if !state.is_master {
            *state = FileState { master: Arc::default(), is_master: true, was_master: true, magic: state.magic };
            primary.authenticated.store(true, Ordering::Release);
        }
        *current = Some(Arc::clone(&state.master));
        Ok(())
    }

    /// Performs DROP_MASTER.
    pub(crate) fn drop_master(&self, primary: &Primary) -> Result<(), Errno> {
        let state = primary.state.lock();
        if !primary.is_admin && !state.was_master {
            return Err(Errno::EACCES);
        }
        if self.resign(&state) { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// Ends the master rights of a file. Returns `true` if it was master. A lessee is never master by itself.
    fn resign(&self, state: &FileState) -> bool {
        self.0.lock().take_if(|current| state.is_master && Arc::ptr_eq(current, &state.master)).is_some()
    }

    /// Handles the closing of a file.
    pub(crate) fn forget(&self, node: &Node) {
        if let Some(primary) = node.as_primary() {
            let state = primary.state.lock();
            if let Some(magic) = state.magic {
                state.master.remove_magic(magic);
            }
            self.resign(&state);
            if state.is_master {
                state.master.revoke_all();
            }
        }
    }
}
