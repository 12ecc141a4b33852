//! Hooks on node descriptors.

use std::{
    ffi::{c_int, c_ulong, c_void},
    mem::MaybeUninit,
    os::fd::{AsRawFd, RawFd},
};

use amdgpu_sim_world::{Answer, Call, Message, NodeName};
use libc::{off_t, size_t};
use nix::errno::Errno;

use super::guarded;
use crate::{
    c_text::PathText,
    calls, null,
    real::{self, set_errno},
    world::{self, World},
};

/// The size of a page in bytes.
const PAGE: u64 = 4096;

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

/// Refuses what cannot be mapped of a dma-buf: what lies beyond its end, and copies of it (`MAP_PRIVATE`). Errno stays as it was.
///
/// A dma-buf is a memory file here, of which both could be mapped.
///
/// Source: Linux 6.12 `dma-buf.c`, `dma_buf_mmap_internal`; `ttm_bo_vm.c`, `ttm_bo_mmap_obj`.
fn check_dma_buf(fd: RawFd, offset: u64, len: u64, is_copy: bool, wants_to_write: bool) -> Result<(), Errno> {
    let errno = Errno::last_raw();
    let mut about = MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the place is writable.
    let is_known = unsafe { real::fstat(fd, about.as_mut_ptr()) } == 0;
    // SAFETY: the call has filled it.
    let size = if is_known { unsafe { about.assume_init_ref() }.st_size.cast_unsigned() } else { 0 };
    let end = len.checked_next_multiple_of(PAGE).and_then(|len| offset.checked_add(len));
    let is_beyond = end.is_none_or(|end| end > size);
    let is_dma_buf =
        || PathText::of_descriptor(fd).is_some_and(|path| path.as_bytes().starts_with(b"/memfd:amdgpu-sim BO"));
    // SAFETY: asks for the flags of the descriptor alone.
    let flags = || unsafe { libc::fcntl(fd, libc::F_GETFL) };
    // Where the descriptor does not have the rights, that is told first.
    let has_rights = || flags() & libc::O_ACCMODE == libc::O_RDWR || !wants_to_write;
    let refused = is_known && (is_beyond || is_copy) && has_rights() && is_dma_buf();
    set_errno(errno);
    if refused { Err(Errno::EINVAL) } else { Ok(()) }
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
        let is_copy = flags & libc::MAP_TYPE == libc::MAP_PRIVATE && protection != libc::PROT_NONE;
        let offset = u64::try_from(offset).map_err(|_| Errno::EINVAL)?;
        let Some((world, file)) = node(fd)? else {
            let wants_to_write = !is_copy && protection & libc::PROT_WRITE != 0;
            check_dma_buf(fd, offset, len as u64, is_copy, wants_to_write)?;
            return Ok(as_is());
        };
        let shown = u64::try_from(fd).map_err(|_| Errno::EBADF)?;
        calls::use_descriptor(world, Call::Map, file, [offset, len as u64, shown], |memory| {
            if is_copy {
                return Err(Errno::EINVAL);
            }
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
