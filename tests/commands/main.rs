//! Commands against models: what they do to memory on every chip, the packets they become, and what they refuse.

#[path = "../support/mod.rs"]
mod support;

mod bytes;
mod compressed;
mod images;
mod packets;
mod reader;
mod refusals;
mod rig;
mod signals;
