//! The variable `AMD_PRIORITY`, which replaces the priority of all contexts.

use std::ffi::CStr;

/// Returns the priority that the variable asks for, and says so on standard output, as libdrm does.
pub(super) fn of_environment() -> Option<i32> {
    // SAFETY: a string that ends with NUL. That no other thread changes the environment meanwhile is a rule of C for all programs.
    let value = unsafe { libc::getenv(c"AMD_PRIORITY".as_ptr()) };
    if value.is_null() {
        return None;
    }
    // SAFETY: the C library returns a string that ends with NUL and stays until the environment changes.
    let priority = number(unsafe { CStr::from_ptr(value) }.to_bytes())?;
    // SAFETY: a format with one int, which is passed. The C library's stream keeps the order with what the program prints.
    unsafe { libc::printf(c"amdgpu: context priority changed to %i\n".as_ptr(), priority) };
    Some(priority)
}

/// Reads an integer of C: octal with a leading 0, hexadecimal with 0x. Blanks before it and text behind it do not matter.
fn number(text: &[u8]) -> Option<i32> {
    let text = text.trim_ascii_start();
    let (is_negative, text) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, text),
    };
    let (radix, digits) = match text {
        [b'0', b'x' | b'X', rest @ ..] => (16, rest),
        [b'0', ..] => (8, text),
        _ => (10, text),
    };
    let digits = digits.iter().map_while(|&byte| char::from(byte).to_digit(radix));
    let value = digits.fold(None, |value: Option<i64>, digit| {
        Some(value.unwrap_or(0).saturating_mul(radix.into()).saturating_add(digit.into()))
    })?;
    Some((if is_negative { -value } else { value }) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_of_c_are_read_in_every_base() {
        for (text, value) in [
            ("512", Some(512)),
            (" -1023 ", Some(-1023)),
            ("0x200", Some(512)),
            ("01000", Some(512)),
            ("0", Some(0)),
            ("+7up", Some(7)),
            ("", None),
            ("high", None),
            ("0x", None),
        ] {
            assert_eq!(number(text.as_bytes()), value, "{text}");
        }
    }
}
