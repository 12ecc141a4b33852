//! Mode setting, framebuffers, vertical blanks and dumb buffers.

mod assign;
pub(crate) mod atomic;
pub(crate) mod blobs;
pub(crate) mod caps;
pub(crate) mod crtcs;
pub(crate) mod dumb;
pub(crate) mod framebuffers;
pub(crate) mod gamma;
pub(crate) mod objects;
pub(crate) mod planes;
pub(crate) mod properties;
mod values;
pub(crate) mod vblank;

use std::sync::Arc;

use zerocopy::{Immutable, IntoBytes};

use amdgpu_uapi::Errno;

use crate::kernel::{
    files::file::File,
    modes::Screen,
    sync::{events::Until, fence::Fence},
    user,
};

/// Returns the display, without which what is shown is not simulated.
fn screen(file: &File) -> Result<&Arc<Screen>, Errno> {
    file.gpu.screen.as_ref().ok_or_else(|| {
        file.gpu.complaints.say("framebuffers and modes are simulated with a display alone".to_owned());
        Errno::EOPNOTSUPP
    })
}

/// Waits until a commit is scanned out. One that is not when the client is interrupted will be all the same.
fn finish(file: &File, commit: &Fence) {
    file.gpu.events.wait(Until::Never, || commit.is_signalled().then_some(()));
}

/// Writes as many values as the client has room for; the number that there are.
fn list<T: IntoBytes + Immutable>(address: u64, room: u32, values: &[T]) -> Result<u32, Errno> {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    user::write_slice(address, values.get(..room).unwrap_or(values))?;
    Ok(count(values.len()))
}

/// Writes the values if the client has room for all; the number that there are.
fn whole<T: IntoBytes + Immutable>(address: u64, room: u32, values: &[T]) -> Result<u32, Errno> {
    let there = count(values.len());
    if room >= there {
        user::write_slice(address, values)?;
    }
    Ok(there)
}

fn count(len: usize) -> u32 {
    u32::try_from(len).unwrap_or(u32::MAX)
}
