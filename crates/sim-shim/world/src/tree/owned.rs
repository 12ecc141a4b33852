//! Directories that servers own: how they are made, known again, and removed.
//!
//! Their parents are shared with everybody's files, so a name alone says nothing. A server's directory holds a marker, which repeats
//! the six letters that only the making of the directory chose, and it is locked as long as its server lives.

use std::{
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::unix::fs::{MetadataExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::Duration,
};

use nix::{
    errno::Errno,
    fcntl::{Flock, FlockArg, OFlag, openat},
    sys::stat::Mode,
};

/// Names of world directories start with this, and six letters follow. None has that name before it is locked.
const PREFIX: &str = "amdgpu-sim.";
/// Names of directories that are not locked yet.
const UNLOCKED: &str = ".amdgpu-sim-new.";
/// A directory of such a name that is younger than this may be about to be locked.
const SETTLING: Duration = Duration::from_mins(1);
/// Names that are tried before the parent is given up.
const ATTEMPTS: usize = 8;
/// The file that makes a directory a server's. It is the first that is written and the last that is removed.
const MARKER: &str = "amdgpu-sim-world";
/// The number of letters that `mkdtemp` chooses.
const LETTERS: usize = 6;

/// Returns the text of the marker in the directory whose name ends with these letters.
fn marker(letters: &str) -> String {
    format!(
        "This directory belongs to a world of amdgpu-sim, which removes it with all that is in it.\nformat 1 {letters}\n"
    )
}

/// Creates a new directory for this user alone, marks and locks it.
pub(super) fn create(parent: &Path) -> io::Result<(PathBuf, Flock<File>)> {
    let mut result = Err(io::Error::from(io::ErrorKind::AlreadyExists));
    for _ in 0..ATTEMPTS {
        let unlocked = nix::unistd::mkdtemp(&parent.join(format!("{UNLOCKED}XXXXXX")))?;
        result = settle(&unlocked);
        if result.is_ok() {
            break;
        }
        // The name is taken, or nothing can be written.
        let _ = fs::remove_file(unlocked.join(MARKER));
        let _ = fs::remove_dir(&unlocked);
    }
    result
}

/// Marks and locks a new directory, and gives it its name.
fn settle(unlocked: &Path) -> io::Result<(PathBuf, Flock<File>)> {
    let name = unlocked.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let letters = letters_of(&name).ok_or(io::ErrorKind::InvalidFilename)?;
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(unlocked.join(MARKER))?;
    file.write_all(marker(letters).as_bytes())?;
    let lock = lock(open(unlocked)?)?;
    let named = unlocked.with_file_name(format!("{PREFIX}{letters}"));
    // Another directory is replaced by a rename if it is empty.
    if fs::symlink_metadata(&named).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    fs::rename(unlocked, &named)?;
    Ok((named, lock))
}

/// Returns the letters in the name of a directory of a server; `None` for other names.
fn letters_of(name: &str) -> Option<&str> {
    let letters = name.strip_prefix(UNLOCKED).or_else(|| name.strip_prefix(PREFIX))?;
    (letters.len() == LETTERS && letters.bytes().all(|letter| letter.is_ascii_alphanumeric())).then_some(letters)
}

/// Opens a directory, and nothing that a link leads to.
fn open(directory: &Path) -> io::Result<File> {
    File::options().read(true).custom_flags(libc::O_DIRECTORY | libc::O_NOFOLLOW).open(directory)
}

fn lock(directory: File) -> io::Result<Flock<File>> {
    Flock::lock(directory, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno.into())
}

/// Removes what killed servers of this user left behind in a directory.
pub(super) fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let Some(letters) = letters_of(&name) else { continue };
        if name.starts_with(UNLOCKED) && !is_old(&entry.path()) {
            continue;
        }
        // Locked meanwhile, so that no other process removes it.
        let Some(_lock) = take_over(&entry.path(), letters) else { continue };
        if let Err(error) = remove(&entry.path()) {
            tracing::debug!(%error, "a dead world's directory stays behind");
        }
    }
}

/// Returns the lock of a directory that a server of this user's has made and that has lost its owner.
fn take_over(directory: &Path, letters: &str) -> Option<Flock<File>> {
    let opened = open(directory).ok()?;
    let about = opened.metadata().ok()?;
    let is_ours = about.uid() == nix::unistd::geteuid().as_raw();
    if !is_ours || !is_marked(&opened, letters) {
        return None;
    }
    let lock = lock(opened).ok()?;
    // Another may have taken its place before it was locked.
    let now = fs::symlink_metadata(directory).ok()?;
    ((now.dev(), now.ino()) == (about.dev(), about.ino())).then_some(lock)
}

/// Returns `true` if a directory holds the marker of a server, as a file of this user's.
fn is_marked(directory: &File, letters: &str) -> bool {
    let flags = OFlag::O_RDONLY | OFlag::O_NOFOLLOW | OFlag::O_NONBLOCK | OFlag::O_CLOEXEC;
    let found = openat(directory, MARKER, flags, Mode::empty()).map(File::from);
    let read = found.map_err(io::Error::from).and_then(|file| {
        let about = file.metadata()?;
        if !about.is_file() || about.uid() != nix::unistd::geteuid().as_raw() {
            return Err(Errno::EPERM.into());
        }
        let mut text = String::new();
        (&file).take(1 << 10).read_to_string(&mut text)?;
        Ok(text)
    });
    read.is_ok_and(|text| text == marker(letters))
}

/// Removes the directory of a server: the marker last, so that what is left of an interrupted removal is known again. Links are
/// removed and not followed.
pub(super) fn remove(directory: &Path) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_name() == MARKER {
            continue;
        }
        if entry.file_type()?.is_dir() {
            fs::remove_dir_all(entry.path())?;
        } else {
            fs::remove_file(entry.path())?;
        }
    }
    fs::remove_file(directory.join(MARKER))?;
    fs::remove_dir(directory)
}

fn is_old(directory: &Path) -> bool {
    let modified = fs::symlink_metadata(directory).and_then(|about| about.modified());
    modified.ok().and_then(|then| then.elapsed().ok()).is_some_and(|age| age > SETTLING)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A directory that is removed with all in it.
    struct Parent(PathBuf);

    impl Parent {
        fn new() -> Self {
            Self(nix::unistd::mkdtemp(&std::env::temp_dir().join("amdgpu-sweep.XXXXXX")).unwrap())
        }

        /// A directory with a file that somebody wants to keep.
        fn precious(&self, name: &str) -> PathBuf {
            let path = self.0.join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("measurements.csv"), "precious").unwrap();
            path
        }
    }

    impl Drop for Parent {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_directory_without_an_owner_is_removed_and_others_stay() {
        let parent = Parent::new();
        let (alive, _lock) = create(&parent.0).unwrap();
        let (dead, gone) = create(&parent.0).unwrap();
        let young = parent.0.join(format!("{UNLOCKED}AbCdEf"));
        fs::create_dir(&young).unwrap();
        fs::write(young.join(MARKER), marker("AbCdEf")).unwrap();
        let foreign = parent.precious("something.else");
        fs::create_dir_all(dead.join("root/dev")).unwrap();
        symlink(&foreign, dead.join("root/link")).unwrap();
        symlink(&foreign, dead.join("link")).unwrap();
        drop(gone);
        sweep(&parent.0);
        assert_eq!([&alive, &dead, &young, &foreign].map(|path| path.exists()), [true, false, true, true]);
        assert!(foreign.join("measurements.csv").exists(), "links are not followed");
        assert!(alive.file_name().unwrap().to_string_lossy().starts_with(PREFIX));
        remove(&alive).unwrap();
        assert!(!alive.exists());
    }

    #[test]
    fn directories_of_the_users_own_stay_whatever_their_names_are() {
        let parent = Parent::new();
        let names = ["my-results", "AbCdEf", "abcdef", "123456", "../x"].map(|end| format!("{PREFIX}{end}"));
        let kept: Vec<_> = names[..4].iter().map(|name| parent.precious(name)).collect();
        // One with the marker of another, one with another text, one with a link or a directory as its marker.
        fs::write(kept[0].join(MARKER), marker("my-results")).unwrap();
        fs::write(kept[1].join(MARKER), marker("AbCdEg")).unwrap();
        let elsewhere = parent.0.join("marker");
        fs::write(&elsewhere, marker("abcdef")).unwrap();
        symlink(&elsewhere, kept[2].join(MARKER)).unwrap();
        fs::create_dir(kept[3].join(MARKER)).unwrap();
        // A copy of a server's directory under another name, and a link to one that is dead.
        let (dead, gone) = create(&parent.0).unwrap();
        let copy = parent.precious(&format!("{PREFIX}ABCDEF"));
        fs::copy(dead.join(MARKER), copy.join(MARKER)).unwrap();
        let moved = parent.0.join("moved");
        fs::rename(&dead, &moved).unwrap();
        symlink(&moved, &dead).unwrap();
        drop(gone);
        sweep(&parent.0);
        for path in kept.iter().chain([&copy]) {
            assert_eq!(fs::read_to_string(path.join("measurements.csv")).unwrap(), "precious", "{}", path.display());
        }
        assert!(moved.join(MARKER).exists() && fs::symlink_metadata(&dead).is_ok(), "a link is left alone");
    }

    #[test]
    fn an_interrupted_removal_is_taken_up_again() {
        let parent = Parent::new();
        let (dead, gone) = create(&parent.0).unwrap();
        fs::create_dir_all(dead.join("root/dev")).unwrap();
        fs::remove_dir_all(dead.join("root")).unwrap();
        drop(gone);
        sweep(&parent.0);
        assert!(!dead.exists());
    }

    #[test]
    fn a_name_that_is_taken_is_not_replaced() {
        let parent = Parent::new();
        let unlocked = nix::unistd::mkdtemp(&parent.0.join(format!("{UNLOCKED}XXXXXX"))).unwrap();
        let name = unlocked.file_name().unwrap().to_string_lossy().replacen(UNLOCKED, PREFIX, 1);
        fs::create_dir(parent.0.join(&name)).unwrap();
        assert_eq!(settle(&unlocked).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!parent.0.join(&name).join(MARKER).exists());
    }
}
