//! The order of accesses: what a packet starts is not over when the next packet is executed.
//!
//! The prefetch parser runs ahead of the micro engine, dispatches run concurrently with what follows them, and so does the DMA of a
//! graphics ring. The model keeps the last write and the last read of each line, those before them that may not be over, and the
//! last event up to which each kind of work is over.

use super::{
    access::{By, Order},
    event::{Agent, Event, Log, Time},
    finding::Finding,
    pages::{LINES, Last, Other, Page, Piece},
};

/// The number of earlier accesses of a line that are kept, the newest of them.
const MOST_OTHERS: usize = 16;

impl Order {
    /// Returns `true` if work of an earlier event of the job may still run.
    fn is_running(&self, earlier: Time, agent: Agent, by: Agent) -> bool {
        match agent {
            Agent::Shader => earlier > self.shaders,
            // Render backends keep draws in order, and what shaders of draws do is not told apart from that.
            Agent::Draw => earlier > self.draws && by != Agent::Draw,
            // Writes of an engine land in their order.
            Agent::Posted => earlier > self.posted,
            Agent::Dma => self.has_dma && earlier > self.dma && !(by == Agent::Dma && self.waits_for_dma),
            Agent::Pfp | Agent::Engine => false,
        }
    }
}

/// Returns an earlier event, if it belongs to the current job or to one that may still run, and is not the current one; and `true` for
/// one of another ring.
fn earlier<'l>(log: &'l Log, time: Time, by: &By) -> Option<(&'l Event, bool)> {
    if by.is_private || time == by.time || by.order.others == Time::MAX {
        return None;
    }
    let (event, job) = (log.get(time)?, by.order.job);
    if event.job == job || log.jobs.is_before(event.job, job) {
        return Some((event, false));
    }
    (time > by.order.others && log.jobs.is_apart(event.job, job)).then_some((event, true))
}

/// Returns the finding of an access to bytes that an earlier access wrote or read, and that are now written or read.
fn conflict(other: Other, is_written: bool, by: &By, log: &Log) -> Option<Finding> {
    let (event, is_apart) = earlier(log, other.time, by)?;
    let Other { time, is_write, is_atomic, .. } = other;
    let agent = by.agent_of(event, time);
    // What an engine has only read is over, and its writes land in their order.
    let is_in_order = agent == Agent::Posted && (!is_write || is_written && by.agent != Agent::Shader);
    let is_running = is_apart || by.order.is_running(time, agent, by.agent) && !is_in_order;
    if is_running && !(by.is_atomic && is_atomic) {
        return Some(Finding::Race { earlier: time, by: agent, is_write, is_apart });
    }
    let is_ahead = is_write && by.agent == Agent::Pfp && agent != Agent::Pfp && time > by.order.pfp;
    (is_ahead && event.job == by.order.job).then_some(Finding::Ahead(time))
}

/// Keeps an access that another one replaces as the last one of its line, as long as it may not be over.
fn keep(last: &mut Last, line: usize, other: Other, by: &By, log: &Log) {
    let is_open = |other: &Other| {
        earlier(log, other.time, by).is_some_and(|(event, is_apart)| {
            let agent = by.agent_of(event, other.time);
            is_apart
                || by.order.is_running(other.time, agent, Agent::Engine)
                || other.is_write && agent != Agent::Pfp && other.time > by.order.pfp
        })
    };
    if other.bytes == 0 || !is_open(&other) {
        return;
    }
    if last.others.is_empty() {
        last.others.resize_with(LINES, Vec::new);
    }
    let others = &mut last.others[line];
    if others.len() >= MOST_OTHERS {
        others.retain(is_open);
    }
    if others.len() >= MOST_OTHERS {
        others.remove(0);
    }
    others.push(other);
}

/// Returns the first conflict with the kept accesses of a line, which is found once.
fn others(last: &mut Last, piece: Piece, bytes: u64, reads: bool, by: &By, log: &Log) -> Option<(usize, Finding)> {
    let others = last.others.get_mut(piece.line)?;
    for other in others.iter_mut().filter(|other| reads || other.is_write) {
        let common = other.bytes & bytes;
        if common != 0
            && let Some(finding) = conflict(*other, reads, by, log)
        {
            other.bytes &= !common;
            return Some((piece.first(common), finding));
        }
    }
    None
}

/// Checks a read of bytes of a line, and remembers reads of what runs concurrently.
pub(super) fn read(page: &mut Page, piece: Piece, by: &By, log: &Log) -> Option<(usize, Finding)> {
    let is_slow = matches!(by.agent, Agent::Shader | Agent::Draw | Agent::Dma) && !by.is_private;
    if page.last.is_none() && !is_slow {
        return None;
    }
    let last = page.last();
    let line = piece.line;
    let mut found = None;
    let changed = last.changed[line] & piece.mask();
    if changed != 0
        && let Some(finding) = conflict(last.write_of(line), false, by, log)
    {
        found = Some((piece.first(changed), finding));
        // Each is found once.
        last.changed[line] &= !changed;
    }
    if found.is_none() && !last.others.is_empty() {
        found = others(last, piece, piece.mask(), false, by, log);
    }
    if is_slow {
        if last.reader[line] != by.time {
            let before = last.read_of(line);
            keep(last, line, before, by, log);
            last.reader[line] = by.time;
            last.read[line] = 0;
            last.read_by_atomic |= 1 << line;
        }
        last.read[line] |= piece.mask();
        last.read_by_atomic &= !(u64::from(!by.is_atomic) << line);
    }
    found
}

/// Checks a write that changes bytes of a line.
pub(super) fn write(page: &mut Page, piece: Piece, changed: u64, by: &By, log: &Log) -> Option<(usize, Finding)> {
    let last = page.last.as_deref_mut().filter(|_| changed != 0)?;
    let line = piece.line;
    // PFP does not write what it reads ahead, so a write after a write is a race or nothing.
    let overwritten = changed & last.written[line];
    if overwritten != 0
        && let Some(finding @ Finding::Race { .. }) = conflict(last.write_of(line), true, by, log)
    {
        return Some((piece.first(overwritten), finding));
    }
    let read = changed & last.read[line];
    if read != 0
        && let Some(finding) = conflict(last.read_of(line), true, by, log)
    {
        last.read[line] = 0;
        return Some((piece.first(read), finding));
    }
    others(last, piece, changed, true, by, log).filter(|(_, finding)| matches!(finding, Finding::Race { .. }))
}

/// Remembers a write.
pub(super) fn wrote(page: &mut Page, piece: Piece, changed: u64, by: &By, log: &Log) {
    let last = page.last();
    let line = piece.line;
    if last.writer[line] != by.time {
        let before = last.write_of(line);
        keep(last, line, before, by, log);
        last.writer[line] = by.time;
        last.written[line] = 0;
        last.changed[line] = 0;
        last.by_atomic &= !(1 << line);
    }
    last.written[line] |= piece.mask();
    last.changed[line] |= if by.is_private { 0 } else { changed };
    last.by_atomic |= u64::from(by.is_atomic) << line;
}

impl Last {
    /// Returns the last write of a line.
    fn write_of(&self, line: usize) -> Other {
        let is_atomic = self.by_atomic >> line & 1 != 0;
        Other { time: self.writer[line], bytes: self.changed[line], is_write: true, is_atomic }
    }

    /// Returns the last read of a line.
    fn read_of(&self, line: usize) -> Other {
        let is_atomic = self.read_by_atomic >> line & 1 != 0;
        Other { time: self.reader[line], bytes: self.read[line], is_write: false, is_atomic }
    }
}
