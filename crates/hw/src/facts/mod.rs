//! Arithmetic about a GPU: peak rates, and the queues that its engines have.

mod peak;
mod topology;

pub use peak::{Peaks, Units};
pub use topology::{MecQueue, Mecs, Topology};
