//! Buffers: their records, the tables of handles and names, sharing, CPU mappings, metadata, GPU mappings and lists.

mod addresses;
mod bo;
mod cpu;
mod functions;
mod lists;
mod mapping;
mod metadata;
mod sharing;

pub(crate) use self::{bo::Bo, lists::List};
