//! IBs whose dwords are known.

use crate::{cs::Target, vamgr::GpuVa};

/// An IB of a submission, with its dwords.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) target: Target,
    pub(super) va: GpuVa,
    pub(super) dwords: &'a [u32],
}
