//! Errors of the host as errors of a request.

use amdgpu_uapi::Errno;

/// Returns the errno of an I/O error.
#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
pub(crate) fn errno_of(error: std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}
