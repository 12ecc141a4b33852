//! Errors of an index of holes.

/// The reason why no cells were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// No cells were asked for.
    #[error("a run of no cells was asked for")]
    Empty,
    /// No hole is large enough, and aligned, for the run.
    #[error("no hole fits")]
    NoFit,
    /// The exact run asked for is not all inside the index.
    #[error("the run is not inside the index")]
    Outside,
    /// The exact run asked for is not all free.
    #[error("cells {from:#x}..{to:#x} are taken")]
    Taken {
        /// First cell of the lowest taken stretch that meets the run.
        from: u64,
        /// One past its last cell.
        to: u64,
    },
    /// The nodes for a later give could not be reserved.
    #[error("out of host memory")]
    HostMemory,
}

/// A run given back was not all taken: some of it is a hole already, or outside the index. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cells {start:#x}..{end:#x} are not all taken")]
pub struct NotTaken {
    /// The first cell given.
    pub start: u64,
    /// One past the last cell given.
    pub end: u64,
}

/// The span asked of [`Holes::new`](crate::Holes::new) is reversed, too long or too high.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an index cannot span the cells {start:#x}..{end:#x}")]
pub struct BadSpan {
    /// The first cell.
    pub start: u64,
    /// One past the last cell.
    pub end: u64,
}
