//! Who opened a node, and what that allows.
//!
//! A render node asks for nothing and allows little. On a primary node there is at most one master; it, the files it
//! authenticated and administrators may use the GPU.
//!
//! Source: Linux 6.12 `drm_auth.c`; `drm_ioctl.c`, `drm_ioctl_permit`.

use std::sync::{Arc, Weak};

use nix::errno::Errno;
use parking_lot::Mutex;

use crate::ids::Ids;

/// Who opens a primary node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Privilege {
    /// A process with CAP_SYS_ADMIN: authenticated from the start, and may become master whenever there is none.
    Admin,
    /// Any other process.
    User,
}

bitflags::bitflags! {
    /// What a request asks of the file it is sent to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(crate) struct Access: u8 {
        /// An authenticated file, on a primary node.
        const AUTH = 1 << 0;
        /// The current master.
        const MASTER = 1 << 1;
        /// Render nodes have it.
        const RENDER = 1 << 2;
    }
}

/// Those who share a master: the files that were opened under it, by the numbers they ask to be authenticated with.
#[derive(Debug)]
struct Circle(Mutex<Ids<Weak<Mutex<Standing>>>>);

impl Circle {
    fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(Ids::new(i32::MAX as u32))))
    }
}

/// The current master of a device.
#[derive(Debug, Default)]
pub(crate) struct Master(Mutex<Option<Arc<Circle>>>);

/// What a file of a primary node may do.
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "facts that do not exclude each other")]
struct Standing {
    admin: bool,
    circle: Arc<Circle>,
    is_master: bool,
    was_master: bool,
    authenticated: bool,
    /// 0 before GET_MAGIC.
    magic: u32,
    /// Whether SET_VERSION gave the circle its bus id.
    has_unique: bool,
}

impl Standing {
    /// Starts a circle of its own, as its master.
    fn found(&mut self, current: &mut Option<Arc<Circle>>) {
        self.circle = Circle::new();
        self.is_master = true;
        self.was_master = true;
        self.authenticated = true;
        *current = Some(Arc::clone(&self.circle));
    }

    fn is_current(&self, current: Option<&Arc<Circle>>) -> bool {
        self.is_master && current.is_some_and(|current| Arc::ptr_eq(current, &self.circle))
    }
}

/// Which node a file is of, and what it may do.
#[derive(Debug)]
pub(crate) struct Auth(Option<Arc<Mutex<Standing>>>);

impl Auth {
    /// A file of the render node.
    pub(crate) const fn render() -> Self {
        Self(None)
    }

    /// A file of the primary node: the master if there is none.
    ///
    /// Source: `drm_master_open`.
    pub(crate) fn primary(master: &Master, privilege: Privilege) -> Self {
        let mut current = master.0.lock();
        let admin = privilege == Privilege::Admin;
        let circle = current.clone();
        let mut standing = Standing {
            admin,
            circle: circle.clone().unwrap_or_else(Circle::new),
            is_master: false,
            was_master: false,
            authenticated: admin,
            magic: 0,
            has_unique: false,
        };
        if circle.is_none() {
            standing.found(&mut current);
        }
        Self(Some(Arc::new(Mutex::new(standing))))
    }

    fn standing(&self) -> Result<&Arc<Mutex<Standing>>, Errno> {
        self.0.as_ref().ok_or(Errno::EACCES)
    }

    /// Whether it is the current master.
    pub(crate) fn is_master(&self, master: &Master) -> bool {
        let current = master.0.lock();
        self.0.as_ref().is_some_and(|standing| standing.lock().is_current(current.as_ref()))
    }

    pub(crate) fn is_authenticated(&self) -> bool {
        self.0.as_ref().is_some_and(|standing| standing.lock().authenticated)
    }

    /// EACCES where the request asks for more than the file is.
    pub(crate) fn permit(&self, access: Access, master: &Master) -> Result<(), Errno> {
        let is_render = self.0.is_none();
        let refused = (access.contains(Access::AUTH) && !is_render && !self.is_authenticated())
            || (access.contains(Access::MASTER) && !self.is_master(master))
            || (is_render && !access.contains(Access::RENDER));
        if refused { Err(Errno::EACCES) } else { Ok(()) }
    }

    /// GET_MAGIC: the number to be authenticated with, the same at every call.
    ///
    /// Source: `drm_getmagic`.
    pub(crate) fn magic(&self) -> Result<u32, Errno> {
        let known = self.standing()?;
        let mut standing = known.lock();
        if standing.magic == 0 {
            let magic = standing.circle.0.lock().insert(Arc::downgrade(known)).map_err(|_| Errno::ENOSPC)?;
            standing.magic = magic;
        }
        Ok(standing.magic)
    }

    /// AUTH_MAGIC: authenticates the file that got this number; once.
    ///
    /// Source: `drm_authmagic`.
    pub(crate) fn authenticate(&self, magic: u32) -> Result<(), Errno> {
        let circle = Arc::clone(&self.standing()?.lock().circle);
        // The number stays taken, and names nobody any more.
        let waiting = circle.0.lock().replace(magic, Weak::new()).ok().and_then(|file| file.upgrade());
        waiting.ok_or(Errno::EINVAL)?.lock().authenticated = true;
        Ok(())
    }

    /// SET_MASTER.
    ///
    /// # Errors
    ///
    /// EACCES for a file that never was the master, unless its opener is an administrator; EBUSY when there is one.
    ///
    /// Source: `drm_setmaster_ioctl`.
    pub(crate) fn set_master(&self, master: &Master) -> Result<(), Errno> {
        let mut current = master.0.lock();
        let mut standing = self.standing()?.lock();
        if !standing.was_master && !standing.admin {
            return Err(Errno::EACCES);
        }
        if standing.is_current(current.as_ref()) {
            return Ok(());
        }
        if current.is_some() {
            return Err(Errno::EBUSY);
        }
        if standing.is_master {
            *current = Some(Arc::clone(&standing.circle));
        } else {
            standing.found(&mut current);
        }
        Ok(())
    }

    /// DROP_MASTER.
    ///
    /// Source: `drm_dropmaster_ioctl`.
    pub(crate) fn drop_master(&self, master: &Master) -> Result<(), Errno> {
        let mut current = master.0.lock();
        let standing = self.standing()?.lock();
        if !standing.was_master && !standing.admin {
            return Err(Errno::EACCES);
        }
        if !standing.is_current(current.as_ref()) {
            return Err(Errno::EINVAL);
        }
        *current = None;
        Ok(())
    }

    /// SET_VERSION: from now on GET_UNIQUE knows the bus id.
    pub(crate) fn name_bus(&self) -> Result<(), Errno> {
        self.standing()?.lock().has_unique = true;
        Ok(())
    }

    /// Whether GET_UNIQUE knows the bus id.
    pub(crate) fn knows_bus(&self) -> bool {
        self.0.as_ref().is_some_and(|standing| standing.lock().has_unique)
    }

    /// The file is closed: its master's seat is free, and its number names nobody.
    ///
    /// Source: `drm_master_release`.
    pub(crate) fn close(&self, master: &Master) {
        let Some(standing) = &self.0 else { return };
        let mut current = master.0.lock();
        let standing = standing.lock();
        standing.circle.0.lock().remove(standing.magic);
        if standing.is_current(current.as_ref()) {
            *current = None;
        }
    }
}
