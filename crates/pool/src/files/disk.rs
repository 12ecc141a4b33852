//! A tree on disk, read with few system calls, because `top` reads a thousand files of `/proc` per second.

use std::{
    ffi::CStr,
    fs::{self, File},
    io::{self, Read as _},
    mem::MaybeUninit,
    os::{
        fd::{AsFd, OwnedFd},
        unix::fs::MetadataExt as _,
    },
    path::{Path, PathBuf},
};

use rustix::{
    buffer::spare_capacity,
    fs::{CWD, Mode, OFlags, RawDir, openat, readlinkat_raw},
    io::retry_on_intr,
};

use super::{Files, MOST_BYTES, Stamp};

/// Buffer size that fits most files of `/proc` and any fdinfo, bytes.
const PIECE: usize = 4096;
/// The names of some hundred processes or descriptors.
const NAMES: usize = 16 << 10;
/// Longest part of a link's target that is read, bytes.
const MOST_PREFIX: usize = 64;

/// A tree of files on disk: `/`, or the directory of a capture.
#[derive(Clone, Debug)]
pub struct Disk {
    root: PathBuf,
}

impl Disk {
    /// Creates a view of the tree below `root`.
    pub fn new(root: &Path) -> Self {
        Self { root: root.to_owned() }
    }
}

/// A file of `/proc` that stays open, so that it can be reread with one system call.
///
/// The contents always belong to the process for which the file was opened, even if its process ID is reused: the inode identifies
/// the process, and after its end the kernel returns ESRCH or ENOENT (Linux 6.12 `fs/proc/fd.c`, `seq_show`).
#[derive(Debug)]
pub struct Kept(File);

impl Kept {
    /// Reads the current contents of the file into `bytes`, and replaces its previous contents.
    ///
    /// # Errors
    ///
    /// The errors of `pread`.
    pub fn read(&self, bytes: &mut Vec<u8>) -> io::Result<()> {
        read_piece(&self.0, bytes)
    }
}

/// Reads a file that is written in one piece. A short read was the last one: it saves the read that would
/// return 0.
fn read_piece(file: impl AsFd, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    loop {
        bytes.reserve(PIECE);
        let (at, room) = (bytes.len() as u64, bytes.capacity() - bytes.len());
        let got = retry_on_intr(|| rustix::io::pread(&file, spare_capacity(bytes), at))?;
        if got < room || bytes.len() as u64 >= MOST_BYTES {
            return Ok(());
        }
    }
}

/// Opens a file without waiting for a writer, and refuses what is no regular file: a captured tree may hold a FIFO, which
/// would never end.
fn open_regular(path: &Path) -> io::Result<File> {
    let file = File::from(openat(CWD, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?);
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"))
}

fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    Ok(openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?)
}

/// All names but those of the directory itself and its parent.
fn each_name(directory: &OwnedFd, mut with: impl FnMut(&CStr)) -> io::Result<()> {
    let mut buffer = Vec::with_capacity(NAMES);
    let mut entries = RawDir::new(directory, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        let entry = entry?;
        if ![c".", c".."].contains(&entry.file_name()) {
            with(entry.file_name());
        }
    }
    Ok(())
}

impl Files for Disk {
    fn read(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::with_capacity(PIECE);
        open_regular(&self.root.join(path))?.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn read_piece(&self, path: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
        read_piece(open_regular(&self.root.join(path))?, bytes)
    }

    fn keep(&self, path: &str) -> Option<Kept> {
        open_regular(&self.root.join(path)).ok().map(Kept)
    }

    fn link(&self, path: &str) -> io::Result<String> {
        fs::read_link(self.root.join(path)).map(|target| target.to_string_lossy().into_owned())
    }

    fn links_to(&self, path: &str, prefix: &str) -> io::Result<Vec<String>> {
        let (directory, mut names) = (open_directory(&self.root.join(path))?, Vec::new());
        let mut target = [MaybeUninit::uninit(); MOST_PREFIX];
        each_name(&directory, |name| {
            // What is cut begins no differently.
            let read = readlinkat_raw(&directory, name, &mut target);
            if read.is_ok_and(|(target, _)| target.starts_with(prefix.as_bytes())) {
                names.push(name.to_string_lossy().into_owned());
            }
        })?;
        Ok(names)
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        each_name(&open_directory(&self.root.join(path))?, |name| names.push(name.to_string_lossy().into_owned()))?;
        Ok(names)
    }

    fn stamp(&self, path: &str) -> io::Result<Option<Stamp>> {
        let found = fs::metadata(self.root.join(path))?;
        // A directory of a captured tree is an ordinary one, whose size says nothing but whose time does.
        let size = found.size().wrapping_add(found.mtime_nsec().cast_unsigned() << 8);
        Ok(Some(Stamp { inode: found.ino(), size: if found.size() == 0 { 0 } else { size } }))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    fn a_kept_file_says_what_it_says_now_however_long_that_is() {
        let mut file = tempfile();
        let kept = Kept(file.try_clone().unwrap());
        let mut bytes = b"what was there before".to_vec();
        for len in [0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE] {
            let text = vec![b'x'; len];
            file.set_len(0).unwrap();
            io::Seek::rewind(&mut file).unwrap();
            file.write_all(&text).unwrap();
            kept.read(&mut bytes).unwrap();
            assert_eq!(bytes, text, "{len}");
        }
        file.set_len(MOST_BYTES * 3).unwrap();
        kept.read(&mut bytes).unwrap();
        assert!((MOST_BYTES..2 * MOST_BYTES + PIECE as u64).contains(&(bytes.len() as u64)));
    }

    /// A file without a name.
    fn tempfile() -> File {
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        openat(CWD, std::env::temp_dir(), flags, Mode::RUSR | Mode::WUSR).unwrap().into()
    }

    #[test]
    fn links_are_found_by_where_they_lead() {
        let disk = Disk::new(Path::new("/"));
        let null = File::open("/dev/null").unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&null).to_string();
        let own = format!("proc/{}/fd", std::process::id());
        assert!(disk.links_to(&own, "/dev/null").unwrap().contains(&number));
        assert!(!disk.links_to(&own, "/dev/dri/").unwrap().contains(&number));
        assert_eq!(disk.links_to("proc/nothing", "/").unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn the_own_process_is_listed_and_read() {
        let disk = Disk::new(Path::new("/"));
        let own = format!("proc/{}", std::process::id());
        assert!(disk.list("proc").unwrap().contains(&std::process::id().to_string()));
        assert!(disk.list(&format!("{own}/fd")).unwrap().iter().all(|name| name.parse::<u32>().is_ok()));
        let (mut once, kept) = (Vec::new(), disk.keep(&format!("{own}/comm")).unwrap());
        disk.read_piece(&format!("{own}/comm"), &mut once).unwrap();
        let mut again = Vec::new();
        kept.read(&mut again).unwrap();
        kept.read(&mut again).unwrap();
        assert_eq!((&*once, &*again), (disk.read(&format!("{own}/comm")).unwrap().as_bytes(), &*once));
        assert!(disk.keep(&format!("{own}/nothing")).is_none());
    }
}
