//! Commits between their request and the vertical blank at which they are shown.

use std::sync::Arc;

use super::{configuration::Configuration, outbox::Outbox};
use crate::kernel::sync::fence::Fence;

/// A commit that is not scanned out yet.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) to: Configuration,
    /// The CRTCs that take part, as a mask by index.
    pub(super) crtcs: u32,
    pub(super) waits: Vec<Arc<Fence>>,
    pub(super) signals: Vec<Signal>,
    pub(super) done: Arc<Fence>,
}

/// A CRTC that reports when a commit is scanned out.
#[derive(Debug)]
pub(crate) struct Signal {
    /// The index of the CRTC.
    pub(crate) crtc: u32,
    /// The file that reads the event, with room reserved, and the client's number for the event.
    pub(crate) event: Option<(Arc<Outbox>, u64)>,
    pub(crate) fence: Option<Arc<Fence>>,
}

impl Pending {
    /// Returns `true` if all that the commit waits for is done.
    pub(super) fn is_ready(&self) -> bool {
        self.waits.iter().all(|fence| fence.is_signalled())
    }
}
