//! Changes of the configuration that are not committed yet.

use std::{collections::BTreeMap, sync::Arc};

use amdgpu_uapi::Errno;
use parking_lot::MutexGuard;

use super::{
    check::Checked,
    configuration::{Configuration, CrtcState, PlaneColours, PlaneState},
    pending::{Pending, Signal},
    screen::Screen,
};
use crate::kernel::sync::fence::Fence;

/// A change of the configuration that is not committed yet. No other change can be made meanwhile.
#[derive(Debug)]
pub(crate) struct Change<'s> {
    screen: &'s Arc<Screen>,
    _committing: MutexGuard<'s, ()>,
    old: Configuration,
    new: Configuration,
    /// The planes that take part, as a mask by index.
    planes: u32,
    /// The CRTCs that take part, as a mask by index.
    crtcs: u32,
    /// The fences that planes wait for instead of those of their BOs.
    fences: BTreeMap<u32, Arc<Fence>>,
}

impl Screen {
    /// Begins a change of the configuration.
    pub(crate) fn change(self: &Arc<Self>) -> Change<'_> {
        let committing = self.committing.lock();
        let old = self.configuration();
        let new = old.clone();
        Change { screen: self, _committing: committing, old, new, planes: 0, crtcs: 0, fences: BTreeMap::new() }
    }
}

impl Change<'_> {
    /// Returns the configuration that the change results in.
    pub(crate) const fn new_configuration(&self) -> &Configuration {
        &self.new
    }

    /// Returns the CRTCs that take part, as a mask by index.
    pub(crate) const fn crtcs(&self) -> u32 {
        self.crtcs
    }

    /// Changes a plane. Its CRTCs before and after the change take part.
    pub(crate) fn plane<T>(&mut self, index: u32, change: impl FnOnce(&mut PlaneState) -> T) -> Option<T> {
        let plane = self.new.planes.get_mut(index as usize)?;
        self.crtcs |= bit(plane.crtc);
        let result = change(plane);
        self.crtcs |= bit(plane.crtc);
        self.planes |= 1 << index;
        Some(result)
    }

    /// Changes the colours of a primary plane, which takes part only if they are others then.
    pub(crate) fn colours<T>(&mut self, plane: u32, change: impl FnOnce(&mut PlaneColours) -> T) -> Option<T> {
        let colours = self.new.colours.get_mut(plane as usize)?;
        let before = colours.clone();
        let result = change(colours);
        if *colours != before {
            self.plane(plane, |_| ())?;
        }
        Some(result)
    }

    /// Changes a CRTC.
    pub(crate) fn crtc<T>(&mut self, index: u32, change: impl FnOnce(&mut CrtcState) -> T) -> Option<T> {
        let crtc = self.new.crtcs.get_mut(index as usize)?;
        self.crtcs |= 1 << index;
        Some(change(crtc))
    }

    /// Connects a connector to a CRTC, or to none. Both that CRTC and the earlier one take part.
    pub(crate) fn connect(&mut self, connector: u32, crtc: Option<u32>) {
        if let Some(from) = self.new.connectors.get_mut(connector as usize) {
            self.crtcs |= bit(*from) | bit(crtc);
            *from = crtc;
        }
    }

    /// Makes a plane wait for a fence.
    ///
    /// # Errors
    ///
    /// EINVAL if the plane waits for a fence already.
    pub(crate) fn wait_for(&mut self, plane: u32, fence: Arc<Fence>) -> Result<(), Errno> {
        if self.fences.contains_key(&plane) {
            return Err(Errno::EINVAL);
        }
        self.fences.insert(plane, fence);
        Ok(())
    }

    /// Checks the change. `notified` is the mask of the CRTCs that send an event when the change is scanned out.
    ///
    /// # Errors
    ///
    /// EINVAL, ERANGE or ENOSPC if a check of an atomic commit fails.
    pub(crate) fn check(&self, may_set_modes: bool, notified: u32) -> Result<(), Errno> {
        let screen = self.screen;
        let (modes, display, cursor) = (screen.modes, &screen.mode, screen.cursor);
        let (old, new, planes, crtcs) = (&self.old, &self.new, self.planes, self.crtcs);
        Checked { modes, display, cursor, old, new, planes, crtcs, notified, may_set_modes }.check()
    }

    /// Returns `true` if a commit of one of its CRTCs is not scanned out yet.
    pub(crate) fn is_busy(&self) -> bool {
        !self.screen.pending(self.crtcs).is_empty()
    }

    /// Returns the fences that must signal before a blocking commit can be made: those of earlier commits of its CRTCs that are not
    /// scanned out yet, and its own.
    ///
    /// Source: Linux 6.12 `drm_atomic_helper.c`, `stall_checks`, and `drm_atomic_helper_commit`, which waits for the fences of
    /// such a commit before it changes anything.
    pub(crate) fn obstacles(&self) -> Vec<Arc<Fence>> {
        let mut fences = self.screen.pending(self.crtcs);
        fences.extend(self.waits());
        fences.retain(|fence| !fence.is_signalled());
        fences
    }

    /// Returns the fences that planes wait for: their own fences, or those of writes to their BOs.
    ///
    /// Source: Linux 6.12 `drm_gem_atomic_helper.c`, `drm_gem_plane_helper_prepare_fb`.
    fn waits(&self) -> Vec<Arc<Fence>> {
        let taking_part = (0..).zip(&self.new.planes).filter(|(index, _)| self.planes >> index & 1 != 0);
        let fence_of = |(index, plane): (u32, &PlaneState)| {
            let framebuffer = plane.framebuffer.as_ref()?;
            let own = self.fences.get(&index).cloned();
            Some(own.unwrap_or_else(|| framebuffer.bo.reservation.fence(false)))
        };
        taking_part.filter_map(fence_of).collect()
    }

    /// Commits the change. It is the configuration from now on. It is scanned out from the first vertical blank at which all fences
    /// that it waits for have signalled. Returns the fence that signals then.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check), and EBUSY if another commit of its CRTCs is not scanned out yet.
    pub(crate) fn commit(self, may_set_modes: bool, signals: Vec<Signal>) -> Result<Arc<Fence>, Errno> {
        let notified = signals.iter().fold(0, |notified, signal| notified | 1 << signal.crtc);
        self.check(may_set_modes, notified)?;
        let is_lit = |index: &u32| self.old.is_active(*index) || self.new.is_active(*index);
        let shows =
            (0..self.new.crtcs.len() as u32).filter(|index| self.crtcs >> index & 1 != 0).any(|index| is_lit(&index));
        let done = Fence::of_job(&self.screen.events, 0);
        let pending =
            Pending { to: self.new.clone(), crtcs: self.crtcs, waits: self.waits(), signals, done: Arc::clone(&done) };
        self.screen.queue(pending, shows)?;
        Ok(done)
    }

    /// Commits the change of one plane. It is scanned out at once, because a cursor does not wait.
    ///
    /// Source: Linux 6.12 `drm_atomic_helper.c`, `legacy_cursor_update`.
    ///
    /// # Errors
    ///
    /// Those of [`check`](Self::check).
    pub(crate) fn commit_cursor(self, plane: u32) -> Result<(), Errno> {
        self.check(false, 0)?;
        self.screen.show_at_once(plane, &self.new.plane(plane));
        Ok(())
    }
}

fn bit(index: Option<u32>) -> u32 {
    index.map_or(0, |index| 1 << index)
}
