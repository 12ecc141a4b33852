//! IBs whose content is known.

use crate::{cs::Target, vamgr::GpuVa};

/// An IB of a submission.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) target: Target,
    pub(super) va: GpuVa,
    pub(super) dwords: &'a [u32],
}
