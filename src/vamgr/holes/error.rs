//! Errors of an index of holes.

/// An error from taking cells from an index of holes.
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
    /// The number of cells is zero.
    #[error("a run of no cells was requested")]
    Empty,
    /// No hole fits the requested number of cells at a multiple of the step.
    #[error("no hole fits")]
    NoFit,
    /// The requested cells are not completely inside the index.
    #[error("the run is not inside the index")]
    Outside,
    /// Some of the requested cells are taken.
    #[error("cells {from:#x}..{to:#x} are taken")]
    Taken {
        /// First cell of the lowest run of taken cells that overlaps the request.
        from: u64,
        /// End of this run, exclusive.
        to: u64,
    },
    /// The host has no memory for the nodes that later calls of [`Holes::give`](crate::Holes::give) may need.
    #[error("out of host memory")]
    HostMemory,
}

/// The error from freeing cells that are not all taken: some are free or outside the index. Nothing has changed.
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
    /// The first of the cells.
    pub start: u64,
    /// The end of the cells, exclusive.
    pub end: u64,
}

/// The error of [`Holes::new`](crate::Holes::new) for a span that is reversed, too long or too high.
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
    /// The first cell of the span.
    pub start: u64,
    /// The end of the span, exclusive.
    pub end: u64,
}
