//! A commit between its request and the vertical blank at which it is shown.

use std::sync::Arc;

use super::{configuration::Configuration, outbox::Outbox};
use crate::kernel::sync::fence::Fence;

/// A commit that is to be scanned out.
#[derive(Debug)]
pub(super) struct Pending {
    pub(super) to: Configuration,
    /// CRTCs that take part, by their index.
    pub(super) crtcs: u32,
    pub(super) waits: Vec<Arc<Fence>>,
    pub(super) signals: Vec<Signal>,
    pub(super) done: Arc<Fence>,
}

/// A CRTC that tells when a commit is scanned out.
#[derive(Debug)]
pub(crate) struct Signal {
    /// By its index.
    pub(crate) crtc: u32,
    /// The file that reads an event, where its room is reserved, and the number that it gave.
    pub(crate) event: Option<(Arc<Outbox>, u64)>,
    pub(crate) fence: Option<Arc<Fence>>,
}

impl Pending {
    /// Returns `true` if all that it waits for is done.
    pub(super) fn is_ready(&self) -> bool {
        self.waits.iter().all(|fence| fence.is_signalled())
    }
}
