//! Netlink sockets for the kernel's events (NETLINK_KOBJECT_UEVENT).
//!
//! In a world such a socket is one of the server's, which sends the events of the simulated kernel. The hooks make it look like a
//! netlink socket: it is bound to groups, and what it receives comes from the kernel, or from udevd if it is for libudev. The host's
//! events are not received.

use std::{
    ffi::{c_int, c_void},
    os::fd::IntoRawFd as _,
    ptr, slice,
    sync::atomic::{AtomicBool, Ordering},
};

use amdgpu_sim_world::{Call, UDEV_EVENTS, is_server_thread, is_udev_event, is_uevent_socket};
use libc::{msghdr, size_t, sockaddr, sockaddr_nl, socklen_t, ssize_t, ucred};
use nix::{
    errno::Errno,
    fcntl::{FcntlArg, OFlag, fcntl},
};

use super::guarded;
use crate::{
    calls,
    real::{self, set_errno},
    world,
};

/// `true` if this process has ever opened one. In a program that was started with an open one, that stays a plain socket.
static ANY: AtomicBool = AtomicBool::new(false);
/// The number of the process that stands for udevd.
const UDEVD: u32 = 1;
/// The size of a netlink address.
const ADDRESS: usize = size_of::<sockaddr_nl>();

/// Returns `true` if a descriptor is such a socket. errno stays as it was.
fn is_one(fd: c_int) -> bool {
    if !ANY.load(Ordering::Relaxed) {
        return false;
    }
    let mut address = [0_u8; size_of::<libc::sockaddr_un>()];
    let mut len = address.len() as socklen_t;
    let errno = Errno::last_raw();
    // SAFETY: the buffer has the length that is told, and any alignment will do for bytes that the kernel copies.
    let asked = unsafe { real::getsockname(fd, address.as_mut_ptr().cast(), &raw mut len) };
    set_errno(errno);
    // The name follows the family.
    let name = address.get(size_of::<libc::sa_family_t>()..(len as usize).min(address.len()));
    asked == 0 && name.is_some_and(is_uevent_socket)
}

/// Returns the address of a netlink socket.
fn netlink_address(pid: u32, groups: u32) -> sockaddr_nl {
    // SAFETY: a structure of plain integers, for which zeros are values.
    let mut address: sockaddr_nl = unsafe { std::mem::zeroed() };
    (address.nl_family, address.nl_pid, address.nl_groups) = (libc::AF_NETLINK as libc::sa_family_t, pid, groups);
    address
}

/// Writes an address as the kernel does: as much as there is room for. Returns its whole length.
///
/// # Safety
///
/// `out` is null or has room for `room` bytes.
unsafe fn write_address(address: &sockaddr_nl, out: *mut c_void, room: usize) -> socklen_t {
    if !out.is_null() {
        // SAFETY: the caller's promise, and no more bytes than the address has.
        unsafe { ptr::copy_nonoverlapping(ptr::from_ref(address).cast::<u8>(), out.cast(), room.min(ADDRESS)) };
    }
    ADDRESS as socklen_t
}

/// Binds a socket to groups, besides those that it is bound to.
fn join(fd: c_int, groups: u32) -> Result<c_int, Errno> {
    let word = groups.to_ne_bytes();
    // SAFETY: the bytes outlive the call.
    let written = unsafe { real::write(fd, word.as_ptr().cast(), word.len()) };
    if usize::try_from(written) == Ok(word.len()) { Ok(0) } else { Err(Errno::ENOBUFS) }
}

/// The C library's `socket`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: what the program passed.
    let as_is = || unsafe { real::socket(domain, kind, protocol) };
    if (domain, protocol) != (libc::AF_NETLINK, libc::NETLINK_KOBJECT_UEVENT) || is_server_thread() {
        return as_is();
    }
    guarded(-1, || {
        let Some(world) = world::known() else { return Ok(as_is()) };
        let Ok(fd) = calls::call_for_descriptor(world, Call::Uevents, 0, [0; 3]) else { return Ok(as_is()) };
        if kind & libc::SOCK_CLOEXEC == 0 {
            fcntl(&fd, FcntlArg::F_SETFD(nix::fcntl::FdFlag::empty()))?;
        }
        if kind & libc::SOCK_NONBLOCK != 0 {
            fcntl(&fd, FcntlArg::F_SETFL(OFlag::O_RDWR | OFlag::O_NONBLOCK))?;
        }
        ANY.store(true, Ordering::Relaxed);
        Ok(fd.into_raw_fd())
    })
}

/// The C library's `bind`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int {
    if !is_one(fd) {
        // SAFETY: what the program passed.
        return unsafe { real::bind(fd, address, len) };
    }
    guarded(-1, || {
        if address.is_null() || (len as usize) < ADDRESS {
            return Err(Errno::EINVAL);
        }
        // SAFETY: the caller's promise: an address of this length.
        let address = unsafe { ptr::read_unaligned(address.cast::<sockaddr_nl>()) };
        if i32::from(address.nl_family) != libc::AF_NETLINK {
            return Err(Errno::EINVAL);
        }
        join(fd, address.nl_groups)
    })
}

/// The C library's `setsockopt`: sockets of a world have groups, and no other options of netlink.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: socklen_t) -> c_int {
    if level != libc::SOL_NETLINK || !is_one(fd) {
        // SAFETY: what the program passed.
        return unsafe { real::setsockopt(fd, level, name, value, len) };
    }
    guarded(-1, || {
        if name != libc::NETLINK_ADD_MEMBERSHIP {
            return Ok(0);
        }
        if value.is_null() || (len as usize) < size_of::<u32>() {
            return Err(Errno::EINVAL);
        }
        // SAFETY: the caller's promise: a value of this length.
        let group = unsafe { ptr::read_unaligned(value.cast::<u32>()) };
        let mask = group.checked_sub(1).and_then(|bit| 1_u32.checked_shl(bit)).ok_or(Errno::EINVAL)?;
        join(fd, mask)
    })
}

/// The C library's `getsockname`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn getsockname(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int {
    if address.is_null() || len.is_null() || !is_one(fd) {
        // SAFETY: what the program passed.
        return unsafe { real::getsockname(fd, address, len) };
    }
    // SAFETY: not null, and the caller's promise: a length that nobody else uses during the call. It may have any alignment.
    let room = unsafe { ptr::read_unaligned(len) } as usize;
    // SAFETY: the caller's promise: room for as many bytes as it says.
    let written = unsafe { write_address(&netlink_address(std::process::id(), 0), address.cast(), room) };
    // SAFETY: as for the reading.
    unsafe { ptr::write_unaligned(len, written) };
    0
}

/// The C library's `recvfrom`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvfrom(
    fd: c_int,
    out: *mut c_void,
    size: size_t,
    flags: c_int,
    address: *mut sockaddr,
    len: *mut socklen_t,
) -> ssize_t {
    let room = if address.is_null() || len.is_null() || !is_one(fd) {
        None
    } else {
        // SAFETY: not null, and the caller's promise.
        Some(unsafe { ptr::read_unaligned(len) } as usize)
    };
    // SAFETY: what the program passed.
    let received = unsafe { real::recvfrom(fd, out, size, flags, address, len) };
    if let Some(room) = room.filter(|_| received >= 0) {
        // SAFETY: as many bytes were received, unless there was less room for them.
        let (pid, groups) = unsafe { sender(out, size.min(received.unsigned_abs())) };
        // SAFETY: the caller's promise: room for as many bytes as it said.
        let written = unsafe { write_address(&netlink_address(pid, groups), address.cast(), room) };
        // SAFETY: not null, as `room` says, and the caller's promise.
        unsafe { ptr::write_unaligned(len, written) };
    }
    received
}

/// The C library's `recvmsg`.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t {
    let room = if message.is_null() || !is_one(fd) {
        None
    } else {
        // SAFETY: not null, and the caller's promise.
        Some(unsafe { (*message).msg_namelen } as usize)
    };
    // SAFETY: what the program passed.
    let received = unsafe { real::recvmsg(fd, message, flags) };
    if let Some(room) = room.filter(|_| received >= 0) {
        // SAFETY: the call succeeded, so the header is valid, and nobody else uses it during the call.
        let message = unsafe { &mut *message };
        // SAFETY: all that the header points at is valid too; the name has as much room as before.
        unsafe { come_from_root(message, room, received.unsigned_abs()) };
    }
    received
}

/// Returns who sends a datagram: the number of the process, and the group.
///
/// # Safety
///
/// The datagram has `len` bytes, which are not written during the call.
unsafe fn sender(datagram: *const c_void, len: usize) -> (u32, u32) {
    // SAFETY: the caller's promise; there may be no place for no bytes.
    let datagram = if len == 0 { &[] } else { unsafe { slice::from_raw_parts(datagram.cast::<u8>(), len) } };
    if is_udev_event(datagram) { (UDEVD, UDEV_EVENTS) } else { (0, amdgpu_uapi::KERNEL_UEVENTS) }
}

/// Makes a received message one of the kernel or of udevd: its address, and the credentials beside it.
///
/// # Safety
///
/// `message` was filled in by `recvmsg` with `received` bytes, and its name has room for `room` bytes.
unsafe fn come_from_root(message: &mut msghdr, room: usize, received: usize) {
    let (start, len) = if message.msg_iovlen == 0 {
        (ptr::null_mut(), 0)
    } else {
        // SAFETY: the first part of a valid list.
        let first = unsafe { ptr::read_unaligned(message.msg_iov) };
        (first.iov_base, first.iov_len.min(received))
    };
    // SAFETY: the first part was filled first.
    let (pid, groups) = unsafe { sender(start, len) };
    if !message.msg_name.is_null() {
        // SAFETY: the caller's promise.
        message.msg_namelen = unsafe { write_address(&netlink_address(pid, groups), message.msg_name, room) };
    }
    // SAFETY: the control messages are those that the kernel has just written.
    let mut next = unsafe { libc::CMSG_FIRSTHDR(message) };
    while !next.is_null() {
        // SAFETY: a header that the kernel has written; it may have any alignment.
        let head = unsafe { ptr::read_unaligned(next) };
        let has_credentials = (head.cmsg_level, head.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_CREDENTIALS);
        // SAFETY: arithmetic on a constant.
        if has_credentials && head.cmsg_len >= unsafe { libc::CMSG_LEN(size_of::<ucred>() as u32) } as usize {
            let root = ucred { pid: pid.cast_signed(), uid: 0, gid: 0 };
            // SAFETY: arithmetic on the address of a whole header.
            let data = unsafe { libc::CMSG_DATA(next) };
            // SAFETY: the message has room for credentials, as its length says.
            unsafe { ptr::write_unaligned(data.cast::<ucred>(), root) };
        }
        // SAFETY: as for the first one.
        next = unsafe { libc::CMSG_NXTHDR(message, next) };
    }
}
