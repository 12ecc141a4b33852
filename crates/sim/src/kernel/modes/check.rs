//! The checks of a commit, made before anything changes.
//!
//! Source: Linux 6.12 `drm_atomic.c`, `drm_atomic_check_only` with `drm_atomic_plane_check` and `drm_atomic_crtc_check`;
//! `drm_atomic_helper.c`, `drm_atomic_helper_check_modeset`; `amdgpu_dm_crtc.c`, `amdgpu_dm_crtc_helper_atomic_check`;
//! `amdgpu_dm_color.c`, `amdgpu_dm_verify_lut_sizes`; `amdgpu_dm_plane.c`, `amdgpu_dm_plane_helper_check_state`; `amdgpu_dm.c`, `dm_check_cursor_fb`.

use amdgpu_uapi::{ColorLut, Errno, ModeInfo};

use super::{
    Modes,
    configuration::{Configuration, PlaneState},
    format::CURSOR,
};

/// The largest factors by which a plane can be enlarged and reduced.
///
/// Source: Linux 6.12 `dcn30_resource.c` and others, `max_upscale_factor` and `max_downscale_factor`.
const ENLARGED: u64 = 16;
/// See [`ENLARGED`].
const REDUCED: u64 = 4;

/// The number of entries of the gamma table of clients that do not use properties (`MAX_COLOR_LEGACY_LUT_ENTRIES`).
pub(crate) const GAMMA: usize = 256;
/// The number of entries of a gamma table that a property names (`MAX_COLOR_LUT_ENTRIES`).
pub(crate) const GAMMA_LARGE: usize = 4096;

/// The part of a commit that the checks need.
#[derive(Clone, Copy, Debug)]
pub(super) struct Checked<'c> {
    pub(super) modes: Modes,
    /// The only mode of the display.
    pub(super) display: &'c ModeInfo,
    /// The width and height of the largest cursor, in pixels.
    pub(super) cursor: u32,
    pub(super) old: &'c Configuration,
    pub(super) new: &'c Configuration,
    /// The planes that take part, as a mask by index.
    pub(super) planes: u32,
    /// The CRTCs that take part, as a mask by index.
    pub(super) crtcs: u32,
    /// The CRTCs that send an event when the commit is done.
    pub(super) notified: u32,
    pub(super) may_set_modes: bool,
}

/// Returns a mode without the fields that do not change its timing.
pub(crate) const fn timing(mode: ModeInfo) -> ModeInfo {
    ModeInfo { name: [0; 32], kind: 0, vrefresh: 0, ..mode }
}

/// Returns `true` if the plane's rectangle lies within its framebuffer. The rectangle is in units of 1/65536 of a pixel.
fn is_within(state: &PlaneState, (width, height): (u32, u32)) -> bool {
    let fits = |at: u32, len: u32, all: u32| u64::from(at) + u64::from(len) <= u64::from(all) << 16;
    fits(state.source.x, state.source.width, width) && fits(state.source.y, state.source.height, height)
}

impl Checked<'_> {
    /// Checks the commit.
    ///
    /// # Errors
    ///
    /// EINVAL; ERANGE for a plane that is out of the range of its fields or scaled too much; ENOSPC for a rectangle that is not
    /// within its framebuffer.
    pub(super) fn check(&self) -> Result<(), Errno> {
        let taking_part = |mask: u32, count: u32| (0..count).filter(move |index| mask >> index & 1 != 0);
        for index in taking_part(self.planes, self.modes.planes().len() as u32) {
            self.check_plane(index)?;
        }
        for index in taking_part(self.crtcs, self.modes.crtcs().len() as u32) {
            self.check_crtc(index)?;
        }
        // No display is plugged into the other connectors.
        let others = self.new.connectors.get(1..).unwrap_or_default();
        if others.iter().any(Option::is_some) {
            return Err(Errno::EINVAL);
        }
        let needs_modes = taking_part(self.crtcs, self.modes.crtcs().len() as u32).any(|crtc| self.sets_mode(crtc));
        if needs_modes && !self.may_set_modes { Err(Errno::EINVAL) } else { Ok(()) }
    }

    fn check_plane(&self, index: u32) -> Result<(), Errno> {
        let (old, new) = (self.old.plane(index), self.new.plane(index));
        let Some(framebuffer) = &new.framebuffer else {
            return if new.crtc.is_none() { Ok(()) } else { Err(Errno::EINVAL) };
        };
        let crtc = new.crtc.ok_or(Errno::EINVAL)?;
        let (own, is_cursor) = self.modes.plane_use(index);
        if crtc != own || (is_cursor && !CURSOR.iter().any(|format| framebuffer.format.is(*format))) {
            return Err(Errno::EINVAL);
        }
        let ends = |at: i32, len: u32| i32::try_from(len).is_ok_and(|len| at.checked_add(len).is_some());
        if !ends(new.place.x, new.place.width) || !ends(new.place.y, new.place.height) {
            return Err(Errno::ERANGE);
        }
        if !is_within(&new, (framebuffer.width, framebuffer.height)) {
            return Err(Errno::ENOSPC);
        }
        if old.crtc.is_some_and(|old| old != crtc) {
            return Err(Errno::EINVAL);
        }
        check_scale(new.source.width, new.place.width)?;
        check_scale(new.source.height, new.place.height)?;
        if is_cursor { self.check_cursor(&new) } else { Ok(()) }
    }

    /// Checks a cursor: it is small, shown whole and linear, and its pitch is its width.
    fn check_cursor(&self, state: &PlaneState) -> Result<(), Errno> {
        let Some(framebuffer) = &state.framebuffer else { return Ok(()) };
        let (width, height) = (framebuffer.width, framebuffer.height);
        let is_whole = (state.source.width, state.source.height) == (width << 16, height << 16);
        let is_small = width <= self.cursor && height <= self.cursor;
        let pitch = framebuffer.pitch / framebuffer.format.bytes();
        let has_pitch = pitch == width && [64, 128, 256].contains(&pitch);
        if is_whole && is_small && has_pitch && framebuffer.is_linear() { Ok(()) } else { Err(Errno::EINVAL) }
    }

    fn check_crtc(&self, index: u32) -> Result<(), Errno> {
        let (old, new) = (self.old.crtc(index), self.new.crtc(index));
        let is_enabled = new.mode.is_some();
        if new.is_active && !is_enabled {
            return Err(Errno::EINVAL);
        }
        if self.notified >> index & 1 != 0 && !new.is_active && !old.is_active {
            return Err(Errno::EINVAL);
        }
        if new.mode.is_some_and(|mode| timing(mode.info) != timing(*self.display)) {
            return Err(Errno::EINVAL);
        }
        if is_enabled != self.new.has_connectors(index) {
            return Err(Errno::EINVAL);
        }
        let entries = new.gamma.map(|table| table.data.len() / size_of::<ColorLut>());
        if entries.is_some_and(|entries| ![GAMMA, GAMMA_LARGE].contains(&entries)) {
            return Err(Errno::EINVAL);
        }
        // A CRTC needs its primary plane, which has the CRTC's index.
        if is_enabled && self.new.plane(index).framebuffer.is_none() { Err(Errno::EINVAL) } else { Ok(()) }
    }

    /// Returns `true` if a CRTC changes its mode, its connectors or whether it is active.
    ///
    /// Source: Linux 6.12 `drm_atomic.h`, `drm_atomic_crtc_needs_modeset`.
    fn sets_mode(&self, index: u32) -> bool {
        let (old, new) = (self.old.crtc(index), self.new.crtc(index));
        let feeds = |all: &Configuration| all.connectors.iter().map(|from| *from == Some(index)).collect::<Vec<_>>();
        old.is_active != new.is_active
            || old.mode.map(|mode| timing(mode.info)) != new.mode.map(|mode| timing(mode.info))
            || feeds(self.old) != feeds(self.new)
    }
}

fn check_scale(source: u32, shown: u32) -> Result<(), Errno> {
    let (source, shown) = (u64::from(source), u64::from(shown) << 16);
    if source == 0 || shown == 0 {
        return Err(Errno::EINVAL);
    }
    if shown > source * ENLARGED || source > shown * REDUCED { Err(Errno::ERANGE) } else { Ok(()) }
}
