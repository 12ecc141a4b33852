//! Copies of the pages of BOs in caches.

use std::{
    collections::HashMap,
    ops::Range,
    sync::{Arc, Weak},
};

use super::event::Time;
use crate::kernel::mm::bo::Bo;

/// Bytes of a line, of all caches.
pub(super) const LINE: usize = 64;
/// Bytes of a page, and the lines in it.
pub(super) const PAGE: usize = 4096;
pub(super) const LINES: usize = PAGE / LINE;

/// The number of pages above which those without dirty bytes are forgotten, which can only hide hazards.
const MOST_PAGES: usize = 1 << 16;

/// A cache in front of L2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// The caches of vector loads.
    Vector,
    /// The caches of scalar loads.
    Scalar,
    /// The instruction caches.
    Instructions,
    /// GL1 of GFX10 to GFX11.5, behind the three others.
    Array,
    /// The cache of compression metadata of GFX9 to GFX11.5.
    Metadata,
}

/// The tag of a page in caches in front of L2: its address space and its address.
pub(super) type Tag = (Option<u64>, u64);

/// The oldest copy of each line that a cache in front of L2 may hold, of all caches of its kind.
#[derive(Clone, Debug)]
pub(super) struct Copies {
    /// The tag for which the lines were filled.
    pub(super) tag: Tag,
    pub(super) data: [u8; PAGE],
    /// The event that filled a line.
    pub(super) filled: [Time; LINES],
}

/// The copy of a page in L2.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) data: [u8; PAGE],
    /// The bytes that a line holds.
    pub(super) valid: [u64; LINES],
    /// The event of the first access since the line is held.
    pub(super) filled: [Time; LINES],
    pub(super) dirty: Option<Box<Dirty>>,
}

/// Bytes in L2 that memory does not have yet.
#[derive(Clone, Debug)]
pub(super) struct Dirty {
    /// The bytes of memory when dirty bytes were written over them.
    pub(super) behind: [u8; PAGE],
    /// The bytes that are dirty, if the line was not written back since `since`.
    pub(super) bytes: [u64; LINES],
    /// The event of the last write.
    pub(super) since: [Time; LINES],
}

/// The last accesses to the lines of a page.
#[derive(Clone, Debug)]
pub(super) struct Last {
    /// The event that wrote a line last, all bytes that it wrote, and those that got another value.
    pub(super) writer: [Time; LINES],
    pub(super) written: [u64; LINES],
    pub(super) changed: [u64; LINES],
    /// The lines whose last writer used atomic operations.
    pub(super) by_atomic: u64,
    /// The event of shaders or DMA that read a line last, and the bytes.
    pub(super) reader: [Time; LINES],
    pub(super) read: [u64; LINES],
    /// The lines whose last reader used atomic operations, or loads that may meet them, alone.
    pub(super) read_by_atomic: u64,
    /// Earlier accesses of each line that may not be over; empty as long as there are none.
    pub(super) others: Vec<Vec<Other>>,
}

/// An access that is not the last one of its line, and may not be over.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    pub(super) time: Time,
    /// The bytes: those that were read, or got another value.
    pub(super) bytes: u64,
    pub(super) is_write: bool,
    pub(super) is_atomic: bool,
}

/// The bytes of a page that are in a cache of render backends.
#[derive(Clone, Debug)]
pub(super) struct InTargets {
    pub(super) bytes: [u64; LINES],
    /// The event of the last write.
    pub(super) since: [Time; LINES],
}

/// A page of a BO.
#[derive(Clone, Debug, Default)]
pub(super) struct Page {
    pub(super) fronts: [Option<Box<Copies>>; 5],
    pub(super) l2: Option<Box<Held>>,
    /// A copy for each of [`TargetCaches`](crate::gpu::TargetCaches).
    pub(super) targets: [Option<Box<InTargets>>; 4],
    pub(super) last: Option<Box<Last>>,
}

impl Page {
    pub(super) fn last(&mut self) -> &mut Last {
        self.last.get_or_insert_with(|| {
            Box::new(Last {
                writer: [0; LINES],
                written: [0; LINES],
                changed: [0; LINES],
                by_atomic: 0,
                reader: [0; LINES],
                read: [0; LINES],
                read_by_atomic: 0,
                others: Vec::new(),
            })
        })
    }

    /// Returns the event that wrote a line last; 0 if none did.
    pub(super) fn writer(&self, line: usize) -> Time {
        self.last.as_ref().map_or(0, |last| last.writer[line])
    }

    /// Returns the bytes of a line that an event has written.
    pub(super) fn written_by(&self, line: usize, time: Time) -> u64 {
        self.last.as_ref().map_or(0, |last| if last.writer[line] == time { last.written[line] } else { 0 })
    }

    fn is_dirty(&self, written_back: Time) -> bool {
        let dirty = self.l2.as_ref().and_then(|held| held.dirty.as_ref());
        dirty.is_some_and(|dirty| (0..LINES).any(|line| dirty.bytes[line] != 0 && dirty.since[line] > written_back))
    }
}

/// The pages of a BO.
#[derive(Clone, Debug, Default)]
struct OfBo {
    bo: Weak<Bo>,
    /// Trials share the pages that they do not change.
    pages: Vec<Option<Arc<Page>>>,
}

/// The pages of all BOs.
#[derive(Clone, Debug, Default)]
pub(super) struct Pages {
    bos: HashMap<u64, OfBo>,
    count: usize,
}

impl Pages {
    /// Returns a page of a BO, if something is known of it. Pages of an earlier BO in its place are gone.
    pub(super) fn find(&mut self, bo: &Arc<Bo>, number: usize) -> Option<&mut Page> {
        let of_bo = self.bos.get_mut(&bo.mmap_offset())?;
        if !std::ptr::eq(of_bo.bo.as_ptr(), Arc::as_ptr(bo)) {
            return None;
        }
        of_bo.pages.get_mut(number)?.as_mut().map(Arc::make_mut)
    }

    /// Returns a page of a BO. `written_back` is the time of L2's last write-back.
    pub(super) fn get(&mut self, bo: &Arc<Bo>, number: usize, written_back: Time) -> &mut Page {
        if self.count >= MOST_PAGES {
            self.forget(written_back);
        }
        let of_bo = self.bos.entry(bo.mmap_offset()).or_default();
        if !std::ptr::eq(of_bo.bo.as_ptr(), Arc::as_ptr(bo)) {
            self.count -= of_bo.pages.iter().flatten().count();
            *of_bo = OfBo { bo: Arc::downgrade(bo), pages: Vec::new() };
        }
        if of_bo.pages.len() <= number {
            of_bo.pages.resize_with(number + 1, || None);
        }
        let count = &mut self.count;
        let page = of_bo.pages[number].get_or_insert_with(|| {
            *count += 1;
            Arc::default()
        });
        Arc::make_mut(page)
    }

    /// Forgets the pages of BOs that are gone, and those without dirty bytes; all of them if that is not enough.
    fn forget(&mut self, written_back: Time) {
        self.bos.retain(|_, of_bo| of_bo.bo.strong_count() > 0);
        for of_bo in self.bos.values_mut() {
            for slot in &mut of_bo.pages {
                if slot.as_ref().is_some_and(|page| !page.is_dirty(written_back)) {
                    *slot = None;
                }
            }
        }
        self.count = self.bos.values().map(|of_bo| of_bo.pages.iter().flatten().count()).sum();
        if self.count >= MOST_PAGES {
            self.bos.clear();
            self.count = 0;
        }
    }
}

/// Returns the mask of bytes of a line.
pub(super) const fn mask(first: usize, len: usize) -> u64 {
    let ones = if len >= LINE { u64::MAX } else { (1 << len) - 1 };
    ones << first
}

/// Returns the mask of the bytes that differ between two ranges of equal length, which is at most that of a line.
pub(super) fn differences(a: &[u8], b: &[u8]) -> u64 {
    if a == b {
        return 0;
    }
    let mut found = 0;
    for (index, (a, b)) in a.chunks(8).zip(b.chunks(8)).enumerate() {
        for (at, (a, b)) in a.iter().zip(b).enumerate() {
            found |= u64::from(a != b) << (8 * index + at);
        }
    }
    found
}

/// A part of an access in a page: the number of the page, the offset in it and that in the access, and the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chunk {
    pub(super) page: usize,
    pub(super) at: usize,
    pub(super) done: usize,
    pub(super) len: usize,
}

/// A part of a chunk in a line: the line, the offset in the page and that in the chunk, and the length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub(super) line: usize,
    pub(super) at: usize,
    pub(super) done: usize,
    pub(super) len: usize,
}

impl Piece {
    /// Returns the mask of the bytes in the line.
    pub(super) const fn mask(self) -> u64 {
        mask(self.at % LINE, self.len)
    }

    /// Returns the range in the page.
    pub(super) const fn in_page(self) -> Range<usize> {
        self.at..self.at + self.len
    }

    /// Returns the range in the chunk.
    pub(super) const fn in_access(self) -> Range<usize> {
        self.done..self.done + self.len
    }

    /// Returns the offset in the page of the first byte of a mask of bytes in the line.
    pub(super) const fn first(self, mask: u64) -> usize {
        self.line * LINE + mask.trailing_zeros() as usize % LINE
    }
}

/// Returns the parts of an access in pages.
pub(super) fn chunks(offset: u64, len: usize) -> impl Iterator<Item = Chunk> {
    parts(offset as usize, len, PAGE).map(|(start, done, len)| Chunk {
        page: start / PAGE,
        at: start % PAGE,
        done,
        len,
    })
}

/// Returns the parts of a range in a page in lines.
pub(super) fn lines(at: usize, len: usize) -> impl Iterator<Item = Piece> {
    parts(at, len, LINE).map(|(at, done, len)| Piece { line: at / LINE % LINES, at, done, len })
}

/// Returns the parts of a range in units of a power of two: where each starts, the bytes before it, and its length.
fn parts(offset: usize, len: usize, unit: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let start = offset + done;
        let before = done;
        let part = (unit - start % unit).min(len - done);
        done += part;
        (part > 0).then_some((start, before, part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_access_is_divided_at_pages_and_lines_and_loses_nothing() {
        let all: Vec<_> = lines(60, 72).map(|piece| (piece.line, piece.at, piece.done, piece.len)).collect();
        assert_eq!(all, [(0, 60, 0, 4), (1, 64, 4, 64), (2, 128, 68, 4)]);
        let all: Vec<_> = chunks(8190, 5000).map(|chunk| (chunk.page, chunk.at, chunk.done, chunk.len)).collect();
        assert_eq!(all, [(1, 4094, 0, 2), (2, 0, 2, 4096), (3, 0, 4098, 902)]);
        assert_eq!(lines(7, 0).count(), 0);
        assert_eq!(mask(60, 4), 0xf << 60);
        assert_eq!(mask(0, 64), u64::MAX);
    }

    #[test]
    fn differences_are_found_byte_by_byte() {
        let a: [u8; 64] = std::array::from_fn(|at| at as u8);
        for at in 0..64 {
            let mut b = a;
            b[at] ^= 0x80;
            assert_eq!(differences(&a, &b), 1 << at);
            assert_eq!(differences(&a[..=at], &b[..=at]), 1 << at);
        }
        assert_eq!(differences(&a, &a), 0);
    }
}
