//! The doorbells of a device that user queues have.
//!
//! Source: Linux 7.2 `amdgpu_userq.c`, `amdgpu_userq_create`.

use std::{collections::HashSet, sync::Arc};

use amdgpu_uapi::Errno;
use parking_lot::Mutex;

use crate::kernel::mm::bo::Bo;

/// The doorbells of a device that user queues have: the address of the BO's object, and the offset in the BO in bytes.
#[derive(Debug, Default)]
pub(crate) struct Doorbells(Mutex<HashSet<(usize, u64)>>);

impl Doorbells {
    /// Claims a doorbell until the claim is dropped.
    ///
    /// # Errors
    ///
    /// EBUSY if another queue has the doorbell.
    pub(crate) fn claim(self: &Arc<Self>, bo: &Arc<Bo>, offset: u64) -> Result<Claim, Errno> {
        if self.0.lock().insert(place(bo, offset)) {
            Ok(Claim { doorbells: Arc::clone(self), bo: Arc::clone(bo), offset })
        } else {
            Err(Errno::EBUSY)
        }
    }
}

/// A doorbell that no other queue can have. It keeps the BO alive, so that no other BO has its address.
#[derive(Debug)]
pub(crate) struct Claim {
    doorbells: Arc<Doorbells>,
    bo: Arc<Bo>,
    offset: u64,
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.doorbells.0.lock().remove(&place(&self.bo, self.offset));
    }
}

fn place(bo: &Arc<Bo>, offset: u64) -> (usize, u64) {
    (Arc::as_ptr(bo).addr(), offset)
}
