//! The caches in front of L2, which no write updates but those of the shader itself.
//!
//! A kind of cache is modelled as one, which keeps the oldest copy that any of them may have: shaders run on any compute unit. A
//! shader's own stores are known to the cache that it uses, so a shader is not told that a copy is older than its own stores; data
//! races within a dispatch are looked for elsewhere.

use super::{
    access::Moment,
    event::{Log, Time},
    finding::{Cache, Finding},
    pages::{Copies, Front, LINE, LINES, PAGE, Page, Piece, Tag, differences},
};

/// The result of looking for bytes in a cache.
pub(super) enum Look {
    /// The cache need not have the line.
    Miss,
    /// The cache may have the line, perhaps with old bytes.
    Hit(Option<(usize, Finding)>),
}

/// Looks for bytes of a line, which in memory are `data`, and become those of the copy if it `bites`.
pub(super) fn look(
    page: &mut Page,
    front: Front,
    (piece, tag): (Piece, Tag),
    (data, bites): (&mut [u8], bool),
    (now, invalidated): (Time, &Moment),
    log: &Log,
) -> Look {
    let own = page.written_by(piece.line, now);
    let writer = page.writer(piece.line);
    let written = page.written_by(piece.line, writer);
    let Some(copies) = page.fronts[front as usize].as_deref_mut() else { return Look::Miss };
    let filled = copies.filled[piece.line];
    if filled == 0 || copies.tag != tag {
        return Look::Miss;
    }
    // Work that ran on after the invalidation may have loaded the line again, before the store of other work that ran on.
    let runs_on = invalidated.is_during(filled, log) && invalidated.is_during(writer, log);
    if filled <= invalidated.time && !runs_on {
        return Look::Miss;
    }
    let copy = &mut copies.data[piece.in_page()];
    let old = (differences(copy, data) << (piece.at % LINE))
        & !own
        & if filled <= invalidated.time { written } else { u64::MAX };
    // What others do while a dispatch runs is a data race of its own.
    if old == 0 || filled == now || writer > now {
        return Look::Hit(None);
    }
    if bites {
        take(data, copy, old >> (piece.at % LINE));
    } else {
        // Each difference is found once.
        copy.copy_from_slice(data);
    }
    let passed = (writer > filled).then_some(writer);
    Look::Hit(Some((piece.first(old), Finding::Stale { cache: Cache::Front(front), filled, passed })))
}

/// Takes the bytes of a mask from a copy.
pub(super) fn take(data: &mut [u8], copy: &[u8], mask: u64) {
    for (at, (byte, &old)) in data.iter_mut().zip(copy).enumerate() {
        if mask >> at & 1 != 0 {
            *byte = old;
        }
    }
}

/// Fills a line with the bytes of memory.
pub(super) fn fill(page: &mut Page, front: Front, (line, tag): (usize, Tag), data: &[u8; LINE], now: Time) {
    let copies = page.fronts[front as usize]
        .get_or_insert_with(|| Box::new(Copies { tag, data: [0; PAGE], filled: [0; LINES] }));
    if copies.tag != tag {
        // Another address or address space has lines of its own, and only one is kept.
        copies.tag = tag;
        copies.filled = [0; LINES];
    }
    copies.data[line * LINE..(line + 1) * LINE].copy_from_slice(data);
    copies.filled[line] = now;
}

/// Forgets the copy of a line that an agent writes through the cache.
pub(super) fn drop_line(page: &mut Page, front: Front, line: usize) {
    if let Some(copies) = &mut page.fronts[front as usize] {
        copies.filled[line] = 0;
    }
}
