//! Creation of files in folders that others can write, such as `/tmp`.
//!
//! There, somebody else may have put a link with the name of the file, so that a tool overwrites a file of its user that the link
//! leads to. Files are therefore created with O_EXCL and O_NOFOLLOW, and a file that is there already is written only if it is a
//! regular file of the user with no other name. In folders of the user's own, links are followed as usual.

use std::{
    fs::{self, File, OpenOptions},
    hash::{BuildHasher as _, RandomState},
    io::{self, Write as _},
    os::unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, OFlags, RenameFlags, renameat_with},
    io::Errno,
    process::geteuid,
};

/// The bits of a folder's mode with which others can write to it: of its group, and of everybody.
const OTHERS_WRITE: u32 = 0o022;
/// Attempts to find a name that is free.
const ATTEMPTS: u32 = 16;

/// Creates a file, or empties one that is there.
///
/// # Errors
///
/// An I/O error; in a folder that others can write also if the name is that of a link or of a file of somebody else.
pub fn create(path: &Path) -> io::Result<File> {
    if !is_shared(path) {
        return File::create(path);
    }
    match create_new(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => own(path),
        created => created,
    }
}

/// Writes a whole file as [`create`] creates it.
///
/// # Errors
///
/// The errors of [`create`] and of writing.
pub fn write(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    create(path)?.write_all(contents.as_ref())
}

/// Puts a whole file in place at once, so that nobody reads half of it. A link with this name is replaced and not followed.
///
/// # Errors
///
/// An I/O error. The file is then as it was.
pub fn replace(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    let (beside, mut file) = beside(path)?;
    let done = file.write_all(contents.as_ref()).and_then(|()| fs::rename(&beside, path));
    if done.is_err() {
        // Whoever removed it saved us the work.
        let _ = fs::remove_file(&beside);
    }
    done
}

/// Puts a whole file in place at once where there is none.
///
/// # Errors
///
/// An I/O error, [`io::ErrorKind::AlreadyExists`] if there is anything with this name. There is no new file then.
pub fn create_whole(path: &Path, contents: impl AsRef<[u8]>) -> io::Result<()> {
    // Without a long write for nothing.
    if fs::symlink_metadata(path).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let (beside, mut file) = beside(path)?;
    let done = file.write_all(contents.as_ref()).and_then(|()| rename_new(&beside, path));
    if done.is_err() {
        // Whoever removed it saved us the work.
        let _ = fs::remove_file(&beside);
    }
    done
}

/// Gives a file a name that is free.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // Some network file systems cannot refuse (rename(2)). There the name was free a moment ago.
        Err(Errno::INVAL | Errno::NOSYS) => fs::rename(from, to),
        done => Ok(done?),
    }
}

/// Creates a file that was not there, and follows no link.
///
/// # Errors
///
/// An I/O error, [`io::ErrorKind::AlreadyExists`] if there is anything with this name.
pub fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).custom_flags(OFlags::NOFOLLOW.bits().cast_signed()).open(path)
}

/// Creates a file with a name of its own beside another one.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let mut last = io::ErrorKind::AlreadyExists.into();
    for attempt in 0..ATTEMPTS {
        let random = RandomState::new().hash_one(attempt);
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.{random:016x}.tmp", std::process::id()));
        let beside = path.with_file_name(name);
        match create_new(&beside) {
            Ok(file) => return Ok((beside, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
            Err(error) => return Err(error),
        }
    }
    Err(last)
}

/// Opens a file that is there and empties it, if it is the user's own.
fn own(path: &Path) -> io::Result<File> {
    let refused =
        |why: &str| io::Error::new(io::ErrorKind::PermissionDenied, format!("{why} in a folder that others can write"));
    let about = fs::symlink_metadata(path)?;
    if about.is_symlink() {
        return Err(refused("is a symbolic link"));
    }
    // Opening a FIFO waits for a reader, as a user may want.
    let flags = OFlags::NOFOLLOW.bits().cast_signed();
    let file = OpenOptions::new().write(true).custom_flags(flags).open(path)?;
    let about = file.metadata()?;
    if about.uid() != geteuid().as_raw() {
        return Err(refused("is a file of another user"));
    }
    if about.is_file() {
        if about.nlink() != 1 {
            return Err(refused("is a file with several names"));
        }
        file.set_len(0)?;
    }
    Ok(file)
}

/// Returns `true` if others can write to the folder of a path.
fn is_shared(path: &Path) -> bool {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    fs::metadata(folder).is_ok_and(|about| about.mode() & OTHERS_WRITE != 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str, mode: u32) -> Self {
            let path = std::env::temp_dir().join(format!("amdgpu-output-{name}-{}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            Self(path)
        }

        fn path(&self, name: &str) -> PathBuf {
            self.0.join(name)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn a_planted_link_is_not_followed_in_a_shared_folder() {
        let folder = Folder::new("shared", 0o1777);
        let victim = folder.path("victim");
        fs::write(&victim, "precious").unwrap();
        symlink(&victim, folder.path("link")).unwrap();
        fs::hard_link(&victim, folder.path("name")).unwrap();
        for name in ["link", "name"] {
            let error = write(&folder.path(name), "x").unwrap_err();
            assert!(error.to_string().contains("a folder that others can write"), "{error}");
        }
        symlink(folder.path("nowhere"), folder.path("dangling")).unwrap();
        assert!(write(&folder.path("dangling"), "x").is_err() && !folder.path("nowhere").exists());
        replace(&folder.path("link"), "new").unwrap();
        assert_eq!(fs::read_to_string(folder.path("link")).unwrap(), "new");
        assert_eq!(fs::read_to_string(&victim).unwrap(), "precious");
    }

    #[test]
    fn own_files_are_written_again_and_nothing_is_left_beside() {
        let folder = Folder::new("again", 0o1777);
        for contents in ["long contents", "short"] {
            write(&folder.path("file"), contents).unwrap();
            assert_eq!(fs::read_to_string(folder.path("file")).unwrap(), contents);
            replace(&folder.path("other"), contents).unwrap();
        }
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2);
        assert!(create_new(&folder.path("file")).is_err());
    }

    #[test]
    fn a_whole_new_file_takes_no_name_that_is_taken() {
        let folder = Folder::new("whole", 0o700);
        fs::write(folder.path("there"), "precious").unwrap();
        symlink(folder.path("nowhere"), folder.path("dangling")).unwrap();
        for name in ["there", "dangling"] {
            let path = folder.path(name);
            assert_eq!(create_whole(&path, "x").unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            // Somebody else may have been faster since it was looked at.
            let (beside, _) = beside(&path).unwrap();
            assert_eq!(rename_new(&beside, &path).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
            fs::remove_file(beside).unwrap();
        }
        create_whole(&folder.path("new"), "contents").unwrap();
        assert_eq!(fs::read_to_string(folder.path("new")).unwrap(), "contents");
        assert_eq!(fs::read_to_string(folder.path("there")).unwrap(), "precious");
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 3);
    }

    #[test]
    fn links_of_private_folders_are_followed() {
        let folder = Folder::new("private", 0o700);
        fs::write(folder.path("real"), "old").unwrap();
        symlink(folder.path("real"), folder.path("link")).unwrap();
        write(&folder.path("link"), "new").unwrap();
        assert_eq!(fs::read_to_string(folder.path("real")).unwrap(), "new");
    }
}
