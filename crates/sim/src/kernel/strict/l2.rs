//! L2: which bytes it holds, and which of them memory does not have yet.

use super::{
    access::Moment,
    event::{Log, Time},
    finding::{Cache, Finding},
    front::take,
    pages::{Dirty, Held, LINE, LINES, PAGE, Page, Piece, differences},
};

/// The last operations on the L2 of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct L2 {
    pub(super) written_back: Moment,
    pub(super) invalidated: Time,
}

impl Held {
    const fn new() -> Self {
        Self { data: [0; PAGE], valid: [0; LINES], filled: [0; LINES], dirty: None }
    }

    /// Returns the dirty bytes of a line.
    fn dirty_bytes(&self, line: usize, written_back: &Moment, log: &Log) -> u64 {
        let bytes = |dirty: &Dirty| {
            if written_back.is_after(dirty.since[line], log) { 0 } else { dirty.bytes[line] }
        };
        self.dirty.as_deref().map_or(0, bytes)
    }

    /// Returns the valid bytes of a line after the operations since it was last used: what is dirty survives an invalidation.
    fn refresh(&mut self, line: usize, l2: &L2, log: &Log) -> u64 {
        let dirty = self.dirty_bytes(line, &l2.written_back, log);
        if let Some(all) = &mut self.dirty {
            all.bytes[line] = dirty;
        }
        if self.filled[line] <= l2.invalidated {
            self.valid[line] &= dirty;
        }
        self.valid[line]
    }
}

impl L2 {
    /// Reads bytes of a line, which in memory are `data`, and become those of L2 if it `bites`. `whole` is the whole line in memory.
    pub(super) fn read(
        &self,
        page: &mut Page,
        piece: Piece,
        (data, bites): (&mut [u8], bool),
        (now, log): (Time, &Log),
        whole: &[u8; LINE],
    ) -> Option<(usize, Finding)> {
        let writer = page.writer(piece.line);
        let held = page.l2.get_or_insert_with(|| Box::new(Held::new()));
        let valid = held.refresh(piece.line, self, log);
        if valid == 0 {
            held.data[piece.line * LINE..(piece.line + 1) * LINE].copy_from_slice(whole);
            held.valid[piece.line] = u64::MAX;
            held.filled[piece.line] = now;
            return None;
        }
        let copy = &mut held.data[piece.in_page()];
        let old = (differences(copy, data) << (piece.at % LINE)) & valid;
        if bites && old != 0 {
            take(data, copy, old >> (piece.at % LINE));
        } else {
            // Each difference is found once.
            copy.copy_from_slice(data);
        }
        held.valid[piece.line] |= piece.mask();
        if old == 0 {
            return None;
        }
        let dirtied = held.dirty.as_ref().map_or(0, |dirty| dirty.since[piece.line]);
        let filled = held.filled[piece.line].max(dirtied);
        let passed = (writer > filled).then_some(writer);
        Some((piece.first(old), Finding::Stale { cache: Cache::L2, filled, passed }))
    }

    /// Writes bytes into a line, before memory is changed.
    pub(super) fn write(&self, page: &mut Page, piece: Piece, (before, data): (&[u8], &[u8]), now: Time, log: &Log) {
        let held = page.l2.get_or_insert_with(|| Box::new(Held::new()));
        if held.refresh(piece.line, self, log) == 0 {
            held.filled[piece.line] = now;
        }
        let dirty = held
            .dirty
            .get_or_insert_with(|| Box::new(Dirty { behind: [0; PAGE], bytes: [0; LINES], since: [0; LINES] }));
        let new = piece.mask() & !dirty.bytes[piece.line];
        if new == piece.mask() {
            dirty.behind[piece.in_page()].copy_from_slice(before);
        } else {
            for (at, &byte) in piece.in_page().zip(before) {
                if new >> (at % LINE) & 1 != 0 {
                    dirty.behind[at] = byte;
                }
            }
        }
        dirty.bytes[piece.line] |= piece.mask();
        dirty.since[piece.line] = now;
        held.data[piece.in_page()].copy_from_slice(data);
        held.valid[piece.line] |= piece.mask();
    }

    /// Accesses bytes of a line behind L2. Returns the first that is dirty with another value than memory's. `bitten` becomes what a
    /// read finds there.
    pub(super) fn pass(
        &self,
        page: &mut Page,
        piece: Piece,
        bitten: Option<&mut [u8]>,
        log: &Log,
    ) -> Option<(usize, Finding)> {
        let held = page.l2.as_deref_mut()?;
        let bytes = held.dirty_bytes(piece.line, &self.written_back, log) & piece.mask();
        let dirty = held.dirty.as_deref_mut().filter(|_| bytes != 0)?;
        let (data, behind) = (&held.data[piece.in_page()], &mut dirty.behind[piece.in_page()]);
        let hidden = (differences(data, behind) << (piece.at % LINE)) & bytes;
        if hidden == 0 {
            return None;
        }
        match bitten {
            Some(read) => take(read, behind, hidden >> (piece.at % LINE)),
            // Each difference is found once.
            None => behind.copy_from_slice(data),
        }
        Some((piece.first(hidden), Finding::Dirty(dirty.since[piece.line])))
    }

    /// Updates bytes that a coherent agent writes: L2 does not keep old copies of them.
    pub(super) fn update(&self, page: &mut Page, piece: Piece, data: &[u8], log: &Log) {
        if let Some(held) = page.l2.as_deref_mut()
            && held.refresh(piece.line, self, log) != 0
        {
            held.data[piece.in_page()].copy_from_slice(data);
            held.valid[piece.line] |= piece.mask();
        }
    }
}
