//! The world's tree of files, its devices, and the writes of clients to files.

mod coredumps;
pub(crate) mod directory;
mod owned;
pub(crate) mod slots;
pub(crate) mod stores;
