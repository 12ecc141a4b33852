//! The model of a device's caches, and of the order of accesses.
//!
//! The simulated memory always has the newest bytes. The model only records what real caches would hold: a copy of each line that
//! was read or written through them. A copy is judged by its value: if it differs from memory, and its cache did not write it, then
//! somebody wrote the memory behind the cache since. The CPU, whose stores cannot be intercepted, is thereby included, and stores of
//! equal values are no hazard.

use std::sync::Arc;

use super::{
    access::{By, Moment, Way},
    event::{Log, Time},
    finding::Finding,
    front,
    l2::L2,
    order,
    pages::{Front, LINE, PAGE, Page, Pages, Piece, Tag, chunks, differences, lines},
    targets,
};
use crate::{
    gpu::{FrontCaches, TargetCaches},
    kernel::mm::bo::Bo,
};

/// A range of bytes in a BO.
#[derive(Clone, Copy)]
pub(super) struct Range<'b> {
    pub(super) bo: &'b Arc<Bo>,
    pub(super) offset: u64,
    /// The address of the first byte.
    pub(super) va: u64,
}

impl Range<'_> {
    /// Returns the tag of a page of the range for the caches in front of L2.
    fn tag(&self, vm: Option<u64>, page: usize) -> Tag {
        (vm, self.va.wrapping_sub(self.offset).wrapping_add((page * PAGE) as u64))
    }
}

/// The caches of a device.
#[derive(Clone, Debug, Default)]
pub(super) struct Model {
    pages: Pages,
    l2: L2,
    /// The last invalidation of each cache in front of L2.
    invalidated: [Moment; 5],
    /// The last flush of each cache of colour and depth targets.
    flushed: [Time; 4],
    /// `true` if reads give the bytes that caches hold.
    bites: bool,
}

impl Model {
    pub(super) fn new(bites: bool) -> Self {
        Self { bites, ..Self::default() }
    }

    /// Returns `true` if the last operations on caches are those of another model.
    pub(super) fn was_operated_like(&self, other: &Self) -> bool {
        self.l2 == other.l2 && self.invalidated == other.invalidated && self.flushed == other.flushed
    }

    /// Executes operations on caches, as an event.
    pub(super) fn operate(&mut self, at: Moment, fronts: FrontCaches, writes_back: bool, invalidates: bool) {
        for cache in fronts.iter() {
            self.invalidated[cache.bits().trailing_zeros() as usize] = at;
        }
        if writes_back {
            self.l2.written_back = at;
        }
        if invalidates {
            self.l2.invalidated = at.time;
        }
    }

    /// Writes back caches of colour and depth targets, as an event.
    pub(super) fn flush_targets(&mut self, time: Time, caches: TargetCaches) {
        for cache in caches.iter() {
            self.flushed[cache.bits().trailing_zeros() as usize] = time;
        }
    }

    /// Checks a read; `data` is what memory has there, and becomes what caches hold if the model bites. Returns the offset of the
    /// first byte of a hazard, with its finding.
    pub(super) fn read(&mut self, range: Range<'_>, data: &mut [u8], by: &By, log: &Log) -> Option<(u64, Finding)> {
        let Self { pages, l2, invalidated, flushed, bites } = self;
        let mut found = None;
        for chunk in chunks(range.offset, data.len()) {
            let page = pages.get(range.bo, chunk.page, l2.written_back.time);
            let data = &mut data[chunk.done..chunk.done + chunk.len];
            let tag = range.tag(by.vm, chunk.page);
            for piece in lines(chunk.at, chunk.len) {
                let one = order::read(page, piece, by, log).or_else(|| targets::read(page, piece, by, flushed));
                let one = one.or_else(|| {
                    let (range, bytes) = ((range.bo, chunk.page), &mut data[piece.in_access()]);
                    read_line(page, (l2, invalidated, *bites), (range, piece, tag), bytes, (by, log))
                });
                if let (None, Some((at, finding))) = (found, one) {
                    found = Some(((chunk.page * PAGE + at) as u64, finding));
                }
            }
        }
        found
    }

    /// Checks a write before memory changes. Returns the offset of the first byte of a hazard, with its finding.
    pub(super) fn write(&mut self, range: Range<'_>, data: &[u8], by: &By, log: &Log) -> Option<(u64, Finding)> {
        let Self { pages, l2, .. } = self;
        let mut found = None;
        let mut before = [0; PAGE];
        for chunk in chunks(range.offset, data.len()) {
            let page = pages.get(range.bo, chunk.page, l2.written_back.time);
            let data = &data[chunk.done..chunk.done + chunk.len];
            let before = &mut before[..chunk.len];
            range.bo.read((chunk.page * PAGE + chunk.at) as u64, before);
            for piece in lines(chunk.at, chunk.len) {
                let (before, data) = (&before[piece.in_access()], &data[piece.in_access()]);
                let changed = differences(before, data) << (piece.at % LINE);
                let one = order::write(page, piece, changed, by, log);
                let other = match by.way {
                    Way::In => {
                        l2.write(page, piece, (before, data), by.time, log);
                        None
                    }
                    Way::Past => l2.pass(page, piece, None, log),
                    Way::Coherent => {
                        l2.update(page, piece, data, log);
                        None
                    }
                };
                if by.front == Some(Front::Metadata) {
                    // Shaders write metadata through its cache.
                    front::drop_line(page, Front::Metadata, piece.line);
                }
                order::wrote(page, piece, changed, by, log);
                targets::wrote(page, piece, changed, by);
                if let (None, Some((at, finding))) = (found, one.or(other)) {
                    found = Some(((chunk.page * PAGE + at) as u64, finding));
                }
            }
        }
        found
    }

    /// Checks a fetch of commands, which sees no old copies. Returns the first byte that the fetch does not see yet.
    pub(super) fn fetch(&mut self, range: Range<'_>, len: usize, by: &By, log: &Log) -> Option<(u64, Finding)> {
        let Self { pages, l2, .. } = self;
        let mut found = None;
        for chunk in chunks(range.offset, len) {
            let Some(page) = pages.find(range.bo, chunk.page) else { continue };
            for piece in lines(chunk.at, chunk.len) {
                let behind = |l2: &mut L2, page: &mut Page| {
                    if by.way == Way::Past { l2.pass(page, piece, None, log) } else { None }
                };
                let one = order::read(page, piece, by, log).or_else(|| behind(l2, page));
                if let (None, Some((at, finding))) = (found, one) {
                    found = Some(((chunk.page * PAGE + at) as u64, finding));
                }
            }
        }
        found
    }
}

/// Checks a read of bytes in a line, and fills the caches on its way.
fn read_line(
    page: &mut Page,
    (l2, invalidated, bites): (&L2, &[Moment; 5], bool),
    ((bo, number), piece, tag): ((&Arc<Bo>, usize), Piece, Tag),
    data: &mut [u8],
    (by, log): (&By, &Log),
) -> Option<(usize, Finding)> {
    let fronts = [by.front, by.through_array.then_some(Front::Array)];
    let mut found = None;
    let mut missed = 0;
    for front in fronts.into_iter().flatten() {
        match front::look(page, front, (piece, tag), (&mut *data, bites), (by.time, &invalidated[front as usize]), log)
        {
            front::Look::Miss => missed += 1,
            front::Look::Hit(finding) => {
                found = finding;
                break;
            }
        }
    }
    let has_reached_l2 = missed == fronts.into_iter().flatten().count();
    // The line in memory, before the bytes change to those of a cache.
    let mut whole = [0; LINE];
    if missed > 0 || has_reached_l2 && by.way == Way::In {
        if data.len() == LINE {
            whole.copy_from_slice(data);
        } else {
            bo.read((number * PAGE + piece.line * LINE) as u64, &mut whole);
        }
    }
    if has_reached_l2 {
        found = match by.way {
            Way::In => l2.read(page, piece, (&mut *data, bites), (by.time, log), &whole),
            Way::Past => l2.pass(page, piece, bites.then_some(data), log),
            Way::Coherent => None,
        };
    }
    if bites && found.is_some() {
        // What a cache in front would get is as old, and is found again without it.
        return found;
    }
    for front in fronts.into_iter().flatten().take(missed) {
        front::fill(page, front, (piece.line, tag), &whole, by.time);
    }
    found
}
