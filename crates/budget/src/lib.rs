//! Memory budgets of AMD GPUs: how much memory there is, which processes hold it, what is displaced from VRAM and why,
//! and how each figure is obtained.
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
//! All views use only a [`model::Snapshot`] and never query the kernel. Therefore `--from FILE` shows exactly what `top` showed,
//! and every figure is the same in every view.
//!
//! Features select parts of the crate: `cli` is the program with its command line, `tui` is the screen of `top`, `png` writes plots
//! as PNG. All are enabled by default. Without them the crate is a library of snapshots, figures and text.
//!
//! ```
//! use amdgpu_budget::{collect::{Collector, CollectOptions}, machine::Simulated};
//!
//! let mut collector = Collector::new(Simulated::new("renoir", 3)?, CollectOptions::default());
//! let snapshot = collector.look()?.ok_or("a simulated machine always has a next moment")?;
//! assert_eq!(snapshot.gpus[0].effective.rule, "apu");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod advice;
#[cfg(feature = "cli")]
pub mod app;
pub mod buffers;
#[cfg(feature = "cli")]
pub mod cli;
pub mod collect;
#[cfg(feature = "cli")]
mod command;
pub mod exit;
#[cfg(feature = "cli")]
pub mod http;
pub mod machine;
pub mod past;
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
#[cfg(feature = "cli")]
mod terminal;
pub mod text;
pub mod why;

pub use amdgpu_pool::{fdinfo, files};

pub use self::{
    collect::info,
    snapshot::{figures, metric, model, prometheus, units, views, vulkan, warnings},
    source::recording,
};
