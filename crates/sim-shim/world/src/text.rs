//! Texts as files.

use std::{
    ffi::CStr,
    io::{Seek as _, Write as _},
    os::fd::OwnedFd,
};

use nix::{
    errno::Errno,
    fcntl::{FcntlArg, SealFlag, fcntl},
    sys::memfd::{MFdFlags, memfd_create},
};

/// Creates a sealed memory file with this text.
///
/// # Errors
///
/// EMFILE or ENFILE if there are no free descriptors, ENOMEM if there is no memory.
pub fn text_file(name: &CStr, text: &[u8]) -> Result<OwnedFd, Errno> {
    let mut file = std::fs::File::from(memfd_create(name, MFdFlags::MFD_CLOEXEC | MFdFlags::MFD_ALLOW_SEALING)?);
    let written = file.write_all(text).and_then(|()| file.rewind());
    written.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))?;
    let seals = SealFlag::F_SEAL_SHRINK | SealFlag::F_SEAL_GROW | SealFlag::F_SEAL_WRITE | SealFlag::F_SEAL_SEAL;
    fcntl(&file, FcntlArg::F_ADD_SEALS(seals))?;
    Ok(file.into())
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn a_text_is_read_from_its_start_and_stays() {
        let mut file = std::fs::File::from(text_file(c"text", b"hello").unwrap());
        let mut read = String::new();
        file.read_to_string(&mut read).unwrap();
        assert_eq!(read, "hello");
        assert!(file.write_all(b"!").is_err() && file.set_len(0).is_err());
    }
}
