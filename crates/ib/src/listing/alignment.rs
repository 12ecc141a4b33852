//! The alignment of two lists of blocks.

use std::{
    ops::Range,
    time::{Duration, Instant},
};

use similar::{Algorithm, DiffOp, capture_diff_slices, capture_diff_slices_deadline};

use super::{Block, Kind};

/// The time after which the rest of two very different lists is aligned less accurately.
const PATIENCE: Duration = Duration::from_secs(20);

/// A step of the alignment of two lists, A and B.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Alignment<'b> {
    /// A block in both lists.
    Equal(&'b Block),
    /// A packet in both lists with different content, A's first.
    Changed(&'b Block, &'b Block),
    /// A block in A only.
    Removed(&'b Block),
    /// A block in B only.
    Added(&'b Block),
}

/// Aligns two lists: first equal blocks, and between them packets with the same name.
pub(crate) fn align<'b>(a: &'b [Block], b: &'b [Block]) -> Vec<Alignment<'b>> {
    let deadline = Some(Instant::now() + PATIENCE);
    let [old, new] = [a, b].map(|list| list.iter().map(|block| block.compared.as_slice()).collect::<Vec<_>>());
    let mut steps = Vec::new();
    for step in capture_diff_slices_deadline(Algorithm::Myers, &old, &new, deadline) {
        match step {
            DiffOp::Equal { .. } => steps.extend(a[step.old_range()].iter().map(Alignment::Equal)),
            _ => replace(&a[step.old_range()], &b[step.new_range()], &mut steps),
        }
    }
    steps
}

/// Aligns blocks that differ, by the names of packets.
fn replace<'b>(a: &'b [Block], b: &'b [Block], steps: &mut Vec<Alignment<'b>>) {
    let name = |block: &Block| match block.kind {
        Kind::Packet { name, .. } => name,
        Kind::Title { .. } => "",
    };
    let [old, new] = [a, b].map(|list| list.iter().map(name).collect::<Vec<_>>());
    for step in capture_diff_slices(Algorithm::Myers, &old, &new) {
        let (old, new): (Range<usize>, Range<usize>) = (step.old_range(), step.new_range());
        if let DiffOp::Equal { .. } = step {
            steps.extend(a[old].iter().zip(&b[new]).map(|(a, b)| Alignment::Changed(a, b)));
        } else {
            steps.extend(a[old].iter().map(Alignment::Removed));
            steps.extend(b[new].iter().map(Alignment::Added));
        }
    }
}
