//! Linked into the mutated crates: which mutant is on, and which ones were reached.
//!
//! `AMDGPU_MUTANT` holds the number of the mutant that is on. `AMDGPU_MUTANTS_REACHED` instead names a file with a byte for
//! each mutant, which becomes 1 where the mutant is reached; the file is shared memory, so a crash or an exec loses nothing.

// `const_eval_select` lets one function answer "none" while the compiler evaluates it and ask the environment at run time,
// so that mutants in `const fn` can be switched, too.
#![feature(core_intrinsics, const_eval_select)]
#![allow(internal_features)]

use std::{
    env,
    ffi::CString,
    mem, ptr,
    sync::atomic::{AtomicPtr, AtomicU8, AtomicU32, AtomicUsize, Ordering::Relaxed},
};

/// Nothing asked yet.
const UNKNOWN: u32 = 0;
/// No mutant is on.
const OFF: u32 = u32::MAX;
/// No mutant is on, and those that are reached are written down.
const RECORDING: u32 = u32::MAX - 1;

static MODE: AtomicU32 = AtomicU32::new(UNKNOWN);
static REACHED: AtomicPtr<AtomicU8> = AtomicPtr::new(ptr::null_mut());
static MUTANTS: AtomicUsize = AtomicUsize::new(0);

/// Returns which of the `count` mutants numbered from `first` is on, counted from 1, or 0.
#[inline]
pub const fn pick(first: u32, count: u32) -> u32 {
    std::intrinsics::const_eval_select((first, count), compiling, running)
}

/// Types that a mutant can cut to 32 bits. One more number than is wanted, or the compiler would take literals for a u64.
pub trait Wide: Copy {}

impl Wide for u64 {}
impl Wide for i128 {}

/// Returns the lower 32 bits of a `u64`, for a mutant that computes in too few. Takes nothing else that a mutant could give it,
/// so it compiles only where it changes something.
#[inline]
pub const fn cut<T: Wide>(value: T) -> T {
    if size_of::<T>() != size_of::<u64>() {
        return value;
    }
    // SAFETY: the only type of this size that implements the trait is u64, of which every pattern of bits is a value.
    unsafe { mem::transmute_copy(&(mem::transmute_copy::<T, u64>(&value) & 0xffff_ffff)) }
}

const fn compiling(_first: u32, _count: u32) -> u32 {
    0
}

#[inline]
fn running(first: u32, count: u32) -> u32 {
    let mode = MODE.load(Relaxed);
    let nth = mode.wrapping_sub(first);
    if nth < count {
        nth + 1
    } else if mode == UNKNOWN || mode == RECORDING {
        rarely(first, count)
    } else {
        0
    }
}

#[cold]
fn rarely(first: u32, count: u32) -> u32 {
    // Asking the environment may lead here again, where a library stands in the C library's place.
    if MODE.compare_exchange(UNKNOWN, OFF, Relaxed, Relaxed).is_ok() {
        MODE.store(asked(), Relaxed);
        return running(first, count);
    }
    let reached = REACHED.load(Relaxed);
    let end = first.saturating_add(count) as usize;
    if !reached.is_null() && end <= MUTANTS.load(Relaxed) {
        for number in first as usize..end {
            // SAFETY: the mapping has `MUTANTS` bytes and stays for the life of the process.
            unsafe { &*reached.add(number) }.store(1, Relaxed);
        }
    }
    0
}

fn asked() -> u32 {
    if let Some(number) = env::var("AMDGPU_MUTANT").ok().and_then(|text| text.parse().ok()) {
        return number;
    }
    match env::var("AMDGPU_MUTANTS_REACHED").ok().and_then(|path| CString::new(path).ok()) {
        Some(path) if map(&path) => RECORDING,
        _ => OFF,
    }
}

/// Maps the file, by system calls of its own: the C library's functions may be those of a preloaded library under test.
fn map(path: &CString) -> bool {
    // Whole words: a call with a variable number of arguments takes no care of an int's upper half.
    const NOTHING: libc::c_long = 0;
    let word = |int: libc::c_int| libc::c_long::from(int);
    let (access, flags) = (word(libc::PROT_READ | libc::PROT_WRITE), word(libc::MAP_SHARED));
    // SAFETY: the path is a C string; the mapping is at an address that the kernel chooses, and as long as the file.
    unsafe {
        let mode = word(libc::O_RDWR | libc::O_CLOEXEC);
        let fd = libc::syscall(libc::SYS_openat, word(libc::AT_FDCWD), path.as_ptr(), mode, NOTHING);
        if fd < 0 {
            return false;
        }
        let len = libc::syscall(libc::SYS_lseek, fd, NOTHING, word(libc::SEEK_END));
        let start = libc::syscall(libc::SYS_mmap, NOTHING, len, access, flags, fd, NOTHING);
        libc::syscall(libc::SYS_close, fd);
        // A refusal is -1.
        if len <= 0 || start <= 0 {
            return false;
        }
        MUTANTS.store(len as usize, Relaxed);
        REACHED.store(start as *mut AtomicU8, Relaxed);
    }
    true
}
