//! The space in which the colours of a wave are written.

/// A pixel of a wave that is written.
pub(in crate::execute) struct Pixel {
    pub(super) place: [u32; 3],
    pub(super) lane: usize,
    pub(super) samples: u16,
}

/// The space of the waves of a draw for what is written, which is kept from wave to wave.
#[derive(Default)]
pub(in crate::execute) struct Scratch {
    pub(super) pixels: Vec<Pixel>,
    /// The address of each sample, what was there, and what is written.
    pub(super) addresses: Vec<u64>,
    pub(super) old: Vec<u8>,
    pub(super) data: Vec<u8>,
}
