//! The computers that can be looked at: this one, a simulated one, a captured one.

mod captured;
mod clock;
mod live;
pub mod sim;

use std::io;

use amdgpu_winsys::winsys::Kernel;

pub use self::{
    captured::{Captured, MOMENT_FILE, session_path},
    clock::Moment,
    live::Live,
    sim::Simulated,
};
use crate::files::Files;

/// A computer: its files, its GPUs, its clock.
pub trait Machine {
    /// Returns the kind of machine: `live`, `sim` or `root`.
    fn kind(&self) -> &'static str;

    /// Its `/proc` and `/sys`.
    fn files(&self) -> &dyn Files;

    /// Opens a render node, such as `renderD128` of the GPU at `0000:03:00.0`. It may wake the GPU.
    ///
    /// # Errors
    ///
    /// Those of `open`.
    fn open(&self, node: &str, pci: &str) -> io::Result<Box<dyn Kernel>>;

    /// Returns the machine's current time.
    fn now(&self) -> Moment;

    /// Returns `true` if a session with a GPU is always the same, because it is replayed.
    fn is_played_back(&self) -> bool {
        false
    }

    /// Returns `true` if a later look can differ: a captured tree never changes.
    fn changes(&self) -> bool {
        true
    }

    /// Goes on to the next moment, where time does not go on by itself.
    fn advance(&mut self) {}

    /// Returns `true` if time passes by itself; otherwise there is no need to wait for the next moment.
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
