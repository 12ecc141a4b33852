//! `cargo run -p xtask -- manual`, `packets`, `registers` or `vulkan`: writes the generated sources anew.

use std::process::ExitCode;

use xtask::{Error, Source};

/// A function that generates the files of a command.
type Generate = fn() -> Result<Vec<Source>, Error>;

/// The commands.
const COMMANDS: &[(&str, Generate)] = &[
    ("manual", xtask::manual),
    ("packets", xtask::packets),
    ("registers", xtask::registers),
    ("vulkan", xtask::vulkan),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let command = COMMANDS.iter().find(|(name, _)| arguments == [*name]);
    let Some((_, generate)) = command else {
        eprintln!("usage: cargo run -p xtask -- COMMAND\n\ncommands:");
        for (name, _) in COMMANDS {
            eprintln!("  {name}");
        }
        return ExitCode::from(2);
    };
    match generate().and_then(|sources| xtask::write(&sources)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
