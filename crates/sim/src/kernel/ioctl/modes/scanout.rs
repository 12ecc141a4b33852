//! Requests that make framebuffers and show them.
//!
//! Source: Linux 6.12 `drm_framebuffer.c`, `drm_mode_addfb`, `drm_mode_addfb2` and `drm_mode_rmfb`; `drm_crtc.c`,
//! `drm_mode_setcrtc`; `drm_plane.c`, `drm_mode_page_flip_ioctl`; `amdgpu_display.c`,
//! `amdgpu_display_user_framebuffer_create`.

use std::sync::Arc;

use amdgpu_hw::GfxLevel;
use amdgpu_uapi::{
    Errno, GemDomain, MODE_FB_INTERLACED, MODE_FB_MODIFIERS, MODE_PAGE_FLIP_ASYNC, MODE_PAGE_FLIP_EVENT, ModeCrtc,
    ModeFbCmd, ModeFbCmd2, ModeInfo, ModePageFlip,
};
use zerocopy::FromBytes as _;

use super::objects::LARGEST;
use crate::kernel::{
    files::file::File,
    ioctl::args::{argument, fill},
    modes::{Format, Framebuffer, Object, Screen, Shown},
    user,
};

/// The display, without which these requests are not simulated.
fn screen(file: &File) -> Result<&Arc<Screen>, Errno> {
    file.gpu.screen.as_ref().ok_or_else(|| {
        file.gpu.complaints.say("framebuffers and modes are simulated with a display alone".to_owned());
        Errno::EOPNOTSUPP
    })
}

/// MODE_ADDFB.
pub(crate) fn add(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    screen(file)?;
    let ModeFbCmd { width, height, pitch, bpp, depth, handle, .. } = argument(bytes)?;
    let format = Format::legacy(bpp, depth).ok_or(Errno::EINVAL)?;
    let command =
        ModeFbCmd2 { width, height, handles: [handle, 0, 0, 0], pitches: [pitch, 0, 0, 0], ..ModeFbCmd2::ZEROED };
    let fb_id = create(file, &command, format)?;
    fill(bytes, &ModeFbCmd { fb_id, ..argument(bytes)? })
}

/// MODE_ADDFB2.
pub(crate) fn add_by_format(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    screen(file)?;
    let command: ModeFbCmd2 = argument(bytes)?;
    if command.flags & !(MODE_FB_INTERLACED | MODE_FB_MODIFIERS) != 0 {
        return Err(Errno::EINVAL);
    }
    let format = Format::find(command.pixel_format).ok_or(Errno::EINVAL)?;
    let fb_id = create(file, &command, format)?;
    fill(bytes, &ModeFbCmd2 { fb_id, ..command })
}

fn create(file: &File, command: &ModeFbCmd2, format: Format) -> Result<u32, Errno> {
    let screen = screen(file)?;
    let &ModeFbCmd2 { width, height, flags, handles, pitches, offsets, modifier, .. } = command;
    let has_modifiers = flags & MODE_FB_MODIFIERS != 0;
    if width == 0 || height == 0 || width > LARGEST || height > LARGEST {
        return Err(Errno::EINVAL);
    }
    if has_modifiers && screen.level() < GfxLevel::Gfx9 {
        return Err(Errno::EINVAL);
    }
    let (pitch, offset) = (pitches[0], offsets[0]);
    if handles[0] == 0 || u64::from(pitch) < u64::from(width) * u64::from(format.bytes()) {
        return Err(Errno::EINVAL);
    }
    if u64::from(height) * u64::from(pitch) + u64::from(offset) > u64::from(u32::MAX) {
        return Err(Errno::ERANGE);
    }
    if !has_modifiers && modifier[0] != 0 {
        return Err(Errno::EINVAL);
    }
    // A client that knows no modifiers may leave anything in what belongs to other planes.
    let others = [&handles[1..], &pitches[1..], &offsets[1..]];
    if has_modifiers
        && (others.concat().iter().any(|value| *value != 0) || modifier[1..].iter().any(|value| *value != 0))
    {
        return Err(Errno::EINVAL);
    }
    let bo = file.bo(handles[0]).ok_or(Errno::ENOENT)?;
    if bo.is_imported() && !bo.attributes().preferred.contains(GemDomain::GTT) {
        return Err(Errno::EINVAL);
    }
    let modifier = has_modifiers.then_some(modifier[0]);
    screen.add(file.number, Framebuffer { bo, width, height, format, pitch, offset, modifier })
}

/// MODE_RMFB.
pub(crate) fn remove(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let id = u32::read_from_bytes(bytes.get(..4).unwrap_or_default()).map_err(|_| Errno::EINVAL)?;
    screen(file)?.remove(file.number, id)
}

/// MODE_SETCRTC. The display can be shown by any CRTC, by one at a time, in its own mode.
pub(crate) fn set_crtc(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let screen = screen(file)?;
    let request: ModeCrtc = argument(bytes)?;
    if request.x > i32::MAX as u32 || request.y > i32::MAX as u32 {
        return Err(Errno::ERANGE);
    }
    let modes = file.gpu.modes;
    let Some(Object::Crtc) = modes.find(request.crtc_id) else { return Err(Errno::ENOENT) };
    if request.mode_valid == 0 {
        if request.count_connectors != 0 {
            return Err(Errno::EINVAL);
        }
        screen.turn_off(request.crtc_id);
        return Ok(());
    }
    let framebuffer = match request.fb_id {
        u32::MAX => screen.shown().filter(|shown| shown.crtc == request.crtc_id).ok_or(Errno::EINVAL)?.framebuffer,
        id => id,
    };
    let timing = |mode: ModeInfo| ModeInfo { name: [0; 32], kind: 0, vrefresh: 0, ..mode };
    let mode = ModeInfo::read_from_bytes(&request.mode).map_err(|_| Errno::EINVAL)?;
    if timing(mode) != timing(screen.mode) || request.count_connectors == 0 {
        return Err(Errno::EINVAL);
    }
    let connectors = modes.connectors();
    let count = usize::try_from(request.count_connectors).unwrap_or(usize::MAX);
    if count > connectors.len() {
        return Err(Errno::EINVAL);
    }
    let named: Vec<u32> = user::read_slice(request.set_connectors_ptr, count)?;
    if named.iter().any(|id| !connectors.contains(id)) {
        return Err(Errno::ENOENT);
    }
    // Nothing is plugged into the others.
    if named != [connectors.start] {
        return Err(Errno::EINVAL);
    }
    screen.show(Shown { crtc: request.crtc_id, framebuffer, at: (request.x, request.y) })
}

/// MODE_PAGE_FLIP.
pub(crate) fn page_flip(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let screen = screen(file)?;
    let ModePageFlip { crtc_id, fb_id, flags, reserved, user_data } = argument(bytes)?;
    if flags & !(MODE_PAGE_FLIP_EVENT | MODE_PAGE_FLIP_ASYNC) != 0 || reserved != 0 {
        return Err(Errno::EINVAL);
    }
    let Some(Object::Crtc) = file.gpu.modes.find(crtc_id) else { return Err(Errno::ENOENT) };
    let event = (flags & MODE_PAGE_FLIP_EVENT != 0).then(|| (Arc::clone(&file.outbox), user_data));
    screen.flip(crtc_id, fb_id, event)
}
