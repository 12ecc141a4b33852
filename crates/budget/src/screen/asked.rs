//! The question whether a process should get a signal.

use std::{os::fd::OwnedFd, sync::Arc};

/// A process that waits for the user's answer.
#[derive(Clone, Debug)]
pub struct Asked {
    pub(super) pid: u32,
    pub(super) name: String,
    pub(super) process: Arc<OwnedFd>,
}

impl Asked {
    /// Returns the question.
    pub fn question(&self) -> String {
        format!("end {} ({})? t SIGTERM, k SIGKILL, any other key: no", self.name, self.pid)
    }
}
