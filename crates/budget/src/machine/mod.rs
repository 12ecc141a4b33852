//! The computers of which snapshots can be taken: this one, a simulated one, or a captured one.

mod captured;
mod clock;
mod live;
pub mod sim;

use std::io;

use amdgpu_winsys::{uapi::WedgedEvent, winsys::Kernel};

pub use self::{
    captured::{Captured, MOMENT_FILE, session_path},
    clock::Moment,
    live::Live,
    sim::Simulated,
};
use crate::files::Files;

/// A computer, with its files, GPUs and clock.
pub trait Machine {
    /// Returns the kind of machine: `live`, `sim` or `root`.
    fn kind(&self) -> &'static str;

    /// Returns the machine's `/proc` and `/sys`.
    fn files(&self) -> &dyn Files;

    /// Opens a render node, such as `renderD128` of the GPU at `0000:03:00.0`. This may wake the GPU.
    ///
    /// # Errors
    ///
    /// The errors of `open`.
    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Kernel>>;

    /// Returns the open file of a GPU that a process has under a descriptor.
    ///
    /// # Errors
    ///
    /// The errors of `pidfd_open` and `pidfd_getfd`: EBADF if the process has no such descriptor; EPERM if it may not be traced.
    /// Unsupported for a captured tree.
    fn file_of(&self, _pid: u32, _fd: u32, _pci: &str) -> io::Result<Box<dyn Kernel>> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "this is no running computer"))
    }

    /// Returns the kernel's events about resets since the last call, or since this value was created. Linux sends them from 6.15 on.
    fn resets(&mut self) -> Vec<WedgedEvent> {
        Vec::new()
    }

    /// Returns the machine's current time.
    fn now(&self) -> Moment;

    /// Returns `true` if sessions with GPUs are replayed, so that the same requests must be made in each session.
    fn is_played_back(&self) -> bool {
        false
    }

    /// Returns `true` if a later snapshot can differ. Returns `false` for a captured tree, which never changes.
    fn changes(&self) -> bool {
        true
    }

    /// Advances simulated time to the next moment. Does nothing if time passes by itself.
    fn advance(&mut self) {}

    /// Returns `true` if the machine runs in real time, so that the caller must wait between snapshots.
    fn has_real_time(&self) -> bool {
        false
    }
}

impl Machine for Box<dyn Machine> {
    fn kind(&self) -> &'static str {
        (**self).kind()
    }

    fn files(&self) -> &dyn Files {
        (**self).files()
    }

    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Kernel>> {
        (**self).open(node, pci)
    }

    fn file_of(&self, pid: u32, fd: u32, pci: &str) -> io::Result<Box<dyn Kernel>> {
        (**self).file_of(pid, fd, pci)
    }

    fn resets(&mut self) -> Vec<WedgedEvent> {
        (**self).resets()
    }

    fn now(&self) -> Moment {
        (**self).now()
    }

    fn is_played_back(&self) -> bool {
        (**self).is_played_back()
    }

    fn changes(&self) -> bool {
        (**self).changes()
    }

    fn advance(&mut self) {
        (**self).advance();
    }

    fn has_real_time(&self) -> bool {
        (**self).has_real_time()
    }
}
