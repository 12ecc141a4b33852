//! The manual page and the completions of shells.

use std::io::Write;

use amdgpu_output::manual::{Section, Shell};
use clap::CommandFactory as _;

use crate::{cli::Arguments, exit::Exit, session::Outcome, snapshot::metric::METRICS};

/// Examples of the manual page: a command and its purpose.
const EXAMPLES: &[(&str, &str)] = &[
    ("amdgpu-budget", "Shows who has the memory of each GPU, and what is left."),
    ("amdgpu-budget --sim navi21 top", "Shows the live view of a simulated computer: no GPU is needed."),
    ("amdgpu-budget ps --tree --sort vram", "Lists the processes that hold memory, children below their parents."),
    (
        "amdgpu-budget explain effective",
        "Shows the arithmetic of what programs can have, with the source of each term.",
    ),
    ("amdgpu-budget why firefox", "Says why memory of a process is not in VRAM, and what would bring it back."),
    (
        "amdgpu-budget --from usage.jsonl.gz why",
        "Says the same of the end of a recording, and which processes have grown since it was in VRAM.",
    ),
    ("amdgpu-budget buffers 4711", "Lists the buffers of a process with their addresses, on Linux 6.18 and later."),
    ("amdgpu-budget wait 'free>4GiB' --timeout 60 && PROGRAM", "Starts a program once there is room for it."),
    (
        "amdgpu-budget advise --models 96GiB",
        "Shows the lines that let programs have 96 GiB on an APU, what they cost, and how to undo them.",
    ),
    (
        "amdgpu-budget advise --keep 6GiB --of app-game.scope",
        "Shows the lines that protect a game's VRAM from being evicted for other programs.",
    ),
    (
        "amdgpu-budget check --free 4GiB,1GiB",
        "Acts as a monitoring plug-in: WARNING below 4 GiB, CRITICAL below 1 GiB.",
    ),
    (
        "amdgpu-budget record usage.jsonl.gz --max-size 100MiB --keep 3",
        "Records until it is interrupted, in at most four files of 100 MiB.",
    ),
    ("amdgpu-budget plot --from usage.jsonl.gz --format png -o usage.png", "Draws a recording."),
    (
        "amdgpu-budget serve --listen unix:/run/user/1000/amdgpu",
        "Serves web page, JSON and metrics on a socket of this user.",
    ),
    ("amdgpu-budget capture bug && amdgpu-budget --root bug", "Writes what was read, and shows the same from there."),
];

/// Variables that the manual page tells.
const VARIABLES: &[(&str, &str)] = &[
    ("NO_COLOR", "If it is set and not empty, --color auto means never."),
    ("CLICOLOR_FORCE", "If it is set and neither empty nor 0, --color auto means always."),
    ("TERM", "With the value dumb there are no colours, and top refuses to start."),
    ("LC_ALL, LC_CTYPE, LANG", "Output is ASCII where the first of them that is set names the locale C or POSIX."),
    ("LISTEN_FDS, LISTEN_PID", "Sockets that systemd hands over to serve."),
    ("AMDGPU_BUDGET_GPU", "Set for the command of watch --on-cross: the PCI address of the GPU."),
];

/// Writes the manual page.
pub(super) fn man(out: &mut dyn Write) -> Outcome {
    let statuses = Exit::TABLE.map(|(exit, meaning)| (exit.code(), meaning));
    let sections = [
        Section::new("EXAMPLES", EXAMPLES.iter().copied()),
        Section::new("EXIT STATUS", statuses)
            .introduced("The command check ends with 0 OK, 1 WARNING, 2 CRITICAL or 3 UNKNOWN, all others with:"),
        Section::new("ENVIRONMENT", VARIABLES.iter().copied()),
        Section::new("CONDITIONS", METRICS.iter().map(|metric| (metric.name, metric.help)))
            .introduced("Figures that watch, wait and check compare, of any GPU:"),
    ];
    out.write_all(&amdgpu_output::manual::page(Arguments::command(), &sections, &["amdgpu-sim", "amdgpu-smoke"]))?;
    Ok(Exit::Fine)
}

/// Writes the completions for a shell.
pub(super) fn completions(shell: Shell, out: &mut dyn Write) -> Outcome {
    out.write_all(&amdgpu_output::manual::completions(Arguments::command(), shell))?;
    Ok(Exit::Fine)
}
