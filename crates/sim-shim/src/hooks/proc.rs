//! `/proc/PID/fdinfo/FD` of node descriptors: what the kernel says of the socket, then what the driver says of the file.
//! And `/proc/PID/fd/FD`: opening it opens the node anew.

use std::{
    ffi::c_int,
    fs::File,
    io::Read as _,
    os::fd::{FromRawFd as _, OwnedFd},
};

use amdgpu_sim_world::{Call, Message, text_file};
use nix::errno::Errno;

use crate::{c_text::PathText, calls, paths, real, world};

/// A file with the whole text, if the path is one of a node descriptor.
pub(super) fn fdinfo(directory: c_int, path: &[u8]) -> Option<Result<OwnedFd, Errno>> {
    let (whole, number) = split(directory, path, b"/fdinfo")?;
    let world = world::known()?;
    let link = rebuilt(&[&whole, b"/fd/", &number])?;
    let socket = PathText::of_link(&link)?;
    let inode = inode_of(socket.as_bytes())?;
    let driver = calls::call_for_descriptor(world, Call::Fdinfo, 0, [inode, 0, 0]).ok()?;
    let real = rebuilt(&[&whole, b"/fdinfo/", &number])?;
    Some(joined(&real, driver))
}

/// Returns the minor number of the node behind a path such as `/proc/self/fd/7`.
pub(super) fn node(directory: c_int, path: &[u8]) -> Option<u32> {
    let (whole, number) = split(directory, path, b"/fd")?;
    let world = world::known()?;
    let target = PathText::of_link(&rebuilt(&[&whole, b"/fd/", &number])?)?;
    // A descriptor that only names the node (`O_PATH`) is one of the file that stands for it.
    if let Some(path) = paths::inside(world, target.as_bytes()) {
        return paths::node_minor(path);
    }
    let inode = inode_of(target.as_bytes())?;
    let answer = calls::call(world, &Message::new(Call::Inode, 0, [inode, 0, 0])).ok()?;
    u32::try_from(answer.value).ok()
}

/// The directory of the process and the number of the descriptor; `None` for what cannot be a path of that kind.
fn split(directory: c_int, path: &[u8], kind: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let whole = if path.starts_with(b"/") {
        path.to_vec()
    } else {
        // A look at the descriptor costs a system call, so only names that can be meant get one.
        let last = path.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
        let plain = directory != libc::AT_FDCWD && !last.is_empty() && last.iter().all(u8::is_ascii_digit);
        let at = plain.then(|| PathText::of_descriptor(directory)).flatten()?;
        [at.as_bytes(), b"/", path].concat()
    };
    let slash = whole.iter().rposition(|&byte| byte == b'/')?;
    let (process, number) = (whole.get(..slash)?.strip_suffix(kind)?, whole.get(slash + 1..)?);
    let known = process.starts_with(b"/proc/") && !number.is_empty() && number.iter().all(u8::is_ascii_digit);
    known.then(|| (process.to_vec(), number.to_vec()))
}

fn rebuilt(parts: &[&[u8]]) -> Option<PathText> {
    let mut text = PathText::new();
    parts.iter().try_for_each(|part| text.push(part)).ok().map(|()| text)
}

/// The inode in a link such as `socket:[42]`.
pub(super) fn inode_of(link: &[u8]) -> Option<u64> {
    let digits = link.strip_prefix(b"socket:[")?.strip_suffix(b"]")?;
    std::str::from_utf8(digits).ok()?.parse().ok()
}

fn joined(real: &PathText, driver: OwnedFd) -> Result<OwnedFd, Errno> {
    // SAFETY: the path is a C string.
    let number = unsafe { real::open(real.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC, 0) };
    Errno::result(number)?;
    // SAFETY: the descriptor was just opened, and no other code knows its number.
    let generic = unsafe { OwnedFd::from_raw_fd(number) };
    let mut text = Vec::new();
    let read = File::from(generic).read_to_end(&mut text).and_then(|_| File::from(driver).read_to_end(&mut text));
    read.map_err(|error| Errno::from_raw(error.raw_os_error().unwrap_or(libc::EIO)))?;
    text_file(c"fdinfo", &text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_fdinfo_are_looked_at() {
        let found = split(libc::AT_FDCWD, b"/proc/self/fdinfo/7", b"/fdinfo");
        assert_eq!(found, Some((b"/proc/self".to_vec(), b"7".to_vec())));
        assert_eq!(split(libc::AT_FDCWD, b"/proc/9/fd/7", b"/fd"), Some((b"/proc/9".to_vec(), b"7".to_vec())));
        for other in ["/proc/self/fdinfo/", "/proc/self/fdinfo/7x", "/proc/self/fd/7", "/tmp/fdinfo/7", "7", "fdinfo/7"]
        {
            assert_eq!(split(libc::AT_FDCWD, other.as_bytes(), b"/fdinfo"), None, "{other}");
        }
    }

    #[test]
    fn a_socket_is_known_by_its_link() {
        assert_eq!(inode_of(b"socket:[42]"), Some(42));
        assert_eq!(inode_of(b"pipe:[42]"), None);
        assert_eq!(inode_of(b"/dev/null"), None);
    }
}
