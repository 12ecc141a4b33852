//! The manual page and the completions of shells.

use amdgpu_output::manual::{Section, Shell};
use clap::CommandFactory as _;

use crate::{cli::Arguments, result::exit::Exit};

/// Examples of the manual page: a command and its purpose.
const EXAMPLES: &[(&str, &str)] = &[
    ("amdgpu-smoke", "Tests a Radeon in a second or two; without one, says so and ends with 77."),
    ("amdgpu-smoke --or-simulated", "The same, on a simulated GPU where the computer has no Radeon."),
    (
        "amdgpu-smoke --gpu all --level core --junit report.xml",
        "Tests every GPU at the same time, with a suite for each.",
    ),
    (
        "amdgpu-smoke --level core --json=good.json; amdgpu-smoke --level core --baseline good.json --tolerance 10",
        "Fails where a bandwidth is more than 10 % below that of an earlier run.",
    ),
    ("amdgpu-smoke --level stress --for 8h --jsonl=soak.jsonl --html soak.html", "Repeats all checks for eight hours."),
    (
        "amdgpu-smoke --resume run.jsonl --level stress",
        "Goes on with a run whose machine stopped, and names the check.",
    ),
    (
        "amdgpu-smoke diff before.json after.json",
        "Tells what changed between two reports, and ends with 1 if something was better before.",
    ),
    (
        "amdgpu-smoke collect /srv/reports --html fleet.html",
        "Tells what failures of many machines have in common: a kernel, a firmware, a board, a slot.",
    ),
    ("amdgpu-smoke --bundle report.tar", "Packs all that a bug report needs."),
    ("amdgpu-smoke --replay report.tar --check exec.copy.sdma0", "Runs a failed check again, without the GPU."),
];

/// Variables that the manual page tells.
const VARIABLES: &[(&str, &str)] = &[
    ("NO_COLOR", "If it is set and not empty, there are no colours."),
    ("RUST_LOG", "Traces the library, such as amdgpu_winsys=trace for every ioctl."),
];

/// Returns the manual page.
pub(crate) fn man() -> Vec<u8> {
    let sections = [
        Section::new("EXAMPLES", EXAMPLES.iter().copied()),
        Section::new("EXIT STATUS", Exit::TABLE.map(|(exit, meaning)| (exit.code(), meaning)))
            .introduced("The numbers are those of IGT GPU Tools."),
        Section::new("ENVIRONMENT", VARIABLES.iter().copied()),
    ];
    amdgpu_output::manual::page(Arguments::command(), &sections, &["amdgpu-budget", "amdgpu-sim"])
}

/// Returns the completions for a shell.
pub(crate) fn completions(shell: Shell) -> Vec<u8> {
    amdgpu_output::manual::completions(Arguments::command(), shell)
}
