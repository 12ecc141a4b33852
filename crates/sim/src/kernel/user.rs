//! Access to what a client names in ioctl arguments: memory by address, files by descriptor.
//!
//! When the client is our own process, everything here is called under the contract of `Kernel::ioctl`: the addresses in
//! an argument are valid for what the request does there. Null is refused with EFAULT; other bad addresses are the caller's
//! broken promise. The memory of another process (see `client.rs`) is copied by the kernel, and a bad address is EFAULT.

use std::os::fd::{BorrowedFd, OwnedFd, RawFd};

use amdgpu_uapi::Errno;
use nix::fcntl::{FcntlArg, fcntl};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use crate::kernel::client;

/// Arrays longer than this are refused: no request takes that much.
const MOST_BYTES: usize = 64 << 20;

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
    if let Some(pid) = client::foreign_pid() {
        return read_process(pid, from, out);
    }
    // SAFETY: by the contract of `Kernel::ioctl` the client's bytes at `address` are readable; `out` is ours alone.
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
    if let Some(pid) = client::foreign_pid() {
        return write_process(pid, to, data);
    }
    // SAFETY: by the contract of `Kernel::ioctl` the client's bytes at `address` are writable; `data` is ours.
    unsafe { std::ptr::copy_nonoverlapping(data.as_ptr(), to, data.len()) };
    Ok(())
}

/// Writes values.
pub(crate) fn write_slice<T: IntoBytes + Immutable>(address: u64, values: &[T]) -> Result<(), Errno> {
    write_bytes(address, values.as_bytes())
}

fn read_process(pid: libc::pid_t, from: *mut u8, out: &mut [u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: out.as_mut_ptr().cast(), iov_len: out.len() };
    let remote = libc::iovec { iov_base: from.cast(), iov_len: out.len() };
    // SAFETY: `local` is `out`, exclusive and as long as it says; the kernel checks every byte of `remote`.
    let copied = unsafe { libc::process_vm_readv(pid, &raw const local, 1, &raw const remote, 1, 0) };
    whole(copied, out.len())
}

fn write_process(pid: libc::pid_t, to: *mut u8, data: &[u8]) -> Result<(), Errno> {
    let local = libc::iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
    let remote = libc::iovec { iov_base: to.cast(), iov_len: data.len() };
    // SAFETY: `local` is `data`, which the kernel only reads; it checks every byte of `remote`, which the client named as
    // the place for its answer.
    let copied = unsafe { libc::process_vm_writev(pid, &raw const local, 1, &raw const remote, 1, 0) };
    whole(copied, data.len())
}

/// Checks that all was copied. A copy stops half-way at a bad address.
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

/// A descriptor of the client's; EBADF when it is not open.
pub(crate) fn descriptor(fd: i32) -> Result<BorrowedFd<'static>, Errno> {
    if fd < 0 {
        return Err(Errno::EBADF);
    }
    let fd = client::borrow_descriptor(fd).unwrap_or(Ok(fd))?;
    // SAFETY: the descriptor is only asked for its flags and inode and duplicated, within the ioctl that names it; if the
    // client closes it meanwhile, those calls fail with EBADF. The copy of a foreign client's lives until the call ends.
    let fd = unsafe { BorrowedFd::borrow_raw(fd) };
    fcntl(fd, FcntlArg::F_GETFD)?;
    Ok(fd)
}

/// Gives the client a descriptor; the number that it has there. It closes on exec there if it does here.
pub(crate) fn install(fd: OwnedFd) -> Result<RawFd, Errno> {
    client::install(fd)
}
