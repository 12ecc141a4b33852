//! The manual page and the completions of shells.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use amdgpu_output::manual::{Section, Shell};
use clap::CommandFactory as _;

use crate::{cli::Cli, error::RunError};

/// Examples of the manual page: a command and its purpose.
const EXAMPLES: &[(&str, &str)] = &[
    ("amdgpu-sim run --gpu navi21,renoir -- vulkaninfo --summary", "Runs a program with two simulated GPUs."),
    ("amdgpu-sim shell --gpu navi31", "Starts a shell in which every program sees a simulated GPU."),
    ("amdgpu-sim doctor vulkaninfo", "Says why a program does not see the GPU, and what to do next."),
    (
        "amdgpu-sim run --hang-report report -- PROGRAM; amdgpu-ib why report",
        "Runs a program, and explains why one of its jobs hung.",
    ),
    ("AMDGPU_SIM_IBS=ibs amdgpu-sim run -- PROGRAM", "Keeps the last 4096 IBs and shaders that a program submits."),
];

/// Statuses that the manual page tells.
const STATUSES: &[(&str, &str)] = &[
    ("0", "The task was done; for doctor: the program sees the GPU."),
    ("1", "For doctor: it does not."),
    ("2", "The command line is wrong, for other tasks than run, shell and doctor."),
    ("124", "For run with --fail-on-hang: a job hung, and the command itself succeeded."),
    (
        "125",
        "The command line of run, shell or doctor is wrong, or the simulated GPUs or the program could not be started.",
    ),
    ("126", "The command was found and could not be executed."),
    ("127", "The command was not found."),
    ("128 + N", "The command was ended by signal N."),
    ("any other", "The command's own."),
];

/// Variables that the manual page tells.
const VARIABLES: &[(&str, &str)] = &[
    ("AMDGPU_SIM", "The chips, where --gpu names none."),
    (
        "AMDGPU_SIM_IBS",
        "A directory for the IBs that are fetched, and the compute shaders that are started: for amdgpu-ib.",
    ),
    ("AMDGPU_SIM_IBS_KEEP", "Number of files that stay there, the last ones: 4096 by default, 0 for all."),
    (
        "AMDGPU_SIM_KERNEL, AMDGPU_SIM_LOCKUP_TIMEOUT, AMDGPU_SIM_KERNEL_VRAM, AMDGPU_SIM_SHADER_INSTRUCTIONS, AMDGPU_SIM_SHADER_THREADS, AMDGPU_SIM_WIDE_FILLS, AMDGPU_SIM_VIDEO, AMDGPU_SIM_RAS, AMDGPU_SIM_RUNTIME_PM, AMDGPU_SIM_USER_QUEUES, AMDGPU_SIM_LOAD",
        "The options of the same names.",
    ),
    ("SHELL", "The shell that amdgpu-sim shell starts."),
];

/// Prints the manual page.
pub(crate) fn man() -> Result<ExitCode, RunError> {
    let sections = [("EXAMPLES", EXAMPLES), ("EXIT STATUS", STATUSES), ("ENVIRONMENT", VARIABLES)];
    let sections = sections.map(|(heading, entries)| Section::new(heading, entries.iter().copied()));
    print(&amdgpu_output::manual::page(Cli::command(), &sections, &["amdgpu-ib", "amdgpu-smoke"]))
}

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode, RunError> {
    print(&amdgpu_output::manual::completions(Cli::command(), shell))
}

fn print(text: &[u8]) -> Result<ExitCode, RunError> {
    match io::stdout().lock().write_all(text) {
        // A reader that has seen enough is no trouble.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(RunError::Print(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}
