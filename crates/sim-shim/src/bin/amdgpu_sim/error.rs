//! Reasons why the launcher cannot do its task.

use std::{io, path::PathBuf};

use amdgpu_sim_world::{WORLD_VARIABLE, WorldError};
use nix::errno::Errno;

use crate::screenshot::ScreenshotError;

/// The preload library's file name.
pub(crate) const SHIM: &str = "libamdgpu_sim_shim.so";

/// The reason why a command was not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error(transparent)]
    World(#[from] WorldError),
    #[error("no {SHIM} beside {} or in ../lib; name it with --shim", program.display())]
    NoShim { program: PathBuf },
    #[error("there is no {}", path.display())]
    NoSuchShim { path: PathBuf },
    #[error("{} is not the simulator's preload library: it does not know {symbol}", path.display())]
    OtherShim { path: PathBuf, symbol: &'static str },
    #[error("{variable} is {text:?}, which is not a number of files")]
    Kept { variable: &'static str, text: String },
    #[error("a null kernel is one chip, not {chips}")]
    OneChip { chips: String },
    #[error("{WORLD_VARIABLE} is not set: this process was not started by amdgpu-sim run or shell")]
    NoWorld,
    #[error("the simulated machine does not answer: {0}")]
    Silent(Errno),
    #[error("cannot find out where this program is: {0}")]
    Lost(io::Error),
    #[error("cannot print: {0}")]
    Print(io::Error),
    #[error("cannot write {}: {error}", path.display())]
    Log { path: PathBuf, error: io::Error },
    #[error("cannot write the picture {}: {reason}", path.display())]
    Screenshot { path: PathBuf, reason: ScreenshotError },
    #[error("cannot wait for the command: {0}")]
    Wait(io::Error),
}
