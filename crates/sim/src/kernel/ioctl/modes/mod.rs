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
    modes::{Change, Screen},
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

/// Waits until a commit is scanned out, at the next vertical blank: what it waits for is done. No interruption ends this, for
/// the client would commit once more.
fn finish(file: &File, commit: &Fence) {
    file.gpu.events.wait_through(|| commit.is_signalled());
}

/// Waits until fences have signalled.
///
/// # Errors
///
/// EINTR when the client is interrupted.
fn outlast(file: &File, fences: &[Arc<Fence>]) -> Result<(), Errno> {
    let are_over = || fences.iter().all(|fence| fence.is_signalled()).then_some(());
    file.gpu.events.wait(Until::Never, are_over).ok_or(Errno::EINTR)
}

/// Makes a change and commits it once nothing is in its way, then waits until it is scanned out.
///
/// While this waits, others make theirs, and so this one is made anew afterwards. `make` is called with the display locked for
/// all clients: it must not wait for any of them, nor read their memory.
///
/// # Errors
///
/// Those of `make` and of the checks of a commit, and EINTR when the client is interrupted before anything changed.
fn commit(file: &File, screen: &Arc<Screen>, make: impl Fn(&mut Change<'_>) -> Result<(), Errno>) -> Result<(), Errno> {
    loop {
        let mut change = screen.change();
        make(&mut change)?;
        change.check(true, 0)?;
        let obstacles = change.obstacles();
        if obstacles.is_empty() {
            let done = change.commit(true, Vec::new())?;
            finish(file, &done);
            return Ok(());
        }
        drop(change);
        outlast(file, &obstacles)?;
    }
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
