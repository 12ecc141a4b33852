//! A kernel that says what another one said when it was recorded.

use std::{
    ffi::{c_int, c_void},
    os::fd::{IntoRawFd, OwnedFd},
    ptr::NonNull,
};

use amdgpu_winsys::{
    uapi::Request,
    winsys::{FileIdentity, Kernel, OpenFile, Protection},
};
use nix::{
    errno::Errno,
    sys::memfd::{MFdFlags, memfd_create},
};

use crate::{
    calls::{self, Way},
    client,
    record::{Action, Ioctl},
    recorder::Question,
    replay::{DIVERGED, Replay, State},
};

/// One open file of a [`Replay`].
#[derive(Debug)]
pub struct Replayer {
    replay: Replay,
    file: u32,
    identity: FileIdentity,
}

impl Replayer {
    pub(crate) fn new(replay: Replay, file: u32) -> Self {
        Self { replay, file, identity: FileIdentity::new() }
    }

    /// Gives the answer that was recorded.
    ///
    /// # Safety
    ///
    /// As [`Kernel::ioctl`].
    unsafe fn answer(
        state: &mut State,
        request: Request,
        argument: *mut c_void,
        question: &Question,
        recorded: &Ioctl,
    ) -> Result<(), &'static str> {
        for (offset, bytes) in &recorded.changed {
            let offset = *offset as usize;
            let fits = offset.checked_add(bytes.len()).is_some_and(|end| end <= request.size());
            if !fits || argument.is_null() {
                return Err("a change lies outside of the argument");
            }
            // SAFETY: the caller vouches for `request.size()` bytes, and the change lies inside.
            unsafe { client::write(argument, offset, bytes) };
        }
        let out = question.pieces.iter().filter(|piece| piece.way == Way::Out);
        for (piece, bytes) in out.zip(&recorded.written) {
            if bytes.len() > piece.len {
                return Err("the kernel wrote more than there is room for");
            }
            client::poke(piece.address, bytes).map_err(|_| "the client's memory cannot be written")?;
        }
        if let (Some(size), Some(offset)) = (recorded.descriptor, calls::new_descriptor(request, &question.raw)) {
            let fd = descriptor(size).map_err(|_| "no descriptor could be made")?;
            if offset + 4 > request.size() || argument.is_null() {
                return Err("the descriptor lies outside of the argument");
            }
            // SAFETY: as above.
            unsafe { client::write(argument, offset, &fd.into_raw_fd().to_ne_bytes()) };
        }
        if let (Some(memory), Some((address, len))) = (recorded.memory, calls::user_pages(request, &question.raw)) {
            state.know_user_pages(memory, address, len);
        }
        if let Some(fd) = calls::eventfd(request, &question.raw) {
            client::ring(fd).map_err(|_| "the eventfd cannot be written")?;
        }
        Ok(())
    }
}

/// A descriptor to stand for one that the kernel made: a file of the same size, which polls as ready.
fn descriptor(size: u64) -> Result<OwnedFd, Errno> {
    let fd = memfd_create(c"amdgpu-replay descriptor", MFdFlags::MFD_CLOEXEC)?;
    nix::unistd::ftruncate(&fd, i64::try_from(size).map_err(|_| Errno::EINVAL)?)?;
    Ok(fd)
}

fn result<T>(value: T, errno: i32) -> Result<T, Errno> {
    if errno == 0 { Ok(value) } else { Err(Errno::from_raw(errno)) }
}

// SAFETY: `ioctl` writes inside of the argument's `request.size()` bytes, and through the process's own memory calls where
// the request makes the kernel write, no further than it may. `mmap` maps a view of our own with the length, protection
// and address asked for; nothing but `munmap` removes it.
unsafe impl Kernel for Replayer {
    fn open_file(&self) -> OpenFile<'_> {
        OpenFile::InProcess(&self.identity)
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        let mut question = unsafe { Question::new(request, argument) };
        let (input, read) = (std::mem::take(&mut question.input), std::mem::take(&mut question.read));
        let came = Action::Ioctl(Ioctl { request: request.bits(), input, read, ..Ioctl::default() });
        let (mut state, call) = self.replay.turn(self.file, came)?;
        let Action::Ioctl(recorded) = call.action else { return Err(DIVERGED) };
        // SAFETY: as above.
        if let Err(why) = unsafe { Self::answer(&mut state, request, argument, &question, &recorded) } {
            return Err(state.nonsense(why));
        }
        state.advance();
        result(recorded.returned, call.errno)
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        let writable = protection == Protection::ReadWrite;
        let came = Action::Map { memory: 0, offset, len: len as u64, writable, fixed: at.is_some() };
        let (mut state, call) = self.replay.turn(self.file, came)?;
        let Action::Map { memory, .. } = call.action else { return Err(DIVERGED) };
        let mapped = if call.errno == 0 {
            // SAFETY: with `at`, the caller owns the range.
            unsafe { state.map(memory, len, writable, at) }
        } else {
            Err(Errno::from_raw(call.errno))
        };
        state.advance();
        mapped
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        let memory = self.replay.mapping(address).ok_or(Errno::EINVAL)?;
        let came = Action::Unmap { memory, len: len as u64 };
        match self.replay.turn(self.file, came) {
            Ok((mut state, call)) => {
                if call.errno == 0 {
                    // SAFETY: the caller gives one live mapping that nothing uses any more.
                    unsafe { state.unmap(address, len) }?;
                }
                state.advance();
                result((), call.errno)
            }
            // The replay is over; the mapping goes all the same.
            // SAFETY: as above.
            Err(_) => unsafe { self.replay.lock().unmap(address, len) },
        }
    }
}

impl Drop for Replayer {
    fn drop(&mut self) {
        if let Ok((mut state, _)) = self.replay.turn(self.file, Action::Close) {
            state.advance();
        }
    }
}
