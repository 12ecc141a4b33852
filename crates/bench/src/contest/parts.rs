//! Rows of one trace against one peer.

use super::{
    ours::Block,
    race::{Allocator, Outcome, contest},
    traces::Trace,
};
use crate::{
    child::Wanted,
    row::{Goal, Row},
};

impl Wanted {
    pub(crate) fn traces<'a>(&'a self, traces: &'a [Trace]) -> impl Iterator<Item = &'a Trace> {
        traces.iter().filter(|trace| self.has(trace.name))
    }
}

/// Time and space use against one peer.
pub(crate) fn parts(trace: &Trace, peer: &str, space: u64, theirs: impl Allocator, add: &mut impl FnMut(Row)) {
    let (ours, theirs) = contest(trace, Block::new(space), theirs, 4 * trace.live);
    let row = Row::times(trace.name, trace.live, ours.pair, peer, theirs.pair, Goal::RatioAtMost(1.0));
    add(noting_failures(row, ours, theirs));
    let bench = format!("{}-use", trace.name);
    add(Row::space(&bench, trace.live, ours.space_use, peer, theirs.space_use, Goal::RatioAtLeast(1.0)));
}

pub(crate) fn noting_failures(row: Row, ours: Outcome, theirs: Outcome) -> Row {
    match (ours.failed, theirs.failed) {
        (0, 0) => row,
        (ours, theirs) => row.noting(format!("failed allocations: ours {ours}, theirs {theirs}")),
    }
}
