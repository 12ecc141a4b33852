//! Primary and render nodes: DRM master and authentication.
//!
//! Source: Linux 6.12 `drm_auth.c`; `drm_file.c`, `drm_file_alloc`; `drm_ioctl.c`, `drm_ioctl_permit`.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use amdgpu_uapi::Errno;
use parking_lot::{Mutex, MutexGuard};

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

/// A master, with the files that it may authenticate. A master that drops its rights and sets them again stays the same.
///
/// Source: Linux 6.12 `drm_auth.h`, `struct drm_master`.
#[derive(Debug, Default)]
struct Master {
    /// `true` if it requested an interface version, which assigns a bus ID.
    has_unique: AtomicBool,
    /// The files by their tokens; `None` for an authenticated file, whose token is not reused while the file is open.
    magics: Mutex<BTreeMap<u32, Option<Arc<AtomicBool>>>>,
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
        self.state.lock().master.has_unique.store(true, Ordering::Release);
    }

    /// Returns `true` if the file's master has a bus id.
    pub(crate) fn has_unique(&self) -> bool {
        self.state.lock().master.has_unique.load(Ordering::Acquire)
    }

    /// Performs GET_MAGIC: returns the file's token, the lowest one that was free for its master at the first call.
    pub(crate) fn magic(&self) -> u32 {
        let mut state = self.state.lock();
        if let Some(magic) = state.magic {
            return magic;
        }
        let mut magics = state.master.magics.lock();
        let magic = (1..u32::MAX).find(|magic| !magics.contains_key(magic)).unwrap_or(u32::MAX);
        magics.insert(magic, Some(Arc::clone(&self.authenticated)));
        drop(magics);
        state.magic = Some(magic);
        magic
    }

    /// Performs AUTH_MAGIC: authenticates a file of this file's master by its token, once.
    pub(crate) fn authenticate(&self, magic: u32) -> Result<(), Errno> {
        let state = self.state.lock();
        let found = state.master.magics.lock().get_mut(&magic).and_then(Option::take);
        found.ok_or(Errno::EINVAL)?.store(true, Ordering::Release);
        Ok(())
    }
}

impl FileState {
    fn is_current(&self, current: Option<&Arc<Master>>) -> bool {
        self.is_master && current.is_some_and(|current| Arc::ptr_eq(current, &self.master))
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

    /// Ends a file's being master. Returns `true` if it was master.
    fn resign(&self, state: &FileState) -> bool {
        self.0.lock().take_if(|current| state.is_current(Some(current))).is_some()
    }

    /// Handles the closing of a file.
    pub(crate) fn forget(&self, node: &Node) {
        if let Some(primary) = node.as_primary() {
            let state = primary.state.lock();
            if let Some(magic) = state.magic {
                state.master.magics.lock().remove(&magic);
            }
            self.resign(&state);
        }
    }
}
