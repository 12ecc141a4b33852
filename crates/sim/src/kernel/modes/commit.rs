//! Commits on their way to the display.
//!
//! Source: Linux 6.12 `drm_atomic_helper.c`, `drm_atomic_helper_setup_commit` and `drm_atomic_helper_commit_hw_done`;
//! `drm_vblank.c`, `drm_handle_vblank` and `drm_crtc_vblank_off`.

use std::{
    sync::{Arc, Weak},
    thread,
};

use amdgpu_uapi::{EVENT_FLIP_COMPLETE, Errno};
use parking_lot::MutexGuard;

use super::{
    configuration::{Configuration, PlaneState},
    framebuffer::Framebuffer,
    pending::{Pending, Signal},
    screen::{Screen, State},
    vblank::{Awaited, event, has_passed},
};

impl Screen {
    /// Queues a commit behind those that are to be scanned out. One that changes nothing that is shown needs no vertical
    /// blank.
    pub(super) fn queue(self: &Arc<Self>, commit: Pending, shows: bool, may_wait: bool) -> Result<(), Errno> {
        let mut state = self.state.lock();
        if !may_wait && state.pending.iter().any(|earlier| earlier.crtcs & commit.crtcs != 0) {
            return Err(Errno::EBUSY);
        }
        state.now = commit.to.clone();
        if !shows && state.pending.is_empty() {
            let gone = self.scan_out(&mut state, commit.to.clone());
            drop(state);
            self.tell(Some(commit), gone);
            return Ok(());
        }
        state.pending.push_back(commit);
        self.watch(state);
        Ok(())
    }

    /// Returns `true` if a commit of one of these CRTCs is to be scanned out.
    pub(super) fn is_busy(&self, crtcs: u32) -> bool {
        self.state.lock().pending.iter().any(|earlier| earlier.crtcs & crtcs != 0)
    }

    /// Shows a plane at once, in all configurations.
    pub(super) fn show_at_once(&self, plane: u32, shown: &PlaneState) {
        let mut state = self.state.lock();
        state.configurations().filter_map(|all| all.planes.get_mut(plane as usize)).for_each(|at| *at = shown.clone());
    }

    /// Takes a framebuffer off all planes, at once.
    pub(super) fn hide(&self, framebuffer: &Arc<Framebuffer>) {
        let _committing = self.committing.lock();
        let mut state = self.state.lock();
        if !state.configurations().any(|configuration| configuration.shows(framebuffer)) {
            return;
        }
        // A commit that only waits for its vertical blank has been shown by then.
        let ready = state.pending.iter().take_while(|commit| commit.is_ready()).last().map(|commit| commit.to.clone());
        let mut gone = ready.map(|to| self.scan_out(&mut state, to)).unwrap_or_default();
        let mut scanned = state.scanned.clone();
        scanned.remove(framebuffer);
        gone.extend(self.scan_out(&mut state, scanned));
        state.configurations().for_each(|configuration| configuration.remove(framebuffer));
        drop(state);
        self.tell(None, gone);
    }

    /// Tells a client of a vertical blank once it comes.
    pub(crate) fn await_blank(self: &Arc<Self>, awaited: Awaited) {
        let mut state = self.state.lock();
        state.awaited.push(awaited);
        self.watch(state);
    }

    /// Scans out another configuration. Returns the vertical blanks that will not come, of CRTCs that go off.
    fn scan_out(&self, state: &mut State, to: Configuration) -> Vec<Awaited> {
        if state.scanned.feeds(0).is_some_and(|crtc| !to.is_active(crtc)) {
            self.keep_picture(state);
        }
        state.scanned = to;
        let State { scanned, awaited, .. } = state;
        let first = self.modes.crtcs().start;
        awaited.extract_if(.., |awaited| !scanned.is_active(awaited.crtc_id.wrapping_sub(first))).collect()
    }

    /// Lets a thread wait for vertical blanks while there is anything to do at them.
    fn watch(self: &Arc<Self>, mut state: MutexGuard<'_, State>) {
        if state.is_watched {
            return;
        }
        state.is_watched = true;
        drop(state);
        let screen = Arc::downgrade(self);
        let spawned = thread::Builder::new().name("vertical blank".to_owned()).spawn(move || wait(&screen));
        if spawned.is_err() {
            // Without a thread all is shown at once.
            while !self.blank(true) {}
        }
    }

    /// A vertical blank: the next commit is scanned out, if what it waits for is done or `is_forced`. Returns `true` if nothing
    /// is left to do.
    fn blank(&self, is_forced: bool) -> bool {
        let count = self.blanks.count();
        let mut state = self.state.lock();
        let is_ready = state.pending.front().is_some_and(|commit| is_forced || commit.is_ready());
        let commit = if is_ready { state.pending.pop_front() } else { None };
        let mut told: Vec<_> = state.awaited.extract_if(.., |one| is_forced || has_passed(count, one.count)).collect();
        if let Some(commit) = &commit {
            told.extend(self.scan_out(&mut state, commit.to.clone()));
        }
        let is_idle = state.pending.is_empty() && state.awaited.is_empty();
        state.is_watched = !is_idle;
        drop(state);
        self.tell(commit, told);
        is_idle
    }

    /// Tells clients that a commit is scanned out and that vertical blanks came.
    fn tell(&self, commit: Option<Pending>, awaited: Vec<Awaited>) {
        let count = self.blanks.count();
        for one in awaited {
            one.deliver(self.blanks, count);
        }
        let Some(commit) = commit else { return };
        for Signal { crtc, event: to, fence } in commit.signals {
            if let Some((outbox, user_data)) = to {
                let crtc_id = self.modes.crtcs().start + crtc;
                outbox.deliver(event(EVENT_FLIP_COMPLETE, crtc_id, user_data, count, self.blanks.at(count)));
            }
            if let Some(fence) = fence {
                fence.signal(Ok(()));
            }
        }
        commit.done.signal(Ok(()));
    }
}

impl State {
    /// The configurations of now, on the display, and on the way there.
    fn configurations(&mut self) -> impl Iterator<Item = &mut Configuration> {
        [&mut self.now, &mut self.scanned].into_iter().chain(self.pending.iter_mut().map(|commit| &mut commit.to))
    }
}

/// Waits for vertical blanks until nothing is left to do at them, or the display is gone.
fn wait(screen: &Weak<Screen>) {
    loop {
        let Some(left) = screen.upgrade().map(|screen| screen.blanks.until_next()) else { return };
        thread::sleep(left);
        if screen.upgrade().is_none_or(|screen| screen.blank(false)) {
            return;
        }
    }
}
