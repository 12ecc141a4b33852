//! The page size, and errors of the host.

use amdgpu_uapi::Errno;

/// The page size of the CPU and the GPU in bytes.
pub(crate) const PAGE: u64 = 4096;

/// Returns the errno of an I/O error.
#[expect(clippy::needless_pass_by_value, reason = "the shape that `map_err` wants")]
pub(crate) fn errno_of(error: std::io::Error) -> Errno {
    Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO))
}
