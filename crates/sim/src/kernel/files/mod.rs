//! The parts of open files: handles and names, and the nodes through which they are opened.

pub(crate) mod census;
pub(crate) mod handles;
mod master;
pub(crate) mod names;
pub(crate) mod node;

// Requests find all of a file's parts here.
pub(crate) use super::{
    machine::{descriptors, file_id},
    open::{file, jobs},
};
pub(crate) mod syncobjs;
