//! Records of what woke a suspended GPU.

use std::{fmt, time::Duration};

use crate::kernel::process::identity::Process;

/// The access that woke a GPU.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WakeCause {
    /// A node was opened.
    Open,
    /// The last descriptor of an open file was closed. The process is the one that opened the file.
    Close,
    /// A request on an open file, with its name; `None` for a request that does not exist.
    Ioctl(Option<&'static str>),
    /// A file of the device's directory in sysfs was read.
    Read(String),
    /// A file of the device's directory in sysfs was written.
    Write(String),
}

impl fmt::Display for WakeCause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("open"),
            Self::Close => f.write_str("close"),
            Self::Ioctl(name) => write!(f, "ioctl {}", name.unwrap_or("unknown")),
            Self::Read(file) => write!(f, "read {file}"),
            Self::Write(file) => write!(f, "write {file}"),
        }
    }
}

/// An access to a suspended GPU that woke it. As text: `1234 nvtop: read gpu_busy_percent`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct WakeUp {
    /// The process that accessed the GPU.
    pub process: Process,
    /// The access.
    pub cause: WakeCause,
    /// The time since the device was created, by the GPU's clock.
    pub at: Duration,
}

impl fmt::Display for WakeUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A process can give itself a name with line breaks.
        write!(f, "{} {}: {}", self.process.pid, self.process.name.escape_debug(), self.cause)
    }
}

/// The wake-ups of a GPU since the device was created.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WakeUps {
    /// The number of wake-ups.
    pub count: u64,
    /// The latest 1024 of them, the oldest first.
    pub latest: Vec<WakeUp>,
}
