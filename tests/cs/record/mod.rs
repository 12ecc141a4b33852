//! Rules of recording besides packets.

mod chains;
mod small_packets;
mod windows;
