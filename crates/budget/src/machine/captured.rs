//! A captured computer, as the command `capture` writes it.

use std::{
    io,
    path::{Path, PathBuf},
};

use amdgpu_layers::Replay;
use amdgpu_winsys::winsys::Kernel;

use super::{Machine, Moment};
use crate::files::{Disk, Files};

/// The path of the file in a captured tree that contains the time of the capture: milliseconds since 1970 and nanoseconds of the
/// monotonic clock.
pub const MOMENT_FILE: &str = "amdgpu-budget/moment";

/// Returns the path of a GPU's recorded session in a captured tree.
pub fn session_path(pci: &str) -> String {
    format!("amdgpu-budget/info/{pci}.rec")
}

/// A captured computer: a directory with parts of `/sys` and `/proc`, and recorded sessions with the GPUs.
#[derive(Debug)]
pub struct Captured {
    root: PathBuf,
    files: Disk,
}

impl Captured {
    /// Opens the captured tree below `root`.
    ///
    /// # Errors
    ///
    /// An I/O error if `root` is not a directory or cannot be read.
    pub fn open(root: &Path) -> io::Result<Self> {
        root.read_dir()?;
        Ok(Self { root: root.to_owned(), files: Disk::new(root) })
    }
}

impl Machine for Captured {
    fn kind(&self) -> &'static str {
        "root"
    }

    fn files(&self) -> &dyn Files {
        &self.files
    }

    fn open(&self, _node: &str, pci: &str) -> io::Result<Box<dyn Kernel>> {
        let path = self.root.join(session_path(pci));
        // Nor one that is a FIFO, whose end never comes.
        if !path.is_file() {
            return Err(io::Error::new(io::ErrorKind::NotFound, "no session with this GPU was captured"));
        }
        let replay = Replay::open(&path).map_err(io::Error::other)?;
        Ok(Box::new(replay.open_file().map_err(io::Error::from)?))
    }

    fn now(&self) -> Moment {
        let text = self.files.read(MOMENT_FILE).unwrap_or_default();
        let mut numbers = text.split_whitespace().map(|word| word.parse().unwrap_or(0));
        Moment { unix_ms: numbers.next().unwrap_or(0), monotonic_ns: numbers.next().unwrap_or(0) }
    }

    fn is_played_back(&self) -> bool {
        true
    }

    fn changes(&self) -> bool {
        false
    }
}
