//! What recording promises besides packets.

mod chains;
mod windows;
