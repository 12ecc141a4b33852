//! Memory budgets of AMD GPUs: how much memory there is, which processes hold it, what is evicted, and how each figure is
//! obtained.
//!
//! ```text
//!  Machine (live, simulated, captured)
//!     | files, INFO
//!     v
//!  Collector ----+
//!                +--> Snapshot --> text, JSON, CSV, Prometheus, plot, screens, check
//!  Recording ----+
//! ```
//!
//! A [`model::Snapshot`] is all there is: no view asks the kernel anything. So `--from FILE` shows what `top` showed, and every
//! figure is the same in every view.
//!
//! The features leave parts out: `cli` is the program with its command line, `tui` the screen of `top`, `png` plots as PNG. All are
//! on by default; without them the crate is a library of snapshots, figures and text.
//!
//! ```
//! use amdgpu_budget::{collect::{Collector, CollectOptions}, machine::Simulated};
//!
//! let mut collector = Collector::new(Simulated::new("renoir", 3)?, CollectOptions::default());
//! let snapshot = collector.look()?.ok_or("a simulated machine always has a next moment")?;
//! assert_eq!(snapshot.gpus[0].effective.rule, "apu");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "cli")]
pub mod app;
#[cfg(feature = "cli")]
pub mod cli;
pub mod collect;
#[cfg(feature = "cli")]
mod command;
pub mod exit;
pub mod files;
#[cfg(feature = "cli")]
pub mod http;
pub mod machine;
#[cfg(feature = "cli")]
pub mod plot;
#[cfg(feature = "cli")]
pub mod render;
#[cfg(feature = "tui")]
pub mod screen;
#[cfg(feature = "cli")]
pub mod session;
mod snapshot;
pub mod source;
pub mod text;

pub use self::{
    collect::{fdinfo, info},
    snapshot::{effective, figures, metric, model, prometheus, units, views, vulkan, warnings},
    source::recording,
};
