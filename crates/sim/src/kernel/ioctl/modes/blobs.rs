//! Requests about blobs.
//!
//! Source: Linux 6.12 `drm_property.c`, `drm_mode_createblob_ioctl`, `drm_mode_destroyblob_ioctl` and
//! `drm_mode_getblob_ioctl`.

use amdgpu_uapi::{Errno, ModeCreateBlob, ModeDestroyBlob, ModeGetBlob};

use super::screen;
use crate::kernel::{
    files::file::File,
    ioctl::args::{argument, fill},
    user,
};

/// Performs MODE_CREATEPROPBLOB.
pub(crate) fn create(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let screen = screen(file)?;
    let request: ModeCreateBlob = argument(bytes)?;
    if request.length == 0 || request.length > i32::MAX as u32 {
        return Err(Errno::EINVAL);
    }
    let length = usize::try_from(request.length).map_err(|_| Errno::ENOMEM)?;
    let data = user::read_slice(request.data, length)?;
    let blob_id = screen.add_blob(Some(file.number), data)?.id;
    fill(bytes, &ModeCreateBlob { blob_id, ..request })
}

/// Performs MODE_DESTROYPROPBLOB. A blob in use stays alive.
pub(crate) fn destroy(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let ModeDestroyBlob { blob_id } = argument(bytes)?;
    screen(file)?.destroy_blob(file.number, blob_id)
}

/// Performs MODE_GETPROPBLOB: returns the length, and the content if the buffer has exactly that length.
pub(crate) fn get(file: &File, bytes: &mut [u8]) -> Result<(), Errno> {
    let request: ModeGetBlob = argument(bytes)?;
    // Without a display there are no blobs.
    let blob = file.gpu.display.screen.as_ref().and_then(|screen| screen.blob(request.blob_id)).ok_or(Errno::ENOENT)?;
    let length = u32::try_from(blob.data.len()).map_err(|_| Errno::EINVAL)?;
    if request.length == length {
        user::write_bytes(request.data, &blob.data)?;
    }
    fill(bytes, &ModeGetBlob { length, ..request })
}
