//! Buffers: their records, the tables of handles and names, sharing, CPU mappings, metadata, GPU mappings and lists.

mod addresses;
mod bo;
mod functions;
mod lists;
mod mapping;
mod metadata;
mod sharing;
mod table;

pub(crate) use self::{bo::Bo, functions::deadline, lists::List, table::Table};
