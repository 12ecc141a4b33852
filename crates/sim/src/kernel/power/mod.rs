//! Power management: what the GPU does, and the clocks, temperatures and watts that follow from it.

mod activity;
mod figures;
mod metrics;
mod script;
mod state;

pub use self::script::{LoadError, LoadScript};
pub(crate) use self::{
    figures::{Figures, levels},
    metrics::gpu_metrics,
    state::Power,
};
