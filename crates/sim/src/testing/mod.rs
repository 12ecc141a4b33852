//! Controls for tests: held rings, a stopped clock, memory pressure, mutations.

pub(crate) mod control;
pub(crate) mod hooks;
pub(crate) mod mutation;
pub(crate) mod pressure;
pub(crate) mod steer;
