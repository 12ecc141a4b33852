//! Rules of recording besides packets.

mod chains;
pub(crate) mod lists;
mod small_packets;
mod windows;
