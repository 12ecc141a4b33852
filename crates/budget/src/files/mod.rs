//! Reading sysfs and proc: the real ones, a captured tree, or a simulated machine's.

mod disk;

use std::{cell::RefCell, collections::BTreeMap, io};

pub use self::disk::{Disk, Kept};

/// At most this much of one file is read: what sysfs and proc say is shorter.
const MOST_BYTES: u64 = 1 << 20;

/// A tree of files. Paths are absolute within it, without the leading slash: `proc/1/comm`.
pub trait Files {
    /// A file's text; bytes that are no UTF-8 become replacement characters, and what is beyond a MiB is cut.
    ///
    /// # Errors
    ///
    /// Those of opening and reading.
    fn read(&self, path: &str) -> io::Result<String>;

    /// A file's bytes in place of what `bytes` held, of a file that the kernel writes in one piece: those of `/proc/PID` that
    /// are read here are such (Linux 6.12 `fs/proc/base.c` and `fs/proc/fd.c`, `single_open`). It saves asking for its end.
    ///
    /// # Errors
    ///
    /// Those of opening and reading.
    fn read_piece(&self, path: &str, bytes: &mut Vec<u8>) -> io::Result<()> {
        *bytes = self.read(path)?.into_bytes();
        Ok(())
    }

    /// Opens a file of `/proc/PID` to read it again and again; nothing where that saves nothing, or cannot be.
    fn keep(&self, _path: &str) -> Option<Kept> {
        None
    }

    /// Returns the target of a link.
    ///
    /// # Errors
    ///
    /// Those of `readlink`.
    fn link(&self, path: &str) -> io::Result<String>;

    /// The names in a directory, in no order, of links to places whose names begin with `prefix`.
    ///
    /// # Errors
    ///
    /// Those of `readdir`. A link that is gone by now, or cannot be read, is none.
    fn links_to(&self, path: &str, prefix: &str) -> io::Result<Vec<String>> {
        let mut names = self.list(path)?;
        names.retain(|name| self.link(&format!("{path}/{name}")).is_ok_and(|target| target.starts_with(prefix)));
        Ok(names)
    }

    /// The names in a directory, in no order.
    ///
    /// # Errors
    ///
    /// Those of `readdir`.
    fn list(&self, path: &str) -> io::Result<Vec<String>>;

    /// Something that changes when a directory's contents may have; `None` where nothing says so.
    ///
    /// For `/proc/PID/fd` that is the inode, which differs when the number of the process is used again, and the size: the
    /// number of open descriptors since Linux 6.2 (`fs/proc/fd.c`, `proc_fd_getattr`), always 0 before.
    ///
    /// # Errors
    ///
    /// Those of `stat`.
    fn stamp(&self, path: &str) -> io::Result<Option<Stamp>>;
}

/// See [`Files::stamp`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    size: u64,
}

impl Stamp {
    /// Returns `true` if a size of 0 may mean that this kernel does not report it.
    pub const fn tells(&self) -> bool {
        self.size > 0
    }
}

/// A tree in memory: a simulated machine's, or one that a test makes up.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    entries: BTreeMap<String, Entry>,
}

/// A directory entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A file and its text.
    File(String),
    /// A link and where it leads.
    Link(String),
    /// Something that may not be looked at.
    Denied,
}

impl Memory {
    /// Puts a file, in place of what was there.
    pub fn put(&mut self, path: impl Into<String>, text: impl Into<String>) {
        self.entries.insert(path.into(), Entry::File(text.into()));
    }

    /// Puts anything.
    pub fn put_entry(&mut self, path: impl Into<String>, entry: Entry) {
        self.entries.insert(path.into(), entry);
    }

    /// Takes everything at and below a path away.
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

/// Files that remember everything that is read through them: what a captured tree must hold to give the same answers.
pub struct Tee<F> {
    inner: F,
    seen: RefCell<Memory>,
}

impl<F: Files> Tee<F> {
    /// Wraps a tree.
    pub fn new(inner: F) -> Self {
        Self { inner, seen: RefCell::default() }
    }

    /// Returns everything read so far, by path.
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

/// Writes the reason of a failure in few words, for people and for `null`'s neighbour.
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
