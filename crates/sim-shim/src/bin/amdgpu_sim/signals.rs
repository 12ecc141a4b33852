//! Signals while a command runs.

use std::thread;

use nix::{
    sys::signal::{SigSet, Signal, kill},
    unistd::Pid,
};

/// The signals that ask a program to end, held back from the launcher.
#[derive(Debug)]
pub(crate) struct Held(SigSet);

/// Holds the signals back, from this thread and from those that it starts later. A command starts with an empty mask
/// (`run.rs`).
pub(crate) fn hold() -> Held {
    let mut set = SigSet::empty();
    for signal in [Signal::SIGINT, Signal::SIGQUIT, Signal::SIGTERM, Signal::SIGHUP] {
        set.add(signal);
    }
    // Fails for no set of valid signals.
    let _ = set.thread_block();
    Held(set)
}

impl Held {
    /// Makes the signals the command's business: those of the terminal reach it anyway, the others are passed on. The
    /// launcher ends when the command does, and cleans up.
    pub(crate) fn pass_on_to(self, command: libc::pid_t) {
        let command = Pid::from_raw(command);
        thread::spawn(move || {
            while let Ok(signal) = self.0.wait() {
                let from_terminal = matches!(signal, Signal::SIGINT | Signal::SIGQUIT);
                if !from_terminal {
                    // It may have ended meanwhile.
                    let _ = kill(command, signal);
                }
            }
        });
    }
}
