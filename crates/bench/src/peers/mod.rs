//! The peers.

pub(crate) mod buddy;
pub(crate) mod libdrm;
pub(crate) mod libdrm_bo;
pub(crate) mod offset;
pub(crate) mod radv;
pub(crate) mod sparse;
#[cfg(feature = "vma")]
pub(crate) mod vma;
