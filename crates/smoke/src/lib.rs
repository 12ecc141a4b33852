//! The hardware smoke test: does this GPU, with this kernel, do what a Vulkan driver needs of it?
//!
//! [`run()`] takes a [`Target`], a Radeon or the embedded simulator, through a plan of small checks: open it, lay out its
//! heaps, allocate memory at managed addresses, record packets, submit them to every ring, and compare what the GPU
//! wrote byte for byte. Each check has a stable id and ends in one of IGT's [words](Word), a failure with its evidence.
//!
//! ```
//! use amdgpu_smoke::{Exit, Options, Target, run};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::simulated("navi21")?;
//! let report = run(&target, &Options { filter: Some("exec.copy".to_owned()), ..Options::default() }, &mut ());
//! assert_eq!(Exit::of(&report), Exit::Pass);
//! # Ok(()) }
//! ```
//!
//! The binary `amdgpu-smoke` is [`main`]: a command line around `run()`, with a report for people or as JSON.

mod app;
mod checks;
mod cli;
mod exit;
mod human;
mod json;
mod lab;
mod outcome;
mod pattern;
mod plan;
mod recorder;
mod recordings;
mod report;
mod ring;
mod run;
mod target;
#[expect(unsafe_code, reason = "pages of this process are shared with the GPU")]
mod user_pages;

pub use self::{
    app::main,
    cli::Level,
    exit::Exit,
    report::{CheckResult, Facts, Gpu, HeapRow, Report, SCHEMA, Summary, TypeRow, Word},
    run::{Observer, Options, run},
    target::{Count, NoTarget, Target},
};
