//! Values derived from a GPU's properties: peak rates, and the queues of its engines.

mod peak;
mod topology;

pub use peak::{Peaks, Units};
pub use topology::{MecQueue, Mecs, Topology};
