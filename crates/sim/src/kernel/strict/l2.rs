//! A model of L2: which bytes it holds, and which of them memory does not have yet.
//!
//! The simulated memory always has the newest bytes. The model only records what a real L2 would hold: a copy of each line that was
//! read or written through it. A copy is judged by its value: if it differs from memory, and L2 did not write it, then somebody
//! wrote the memory behind L2 since. The CPU, whose stores cannot be intercepted, is thereby included, and stores of equal values
//! are no hazard.

use std::{
    collections::HashMap,
    sync::{Arc, Weak},
};

use crate::{gpu::Place, kernel::mm::bo::Bo};

/// Bytes of a line.
pub(super) const LINE: u64 = 64;

/// The number of lines above which copies without dirty bytes are dropped, which can only hide hazards.
const MOST_LINES: usize = 1 << 20;

/// An access to memory, as reports name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// The number of the job on the device, from 1 on.
    pub(super) job: u64,
    pub(super) place: Place,
    /// `true` for an access of a shader that the packet started.
    pub(super) is_shader: bool,
}

/// A line of L2.
#[derive(Debug)]
struct Line {
    data: [u8; LINE as usize],
    /// The bytes of memory when dirty bytes were written over them.
    behind: [u8; LINE as usize],
    /// The bytes that the line holds.
    valid: u64,
    /// The bytes that memory does not have yet, if the line was not written back since `dirtied`.
    dirty: u64,
    /// The times of the first access since the line is held, and of the last write.
    filled: u64,
    dirtied: u64,
    filler: Access,
    writer: Option<Access>,
    /// The last access that wrote the memory behind the line.
    passed: Option<Access>,
}

/// Bytes that L2 hides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Finding {
    /// The line has old bytes. The line was filled by the first access, and the second wrote memory, if it was not the CPU.
    Stale { filled: Access, passed: Option<Access> },
    /// Memory has old bytes, because this write is still in L2.
    Dirty(Access),
}

/// The lines of a BO.
#[derive(Debug, Default)]
struct Lines {
    bo: Weak<Bo>,
    lines: HashMap<u64, Line>,
}

/// The L2 of a device.
#[derive(Debug, Default)]
pub(super) struct L2 {
    bos: HashMap<u64, Lines>,
    count: usize,
    now: u64,
    written_back: u64,
    invalidated: u64,
}

/// Returns the mask of bytes of a line.
const fn mask(first: usize, len: usize) -> u64 {
    let ones = if len >= 64 { u64::MAX } else { (1 << len) - 1 };
    ones << first
}

/// Returns the pieces of a range in lines: the line's number, the first byte in it, and the range of bytes of the access.
pub(super) fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, std::ops::Range<usize>)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let at = offset + done as u64;
        let first = (at % LINE) as usize;
        let part = (LINE as usize - first).min(len - done);
        let range = done..done + part;
        done += part;
        (part > 0).then_some((at / LINE, first, range))
    })
}

impl L2 {
    /// Returns the lines of a BO. Those of an earlier BO in its place are gone.
    fn lines(&mut self, bo: &Arc<Bo>) -> &mut HashMap<u64, Line> {
        let entry = self.bos.entry(bo.mmap_offset()).or_default();
        if !std::ptr::eq(entry.bo.as_ptr(), Arc::as_ptr(bo)) {
            self.count -= entry.lines.len();
            *entry = Lines { bo: Arc::downgrade(bo), lines: HashMap::new() };
        }
        &mut entry.lines
    }

    /// Returns a line that L2 holds, after the operations since it was last used.
    fn line(&mut self, bo: &Arc<Bo>, number: u64) -> Option<&mut Line> {
        let (written_back, invalidated) = (self.written_back, self.invalidated);
        let lines = self.lines(bo);
        let line = lines.get_mut(&number)?;
        if line.dirtied < written_back {
            line.dirty = 0;
        }
        if line.filled < invalidated {
            // What is dirty survives an invalidation.
            line.valid &= line.dirty;
            if line.valid == 0 {
                lines.remove(&number);
                self.count -= 1;
                return None;
            }
        }
        self.lines(bo).get_mut(&number)
    }

    fn insert(&mut self, bo: &Arc<Bo>, number: u64, line: Line) {
        if self.count >= MOST_LINES {
            self.drop_clean();
        }
        if self.lines(bo).insert(number, line).is_none() {
            self.count += 1;
        }
    }

    /// Drops the lines of BOs that are gone, and those without dirty bytes.
    fn drop_clean(&mut self) {
        let written_back = self.written_back;
        self.bos.retain(|_, entry| entry.bo.strong_count() > 0);
        for entry in self.bos.values_mut() {
            entry.lines.retain(|_, line| line.dirty != 0 && line.dirtied >= written_back);
        }
        self.count = self.bos.values().map(|entry| entry.lines.len()).sum();
    }

    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// Reads bytes through L2; `data` is what memory has there. Returns the first stale byte, with its finding.
    pub(super) fn read(&mut self, bo: &Arc<Bo>, offset: u64, data: &[u8], by: Access) -> Option<(u64, Finding)> {
        let now = self.tick();
        let mut found = None;
        for (number, first, range) in pieces(offset, data.len()) {
            let start = range.start as u64;
            let data = &data[range];
            let Some(line) = self.line(bo, number) else {
                let mut bytes = [0; LINE as usize];
                bo.read(number * LINE, &mut bytes);
                let line = Line {
                    data: bytes,
                    behind: bytes,
                    valid: u64::MAX,
                    dirty: 0,
                    filled: now,
                    dirtied: 0,
                    filler: by,
                    writer: None,
                    passed: None,
                };
                self.insert(bo, number, line);
                continue;
            };
            for (at, &byte) in (first..).zip(data) {
                let is_held = line.valid >> at & 1 != 0;
                if is_held && line.data[at] != byte && found.is_none() {
                    let finding = Finding::Stale { filled: line.writer.unwrap_or(line.filler), passed: line.passed };
                    found = Some((offset + start + (at - first) as u64, finding));
                }
                // Each difference is found once.
                line.data[at] = byte;
            }
            line.valid |= mask(first, data.len());
        }
        found
    }

    /// Writes bytes through L2, before memory is changed.
    pub(super) fn write(&mut self, bo: &Arc<Bo>, offset: u64, data: &[u8], by: Access) {
        let now = self.tick();
        for (number, first, range) in pieces(offset, data.len()) {
            let data = &data[range];
            if self.line(bo, number).is_none() {
                let line = Line {
                    data: [0; LINE as usize],
                    behind: [0; LINE as usize],
                    valid: 0,
                    dirty: 0,
                    filled: now,
                    dirtied: now,
                    filler: by,
                    writer: None,
                    passed: None,
                };
                self.insert(bo, number, line);
            }
            let mut before = [0; LINE as usize];
            bo.read(number * LINE, &mut before);
            let Some(line) = self.line(bo, number) else { continue };
            let bits = mask(first, data.len());
            for at in (first..first + data.len()).filter(|at| line.dirty >> at & 1 == 0) {
                line.behind[at] = before[at];
            }
            line.data[first..first + data.len()].copy_from_slice(data);
            line.valid |= bits;
            line.dirty |= bits;
            line.dirtied = now;
            line.writer = Some(by);
        }
    }

    /// Accesses bytes behind L2. Returns the first byte that is dirty in L2 with another value than memory's, with its finding.
    pub(super) fn pass(
        &mut self,
        bo: &Arc<Bo>,
        offset: u64,
        len: usize,
        writer: Option<Access>,
    ) -> Option<(u64, Finding)> {
        self.tick();
        let mut found = None;
        for (number, first, range) in pieces(offset, len) {
            let start = range.start as u64;
            let Some(line) = self.line(bo, number) else { continue };
            let differs = |at: &usize| line.dirty >> at & 1 != 0 && line.data[*at] != line.behind[*at];
            if let (Some(at), Some(writer), true) =
                ((first..first + range.len()).find(differs), line.writer, found.is_none())
            {
                found = Some((offset + start + (at - first) as u64, Finding::Dirty(writer)));
                // Each difference is found once.
                line.behind = line.data;
            }
            if writer.is_some() {
                line.passed = writer;
            }
        }
        found
    }

    /// Updates bytes that a coherent agent writes: L2 does not keep old copies of them.
    pub(super) fn update(&mut self, bo: &Arc<Bo>, offset: u64, data: &[u8]) {
        for (number, first, range) in pieces(offset, data.len()) {
            if let Some(line) = self.line(bo, number) {
                line.data[first..first + range.len()].copy_from_slice(&data[range.clone()]);
                line.valid |= mask(first, range.len());
            }
        }
    }

    /// Writes dirty bytes back.
    pub(super) fn write_back(&mut self) {
        // Later writes have later times.
        self.written_back = self.tick();
        self.now += 1;
    }

    /// Drops what is not dirty.
    pub(super) fn invalidate(&mut self) {
        self.invalidated = self.tick();
        self.now += 1;
    }
}
