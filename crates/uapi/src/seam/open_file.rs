//! The open file behind a kernel. Two kernels on one open file are the same kernel.

use std::{
    os::fd::BorrowedFd,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::AcqRel, Ordering::Release},
    },
};

/// The open file behind a [`Kernel`](crate::Kernel): that which handles, GPU addresses and contexts belong to.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum OpenFile<'k> {
    /// The file of a descriptor of this process. Copies of a descriptor (dup, `SCM_RIGHTS`) are the same file.
    Descriptor(BorrowedFd<'k>),
    /// A file that this process made itself.
    InProcess(&'k FileIdentity),
}

/// The identity of a file that has no descriptor. Clones are the same identity, two new ones are not.
#[derive(Clone, Debug, Default)]
pub struct FileIdentity {
    is_claimed: Arc<AtomicBool>,
}

impl FileIdentity {
    /// Creates a new identity.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the file for one owner; `None` while another one has it.
    pub fn claim(&self) -> Option<IdentityClaim> {
        let was_claimed = self.is_claimed.swap(true, AcqRel);
        (!was_claimed).then(|| IdentityClaim { identity: self.clone() })
    }
}

/// The right of one owner to a file of the process, given back on drop.
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
