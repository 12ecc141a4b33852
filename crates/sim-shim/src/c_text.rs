//! Paths as C hands them over.

use std::ffi::{CStr, c_char, c_int};

use nix::errno::Errno;

/// The longest path, with its terminating zero (`PATH_MAX`).
const MOST: usize = libc::PATH_MAX as usize;

/// The bytes of a C string; none for a null pointer.
///
/// # Safety
///
/// `text` is null or a C string that stays as it is while the result is used.
pub(crate) unsafe fn bytes<'a>(text: *const c_char) -> Option<&'a [u8]> {
    if text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    Some(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A path on the stack, always ended by a zero: hooks must not allocate just to pass a path on.
#[derive(Clone)]
pub(crate) struct PathText {
    bytes: [u8; MOST],
    len: usize,
}

impl PathText {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; MOST], len: 0 }
    }

    /// Appends bytes.
    ///
    /// # Errors
    ///
    /// ENAMETOOLONG.
    pub(crate) fn push(&mut self, more: &[u8]) -> Result<(), Errno> {
        let end = self.len.checked_add(more.len()).filter(|&end| end < MOST).ok_or(Errno::ENAMETOOLONG)?;
        self.bytes.get_mut(self.len..end).ok_or(Errno::ENAMETOOLONG)?.copy_from_slice(more);
        self.len = end;
        Ok(())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The path for C. The byte behind the last is zero: nothing is ever written there, for `push` keeps room.
    pub(crate) fn as_ptr(&self) -> *const c_char {
        self.bytes.as_ptr().cast()
    }

    /// Returns the target of a symbolic link; `None` if it is not a link or too long.
    pub(crate) fn of_link(link: &Self) -> Option<Self> {
        let mut text = Self::new();
        // SAFETY: `link` ends in a zero, and the length passed is that of the buffer.
        let len = unsafe { crate::real::readlink(link.as_ptr(), text.bytes.as_mut_ptr().cast(), MOST - 1) };
        text.len = usize::try_from(len).ok().filter(|&len| len < MOST - 1)?;
        Some(text)
    }

    /// Returns the path of a directory descriptor.
    pub(crate) fn of_descriptor(fd: c_int) -> Option<Self> {
        let mut digits = [0; 10];
        let mut link = Self::new();
        link.push(b"/proc/self/fd/").ok()?;
        link.push(decimal(u32::try_from(fd).ok()?, &mut digits)).ok()?;
        Self::of_link(&link)
    }
}

/// A number in decimal, without allocating.
fn decimal(mut number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut start = digits.len();
    for place in digits.iter_mut().rev() {
        *place = b'0' + (number % 10) as u8;
        start -= 1;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    digits.get(start..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_out() {
        for number in [0, 7, 10, 4_294_967_295] {
            assert_eq!(decimal(number, &mut [0; 10]), number.to_string().as_bytes());
        }
    }

    #[test]
    fn a_path_that_is_too_long_is_refused() {
        let mut text = PathText::new();
        assert_eq!(text.push(&[b'a'; MOST]), Err(Errno::ENAMETOOLONG));
        text.push(&[b'a'; MOST - 1]).unwrap();
        assert_eq!(text.push(b"a"), Err(Errno::ENAMETOOLONG));
        assert_eq!(text.as_bytes().len(), MOST - 1);
    }
}
