//! Options of a simulated device and of its kernel, which the caller chooses.

pub(crate) mod display;
pub(crate) mod edid;
pub(crate) mod features;
pub(crate) mod lockup;
pub(crate) mod place;
pub(crate) mod release;
mod sim_options;

pub use self::sim_options::{SimOptions, Strictness, StrictnessError};
