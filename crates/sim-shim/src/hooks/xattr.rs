//! Extended attributes, which `ls` asks for.

use std::ffi::{c_char, c_void};

use libc::{size_t, ssize_t};

use super::{guarded, locate};
use crate::real;

macro_rules! attribute_hooks {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        /// The C library's function of this name.
        ///
        /// # Safety
        ///
        /// The requirements of the C function.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, $($argument: $type),*) -> ssize_t {
            guarded(-1, || {
                // SAFETY: the caller's promise.
                let place = unsafe { locate(libc::AT_FDCWD, path) }?;
                let path = place.as_ref().map_or(path, |place| place.text.as_ptr());
                // SAFETY: a C string in either case, and what the program passed.
                Ok(unsafe { real::$name(path, $($argument),*) })
            })
        }
    )*};
}

attribute_hooks! {
    getxattr(name: *const c_char, out: *mut c_void, size: size_t);
    lgetxattr(name: *const c_char, out: *mut c_void, size: size_t);
    listxattr(out: *mut c_char, size: size_t);
    llistxattr(out: *mut c_char, size: size_t);
}
