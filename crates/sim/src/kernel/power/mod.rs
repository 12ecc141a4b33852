//! Power management: the activity of the GPU, and the resulting clocks, temperatures and power.

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
