//! Access to sysfs and proc: those of this computer, of a captured tree, or of a simulated machine.

mod disk;

use std::{cell::RefCell, collections::BTreeMap, io};

pub use self::disk::{Disk, Kept};

/// The maximum number of bytes that are read from a file. Files of sysfs and proc are shorter.
const MOST_BYTES: u64 = 1 << 20;

/// A tree of files. Paths are relative to its root, such as `proc/1/comm`.
pub trait Files {
    /// Reads the first MiB of a file as text. Bytes that are not UTF-8 become replacement characters.
    ///
    /// # Errors
    ///
    /// The errors of opening and reading the file.
    fn read(&self, path: &str) -> io::Result<String>;

    /// Replaces `bytes` with the contents of a file that the kernel produces in one piece, such as the files of `/proc/PID` that
    /// are read here (Linux 6.12 `fs/proc/base.c` and `fs/proc/fd.c`, `single_open`). This saves the system call that detects the
    /// end of the file.
    ///
    /// # Errors
    ///
    /// The errors of opening and reading the file.
    fn read_piece(&self, path: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
        *bytes = self.read(path)?.into_bytes();
        Ok(())
    }

    /// Opens a file of `/proc/PID` for repeated reading; `None` if this is not possible or saves nothing.
    fn keep(&self, _path: &str) -> Option<Kept> {
        None
    }

    /// Returns the target of a symbolic link.
    ///
    /// # Errors
    ///
    /// The errors of `readlink`.
    fn link(&self, path: &str) -> io::Result<String>;

    /// Returns the names of a directory's symbolic links whose targets begin with `prefix`, in any order.
    ///
    /// # Errors
    ///
    /// The errors of `readdir`. A link that cannot be read, for example because it no longer exists, is omitted.
    fn links_to(&self, path: &str, prefix: &str) -> io::Result<Vec<String>> {
        let mut names = self.list(path)?;
        names.retain(|name| self.link(&format!("{path}/{name}")).is_ok_and(|target| target.starts_with(prefix)));
        Ok(names)
    }

    /// Returns the names in a directory, in any order.
    ///
    /// # Errors
    ///
    /// The errors of `readdir`.
    fn list(&self, path: &str) -> io::Result<Vec<String>>;

    /// Returns a value that changes whenever the contents of a directory may have changed; `None` if the tree has no such value.
    ///
    /// For `/proc/PID/fd` it consists of the inode, which changes when the process ID is reused, and the size. Since Linux 6.2 the
    /// size is the number of open descriptors (`fs/proc/fd.c`, `proc_fd_getattr`); before that it is always 0.
    ///
    /// # Errors
    ///
    /// The errors of `stat`.
    fn stamp(&self, path: &str) -> io::Result<Option<Stamp>>;
}

/// A value that changes whenever the contents of a directory may have changed, returned by [`Files::stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    size: u64,
}

impl Stamp {
    /// Returns `true` if the kernel reports the size. Returns `false` for a size of 0, because old kernels always report 0.
    pub const fn tells(&self) -> bool {
        self.size > 0
    }
}

/// A tree of files in memory, for simulated machines and tests.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    entries: BTreeMap<String, Entry>,
}

/// An entry of a tree in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file with its text.
    File(String),
    /// A symbolic link with its target.
    Link(String),
    /// An entry that the process has no permission to read.
    Denied,
}

impl Memory {
    /// Adds a file with the given text, and replaces any entry at this path.
    pub fn put(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.entries.insert(path.into(), Entry::File(text.into()));
    }

    /// Adds an entry, and replaces any entry at this path.
    pub fn put_entry(&mut self, path: impl Into<String>, entry: Entry) {
        self.entries.insert(path.into(), entry);
    }

    /// Removes the entry at a path and all entries below it.
    pub fn remove(&mut self, path: &str) {
        let below = format!("{path}/");
        self.entries.retain(|name, _| name != path && !name.starts_with(&below));
    }

    fn get(&self, path: &str) -> io::Result<&Entry> {
        match self.entries.get(path) {
            Some(Entry::Denied) => Err(io::ErrorKind::PermissionDenied.into()),
            Some(entry) => Ok(entry),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

impl Files for Memory {
    fn read(&self, path: &str) -> io::Result<String> {
        match self.get(path)? {
            Entry::File(text) => Ok(text.clone()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn link(&self, path: &str) -> io::Result<String> {
        match self.get(path)? {
            Entry::Link(target) => Ok(target.clone()),
            _ => Err(io::ErrorKind::InvalidInput.into()),
        }
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        if self.entries.get(path) == Some(&Entry::Denied) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        let below = format!("{path}/");
        let inside = self.entries.range(below.clone()..).take_while(|(name, _)| name.starts_with(&below));
        let first = |name: &str| name.get(below.len()..)?.split('/').next().map(str::to_owned);
        let mut names: Vec<String> = inside.filter_map(|(name, _)| first(name)).collect();
        names.dedup();
        if names.is_empty() { Err(io::ErrorKind::NotFound.into()) } else { Ok(names) }
    }

    fn stamp(&self, path: &str) -> io::Result<Option<Stamp>> {
        self.list(path).map(|_| None)
    }
}

/// A wrapper of a tree that remembers all files and links read through it, which a captured tree must contain to give the same
/// results.
pub struct Tee<F> {
    inner: F,
    seen: RefCell<Memory>,
}

impl<F: Files> Tee<F> {
    /// Wraps a tree. Nothing has been read yet.
    pub fn new(inner: F) -> Self {
        Self { inner, seen: RefCell::default() }
    }

    /// Returns all entries read so far, by path.
    pub fn seen(&self) -> BTreeMap<String, Entry> {
        self.seen.borrow().entries.clone()
    }
}

impl<F: Files> Files for Tee<F> {
    fn read(&self, path: &str) -> io::Result<String> {
        let text = self.inner.read(path)?;
        self.seen.borrow_mut().put(path, text.clone());
        Ok(text)
    }

    fn link(&self, path: &str) -> io::Result<String> {
        let target = self.inner.link(path)?;
        self.seen.borrow_mut().put_entry(path, Entry::Link(target.clone()));
        Ok(target)
    }

    fn list(&self, path: &str) -> io::Result<Vec<String>> {
        self.inner.list(path)
    }

    fn stamp(&self, path: &str) -> io::Result<Option<Stamp>> {
        self.inner.stamp(path)
    }
}

/// Returns the reason for an I/O error in a few words, for messages and for the JSON output.
pub fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound if error.get_ref().is_none() => "not there".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tree_in_memory_lists_each_name_once() {
        let mut tree = Memory::default();
        tree.put("proc/1/comm", "init\n");
        tree.put("proc/1/stat", "");
        tree.put("proc/20/comm", "");
        tree.put_entry("proc/20/fd", Entry::Denied);
        assert_eq!(tree.list("proc").unwrap(), ["1", "20"]);
        assert_eq!(tree.read("proc/1/comm").unwrap(), "init\n");
        assert_eq!(tree.list("proc/20/fd").unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(tree.list("sys").unwrap_err().kind(), io::ErrorKind::NotFound);
        tree.remove("proc/1");
        assert_eq!(tree.list("proc").unwrap(), ["20"]);
    }

    #[test]
    fn a_tee_remembers_what_was_read_and_nothing_else() {
        let mut tree = Memory::default();
        tree.put("a/b", "text");
        tree.put("a/c", "secret");
        let tee = Tee::new(tree);
        tee.read("a/b").unwrap();
        assert!(tee.read("a/x").is_err());
        assert_eq!(tee.seen(), BTreeMap::from([("a/b".to_owned(), Entry::File("text".to_owned()))]));
    }
}
