//! The seam to the kernel: the four calls that the standard library does not have.
//!
//! Source of INFO: Linux 6.12 `include/uapi/drm/amdgpu_drm.h`; behaviour: `amdgpu_kms.c`, `amdgpu_info_ioctl`.
#![expect(unsafe_code, reason = "INFO carries the address of its answer, and the calls of libc are foreign functions")]

use std::{
    ffi::CStr,
    fs::File,
    io::{self, ErrorKind},
    mem::MaybeUninit,
    os::fd::AsRawFd as _,
};

/// The request number of INFO, which states 32 bytes of argument; below 2³¹, so that it fits the word of either C library's `ioctl`.
pub(crate) const INFO: libc::Ioctl = 0x4020_6445;
/// Bytes of every buffer for an answer, because Mesa's no-op shim does not respect the size in the request.
pub(crate) const BUFFER: usize = 1024;

/// The argument of INFO.
#[repr(C)]
pub(crate) struct InfoArgument {
    pointer: u64,
    size: u32,
    query: u32,
    input: [u32; 4],
}

/// Makes a query of an open render node; the answer replaces the first bytes of `answer`, at most [`BUFFER`].
pub(crate) fn info(node: &File, query: u32, answer: &mut [u8]) -> io::Result<()> {
    let mut buffer = [0_u8; BUFFER];
    let argument = InfoArgument {
        pointer: buffer.as_mut_ptr().expose_provenance() as u64,
        size: answer.len().min(BUFFER) as u32,
        query,
        input: [0; 4],
    };
    // SAFETY: the number is INFO's, whose argument has the 32 bytes of `InfoArgument`, which the kernel only reads. The one address
    // in it is that of `buffer`, which nothing else uses, which outlives the call, and which is longer than any answer. The
    // descriptor is open as long as `node` is borrowed.
    while unsafe { libc::ioctl(node.as_raw_fd(), INFO, &raw const argument) } < 0 {
        let error = io::Error::last_os_error();
        if error.kind() != ErrorKind::Interrupted {
            return Err(error);
        }
    }
    answer.iter_mut().zip(buffer).for_each(|(byte, answered)| *byte = answered);
    Ok(())
}

/// Returns where a link of an open directory leads, cut to the size of `target`. Without the path to the directory, which the kernel
/// would walk for each name, this takes two thirds of the time.
pub(crate) fn link<'a>(directory: &File, name: &CStr, target: &'a mut [u8]) -> io::Result<&'a [u8]> {
    // SAFETY: the name ends with a zero; the call writes at most as many bytes as it is told to, which is the size of the exclusive
    // `target`; the descriptor is open as long as `directory` is borrowed.
    let read =
        unsafe { libc::readlinkat(directory.as_raw_fd(), name.as_ptr(), target.as_mut_ptr().cast(), target.len()) };
    match usize::try_from(read) {
        Ok(read) => Ok(target.get(..read).unwrap_or_default()),
        Err(_) => Err(io::Error::last_os_error()),
    }
}

/// Returns the number of descriptors that the process may have open: `u64::MAX` if it is not limited.
pub(crate) fn most_descriptors() -> u64 {
    let mut limit = MaybeUninit::<libc::rlimit>::uninit();
    // SAFETY: the address is that of a structure of the type that the call writes.
    if unsafe { libc::getrlimit(libc::RLIMIT_NOFILE, limit.as_mut_ptr()) } < 0 {
        return 0;
    }
    // SAFETY: the call succeeded and wrote the whole structure.
    let limit = unsafe { limit.assume_init() };
    // RLIM_INFINITY is the largest number.
    limit.rlim_cur
}

/// Returns the size of a page of the CPU, bytes.
pub(crate) fn page_size() -> u64 {
    // SAFETY: the call takes a number, has no memory to write, and answers a number that it does not know with -1.
    let size = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    // Linux always knows it.
    size.cast_unsigned()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn limits_of_the_process_are_those_that_proc_lists() {
        let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
        let line = limits.lines().find_map(|line| line.strip_prefix("Max open files")).unwrap();
        let soft = line.split_whitespace().next().unwrap();
        assert_eq!(most_descriptors(), soft.parse().unwrap_or(u64::MAX));
    }

    #[test]
    fn the_page_is_the_one_that_the_auxiliary_vector_states() {
        let mut vector = Vec::new();
        File::open("/proc/self/auxv").unwrap().read_to_end(&mut vector).unwrap();
        let word = |bytes: &[u8]| u64::from_ne_bytes(bytes.try_into().unwrap());
        let mut pairs = vector.chunks_exact(16).map(|pair| (word(&pair[..8]), word(&pair[8..])));
        let stated = pairs.find(|&(key, _)| key == libc::AT_PAGESZ).unwrap().1;
        assert_eq!(page_size(), stated);
    }

    #[test]
    fn a_link_is_cut_to_the_room_for_its_target() {
        let directory = File::open("/proc/self").unwrap();
        let whole = std::fs::read_link("/proc/self/exe").unwrap().into_os_string().into_encoded_bytes();
        let (mut long, mut short) = ([0; 4096], [0; 5]);
        assert_eq!(link(&directory, c"exe", &mut long).unwrap(), whole);
        assert_eq!(link(&directory, c"exe", &mut short).unwrap(), &whole[..5]);
        let error = link(&directory, c"status", &mut long).unwrap_err();
        assert_eq!(error.raw_os_error(), Some(libc::EINVAL), "it is a file");
    }

    #[test]
    fn a_file_that_is_no_gpu_answers_no_query() {
        let mut answer = [7; 8];
        let error = info(&File::open("/dev/null").unwrap(), 0, &mut answer).unwrap_err();
        assert_eq!((error.raw_os_error(), answer), (Some(libc::ENOTTY), [7; 8]));
    }
}
