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

/// Returns the display. Scanout is not simulated without one.
fn screen(file: &File) -> Result<&Arc<Screen>, Errno> {
    file.gpu.display.screen.as_ref().ok_or_else(|| {
        file.gpu.board.complaints.report("framebuffers and modes are simulated with a display alone".to_owned());
        Errno::EOPNOTSUPP
    })
}

/// Waits until a commit is scanned out at the next vertical blank, after its fences. An interruption does not end the wait, because
/// the client would repeat the commit.
fn finish(file: &File, commit: &Fence) {
    file.gpu.machine.events.wait_through(|| commit.is_signalled());
}

/// Waits until fences have signalled.
///
/// # Errors
///
/// EINTR if the client is interrupted.
fn outlast(file: &File, fences: &[Arc<Fence>]) -> Result<(), Errno> {
    let are_over = || fences.iter().all(|fence| fence.is_signalled()).then_some(());
    file.gpu.machine.events.wait(Until::Never, are_over).ok_or(Errno::EINTR)
}

/// Prepares a change and commits it when nothing blocks it, then waits until it is scanned out.
///
/// While this waits, other clients may commit, so the change is prepared again afterwards. `make` is called with the display locked
/// for all clients: it must neither wait for any of them nor access their memory.
///
/// # Errors
///
/// The errors of `make` and of the checks of a commit, and EINTR if the client is interrupted before anything has changed.
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

/// Writes as many values as the client has room for, and returns the number of values.
fn list<T: IntoBytes + Immutable>(address: u64, room: u32, values: &[T]) -> Result<u32, Errno> {
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    user::write_slice(address, values.get(..room).unwrap_or(values))?;
    Ok(count(values.len()))
}

/// Writes the values if the client has room for all, and returns the number of values.
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
