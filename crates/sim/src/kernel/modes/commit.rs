//! Commits that are not scanned out yet.
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
    screen::{Screen, ScreenState},
    vblank::{Awaited, event, has_passed},
};
use crate::kernel::sync::fence::Fence;

impl Screen {
    /// Queues a commit after those of other CRTCs that are not scanned out yet. A commit that changes nothing visible needs no
    /// vertical blank and is not queued.
    ///
    /// # Errors
    ///
    /// EBUSY if another commit of its CRTCs is not scanned out yet.
    pub(super) fn queue(self: &Arc<Self>, commit: Pending, shows: bool) -> Result<(), Errno> {
        let mut state = self.state.lock();
        if state.pending.iter().any(|earlier| earlier.crtcs & commit.crtcs != 0) {
            return Err(Errno::EBUSY);
        }
        state.now = commit.to.clone();
        if shows {
            state.pending.push_back(commit);
            self.watch(state);
            return Ok(());
        }
        let gone = if let Some(last) = state.pending.back_mut() {
            // The commit includes the changes of the last one.
            last.to = commit.to.clone();
            Gone::default()
        } else {
            self.scan_out(&mut state, commit.to.clone())
        };
        drop(state);
        self.notify(Some(commit), gone);
        Ok(())
    }

    /// Returns the fences of the commits of these CRTCs that are not scanned out yet.
    pub(super) fn pending(&self, crtcs: u32) -> Vec<Arc<Fence>> {
        let state = self.state.lock();
        let of_them = state.pending.iter().filter(|earlier| earlier.crtcs & crtcs != 0);
        of_them.map(|earlier| Arc::clone(&earlier.done)).collect()
    }

    /// Turns the display off, unless a file is open by now. In Linux the console gets the display when the last file is closed, and
    /// the simulated console is empty. Queued commits are scanned out first.
    ///
    /// Source: Linux 6.12 `drm_file.c`, `drm_lastclose`; `drm_fb_helper.c`, `drm_fb_helper_restore_fbdev_mode_unlocked`.
    pub(crate) fn give_to_console(&self, is_open: impl FnOnce() -> bool) {
        let _committing = self.committing.lock();
        if is_open() {
            return;
        }
        // The commit of a vertical blank that has just come keeps its framebuffers until it is over.
        let _delivering = self.delivering.lock();
        let mut state = self.state.lock();
        let commits = std::mem::take(&mut state.pending);
        let mut gone = Gone { awaited: std::mem::take(&mut state.awaited), shown: None };
        for to in commits.back().map(|last| last.to.clone()).into_iter().chain([self.modes.all_off()]) {
            state.now = to.clone();
            gone.extend(self.scan_out(&mut state, to));
        }
        drop(state);
        for commit in commits {
            self.notify(Some(commit), Gone::default());
        }
        self.notify(None, gone);
    }

    /// Shows a plane at once, in all configurations.
    pub(super) fn show_at_once(&self, plane: u32, shown: &PlaneState) {
        let mut state = self.state.lock();
        state.configurations().filter_map(|all| all.planes.get_mut(plane as usize)).for_each(|at| *at = shown.clone());
    }

    /// Removes a framebuffer from all planes, at once.
    pub(super) fn hide(&self, framebuffer: &Arc<Framebuffer>) {
        let _committing = self.committing.lock();
        let mut state = self.state.lock();
        if !state.configurations().any(|configuration| configuration.shows(framebuffer)) {
            return;
        }
        // A commit that only waits for its vertical blank counts as shown.
        let ready = state.pending.iter().take_while(|commit| commit.is_ready()).last().map(|commit| commit.to.clone());
        let mut gone = ready.map(|to| self.scan_out(&mut state, to)).unwrap_or_default();
        let mut scanned = state.scanned.clone();
        scanned.remove(framebuffer);
        gone.extend(self.scan_out(&mut state, scanned));
        state.configurations().for_each(|configuration| configuration.remove(framebuffer));
        drop(state);
        self.notify(None, gone);
    }

    /// Sends an event to a client when its vertical blank comes.
    pub(crate) fn await_blank(self: &Arc<Self>, awaited: Awaited) {
        let mut state = self.state.lock();
        state.awaited.push(awaited);
        self.watch(state);
    }

    /// Scans out another configuration. Returns what ends with the earlier one.
    fn scan_out(&self, state: &mut ScreenState, to: Configuration) -> Gone {
        let is_dark = state.scanned.feeds(0).is_some_and(|crtc| !to.is_active(crtc));
        let before = std::mem::replace(&mut state.scanned, to);
        let ScreenState { scanned, awaited, .. } = state;
        let first = self.modes.crtcs().start;
        let awaited =
            awaited.extract_if(.., |awaited| !scanned.is_active(awaited.crtc_id.wrapping_sub(first))).collect();
        Gone { awaited, shown: is_dark.then_some(before) }
    }

    /// Starts a thread that waits for vertical blanks as long as they are needed.
    fn watch(self: &Arc<Self>, mut state: MutexGuard<'_, ScreenState>) {
        if state.is_watched {
            return;
        }
        state.is_watched = true;
        drop(state);
        let screen = Arc::downgrade(self);
        let spawned = thread::Builder::new().name("vertical blank".to_owned()).spawn(move || wait(&screen));
        if spawned.is_err() {
            // Without a thread, all commits are scanned out at once.
            while !self.blank(true) {}
        }
    }

    /// Performs a vertical blank: scans out the next commit if all that it waits for is done or `is_forced` is set. Returns `true`
    /// if nothing is left to do.
    fn blank(&self, is_forced: bool) -> bool {
        let count = self.blanks.count();
        let _delivering = self.delivering.lock();
        let mut state = self.state.lock();
        let is_ready = state.pending.front().is_some_and(|commit| is_forced || commit.is_ready());
        let commit = if is_ready { state.pending.pop_front() } else { None };
        let awaited = state.awaited.extract_if(.., |one| is_forced || has_passed(count, one.count)).collect();
        let mut gone = Gone { awaited, shown: None };
        if let Some(commit) = &commit {
            gone.extend(self.scan_out(&mut state, commit.to.clone()));
        }
        let is_idle = state.pending.is_empty() && state.awaited.is_empty();
        state.is_watched = !is_idle;
        drop(state);
        self.notify(commit, gone);
        is_idle
    }

    /// Sends the events of a commit that is scanned out and of vertical blanks, and keeps the picture before the commit.
    fn notify(&self, commit: Option<Pending>, gone: Gone) {
        let count = self.blanks.count();
        for one in gone.awaited {
            one.deliver(self.blanks, count);
        }
        if let Some(shown) = gone.shown {
            self.keep_picture(&shown);
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

/// The events and the configuration that end when another configuration is scanned out.
#[derive(Debug, Default)]
struct Gone {
    /// The events for vertical blanks that came, or that will not come because their CRTC was turned off.
    awaited: Vec<Awaited>,
    /// The earlier configuration, if the display is dark after it.
    shown: Option<Configuration>,
}

impl Gone {
    fn extend(&mut self, later: Self) {
        self.awaited.extend(later.awaited);
        self.shown = later.shown.or(self.shown.take());
    }
}

impl ScreenState {
    /// Returns the present configuration, the one that is scanned out and those of queued commits.
    fn configurations(&mut self) -> impl Iterator<Item = &mut Configuration> {
        [&mut self.now, &mut self.scanned].into_iter().chain(self.pending.iter_mut().map(|commit| &mut commit.to))
    }
}

/// Waits for vertical blanks until they are not needed any more, or the display is removed.
fn wait(screen: &Weak<Screen>) {
    loop {
        let Some(left) = screen.upgrade().map(|screen| screen.blanks.until_next()) else { return };
        thread::sleep(left);
        if screen.upgrade().is_none_or(|screen| screen.blank(false)) {
            return;
        }
    }
}
