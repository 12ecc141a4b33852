//! Requests of the DRM core about the driver and its capabilities.

use amdgpu_uapi::{CLIENT_NAME_MAX, Errno, GetCap, PROC_OPTION_SIGBUS_DELAY, ProcOptions, SetClientName, Version, cap};

use crate::kernel::{
    files::file::File,
    ioctl::args::{argument, fill},
    user,
};

/// The driver's name, the answer of VERSION.
///
/// Source: Linux 6.12 `drm_ioctl.c`, `drm_version`; `amdgpu_drv.c`.
const NAME: &str = "amdgpu";
const DATE: &str = "0";
const DESCRIPTION: &str = "AMD GPU";

/// Performs VERSION: writes as much of each string as fits, and the string's whole length.
pub(crate) fn version(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut version: Version = argument(bytes)?;
    version.version_major = 3;
    version.version_minor = file.gpu.facts.options.drm_minor;
    version.version_patchlevel = 0;
    let result = copy_string(NAME, &mut version.name_len, version.name)
        .and_then(|()| copy_string(DATE, &mut version.date_len, version.date))
        .and_then(|()| copy_string(DESCRIPTION, &mut version.desc_len, version.desc));
    fill(bytes, &version)?;
    result
}

fn copy_string(text: &str, len: &mut u64, address: u64) -> Result<(), Errno> {
    let room = usize::try_from(*len).unwrap_or(usize::MAX).min(text.len());
    if address != 0 {
        user::write_bytes(address, &text.as_bytes()[..room])?;
    }
    *len = text.len() as u64;
    Ok(())
}

/// Performs GET_CAP.
///
/// Source: Linux 6.12 `drm_ioctl.c`, `drm_getcap`. Without a display, the size of the cursor is the core's default.
pub(crate) fn get_cap(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let mut query: GetCap = argument(bytes)?;
    query.value = 0;
    let value = match query.capability {
        cap::DUMB_BUFFER
        | cap::VBLANK_HIGH_CRTC
        | cap::DUMB_PREFER_SHADOW
        | cap::TIMESTAMP_MONOTONIC
        | cap::ASYNC_PAGE_FLIP
        | cap::CRTC_IN_VBLANK_EVENT
        | cap::SYNCOBJ
        | cap::SYNCOBJ_TIMELINE
        | cap::ATOMIC_ASYNC_PAGE_FLIP => Some(1),
        cap::DUMB_PREFERRED_DEPTH => Some(24),
        cap::PRIME => Some(3),
        cap::CURSOR_WIDTH | cap::CURSOR_HEIGHT => {
            Some(file.gpu.display.screen.as_ref().map_or(64, |screen| screen.cursor.into()))
        }
        cap::ADDFB2_MODIFIERS => Some(modifiers(file)),
        cap::PAGE_FLIP_TARGET => Some(0),
        _ => None,
    };
    query.value = value.unwrap_or(0);
    fill(bytes, &query)?;
    value.map(|_| ()).ok_or(Errno::EINVAL)
}

/// Performs SET_CLIENT_NAME. A name that is refused leaves the old one.
///
/// Source: Linux 7.2 `drm_ioctl.c`, `drm_set_client_name` and `drm_validate_value_string`.
pub(crate) fn set_client_name(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: SetClientName = argument(bytes)?;
    let len = usize::try_from(request.name_len).ok().filter(|&len| len <= CLIENT_NAME_MAX).ok_or(Errno::EINVAL)?;
    let name: Vec<u8> = if len == 0 { Vec::new() } else { user::read_slice(request.name, len)? };
    if !name.iter().all(u8::is_ascii_graphic) {
        return Err(Errno::EINVAL);
    }
    let name = String::from_utf8(name).map_err(|_| Errno::EINVAL)?;
    *file.client_name.lock() = name;
    Ok(())
}

/// Performs PROC_OPTIONS. Its only option concerns processes that use `/dev/kfd`, which is not simulated, so it has no effect.
///
/// Source: Linux 7.3 `amdgpu_kms.c`, `amdgpu_proc_options_ioctl`.
pub(crate) fn proc_options(_file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ProcOptions = argument(bytes)?;
    if request.op == PROC_OPTION_SIGBUS_DELAY { Ok(()) } else { Err(Errno::EINVAL) }
}

/// Returns 1 if framebuffer modifiers are supported: on GFX9 and later. The captures were taken with modifiers on every chip, and
/// with driver 3.54 the answer is that of the captures.
fn modifiers(file: &File) -> u64 {
    use amdgpu_hw::GfxLevel;
    let recording = file.gpu.facts.options == crate::SimOptions::RECORDING;
    u64::from(recording || file.gpu.facts.profile.gfx_level >= GfxLevel::Gfx9)
}
