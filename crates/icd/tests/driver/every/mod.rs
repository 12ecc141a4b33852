//! Every entry point that no other test has called, and a check that none is left out.

mod commands;
mod full;
mod messages;
mod questions;
mod sources;

/// Calls commands, one after the other.
macro_rules! all {
    ($($call:expr;)*) => {$(
        // SAFETY: handles are live, or null where that is legal, and structures are valid.
        unsafe { $call };
    )*};
}

/// Calls a command.
macro_rules! ask {
    ($call:expr) => {
        // SAFETY: handles are live, or null where that is legal, and structures are valid.
        unsafe { $call }
    };
}

use {all, ask};
