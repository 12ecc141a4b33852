//! Output and exit status of a command.

use std::{io, path::PathBuf};

use amdgpu_layers::format::FileError;

use crate::chip::UnknownChip;
use crate::files::InputError;

/// Exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Everything was understood.
    Understood = 0,
    /// Something was not.
    Problems = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file cannot be read or is not an IB, or the output cannot be written.
    Input = 3,
}

/// Style of a dump.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    Text,
    /// With all dwords.
    Raw,
    Json,
}

impl Style {
    pub(crate) const fn new(raw: bool, json: bool) -> Self {
        match (json, raw) {
            (true, _) => Self::Json,
            (false, true) => Self::Raw,
            (false, false) => Self::Text,
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Chip(#[from] UnknownChip),
    #[error("{}: the name does not say which chip it is for; --chip does", .0.display())]
    NoChip(PathBuf),
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("{}: {error}", path.display())]
    Recording { path: PathBuf, error: FileError },
    #[error("{}: there is no submission {wanted}, only {there}", path.display())]
    NoSubmission { path: PathBuf, wanted: String, there: u64 },
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

impl Error {
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Chip(_) | Self::NoChip(_) => Exit::Usage,
            Self::Input(_) | Self::Print(_) | Self::Recording { .. } | Self::NoSubmission { .. } => Exit::Input,
        }
    }
}
