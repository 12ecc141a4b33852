//! `cargo run -p xtask -- checks`, `claims`, `manual`, `packets`, `registers` or `vulkan`: writes the generated sources anew.
//! `cargo run -p xtask -- trace [LEDGER]`: prints a ledger of `tests/traceability`, or the names of all.

use std::process::ExitCode;

use xtask::{Error, Source, traceability};

/// A function that generates the files of a command.
type Generate = fn() -> Result<Vec<Source>, Error>;

/// The commands.
const COMMANDS: &[(&str, Generate)] = &[
    ("checks", xtask::checks),
    ("claims", xtask::claims),
    ("manual", xtask::manual),
    ("packets", xtask::packets),
    ("registers", xtask::registers),
    ("vulkan", xtask::vulkan),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [command, ledgers @ ..] = arguments.as_slice()
        && command == "trace"
        && ledgers.len() <= 1
    {
        return end(trace(ledgers.first().map(String::as_str)));
    }
    let command = COMMANDS.iter().find(|(name, _)| arguments == [*name]);
    let Some((_, generate)) = command else {
        eprintln!("usage: cargo run -p xtask -- COMMAND\n\ncommands:");
        for (name, _) in COMMANDS {
            eprintln!("  {name}");
        }
        eprintln!("  trace [LEDGER]");
        return ExitCode::from(2);
    };
    end(generate().and_then(|sources| xtask::write(&sources)))
}

/// Prints a ledger of tests, or the names of all ledgers.
fn trace(ledger: Option<&str>) -> Result<(), Error> {
    match ledger {
        Some(name) => print!("{}", traceability::print(&traceability::ledger(name)?)),
        None => println!("{}", traceability::names()?.join("\n")),
    }
    Ok(())
}

/// Returns the exit status of a command, and prints its error.
fn end(result: Result<(), Error>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Errors quote files.
            eprintln!("{}", amdgpu_output::name(&error.to_string()));
            ExitCode::FAILURE
        }
    }
}
