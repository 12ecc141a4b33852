//! A kernel that does one thing wrong.

use std::{
    ptr::NonNull,
    sync::{Mutex, MutexGuard, PoisonError},
};

use amdgpu_layers::{Answered, Ioctl, Layer, Mapped, Mmap, Munmap, Unmapped};
use amdgpu_winsys::{uapi::Argument, winsys::Errno};

use crate::held::Held;

/// Hook that is given each request instead of the kernel.
pub(crate) type Trick = for<'c> fn(&Seen, Ioctl<'c>) -> Answered<'c>;

/// A layer that answers some requests wrongly.
pub(crate) struct Saboteur {
    pub(crate) seen: Seen,
    pub(crate) trick: Trick,
    pub(crate) private_mappings: bool,
}

/// State that a trick keeps.
#[derive(Default)]
pub(crate) struct Seen {
    /// The first mapping of at least a mebibyte, while it lasts.
    pub(crate) large_mapping: Mutex<Option<(usize, usize)>>,
    /// A submission that was answered and not yet passed on.
    pub(crate) held: Mutex<Option<Held>>,
}

impl Layer for Saboteur {
    fn ioctl<'c>(&self, call: Ioctl<'c>) -> Answered<'c> {
        (self.trick)(&self.seen, call)
    }

    fn mmap<'c>(&self, call: Mmap<'c>) -> Mapped<'c> {
        let len = call.len();
        if self.private_mappings {
            return match anonymous(len) {
                // SAFETY: new memory of this length, which munmap ends like any other.
                Ok(address) => unsafe { call.give(address) },
                Err(errno) => call.refuse(errno),
            };
        }
        let mapped = call.forward();
        if let (Ok(address), true) = (mapped.result(), len >= 1 << 20) {
            lock(&self.seen.large_mapping).get_or_insert((address.as_ptr().expose_provenance(), len));
        }
        mapped
    }

    fn munmap<'c>(&self, call: Munmap<'c>) -> Unmapped<'c> {
        let mut large = lock(&self.seen.large_mapping);
        if large.is_some_and(|(base, _)| base == call.address().as_ptr().addr()) {
            *large = None;
        }
        call.forward()
    }
}

/// Says that a request was made that was not, with the beginning of an answer.
pub(crate) fn lie<'c>(call: Ioctl<'c>, answer: &[u8]) -> Answered<'c> {
    // SAFETY: the GPU is simulated. Jobs that are said to be over never ran, or use memory of the simulator's own, so the
    // program may give up its memory.
    let mut answered = unsafe { call.agree() };
    // SAFETY: the answers are facts, or handles of nothing that has another owner.
    unsafe { answered.write_bytes(answer) };
    answered
}

/// Says that a request was made that was not, and leaves an argument as if it had been.
pub(crate) fn lie_as<'c, A: Argument>(call: Ioctl<'c>, answer: &A) -> Answered<'c> {
    let mut answered = lie(call, &[]);
    // SAFETY: the handles in it have no other owner.
    unsafe { answered.write(answer) };
    answered
}

/// Makes a request with another argument than the caller's, and answers with what the kernel left there.
pub(crate) fn make_as<'c, A: Argument>(call: Ioctl<'c>, argument: &mut A) -> Answered<'c> {
    // SAFETY: the argument is one of this request, and names what the caller's does or what the trick holds.
    let mut answered = unsafe { call.forward_as(argument) };
    // SAFETY: the kernel's own answer.
    unsafe { answered.write(argument) };
    answered
}

fn anonymous(len: usize) -> Result<NonNull<u8>, Errno> {
    use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous};
    let len = std::num::NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
    let protection = ProtFlags::PROT_READ | ProtFlags::PROT_WRITE;
    // SAFETY: no address is asked for, so nothing that exists is replaced.
    let mapped = unsafe { mmap_anonymous(None, len, protection, MapFlags::MAP_PRIVATE) }?;
    Ok(mapped.cast())
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
