//! The bytes of a BO: shared memory that the CPU may map too.

use std::{
    ffi::c_void,
    num::NonZeroUsize,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::FileExt,
    },
    ptr::NonNull,
    sync::OnceLock,
};

use nix::{
    errno::Errno,
    fcntl::{FallocateFlags, fallocate},
    sys::{
        memfd::{MFdFlags, memfd_create},
        mman::{MapFlags, ProtFlags, mmap, munmap},
        resource::{Resource, getrlimit, setrlimit},
    },
    unistd::ftruncate,
};

/// Memory in a memfd. Clients map the same file.
///
/// Pages come into being when they are first touched, and read as zero until then. The GPU's view is mapped when the GPU
/// first comes; where the process has no room for another mapping (`vm.max_map_count`), the GPU reads and writes the file
/// instead, which shows the same bytes.
#[derive(Debug)]
pub(crate) struct Backing {
    file: std::fs::File,
    len: u64,
    view: OnceLock<Option<View>>,
}

/// The GPU's mapping.
///
/// # Invariants
///
/// `base` is the start of a live shared mapping of `len` bytes, which only `Drop` removes. Other mappings of the same file
/// may change the bytes at any time, so no reference into it is ever formed.
#[derive(Debug)]
struct View {
    base: NonNull<u8>,
    len: u64,
}

// SAFETY: the mapping is plain memory; every access is a copy through raw pointers that claims nothing about others.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl Backing {
    /// `len` zero bytes, a multiple of the page size and not none.
    ///
    /// A process that has no descriptor left for it gets more, as far as it may have them: a real BO takes none.
    pub(crate) fn new(len: u64) -> Result<Self, Errno> {
        let make = || memfd_create(c"amdgpu-sim BO", MFdFlags::MFD_CLOEXEC);
        let file = make().or_else(|errno| {
            if errno != Errno::EMFILE {
                return Err(errno);
            }
            let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
            setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
            make()
        })?;
        ftruncate(&file, i64::try_from(len).map_err(|_| Errno::ENOMEM)?)?;
        Ok(Self::of_file(file, len))
    }

    /// Takes over a file that already holds a BO.
    pub(crate) fn of_file(file: OwnedFd, len: u64) -> Self {
        Self { file: file.into(), len, view: OnceLock::new() }
    }

    /// The file, for clients to map.
    pub(crate) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Throws the bytes away: they are zero again.
    pub(crate) fn discard(&self) {
        let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let len = i64::try_from(self.len).unwrap_or(i64::MAX);
        if let Err(errno) = fallocate(&self.file, flags, 0, len) {
            tracing::error!(%errno, "a BO's memory could not be thrown away");
        }
    }

    /// Copies bytes out. The caller stays within the size; what does not is not copied.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        let Some(view) = self.view() else {
            return report(self.file.read_exact_at(out, offset));
        };
        let Some(from) = view.at(offset, out.len() as u64) else { return };
        // SAFETY: `at` checked the range; `out` is ours alone and cannot overlap a mapping we hold no reference into.
        unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
    }

    /// Copies bytes in. The caller stays within the size; what does not is not copied.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        if offset.checked_add(data.len() as u64).is_none_or(|end| end > self.len) {
            return;
        }
        let Some(view) = self.view() else {
            return report(self.file.write_all_at(data, offset));
        };
        let Some(to) = view.at(offset, data.len() as u64) else { return };
        // SAFETY: `at` checked the range; `data` is borrowed memory of Rust's and cannot overlap the mapping.
        unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    }

    /// Copies between two backings, or within one even where the ranges overlap. False when one of them is not mapped, and
    /// nothing was done.
    pub(crate) fn copy_from(&self, offset: u64, source: &Self, source_offset: u64, len: u64) -> bool {
        let (Some(target), Some(source)) = (self.view(), source.view()) else { return false };
        if let (Some(to), Some(from)) = (target.at(offset, len), source.at(source_offset, len)) {
            // SAFETY: `at` checked both ranges, and `copy` allows them to overlap.
            unsafe { std::ptr::copy(from, to, len as usize) };
        }
        true
    }

    /// The GPU's mapping, if there is room for one.
    fn view(&self) -> Option<&View> {
        self.view.get_or_init(|| View::new(self.file(), self.len).ok()).as_ref()
    }
}

impl View {
    fn new(file: BorrowedFd<'_>, len: u64) -> Result<Self, Errno> {
        let size = usize::try_from(len).ok().and_then(NonZeroUsize::new).ok_or(Errno::ENOMEM)?;
        let flags = MapFlags::MAP_SHARED | MapFlags::MAP_NORESERVE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let base = unsafe { mmap(None, size, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, flags, file, 0) }?;
        // INVARIANT: mmap mapped `len` bytes of `file` at `base`.
        Ok(Self { base: base.cast(), len })
    }

    fn at(&self, offset: u64, len: u64) -> Option<*mut u8> {
        offset.checked_add(len).filter(|&end| end <= self.len)?;
        // The sum stays inside the mapping, or one past its end.
        Some(self.base.as_ptr().wrapping_add(offset as usize))
    }
}

impl Drop for View {
    fn drop(&mut self) {
        // SAFETY: the mapping is live (invariant), and `self` is going away.
        let result = unsafe { munmap(self.base.cast::<c_void>(), self.len as usize) };
        if let Err(errno) = result {
            tracing::error!(%errno, "a BO's memory could not be unmapped");
        }
    }
}

fn report(result: std::io::Result<()>) {
    if let Err(error) = result {
        tracing::error!(%error, "a BO's memory could not be reached");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One that is mapped, and one that found no room for a mapping.
    fn both(len: u64) -> [Backing; 2] {
        let unmapped = Backing { view: None.into(), ..Backing::new(len).unwrap() };
        [Backing::new(len).unwrap(), unmapped]
    }

    #[test]
    fn fresh_memory_is_zero_and_keeps_what_is_written() {
        for backing in both(8192) {
            let mut found = [1; 16];
            backing.read(4090, &mut found);
            assert_eq!(found, [0; 16]);
            backing.write(4090, &[7; 16]);
            backing.read(4090, &mut found);
            assert_eq!(found, [7; 16]);
            backing.discard();
            backing.read(4090, &mut found);
            assert_eq!(found, [0; 16]);
        }
    }

    #[test]
    fn copies_need_both_mapped() {
        let [mapped, unmapped] = both(8192);
        mapped.write(4090, &[7; 16]);
        assert!(mapped.copy_from(0, &mapped, 4090, 16));
        let mut found = [0; 16];
        mapped.read(0, &mut found);
        assert_eq!(found, [7; 16]);
        assert!(!unmapped.copy_from(0, &mapped, 0, 16) && !mapped.copy_from(0, &unmapped, 0, 16));
    }

    #[test]
    fn what_passes_the_end_is_not_touched() {
        for backing in both(4096) {
            backing.write(4090, &[7; 16]);
            let mut found = [0; 4];
            backing.read(4092, &mut found);
            assert_eq!(found, [0; 4]);
            assert_eq!(backing.file.metadata().unwrap().len(), 4096);
        }
    }
}
