//! The functions that were interposed, as the next library defines them.

use std::{
    ffi::{CStr, c_char, c_int, c_ulong, c_void},
    sync::atomic::{AtomicPtr, Ordering},
};

use libc::{DIR, FILE, dirent, dirent64, mode_t, msghdr, off_t, size_t, sockaddr, socklen_t, ssize_t};

/// A symbol that is looked up when first called.
///
/// No lock is taken and nothing is allocated, so a hook may run at any time: before main, in a signal handler, in a child
/// between fork and exec.
struct Symbol {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Symbol {
    const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    /// The address, or null if no library behind this one has it.
    fn get(&self) -> *mut c_void {
        let known = self.address.load(Ordering::Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name is a C string, and RTLD_NEXT is what a preloaded library may ask.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        self.address.store(found, Ordering::Relaxed);
        found
    }
}

macro_rules! real {
    ($($(#[$doc:meta])* fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty, else $missing:expr;)*) => {$(
        $(#[$doc])*
        ///
        /// # Safety
        ///
        /// The requirements of the C function of this name.
        pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
            static SYMBOL: Symbol = Symbol::new(match CStr::from_bytes_with_nul(
                concat!(stringify!($name), "\0").as_bytes(),
            ) {
                Ok(name) => name,
                Err(_) => c"",
            });
            let address = SYMBOL.get();
            if address.is_null() {
                set_errno(libc::ENOSYS);
                return $missing;
            }
            // SAFETY: the symbol is the C library's function of this name, whose signature is the one written here.
            let function = unsafe {
                std::mem::transmute::<*mut c_void, unsafe extern "C" fn($($type),*) -> $result>(address)
            };
            // SAFETY: the caller's promise.
            unsafe { function($($argument),*) }
        }
    )*};
}

/// Sets errno of this thread.
pub(crate) fn set_errno(errno: c_int) {
    nix::errno::Errno::set_raw(errno);
}

/// Returns `true` if the host has a file of this path. errno stays as it was.
pub(crate) fn exists(path: &CStr) -> bool {
    let errno = nix::errno::Errno::last_raw();
    // SAFETY: a C string.
    let found = unsafe { access(path.as_ptr(), libc::F_OK) } == 0;
    set_errno(errno);
    found
}

// The variadic functions are called with all arguments that they may read. On the 64-bit Linux ABIs (x86-64, AArch64 and
// RISC-V) integers and pointers travel in the same registers whether or not they are variadic.
real! {
    fn open(path: *const c_char, flags: c_int, mode: mode_t) -> c_int, else -1;
    fn openat(directory: c_int, path: *const c_char, flags: c_int, mode: mode_t) -> c_int, else -1;
    fn fopen(path: *const c_char, mode: *const c_char) -> *mut FILE, else std::ptr::null_mut();
    fn write(fd: c_int, bytes: *const c_void, len: size_t) -> ssize_t, else -1;
    fn fstat(fd: c_int, out: *mut libc::stat) -> c_int, else -1;
    fn fstatat(directory: c_int, path: *const c_char, out: *mut libc::stat, flags: c_int) -> c_int, else -1;
    fn statx(directory: c_int, path: *const c_char, flags: c_int, mask: libc::c_uint, out: *mut libc::statx) -> c_int, else -1;
    fn access(path: *const c_char, mode: c_int) -> c_int, else -1;
    fn faccessat(directory: c_int, path: *const c_char, mode: c_int, flags: c_int) -> c_int, else -1;
    fn readlink(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t, else -1;
    fn readlinkat(directory: c_int, path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t, else -1;
    fn realpath(path: *const c_char, out: *mut c_char) -> *mut c_char, else std::ptr::null_mut();
    fn chdir(path: *const c_char) -> c_int, else -1;
    fn fchdir(fd: c_int) -> c_int, else -1;
    fn getcwd(out: *mut c_char, size: size_t) -> *mut c_char, else std::ptr::null_mut();
    fn chmod(path: *const c_char, mode: mode_t) -> c_int, else -1;
    fn fchmodat(directory: c_int, path: *const c_char, mode: mode_t, flags: c_int) -> c_int, else -1;
    fn chown(path: *const c_char, user: libc::uid_t, group: libc::gid_t) -> c_int, else -1;
    fn statfs(path: *const c_char, out: *mut libc::statfs) -> c_int, else -1;
    fn fstatfs(fd: c_int, out: *mut libc::statfs) -> c_int, else -1;
    fn opendir(path: *const c_char) -> *mut DIR, else std::ptr::null_mut();
    fn readdir(directory: *mut DIR) -> *mut dirent, else std::ptr::null_mut();
    fn readdir64(directory: *mut DIR) -> *mut dirent64, else std::ptr::null_mut();
    fn ioctl(fd: c_int, request: c_ulong, argument: *mut c_void) -> c_int, else -1;
    fn mmap(
        address: *mut c_void, len: size_t, protection: c_int, flags: c_int, fd: c_int, offset: off_t
    ) -> *mut c_void, else libc::MAP_FAILED;
    fn munmap(address: *mut c_void, len: size_t) -> c_int, else -1;
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, else -1;
    fn bind(fd: c_int, address: *const sockaddr, len: socklen_t) -> c_int, else -1;
    fn setsockopt(fd: c_int, level: c_int, name: c_int, value: *const c_void, len: socklen_t) -> c_int, else -1;
    fn getsockname(fd: c_int, address: *mut sockaddr, len: *mut socklen_t) -> c_int, else -1;
    fn recvfrom(
        fd: c_int, out: *mut c_void, size: size_t, flags: c_int, address: *mut sockaddr, len: *mut socklen_t
    ) -> ssize_t, else -1;
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t, else -1;
    fn execve(path: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, else -1;
    fn execvpe(file: *const c_char, arguments: *const *const c_char, environment: *const *const c_char) -> c_int, else -1;
    fn posix_spawn(
        process: *mut libc::pid_t, path: *const c_char, actions: *const libc::posix_spawn_file_actions_t,
        attributes: *const libc::posix_spawnattr_t, arguments: *const *const c_char, environment: *const *const c_char
    ) -> c_int, else libc::ENOSYS;
    fn posix_spawnp(
        process: *mut libc::pid_t, file: *const c_char, actions: *const libc::posix_spawn_file_actions_t,
        attributes: *const libc::posix_spawnattr_t, arguments: *const *const c_char, environment: *const *const c_char
    ) -> c_int, else libc::ENOSYS;
    fn getxattr(path: *const c_char, name: *const c_char, out: *mut c_void, size: size_t) -> ssize_t, else -1;
    fn lgetxattr(path: *const c_char, name: *const c_char, out: *mut c_void, size: size_t) -> ssize_t, else -1;
    fn listxattr(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t, else -1;
    fn llistxattr(path: *const c_char, out: *mut c_char, size: size_t) -> ssize_t, else -1;
    fn scandir(
        path: *const c_char, list: *mut *mut *mut dirent, filter: *const c_void, compare: *const c_void
    ) -> c_int, else -1;
}
