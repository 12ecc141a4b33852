//! The world's tree of files, the devices that it is of, and what clients write to it.

pub(crate) mod directory;
pub(crate) mod slots;
pub(crate) mod stores;
