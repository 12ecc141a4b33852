//! Requests that set a mode or flip a page, without properties.
//!
//! Source: Linux 6.12 `drm_crtc.c`, `drm_mode_setcrtc`; `drm_plane.c`, `drm_mode_page_flip_ioctl`; `drm_atomic.c`,
//! `__drm_atomic_helper_set_config`; `drm_atomic_helper.c`, `drm_atomic_helper_page_flip`.

use std::sync::Arc;

use amdgpu_uapi::{Errno, MODE_PAGE_FLIP_ASYNC, MODE_PAGE_FLIP_EVENT, ModeCrtc, ModeInfo, ModePageFlip};
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::{commit, screen};
use crate::kernel::{
    files::file::File,
    ioctl::args::argument,
    modes::{
        Change, CrtcState, Framebuffer, Mode, Object, PlaneState, Rectangle, Screen, Signal, SourceRectangle, timing,
    },
    user,
};

/// Performs MODE_SETCRTC. The display can be shown by any CRTC, but only by one at a time, in its own mode.
pub(crate) fn set(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let screen = screen(file)?;
    let request: ModeCrtc = argument(bytes)?;
    // Planes have 16 bits for whole pixels.
    if request.x > u16::MAX.into() || request.y > u16::MAX.into() {
        return Err(Errno::ERANGE);
    }
    let Some(Object::Crtc(crtc)) = file.object(request.crtc_id) else { return Err(Errno::ENOENT) };
    require_plane(file, crtc, request.mode_valid != 0)?;
    let connectors = read_connectors(file, &request);
    commit(file, screen, |change| {
        if request.mode_valid == 0 {
            if request.count_connectors != 0 {
                return Err(Errno::EINVAL);
            }
            turn_off(change, crtc);
            return Ok(());
        }
        let shown = change.new_configuration().plane(crtc).framebuffer;
        let framebuffer = match request.fb_id {
            u32::MAX => shown.ok_or(Errno::EINVAL)?,
            id => screen.framebuffer(id).ok_or(Errno::ENOENT)?,
        };
        let mode = ModeInfo::read_from_bytes(&request.mode).map_err(|_| Errno::EINVAL)?;
        if timing(mode) != timing(screen.mode) {
            return Err(Errno::EINVAL);
        }
        let plane = whole(framebuffer, crtc, mode, (request.x, request.y))?;
        // No display is connected to the other connectors.
        if connectors.clone()? != [file.gpu.display.modes.connectors().start] {
            return Err(Errno::EINVAL);
        }
        turn_on(change, screen, plane, mode)
    })
}

/// Refuses to show something on a CRTC whose primary plane was not leased with it (EACCES). Turning it off is allowed.
fn require_plane(file: &File, crtc: u32, is_shown: bool) -> Result<(), Errno> {
    let plane = file.gpu.display.modes.planes().start + crtc;
    if is_shown && !file.node.holds(plane) { Err(Errno::EACCES) } else { Ok(()) }
}

/// Returns a primary plane that fills a mode, starting at a point of a framebuffer.
fn whole(framebuffer: Arc<Framebuffer>, crtc: u32, mode: ModeInfo, (x, y): (u32, u32)) -> Result<PlaneState, Errno> {
    let (width, height) = (u32::from(mode.hdisplay), u32::from(mode.vdisplay));
    if x + width > framebuffer.width || y + height > framebuffer.height {
        return Err(Errno::ENOSPC);
    }
    Ok(PlaneState {
        crtc: Some(crtc),
        framebuffer: Some(framebuffer),
        source: SourceRectangle { x: x << 16, y: y << 16, width: width << 16, height: height << 16 },
        place: Rectangle { x: 0, y: 0, width, height },
    })
}

/// Reads the connectors of a request.
///
/// # Errors
///
/// EINVAL if there are none or too many, ENOENT if one does not exist, EFAULT if they cannot be read.
fn read_connectors(file: &File, request: &ModeCrtc) -> Result<Vec<u32>, Errno> {
    let connectors = file.gpu.display.modes.connectors();
    let is_there = |id: &u32| matches!(file.object(*id), Some(Object::Connector(..)));
    let count = usize::try_from(request.count_connectors).unwrap_or(usize::MAX);
    if count == 0 || count > connectors.len() {
        return Err(Errno::EINVAL);
    }
    let named: Vec<u32> = user::read_slice(request.set_connectors_ptr, count)?;
    if named.iter().all(is_there) { Ok(named) } else { Err(Errno::ENOENT) }
}

fn turn_off(change: &mut Change<'_>, crtc: u32) {
    let fed: Vec<u32> = (0..)
        .zip(&change.new_configuration().connectors)
        .filter(|(_, from)| **from == Some(crtc))
        .map(|(index, _)| index)
        .collect();
    for connector in fed {
        change.connect(connector, None);
    }
    change.crtc(crtc, CrtcState::turn_off);
    change.plane(crtc, PlaneState::turn_off);
}

/// Shows a primary plane on the display, which another CRTC may have shown before.
fn turn_on(change: &mut Change<'_>, screen: &Screen, plane: PlaneState, mode: ModeInfo) -> Result<(), Errno> {
    let crtc = plane.crtc.ok_or(Errno::EINVAL)?;
    if let Some(other) = change.new_configuration().feeds(0).filter(|other| *other != crtc) {
        change.crtc(other, CrtcState::turn_off);
    }
    change.connect(0, Some(crtc));
    let blob = screen.add_blob(None, mode.as_bytes().to_vec())?;
    change.crtc(crtc, |crtc| (crtc.is_active, crtc.mode) = (true, Some(Mode { blob, info: mode })));
    change.plane(crtc, |shown| *shown = plane);
    Ok(())
}

/// Performs MODE_PAGE_FLIP.
pub(crate) fn page_flip(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let screen = screen(file)?;
    let ModePageFlip { crtc_id, fb_id, flags, reserved, user_data } = argument(bytes)?;
    if flags & !(MODE_PAGE_FLIP_EVENT | MODE_PAGE_FLIP_ASYNC) != 0 || reserved != 0 {
        return Err(Errno::EINVAL);
    }
    let Some(Object::Crtc(crtc)) = file.object(crtc_id) else { return Err(Errno::ENOENT) };
    require_plane(file, crtc, true)?;
    let mut change = screen.change();
    let shown = change.new_configuration().plane(crtc).framebuffer.ok_or(Errno::EBUSY)?;
    let next = screen.framebuffer(fb_id).ok_or(Errno::ENOENT)?;
    let format = next.format;
    if file.gpu.board.hooks().shows_flips() {
        change.plane(crtc, |plane| plane.framebuffer = Some(next));
    }
    // A framebuffer that is too small is reported first.
    if let Err(Errno::ENOSPC) = change.check(false, 0) {
        return Err(Errno::ENOSPC);
    }
    if format != shown.format || !change.new_configuration().is_active(crtc) {
        return Err(Errno::EINVAL);
    }
    let has_event = flags & MODE_PAGE_FLIP_EVENT != 0;
    if has_event {
        file.outbox.reserve()?;
    }
    let event = has_event.then(|| (Arc::clone(&file.outbox), user_data));
    let flipped = change.commit(false, vec![Signal { crtc, event, fence: None }]);
    if flipped.is_err() && has_event {
        file.outbox.release();
    }
    flipped.map(drop)
}
