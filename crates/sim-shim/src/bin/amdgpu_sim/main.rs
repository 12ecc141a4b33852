//! The launcher: runs a command in a world of simulated AMD GPUs.

mod cli;
mod reach;
mod run;
mod signals;

use std::process::ExitCode;

use amdgpu_sim::{ShaderWatch, TracedWaves};
use clap::Parser as _;

use self::{
    cli::{Cli, Run, Task},
    run::{Changes, RunError, Watching},
};

fn main() -> ExitCode {
    let result = match Cli::parse().task {
        Task::Run(arguments) => start(*arguments),
        Task::Profiles => cli::list_profiles(),
        Task::Census => run::census(),
    };
    result.unwrap_or_else(|error| {
        eprintln!("amdgpu-sim: {error}");
        ExitCode::from(run::CANNOT_RUN)
    })
}

/// Runs a command in a world of its own, as the command line says.
fn start(arguments: Run) -> Result<ExitCode, RunError> {
    let first = TracedWaves::One { group: [0; 3], wave: 0 };
    let watching = arguments.trace_shader.map(|log| Watching {
        log,
        watch: ShaderWatch {
            trace: arguments.trace_wave.map_or(Some(first), |traced| traced.0),
            stores: arguments.break_on_store.map(|address| address..address.saturating_add(4)),
            races: arguments.find_races,
        },
    });
    let changes = Changes {
        kernel: arguments.kernel,
        lockup_timeout: arguments.lockup_timeout,
        kernel_vram: arguments.kernel_vram,
        wide_fills: arguments.wide_fills,
        video: arguments.video,
        load: arguments.load,
    };
    let chips = arguments.gpu.as_deref();
    run::run((chips, arguments.null), changes, watching.as_ref(), arguments.shim, &arguments.command)
}
