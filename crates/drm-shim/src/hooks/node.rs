//! What is done with node descriptors.

use std::{
    ffi::{c_int, c_ulong, c_void},
    os::fd::{AsRawFd, RawFd},
};

use amdgpu_sim_world::{Call, Message, NodeName};
use libc::{off_t, size_t};
use nix::errno::Errno;

use super::guarded;
use crate::{
    calls,
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

/// The C library's `ioctl`.
///
/// # Safety
///
/// What the request asks.
#[unsafe(no_mangle)]
unsafe extern "C" fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int {
    guarded(-1, || {
        let Some((world, file)) = node(fd)? else {
            // SAFETY: what the program passed.
            return Ok(unsafe { real::ioctl(fd, request, argument) });
        };
        let words = [request & 0xffff_ffff, argument.expose_provenance() as u64, 0];
        let answer = calls::call(world, &Message::new(Call::Ioctl, file, words))?;
        Ok(c_int::try_from(answer.value).unwrap_or(c_int::MAX))
    })
}

/// # Safety
///
/// What `mmap` asks.
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
        let Some((world, file)) = node(fd)? else { return Ok(as_is()) };
        if flags & libc::MAP_TYPE == libc::MAP_PRIVATE && protection != libc::PROT_NONE {
            return Err(Errno::EINVAL);
        }
        let offset = u64::try_from(offset).map_err(|_| Errno::EINVAL)?;
        let memory = calls::call_for_descriptor(world, Call::Map, file, [offset, len as u64, 0])?;
        // SAFETY: the program's own address and length, for the memory behind what it asked for. The mapping holds the
        // memory when the descriptor is closed.
        Ok(unsafe { real::mmap(address, len, protection, flags, memory.as_raw_fd(), 0) })
    })
}

macro_rules! mmap_hooks {
    ($($name:ident;)*) => {$(
        /// The C library's function of this name. On 64-bit Linux both variants are one.
        ///
        /// # Safety
        ///
        /// What the C function asks.
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
