//! `amdgpu-sim doctor`: the reasons why a program does not see the GPU.

mod finding;
mod loading;
mod observation;

use std::{
    io::{self, Write as _},
    process::ExitCode,
    time::Duration,
};

use self::{
    finding::{Finding, findings},
    observation::observe,
};
use crate::{cli::Doctor, error::RunError, reach, run::prepare};

/// Exit code where the program does not see the GPU.
const UNSEEN: u8 = 1;

/// Looks at a program, runs it, and prints what was found. Returns 0 if it sees the GPU, else 1.
pub(crate) fn doctor(arguments: &Doctor) -> Result<ExitCode, RunError> {
    let Some((program, rest)) = arguments.command.split_first() else { return Ok(ExitCode::from(UNSEEN)) };
    let name = program.display().to_string();
    let found = match reach::look(program) {
        Err(reason) => vec![Finding::OutOfReach(reason)],
        Ok(None) => vec![Finding::NotFound],
        Ok(Some(path)) => {
            let prepared = prepare(&arguments.world, false)?;
            let seen = observe(&prepared, program, rest, Duration::from_secs(arguments.seconds))?;
            let mut found = vec![Finding::WithinReach(path)];
            found.extend(findings(&seen));
            found
        }
    };
    print(&name, &found).map_err(RunError::Print)?;
    Ok(if found.iter().all(Finding::is_fine) { ExitCode::SUCCESS } else { ExitCode::from(UNSEEN) })
}

fn print(program: &str, found: &[Finding]) -> io::Result<()> {
    let mut out = crate::terminal::output();
    for finding in found {
        writeln!(out, "{}  {program} {finding}", if finding.is_fine() { "ok" } else { "no" })?;
        if let Some(step) = finding.next_step() {
            writeln!(out, "    next: {step}")?;
        }
    }
    Ok(())
}
