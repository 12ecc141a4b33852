//! Fences, and the objects that share them between clients.

pub(crate) mod chain;
pub(crate) mod eventfd;
pub(crate) mod events;
pub(crate) mod fence;
pub(crate) mod number;
pub(crate) mod point;
pub(crate) mod reservation;
pub(crate) mod sync_file;
pub(crate) mod syncobj;
pub(crate) mod timeline;
pub(crate) mod timelines;
