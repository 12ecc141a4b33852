//! The display that is plugged in: its framebuffers, the one that it shows, and its clock.
//!
//! Source: Linux 6.12 `drm_crtc.c`, `drm_mode_setcrtc`; `drm_plane.c`, `drm_mode_page_flip_ioctl`; `drm_framebuffer.c`,
//! `drm_mode_rmfb` and `drm_fb_release`.

use std::{
    collections::BTreeMap,
    sync::{Arc, Weak},
    thread,
    time::{Duration, Instant},
};

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{Chip, ChipRegisters};
use amdgpu_uapi::{EVENT_FLIP_COMPLETE, Errno, EventVblank, ModeInfo};
use nix::time::{ClockId, clock_gettime};
use parking_lot::Mutex;

use super::{framebuffer::Framebuffer, outbox::Outbox};
use crate::{
    chips::Profile,
    display::{Display, Picture},
};

/// The first id of framebuffers.
const FIRST: u32 = 0x1000;
/// Framebuffers of a device at most.
const MOST: usize = 1 << 14;

/// A display that is plugged in.
#[derive(Debug)]
pub(crate) struct Screen {
    pub(crate) mode: ModeInfo,
    level: GfxLevel,
    chip: Option<Chip>,
    period: Duration,
    born: Instant,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// By their ids, with the number of the file that made each.
    framebuffers: BTreeMap<u32, (u64, Framebuffer)>,
    /// Ids given out.
    made: u32,
    shown: Option<Shown>,
    flip: Option<Flip>,
    /// `true` while a thread waits for the vertical blank.
    is_awaited: bool,
    /// The last that was shown before the display went dark.
    last: Option<Picture>,
}

/// The framebuffer on the display.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) crtc: u32,
    pub(crate) framebuffer: u32,
    /// Position in the framebuffer.
    pub(crate) at: (u32, u32),
}

/// A framebuffer that is to be shown.
#[derive(Debug)]
struct Flip {
    framebuffer: u32,
    /// The file that reads of it, and the number that it gave.
    event: Option<(Arc<Outbox>, u64)>,
}

impl Screen {
    pub(crate) fn new(display: Display, profile: &Profile, drm_minor: i32) -> Arc<Self> {
        let reported = profile.reported(u32::try_from(drm_minor).unwrap_or(0));
        let (level, chip) = (profile.gfx_level, Chip::new(&ChipRegisters::reported(&reported)).ok());
        let mode = display.mode();
        let period = Duration::from_secs(1) * (u32::from(mode.htotal) * u32::from(mode.vtotal)) / (mode.clock * 1000);
        Arc::new(Self { mode, level, chip, period, born: Instant::now(), state: Mutex::default() })
    }

    pub(crate) const fn level(&self) -> GfxLevel {
        self.level
    }

    /// Adds a framebuffer of a file; its id.
    pub(crate) fn add(&self, owner: u64, framebuffer: Framebuffer) -> Result<u32, Errno> {
        framebuffer.check(self.level, self.chip.as_ref())?;
        let mut state = self.state.lock();
        if state.framebuffers.len() >= MOST {
            return Err(Errno::ENOMEM);
        }
        let id = FIRST.checked_add(state.made).ok_or(Errno::ENOSPC)?;
        state.made += 1;
        state.framebuffers.insert(id, (owner, framebuffer));
        Ok(id)
    }

    /// Removes a framebuffer of a file. If it is shown, the display goes dark.
    pub(crate) fn remove(&self, owner: u64, id: u32) -> Result<(), Errno> {
        let mut state = self.state.lock();
        state.framebuffers.get(&id).filter(|(of, _)| *of == owner).ok_or(Errno::ENOENT)?;
        self.forget(&mut state, id);
        Ok(())
    }

    /// Removes the framebuffers of a file that is closed.
    pub(crate) fn remove_all(&self, owner: u64) {
        let mut state = self.state.lock();
        for id in ids(&state, owner) {
            self.forget(&mut state, id);
        }
    }

    /// Returns the ids of a file's framebuffers.
    pub(crate) fn of_file(&self, owner: u64) -> Vec<u32> {
        ids(&self.state.lock(), owner)
    }

    fn forget(&self, state: &mut State, id: u32) {
        if state.shown.is_some_and(|shown| shown.framebuffer == id) {
            self.darken(state);
        }
        // A flip to it shows nothing; its event comes all the same.
        let gone = state.framebuffers.remove(&id);
        drop(gone);
    }

    fn darken(&self, state: &mut State) {
        if let Some(picture) = self.picture_of(state) {
            state.last = Some(picture);
        }
        state.shown = None;
    }

    /// Returns what is shown.
    pub(crate) fn shown(&self) -> Option<Shown> {
        self.state.lock().shown
    }

    /// Returns the picture that the display shows, or that it showed last.
    pub(crate) fn picture(&self) -> Option<Picture> {
        let state = self.state.lock();
        self.picture_of(&state).or_else(|| state.last.clone())
    }

    fn size(&self) -> (u32, u32) {
        (self.mode.hdisplay.into(), self.mode.vdisplay.into())
    }

    fn picture_of(&self, state: &State) -> Option<Picture> {
        let shown = state.shown?;
        let (_, framebuffer) = state.framebuffers.get(&shown.framebuffer)?;
        framebuffer.picture(self.chip.as_ref(), shown.at, self.size())
    }

    /// SETCRTC: shows a framebuffer.
    ///
    /// # Errors
    ///
    /// ENOENT for no framebuffer, ENOSPC for one that does not cover the display from there on.
    pub(crate) fn show(&self, shown: Shown) -> Result<(), Errno> {
        let mut state = self.state.lock();
        let (_, framebuffer) = state.framebuffers.get(&shown.framebuffer).ok_or(Errno::ENOENT)?;
        if !self.covers(framebuffer, shown.at) {
            return Err(Errno::ENOSPC);
        }
        state.shown = Some(shown);
        Ok(())
    }

    /// SETCRTC: turns a CRTC off.
    pub(crate) fn turn_off(&self, crtc: u32) {
        let mut state = self.state.lock();
        if state.shown.is_some_and(|shown| shown.crtc == crtc) {
            self.darken(&mut state);
        }
    }

    fn covers(&self, framebuffer: &Framebuffer, (x, y): (u32, u32)) -> bool {
        let (width, height) = self.size();
        let fits = |at: u32, shown: u32, there: u32| at.checked_add(shown).is_some_and(|end| end <= there);
        fits(x, width, framebuffer.width) && fits(y, height, framebuffer.height)
    }

    /// PAGE_FLIP: shows another framebuffer of the same format from the next vertical blank on at which its BO is idle.
    ///
    /// # Errors
    ///
    /// EBUSY for a CRTC that is off or has a flip to come, ENOENT, ENOSPC, EINVAL for another format, ENOMEM for too many
    /// events that nothing reads.
    pub(crate) fn flip(
        self: &Arc<Self>,
        crtc: u32,
        framebuffer: u32,
        event: Option<(Arc<Outbox>, u64)>,
    ) -> Result<(), Errno> {
        let mut state = self.state.lock();
        let shown = state.shown.filter(|shown| shown.crtc == crtc).ok_or(Errno::EBUSY)?;
        let (_, next) = state.framebuffers.get(&framebuffer).ok_or(Errno::ENOENT)?;
        if !self.covers(next, shown.at) {
            return Err(Errno::ENOSPC);
        }
        let now = state.framebuffers.get(&shown.framebuffer).map(|(_, now)| now.format);
        if now.is_some_and(|format| format != next.format) {
            return Err(Errno::EINVAL);
        }
        if state.flip.is_some() {
            return Err(Errno::EBUSY);
        }
        if let Some((outbox, _)) = &event {
            outbox.reserve()?;
        }
        state.flip = Some(Flip { framebuffer, event });
        if state.is_awaited {
            return Ok(());
        }
        state.is_awaited = true;
        drop(state);
        let screen = Arc::downgrade(self);
        let period = self.period;
        let spawned = thread::Builder::new().name("vertical blank".to_owned()).spawn(move || wait(&screen, period));
        if spawned.is_err() {
            // Without a thread it is shown at once.
            self.blank(true);
        }
        Ok(())
    }

    /// Number of vertical blanks so far, and the time until the next.
    fn vertical_blank(&self) -> (u32, Duration) {
        let (elapsed, period) = (self.born.elapsed().as_nanos(), self.period.as_nanos().max(1));
        let left = period - elapsed % period;
        ((elapsed / period) as u32, Duration::from_nanos(u64::try_from(left).unwrap_or(0)))
    }

    /// A vertical blank: the flip that is to come happens, if its BO is idle or `is_forced`. Returns `true` if none is left.
    fn blank(&self, is_forced: bool) -> bool {
        let mut state = self.state.lock();
        let next = state.flip.as_ref().and_then(|flip| state.framebuffers.get(&flip.framebuffer));
        if !is_forced && next.is_some_and(|(_, next)| !next.bo.is_idle()) {
            return false;
        }
        let flip = state.flip.take();
        state.is_awaited = false;
        let Some(Flip { framebuffer, event }) = flip else { return true };
        let crtc_id = state.shown.map_or(0, |shown| shown.crtc);
        if state.framebuffers.contains_key(&framebuffer)
            && let Some(shown) = &mut state.shown
        {
            shown.framebuffer = framebuffer;
        }
        drop(state);
        if let Some((outbox, user_data)) = event {
            let now = clock_gettime(ClockId::CLOCK_MONOTONIC).map(Duration::from).unwrap_or_default();
            outbox.deliver(EventVblank {
                kind: EVENT_FLIP_COMPLETE,
                length: size_of::<EventVblank>() as u32,
                user_data,
                tv_sec: now.as_secs() as u32,
                tv_usec: now.subsec_micros(),
                sequence: self.vertical_blank().0,
                crtc_id,
            });
        }
        true
    }
}

fn ids(state: &State, owner: u64) -> Vec<u32> {
    state.framebuffers.iter().filter(|(_, (of, _))| *of == owner).map(|(id, _)| *id).collect()
}

/// Waits for vertical blanks until no flip is to come, or the display is gone.
fn wait(screen: &Weak<Screen>, period: Duration) {
    loop {
        let left = screen.upgrade().map(|screen| screen.vertical_blank().1);
        let Some(left) = left else { return };
        thread::sleep(left.min(period));
        if screen.upgrade().is_none_or(|screen| screen.blank(false)) {
            return;
        }
    }
}
