//! The hardware smoke test: does this GPU, with this kernel, do what a Vulkan driver needs of it?
//!
//! [`run()`] takes a [`Target`], a Radeon or the embedded simulator, through a plan of small checks: open it, lay out its
//! heaps, allocate memory at managed addresses, record packets, submit them to every ring, and compare what the GPU
//! wrote byte for byte. Each check has a stable id and ends in one of IGT's [words](Status), a failure with its evidence.
//!
//! ```
//! use amdgpu_smoke::{Exit, Options, Target, run};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::simulated("navi21")?;
//! let report = run(&target, &Options::filtered("exec.copy")?, &mut ());
//! assert_eq!(Exit::of(&report), Exit::Pass);
//! # Ok(()) }
//! ```
//!
//! The binary `amdgpu-smoke` is [`main`]: a command line around `run()`, with a report for people or as JSON.

mod app;
mod capture;
mod checks;
mod choice;
mod cli;
mod document;
mod gpu;
mod hardware;
mod isolation;
mod level;
mod list;
mod many;
mod options;
mod output;
mod plan;
mod recordings;
mod result;
mod run;

pub use self::{
    app::main,
    capture::capture,
    choice::{BadFilter, BadShard, Choice, Filter, Shard},
    gpu::{
        mutant::{Mutant, UnknownMutant},
        target::{Count, NoTarget, Target},
    },
    hardware::state::{Hardware, HardwareEvent, HardwareRule, Sensors, Watched},
    level::Level,
    options::Options,
    result::{
        bandwidth::{Bandwidth, Direction},
        baseline::{BadTolerance, Baseline, BaselineError, Tolerance},
        check_result::CheckResult,
        evidence::{Difference, Evidence, Refusal},
        exit::Exit,
        expectations::{Expectations, ExpectationsError, List},
        peers::PeerCopy,
        report::{Facts, Gpu, HeapRow, Report, SCHEMA, Summary, TypeRow},
        resumed::{ResumeError, Resumed},
        soak::{FirstFailure, Soak, SoakCheck, SoakEvent},
        status::{Expected, Status},
        tested::{Progress, Tested},
    },
    run::{Observer, run},
};
