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
//! let report = run(&target, &Options::filtered("exec.copy")?, &mut ());
//! assert_eq!(Exit::of(&report), Exit::Pass);
//! # Ok(()) }
//! ```
//!
//! The binary `amdgpu-smoke` is [`main`]: a command line around `run()`, with a report for people or as JSON.

mod app;
mod bundle;
mod checks;
mod child;
mod choice;
mod cli;
mod evidence;
mod exit;
mod expectations;
mod fork;
mod human;
mod igt;
mod json;
mod jsonl;
mod junit;
mod kernel_log;
mod lab;
mod level;
mod list;
mod message;
mod mutant;
mod options;
mod outcome;
mod outputs;
mod parent;
mod pattern;
mod plan;
mod recorder;
mod recordings;
mod report;
mod ring;
mod run;
mod sink;
mod surroundings;
mod tap;
mod tape;
mod target;
mod terminal;
mod text;
#[expect(unsafe_code, reason = "pages of this process are shared with the GPU")]
mod user_pages;
mod word;

pub use self::{
    app::main,
    choice::{BadFilter, BadShard, Choice, Filter, Shard},
    evidence::{Difference, Evidence, Refusal},
    exit::Exit,
    expectations::{Expectations, ExpectationsError, List},
    level::Level,
    mutant::{Mutant, UnknownMutant},
    options::Options,
    report::{CheckResult, Facts, Gpu, HeapRow, Report, SCHEMA, Summary, TypeRow},
    run::{Observer, run},
    target::{Count, NoTarget, Target},
    word::{Expected, Word},
};
