//! Controls for tests: held rings, a stopped clock, hangs, mutations.

pub(crate) mod control;
pub(crate) mod hooks;
pub(crate) mod mutation;
