//! A kernel that records all calls that pass through it.

use std::{
    ffi::{c_int, c_void},
    ptr::NonNull,
    sync::OnceLock,
};

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_uapi::{Argument, Errno, GemMmap, Kernel, OpenFile, Protection, Request};
use parking_lot::Mutex;

use super::journal::{Journal, Mapped, SharedJournal};
use crate::{
    client::{
        calls::{self, Effect},
        ibs, memory,
        question::Question,
        space::{Backing, Space},
        view::{PAGE, Window, whole_pages},
    },
    format::{Action, GENERATION, Ib, Ioctl, Record},
};

/// An open file whose calls are all [recorded](super::Recording).
#[derive(Debug)]
pub struct Recorder<K: Kernel> {
    journal: SharedJournal,
    file: u32,
    inner: K,
    space: Mutex<Space>,
    /// The generation of the chip, after the first query.
    level: OnceLock<Option<GfxLevel>>,
}

impl<K: Kernel> Recorder<K> {
    pub(super) fn new(journal: SharedJournal, inner: K) -> Self {
        let file = journal.lock().open();
        Self { journal, file, inner, space: Mutex::new(Space::new()), level: OnceLock::new() }
    }

    /// Returns the inner kernel, whose calls are recorded.
    pub fn inner(&self) -> &K {
        &self.inner
    }
}

impl<K: Kernel> Recorder<K> {
    fn answer(
        &self,
        journal: &mut Journal,
        request: Request,
        question: Question,
        now: &[u8],
        result: Result<c_int, Errno>,
        ibs: Vec<Ib>,
    ) {
        if result.is_ok() {
            self.space.lock().hear(request, &question.raw, now);
        }
        let changed = question.changes(now);
        let written = if result.is_ok() { question.written() } else { Vec::new() };
        let done = result.is_ok().then_some(());
        let descriptor = done
            .and_then(|()| calls::new_descriptor(request, &question.raw))
            .and_then(|offset| calls::u32_at(now, offset))
            .map(u32::cast_signed)
            // An emulated kernel may report success without creating a descriptor.
            .filter(|&fd| fd >= 0)
            .map(memory::file_size);
        let pages = done.and_then(|()| calls::written_user_pages(request, &question.raw));
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
        journal.submits(ibs);
        journal.call(self.file, Action::Ioctl(ioctl), result.err());
        journal.after(calls::effect(request));
    }
}

/// The memory that the GPU reads for a submission.
impl<K: Kernel> Recorder<K> {
    /// Returns the IBs of a submission before it is made, and the IBs to which they lead.
    fn ibs(&self, question: &Question) -> Vec<Ib> {
        if !self.journal.lock().is_open() {
            return Vec::new();
        }
        let level = *self.level.get_or_init(|| self.find_level());
        ibs::contents(self.file, &ibs::submitted(&question.read), level, |va, dwords| self.memory(va, dwords))
    }

    /// Queries the generation of the chip without recording the query, and records the answer as a note.
    fn find_level(&self) -> Option<GfxLevel> {
        let level = super::generation::ask(&self.inner)?;
        self.journal.lock().write(&Record::Note { key: GENERATION.to_owned(), value: level.to_string() });
        Some(level)
    }

    /// Returns the current content of GPU memory.
    fn memory(&self, va: GpuVa, dwords: usize) -> Option<Vec<u32>> {
        let mut found = Vec::with_capacity(dwords.min(PAGE));
        let mut at = va;
        while found.len() < dwords {
            let backing = self.space.lock().backing(at)?;
            let here = usize::try_from(backing.len / 4).ok()?.min(dwords - found.len());
            if here == 0 {
                return None;
            }
            found.extend(self.backing(backing, here)?);
            at = at.checked_add(here as u64 * 4).unwrap_or(va);
        }
        Some(found)
    }

    fn backing(&self, Backing { handle, offset, .. }: Backing, dwords: usize) -> Option<Vec<u32>> {
        let (user_pages, node_offset) = {
            let space = self.space.lock();
            (space.user_pages(handle), space.node_offset(handle))
        };
        if let Some(address) = user_pages {
            let bytes = memory::peek_vec(address.checked_add(offset)?, dwords.checked_mul(4)?)?;
            return Some(bytes.as_chunks().0.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect());
        }
        let mapped = node_offset.and_then(|node| self.journal.lock().mapped_dwords(node, offset, dwords));
        mapped.or_else(|| self.unmapped(handle, offset, dwords))
    }

    /// Reads a BO that the client has not mapped, through a temporary mapping.
    fn unmapped(&self, handle: u32, offset: u64, dwords: usize) -> Option<Vec<u32>> {
        let len = usize::try_from(offset).ok()?.checked_add(dwords.checked_mul(4)?)?;
        let mut argument = u64::from(handle).to_le_bytes();
        // SAFETY: the argument is as long as the request says, and contains no address.
        unsafe { self.inner.ioctl(GemMmap::REQUEST, argument.as_mut_ptr().cast()) }.ok()?;
        let whole = whole_pages(len);
        // SAFETY: no address is requested, so no existing mapping is replaced.
        let base = unsafe { self.inner.mmap(whole, Protection::Read, None, u64::from_le_bytes(argument)) }.ok()?;
        // SAFETY: the inner kernel has just mapped these bytes, which stay mapped until they are unmapped below.
        let found = unsafe { Window::new(base, whole, false) }.dwords(offset, dwords);
        // SAFETY: the mapping was made above, and no other code knows it.
        let _ = unsafe { self.inner.munmap(base, whole) };
        found
    }
}

// SAFETY: the argument is passed to the inner kernel unchanged; the layer reads only argument and nested memory that the kernel may
// read too. `mmap` maps a view of the layer, of the same length and with the same protection, at the requested address; only
// `munmap` removes it.
unsafe impl<K: Kernel> Kernel for Recorder<K> {
    fn open_file(&self) -> OpenFile<'_> {
        self.inner.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        let question = unsafe { Question::new(request, argument) };
        let effect = calls::effect(request);
        self.journal.lock().before(effect);
        let ibs = if effect == Effect::Submits { self.ibs(&question) } else { Vec::new() };
        // The kernel may reuse a handle as soon as it is closed, but the recording must not contain it twice. Closing and recording
        // are therefore one step.
        let closing = calls::closes(request).then(|| self.journal.lock());
        // SAFETY: as above.
        let result = unsafe { self.inner.ioctl(request, argument) };
        // SAFETY: as above.
        let now = unsafe { memory::read(argument, request.size()) };
        let mut journal = closing.unwrap_or_else(|| self.journal.lock());
        self.answer(&mut journal, request, question, &now, result, ibs);
        result
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        self.journal.lock().before(Effect::Nothing);
        // SAFETY: no address is requested, so no existing mapping is replaced.
        let inner = unsafe { self.inner.mmap(len, protection, None, offset) };
        let writable = protection == Protection::ReadWrite;
        let mut journal = self.journal.lock();
        let wanted = Mapped { offset, len, writable, at };
        let (memory, result) = match inner {
            Ok(base) => {
                // SAFETY: the inner kernel has just mapped `len` bytes, rounded up to pages, with this protection, and only
                // `munmap` below removes them, after it removed the window from the journal.
                let window = unsafe { Window::new(base, whole_pages(len), writable) };
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
        let mut journal = self.journal.lock();
        let (memory, base) = journal.mapping(address).ok_or(Errno::EINVAL)?;
        journal.before(Effect::Shares);
        // SAFETY: `base` is the inner kernel's mapping of the BO at `address`, which the caller gives up; the lock prevents other
        // threads from using the window until it is removed.
        let result = unsafe { self.inner.munmap(base, len) };
        if result.is_ok() {
            // SAFETY: the caller gives up the view's mapping.
            unsafe { journal.unmap(address, len) };
        }
        journal.call(self.file, Action::Unmap { memory, len: len as u64 }, result.err());
        journal.after(Effect::Nothing);
        result
    }
}

impl<K: Kernel> Drop for Recorder<K> {
    fn drop(&mut self) {
        let mut journal = self.journal.lock();
        journal.before(Effect::Nothing);
        journal.close(self.file);
        journal.after(Effect::Nothing);
    }
}
