//! A kernel that returns recorded results.

use std::{
    ffi::{c_int, c_void},
    os::fd::{IntoRawFd, OwnedFd},
    ptr::NonNull,
    sync::Arc,
};

use amdgpu_uapi::{Errno, FileIdentity, Kernel, OpenFile, Protection, Request, bo_list_op, ctx_op};

use super::{
    objects::{Other, Refused, Wanted},
    turns::{DIVERGED, Playback, PlaybackState},
};
use crate::{
    client::{
        calls::{self, FieldKind, Way},
        ibs, memory,
        question::Question,
        view::{UserPages, memory_file},
    },
    format::{Action, Ioctl},
};

/// An open file of a [`Replay`](super::Replay).
#[derive(Debug)]
pub struct Replayer {
    replay: Arc<Playback>,
    file: u32,
    identity: FileIdentity,
}

impl Replayer {
    pub(super) fn new(replay: Arc<Playback>, file: u32) -> Self {
        Self { replay, file, identity: FileIdentity::new() }
    }

    /// Writes the recorded results of a call to the client's memory.
    ///
    /// # Safety
    ///
    /// The conditions of [`Kernel::ioctl`].
    unsafe fn answer(
        &self,
        state: &mut PlaybackState,
        request: Request,
        argument: *mut c_void,
        question: &Question,
        (recorded, errno): (&Ioctl, i32),
    ) -> Result<(), Refused> {
        let succeeded = errno == 0;
        let (mut now, made) = answered(request, question, recorded, succeeded)?;
        if now != question.raw && argument.is_null() {
            return Err(Refused::Nonsense("a result without an argument"));
        }
        if succeeded {
            if recorded.returned < 0 {
                return Err(Refused::Nonsense("a call that succeeds returns a negative number"));
            }
            let out = question.pieces.iter().filter(|piece| piece.way == Way::Out);
            for (piece, bytes) in out.zip(&recorded.written) {
                if bytes.len() > piece.len {
                    return Err(Refused::Nonsense("the kernel wrote more than the client's buffer holds"));
                }
                let lost = |_| Refused::Nonsense("the client's memory cannot be written");
                memory::poke(piece.address, bytes).map_err(lost)?;
            }
            if let Some(fd) = calls::eventfd(request, &question.raw) {
                memory::ring(fd)
                    .map_err(|_| Refused::Nonsense("a sync object signals a file that is not an eventfd"))?;
            }
        }
        self.learn(state, request, question, recorded, &now, made.as_ref().map(|(fd, _)| fd), succeeded)?;
        if let Some((fd, offset)) = made
            && let Some(place) = now.get_mut(offset..offset + 4)
        {
            place.copy_from_slice(&fd.into_raw_fd().to_ne_bytes());
        }
        if now != question.raw {
            // SAFETY: the caller vouches for `request.size()` bytes, which is the length of `raw` and so of `now`; the
            // argument is not null.
            unsafe { memory::write(argument, 0, &now) };
        }
        Ok(())
    }

    /// Updates the objects of the replay after a call.
    #[expect(clippy::too_many_arguments, reason = "a call has this number of sides")]
    fn learn(
        &self,
        state: &mut PlaybackState,
        request: Request,
        Question { raw, .. }: &Question,
        recorded: &Ioctl,
        now: &[u8],
        made: Option<&OwnedFd>,
        succeeded: bool,
    ) -> Result<(), Refused> {
        let (file, objects) = (self.file, &mut state.objects);
        let before = |offset| calls::u32_at(raw, offset).unwrap_or(0);
        let after = |offset| calls::u32_at(now, offset).unwrap_or(0);
        if let Some(handle) = calls::closed_handle(request, raw) {
            objects.closed(file, handle, succeeded);
        }
        match request.number() {
            _ if !succeeded => Ok(()),
            calls::GEM_CREATE => objects.created(file, after(0)),
            calls::GEM_MMAP => objects.found_at(file, before(0), calls::u64_at(now, 0).unwrap_or(0)),
            calls::GEM_VA => objects.bound(file, before(0), before(8), before(12)),
            calls::CS => {
                ibs::user_fences(&recorded.read).try_for_each(|handle| objects.written_by_others(file, handle))
            }
            calls::USERPTR => {
                let pages = calls::written_user_pages(request, raw).map(|(address, len)| UserPages::new(address, len));
                objects.user_pages(file, after(20), recorded.memory, pages)
            }
            calls::EXPORT => made.map_or(Ok(()), |dma_buf| objects.exported(file, before(0), dma_buf)),
            calls::IMPORT => {
                memory::with_descriptor(before(8).cast_signed(), |fd| objects.imported(file, after(0), fd))
                    .unwrap_or(Err(Refused::Nonsense("an import without a descriptor")))
            }
            calls::CTX if before(0) == ctx_op::ALLOC_CTX => objects.made(file, Other::Context, after(0)),
            calls::BO_LIST if before(0) == bo_list_op::CREATE => objects.made(file, Other::List, after(0)),
            calls::SYNCOBJ_CREATE => objects.made(file, Other::Syncobj, after(0)),
            // With a flag it is a sync file, whose fence is stored in an existing sync object.
            calls::SYNCOBJ_IMPORT if before(4) == 0 => objects.made(file, Other::Syncobj, after(0)),
            calls::FENCE_TO_HANDLE if before(24) == 0 => objects.made(file, Other::Syncobj, after(0)),
            calls::CTX if before(0) == ctx_op::FREE_CTX => {
                objects.gone(file, Other::Context, before(8));
                Ok(())
            }
            calls::BO_LIST if before(0) == bo_list_op::DESTROY => {
                objects.gone(file, Other::List, before(4));
                Ok(())
            }
            calls::SYNCOBJ_DESTROY => {
                objects.gone(file, Other::Syncobj, before(0));
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// A descriptor that was created for the client, and its offset in the argument.
type Made = (OwnedFd, usize);

/// Returns the argument after the call, and the descriptor to store at an offset of it.
///
/// Addresses and descriptors in an argument belong to the client and have no meaning in another run. They are therefore not
/// replaced by recorded values. A descriptor that the client gets was always created for it in this call.
fn answered(
    request: Request,
    question: &Question,
    recorded: &Ioctl,
    succeeded: bool,
) -> Result<(Vec<u8>, Option<Made>), Refused> {
    let mut now = question.raw.clone();
    for (offset, bytes) in &recorded.changed {
        let offset = *offset as usize;
        let place = offset.checked_add(bytes.len()).and_then(|end| now.get_mut(offset..end));
        place.ok_or(Refused::Nonsense("a change outside the argument"))?.copy_from_slice(bytes);
    }
    let new = calls::new_descriptor(request, &question.raw);
    for field in question.fields.iter().filter(|field| field.kind != FieldKind::Moment && Some(field.offset) != new) {
        let range = field.offset..field.offset + field.kind.len();
        if let (Some(place), Some(own)) = (now.get_mut(range.clone()), question.raw.get(range)) {
            place.copy_from_slice(own);
        }
    }
    let Some(offset) = new else { return Ok((now, None)) };
    let place = now.get_mut(offset..offset + 4).ok_or(Refused::Nonsense("a descriptor outside the argument"))?;
    if !succeeded {
        place.copy_from_slice(question.raw.get(offset..offset + 4).unwrap_or(&[0xff; 4]));
        return Ok((now, None));
    }
    // Either the new descriptor is stored here, or -1 for none.
    place.fill(0xff);
    let made = recorded.descriptor.map(descriptor).transpose()?;
    Ok((now, made.map(|fd| (fd, offset))))
}

/// Creates a descriptor in place of the kernel's: of a file of the same size, which polls as ready.
fn descriptor(size: u64) -> Result<OwnedFd, Refused> {
    let size = i64::try_from(size).map_err(|_| Refused::Nonsense("a descriptor of a file that is too long"))?;
    Ok(memory_file(c"amdgpu-layers descriptor", size)?)
}

fn result<T>(value: T, errno: i32) -> Result<T, Errno> {
    if errno == 0 { Ok(value) } else { Err(Errno::from_raw(errno)) }
}

// SAFETY: `ioctl` writes inside the `request.size()` bytes of the argument, and through system calls for process memory where the
// request makes the kernel write, up to the same length. Descriptors that it returns were created in that call. `mmap` maps a view
// of the replay with the requested length, protection and address, which different BOs do not share. Only `munmap` removes it, and
// nothing is stored there unless the client permits the GPU to store it (`objects.rs`).
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
        let answered = unsafe { self.answer(&mut state, request, argument, &question, (&recorded, call.errno)) };
        if let Err(refused) = answered {
            // Without this answer the client's later calls would differ from the recorded ones.
            return Err(match refused {
                Refused::Nonsense(why) => state.nonsense(why),
                Refused::Host(errno) => state.fail(errno),
            });
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
            let wanted = Wanted { offset, len, writable, at };
            // SAFETY: if `at` is given, the caller owns the range.
            unsafe { state.objects.map(memory, wanted) }.map_err(|refused| state.refuse(refused))
        } else {
            Err(Errno::from_raw(call.errno))
        };
        state.advance();
        mapped
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        let memory = self.replay.lock().objects.mapped_at(address, len).ok_or(Errno::EINVAL)?;
        let came = Action::Unmap { memory, len: len as u64 };
        match self.replay.turn(self.file, came) {
            Ok((mut state, call)) => {
                let unmapped = if call.errno == 0 {
                    // SAFETY: the caller passes one live mapping that is no longer used.
                    unsafe { state.objects.unmap(address, len) }
                } else {
                    Err(Errno::from_raw(call.errno))
                };
                state.advance();
                unmapped
            }
            // The replay has stopped; the mapping is removed nevertheless.
            // SAFETY: as above.
            Err(_) => unsafe { self.replay.lock().objects.unmap(address, len) },
        }
    }
}

impl Drop for Replayer {
    fn drop(&mut self) {
        let turn = self.replay.turn(self.file, Action::Close);
        let played = turn.is_ok();
        let mut state = turn.map_or_else(|_| self.replay.lock(), |(state, _)| state);
        state.objects.closed_file(self.file);
        if played {
            state.advance();
        }
    }
}
