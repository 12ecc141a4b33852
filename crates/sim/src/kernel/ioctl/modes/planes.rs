//! Requests that set a plane or a cursor, without properties.
//!
//! Source: Linux 6.12 `drm_plane.c`, `drm_mode_setplane`, `drm_mode_cursor_common` and `drm_mode_cursor_universal`.

use amdgpu_uapi::{Errno, MODE_CURSOR_BO, MODE_CURSOR_MOVE, ModeCursor, ModeCursor2, ModeFbCmd2, ModeSetPlane};

use super::{commit, framebuffers, screen};
use crate::kernel::{
    files::file::File,
    ioctl::args::argument,
    modes::{CURSOR, Change, Format, Object, PlaneState, Rectangle, SourceRectangle},
};

/// Performs MODE_SETPLANE.
pub(crate) fn set(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let screen = screen(file)?;
    let request: ModeSetPlane = argument(bytes)?;
    let Some(Object::Plane(index)) = file.object(request.plane_id) else { return Err(Errno::ENOENT) };
    let shown = if request.fb_id == 0 {
        None
    } else {
        let framebuffer = screen.framebuffer(request.fb_id).ok_or(Errno::ENOENT)?;
        let Some(Object::Crtc(crtc)) = file.object(request.crtc_id) else { return Err(Errno::ENOENT) };
        Some(PlaneState {
            crtc: Some(crtc),
            framebuffer: Some(framebuffer),
            source: SourceRectangle { x: request.src_x, y: request.src_y, width: request.src_w, height: request.src_h },
            place: Rectangle { x: request.crtc_x, y: request.crtc_y, width: request.crtc_w, height: request.crtc_h },
        })
    };
    let make = |change: &mut Change<'_>| {
        change.plane(index, |plane| match &shown {
            None => plane.turn_off(),
            Some(state) => *plane = state.clone(),
        });
        Ok(())
    };
    if file.gpu.display.modes.plane_use(index).1 {
        let mut change = screen.change();
        make(&mut change)?;
        return change.commit_cursor(index);
    }
    commit(file, screen, make)
}

/// Performs MODE_CURSOR.
pub(crate) fn cursor(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    set_cursor(file, argument(bytes)?)
}

/// Performs MODE_CURSOR2. The hot spot of the cursor is for virtual machines and is ignored.
pub(crate) fn cursor_with_point(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeCursor2 { flags, crtc_id, x, y, width, height, handle, .. } = argument(bytes)?;
    set_cursor(file, ModeCursor { flags, crtc_id, x, y, width, height, handle })
}

fn set_cursor(file: &File, request: ModeCursor) -> Result<(), Errno> {
    let screen = screen(file)?;
    let ModeCursor { flags, crtc_id, width, height, handle, .. } = request;
    if flags == 0 || flags & !(MODE_CURSOR_BO | MODE_CURSOR_MOVE) != 0 {
        return Err(Errno::EINVAL);
    }
    let Some(Object::Crtc(crtc)) = file.object(crtc_id) else { return Err(Errno::ENOENT) };
    let index = file.gpu.display.modes.cursor_of(crtc);
    if !file.node.holds(file.gpu.display.modes.planes().start + index) {
        return Err(Errno::EACCES);
    }
    let mut change = screen.change();
    let framebuffer = if flags & MODE_CURSOR_BO == 0 {
        change.new_configuration().plane(index).framebuffer
    } else if handle == 0 {
        None
    } else {
        let pitch = width.checked_mul(4).ok_or(Errno::EINVAL)?;
        let pixel_format = u32::from_le_bytes(CURSOR[0]);
        let (handles, pitches) = ([handle, 0, 0, 0], [pitch, 0, 0, 0]);
        let command = ModeFbCmd2 { width, height, pixel_format, handles, pitches, ..ModeFbCmd2::ZEROED };
        let format = Format::find(pixel_format).ok_or(Errno::EINVAL)?;
        Some(screen.add(None, framebuffers::create(file, &command, format)?)?)
    };
    let at = if flags & MODE_CURSOR_MOVE == 0 { screen.cursor_at(crtc) } else { (request.x, request.y) };
    let state = match framebuffer {
        None => PlaneState::default(),
        Some(framebuffer) => PlaneState {
            crtc: Some(crtc),
            source: SourceRectangle { x: 0, y: 0, width: framebuffer.width << 16, height: framebuffer.height << 16 },
            place: Rectangle { x: at.0, y: at.1, width: framebuffer.width, height: framebuffer.height },
            framebuffer: Some(framebuffer),
        },
    };
    change.plane(index, |plane| *plane = state);
    change.commit_cursor(index)?;
    screen.move_cursor(crtc, at);
    Ok(())
}
