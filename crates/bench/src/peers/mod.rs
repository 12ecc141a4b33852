//! The peers.

pub(crate) mod buddy;
pub(crate) mod libdrm;
pub(crate) mod offset;
#[cfg(feature = "vma")]
pub(crate) mod vma;
