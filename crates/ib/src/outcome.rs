//! The output and exit status of a command.

use std::io;

use amdgpu_layers::format::FileError;

use crate::chip::UnknownChip;
use crate::input::InputError;

/// The exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// All input was decoded; for comparisons, the files are equal.
    Understood = 0,
    /// Some input could not be decoded, or nothing matched; for comparisons, the files differ.
    Problems = 1,
    /// The command line is invalid, or the files cannot be compared.
    Usage = 2,
    /// A file cannot be read or is not an IB, or the output cannot be written.
    Input = 3,
}

impl Exit {
    /// All statuses with their meanings, for the manual page.
    pub const TABLE: [(Self, &'static str); 4] = [
        (
            Self::Understood,
            "Everything was understood, or the reader of the output went away. For diff: the files are equal. For why: no trouble was found.",
        ),
        (
            Self::Problems,
            "Something was not understood and is shown raw with the reason, or no packet matches --grep. For diff: the files differ. For why: there was an incident.",
        ),
        (Self::Usage, "The command line is wrong. For diff and why: that, or a file that cannot be read."),
        (Self::Input, "A file cannot be read or holds no IB, or the output cannot be written."),
    ];

    /// Returns the exit code of the process.
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Returns the worse of two statuses.
    pub(crate) fn and(self, other: Self) -> Self {
        if self.code() >= other.code() { self } else { other }
    }
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Chip(#[from] UnknownChip),
    #[error("{0}: neither the name nor the content says which chip it is for; --chip does")]
    NoChip(String),
    #[error("{0}: is not a recording, of which --submission and --last select a part")]
    NoRecording(String),
    #[error(transparent)]
    Input(#[from] InputError),
    #[error("{name}: {error}")]
    Recording { name: String, error: FileError },
    #[error("{name}: there is no submission {wanted}, only {there}")]
    NoSubmission { name: String, wanted: String, there: u64 },
    #[error("--follow reads one file at most, or the kernel's log")]
    FollowsOne,
    #[error("/dev/kmsg: {0}; root may read it, or pipe the log: journalctl -kf | amdgpu-ib why --follow -")]
    KernelLog(io::Error),
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

impl Error {
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Chip(_) | Self::NoChip(_) | Self::NoRecording(_) | Self::FollowsOne => Exit::Usage,
            // A reader that closes its end early, such as head, is not an error.
            Self::Print(error) if matches!(error.kind(), io::ErrorKind::BrokenPipe) => Exit::Understood,
            Self::Input(_)
            | Self::KernelLog(_)
            | Self::Print(_)
            | Self::Recording { .. }
            | Self::NoSubmission { .. } => Exit::Input,
        }
    }
}
