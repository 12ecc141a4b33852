//! A tree on disk, read with few system calls, because `top` reads a thousand files of `/proc` per second.

use std::{
    ffi::{CString, OsString},
    fs::{self, File, OpenOptions},
    io::{self, Read as _},
    os::unix::{
        ffi::OsStringExt as _,
        fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _},
    },
    path::{Path, PathBuf},
};

use super::{Files, MOST_BYTES, Stamp};
use crate::seam;

/// Buffer size that fits most files of `/proc` and any fdinfo, bytes.
const PIECE: usize = 4096;
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
fn read_piece(file: &File, bytes: &mut Vec<u8>) -> io::Result<()> {
    bytes.clear();
    loop {
        let at = bytes.len();
        let room = at.max(PIECE);
        bytes.resize(at + room, 0);
        let read = read_at(file, &mut bytes[at..], at as u64);
        bytes.truncate(at + read.as_ref().map_or(0, |&got| got));
        if read? < room || bytes.len() as u64 >= MOST_BYTES {
            return Ok(());
        }
    }
}

/// Reads once, however often signals interrupt it.
fn read_at(file: &File, bytes: &mut [u8], at: u64) -> io::Result<usize> {
    loop {
        match file.read_at(bytes, at) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

/// Opens a file without waiting for a writer, and refuses what is no regular file: a captured tree may hold a FIFO, which
/// would never end.
fn open_regular(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "no regular file"))
}

fn open_directory(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECTORY).open(path)
}

/// A name as text. What is no UTF-8 is replaced.
fn text(name: OsString) -> String {
    name.into_string().unwrap_or_else(|name| name.to_string_lossy().into_owned())
}

impl Files for Disk {
    fn read(&self, path: &str) -> io::Result<String> {
        let mut bytes = Vec::with_capacity(PIECE);
        open_regular(&self.root.join(path))?.take(MOST_BYTES).read_to_end(&mut bytes)?;
        Ok(String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
    }

    fn read_piece(&self, path: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
        read_piece(&open_regular(&self.root.join(path))?, bytes)
    }

    fn keep(&self, path: &str) -> Option<Kept> {
        open_regular(&self.root.join(path)).ok().map(Kept)
    }

    fn link(&self, path: &str) -> io::Result<String> {
        fs::read_link(self.root.join(path)).map(|target| target.to_string_lossy().into_owned())
    }

    fn links_to(&self, path: &str, prefix: &str) -> io::Result<Vec<String>> {
        let (directory, mut names) = (self.root.join(path), Vec::new());
        let (opened, mut target) = (open_directory(&directory)?, [0; MOST_PREFIX]);
        for entry in fs::read_dir(&directory)? {
            let Ok(name) = CString::new(entry?.file_name().into_vec()) else { continue };
            // What is cut begins no differently.
            if seam::link(&opened, &name, &mut target).is_ok_and(|target| target.starts_with(prefix.as_bytes())) {
                names.push(text(OsString::from_vec(name.into_bytes())));
            }
        }
        Ok(names)
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        fs::read_dir(self.root.join(path))?.map(|entry| Ok(text(entry?.file_name()))).collect()
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
        let mut options = OpenOptions::new();
        options.read(true).write(true).custom_flags(libc::O_TMPFILE).open(std::env::temp_dir()).unwrap()
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
