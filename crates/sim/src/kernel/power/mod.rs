//! Power management: the activity of the GPU, the resulting clocks, temperatures and power, and its sleep.

mod activity;
pub(crate) mod clock;
mod figures;
mod metrics;
mod runtime;
mod script;
mod state;
mod wake_up;

pub(crate) use self::{
    figures::{Figures, levels},
    metrics::gpu_metrics,
    runtime::{RuntimePm, RuntimeState, RuntimeStatus},
    state::Power,
};
pub use self::{
    script::{LoadError, LoadScript},
    wake_up::{WakeCause, WakeUp, WakeUps},
};
