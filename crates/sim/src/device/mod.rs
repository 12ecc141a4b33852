//! Simulated devices as programs and tests use them.

pub(crate) mod compute_driver;
pub(crate) mod pressure;
mod sim_device;
pub(crate) mod steer;
mod suspend;

pub use self::{sim_device::SimDevice, suspend::SuspendedGpu};
