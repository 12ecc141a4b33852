//! Why there is no world.

use std::{io, path::PathBuf};

use nix::errno::Errno;

/// What can go wrong while a world is made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// No such chip, or no capture.
    #[error(transparent)]
    Chip(#[from] amdgpu_sim::ChipError),
    /// More devices than minor numbers.
    #[error("{count} devices; a world holds {} at most", amdgpu_sim::sysfs::MOST_DEVICES)]
    TooMany {
        /// How many were asked for.
        count: usize,
    },
    /// The directory could not be made.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// What could not be written.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The server could not start.
    #[error("cannot {what}: {errno}")]
    Start {
        /// What failed.
        what: &'static str,
        /// Why.
        errno: Errno,
    },
}
