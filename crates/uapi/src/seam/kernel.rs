//! The one seam: what the library needs of a kernel, and nothing else.
//!
//! Everything below [`Kernel`] belongs to another: the real driver behind a render node
//! (`RenderNode` of `amdgpu-winsys`), the simulated one of the crate `amdgpu-sim`, or a wrapper that records or
//! injects faults. All of them speak the same bytes: raw request numbers and the structures of this crate.

use std::{
    ffi::{c_int, c_void},
    num::NonZeroUsize,
    ptr::NonNull,
};

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::{errno::of_nix, patience::Patience};
use crate::{Argument, Errno, OpenFile, Request};

/// An open file of a DRM node, as the library sees it.
///
/// Handles, GPU addresses, contexts and sync objects belong to this file, not to the process: two kernels opened on
/// the same node share nothing.
///
/// # Safety
///
/// The library builds safe code on what an implementor promises:
///
/// * `ioctl` touches no memory but the argument's `request.size()` bytes and what addresses inside a well-formed
///   argument designate; it may write any byte pattern there, or nothing at all.
/// * When a request that makes something succeeds, its answer either names something new or is not written at all. New
///   are handles, contexts and lists that no live object of the file has, and descriptors that were installed for the
///   caller just now. The handle of an import may be that of the BO that is imported, if the file has it. (What was
///   not written the library finds out and refuses.)
/// * Two BOs share no memory unless one was imported from the other, and a BO's memory has no other owner, unless it was made of user
///   memory. The kernel and the GPU write only where submissions and bindings let them.
/// * `mmap` returns either an error or an address at which `len` bytes (rounded up to pages) stay mapped with the
///   asked protection until `munmap`, with memory behind all of them, and which overlap no other live allocation of the
///   process; with `at` it returns that very address. They are the memory of the BO whose GEM_MMAP answered `offset`.
/// * `open_file` returns the same file as long as the value lives. Two kernels that share handles or addresses return the same
///   file; a descriptor stays open.
pub unsafe trait Kernel: Send + Sync {
    /// The open file, by which a `Device` notices that another one works on it. A wrapper returns that of
    /// the kernel inside; a kernel that needs no descriptor keeps a [`FileIdentity`](crate::FileIdentity).
    fn open_file(&self) -> OpenFile<'_>;

    /// Performs one ioctl. Implementations restart after EINTR, as libdrm's `drmIoctl` does, and hand EAGAIN on: how often
    /// a busy kernel is asked again depends on the request ([`send`]).
    ///
    /// # Errors
    ///
    /// The kernel's errno.
    ///
    /// # Safety
    ///
    /// `argument` points at `request.size()` readable and writable bytes (it may dangle if that is 0), and every
    /// address inside it that the request makes the kernel follow is valid for what the kernel does there.
    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno>;

    /// Maps `len` bytes of the node at `offset` (from GEM_MMAP), shared; at the address `at` if given, replacing
    /// whatever is mapped there.
    ///
    /// # Errors
    ///
    /// The kernel's errno.
    ///
    /// # Safety
    ///
    /// With `at`, the caller owns the `len` bytes from there and nothing else uses them.
    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno>;

    /// Removes a mapping made by `mmap`.
    ///
    /// # Errors
    ///
    /// The kernel's errno; the mapping is then still there.
    ///
    /// # Safety
    ///
    /// `address` and `len` are those of one live mapping, and nothing uses it any more.
    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno>;

    /// Ends a mapping made by `mmap`, but keeps its addresses reserved and inaccessible.
    ///
    /// Kernels that can do it in one step replace the mapping. The rest unmap and then take the addresses back, which may
    /// come too late.
    ///
    /// # Errors
    ///
    /// The errno, and whether the mapping is still there.
    ///
    /// # Safety
    ///
    /// As for `munmap`.
    unsafe fn reserve(&self, address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.munmap(address, len) }.map_err(|errno| NotReserved { errno, is_mapped: true })?;
        // SAFETY: nothing that exists is replaced.
        unsafe { hold(address, len, MapFlags::MAP_FIXED_NOREPLACE) }
            .map_err(|errno| NotReserved { errno, is_mapped: false })
    }
}

/// Addresses could not be kept at the end of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the addresses of a mapping were not kept: {errno}")]
pub struct NotReserved {
    /// The cause.
    pub errno: Errno,
    /// `true` if the mapping still exists.
    pub is_mapped: bool,
}

/// Replaces a mapping by inaccessible addresses, in one step.
///
/// # Errors
///
/// The errno; the mapping is then still there.
///
/// # Safety
///
/// `address` and `len` are those of one live mapping, and nothing uses it any more.
pub unsafe fn replace_by_nothing(address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
    // SAFETY: the caller gives the mapping up.
    unsafe { hold(address, len, MapFlags::MAP_FIXED) }.map_err(|errno| NotReserved { errno, is_mapped: true })
}

/// Takes addresses that can be neither read nor written, and cost no memory.
///
/// # Safety
///
/// With MAP_FIXED, whatever is mapped there is the caller's and not used any more.
unsafe fn hold(address: NonNull<u8>, len: usize, fixed: MapFlags) -> Result<(), Errno> {
    let len = NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
    let flags = fixed | MapFlags::MAP_PRIVATE | MapFlags::MAP_ANONYMOUS | MapFlags::MAP_NORESERVE;
    // SAFETY: MAP_FIXED_NOREPLACE replaces nothing; with MAP_FIXED the caller gives up what is there.
    let held = unsafe { mmap_anonymous(Some(address.addr()), len, ProtFlags::PROT_NONE, flags) }.map_err(of_nix)?;
    if held.cast() == address {
        return Ok(());
    }
    // A kernel before 4.17 takes NOREPLACE for a hint.
    // SAFETY: these addresses were mapped just now, for this call alone.
    let _ = unsafe { munmap(held, len.get()) };
    Err(Errno::EEXIST)
}

/// Access through a CPU mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protection {
    /// Loads only.
    Read,
    /// Loads and stores.
    ReadWrite,
}

// SAFETY: every call is forwarded as it is, so the promises are those of the inner kernel.
unsafe impl<K: Kernel + ?Sized> Kernel for std::sync::Arc<K> {
    fn open_file(&self) -> OpenFile<'_> {
        (**self).open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { (**self).ioctl(request, argument) }
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { (**self).mmap(len, protection, at, offset) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { (**self).munmap(address, len) }
    }

    unsafe fn reserve(&self, address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { (**self).reserve(address, len) }
    }
}

/// An [`Argument`] that holds no address the kernel would follow, so that sending it needs no `unsafe`.
///
/// # Safety
///
/// No field of the type is an address that its request, or any request that carries it, dereferences.
pub unsafe trait Plain: Argument {}

macro_rules! plain {
    ($($argument:ident),* $(,)?) => {$(
        // SAFETY: the structure's own docs list its fields: handles, numbers, flags, GPU addresses and descriptors.
        // None of them is a CPU address.
        unsafe impl Plain for crate::$argument {}
    )*};
}

plain!(
    GemClose,
    GetCap,
    PrimeHandle,
    GemCreate,
    GemMmap,
    GemMetadata,
    GemWaitIdle,
    GemVa,
    Ctx,
    Vm,
    WaitCs,
    FenceToHandle,
    SyncobjCreate,
    SyncobjDestroy,
    SyncobjHandle,
    SyncobjTransfer,
    SyncobjEventfd,
);

/// Sends an argument that holds no addresses, under its own request number.
///
/// # Errors
///
/// The kernel's errno.
#[inline]
pub fn send<A: Plain>(kernel: &dyn Kernel, argument: &mut A) -> Result<(), Errno> {
    send_as(kernel, A::REQUEST, argument)
}

/// Sends an argument that holds no addresses under another request number that carries the same structure.
///
/// # Errors
///
/// The kernel's errno; EINVAL where the request does not claim the argument's size.
#[inline]
pub fn send_as<A: Plain>(kernel: &dyn Kernel, request: Request, argument: &mut A) -> Result<(), Errno> {
    if request.size() != size_of::<A>() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: `argument` is an exclusive reference to `size_of::<A>()` bytes, which was just compared with the size
    // that the request claims, and `A: Plain` holds no address.
    unsafe { send_raw(kernel, request, argument) }
}

/// Sends an argument that holds addresses. A kernel that is busy is asked again, as long as a policy of the request
/// (`patience.rs`) allows.
///
/// # Errors
///
/// The kernel's errno.
///
/// # Safety
///
/// `request` claims at most `size_of::<A>()` bytes, and each address in `argument` is valid for what the request makes
/// the kernel do there.
#[inline]
pub unsafe fn send_raw<A: Argument>(kernel: &dyn Kernel, request: Request, argument: &mut A) -> Result<(), Errno> {
    // SAFETY: the caller's promises are passed on unchanged.
    unsafe { send_raw_quietly(kernel, request, argument) }.inspect_err(|&errno| refused::<A>(errno))
}

#[cold]
fn refused<A: Argument>(errno: Errno) {
    tracing::debug!(request = A::NAME, ?errno, "ioctl refused");
}

/// Sends like [`send`], but logs nothing: for drops, which settle their books before observers hear of it.
///
/// # Errors
///
/// Those of [`send`].
#[inline]
pub fn send_quietly<A: Plain>(kernel: &dyn Kernel, argument: &mut A) -> Result<(), Errno> {
    if A::REQUEST.size() != size_of::<A>() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: as in `send_as`.
    unsafe { send_raw_quietly(kernel, A::REQUEST, argument) }
}

/// Sends like [`send_raw`], but logs nothing.
///
/// # Errors
///
/// Those of [`send_raw`].
///
/// # Safety
///
/// As for [`send_raw`].
#[inline]
pub unsafe fn send_raw_quietly<A: Argument>(
    kernel: &dyn Kernel,
    request: Request,
    argument: &mut A,
) -> Result<(), Errno> {
    let argument: *mut A = argument;
    // SAFETY: `argument` is exclusive and as large as the caller promises; so are the addresses in it.
    let ask = || unsafe { kernel.ioctl(request, argument.cast()) };
    let result = match ask() {
        // SAFETY: readable for the caller, who lends the bytes that the request claims.
        Err(Errno::EAGAIN) => Patience::of(request, unsafe { argument.read() }.as_bytes()).ask_again(ask),
        result => result,
    };
    result.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `true` if at least `len` bytes of inaccessible addresses are reserved in one piece.
    fn is_held(len: usize) -> bool {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let is_long = |line: &str| {
            let (start, rest) = line.split_once('-')?;
            let (end, rest) = rest.split_once(' ')?;
            let [start, end] = [start, end].map(|word| usize::from_str_radix(word, 16));
            Some(rest.starts_with("---") && end.ok()? - start.ok()? >= len)
        };
        maps.lines().any(|line| is_long(line) == Some(true))
    }

    /// Without the flag the address is a hint, as MAP_FIXED_NOREPLACE is to a kernel before 4.17.
    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn addresses_that_are_somebody_elses_are_not_held_and_nothing_is_left_elsewhere() {
        // Nothing else in this process is nearly as long, whatever neighbours the system joins it with.
        let len = NonZeroUsize::new(1 << 40).unwrap();
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
        // SAFETY: no address is asked for, so nothing that exists is replaced.
        let taken = unsafe { mmap_anonymous(None, len, ProtFlags::PROT_READ, flags) }.unwrap();
        for flags in [MapFlags::MAP_FIXED_NOREPLACE, MapFlags::empty()] {
            // SAFETY: neither flag replaces anything.
            assert_eq!(unsafe { hold(taken.cast(), len.get(), flags) }, Err(Errno::EEXIST), "{flags:?}");
            assert!(!is_held(len.get()), "{flags:?}");
        }
        // SAFETY: mapped above, and not used.
        unsafe { munmap(taken, len.get()) }.unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { hold(taken.cast(), len.get(), MapFlags::MAP_FIXED_NOREPLACE) }, Ok(()));
        assert!(is_held(len.get()));
        // SAFETY: held just now.
        unsafe { munmap(taken, len.get()) }.unwrap();
    }
}
