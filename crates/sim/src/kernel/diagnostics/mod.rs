//! Records of what went wrong: complaints about requests and packets, hangs, and errors of the hardware.

pub(crate) mod complaints;
pub(crate) mod hangs;
pub(crate) mod health;
