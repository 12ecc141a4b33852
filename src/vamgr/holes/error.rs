//! Errors of an index of holes.

/// The reason why no cells were taken.
///
/// ```
/// use amdgpu_va::{Holes, Step, TakeError};
///
/// let mut holes = Holes::new(0..8)?;
/// holes.take_at(2, 2)?;
/// assert_eq!(holes.take_lowest(5, Step::ONE), Err(TakeError::NoFit));
/// assert_eq!(holes.take_at(3, 2), Err(TakeError::Taken { from: 2, to: 4 }));
/// assert_eq!(holes.take_at(7, 2), Err(TakeError::Outside));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TakeError {
    /// No cells were asked for.
    #[error("a run of no cells was requested")]
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
///
/// ```
/// use amdgpu_va::{Holes, NotTaken, Step};
///
/// let mut holes = Holes::new(0..8)?;
/// let run = holes.take_lowest(4, Step::ONE)?;
/// assert_eq!(holes.give(run, 5), Err(NotTaken { start: 0, end: 5 })); // one cell too many
/// holes.give(run, 4)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cells {start:#x}..{end:#x} are not all taken")]
pub struct NotTaken {
    /// The first cell given.
    pub start: u64,
    /// One past the last cell given.
    pub end: u64,
}

/// The span asked of [`Holes::new`](crate::Holes::new) is reversed, too long or too high.
///
/// ```
/// use amdgpu_va::{BadSpan, CELLS_END, Holes};
///
/// let error = Holes::new(CELLS_END - 1..CELLS_END + 1).unwrap_err();
/// assert_eq!(error, BadSpan { start: CELLS_END - 1, end: CELLS_END + 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an index cannot span the cells {start:#x}..{end:#x}")]
pub struct BadSpan {
    /// The first cell.
    pub start: u64,
    /// One past the last cell.
    pub end: u64,
}
