//! Races of allocators over the same work: what is to be done, the library's side, and the rows that come of it.

pub(crate) mod ours;
pub(crate) mod parts;
pub(crate) mod race;
pub(crate) mod traces;
