//! Open files: handles, names and descriptors, and the nodes through which they are opened.

pub(crate) mod census;
pub(crate) mod descriptors;
pub(crate) mod file;
pub(crate) mod file_id;
pub(crate) mod handles;
pub(crate) mod ids;
pub(crate) mod jobs;
mod master;
pub(crate) mod names;
pub(crate) mod node;
