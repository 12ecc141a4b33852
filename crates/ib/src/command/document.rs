//! The manual page and the completions of shells.

use std::io::{self, Write as _};

use clap::CommandFactory as _;
use clap_complete::Shell;

use crate::{
    cli::Cli,
    outcome::{Error, Exit},
};

/// Examples of the manual page: a command and its purpose.
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
    ("amdgpu-ib diff --ignore-addresses A B", "Compares two IBs packet by packet, wherever their memory was."),
];

/// Prints the manual page.
pub(super) fn man() -> Result<Exit, Error> {
    let mut command = Cli::command();
    command.build();
    let mut text = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut text)?;
    writeln!(text, ".SH \"COMMANDS IN DETAIL\"")?;
    for sub in command.get_subcommands_mut().filter(|sub| sub.get_name() != "help") {
        let about = sub.get_long_about().or(sub.get_about()).map(ToString::to_string).unwrap_or_default();
        writeln!(text, ".SS {}\n{about}\n", sub.get_name().replace('-', "\\-"))?;
        clap_mangen::Man::new(sub.clone()).render_options_section(&mut text)?;
    }
    writeln!(text, ".SH EXAMPLES")?;
    for (example, meaning) in EXAMPLES {
        writeln!(text, ".TP\n.B {}\n{}", roff(example), roff(meaning))?;
    }
    writeln!(text, ".SH \"EXIT STATUS\"")?;
    for (exit, meaning) in Exit::TABLE {
        writeln!(text, ".TP\n{}\n{}", exit.code(), roff(meaning))?;
    }
    writeln!(text, ".SH ENVIRONMENT\n.TP\nNO_COLOR\nIf it is set and not empty, \\-\\-color auto means never.")?;
    writeln!(text, ".SH \"SEE ALSO\"\n.BR amdgpu\\-sim (1),\n.BR amdgpu\\-smoke (1)")?;
    io::stdout().lock().write_all(&text)?;
    Ok(Exit::Understood)
}

/// Prints the completions for a shell.
pub(super) fn completions(shell: Shell) -> Result<Exit, Error> {
    // The generator gives up where the output does; a buffer takes everything.
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "amdgpu-ib", &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(Exit::Understood)
}

/// Returns text in which nothing is a command of the formatter.
fn roff(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}
