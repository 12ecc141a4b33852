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
//! ```
//! use amdgpu_budget::{collect::{Collector, Wishes}, machine::Simulated};
//!
//! let mut collector = Collector::new(Simulated::new("renoir", 3)?, Wishes::default());
//! let snapshot = collector.look()?.ok_or("a simulated machine always has a next moment")?;
//! assert_eq!(snapshot.gpus[0].effective.rule, "apu");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod app;
pub mod cli;
pub mod collect;
mod command;
pub mod exit;
pub mod files;
pub mod http;
pub mod machine;
pub mod plot;
pub mod render;
pub mod screen;
pub mod session;
mod snapshot;
pub mod source;
pub mod text;

pub use self::{
    collect::{fdinfo, info},
    snapshot::{effective, figures, metric, model, units, vulkan, warnings},
    source::recording,
};
