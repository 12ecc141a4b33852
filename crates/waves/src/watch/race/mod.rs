//! Races: accesses that neither barriers nor atomic operations put in an order.

mod clock;
mod shadow;

pub(super) use clock::{Clock, WaveNumber};
pub(super) use shadow::{Access, Shadow};
