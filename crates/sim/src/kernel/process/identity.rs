//! Processes by number and name.

use super::client;

/// A process.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Process {
    /// The process ID.
    pub pid: libc::pid_t,
    /// The name in `/proc/PID/comm`; empty if the process had ended.
    pub name: String,
}

impl Process {
    /// Returns the process that accesses the GPU on this thread.
    pub(crate) fn current() -> Self {
        Self::of(client::accessing())
    }

    /// Returns the process with this ID.
    pub(crate) fn of(pid: libc::pid_t) -> Self {
        let name = std::fs::read(format!("/proc/{pid}/comm")).unwrap_or_default();
        Self { pid, name: String::from_utf8_lossy(name.trim_ascii_end()).into_owned() }
    }
}
