//! The open file of a kernel. Two kernels with one open file are the same kernel.

use std::{
    os::fd::BorrowedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::AcqRel, Ordering::Release},
    },
};

/// The open file of a [`Kernel`](crate::Kernel), which owns handles, GPU addresses and contexts.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum OpenFile<'k> {
    /// The file of a descriptor of this process. Copies of a descriptor (dup, `SCM_RIGHTS`) refer to the same file.
    Descriptor(BorrowedFd<'k>),
    /// A file that exists only in this process, without a descriptor.
    InProcess(&'k FileIdentity),
}

/// The identity of a file without a descriptor. Clones have the same identity; two new values have different ones.
#[derive(Clone, Debug, Default)]
pub struct FileIdentity {
    is_claimed: Arc<AtomicBool>,
}

impl FileIdentity {
    /// Creates an identity that differs from all others.
    pub fn new() -> Self {
        Self::default()
    }

    /// Claims the file for one owner; `None` if another owner has claimed it.
    pub fn claim(&self) -> Option<IdentityClaim> {
        let was_claimed = self.is_claimed.swap(true, AcqRel);
        (!was_claimed).then(|| IdentityClaim { identity: self.clone() })
    }
}

/// The claim of one owner to a file without a descriptor. Dropping it releases the file.
#[derive(Debug)]
#[must_use = "dropping it gives the file back"]
pub struct IdentityClaim {
    identity: FileIdentity,
}

impl Drop for IdentityClaim {
    fn drop(&mut self) {
        self.identity.is_claimed.store(false, Release);
    }
}
