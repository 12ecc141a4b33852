//! Requests that create, query and remove framebuffers.
//!
//! Source: Linux 6.12 `drm_framebuffer.c`, `drm_mode_addfb`, `drm_mode_addfb2`, `drm_mode_rmfb`, `drm_mode_closefb`,
//! `drm_mode_getfb`, `drm_mode_getfb2_ioctl` and `drm_mode_dirtyfb_ioctl`; `amdgpu_display.c`,
//! `amdgpu_display_user_framebuffer_create`.

use amdgpu_hw::GfxLevel;
use amdgpu_surface::modifier::{Modifier, TileVersion};
use amdgpu_uapi::{
    Errno, GemDomain, MODE_FB_DIRTY_COPY, MODE_FB_DIRTY_FILL, MODE_FB_INTERLACED, MODE_FB_MODIFIERS, ModeCloseFb,
    ModeFbCmd, ModeFbCmd2, ModeFbDirty,
};
use zerocopy::FromBytes as _;

use super::{objects::LARGEST, screen};
use crate::kernel::{
    files::{file::File, node::Primary},
    ioctl::args::{argument, fill},
    modes::{Format, Framebuffer, PlanePlace},
    user,
};

/// Performs MODE_ADDFB.
pub(crate) fn add(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    screen(file)?;
    let ModeFbCmd { width, height, pitch, bpp, depth, handle, .. } = argument(bytes)?;
    let format = Format::legacy(bpp, depth).ok_or(Errno::EINVAL)?;
    let command =
        ModeFbCmd2 { width, height, handles: [handle, 0, 0, 0], pitches: [pitch, 0, 0, 0], ..ModeFbCmd2::ZEROED };
    let fb_id = add_of_file(file, &command, format)?;
    fill(bytes, &ModeFbCmd { fb_id, ..argument(bytes)? })
}

/// Performs MODE_ADDFB2.
pub(crate) fn add_by_format(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    screen(file)?;
    let command: ModeFbCmd2 = argument(bytes)?;
    if command.flags & !(MODE_FB_INTERLACED | MODE_FB_MODIFIERS) != 0 {
        return Err(Errno::EINVAL);
    }
    let format = Format::find(command.pixel_format).ok_or(Errno::EINVAL)?;
    let fb_id = add_of_file(file, &command, format)?;
    fill(bytes, &ModeFbCmd2 { fb_id, ..command })
}

fn add_of_file(file: &File, command: &ModeFbCmd2, format: Format) -> Result<u32, Errno> {
    let framebuffer = create(file, command, format)?;
    Ok(screen(file)?.add(Some(file.number), framebuffer)?.id)
}

/// Returns the number of planes of a framebuffer: those of the format, and with DCC before GFX12 one for DCC and another one for
/// the DCC of the display.
///
/// Source: Linux 6.12 `amdgpu_display.c`, `amdgpu_lookup_format_info`.
fn planes(format: Format, modifier: Option<u64>) -> usize {
    let own = 1 + format.other_planes().len();
    let Some(Ok(Modifier::Amd(amd))) = modifier.map(Modifier::decode) else { return own };
    match amd.dcc.filter(|_| amd.version != TileVersion::Gfx12) {
        Some(dcc) if dcc.retile => own + 2,
        Some(_) => own + 1,
        None => own,
    }
}

/// Creates a framebuffer from the planes of a command, all of which are in one BO.
pub(super) fn create(file: &File, command: &ModeFbCmd2, format: Format) -> Result<Framebuffer, Errno> {
    let screen = screen(file)?;
    let &ModeFbCmd2 { width, height, flags, handles, pitches, offsets, modifier, .. } = command;
    let has_modifiers = flags & MODE_FB_MODIFIERS != 0;
    if width == 0 || height == 0 || width > LARGEST || height > LARGEST {
        return Err(Errno::EINVAL);
    }
    if has_modifiers && screen.level() < GfxLevel::Gfx9 {
        return Err(Errno::EINVAL);
    }
    let count = planes(format, has_modifiers.then_some(modifier[0])).min(handles.len());
    let bytes = std::iter::once(format.bytes()).chain(format.other_planes().iter().copied());
    // The kernel leaves the pitches of DCC to the checks of the display engine.
    let bytes: Vec<u32> = bytes.chain([0; 2]).take(count).collect();
    for (index, bytes) in bytes.iter().enumerate() {
        let subsampling = if index > 0 { format.subsampling() } else { 1 };
        let least = u64::from(width.div_ceil(subsampling)) * u64::from(*bytes);
        if handles[index] == 0 {
            return Err(Errno::EINVAL);
        }
        let rows = u64::from(height.div_ceil(subsampling));
        if rows * u64::from(pitches[index]) + u64::from(offsets[index]) > u64::from(u32::MAX) {
            return Err(Errno::ERANGE);
        }
        if u64::from(pitches[index]) < least {
            return Err(Errno::EINVAL);
        }
        if modifier[index] != if has_modifiers { modifier[0] } else { 0 } {
            return Err(Errno::EINVAL);
        }
    }
    // A client without modifiers may leave any values in the other fields of planes that the format does not have.
    let others = [&handles[count..], &pitches[count..], &offsets[count..]];
    if modifier[count..].iter().any(|value| *value != 0)
        || has_modifiers && others.concat().iter().any(|value| *value != 0)
    {
        return Err(Errno::EINVAL);
    }
    if handles[..count].iter().any(|handle| *handle != handles[0]) {
        return Err(Errno::EINVAL);
    }
    let bo = file.bo(handles[0]).ok_or(Errno::ENOENT)?;
    if bo.is_imported() && !bo.attributes().preferred.contains(GemDomain::GTT) {
        return Err(Errno::EINVAL);
    }
    let modifier = has_modifiers.then_some(modifier[0]);
    let place = |index: usize| PlanePlace { pitch: pitches[index], offset: offsets[index] };
    let PlanePlace { pitch, offset } = place(0);
    let others = (1..count).map(place).collect();
    Ok(Framebuffer { id: 0, bo, width, height, format, pitch, offset, others, modifier })
}

/// Performs MODE_RMFB.
pub(crate) fn remove(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let id = u32::read_from_bytes(bytes.get(..4).unwrap_or_default()).map_err(|_| Errno::EINVAL)?;
    screen(file)?.remove(file.number, id)
}

/// Performs MODE_CLOSEFB. Planes that show the framebuffer keep it.
pub(crate) fn close(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let screen = screen(file)?;
    let ModeCloseFb { fb_id, pad } = argument(bytes)?;
    if pad != 0 {
        return Err(Errno::EINVAL);
    }
    screen.close(file.number, fb_id).map(drop)
}

/// Returns a new handle of a framebuffer's BO for a privileged client, otherwise 0.
fn handle(file: &File, framebuffer: &Framebuffer) -> Result<u32, Errno> {
    let is_admin = file.node.as_primary().is_some_and(Primary::is_admin);
    if !is_admin && !file.gpu.display.masters.is_master(&file.node) {
        return Ok(0);
    }
    file.handles.lock().insert(&framebuffer.bo)
}

/// Performs MODE_GETFB.
pub(crate) fn get(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeFbCmd { fb_id, .. } = argument(bytes)?;
    let framebuffer = screen(file)?.framebuffer(fb_id).ok_or(Errno::ENOENT)?;
    let Framebuffer { width, height, pitch, .. } = *framebuffer;
    let (bpp, depth) = framebuffer.format.bits_and_depth();
    let handle = handle(file, &framebuffer)?;
    fill(bytes, &ModeFbCmd { fb_id, width, height, pitch, bpp, depth, handle })
}

/// Performs MODE_GETFB2.
pub(crate) fn get_with_modifier(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeFbCmd2 { fb_id, .. } = argument(bytes)?;
    let screen = screen(file)?;
    let framebuffer = screen.framebuffer(fb_id).ok_or(Errno::ENOENT)?;
    let has_modifiers = screen.level() >= GfxLevel::Gfx9;
    let handle = handle(file, &framebuffer)?;
    let places: Vec<_> = std::iter::once(framebuffer.first()).chain(framebuffer.others.iter().copied()).collect();
    let of = |value: &dyn Fn(&PlanePlace) -> u32| std::array::from_fn(|index| places.get(index).map_or(0, value));
    let modifier = framebuffer.modifier.unwrap_or(0);
    let answer = ModeFbCmd2 {
        fb_id,
        width: framebuffer.width,
        height: framebuffer.height,
        pixel_format: framebuffer.format.code(),
        flags: if has_modifiers { MODE_FB_MODIFIERS } else { 0 },
        handles: of(&|_| handle),
        pitches: of(&|place| place.pitch),
        offsets: of(&|place| place.offset),
        modifier: std::array::from_fn(|index| if index < places.len() { modifier } else { 0 }),
        ..ModeFbCmd2::ZEROED
    };
    fill(bytes, &answer)
}

/// Performs MODE_DIRTYFB. The image is read from memory when it is needed, so there is nothing to update.
pub(crate) fn dirty(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    const MOST_CLIPS: u32 = 256;
    let ModeFbDirty { fb_id, flags, num_clips, clips_ptr, .. } = argument(bytes)?;
    screen(file)?.framebuffer(fb_id).ok_or(Errno::ENOENT)?;
    if (num_clips == 0) != (clips_ptr == 0) || flags & !(MODE_FB_DIRTY_COPY | MODE_FB_DIRTY_FILL) != 0 {
        return Err(Errno::EINVAL);
    }
    if (flags & MODE_FB_DIRTY_COPY != 0 && !num_clips.is_multiple_of(2)) || num_clips > MOST_CLIPS {
        return Err(Errno::EINVAL);
    }
    user::read_slice::<u64>(clips_ptr, num_clips as usize).map(drop)
}
