//! The memory of the rules about packets.

use std::cell::Cell;

use crate::gpu::Place;

/// The packets of a job that matter to later ones.
#[derive(Debug, Default)]
pub(super) struct Rules {
    /// The number of packets so far, and the numbers of the last ones that matter to others.
    pub(super) packets: Cell<u64>,
    pub(super) sampled: Cell<Option<u64>>,
    pub(super) ended: Cell<Option<(u64, Place)>>,
    /// The work that was started since PFP waited for ME.
    pub(super) started: Cell<Option<Place>>,
    /// The DMA that wrote memory and for which nothing has waited.
    pub(super) open_dma: Cell<Option<Place>>,
    /// `true` if the current DMA is over when the next packet begins.
    pub(super) is_synced: Cell<bool>,
    /// The event of the last end-of-pipe or end-of-shader packet.
    pub(super) stored: Cell<u64>,
}
