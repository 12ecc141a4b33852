//! Primary and render nodes: who is master, who is authenticated.
//!
//! Source: Linux 6.12 `drm_auth.c`; `drm_file.c`, `drm_file_alloc`; `drm_ioctl.c`, `drm_ioctl_permit`.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use nix::errno::Errno;
use parking_lot::Mutex;

/// Through which node a file was opened.
#[derive(Debug)]
pub(crate) enum Node {
    /// Anybody may use it, for what is allowed there.
    Render,
    /// Master and authentication count.
    Primary(Primary),
}

/// A file of a primary node.
#[derive(Debug)]
pub(crate) struct Primary {
    authenticated: Arc<AtomicBool>,
    /// Opened with CAP_SYS_ADMIN.
    is_admin: bool,
    was_master: AtomicBool,
    /// The token for GET_MAGIC, once asked for.
    magic: Mutex<Option<u32>>,
}

/// The master of a device, and the tokens it may authenticate.
#[derive(Debug, Default)]
pub(crate) struct Masters(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    /// The master's file.
    current: Option<u64>,
    /// `true` if the master asked for an interface version, which gives it a bus id.
    has_unique: bool,
    magics: HashMap<u32, Arc<AtomicBool>>,
    last_magic: u32,
}

impl Node {
    /// A file of the primary node. The first one without a master becomes it.
    pub(crate) fn primary(masters: &Masters, file: u64, is_admin: bool) -> Self {
        let mut state = masters.0.lock();
        let becomes_master = state.current.is_none();
        if becomes_master {
            state.crown(file);
        }
        Self::Primary(Primary {
            authenticated: Arc::new(AtomicBool::new(is_admin || becomes_master)),
            is_admin,
            was_master: AtomicBool::new(becomes_master),
            magic: Mutex::default(),
        })
    }

    /// The primary file, if it is one.
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

    fn may_change_master(&self) -> Result<(), Errno> {
        if self.is_admin || self.was_master.load(Ordering::Acquire) { Ok(()) } else { Err(Errno::EACCES) }
    }
}

impl State {
    fn crown(&mut self, file: u64) {
        self.current = Some(file);
        self.has_unique = false;
    }
}

impl Masters {
    pub(crate) fn is_master(&self, file: u64) -> bool {
        self.0.lock().current == Some(file)
    }

    /// SET_MASTER.
    pub(crate) fn set(&self, primary: &Primary, file: u64) -> Result<(), Errno> {
        primary.may_change_master()?;
        let mut state = self.0.lock();
        match state.current {
            Some(current) if current == file => Ok(()),
            Some(_) => Err(Errno::EBUSY),
            None => {
                state.crown(file);
                primary.was_master.store(true, Ordering::Release);
                primary.authenticated.store(true, Ordering::Release);
                Ok(())
            }
        }
    }

    /// DROP_MASTER.
    pub(crate) fn drop_master(&self, primary: &Primary, file: u64) -> Result<(), Errno> {
        primary.may_change_master()?;
        if self.resign(file) { Ok(()) } else { Err(Errno::EINVAL) }
    }

    /// The file is no master any more; whether it was.
    fn resign(&self, file: u64) -> bool {
        let mut state = self.0.lock();
        let was = state.current == Some(file);
        if was {
            state.current = None;
        }
        was
    }

    /// The file is closed.
    pub(crate) fn forget(&self, node: &Node, file: u64) {
        if let Some(primary) = node.as_primary() {
            if let Some(magic) = *primary.magic.lock() {
                self.0.lock().magics.remove(&magic);
            }
            self.resign(file);
        }
    }

    /// GET_MAGIC: the same token every time.
    pub(crate) fn magic(&self, primary: &Primary) -> u32 {
        *primary.magic.lock().get_or_insert_with(|| {
            let mut state = self.0.lock();
            state.last_magic = state.last_magic.wrapping_add(1).max(1);
            let magic = state.last_magic;
            state.magics.insert(magic, Arc::clone(&primary.authenticated));
            magic
        })
    }

    /// AUTH_MAGIC: each token once.
    pub(crate) fn authenticate(&self, magic: u32) -> Result<(), Errno> {
        let authenticated = self.0.lock().magics.remove(&magic).ok_or(Errno::EINVAL)?;
        authenticated.store(true, Ordering::Release);
        Ok(())
    }

    /// SET_VERSION gave the master a bus id.
    pub(crate) fn give_unique(&self) {
        self.0.lock().has_unique = true;
    }

    pub(crate) fn has_unique(&self) -> bool {
        self.0.lock().has_unique
    }
}
