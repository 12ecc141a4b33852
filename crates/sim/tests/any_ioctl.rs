//! Any bytes may come as an ioctl's argument: the simulator answers or refuses, and never panics, hangs or leaks.
//!
//! Requests of every number and many sizes are sent with arguments of chance, biased towards values that mean something.
//! Addresses are null or lead to memory that is long enough for every length the kernel accepts, as the seam's contract
//! asks of clients in the same process; moments are in the past, because a wait for ever may last for ever.
#![expect(unsafe_code, reason = "raw ioctls")]

use std::{
    ffi::c_void,
    num::NonZeroUsize,
    os::fd::{FromRawFd, OwnedFd},
    ptr::NonNull,
    sync::{Mutex, OnceLock, PoisonError},
    time::Duration,
};

use amdgpu_sim::{DeviceCensus, SimDevice, SimKernel, SimOptions, profile};
use amdgpu_winsys::{
    uapi::Request,
    winsys::{Kernel, Protection},
};
use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
use proptest::{collection::vec, prelude::*};

/// As much as the simulator reads or writes at one address, and what is before it.
const ARENA: usize = (64 << 20) + (64 << 10);
/// Size of the memory that the GPU may write.
const USER_PAGES: usize = 1 << 20;
/// The stride of a BO list's entries, bytes: at most so much that the longest list stays inside of the arena.
const MOST_STRIDE: u32 = 256;
/// Dwords of an argument.
const DWORDS: usize = 4096;

fn pages(len: usize) -> usize {
    let (protection, flags) =
        (ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE);
    // SAFETY: no address is asked for, so nothing that exists is replaced.
    let base = unsafe { mmap_anonymous(None, NonZeroUsize::new(len).unwrap(), protection, flags) }.unwrap();
    base.as_ptr().expose_provenance()
}

/// Memory for arguments to point at, and pages for the GPU. Only one test case uses them at a time.
fn memory() -> &'static Mutex<(usize, usize)> {
    static MEMORY: OnceLock<Mutex<(usize, usize)>> = OnceLock::new();
    MEMORY.get_or_init(|| Mutex::new((pages(ARENA), pages(USER_PAGES))))
}

/// One call.
#[derive(Clone, Debug)]
struct Shot {
    number: u8,
    kind: u8,
    directions: u32,
    /// Bytes, or what is right for the number.
    size: Option<usize>,
    words: Vec<u32>,
    /// Mask of addresses that are null.
    nulls: u8,
    chunks: Vec<(u32, u32)>,
}

fn word() -> impl Strategy<Value = u32> {
    prop_oneof![
        6 => 0..6_u32,
        2 => prop::sample::select(vec![8, 16, 24, 31, 0x1000, 0x2000, 0x1_0000, 0x10_0000, 0x8000, 0xffff_8000]),
        1 => prop::sample::select(vec![u32::MAX, 1 << 31, i32::MAX as u32, u32::MAX - 0xfff]),
        1 => any::<u32>(),
    ]
}

/// The numbers with a handler come more often.
fn number() -> impl Strategy<Value = u8> {
    prop_oneof![8 => 0x40..=0x55_u8, 4 => 0xbf..=0xcf_u8, 3 => prop::sample::select(vec![0, 9, 0xc, 0x2d, 0x2e]), 1 => any::<u8>()]
}

fn shot() -> impl Strategy<Value = Shot> {
    let kind = prop_oneof![30 => Just(b'd'), 1 => any::<u8>()];
    let size = prop_oneof![8 => Just(None), 1 => (0..300_usize).prop_map(Some), 1 => (0..16384_usize).prop_map(Some)];
    let directions = prop_oneof![12 => Just(3_u32), 1 => 0..4_u32];
    let chunks = vec((0..14_u32, prop_oneof![0..20_u32, any::<u32>()]), 0..6);
    let nulls = prop_oneof![6 => Just(0_u8), 1 => any::<u8>()];
    (number(), kind, directions, size, vec(word(), 80), nulls, chunks).prop_map(
        |(number, kind, directions, size, words, nulls, chunks)| Shot {
            number,
            kind,
            directions,
            size,
            words,
            nulls,
            chunks,
        },
    )
}

/// The size that clients send with a number, bytes.
fn usual_size(number: u8) -> usize {
    match number {
        0x00 => 64,
        0x09 | 0x41 | 0x53 | 0xbf | 0xc0 => 8,
        0x0c | 0x42 | 0x47 | 0x50 | 0x55 | 0xc1 | 0xc2 | 0xc4 | 0xc5 => 16,
        0x2d | 0x2e => 12,
        0x46 => 288,
        0x48 | 0xc3 => 40,
        0x43 | 0x44 | 0x51 | 0x52 | 0xcb | 0xcd | 0xcf => 24,
        0xca => 48,
        _ => 32,
    }
}

/// Byte offsets of addresses, and of moments.
fn special(number: u8) -> (&'static [usize], &'static [usize]) {
    match number {
        0x00 => (&[24, 40, 56], &[]),
        0x01 | 0x50 => (&[8], &[]),
        0x43 | 0x44 => (&[16], &[]),
        0x45 | 0xc4 | 0xc5 => (&[0], &[]),
        0x47 | 0x49 => (&[], &[8]),
        0x48 => (&[56], &[]),
        0x52 => (&[0], &[16]),
        0xc3 => (&[0], &[8, 32]),
        0xca => (&[0, 8], &[16, 40]),
        0xcb | 0xcd => (&[0, 8], &[]),
        _ => (&[], &[]),
    }
}

fn put(words: &mut [u32], byte: usize, value: u64) {
    words[byte / 4] = value as u32;
    words[byte / 4 + 1] = (value >> 32) as u32;
}

/// Lays out what a submission points at: a table of headers, the headers, and one payload for all, whose third qword is an
/// address, as that of a BO list must be.
fn lay_out(arena: usize, shot: &Shot) {
    const HEADERS: usize = 4096;
    const PAYLOAD: usize = 8192;
    let mut words = vec![0_u32; (PAYLOAD + 4096) / 4];
    for (index, &(id, dwords)) in shot.chunks.iter().enumerate() {
        put(&mut words, index * 8, (arena + HEADERS + index * 16) as u64);
        words[(HEADERS + index * 16) / 4] = id;
        words[(HEADERS + index * 16) / 4 + 1] = dwords;
        put(&mut words, HEADERS + index * 16 + 8, (arena + PAYLOAD) as u64);
    }
    words[PAYLOAD / 4..PAYLOAD / 4 + shot.words.len()].copy_from_slice(&shot.words);
    put(&mut words, PAYLOAD + 16, (arena + PAYLOAD) as u64);
    words[PAYLOAD / 4 + 3] %= MOST_STRIDE;
    let to = std::ptr::with_exposed_provenance_mut::<u32>(arena);
    // SAFETY: the arena is longer, and no other thread uses it while its lock is held.
    unsafe { std::ptr::copy_nonoverlapping(words.as_ptr(), to, words.len()) };
}

fn argument(shot: &Shot, arena: usize, user: usize) -> Vec<u32> {
    const HEADROOM: usize = 8192;
    let mut words = vec![0; DWORDS];
    words[..shot.words.len()].copy_from_slice(&shot.words);
    let (addresses, moments) = special(shot.number);
    for (index, &offset) in addresses.iter().enumerate() {
        // A submission's table is at the start, everything else finds small numbers behind it.
        let at = if shot.number == 0x44 { arena } else { arena + HEADROOM };
        put(&mut words, offset, if shot.nulls >> index & 1 == 1 { 0 } else { at as u64 });
    }
    for &offset in moments {
        put(&mut words, offset, u64::from(shot.words[0] & 1));
    }
    if shot.number == 0x44 {
        words[2] = words[2].min(shot.chunks.len() as u32 + 1);
    }
    if shot.number == 0x43 {
        words[3] %= MOST_STRIDE;
    }
    if shot.number == 0x51 {
        put(&mut words, 0, (user + (shot.words[0] as usize & 0xf_ffff) / 2) as u64);
        put(&mut words, 8, u64::from(shot.words[2]) % (USER_PAGES as u64 / 2));
    }
    words
}

/// The byte offset of a descriptor that a request makes.
fn made_descriptor(number: u8, words: &[u32]) -> Option<usize> {
    match number {
        0x2d | 0xc1 => Some(8),
        0x54 => (words[6] != 0).then_some(0),
        _ => None,
    }
}

fn fire(kernel: &SimKernel, shot: &Shot, arena: usize, user: usize) {
    // Descriptors are the process's: only harmless ones are named.
    lay_out(arena, shot);
    let mut words = argument(shot, arena, user);
    match shot.number {
        0x2e | 0xc2 => words[2] = u32::MAX,
        0xcf => words[4] = u32::MAX,
        0x55 => words[1] = u32::MAX,
        _ => {}
    }
    let mut size = shot.size.unwrap_or(usual_size(shot.number));
    // Half an address would lead anywhere.
    for &offset in special(shot.number).0.iter().chain((shot.number == 0x51).then_some(&0)) {
        if (offset + 1..offset + 8).contains(&size) {
            size = offset;
        }
    }
    let size = size as u32;
    let bits = shot.directions << 30 | size << 16 | u32::from(shot.kind) << 8 | u32::from(shot.number);
    let makes = made_descriptor(shot.number, &words).filter(|_| shot.kind == b'd');
    if let Some(offset) = makes {
        words[offset / 4] = u32::MAX;
    }
    // SAFETY: the argument has 16 KiB, more than any request's size; the addresses in it are null or lead to as much
    // memory as the simulator takes at once.
    let done = unsafe { kernel.ioctl(Request::from_bits(bits), words.as_mut_ptr().cast::<c_void>()) };
    if let (Ok(_), Some(offset)) = (done, makes)
        && let fd @ 3.. = words[offset / 4].cast_signed()
    {
        // SAFETY: the simulator has just made this descriptor for us.
        drop(unsafe { OwnedFd::from_raw_fd(fd) });
    }
}

fn map_something(kernel: &SimKernel, shot: &Shot) {
    let (offset, len) = (u64::from(shot.words[0]) << 12, shot.words[1] as usize & 0xff_ffff);
    // SAFETY: no address is asked for.
    if let Ok(base) = unsafe { kernel.mmap(len, Protection::ReadWrite, None, offset | 1 << 32) } {
        let base: NonNull<u8> = base;
        // SAFETY: the mapping was just made, and no other code knows it.
        unsafe { kernel.munmap(base, len) }.unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_answered_or_refused_and_nothing_leaks(
        chip in prop::sample::select(vec!["navi21", "pitcairn", "renoir"]),
        shots in vec(shot(), 1..60),
    ) {
        let memory = memory().lock().unwrap_or_else(PoisonError::into_inner);
        let (arena, user) = *memory;
        let options = SimOptions::hanging_for(Duration::from_millis(2));
        let gpu = SimDevice::new(profile(chip).unwrap(), options);
        let kernel = gpu.open();
        for shot in &shots {
            fire(&kernel, shot, arena, user);
            map_something(&kernel, shot);
        }
        drop(kernel);
        // What the last jobs use goes when they end, which the device's end waits for.
        let files = gpu.census().files;
        prop_assert_eq!(files, DeviceCensus::default().files);
    }
}
