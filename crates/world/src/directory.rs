//! The directory of a world: its socket, and the tree that stands for `/dev/dri` and `/sys`.

use std::{
    fs::{self, File},
    io,
    os::unix::fs::{MetadataExt, symlink},
    path::{Path, PathBuf},
    time::Duration,
};

use amdgpu_sim::{
    SimDevice,
    sysfs::{self, Entry},
};
use nix::{
    fcntl::{Flock, FlockArg},
    unistd::{AccessFlags, access},
};

use crate::WorldError;

/// Names of world directories start with this.
const PREFIX: &str = "amdgpu-sim.";
/// A directory without an owner that is younger than this may be about to get one.
const SETTLING: Duration = Duration::from_mins(1);

/// Where things are in a world's directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    directory: PathBuf,
}

impl Layout {
    /// The layout of the world in this directory.
    pub fn new(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The directory itself.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// The server's socket.
    pub fn socket(&self) -> PathBuf {
        self.directory.join("socket")
    }

    /// The root of the tree: `/dev/dri` is at `root/dev/dri`.
    pub fn root(&self) -> PathBuf {
        self.directory.join("root")
    }

    /// The world's name.
    pub fn name(&self) -> String {
        self.directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }
}

/// A world's directory, which goes when dropped. While it lives it is locked; one whose lock is free has lost its owner, and
/// the next world removes it.
#[derive(Debug)]
pub struct Directory {
    layout: Layout,
    _lock: Flock<File>,
}

impl Directory {
    /// Makes the directory of a world and fills in its tree.
    ///
    /// # Errors
    ///
    /// [`WorldError::Write`].
    pub(crate) fn create(devices: &[(SimDevice, sysfs::Place)]) -> Result<Self, WorldError> {
        let parent = parent();
        sweep(&parent);
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |source| WorldError::Write { path, source }
        };
        let directory = make_unique(&parent).map_err(failed(&parent))?;
        let lock = lock(&directory).map_err(failed(&directory))?;
        let directory = Self { layout: Layout::new(directory), _lock: lock };
        let root = directory.layout.root();
        for (device, place) in devices {
            for (path, entry) in sysfs::tree(device, *place) {
                let path = root.join(path.trim_start_matches('/'));
                write(&path, &entry).map_err(failed(&path))?;
            }
        }
        // A world without devices has an empty /dev/dri.
        for path in ["dev/dri", "sys/class/drm", "sys/dev/char", "sys/bus/pci/devices", "sys/bus/pci/drivers/amdgpu"] {
            let path = root.join(path);
            fs::create_dir_all(&path).map_err(failed(&path))?;
        }
        Ok(directory)
    }

    /// Where things are.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// Writes the files that change.
    pub(crate) fn refresh(&self, devices: &[(SimDevice, sysfs::Place)]) -> io::Result<()> {
        for (device, place) in devices {
            let directory = self.layout.root().join(place.directory().trim_start_matches('/'));
            for (name, content) in sysfs::memory_files(device) {
                // By renaming, so that no reader sees half of it.
                let fresh = directory.join(format!(".{name}"));
                fs::write(&fresh, content)?;
                fs::rename(&fresh, directory.join(name))?;
            }
        }
        Ok(())
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.layout.directory) {
            tracing::warn!(%error, "a world's directory stays behind");
        }
    }
}

/// Where worlds are made: `TMPDIR` if set, else memory, else `/tmp`.
///
/// The tree is dozens of small files that live as long as a program; on a disk they cost more than the program's calls.
fn parent() -> PathBuf {
    let memory = Path::new("/dev/shm");
    if std::env::var_os("TMPDIR").is_none() && access(memory, AccessFlags::W_OK | AccessFlags::X_OK).is_ok() {
        return memory.to_owned();
    }
    std::env::temp_dir()
}

/// Makes a directory that nobody else has, for this user alone.
fn make_unique(parent: &Path) -> io::Result<PathBuf> {
    let template = parent.join(format!("{PREFIX}XXXXXX"));
    nix::unistd::mkdtemp(&template).map_err(io::Error::from)
}

fn lock(directory: &Path) -> io::Result<Flock<File>> {
    let file = File::open(directory)?;
    Flock::lock(file, FlockArg::LockExclusiveNonblock).map_err(|(_, errno)| errno.into())
}

fn write(path: &Path, entry: &Entry) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    match entry {
        Entry::File(content) => fs::write(path, content),
        Entry::Link(target) => symlink(target, path),
        Entry::Node(_) => fs::write(path, []),
    }
}

/// Removes what killed servers of this user left behind.
fn sweep(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let stale = entry.file_name().to_string_lossy().starts_with(PREFIX) && is_ownerless(&entry.path());
        if stale && let Err(error) = fs::remove_dir_all(entry.path()) {
            tracing::debug!(%error, "a dead world's directory stays behind");
        }
    }
}

fn is_ownerless(directory: &Path) -> bool {
    let Ok(about) = fs::symlink_metadata(directory) else { return false };
    let ours = about.is_dir() && about.uid() == nix::unistd::getuid().as_raw();
    let old = about.modified().ok().and_then(|then| then.elapsed().ok()).is_some_and(|age| age > SETTLING);
    ours && old && lock(directory).is_ok()
}
