//! The caches of colour and depth targets, which are taken for one: what a draw writes to its targets is there until an event flushes
//! them, and render backends alone find it.

use super::{
    access::By,
    event::Time,
    finding::Finding,
    pages::{InTargets, LINES, Page, Piece},
};

/// Returns the finding of a read of bytes that are still in the caches of targets. Each is found once.
pub(super) fn read(page: &mut Page, piece: Piece, by: &By, flushed: Time) -> Option<(usize, Finding)> {
    let held = page.targets.as_deref_mut().filter(|_| !by.is_of_targets)?;
    let since = held.since[piece.line];
    let hidden = held.bytes[piece.line] & piece.mask();
    if hidden == 0 || since <= flushed || since == by.time {
        return None;
    }
    held.bytes[piece.line] &= !hidden;
    Some((piece.first(hidden), Finding::InTargets(since)))
}

/// Remembers a write.
pub(super) fn wrote(page: &mut Page, piece: Piece, changed: u64, by: &By) {
    if !by.is_of_targets {
        // What overwrites a target is ordered behind it, or a race.
        if let Some(held) = page.targets.as_deref_mut() {
            held.bytes[piece.line] &= !piece.mask();
        }
    } else if changed != 0 {
        let held = page.targets.get_or_insert_with(|| Box::new(InTargets { bytes: [0; LINES], since: [0; LINES] }));
        held.bytes[piece.line] |= changed;
        held.since[piece.line] = by.time;
    }
}
