//! Rules of recording besides packets.

mod chains;
mod windows;
