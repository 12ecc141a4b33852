//! Fences: points on a queue.

use std::{fmt, sync::Arc};

use super::{Result, queue::Shared};
use crate::{uapi::CsChunkDep, winsys::Deadline};

/// A submission's place on its queue. It has signalled once the submission and all before it are done.
#[derive(Clone)]
pub struct Fence {
    shared: Arc<Shared>,
    sequence: u64,
}

impl fmt::Debug for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fence").field("sequence", &self.sequence).finish_non_exhaustive()
    }
}

impl Fence {
    pub(super) fn new(shared: Arc<Shared>, sequence: u64) -> Self {
        Self { shared, sequence }
    }

    /// The kernel's number for it: submissions of the queue, from 1.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Whether the GPU has written the sequence number. No ioctl; a lost job never signals this way, ask
    /// [`Fence::wait`].
    pub fn is_signalled(&self) -> bool {
        self.shared.has_reached(self.sequence)
    }

    /// Waits for the submission; false when the deadline came first. No ioctl when it is already done.
    ///
    /// # Errors
    ///
    /// [`super::Error::Winsys`] with [`DeviceLost`](crate::winsys::Error::DeviceLost) when the job was lost to a reset.
    pub fn wait(&self, deadline: Deadline) -> Result<bool> {
        self.shared.wait(self.sequence, deadline)
    }

    pub(super) fn shared(&self) -> &Shared {
        &self.shared
    }

    pub(super) fn dependency(&self) -> CsChunkDep {
        self.shared.dependency(self.sequence)
    }
}
