//! A hardware smoke test: it checks that a GPU and its kernel driver provide what a Vulkan driver needs.
//!
//! [`run()`] executes a plan of small checks on a [`Target`], which is a Radeon or the embedded simulator. The checks open the GPU,
//! lay out its heaps, allocate memory at managed addresses, record packets, submit them to every ring, and compare the bytes that
//! the GPU wrote. Each check has a stable ID and ends with one of IGT's [statuses](Status); a failure includes its evidence.
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
//! The binary `amdgpu-smoke` is [`main`]: a command line around `run()`, with a report as text or as JSON.

mod app;
mod capture;
mod checks;
mod choice;
mod cli;
mod collect;
mod diff;
mod document;
mod gpu;
mod hardware;
mod identity;
mod isolation;
mod level;
mod list;
mod mode;
mod multi_gpu;
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
    identity::{board::Board, machine::Machine},
    level::Level,
    options::Options,
    result::{
        bandwidth::{Bandwidth, Direction},
        baseline::{BadTolerance, Baseline, BaselineError, Tolerance},
        check_result::CheckResult,
        conclusion::{Conclusion, Group, Verdict},
        evidence::{Difference, Evidence, Refusal},
        exit::Exit,
        expectations::{Expectations, ExpectationsError, List},
        hint::Hint,
        peers::PeerCopy,
        report::{Facts, Gpu, HeapRow, Report, SCHEMA, Summary, TypeRow},
        resumed::{ResumeError, Resumed},
        soak::{FirstFailure, Soak, SoakCheck, SoakEvent},
        status::{Expected, Status},
        tested::{Progress, Tested},
    },
    run::{Observer, run},
};
