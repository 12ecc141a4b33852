//! Hooks on node descriptors.

use std::{
    ffi::{c_int, c_ulong, c_void},
    os::fd::{AsRawFd, RawFd},
};

use amdgpu_sim_world::{Answer, Call, Message, NodeName};
use libc::{off_t, size_t};
use nix::errno::Errno;

use super::guarded;
use crate::{
    calls, null,
    real::{self, set_errno},
    world::{self, World},
};

/// The world and the file of a descriptor; `None` for one that is no node. Errno stays as it was.
fn node(fd: RawFd) -> Result<Option<(&'static World, u64)>, Errno> {
    let errno = Errno::last_raw();
    let name = NodeName::of(fd);
    set_errno(errno);
    let Some(name) = name else { return Ok(None) };
    let world = world::reach()?;
    if world.name == name.world {
        return Ok(Some((world, name.file)));
    }
    world::say_once(&format!("descriptor {fd} is a node of {}, but this process is in {}", name.world, world.name));
    Err(Errno::ENODEV)
}

/// Requests that dma-bufs (`DMA_BUF_BASE`), sync files (`SYNC_IOC_MAGIC`) and sw_sync files (`SW_SYNC_IOC_MAGIC`) have.
fn is_of_shared_descriptors(request: c_ulong) -> bool {
    matches!((request >> 8) as u8, b'b' | b'>' | b'W')
}

/// An ioctl on a descriptor that is no node; `None` if it is none of the world's either.
fn on_shared_descriptor(fd: RawFd, request: c_ulong, address: u64) -> Option<Result<c_int, Errno>> {
    let world = is_of_shared_descriptors(request).then(world::known).flatten()?;
    let number = u64::try_from(fd).ok()?;
    let message = Message::new(Call::DescriptorIoctl, 0, [request & 0xffff_ffff, address, number]);
    match calls::call(world, &message) {
        Ok(answer) => Some(Ok(returned(&answer))),
        // What the simulator does not know may be a real one.
        Err(Errno::ENOTTY) => None,
        Err(errno) => Some(Err(errno)),
    }
}

/// Returns the result of a request, and sets errno for one that has no name in user space.
fn returned(answer: &Answer) -> c_int {
    answer.returned().unwrap_or_else(|errno| {
        set_errno(errno);
        -1
    })
}

/// The C library's `ioctl`.
///
/// # Safety
///
/// The requirements of the request.
#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    guarded(-1, || {
        // SAFETY: what the program passed.
        let null = unsafe { null::ioctl(fd, request as u32, argument, |fd| matches!(node(fd), Ok(Some(_)))) };
        if let Some(result) = null {
            return result;
        }
        let address = argument.expose_provenance() as u64;
        let Some((world, file)) = node(fd)? else {
            if let Some(result) = on_shared_descriptor(fd, request, address) {
                return result;
            }
            // SAFETY: what the program passed.
            return Ok(unsafe { real::ioctl(fd, request, argument) });
        };
        // The server asks for the descriptor itself where it has not seen it yet.
        let shown = u64::try_from(fd).map_err(|_| Errno::EBADF)?;
        let words = [request & 0xffff_ffff, address, shown];
        let answer = calls::call(world, &Message::new(Call::Ioctl, file, words))?;
        Ok(returned(&answer))
    })
}

/// # Safety
///
/// The requirements of `mmap`.
unsafe fn map(
    address: *mut c_void,
    len: size_t,
    protection: c_int,
    flags: c_int,
    fd: c_int,
    offset: off_t,
) -> *mut c_void {
    let as_is = || {
        // SAFETY: what the program passed.
        unsafe { real::mmap(address, len, protection, flags, fd, offset) }
    };
    if fd < 0 || flags & libc::MAP_ANONYMOUS != 0 {
        return as_is();
    }
    guarded(libc::MAP_FAILED, || {
        // SAFETY: what the program passed.
        let null = unsafe { null::map(address, len, protection, flags, offset.cast_unsigned()) };
        if let Some(result) = null {
            return result;
        }
        let Some((world, file)) = node(fd)? else { return Ok(as_is()) };
        if flags & libc::MAP_TYPE == libc::MAP_PRIVATE && protection != libc::PROT_NONE {
            return Err(Errno::EINVAL);
        }
        let offset = u64::try_from(offset).map_err(|_| Errno::EINVAL)?;
        let shown = u64::try_from(fd).map_err(|_| Errno::EBADF)?;
        calls::use_descriptor(world, Call::Map, file, [offset, len as u64, shown], |memory| {
            // SAFETY: the program's own address and length, for the memory behind what it asked for. The mapping holds
            // the memory when the descriptor is closed.
            let mapped = unsafe { real::mmap(address, len, protection, flags, memory.as_raw_fd(), 0) };
            // Before the descriptor is closed, which may change errno.
            if mapped == libc::MAP_FAILED { Err(Errno::last()) } else { Ok(mapped) }
        })?
    })
}

macro_rules! mmap_hooks {
    ($($name:ident;)*) => {$(
        /// The C library's function of this name. On 64-bit Linux both variants are one.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            address: *mut c_void,
            len: size_t,
            protection: c_int,
            flags: c_int,
            fd: c_int,
            offset: off_t,
        ) -> *mut c_void {
            // SAFETY: the caller's promise.
            unsafe { map(address, len, protection, flags, fd, offset) }
        }
    )*};
}

mmap_hooks! {
    mmap;
    mmap64;
}

/// The C library's `munmap`. Mappings of the null kernel stay.
///
/// # Safety
///
/// The requirements of the C function.
#[unsafe(no_mangle)]
unsafe extern "C" fn munmap(address: *mut c_void, len: size_t) -> c_int {
    if null::owns(address) {
        return 0;
    }
    // SAFETY: what the program passed.
    unsafe { real::munmap(address, len) }
}
