//! A directory of numbered files, of which only the latest are kept.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    os::unix::fs::FileExt as _,
    path::{Path, PathBuf},
};

use parking_lot::Mutex;

/// The name of the file that processes lock. It contains the next number and a ring buffer of the names of existing files.
const RING: &str = ".ring";
/// The size of a record of that file in bytes: text, padded with spaces, and a line feed.
const RECORD: usize = 96;

/// A directory of files whose names start with increasing numbers, shared by all processes that write there. If the number of files
/// is limited, the oldest file is removed for each new one.
#[derive(Debug)]
pub(super) struct CaptureDirectory {
    path: PathBuf,
    /// The number of files to keep; 0 for all.
    keep: u64,
    ring: Mutex<Option<File>>,
}

impl CaptureDirectory {
    /// Creates the value without touching the directory, which is created with the first file. The latest `keep` files are kept, or
    /// all if `keep` is 0.
    pub(super) const fn new(path: PathBuf, keep: u64) -> Self {
        Self { path, keep, ring: Mutex::new(None) }
    }

    /// Returns the path for messages.
    pub(super) fn path(&self) -> std::path::Display<'_> {
        self.path.display()
    }

    /// Writes a file whose name is the next number, a dash and `name`, and returns the name.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> io::Result<String> {
        let mut open = self.ring.lock();
        let result = self.write_locked(&mut open, name, content);
        if result.is_err() {
            // The directory may have been replaced in the meantime.
            *open = None;
        }
        result
    }

    fn write_locked(&self, open: &mut Option<File>, name: &str, content: &[u8]) -> io::Result<String> {
        let ring = if let Some(ring) = open {
            ring
        } else {
            fs::create_dir_all(&self.path)?;
            let ring = self.path.join(RING);
            open.insert(OpenOptions::new().read(true).write(true).create(true).truncate(false).open(ring)?)
        };
        ring.lock()?;
        let result = self.add(ring, name, content);
        ring.unlock()?;
        result
    }

    /// Writes a file while the ring file is locked.
    fn add(&self, ring: &File, name: &str, content: &[u8]) -> io::Result<String> {
        let number = match self.next(ring) {
            Some(number) => number,
            None => self.begin(ring)?,
        };
        let name = format!("{number:06}-{name}");
        if self.keep > 0 {
            let slot = 1 + number % self.keep;
            if let Some(old) = read(ring, slot).filter(|old| number_of(old).is_some()) {
                remove(&self.path.join(old))?;
            }
            write(ring, slot, &name)?;
        }
        write(ring, 0, &format!("{} {}", number + 1, self.keep))?;
        amdgpu_output::files::write(&self.path.join(&name), content)?;
        Ok(name)
    }

    /// Returns the next number; `None` if the ring file is new or was created for another number of files.
    fn next(&self, ring: &File) -> Option<u64> {
        let head = read(ring, 0)?;
        let (next, keep) = head.split_once(' ')?;
        (keep.parse() == Ok(self.keep)).then(|| next.parse().ok())?
    }

    /// Creates the ring file anew from the files of the directory, and returns the next number.
    fn begin(&self, ring: &File) -> io::Result<u64> {
        ring.set_len(0)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string().ok().and_then(|name| Some((number_of(&name)?, name))));
        }
        names.sort();
        let next = names.last().map_or(0, |last| last.0 + 1);
        if self.keep > 0 {
            for (number, name) in names {
                if next - number > self.keep {
                    remove(&self.path.join(name))?;
                } else {
                    write(ring, 1 + number % self.keep, &name)?;
                }
            }
        }
        Ok(next)
    }
}

/// Returns the number at the start of a captured file's name.
fn number_of(name: &str) -> Option<u64> {
    let is_plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
    let (number, rest) = name.split_once('-')?;
    let extension = Path::new(rest).extension()?;
    let is_capture = extension == "ib" || extension == "bin";
    (is_plain && is_capture && number.len() >= 6).then(|| number.parse().ok())?
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        // The user may have removed it.
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

/// Reads a record of the ring file; `None` if there is none.
fn read(ring: &File, record: u64) -> Option<String> {
    let mut bytes = [0; RECORD];
    ring.read_exact_at(&mut bytes, record * RECORD as u64).ok()?;
    let text = str::from_utf8(&bytes).ok()?.trim_end_matches(['\n', ' ', '\0']);
    Some(text.to_owned()).filter(|text| !text.is_empty())
}

fn write(ring: &File, record: u64, text: &str) -> io::Result<()> {
    let line = format!("{text:<width$}\n", width = RECORD - 1);
    ring.write_all_at(line.as_bytes(), record * RECORD as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("amdgpu-sim-captures-{name}-{}", std::process::id()));
            let _ = fs::remove_dir_all(&path);
            Self(path)
        }

        fn names(&self) -> Vec<String> {
            let names = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<_> = names.filter(|name| name != RING).collect();
            names.sort();
            names
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn the_last_files_stay() {
        let scratch = Scratch::new("last");
        let directory = CaptureDirectory::new(scratch.0.clone(), 3);
        for number in 0..8 {
            directory.write(&format!("{number}.ib"), b"dwords").unwrap();
            assert!(scratch.names().len() <= 3);
        }
        assert_eq!(scratch.names(), ["000005-5.ib", "000006-6.ib", "000007-7.ib"]);
    }

    #[test]
    fn all_files_stay_where_no_number_is_given() {
        let scratch = Scratch::new("all");
        let directory = CaptureDirectory::new(scratch.0.clone(), 0);
        (0..50).for_each(|_| drop(directory.write("x.ib", b"").unwrap()));
        assert_eq!(scratch.names().len(), 50);
    }

    #[test]
    fn writers_of_a_directory_share_its_numbers_and_its_bound() {
        let scratch = Scratch::new("shared");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let directory = CaptureDirectory::new(scratch.0.clone(), 10);
                scope.spawn(move || (0..25).for_each(|_| drop(directory.write(&format!("{writer}.ib"), b"").unwrap())));
            }
        });
        let names = scratch.names();
        let numbers: Vec<_> = names.iter().filter_map(|name| number_of(name)).collect();
        assert_eq!(numbers, (90..100).collect::<Vec<_>>());
    }

    #[test]
    fn a_later_run_with_another_bound_goes_on_with_what_is_there() {
        let scratch = Scratch::new("later");
        let run = |keep, files| {
            let directory = CaptureDirectory::new(scratch.0.clone(), keep);
            (0..files).for_each(|_| drop(directory.write("x.ib", b"").unwrap()));
            scratch.names().iter().filter_map(|name| number_of(name)).collect::<Vec<_>>()
        };
        assert_eq!(run(0, 5), [0, 1, 2, 3, 4]);
        assert_eq!(run(3, 1), [3, 4, 5]);
        assert_eq!(run(4, 1), [3, 4, 5, 6]);
        assert_eq!(run(0, 1), [3, 4, 5, 6, 7]);
    }

    #[test]
    fn files_of_others_and_a_broken_ring_do_no_harm() {
        let scratch = Scratch::new("others");
        fs::create_dir_all(&scratch.0).unwrap();
        for name in ["notes-1.txt", "000001-notes.txt", "a-b.ib"] {
            fs::write(scratch.0.join(name), "mine").unwrap();
        }
        fs::write(scratch.0.join(RING), "5 1\n../../../etc/passwd\n").unwrap();
        let directory = CaptureDirectory::new(scratch.0.clone(), 1);
        (0..3).for_each(|_| drop(directory.write("x.ib", b"").unwrap()));
        let names = scratch.names();
        assert_eq!(names, ["000001-notes.txt", "000002-x.ib", "a-b.ib", "notes-1.txt"]);
        fs::remove_dir_all(&scratch.0).unwrap();
        // The directory is deleted: the next write fails, and the one after it creates the directory again.
        let _ = directory.write("x.ib", b"");
        directory.write("x.ib", b"").unwrap();
        assert!(!scratch.names().is_empty());
    }
}
