//! Memory that does not fit at once.

use std::fmt;

/// Memory that does not fit at once. A submission of it fails with ENOMEM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a working set needs {needed} bytes of {pool} at once, which has {usable} usable")]
pub struct OverCommit {
    /// The pool that is too small.
    pub pool: Pool,
    /// Bytes that must be resident in it at once.
    pub needed: u64,
    /// Bytes it has, less what the kernel has pinned.
    pub usable: u64,
}

/// Pools in which BOs can be resident.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pool {
    /// Video memory, for BOs that may be nowhere else.
    Vram,
    /// System memory, for BOs that may be nowhere else.
    Gtt,
    /// Both together, for everything.
    Both,
}

impl fmt::Display for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Vram => "VRAM",
            Self::Gtt => "GTT",
            Self::Both => "VRAM and GTT",
        })
    }
}
