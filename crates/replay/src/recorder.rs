//! A kernel that writes down what passes through it.

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
};

use amdgpu_winsys::{
    uapi::Request,
    winsys::{Kernel, Protection},
};
use nix::errno::Errno;

use crate::{
    calls::{self, Effect, Field, Piece, Way},
    client,
    record::{Action, Ioctl},
    recording::{Mapped, Recording},
    view::Window,
};

/// One open file whose every call is [recorded](Recording).
#[derive(Debug)]
pub struct Recorder<K: Kernel> {
    recording: Recording,
    file: u32,
    inner: K,
}

impl<K: Kernel> Recorder<K> {
    pub(crate) fn new(recording: Recording, inner: K) -> Self {
        let file = recording.lock().open();
        Self { recording, file, inner }
    }

    /// The kernel inside.
    pub fn inner(&self) -> &K {
        &self.inner
    }
}

/// An argument before the kernel saw it, made the same in every run, and what it points at.
pub(crate) struct Question {
    pub(crate) raw: Vec<u8>,
    pub(crate) fields: Vec<Field>,
    pub(crate) pieces: Vec<Piece>,
    pub(crate) input: Vec<u8>,
    pub(crate) read: Vec<Vec<u8>>,
}

impl Question {
    /// Takes the argument down.
    ///
    /// # Safety
    ///
    /// As [`Kernel::ioctl`].
    pub(crate) unsafe fn new(request: Request, argument: *mut c_void) -> Self {
        // SAFETY: the caller vouches for `request.size()` bytes.
        let raw = unsafe { client::read(argument, request.size()) };
        let fields = calls::fields(request, &raw);
        let pieces = calls::pieces(request, &raw, &client::peek_vec);
        let mut input = raw.clone();
        calls::neutralise(&mut input, &fields);
        let read = pieces.iter().filter(|piece| piece.way == Way::In).map(|piece| {
            let mut bytes = client::peek_vec(piece.address, piece.len).unwrap_or_default();
            calls::neutralise(&mut bytes, &piece.fields);
            bytes
        });
        let read = read.collect();
        Self { raw, fields, pieces, input, read }
    }

    /// The bytes that differ now, in runs; a field that differs from run to run is one piece.
    fn changes(&self, now: &[u8]) -> Vec<(u32, Vec<u8>)> {
        let mut changed: Vec<bool> = self.raw.iter().zip(now).map(|(old, new)| old != new).collect();
        for field in &self.fields {
            let Some(part) = changed.get_mut(field.offset..field.offset + field.kind.len()) else { continue };
            let any = part.contains(&true);
            part.fill(any);
        }
        let mut runs: Vec<(u32, Vec<u8>)> = Vec::new();
        for (index, byte) in now.iter().enumerate().filter(|(index, _)| changed.get(*index) == Some(&true)) {
            match runs.last_mut() {
                Some((start, bytes)) if *start as usize + bytes.len() == index => bytes.push(*byte),
                _ => runs.push((index as u32, vec![*byte])),
            }
        }
        runs
    }

    /// What the kernel has written elsewhere.
    fn written(&self) -> Vec<Vec<u8>> {
        let out = self.pieces.iter().filter(|piece| piece.way == Way::Out);
        out.map(|piece| client::peek_vec(piece.address, piece.len).unwrap_or_default()).collect()
    }
}

impl<K: Kernel> Recorder<K> {
    fn answer(&self, request: Request, question: Question, now: &[u8], result: Result<c_int, Errno>) {
        let changed = question.changes(now);
        let written = if result.is_ok() { question.written() } else { Vec::new() };
        let done = result.is_ok().then_some(());
        let descriptor = done
            .and_then(|()| calls::new_descriptor(request, &question.raw))
            .and_then(|offset| calls::u32_at(now, offset))
            .map(u32::cast_signed)
            // A kernel that only pretends may say yes and make none.
            .filter(|&fd| fd >= 0)
            .map(client::file_size);
        let pages = done.and_then(|()| calls::user_pages(request, &question.raw));
        let mut journal = self.recording.lock();
        let memory = pages.zip(calls::u32_at(now, 20)).map(|((address, len), handle)| {
            let key = (self.file, handle);
            journal.watch_user_pages(key, address, len)
        });
        if let Some(handle) = done.and_then(|()| calls::closed_handle(request, &question.raw)) {
            journal.forget_user_pages((self.file, handle));
        }
        let Question { input, read, .. } = question;
        let returned = result.unwrap_or(0);
        let ioctl = Ioctl { request: request.bits(), returned, input, read, changed, written, descriptor, memory };
        journal.call(self.file, Action::Ioctl(ioctl), result.err());
        journal.after(calls::effect(request));
    }
}

// SAFETY: the argument goes to the inner kernel as it came; what is read of it and of what it points at is what the
// kernel may read too. `mmap` maps a view of our own, of the same length and with the same protection, at the address
// asked for; nothing but `munmap` removes it.
unsafe impl<K: Kernel> Kernel for Recorder<K> {
    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        let question = unsafe { Question::new(request, argument) };
        self.recording.lock().before(calls::effect(request));
        // SAFETY: as above.
        let result = unsafe { self.inner.ioctl(request, argument) };
        // SAFETY: as above.
        let now = unsafe { client::read(argument, request.size()) };
        self.answer(request, question, &now, result);
        result
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        self.recording.lock().before(Effect::Nothing);
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let inner = unsafe { self.inner.mmap(len, protection, None, offset) };
        let writable = protection == Protection::ReadWrite;
        let mut journal = self.recording.lock();
        let wanted = Mapped { offset, len, writable, at };
        let (memory, result) = match inner {
            Ok(base) => {
                // SAFETY: the inner kernel has just mapped `len` bytes, rounded up to pages, with this protection, and only
                // `munmap` below removes them, after it took the window out of the journal.
                let window = unsafe { Window::new(base, crate::view::whole_pages(len), writable) };
                // SAFETY: with `at`, the caller owns the range.
                match unsafe { journal.map(&wanted, window) } {
                    Ok((memory, address)) => (memory, Ok(address)),
                    Err(errno) => {
                        // SAFETY: the window was not kept.
                        let _ = unsafe { self.inner.munmap(base, len) };
                        (0, Err(errno))
                    }
                }
            }
            Err(errno) => (0, Err(errno)),
        };
        let action = Action::Map { memory, offset, len: len as u64, writable, fixed: at.is_some() };
        journal.call(self.file, action, result.err());
        journal.after(if result.is_ok() { Effect::Shares } else { Effect::Nothing });
        result
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        let mut journal = self.recording.lock();
        journal.before(Effect::Shares);
        let (memory, base) = journal.mapping(address).ok_or(Errno::EINVAL)?;
        // SAFETY: `base` is the inner kernel's mapping behind `address`, which the caller gives up; the lock that is held
        // keeps everybody from looking through the window before it is forgotten.
        let result = unsafe { self.inner.munmap(base, len) };
        if result.is_ok() {
            // SAFETY: the caller gives the view's mapping up.
            unsafe { journal.unmap(address, len) };
        }
        journal.call(self.file, Action::Unmap { memory, len: len as u64 }, result.err());
        journal.after(Effect::Nothing);
        result
    }
}

impl<K: Kernel> Drop for Recorder<K> {
    fn drop(&mut self) {
        let mut journal = self.recording.lock();
        journal.before(Effect::Nothing);
        journal.close(self.file);
        journal.after(Effect::Nothing);
    }
}
