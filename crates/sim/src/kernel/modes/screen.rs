//! The display that is plugged in, and the framebuffers and blobs that clients made for it.
//!
//! Source: Linux 6.12 `drm_framebuffer.c`, `drm_mode_rmfb`, `drm_mode_closefb`, `atomic_remove_fb` and `drm_fb_release`;
//! `drm_property.c`, `drm_property_create_blob` and `drm_property_destroy_user_blobs`.

use std::{collections::VecDeque, sync::Arc, time::Duration};

use amdgpu_hw::GfxLevel;
use amdgpu_surface::{Chip, ChipRegisters};
use amdgpu_uapi::{Errno, ModeInfo};
use parking_lot::Mutex;

use super::{
    Modes, compose,
    configuration::{Blob, Configuration},
    format::{self, CURSOR},
    formats,
    framebuffer::Framebuffer,
    outbox::Outbox,
    pending::Pending,
    table::Table,
    vblank::{Awaited, Blanks},
};
use crate::{
    chips::Profile,
    kernel::sync::events::Events,
    options::{
        display::{Display, Picture},
        edid::edid,
    },
};

/// The first id of framebuffers and blobs.
const FIRST: u32 = 0x1000;
/// The most framebuffers, or blobs, of a file, so that no file uses the memory of all others.
const MOST: usize = 1 << 14;
/// The most bytes of a file's blobs.
const MOST_BYTES: usize = 256 << 20;

/// A display that is plugged in.
#[derive(Debug)]
pub(crate) struct Screen {
    pub(crate) mode: ModeInfo,
    /// The width and height of the largest cursor, in pixels.
    pub(crate) cursor: u32,
    pub(crate) blanks: Blanks,
    pub(super) modes: Modes,
    pub(super) events: Arc<Events>,
    level: GfxLevel,
    pub(super) chip: Option<Chip>,
    /// The formats of primary planes.
    primary: Vec<[u8; 4]>,
    /// Held while a commit is made, so that the next one sees its changes.
    pub(super) committing: Mutex<()>,
    /// Held at a vertical blank until its clients are told. Taken after `committing`.
    pub(super) delivering: Mutex<()>,
    pub(super) state: Mutex<ScreenState>,
    in_formats: Option<[Arc<Blob>; 2]>,
    edid: Option<Arc<Blob>>,
}

#[derive(Debug, Default)]
pub(super) struct ScreenState {
    framebuffers: Table<Framebuffer>,
    blobs: Table<Blob>,
    /// The id that is tried first for the next object.
    next: u32,
    /// The configuration after all commits.
    pub(super) now: Configuration,
    /// The configuration that is scanned out.
    pub(super) scanned: Configuration,
    /// The commits that are not scanned out yet, oldest first.
    pub(super) pending: VecDeque<Pending>,
    pub(super) awaited: Vec<Awaited>,
    /// `true` while a thread waits for the vertical blank.
    pub(super) is_watched: bool,
    /// The positions of the cursors of clients that do not know planes.
    pub(super) cursors: Vec<(i32, i32)>,
    /// The last picture that was shown before the display went dark.
    pub(super) last: Option<Picture>,
}

impl ScreenState {
    /// Returns an unused id. Ids are used again after all have been given out.
    fn next_id(&mut self) -> u32 {
        loop {
            let id = self.next.max(FIRST);
            self.next = id.wrapping_add(1);
            if !self.framebuffers.has(id) && !self.blobs.has(id) {
                return id;
            }
        }
    }
}

/// Returns the width and height of a chip's largest cursor, in pixels.
///
/// Source: Linux 6.12 `dce60_resource.c` to `dcn321_resource.c`, `max_cursor_size`.
pub(crate) fn cursor_size(profile: &Profile) -> u32 {
    match profile.gfx_level {
        GfxLevel::Gfx6 => 64,
        GfxLevel::Gfx7 | GfxLevel::Gfx8 => 128,
        GfxLevel::Gfx9 if !profile.is_apu() => 128,
        _ => 256,
    }
}

impl Screen {
    pub(crate) fn new(
        display: Display,
        profile: &Profile,
        drm_minor: i32,
        modes: Modes,
        events: &Arc<Events>,
    ) -> Arc<Self> {
        let reported = profile.reported(u32::try_from(drm_minor).unwrap_or(0));
        let (level, chip) = (profile.gfx_level, Chip::new(&ChipRegisters::reported(&reported)).ok());
        let mode = display.mode();
        let period = Duration::from_secs(1) * (u32::from(mode.htotal) * u32::from(mode.vtotal)) / (mode.clock * 1000);
        let crtcs = modes.crtcs().len();
        let off = modes.all_off();
        let mut state =
            ScreenState { now: off.clone(), scanned: off, cursors: vec![(0, 0); crtcs], ..ScreenState::default() };
        let primary = format::primary(profile);
        let has_modifiers = level >= GfxLevel::Gfx9;
        let in_formats = chip.as_ref().filter(|_| has_modifiers).map(|chip| {
            [(&primary[..], false), (&CURSOR[..], true)].map(|(formats, is_cursor)| {
                let id = state.next_id();
                let blob = Arc::new(Blob { id, data: formats::in_formats(chip, formats, is_cursor) });
                state.blobs.add(id, None, &blob, 0);
                blob
            })
        });
        let first = modes.socket(0).map_or(0, |connector| connector.kind);
        let edid = edid(&mode, first, display.millimetres()).map(|data| {
            let id = state.next_id();
            let blob = Arc::new(Blob { id, data });
            state.blobs.add(id, None, &blob, 0);
            blob
        });
        Arc::new(Self {
            mode,
            cursor: cursor_size(profile),
            blanks: Blanks::new(period),
            modes,
            events: Arc::clone(events),
            level,
            chip,
            primary,
            committing: Mutex::default(),
            delivering: Mutex::default(),
            state: Mutex::new(state),
            in_formats,
            edid,
        })
    }

    pub(crate) const fn level(&self) -> GfxLevel {
        self.level
    }

    /// Returns the configuration after all commits.
    pub(crate) fn configuration(&self) -> Configuration {
        self.state.lock().now.clone()
    }

    /// Returns the id of the blob that lists the formats and modifiers of primary planes or of cursors.
    pub(crate) fn in_formats(&self, is_cursor: bool) -> Option<u32> {
        let [primary, cursor] = self.in_formats.as_ref()?;
        Some(if is_cursor { cursor.id } else { primary.id })
    }

    /// Returns the blob of the display's EDID; `None` for a display that is too large for an EDID.
    pub(crate) fn edid(&self) -> Option<&Arc<Blob>> {
        self.edid.as_ref()
    }

    /// Adds a framebuffer. Its owner is a file, or otherwise the plane that shows it.
    ///
    /// # Errors
    ///
    /// EINVAL if the display engine cannot show it; ENOMEM if the file has too many.
    pub(crate) fn add(&self, owner: Option<u64>, framebuffer: Framebuffer) -> Result<Arc<Framebuffer>, Errno> {
        framebuffer.check(self.level, self.chip.as_ref(), &self.primary)?;
        let mut state = self.state.lock();
        if owner.is_some_and(|file| state.framebuffers.share(file).0 >= MOST) {
            return Err(Errno::ENOMEM);
        }
        let id = state.next_id();
        let framebuffer = Arc::new(Framebuffer { id, ..framebuffer });
        state.framebuffers.add(id, owner, &framebuffer, 0);
        Ok(framebuffer)
    }

    /// Adds a blob. Its owner is a file, or otherwise the configuration that names it.
    ///
    /// # Errors
    ///
    /// ENOMEM if the file has too many blobs, or too many bytes of them.
    pub(crate) fn add_blob(&self, owner: Option<u64>, data: Vec<u8>) -> Result<Arc<Blob>, Errno> {
        let mut state = self.state.lock();
        let (count, bytes) = owner.map_or((0, 0), |file| state.blobs.share(file));
        let len = data.len();
        if count >= MOST || bytes + len > MOST_BYTES {
            return Err(Errno::ENOMEM);
        }
        let id = state.next_id();
        let blob = Arc::new(Blob { id, data });
        state.blobs.add(id, owner, &blob, len);
        Ok(blob)
    }

    /// Returns the framebuffer with an id.
    pub(crate) fn framebuffer(&self, id: u32) -> Option<Arc<Framebuffer>> {
        self.state.lock().framebuffers.find(id)
    }

    /// Returns the ids of all framebuffers and blobs.
    pub(crate) fn ids(&self) -> Vec<u32> {
        let state = self.state.lock();
        state.framebuffers.ids().chain(state.blobs.ids()).collect()
    }

    /// Returns the blob with an id.
    pub(crate) fn blob(&self, id: u32) -> Option<Arc<Blob>> {
        self.state.lock().blobs.find(id)
    }

    /// Removes a blob from the file that made it.
    ///
    /// # Errors
    ///
    /// ENOENT if there is no such blob, EPERM if it is another file's.
    pub(crate) fn destroy_blob(&self, owner: u64, id: u32) -> Result<(), Errno> {
        let mut state = self.state.lock();
        let known = state.blobs.find(id).ok_or(Errno::ENOENT)?;
        state.blobs.take(known.id, owner).map(|_| ()).ok_or(Errno::EPERM)
    }

    /// Removes a framebuffer from the file that made it. Planes that show it keep it.
    ///
    /// # Errors
    ///
    /// ENOENT if the file has no such framebuffer.
    pub(crate) fn close(&self, owner: u64, id: u32) -> Result<Arc<Framebuffer>, Errno> {
        self.state.lock().framebuffers.take(id, owner).ok_or(Errno::ENOENT)
    }

    /// Removes a framebuffer of a file. Planes that show it are turned off, and so is the CRTC of a primary plane.
    ///
    /// # Errors
    ///
    /// ENOENT if the file has no such framebuffer.
    pub(crate) fn remove(&self, owner: u64, id: u32) -> Result<(), Errno> {
        let framebuffer = self.close(owner, id)?;
        self.hide(&framebuffer);
        Ok(())
    }

    /// Removes everything that a file made, and the events that it waits for.
    pub(crate) fn remove_all(&self, owner: u64, outbox: &Arc<Outbox>) {
        let mut state = self.state.lock();
        state.awaited.retain(|awaited| !Arc::ptr_eq(&awaited.outbox, outbox));
        let (framebuffers, blobs) = (state.framebuffers.of_file(owner), state.blobs.of_file(owner));
        for id in blobs {
            drop(state.blobs.take(id, owner));
        }
        let framebuffers: Vec<_> =
            framebuffers.into_iter().filter_map(|id| state.framebuffers.take(id, owner)).collect();
        drop(state);
        for framebuffer in &framebuffers {
            self.hide(framebuffer);
        }
    }

    /// Returns the ids of a file's framebuffers.
    pub(crate) fn of_file(&self, owner: u64) -> Vec<u32> {
        self.state.lock().framebuffers.of_file(owner)
    }

    /// Keeps the picture of a configuration that is not shown any more. The display continues while the picture is composed.
    pub(super) fn keep_picture(&self, shown: &Configuration) {
        if let Some(picture) = self.picture_of(shown) {
            self.state.lock().last = Some(picture);
        }
    }

    fn picture_of(&self, shown: &Configuration) -> Option<Picture> {
        compose::picture(shown, shown.feeds(0)?, self.chip.as_ref())
    }

    /// Returns the picture that the display shows, or the last one that it showed.
    pub(crate) fn picture(&self) -> Option<Picture> {
        let shown = self.state.lock().scanned.clone();
        self.picture_of(&shown).or_else(|| self.state.lock().last.clone())
    }

    /// Returns the position of a CRTC's cursor that was set by a client that does not know planes.
    pub(crate) fn cursor_at(&self, crtc: u32) -> (i32, i32) {
        self.state.lock().cursors.get(crtc as usize).copied().unwrap_or_default()
    }

    /// Sets the position of a CRTC's cursor.
    pub(crate) fn move_cursor(&self, crtc: u32, to: (i32, i32)) {
        if let Some(at) = self.state.lock().cursors.get_mut(crtc as usize) {
            *at = to;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_come_again_once_all_were_given_out() {
        let mut state = ScreenState { next: u32::MAX, ..ScreenState::default() };
        let kept = Arc::new(Blob { id: FIRST, data: Vec::new() });
        state.blobs.add(FIRST, None, &kept, 0);
        assert_eq!([state.next_id(), state.next_id(), state.next_id()], [u32::MAX, FIRST + 1, FIRST + 2]);
    }
}
