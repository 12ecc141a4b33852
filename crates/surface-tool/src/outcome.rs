//! Exit status and errors of a command.

use std::{io, path::PathBuf};

use amdgpu_sim::ChipError;
use amdgpu_surface::chip;
use amdgpu_surface::modifier::ModifierError;
use amdgpu_surface::surface::SurfaceError;
use amdgpu_surface::tiler::TilerError;

/// Exit status of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// The question has an answer.
    Answered = 0,
    /// The chip cannot have such an image, its texels have no addresses, or a driver's answers differ.
    Refused = 1,
    /// The command line is wrong.
    Usage = 2,
    /// A file cannot be read or written, or is too short.
    Input = 3,
}

impl Exit {
    /// Every status with its meaning, for the manual page.
    pub(crate) const TABLE: [(Self, &'static str); 4] = [
        (Self::Answered, "The question has an answer."),
        (
            Self::Refused,
            "The chip cannot have such an image, its texels have no addresses, or a driver's answers differ.",
        ),
        (Self::Usage, "The command line is wrong."),
        (Self::Input, "A file cannot be read or written, or is too short."),
    ];
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error(transparent)]
    Chip(#[from] ChipError),
    #[error("{name}: {error}")]
    Registers { name: String, error: chip::ChipError },
    #[error("no format is called {0}; names are Vulkan's without VK_FORMAT_, such as R8G8B8A8_UNORM")]
    Format(String),
    #[error("modifier {text}: {error}")]
    Modifier { text: String, error: ModifierError },
    #[error("{text}: is or has no modifier, a number of 64 bits in decimal or with 0x")]
    NoModifier { text: String },
    #[error("no layout of this image: {0}")]
    Layout(#[from] SurfaceError),
    #[error("no addresses of this image: {0}")]
    Texels(#[from] TilerError),
    #[error("there is no {what} {number}: the image has {count}")]
    Missing { what: &'static str, number: u32, count: u32 },
    #[error("{format} has no colours that a PNG could hold; --raw writes its elements row by row")]
    NoColors { format: &'static str },
    #[error("{}: {len} bytes, but the image has {needed}", path.display())]
    TooShort { path: PathBuf, len: usize, needed: u64 },
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
    #[error("{}: {error}", path.display())]
    Png { path: PathBuf, error: png::EncodingError },
    #[error("{}: line {line} is no answer about images: {error}", path.display())]
    Answers { path: PathBuf, line: u64, error: serde_json::Error },
    #[error("{count} answers differ from the layouts")]
    Differs { count: u64 },
    #[error("cannot print: {0}")]
    Print(#[from] io::Error),
}

impl Error {
    pub(crate) const fn exit(&self) -> Exit {
        match self {
            Self::Format(_)
            | Self::Modifier { .. }
            | Self::NoModifier { .. }
            | Self::Missing { .. }
            | Self::Chip(ChipError::NoSuchChip { .. }) => Exit::Usage,
            Self::Chip(_)
            | Self::Registers { .. }
            | Self::TooShort { .. }
            | Self::File { .. }
            | Self::Answers { .. }
            | Self::Png { .. }
            | Self::Print(_) => Exit::Input,
            Self::Layout(_) | Self::Texels(_) | Self::NoColors { .. } | Self::Differs { .. } => Exit::Refused,
        }
    }
}
