//! Access to the memory and descriptors that ioctl arguments refer to.
//!
//! If the client is this process, the contract of `Kernel::ioctl` applies: the addresses in an argument are valid for the accesses
//! of the request. Null is refused with EFAULT; any other invalid address violates the contract. The memory of a client (see
//! `client.rs`) is copied by the host's kernel, and an invalid address gives EFAULT. It is reached through descriptors that the client
//! has opened itself (`process_memory.rs`), with neither the rights of this process nor the number of the client's.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use amdgpu_uapi::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::kernel::client;

/// The maximum size of an array in bytes. No valid request needs more.
const MOST_BYTES: usize = 64 << 20;

/// The largest array in bytes that the DRM core allocates for a request (`KMALLOC_MAX_SIZE` with pages of 4 KiB).
const LARGEST_ARRAY: u64 = 4 << 20;

/// Checks that the DRM core would allocate an array of so many elements.
///
/// # Errors
///
/// ENOMEM if it is too large. The kernel finds that before it looks at the address of the array.
pub(crate) fn check_array<T>(count: u32) -> Result<(), Errno> {
    if u64::from(count) * size_of::<T>() as u64 > LARGEST_ARRAY { Err(Errno::ENOMEM) } else { Ok(()) }
}

/// Reads `count` values.
pub(crate) fn read_slice<T: FromBytes + IntoBytes + Clone>(address: u64, count: usize) -> Result<Vec<T>, Errno> {
    let bytes = count.checked_mul(size_of::<T>()).filter(|&bytes| bytes <= MOST_BYTES).ok_or(Errno::ENOMEM)?;
    let mut values = vec![T::new_zeroed(); count];
    read_bytes(address, &mut values.as_mut_slice().as_mut_bytes()[..bytes])?;
    Ok(values)
}

/// Reads one value.
#[inline(always)]
#[expect(clippy::inline_always, reason = "a load, which a call around it would multiply")]
pub(crate) fn read<T: FromBytes + IntoBytes>(address: u64) -> Result<T, Errno> {
    let mut value = T::new_zeroed();
    read_bytes(address, value.as_mut_bytes())?;
    Ok(value)
}

/// Reads bytes.
#[inline]
pub(crate) fn read_bytes(address: u64, out: &mut [u8]) -> Result<(), Errno> {
    if out.is_empty() {
        return Ok(());
    }
    let from = pointer(address)?;
    if client::is_anywhere()
        && let Some(outcome) = read_of_client(from, out)
    {
        return outcome;
    }
    // SAFETY: by the contract of `Kernel::ioctl` the client's bytes at `address` are readable; `out` is exclusive.
    unsafe { std::ptr::copy_nonoverlapping(from.cast_const(), out.as_mut_ptr(), out.len()) };
    Ok(())
}

/// Writes bytes.
#[inline]
pub(crate) fn write_bytes(address: u64, data: &[u8]) -> Result<(), Errno> {
    if data.is_empty() {
        return Ok(());
    }
    let to = pointer(address)?;
    if client::is_anywhere()
        && let Some(outcome) = write_to_client(to, data)
    {
        return outcome;
    }
    // SAFETY: by the contract of `Kernel::ioctl` the client's bytes at `address` are writable; `data` is ours.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    Ok(())
}

/// Reads memory of the client; `None` if this thread serves none. Not inlined, so that a read without clients is little more than
/// a load.
#[cold]
fn read_of_client(from: *mut u8, out: &mut [u8]) -> Option<Result<(), Errno>> {
    let memory = client::memory()?;
    Some(memory.and_then(|memory| match memory {
        Some(memory) => memory.read(from.addr() as u64, out),
        None => read_own(from, out),
    }))
}

/// Writes memory of the client, like [`read_of_client`].
#[cold]
fn write_to_client(to: *mut u8, data: &[u8]) -> Option<Result<(), Errno>> {
    let memory = client::memory()?;
    Some(memory.and_then(|memory| match memory {
        Some(memory) => memory.write(to.addr() as u64, data),
        None => write_own(to, data),
    }))
}

/// Writes values.
pub(crate) fn write_slice<T: IntoBytes + Immutable>(address: u64, values: &[T]) -> Result<(), Errno> {
    write_bytes(address, values.as_bytes())
}

/// Reads memory of this process that may not be there.
fn read_own(from: *mut u8, out: &mut [u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.len() };
    let remote = libc::iovec { iov_base: from.cast(), iov_len: out.len() };
    // SAFETY: `local` is `out`, which is exclusive and has this length; the kernel checks every byte of `remote`.
    let copied = unsafe { libc::process_vm_readv(own_pid(), &raw const local, 1, &raw const remote, 1, 0) };
    whole(copied, out.len())
}

/// Writes memory of this process that may not be there.
fn write_own(to: *mut u8, data: &[u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    let remote = libc::iovec { iov_base: to.cast(), iov_len: data.len() };
    // SAFETY: `local` is `data`, which the kernel only reads; it checks every byte of `remote`, where the client expects the
    // answer.
    let copied = unsafe { libc::process_vm_writev(own_pid(), &raw const local, 1, &raw const remote, 1, 0) };
    whole(copied, data.len())
}

fn own_pid() -> libc::pid_t {
    std::process::id().cast_signed()
}

/// Checks that all bytes were copied. A copy stops at the first invalid address.
fn whole(copied: isize, len: usize) -> Result<(), Errno> {
    match usize::try_from(copied) {
        Ok(copied) if copied == len => Ok(()),
        Ok(_) => Err(Errno::EFAULT),
        Err(_) => Err(Errno::last()),
    }
}

#[inline]
fn pointer(address: u64) -> Result<*mut u8, Errno> {
    let address = usize::try_from(address).map_err(|_| Errno::EFAULT)?;
    if address == 0 { Err(Errno::EFAULT) } else { Ok(std::ptr::with_exposed_provenance_mut(address)) }
}

/// Returns a descriptor of the client; EBADF if it is not open.
pub(crate) fn descriptor(fd: i32) -> Result<BorrowedFd<'static>, Errno> {
    if fd < 0 {
        return Err(Errno::EBADF);
    }
    let fd = client::borrow_descriptor(fd).unwrap_or(Ok(fd))?;
    // SAFETY: the descriptor is only duplicated and queried for its flags and inode within the ioctl that names it; if the client
    // closes it concurrently, those calls fail with EBADF. The copy of another process's descriptor lives until the call ends.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    fcntl(fd, FcntlArg::F_GETFD)?;
    Ok(fd)
}

/// Installs a descriptor in the client and returns its number there. The close-on-exec flag is kept.
pub(crate) fn install(fd: OwnedFd) -> Result<RawFd, Errno> {
    client::install(fd)
}
