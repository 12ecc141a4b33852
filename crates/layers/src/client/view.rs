//! Views: the memory that a client maps in place of a BO.

use std::{collections::BTreeMap, ffi::CStr, num::NonZeroUsize, os::fd::OwnedFd, ptr::NonNull};

use amdgpu_uapi::Errno;
use nix::{
    fcntl::{FcntlArg, SealFlag, fcntl},
    sys::{
        memfd::{MFdFlags, memfd_create},
        mman::{MapFlags, ProtFlags, mmap, munmap},
    },
    unistd::{Whence, ftruncate, lseek},
};

use super::memory;
use crate::format::{DWORDS, Dwords, Page, Run, difference};

/// Size of a page in bytes.
pub(crate) const PAGE: usize = 4096;

/// Returns a length rounded up to whole pages, in bytes.
pub(crate) const fn whole_pages(len: usize) -> usize {
    len.div_ceil(PAGE).saturating_mul(PAGE)
}

/// Creates a sealed memory file of zeros. Its size cannot change, because a truncation would cause SIGBUS in every process that
/// maps it.
pub(crate) fn memory_file(name: &CStr, len: i64) -> Result<OwnedFd, Errno> {
    let file = memfd_create(name, MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?;
    ftruncate(&file, len)?;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(file)
}

const ZERO: Dwords = [0; DWORDS];

/// Shared memory of the layer, mapped once by the layer and any number of times by the client, with the content of the last
/// synchronization.
///
/// # Invariants
///
/// `window` is a live shared mapping of `len` bytes of `file`, a positive multiple of the page size.
#[derive(Debug)]
pub(crate) struct View {
    file: OwnedFd,
    window: Window,
    /// The pages as they were when client and GPU were last synchronized. Missing pages were zero.
    agreed: BTreeMap<u64, Box<Dwords>>,
}

/// Mapped memory that others may change at any time.
///
/// # Invariants
///
/// `base` is the start of `len` mapped bytes, which are whole pages, readable, and writable if `writable`. They stay mapped as long
/// as the value exists.
#[derive(Debug)]
pub(crate) struct Window {
    base: NonNull<u8>,
    len: usize,
    writable: bool,
}

// SAFETY: the window is plain memory that any thread may access; every access copies dwords and creates no reference.
unsafe impl Send for Window {}

impl Window {
    /// Creates a window of memory that a kernel has just mapped.
    ///
    /// # Safety
    ///
    /// The invariants must hold until the value is dropped.
    pub(crate) unsafe fn new(base: NonNull<u8>, len: usize, writable: bool) -> Self {
        // INVARIANT: the caller's promise.
        Self { base, len, writable }
    }

    pub(crate) fn is_writable(&self) -> bool {
        self.writable
    }

    pub(crate) fn base(&self) -> NonNull<u8> {
        self.base
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    fn pages(&self) -> u64 {
        (self.len / PAGE) as u64
    }

    fn page(&self, page: u64) -> Option<*mut u32> {
        let start = usize::try_from(page).ok()?.checked_mul(PAGE).filter(|&start| start < self.len)?;
        Some(self.base.as_ptr().wrapping_add(start).cast())
    }

    /// Copies a page out of the window; zeros if the page is outside.
    fn load(&self, page: u64, into: &mut Dwords) {
        let Some(from) = self.page(page) else { return into.fill(0) };
        // SAFETY: a whole page of the window is there (invariant, and `page` checked it); `into` is borrowed exclusively.
        unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), into.as_mut_ptr(), DWORDS) };
    }

    /// Copies dwords out of the window, from byte `offset` on; `None` unless all of them are inside.
    pub(crate) fn dwords(&self, offset: u64, count: usize) -> Option<Vec<u32>> {
        let start = usize::try_from(offset).ok().filter(|start| start.is_multiple_of(4))?;
        let end = start.checked_add(count.checked_mul(4)?).filter(|&end| end <= self.len)?;
        let (mut all, mut page) = (Vec::with_capacity(count), ZERO);
        for number in start / PAGE..end.div_ceil(PAGE) {
            self.load(number as u64, &mut page);
            let from = start.saturating_sub(number * PAGE) / 4;
            let to = (end - number * PAGE).min(PAGE) / 4;
            all.extend_from_slice(page.get(from..to)?);
        }
        Some(all)
    }

    /// Stores a dword. Does nothing if it is outside or the window is read-only.
    fn store(&self, page: u64, index: usize, dword: u32) {
        let Some(to) = self.page(page).filter(|_| self.writable && index < DWORDS) else { return };
        // SAFETY: the page is inside the window and writable, and the index is inside the page. The dword is aligned, because pages
        // are.
        unsafe { to.wrapping_add(index).write_volatile(dword) };
    }

    fn patch(&self, page: u64, runs: &[Run]) {
        for run in runs {
            match run {
                Run::Each { first, dwords } => {
                    (usize::from(*first)..).zip(dwords).for_each(|(index, &dword)| self.store(page, index, dword));
                }
                Run::Fill { first, count, dword } => {
                    let first = usize::from(*first);
                    (first..first + usize::from(*count)).for_each(|index| self.store(page, index, *dword));
                }
            }
        }
    }
}

impl View {
    /// Creates a view of `len` bytes, rounded up to pages, with zeros.
    pub(crate) fn new(len: u64) -> Result<Self, Errno> {
        let len = usize::try_from(len).ok().and_then(|len| len.checked_next_multiple_of(PAGE)).ok_or(Errno::ENOMEM)?;
        let size = NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
        let file = memory_file(c"amdgpu-layers memory", i64::try_from(len).map_err(|_| Errno::ENOMEM)?)?;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_NORESERVE;
        // SAFETY: no address is requested, so no existing mapping is replaced.
        let base = unsafe { mmap(None, size, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, flags, &file, 0) }?;
        // SAFETY: mmap mapped `len` bytes, whole pages, readable and writable; `Drop` removes them with the view.
        let window = unsafe { Window::new(base.cast(), len, true) };
        Ok(Self { file, window, agreed: BTreeMap::new() })
    }

    /// Returns the size in bytes.
    pub(crate) fn len(&self) -> usize {
        self.window.len
    }

    /// Maps the view for the client.
    ///
    /// # Safety
    ///
    /// If `at` is given, the caller must own the `len` bytes from there.
    pub(crate) unsafe fn map(&self, len: usize, writable: bool, at: Option<NonNull<u8>>) -> Result<NonNull<u8>, Errno> {
        let size = NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
        let protection = if writable { ProtFlags::PROT_READ | ProtFlags::PROT_WRITE } else { ProtFlags::PROT_READ };
        let fixed = if at.is_some() { MapFlags::MAP_FIXED } else { MapFlags::empty() };
        let at = at.and_then(|at| NonZeroUsize::new(at.as_ptr().expose_provenance()));
        // SAFETY: without MAP_FIXED the kernel selects free addresses; with it the caller owns the range.
        let base = unsafe { mmap(at, size, protection, MapFlags::MAP_SHARED | fixed, &self.file, 0) }?;
        Ok(base.cast())
    }

    /// Copies the client's stores since the last synchronization to the BO.
    pub(crate) fn push(&mut self, bo: &Window) {
        let mut seen = ZERO;
        for page in self.touched() {
            self.window.load(page, &mut seen);
            let agreed = self.agreed.get(&page).map_or(&ZERO, |page| &**page);
            if seen != *agreed {
                bo.patch(page, &difference(agreed, &seen));
                self.agreed.insert(page, Box::new(seen));
            }
        }
    }

    /// Copies the GPU's stores since the last synchronization to the client, and passes them to `record`.
    pub(crate) fn pull(&mut self, bo: &Window, memory: u32, mut record: impl FnMut(Page)) {
        let mut seen = ZERO;
        for page in 0..bo.pages().min(self.window.pages()) {
            bo.load(page, &mut seen);
            let agreed = self.agreed.get(&page).map_or(&ZERO, |page| &**page);
            if seen != *agreed {
                let runs = difference(agreed, &seen);
                self.window.patch(page, &runs);
                self.agreed.insert(page, Box::new(seen));
                record(Page { memory, page, runs });
            }
        }
    }

    /// Copies recorded stores of the GPU to the view. Returns `false` if the page is beyond the end.
    pub(crate) fn replay(&self, page: &Page) -> bool {
        self.window.patch(page.page, &page.runs);
        page.page < self.window.pages()
    }

    /// Returns the pages that may contain nonzero dwords.
    fn touched(&self) -> Vec<u64> {
        let mut pages = Vec::new();
        let mut at = 0;
        while let Ok(data) = lseek(&self.file, at, Whence::SeekData) {
            let hole = lseek(&self.file, data, Whence::SeekHole).unwrap_or(i64::MAX);
            pages.extend(
                (data.cast_unsigned() / PAGE as u64)
                    ..hole.cast_unsigned().div_ceil(PAGE as u64).min(self.window.pages()),
            );
            at = hole;
        }
        pages
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the mapping is live (invariant), and `self` is being dropped.
        if let Err(errno) = unsafe { munmap(self.window.base.cast(), self.window.len) } {
            tracing::error!(%errno, "a view could not be unmapped");
        }
    }
}

/// The client's own pages that the GPU writes. The client accesses them directly, not through a view.
#[derive(Debug)]
pub(crate) struct UserPages {
    pub(crate) address: u64,
    len: u64,
    agreed: BTreeMap<u64, Box<Dwords>>,
}

impl UserPages {
    pub(crate) fn new(address: u64, len: u64) -> Self {
        Self { address, len, agreed: BTreeMap::new() }
    }

    /// Compares the pages with their last content and passes changes to `record`. Pages that are no longer mapped count as
    /// unchanged.
    pub(crate) fn look(&mut self, memory: u32, mut record: impl FnMut(Page)) {
        let mut bytes = [0; PAGE];
        for page in 0..self.len / PAGE as u64 {
            let Some(address) = self.start(page) else { return };
            if memory::peek(address, &mut bytes).is_err() {
                continue;
            }
            let mut seen = ZERO;
            seen.iter_mut().zip(bytes.as_chunks().0).for_each(|(to, from)| *to = u32::from_le_bytes(*from));
            let agreed = self.agreed.get(&page).map_or(&ZERO, |page| &**page);
            if seen != *agreed {
                record(Page { memory, page, runs: difference(agreed, &seen) });
                self.agreed.insert(page, Box::new(seen));
            }
        }
    }

    /// Writes recorded stores to the pages, and nothing else. Returns `false` if a page or a run is not inside the memory.
    pub(crate) fn replay(&self, page: &Page) -> bool {
        let Some(start) = self.start(page.page) else { return false };
        page.runs.iter().all(|run| {
            let (first, bytes) = match run {
                Run::Each { first, dwords } => (*first, dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()),
                Run::Fill { first, count, dword } => (*first, dword.to_le_bytes().repeat((*count).into())),
            };
            let (offset, bytes): (usize, Vec<u8>) = (usize::from(first) * 4, bytes);
            let fits = offset.checked_add(bytes.len()).is_some_and(|end| end <= PAGE);
            fits && memory::poke(start.wrapping_add(offset as u64), &bytes).is_ok()
        })
    }

    /// Returns the address of a page; `None` unless it is fully inside the memory.
    fn start(&self, page: u64) -> Option<u64> {
        let offset = page.checked_mul(PAGE as u64)?;
        offset.checked_add(PAGE as u64).filter(|&end| end <= self.len)?;
        self.address.checked_add(offset)
    }
}
