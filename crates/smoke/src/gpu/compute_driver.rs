//! The node of the compute driver (KFD), and the version of its interface.

use std::{
    fs::{File, OpenOptions},
    io,
    os::fd::AsRawFd as _,
};

use nix::libc;

/// The node.
pub(crate) const NODE: &str = "/dev/kfd";

/// The request for the version: a read of 8 bytes, number 1 of the group `K`.
///
/// Source: Linux 6.12 `include/uapi/linux/kfd_ioctl.h`, `AMDKFD_IOC_GET_VERSION`.
const GET_VERSION: u32 = 0x8008_4b01;

/// Opens the node.
///
/// # Errors
///
/// The errors of `open`: ENOENT without the driver, EACCES for those who are not in the group of the node.
pub(crate) fn open() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(NODE)
}

/// Returns the major and minor version of the interface.
///
/// # Errors
///
/// The errors of the request: ENOTTY if the file is not the compute driver's.
pub(crate) fn version(file: &File) -> io::Result<(u32, u32)> {
    let mut version = [0_u32; 2];
    // SAFETY: the descriptor is open, and the request writes `struct kfd_ioctl_get_version_args`, which is two u32, to memory of
    // this size that nobody else uses. A file of another driver refuses the request, because the group of the number is not its own.
    let answer = unsafe { libc::ioctl(file.as_raw_fd(), word(GET_VERSION), version.as_mut_ptr()) };
    if answer < 0 { Err(io::Error::last_os_error()) } else { Ok((version[0], version[1])) }
}

/// Returns a request as the C library takes it: a signed or an unsigned word.
#[allow(clippy::cast_lossless, clippy::cast_possible_wrap, reason = "which of the two it is depends on the C library")]
const fn word(request: u32) -> libc::Ioctl {
    request as libc::Ioctl
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_file_has_no_version_of_the_compute_driver() {
        let error = version(&File::open("/dev/null").unwrap()).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::ENOTTY));
    }

    #[test]
    fn the_request_has_the_number_of_the_header() {
        let (direction, size, group, number) = (2, 8, u32::from(b'K'), 1);
        assert_eq!(GET_VERSION, direction << 30 | size << 16 | group << 8 | number);
    }
}
