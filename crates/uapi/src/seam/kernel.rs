//! The interface between the library and a kernel.
//!
//! Implementations of [`Kernel`] are the driver behind a render node (`RenderNode` of `amdgpu-winsys`), the simulated kernel of the
//! crate `amdgpu-sim`, and wrappers that record requests or inject faults. All use the same bytes: raw request numbers and the
//! structures of this crate.

use std::{
    ffi::{c_int, c_void},
    num::NonZeroUsize,
    ptr::NonNull,
};

use nix::sys::mman::{MapFlags, ProtFlags, mmap_anonymous, munmap};

use super::{errno::of_nix, patience::Patience};
use crate::{Argument, Errno, Harmless, OpenFile, Plain, Request};

/// An open file of a DRM node, as the library uses it.
///
/// Handles, GPU addresses, contexts and sync objects belong to the open file, not to the process: two kernels opened on the same
/// node share nothing.
///
/// # Safety
///
/// The library builds safe code on these guarantees of an implementation:
///
/// * `ioctl` accesses no memory but the `request.size()` bytes of the argument, and the memory at addresses inside a well-formed
///   argument. It may write any byte pattern there, or nothing.
/// * If a request that creates an object succeeds, its answer either names a new object or is not written at all. Handles, contexts
///   and lists are new if no live object of the file has them; descriptors are new if they were just installed for the caller. The
///   handle of an import may be an existing handle of the imported BO in this file. (The library detects and rejects answers that
///   were not written.)
/// * Two BOs share memory only if one was imported from the other. Nothing else uses the memory of a BO, unless it was created from
///   user memory. The kernel and the GPU write only where submissions and bindings allow it.
/// * `mmap` returns either an error or an address at which `len` bytes (rounded up to pages) stay mapped with the requested
///   protection until `munmap`, are all backed by memory, and overlap no other live allocation of the process. With `at` it returns
///   that address. The mapping shows the memory of the BO whose GEM_MMAP returned `offset`.
/// * `open_file` returns the same file throughout the life of the value. Two kernels that share handles or addresses return the
///   same file. A returned descriptor stays open.
pub unsafe trait Kernel: Send + Sync {
    /// Returns the open file, by which a `Device` detects that another device uses it. A wrapper returns the file of the inner
    /// kernel; a kernel without a descriptor stores a [`FileIdentity`](crate::FileIdentity).
    fn open_file(&self) -> OpenFile<'_>;

    /// Performs one ioctl. Implementations restart it after EINTR, as libdrm's `drmIoctl` does, and return EAGAIN: the number of
    /// retries on a busy kernel depends on the request ([`send_raw`]).
    ///
    /// # Errors
    ///
    /// The kernel's errno.
    ///
    /// # Safety
    ///
    /// * `argument` points to `request.size()` readable and writable bytes (it may dangle if the size is 0), and every address in it
    ///   that the kernel follows for this request is valid for the kernel's accesses.
    /// * The caller owns what the request changes: handles, contexts, lists, sync objects and GPU addresses that the request destroys,
    ///   shares, binds, replaces or changes were made by the caller, or their owner permits it. Objects that a `Device` made belong
    ///   to the library, which gives safe access to their memory; so does the memory behind them. Work that the request submits
    ///   writes only to memory that the caller may change. Queries and waits change nothing.
    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno>;

    /// Maps `len` bytes of the node, shared, at `offset` (from GEM_MMAP). If `at` is given, maps them at this address, replacing
    /// existing mappings.
    ///
    /// # Errors
    ///
    /// The kernel's errno.
    ///
    /// # Safety
    ///
    /// If `at` is given, the caller owns the `len` bytes that start there, and nothing else uses them.
    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno>;

    /// Removes a mapping created by `mmap`.
    ///
    /// # Errors
    ///
    /// The kernel's errno. The mapping then still exists.
    ///
    /// # Safety
    ///
    /// `address` and `len` must describe exactly one existing mapping, which no code uses any longer.
    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno>;

    /// Removes a mapping created by `mmap`, but keeps its addresses reserved and inaccessible.
    ///
    /// Implementations that can do so replace the mapping in one step. The default unmaps, and then reserves the addresses again,
    /// which fails if another thread has mapped them in between.
    ///
    /// # Errors
    ///
    /// [`NotReserved`] with the errno, and whether the mapping still exists.
    ///
    /// # Safety
    ///
    /// The requirements of [`munmap`](Self::munmap).
    unsafe fn reserve(&self, address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
        // SAFETY: the caller's promises are passed on unchanged.
        unsafe { self.munmap(address, len) }.map_err(|errno| NotReserved { errno, is_mapped: true })?;
        // SAFETY: no existing mapping is replaced.
        unsafe { hold(address, len, MapFlags::MAP_FIXED_NOREPLACE) }
            .map_err(|errno| NotReserved { errno, is_mapped: false })
    }
}

/// An error of reserving the addresses of a mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the addresses of a mapping were not kept: {errno}")]
pub struct NotReserved {
    /// The errno of the failed system call.
    pub errno: Errno,
    /// `true` if the mapping still exists.
    pub is_mapped: bool,
}

/// Replaces a mapping with inaccessible addresses in one step.
///
/// # Errors
///
/// [`NotReserved`] with the errno. The mapping then still exists.
///
/// # Safety
///
/// `address` and `len` must describe exactly one existing mapping, which no code uses any longer.
pub unsafe fn replace_by_nothing(address: NonNull<u8>, len: usize) -> Result<(), NotReserved> {
    // SAFETY: the caller no longer uses the mapping.
    unsafe { hold(address, len, MapFlags::MAP_FIXED) }.map_err(|errno| NotReserved { errno, is_mapped: true })
}

/// Reserves addresses that cannot be read or written and take no memory.
///
/// # Safety
///
/// With MAP_FIXED, the caller owns existing mappings in the range and no longer uses them.
unsafe fn hold(address: NonNull<u8>, len: usize, fixed: MapFlags) -> Result<(), Errno> {
    let len = NonZeroUsize::new(len).ok_or(Errno::EINVAL)?;
    let flags = fixed | MapFlags::MAP_PRIVATE | MapFlags::MAP_ANONYMOUS | MapFlags::MAP_NORESERVE;
    // SAFETY: MAP_FIXED_NOREPLACE replaces nothing; with MAP_FIXED the caller gives up existing mappings in the range.
    let held = unsafe { mmap_anonymous(Some(address.addr()), len, ProtFlags::PROT_NONE, flags) }.map_err(of_nix)?;
    if held.cast() == address {
        return Ok(());
    }
    // Kernels before 4.17 treat NOREPLACE as a hint.
    // SAFETY: these addresses were just mapped, by this call alone.
    let _ = unsafe { munmap(held, len.get()) };
    Err(Errno::EEXIST)
}

/// The protection of a CPU mapping.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protection {
    /// Allows loads only.
    Read,
    /// Allows loads and stores.
    ReadWrite,
}

// SAFETY: every call is forwarded unchanged, so the guarantees are those of the inner kernel.
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

/// Sends a query or a wait, with its own request number. This is the only request that safe code can send: every other one may reach
/// the objects that the library's safe code stands on.
///
/// ```
/// use amdgpu_uapi::{Errno, GetCap, Kernel, cap, send};
///
/// fn has_timelines(kernel: &dyn Kernel) -> Result<bool, Errno> {
///     let mut question = GetCap { capability: cap::SYNCOBJ_TIMELINE, value: 0 };
///     send(kernel, &mut question)?;
///     Ok(question.value != 0)
/// }
/// ```
///
/// ```compile_fail,E0277
/// use amdgpu_uapi::{GemClose, Kernel, send};
///
/// fn close(kernel: &dyn Kernel) {
///     let _ = send(kernel, &mut GemClose { handle: 1, pad: 0 });
/// }
/// ```
///
/// # Errors
///
/// The kernel's errno.
#[inline]
pub fn send<A: Harmless>(kernel: &dyn Kernel, argument: &mut A) -> Result<(), Errno> {
    // SAFETY: a query or a wait changes no object of the file, whoever owns it.
    unsafe { send_plain(kernel, argument) }
}

/// Sends an argument without addresses, with its own request number.
///
/// # Errors
///
/// The kernel's errno.
///
/// # Safety
///
/// The caller owns what the request changes, as [`Kernel::ioctl`] requires.
#[inline]
pub unsafe fn send_plain<A: Plain>(kernel: &dyn Kernel, argument: &mut A) -> Result<(), Errno> {
    // SAFETY: the caller's promise is passed on unchanged.
    unsafe { send_plain_as(kernel, A::REQUEST, argument) }
}

/// Sends an argument without addresses, with another request number that carries the same structure.
///
/// # Errors
///
/// The kernel's errno; EINVAL if the request does not have the argument's size.
///
/// # Safety
///
/// `request` is one that carries an `A`, and the caller owns what it changes, as [`Kernel::ioctl`] requires.
#[inline]
pub unsafe fn send_plain_as<A: Plain>(kernel: &dyn Kernel, request: Request, argument: &mut A) -> Result<(), Errno> {
    if request.size() != size_of::<A>() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: `argument` is an exclusive reference to `size_of::<A>()` bytes, which was just compared with the size
    // that the request claims, and `A: Plain` holds no address. The caller owns what the request changes.
    unsafe { send_raw(kernel, request, argument) }
}

/// Sends an argument with addresses. If the kernel is busy, the request is repeated up to a limit that depends on it
/// (`patience.rs`).
///
/// # Errors
///
/// The kernel's errno.
///
/// # Safety
///
/// `request` has at most `size_of::<A>()` bytes, each address in `argument` is valid for the kernel's accesses for this request, and
/// the caller owns what the request changes, as [`Kernel::ioctl`] requires.
#[inline]
pub unsafe fn send_raw<A: Argument>(kernel: &dyn Kernel, request: Request, argument: &mut A) -> Result<(), Errno> {
    // SAFETY: the caller's promises are passed on unchanged.
    unsafe { send_raw_quietly(kernel, request, argument) }.inspect_err(|&errno| refused::<A>(errno))
}

#[cold]
fn refused<A: Argument>(errno: Errno) {
    tracing::debug!(request = A::NAME, ?errno, "ioctl refused");
}

/// Sends like [`send_plain`], but does not log errors. For use in `Drop`, which must restore the state before it calls observers.
///
/// # Errors
///
/// The errors of [`send_plain`].
///
/// # Safety
///
/// The requirements of [`send_plain`].
#[inline]
pub unsafe fn send_plain_quietly<A: Plain>(kernel: &dyn Kernel, argument: &mut A) -> Result<(), Errno> {
    if A::REQUEST.size() != size_of::<A>() {
        return Err(Errno::EINVAL);
    }
    // SAFETY: the size was compared with the request, and `A: Plain` has no addresses. The caller owns what the request changes.
    unsafe { send_raw_quietly(kernel, A::REQUEST, argument) }
}

/// Sends like [`send_raw`], but logs nothing.
///
/// # Errors
///
/// The errors of [`send_raw`].
///
/// # Safety
///
/// The requirements of [`send_raw`].
#[inline]
pub unsafe fn send_raw_quietly<A: Argument>(
    kernel: &dyn Kernel,
    request: Request,
    argument: &mut A,
) -> Result<(), Errno> {
    let argument: *mut A = argument;
    // SAFETY: the caller guarantees that `argument` is exclusive and large enough, that the addresses in it are valid, and that what
    // the request changes is its own.
    let ask = move || unsafe { kernel.ioctl(request, argument.cast()) };
    let result = match ask() {
        // SAFETY: the caller lends the bytes that the request covers, which are readable.
        Err(Errno::EAGAIN) => Patience::of(request, unsafe { argument.read() }.as_bytes()).ask_again(ask),
        result => result,
    };
    result.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns `true` if at least `len` bytes of inaccessible addresses are reserved in one range.
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

    /// Without the flag the address is a hint, as for a kernel before 4.17 with MAP_FIXED_NOREPLACE.
    #[test]
    #[cfg_attr(miri, ignore = "system calls")]
    fn addresses_that_are_somebody_elses_are_not_held_and_nothing_is_left_elsewhere() {
        // Nothing else in this process is nearly as large, whatever neighbouring mappings the kernel merges it with.
        let len = NonZeroUsize::new(1 << 40).unwrap();
        let flags = MapFlags::MAP_PRIVATE | MapFlags::MAP_NORESERVE;
        // SAFETY: no address is requested, so no existing mapping is replaced.
        let taken = unsafe { mmap_anonymous(None, len, ProtFlags::PROT_READ, flags) }.unwrap();
        for flags in [MapFlags::MAP_FIXED_NOREPLACE, MapFlags::empty()] {
            // SAFETY: neither flag replaces existing mappings.
            assert_eq!(unsafe { hold(taken.cast(), len.get(), flags) }, Err(Errno::EEXIST), "{flags:?}");
            assert!(!is_held(len.get()), "{flags:?}");
        }
        // SAFETY: mapped above, and not used.
        unsafe { munmap(taken, len.get()) }.unwrap();
        // SAFETY: as above.
        assert_eq!(unsafe { hold(taken.cast(), len.get(), MapFlags::MAP_FIXED_NOREPLACE) }, Ok(()));
        assert!(is_held(len.get()));
        // SAFETY: reserved just now.
        unsafe { munmap(taken, len.get()) }.unwrap();
    }
}
