//! The bytes of a BO: memory that only the GPU uses, or a file that the CPU can map.

mod block;
pub(crate) mod lanes;
pub(super) mod memory_file;
pub(crate) mod page;
mod view;

use std::{
    os::{
        fd::{AsFd, BorrowedFd},
        unix::fs::FileExt,
    },
    sync::{
        OnceLock,
        atomic::{AtomicU32, AtomicU64, Ordering, fence},
    },
};

use amdgpu_uapi::Errno;
use nix::{
    fcntl::{FallocateFlags, fallocate},
    sys::resource::{Resource, getrlimit, setrlimit},
};
use parking_lot::{RwLock, RwLockReadGuard};

use self::{block::Block, lanes::LaneAddresses, memory_file::memory_file, view::View};

/// The maximum size in bytes of BOs that are stored in the heap as long as only the GPU uses them. Larger BOs are few, and may
/// exceed the memory, because most of their pages are never accessed.
const SMALL: u64 = 64 << 10;

/// The memory of a BO.
///
/// Memory is allocated at the first access, and reads as zero before. Memory that only the GPU uses needs neither a descriptor nor
/// a mapping, of which a process may not have a hundred thousand. When the CPU or another process needs the memory, the bytes move
/// to a memfd permanently. The GPU maps it at its first access. If the process cannot create another mapping (`vm.max_map_count`),
/// the GPU reads and writes the file instead, with the same result.
#[derive(Debug)]
pub(crate) struct Backing {
    len: u64,
    /// The heap memory; `None` if there is a file. Its contents are written under its lock, and it is replaced under a write lock.
    heap: RwLock<Option<Block>>,
    /// The file, which is set under a write lock of the heap.
    file: OnceLock<MemoryFile>,
}

/// Memory that others can map.
#[derive(Debug)]
struct MemoryFile {
    file: std::fs::File,
    len: u64,
    view: OnceLock<Option<View>>,
}

/// The location of the bytes while this value lives.
enum Home<'b> {
    Nowhere,
    Heap(RwLockReadGuard<'b, Option<Block>>),
    File(&'b MemoryFile),
}

impl Home<'_> {
    /// Returns the address of the bytes, if they are in memory.
    fn start(&self, offset: u64, len: u64) -> Option<*mut u8> {
        match self {
            Self::Nowhere => None,
            Self::Heap(block) => block.as_ref()?.at(offset, len),
            Self::File(shared) => shared.view()?.at(offset, len),
        }
    }
}

#[expect(unsafe_code, reason = "memory that clients map too")]
impl Backing {
    /// Creates memory of `len` zero bytes: a multiple of the page size, more than none.
    pub(crate) const fn new(len: u64) -> Self {
        Self { len, heap: RwLock::new(None), file: OnceLock::new() }
    }

    /// Returns the file for clients to map, and creates it if necessary.
    ///
    /// # Errors
    ///
    /// EMFILE, ENFILE or ENOMEM if the file cannot be created.
    pub(crate) fn file(&self) -> Result<BorrowedFd<'_>, Errno> {
        let mut heap = self.heap.write();
        if self.file.get().is_none() {
            let shared = MemoryFile::new(self.len)?;
            if let Some(block) = heap.as_ref() {
                block.save(|offset, bytes| shared.file.write_all_at(bytes, offset))?;
            }
            // No other thread can set it while the lock is held.
            let _ = self.file.set(shared);
            *heap = None;
        }
        drop(heap);
        self.file.get().map(|shared| shared.file.as_fd()).ok_or(Errno::ENOMEM)
    }

    /// Discards the bytes, which are then zero.
    pub(crate) fn discard(&self) {
        let mut heap = self.heap.write();
        *heap = None;
        if let Some(shared) = self.file.get() {
            shared.discard();
        }
    }

    /// Reads bytes. The caller must stay within the size; bytes beyond it are not copied.
    ///
    /// An aligned dword or qword is one atomic access with acquire ordering: rings poll memory that other threads write, and must
    /// see earlier writes.
    pub(crate) fn read(&self, offset: u64, out: &mut [u8]) {
        let home = self.home(false);
        if let Some(from) = home.start(offset, out.len() as u64) {
            if let Ok(word) = <&mut [u8; 4]>::try_from(&mut *out)
                && from.addr().is_multiple_of(size_of::<u32>())
            {
                // SAFETY: an aligned dword in the range that `start` checked, of memory that `home` keeps. Copies of other rings
                // may race with it if a program does not wait; each byte is then old or new.
                let memory = unsafe { AtomicU32::from_ptr(from.cast()) };
                *word = memory.load(Ordering::Acquire).to_ne_bytes();
                return;
            }
            if let Ok(words) = <&mut [u8; 8]>::try_from(&mut *out)
                && from.addr().is_multiple_of(size_of::<u64>())
            {
                // SAFETY: an aligned qword; otherwise as above.
                *words = unsafe { AtomicU64::from_ptr(from.cast()) }.load(Ordering::Acquire).to_ne_bytes();
                return;
            }
            // SAFETY: `start` checked the range of memory that `home` keeps; `out` is exclusive and cannot overlap memory without
            // references.
            unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr(), out.len()) };
            return fence(Ordering::Acquire);
        }
        match home {
            Home::File(shared) => report(shared.file.read_exact_at(out, offset)),
            _ => out.fill(0),
        }
    }

    /// Writes bytes. The caller must stay within the size; bytes beyond it are not copied.
    pub(crate) fn write(&self, offset: u64, data: &[u8]) {
        let home = self.home(true);
        if let Some(to) = home.start(offset, data.len() as u64) {
            if let Ok(word) = <[u8; 4]>::try_from(data)
                && to.addr().is_multiple_of(size_of::<u32>())
            {
                // SAFETY: as in `read`.
                unsafe { AtomicU32::from_ptr(to.cast()) }.store(u32::from_ne_bytes(word), Ordering::Release);
                return;
            }
            if let Ok(words) = <[u8; 8]>::try_from(data)
                && to.addr().is_multiple_of(size_of::<u64>())
            {
                // SAFETY: as in `read`.
                unsafe { AtomicU64::from_ptr(to.cast()) }.store(u64::from_ne_bytes(words), Ordering::Release);
                return;
            }
            fence(Ordering::Release);
            // SAFETY: as in `read`; `data` is borrowed memory of Rust's.
            return unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
        }
        match home {
            Home::File(shared) if shared.holds(offset, data.len()) => report(shared.file.write_all_at(data, offset)),
            _ => tracing::error!("no host memory for a BO of {} bytes: a GPU write is lost", self.len),
        }
    }

    /// Loads the dwords of lanes, whose lowest address is that of the byte at `offset`. Returns `false`, having loaded nothing,
    /// where the bytes are not in memory or pass the end.
    pub(crate) fn read_lanes(&self, offset: u64, access: &LaneAddresses<'_>, out: &mut [u32; 64]) -> bool {
        let home = self.home(false);
        let Some(from) = home.start(offset, access.len()) else { return false };
        // A lane alone may wait for another wave: its dword is one atomic access.
        if let Some((first, count)) = access.row().filter(|&(_, count)| count > 1)
            && let Some(out) = out.get_mut(first..first + count)
        {
            // SAFETY: `start` checked the `4 * count` bytes of a row, of memory that `home` keeps; `out` is as long, ours alone,
            // and cannot overlap memory into which no reference is held.
            unsafe { std::ptr::copy_nonoverlapping(from, out.as_mut_ptr().cast(), 4 * count) };
            fence(Ordering::Acquire);
            for word in out {
                *word = u32::from_le(*word);
            }
            return true;
        }
        access.each(|lane, distance| {
            // SAFETY: `start` checked the bytes up to `access.len()`, and the distance of a dword is at least 4 less; the memory
            // is one that `home` keeps.
            let word = unsafe { load_dword(from.wrapping_add(distance as usize)) };
            out[lane] = u32::from_le(word);
        });
        true
    }

    /// Stores the dwords of lanes, the lowest lane first. Returns `false`, having stored nothing, where the bytes are not in memory
    /// or pass the end.
    pub(crate) fn write_lanes(&self, offset: u64, access: &LaneAddresses<'_>, data: &[u32; 64]) -> bool {
        let home = self.home(true);
        let Some(to) = home.start(offset, access.len()) else { return false };
        let little_endian = data.map(u32::to_le);
        if let Some((first, count)) = access.row().filter(|&(_, count)| count > 1)
            && let Some(data) = little_endian.get(first..first + count)
        {
            fence(Ordering::Release);
            // SAFETY: as in `read_lanes`; `data` is a copy of our own.
            unsafe { std::ptr::copy_nonoverlapping(data.as_ptr().cast(), to, 4 * count) };
            return true;
        }
        access.each(|lane, distance| {
            // SAFETY: as in `read_lanes`.
            unsafe { store_dword(to.wrapping_add(distance as usize), little_endian[lane]) };
        });
        true
    }

    /// Replaces 4 or 8 bytes by what `change` makes of them, in one atomic access, and returns the old value. `None`, with nothing
    /// changed, where the bytes are not in memory, pass the end or are not aligned.
    pub(crate) fn update(&self, offset: u64, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Option<u64> {
        let home = self.home(true);
        let at = home.start(offset, bytes.into()).filter(|at| at.addr().is_multiple_of(bytes.into()))?;
        let (acquire, both) = (Ordering::Acquire, Ordering::AcqRel);
        match bytes {
            4 => {
                // SAFETY: an aligned dword in the range that `start` checked, of memory that `home` keeps.
                let word = unsafe { AtomicU32::from_ptr(at.cast()) };
                let old =
                    word.fetch_update(both, acquire, |old| Some((change(u32::from_le(old).into()) as u32).to_le()));
                old.ok().map(|old| u32::from_le(old).into())
            }
            8 => {
                // SAFETY: an aligned qword; else as above.
                let word = unsafe { AtomicU64::from_ptr(at.cast()) };
                let old = word.fetch_update(both, acquire, |old| Some(change(u64::from_le(old)).to_le()));
                old.ok().map(u64::from_le)
            }
            _ => None,
        }
    }

    /// Copies between two backings, or within one even if the ranges overlap. Returns `false` without a copy if one of them is not
    /// in memory.
    pub(crate) fn copy_from(&self, offset: u64, source: &Self, source_offset: u64, len: u64) -> bool {
        // The target comes first: if both are the same, the source finds the memory that was allocated for the target.
        let (target, source) = (self.home(true), source.home(false));
        let (Some(to), Some(from)) = (target.start(offset, len), source.start(source_offset, len)) else {
            return false;
        };
        // SAFETY: `start` checked both ranges of memory that the homes keep, and `copy` allows them to overlap.
        unsafe { std::ptr::copy(from, to, len as usize) };
        true
    }

    /// Returns the location of the bytes. For a write, memory is allocated if possible.
    fn home(&self, to_write: bool) -> Home<'_> {
        loop {
            if let Some(shared) = self.file.get() {
                return Home::File(shared);
            }
            // A copy within one BO takes the lock twice, and must not wait for a writer in between.
            let heap = self.heap.read_recursive();
            if self.file.get().is_some() {
                continue;
            }
            if heap.is_some() {
                return Home::Heap(heap);
            }
            drop(heap);
            if !to_write || self.make().is_err() {
                return Home::Nowhere;
            }
        }
    }

    /// Allocates the memory for the first write.
    fn make(&self) -> Result<(), Errno> {
        if self.len > SMALL {
            return self.file().map(drop);
        }
        let mut heap = self.heap.write();
        if heap.is_none() && self.file.get().is_none() {
            *heap = Some(Block::new(self.len).ok_or(Errno::ENOMEM)?);
        }
        Ok(())
    }
}

impl MemoryFile {
    /// Creates the file. If the process has no free descriptor, raises its limit as far as permitted, because a real BO needs none.
    fn new(len: u64) -> Result<Self, Errno> {
        let make = || memory_file(c"amdgpu-sim BO", len);
        let file = make().or_else(|errno| {
            if errno != Errno::EMFILE {
                return Err(errno);
            }
            let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE)?;
            setrlimit(Resource::RLIMIT_NOFILE, hard, hard)?;
            make()
        })?;
        Ok(Self { file: file.into(), len, view: OnceLock::new() })
    }

    fn discard(&self) {
        let flags = FallocateFlags::FALLOC_FL_PUNCH_HOLE | FallocateFlags::FALLOC_FL_KEEP_SIZE;
        let len = i64::try_from(self.len).unwrap_or(i64::MAX);
        if let Err(errno) = fallocate(&self.file, flags, 0, len) {
            tracing::error!(%errno, "a BO's memory could not be thrown away");
        }
    }

    /// Returns the GPU's mapping, if it can be created.
    fn view(&self) -> Option<&View> {
        self.view.get_or_init(|| View::new(self.file.as_fd(), self.len).ok()).as_ref()
    }

    fn holds(&self, offset: u64, len: usize) -> bool {
        offset.checked_add(len as u64).is_some_and(|end| end <= self.len)
    }
}

/// Loads a dword, in one atomic access if it is aligned.
///
/// # Safety
///
/// The four bytes are valid memory. Other threads may read and write them, by atomic accesses or as engines of a GPU do.
#[expect(unsafe_code, reason = "memory that clients map too")]
unsafe fn load_dword(from: *mut u8) -> u32 {
    if from.addr().is_multiple_of(size_of::<u32>()) {
        // SAFETY: an aligned dword of valid memory, by the contract.
        return unsafe { AtomicU32::from_ptr(from.cast()) }.load(Ordering::Acquire);
    }
    let mut word = [0; 4];
    // SAFETY: four bytes of valid memory, by the contract, and of our own.
    unsafe { std::ptr::copy_nonoverlapping(from, word.as_mut_ptr(), word.len()) };
    u32::from_ne_bytes(word)
}

/// Stores a dword, in one atomic access if it is aligned.
///
/// # Safety
///
/// That of [`load_dword`].
#[expect(unsafe_code, reason = "memory that clients map too")]
unsafe fn store_dword(to: *mut u8, word: u32) {
    if to.addr().is_multiple_of(size_of::<u32>()) {
        // SAFETY: an aligned dword of valid memory, by the contract.
        return unsafe { AtomicU32::from_ptr(to.cast()) }.store(word, Ordering::Release);
    }
    let bytes = word.to_ne_bytes();
    // SAFETY: four bytes of valid memory, by the contract, and of our own.
    unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), to, bytes.len()) };
}

fn report(result: std::io::Result<()>) {
    if let Err(error) = result {
        tracing::error!(%error, "a BO's memory could not be reached");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns memory in the heap, in a mapped file, and in a file without a mapping.
    fn all(len: u64) -> [Backing; 3] {
        let mapped = Backing::new(len);
        mapped.file().unwrap();
        let shared = MemoryFile { view: None.into(), ..MemoryFile::new(len).unwrap() };
        [Backing::new(len), mapped, Backing { file: shared.into(), ..Backing::new(len) }]
    }

    fn read<const N: usize>(backing: &Backing, offset: u64) -> [u8; N] {
        let mut found = [99; N];
        backing.read(offset, &mut found);
        found
    }

    #[test]
    fn fresh_memory_is_zero_and_keeps_what_is_written() {
        for backing in all(8192) {
            assert_eq!(read(&backing, 4090), [0; 16]);
            backing.write(4090, &[7; 16]);
            assert_eq!(read(&backing, 4090), [7; 16]);
            backing.discard();
            assert_eq!(read(&backing, 4090), [0; 16]);
        }
    }

    #[test]
    fn a_file_takes_over_what_the_gpu_wrote() {
        let backing = Backing::new(SMALL);
        backing.write(5000, &[7; 16]);
        assert!(backing.file.get().is_none(), "the GPU alone needs none");
        let file = backing.file().unwrap().try_clone_to_owned().unwrap();
        let mut found = [0; 16];
        std::fs::File::from(file).read_exact_at(&mut found, 5000).unwrap();
        assert_eq!(found, [7; 16]);
        assert_eq!(read(&backing, 5000), [7; 16]);
    }

    #[test]
    fn lanes_load_and_store_dwords_in_rows_and_anywhere_in_memory_of_both_kinds() {
        let rows: [u64; 64] = std::array::from_fn(|lane| 0x1000 + 4 * lane as u64);
        let reversed: [u64; 64] = std::array::from_fn(|lane| 0x1000 + 4 * (63 - lane) as u64);
        let unaligned = reversed.map(|address| address + 1);
        let data: [u32; 64] = std::array::from_fn(|lane| 0x0102_0304 * (lane as u32 + 1));
        let [heap, mapped, unmapped] = all(8192);
        for (addresses, lanes) in
            [(rows, u64::MAX), (rows, 0xff0), (reversed, u64::MAX), (unaligned, 0x8001_0001_0000_0001)]
        {
            let access = LaneAddresses::new(&addresses, lanes).unwrap();
            for backing in [&heap, &mapped] {
                backing.write(0, &[0x77; 512]);
                assert!(backing.write_lanes(7, &access, &data));
                let mut expected = [0x77; 512];
                access.each(|lane, distance| {
                    expected[7 + distance as usize..][..4].copy_from_slice(&data[lane].to_le_bytes());
                });
                assert_eq!(read(backing, 0), expected);
                let mut found = [5; 64];
                assert!(backing.read_lanes(7, &access, &mut found));
                assert_eq!(found, std::array::from_fn(|lane| if lanes >> lane & 1 != 0 { data[lane] } else { 5 }));
                assert!(!backing.read_lanes(8192 - access.len() + 1, &access, &mut found), "past the end");
                assert!(!backing.write_lanes(8192 - access.len() + 1, &access, &data), "past the end");
            }
            assert!(!unmapped.read_lanes(0, &access, &mut [0; 64]) && !unmapped.write_lanes(0, &access, &data));
        }
    }

    #[test]
    fn an_update_is_of_an_aligned_word_in_memory() {
        let [heap, mapped, unmapped] = all(4096);
        for backing in [&heap, &mapped] {
            backing.write(8, &0x1122_3344_5566_7788_u64.to_le_bytes());
            assert_eq!(backing.update(8, 4, &mut |old| old + 1), Some(0x5566_7788));
            assert_eq!(backing.update(8, 8, &mut |old| old << 8), Some(0x1122_3344_5566_7789));
            assert_eq!(read(backing, 8), 0x2233_4455_6677_8900_u64.to_le_bytes());
            assert_eq!(backing.update(6, 4, &mut |old| old), None);
            assert_eq!(backing.update(4096, 4, &mut |old| old), None);
        }
        assert_eq!(unmapped.update(8, 4, &mut |old| old), None);
    }

    #[test]
    fn an_update_starts_again_after_a_write_in_between() {
        let [heap, mapped, _] = all(4096);
        for (backing, bytes) in [(&heap, 4), (&heap, 8), (&mapped, 4), (&mapped, 8)] {
            backing.write(8, &[0; 8]);
            let mut calls = 0;
            let old = backing.update(8, bytes, &mut |old| {
                calls += 1;
                if calls == 1 {
                    backing.write(8, &7_u64.to_le_bytes());
                }
                old + 1
            });
            assert_eq!((old, calls, read(backing, 8)), (Some(7), 2, 8_u64.to_le_bytes()));
        }
    }

    #[test]
    fn copies_go_between_memory_of_all_kinds() {
        let [heap, mapped, unmapped] = all(8192);
        mapped.write(4090, &[7; 16]);
        assert!(heap.copy_from(0, &mapped, 4090, 16));
        assert!(heap.copy_from(8, &heap, 0, 16), "onto itself");
        assert_eq!(read(&heap, 0), [7; 24]);
        assert!(!unmapped.copy_from(0, &mapped, 0, 16) && !mapped.copy_from(0, &unmapped, 0, 16));
    }

    #[test]
    fn what_passes_the_end_is_not_touched() {
        for backing in all(4096) {
            backing.write(4090, &[7; 16]);
            assert_eq!(read(&backing, 4092), [0; 4]);
            let file = std::fs::File::from(backing.file().unwrap().try_clone_to_owned().unwrap());
            assert_eq!(file.metadata().unwrap().len(), 4096);
        }
    }
}
