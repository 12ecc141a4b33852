//! The caches of colour and depth targets and of their metadata: what a draw writes to its targets is there until an event flushes
//! them, and render backends alone find it.

use super::{
    access::By,
    event::Time,
    finding::Finding,
    pages::{InTargets, LINES, Page, Piece},
};
use crate::gpu::TargetCaches;

/// Returns the finding of a read of bytes that are still in caches of targets, of which each was `flushed` at an event. Each is found
/// once.
pub(super) fn read(page: &mut Page, piece: Piece, by: &By, flushed: &[Time; 4]) -> Option<(usize, Finding)> {
    if by.of_target.is_some() {
        return None;
    }
    for (index, (held, flushed)) in page.targets.iter_mut().zip(flushed).enumerate() {
        let Some(held) = held.as_deref_mut() else { continue };
        let since = held.since[piece.line];
        let hidden = held.bytes[piece.line] & piece.mask();
        if hidden != 0 && since > *flushed && since != by.time {
            held.bytes[piece.line] &= !hidden;
            let cache = TargetCaches::from_bits_retain(1 << index);
            return Some((piece.first(hidden), Finding::InTargets(cache, since)));
        }
    }
    None
}

/// Remembers a write.
pub(super) fn wrote(page: &mut Page, piece: Piece, changed: u64, by: &By) {
    let Some(cache) = by.of_target else {
        // What overwrites a target is ordered behind it, or a race.
        for held in page.targets.iter_mut().flatten() {
            held.bytes[piece.line] &= !piece.mask();
        }
        return;
    };
    let Some(slot) = page.targets.get_mut(cache.bits().trailing_zeros() as usize).filter(|_| changed != 0) else {
        return;
    };
    let held = slot.get_or_insert_with(|| Box::new(InTargets { bytes: [0; LINES], since: [0; LINES] }));
    held.bytes[piece.line] |= changed;
    held.since[piece.line] = by.time;
}
