//! Requests for gamma tables without properties.
//!
//! Source: Linux 6.12 `drm_color_mgmt.c`, `drm_mode_gamma_set_ioctl`, `drm_mode_gamma_get_ioctl` and
//! `drm_crtc_legacy_gamma_set`.

use std::sync::Arc;

use amdgpu_uapi::{ColorLut, Errno, ModeCrtcLut};
use zerocopy::{FromBytes as _, IntoBytes as _};

use super::{commit, screen};
use crate::kernel::{
    files::file::File,
    ioctl::args::argument,
    modes::{GAMMA, Object, Screen},
    user,
};

/// Returns the request, the display and the index of the CRTC.
fn of<'f>(file: &'f File, bytes: &[u8]) -> Result<(ModeCrtcLut, &'f Arc<Screen>, u32), Errno> {
    let screen = screen(file)?;
    let request: ModeCrtcLut = argument(bytes)?;
    let Some(Object::Crtc(crtc)) = file.object(request.crtc_id) else { return Err(Errno::ENOENT) };
    if request.gamma_size as usize == GAMMA { Ok((request, screen, crtc)) } else { Err(Errno::EINVAL) }
}

/// Performs MODE_SETGAMMA.
pub(crate) fn set(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let (request, screen, crtc) = of(file, bytes)?;
    let column = |address: u64| user::read_slice::<u16>(address, GAMMA);
    let (red, green, blue) = (column(request.red)?, column(request.green)?, column(request.blue)?);
    let rows = red.into_iter().zip(green).zip(blue);
    let table: Vec<_> = rows.map(|((red, green), blue)| ColorLut { red, green, blue, reserved: 0 }).collect();
    let blob = screen.add_blob(None, table.as_bytes().to_vec())?;
    commit(file, screen, |change| {
        change.crtc(crtc, |crtc| crtc.gamma = Some(Arc::clone(&blob)));
        Ok(())
    })
}

/// Performs MODE_GETGAMMA: returns zeros until a table of this size was set.
pub(crate) fn get(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let (request, screen, crtc) = of(file, bytes)?;
    let blob = screen.configuration().crtc(crtc).gamma;
    let table = blob.as_ref().and_then(|blob| <[ColorLut; GAMMA]>::read_from_bytes(&blob.data).ok());
    let table = table.unwrap_or([ColorLut::ZEROED; GAMMA]);
    for (address, colour) in [
        (request.red, (|entry| entry.red) as fn(&ColorLut) -> u16),
        (request.green, |entry| entry.green),
        (request.blue, |entry| entry.blue),
    ] {
        user::write_slice(address, &table.iter().map(colour).collect::<Vec<_>>())?;
    }
    Ok(())
}
