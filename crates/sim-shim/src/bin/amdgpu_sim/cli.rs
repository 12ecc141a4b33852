//! The command line.

use std::{
    ffi::OsString,
    io::{self, Write as _},
    path::PathBuf,
    process::ExitCode,
};

use amdgpu_sim::LockupTimeout;
use clap::{Parser, Subcommand};

use crate::run::RunError;

/// Runs programs on simulated AMD GPUs.
#[derive(Debug, Parser)]
#[command(name = "amdgpu-sim", version)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) task: Task,
}

/// Tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    /// Run a command, and all it starts, in a world of its own
    Run {
        /// Chips, one device each, such as navi21,renoir; a path is that of a captured GPU's JSON file [default: $AMDGPU_SIM,
        /// else navi21]
        #[arg(long, value_name = "CHIPS")]
        gpu: Option<String>,
        /// Answer every request at once, successfully and without doing anything: to measure what user space costs
        #[arg(long)]
        null: bool,
        /// Milliseconds that a job may run on rings of graphics, compute, SDMA and video before it counts as hung, as the
        /// kernel's parameter of this name [default: $AMDGPU_SIM_LOCKUP_TIMEOUT, else 10000,60000,10000,10000]
        #[arg(long, value_name = "MS", allow_hyphen_values = true)]
        lockup_timeout: Option<LockupTimeout>,
        /// MiB of VRAM that the kernel itself has, which count as used [default: $AMDGPU_SIM_KERNEL_VRAM, else 0]
        #[arg(long, value_name = "MIB")]
        kernel_vram: Option<u32>,
        /// Let fills of the copy engines of GFX9 to GFX10.3 take sizes of 30 bits, as IGT's tests have it [default:
        /// $AMDGPU_SIM_WIDE_FILLS, else 22 bits, as the kernel's headers have it]
        #[arg(long)]
        wide_fills: bool,
        /// The preload library [default: libamdgpu_sim_shim.so beside this program, or in ../lib]
        #[arg(long, value_name = "PATH")]
        shim: Option<PathBuf>,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "COMMAND")]
        command: Vec<OsString>,
    },
    /// List the chips that can be simulated
    Profiles,
    /// Print what is alive in the world that this process was started in
    Census,
}

/// Prints the chips, one a line.
pub(crate) fn list_profiles() -> Result<ExitCode, RunError> {
    let mut out = io::stdout().lock();
    for profile in amdgpu_sim::profiles() {
        writeln!(out, "{:<18} {}", profile.name, profile.marketing_name).map_err(RunError::Print)?;
    }
    Ok(ExitCode::SUCCESS)
}
