//! Names as C strings.

use std::ffi::{CStr, c_char};

/// Returns a name from a list of C strings.
pub(crate) fn name<'a>(pointer: *const c_char) -> Option<&'a CStr> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: valid usage: the elements of a list of names are null-terminated strings, for the length of the call.
    Some(unsafe { CStr::from_ptr(pointer) })
}

/// Returns a text as an array of C characters, truncated if necessary and padded with zeros.
pub(crate) fn copy_text<const N: usize>(text: &str) -> [c_char; N] {
    let mut array = [0; N];
    let most = N.saturating_sub(1);
    array.iter_mut().zip(text.bytes().take(most)).for_each(|(to, byte)| *to = byte.cast_signed());
    array
}
