//! Errors of creating a world.

use std::{io, path::PathBuf};

use nix::errno::Errno;

/// The reason why a world was not created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The file of a load cannot be read, or is none.
    #[error("{}: {reason}", path.display())]
    Load {
        /// The file.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// No such chip, or no capture.
    #[error(transparent)]
    Chip(#[from] amdgpu_sim::ChipError),
    /// A kernel that is not simulated.
    #[error(transparent)]
    Kernel(#[from] amdgpu_sim::KernelReleaseError),
    /// No display.
    #[error(transparent)]
    Display(#[from] amdgpu_sim::DisplayError),
    /// An invalid lockup timeout.
    #[error(transparent)]
    Lockup(#[from] amdgpu_sim::LockupTimeoutError),
    /// An invalid number of MiB.
    #[error("{}={text}: this is no number of MiB", crate::KERNEL_VRAM_VARIABLE)]
    KernelVram {
        /// The number as it was given.
        text: String,
    },
    /// An invalid number of instructions.
    #[error("{}={text}: this is no number of instructions", crate::SHADER_INSTRUCTIONS_VARIABLE)]
    ShaderInstructions {
        /// The number as it was given.
        text: String,
    },
    /// An invalid number of threads.
    #[error("{}={text}: this is no number of threads from 1 to 256", crate::SHADER_THREADS_VARIABLE)]
    ShaderThreads {
        /// The number as it was given.
        text: String,
    },
    /// More devices than minor numbers.
    #[error("{count} devices; a world holds {} at most", amdgpu_sim::sysfs::MOST_DEVICES)]
    TooMany {
        /// Number of GPUs requested.
        count: usize,
    },
    /// The directory could not be made.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file that could not be written.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The server could not start.
    #[error("cannot {what}: {errno}")]
    Start {
        /// The step that failed.
        what: &'static str,
        /// The cause.
        errno: Errno,
    },
}
