//! The manual page and the completions of shells.

use std::io::{self, Write as _};

use amdgpu_output::manual::{Section, Shell};
use clap::CommandFactory as _;

use crate::{
    cli::Cli,
    clinic::Class,
    outcome::{Error, Exit},
};

/// The examples of the manual page: a command and its purpose.
const EXAMPLES: &[(&str, &str)] = &[
    ("amdgpu-ib dump FILE --chip navi21", "Prints the packets of raw dwords or hexadecimal text for a graphics ring."),
    (
        "AMDGPU_SIM_IBS=ibs amdgpu-sim run -- PROGRAM; amdgpu-ib check ibs",
        "Keeps all IBs of a program on a simulated GPU, and looks for packets that make no sense.",
    ),
    (
        "amdgpu-ib dump --last --grep 'DRAW|DISPATCH' --context 2 FILE",
        "Shows the draws and dispatches of the last submission of a recording, with two packets around each.",
    ),
    (
        "sudo cat /sys/class/drm/card0/device/devcoredump/data | amdgpu-ib dump -",
        "Prints the IBs and rings of a GPU that the kernel has reset.",
    ),
    (
        "journalctl -k -b -1 | amdgpu-ib why -",
        "Says why the GPU hung before the last restart: ring, process, likely cause, state and next step.",
    ),
    ("amdgpu-ib why dump.txt dmesg.txt ~/radv_dumps_*", "Explains a hang by all that it left."),
    ("amdgpu-ib diff --ignore-addresses A B", "Compares two IBs packet by packet, wherever their memory was."),
];

/// The environment variables in the manual page.
const VARIABLES: &[(&str, &str)] = &[("NO_COLOR", "If it is set and not empty, --color auto means never.")];

/// Prints the manual page.
pub(super) fn man() -> Result<Exit, Error> {
    let sections = [
        Section::new("EXAMPLES", EXAMPLES.iter().copied()),
        Section::new("EXIT STATUS", Exit::TABLE.map(|(exit, meaning)| (exit.code(), meaning))),
        Section::new(
            "EXIT STATUS OF WHY WITH --exit-class",
            Class::TABLE.map(|(_, name, code, meaning)| (code, format!("{name}: {meaning}."))),
        ),
        Section::new("ENVIRONMENT", VARIABLES.iter().copied()),
    ];
    io::stdout().lock().write_all(&amdgpu_output::manual::page(
        Cli::command(),
        &sections,
        &["amdgpu-sim", "amdgpu-smoke"],
    ))?;
    Ok(Exit::Understood)
}

/// Prints the completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<Exit, Error> {
    io::stdout().lock().write_all(&amdgpu_output::manual::completions(Cli::command(), shell))?;
    Ok(Exit::Understood)
}
