//! The manual page and the completions of shells.

use std::{
    io::{self, Write as _},
    process::ExitCode,
};

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{cli::Cli, error::RunError};

/// Examples of the manual page: a command and its purpose.
const EXAMPLES: &[(&str, &str)] = &[
    ("amdgpu-sim run --gpu navi21,renoir -- vulkaninfo --summary", "Runs a program with two simulated GPUs."),
    ("amdgpu-sim shell --gpu navi31", "Starts a shell in which every program sees a simulated GPU."),
    ("amdgpu-sim doctor vulkaninfo", "Says why a program does not see the GPU, and what to do next."),
    ("AMDGPU_SIM_IBS=ibs amdgpu-sim run -- PROGRAM", "Keeps the last 4096 IBs and shaders that a program submits."),
];

/// Statuses that the manual page tells.
const STATUSES: &[(&str, &str)] = &[
    ("0", "The task was done; for doctor: the program sees the GPU."),
    ("1", "For doctor: it does not."),
    ("2", "The command line is wrong."),
    ("125", "The world or the program could not be started."),
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
        "AMDGPU_SIM_KERNEL, AMDGPU_SIM_LOCKUP_TIMEOUT, AMDGPU_SIM_KERNEL_VRAM, AMDGPU_SIM_SHADER_INSTRUCTIONS, AMDGPU_SIM_WIDE_FILLS, AMDGPU_SIM_VIDEO, AMDGPU_SIM_USER_QUEUES, AMDGPU_SIM_LOAD",
        "The options of the same names.",
    ),
    ("SHELL", "The shell that amdgpu-sim shell starts."),
];

/// Prints the manual page.
pub(crate) fn man() -> Result<ExitCode, RunError> {
    let mut text = Vec::new();
    // Writing into memory does not fail.
    page(&mut text).map_err(RunError::Print)?;
    print(&text)
}

fn page(text: &mut Vec<u8>) -> io::Result<()> {
    let mut command = Cli::command();
    command.build();
    clap_mangen::Man::new(command.clone()).render(text)?;
    writeln!(text, ".SH \"COMMANDS IN DETAIL\"")?;
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
        let about = sub.get_long_about().or(sub.get_about()).map(ToString::to_string).unwrap_or_default();
        writeln!(text, ".SS {}\n{about}\n", sub.get_name().replace('-', "\\-"))?;
        clap_mangen::Man::new(sub.clone()).render_options_section(text)?;
    }
    for (section, entries) in [("EXAMPLES", EXAMPLES), ("\"EXIT STATUS\"", STATUSES), ("ENVIRONMENT", VARIABLES)] {
        writeln!(text, ".SH {section}")?;
        for (name, meaning) in entries {
            writeln!(text, ".TP\n.B {}\n{}", roff(name), roff(meaning))?;
        }
    }
    writeln!(text, ".SH \"SEE ALSO\"\n.BR amdgpu\\-ib (1),\n.BR amdgpu\\-smoke (1)")
}

/// Prints the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Result<ExitCode, RunError> {
    // The generator gives up where the output does; a buffer takes everything.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "amdgpu-sim", &mut text);
    print(&text)
}

fn print(text: &[u8]) -> Result<ExitCode, RunError> {
    match io::stdout().lock().write_all(text) {
        // A reader that has seen enough is no trouble.
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(RunError::Print(error)),
        _ => Ok(ExitCode::SUCCESS),
    }
}

/// Returns text in which nothing is a command of the formatter.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) { format!("\\&{text}") } else { text }
}
