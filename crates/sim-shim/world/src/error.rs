//! Errors of creating a world.

use std::{io, path::PathBuf};

use nix::errno::Errno;

/// The reason why a world was not created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorldError {
    /// The file cannot be read, or is not a load script.
    #[error("{}: {reason}", path.display())]
    Load {
        /// The path of the file.
        path: PathBuf,
        /// The reason why it cannot be used.
        reason: String,
    },
    /// There is no such chip, or the file is not a capture.
    #[error(transparent)]
    Chip(#[from] amdgpu_sim::ChipError),
    /// The kernel release is not simulated.
    #[error(transparent)]
    Kernel(#[from] amdgpu_sim::KernelReleaseError),
    /// The changes of the kernel's features are invalid.
    #[error(transparent)]
    Features(#[from] amdgpu_sim::FeatureError),
    /// The text is not the size of a display.
    #[error(transparent)]
    Display(#[from] amdgpu_sim::DisplayError),
    /// The lockup timeout is invalid.
    #[error(transparent)]
    Lockup(#[from] amdgpu_sim::LockupTimeoutError),
    /// The number of MiB of VRAM that the kernel uses is invalid.
    #[error("{}={text}: this is not a number of MiB", crate::KERNEL_VRAM_VARIABLE)]
    KernelVram {
        /// The rejected text.
        text: String,
    },
    /// The number of shader instructions is invalid.
    #[error("{}={text}: this is not a number of instructions", crate::SHADER_INSTRUCTIONS_VARIABLE)]
    ShaderInstructions {
        /// The rejected text.
        text: String,
    },
    /// The number of shader threads is invalid.
    #[error("{}={text}: this is not a number of threads from 1 to 256", crate::SHADER_THREADS_VARIABLE)]
    ShaderThreads {
        /// The rejected text.
        text: String,
    },
    /// There are more GPUs than minor numbers of DRM nodes.
    #[error("{count} devices; a world holds {} at most", amdgpu_sim::sysfs::MOST_DEVICES)]
    TooMany {
        /// The requested number of GPUs.
        count: usize,
    },
    /// The directory of the world could not be created.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file that could not be written.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The server could not be started.
    #[error("cannot {what}: {errno}")]
    Start {
        /// The step that failed.
        what: &'static str,
        /// The errno of the failed step.
        errno: Errno,
    },
}
