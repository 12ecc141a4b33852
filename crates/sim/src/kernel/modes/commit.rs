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
use crate::kernel::sync::fence::Fence;

impl Screen {
    /// Queues a commit behind those of other CRTCs that are to be scanned out. One that changes nothing that is shown needs no
    /// vertical blank, and takes no place in the queue.
    ///
    /// # Errors
    ///
    /// EBUSY where another commit of its CRTCs is to be scanned out.
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
            // It was made on top of that one.
            last.to = commit.to.clone();
            Gone::default()
        } else {
            self.scan_out(&mut state, commit.to.clone())
        };
        drop(state);
        self.tell(Some(commit), gone);
        Ok(())
    }

    /// Returns the fences of the commits of these CRTCs that are to be scanned out.
    pub(super) fn pending(&self, crtcs: u32) -> Vec<Arc<Fence>> {
        let state = self.state.lock();
        let of_them = state.pending.iter().filter(|earlier| earlier.crtcs & crtcs != 0);
        of_them.map(|earlier| Arc::clone(&earlier.done)).collect()
    }

    /// Shows nothing any more, unless a file is open by now: the console has the display once the last file is closed, and
    /// the simulated one is empty. What is to be scanned out is shown first.
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
            self.tell(Some(commit), Gone::default());
        }
        self.tell(None, gone);
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

    /// Scans out another configuration. Returns what goes with the one before.
    fn scan_out(&self, state: &mut State, to: Configuration) -> Gone {
        let is_dark = state.scanned.feeds(0).is_some_and(|crtc| !to.is_active(crtc));
        let before = std::mem::replace(&mut state.scanned, to);
        let State { scanned, awaited, .. } = state;
        let first = self.modes.crtcs().start;
        let awaited =
            awaited.extract_if(.., |awaited| !scanned.is_active(awaited.crtc_id.wrapping_sub(first))).collect();
        Gone { awaited, shown: is_dark.then_some(before) }
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
        let _delivering = self.delivering.lock();
        let mut state = self.state.lock();
        let is_ready = state.pending.front().is_some_and(|commit| is_forced || commit.is_ready());
        let commit = if is_ready { state.pending.pop_front() } else { None };
        let awaited = state.awaited.extract_if(.., |one| is_forced || has_passed(count, one.count)).collect();
        let mut told = Gone { awaited, shown: None };
        if let Some(commit) = &commit {
            told.extend(self.scan_out(&mut state, commit.to.clone()));
        }
        let is_idle = state.pending.is_empty() && state.awaited.is_empty();
        state.is_watched = !is_idle;
        drop(state);
        self.tell(commit, told);
        is_idle
    }

    /// Tells clients that a commit is scanned out and that vertical blanks came, and keeps the picture before it.
    fn tell(&self, commit: Option<Pending>, gone: Gone) {
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

/// The end of a configuration that was scanned out.
#[derive(Debug, Default)]
struct Gone {
    /// Vertical blanks that came, or that will not come because their CRTC went off.
    awaited: Vec<Awaited>,
    /// The configuration, if the display went dark after it.
    shown: Option<Configuration>,
}

impl Gone {
    fn extend(&mut self, later: Self) {
        self.awaited.extend(later.awaited);
        self.shown = later.shown.or(self.shown.take());
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
