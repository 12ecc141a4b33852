//! The order of accesses within a job: what a packet starts is not over when the next packet is executed.
//!
//! The prefetch parser runs ahead of the micro engine, dispatches run concurrently with what follows them, and so does the DMA of a
//! graphics ring. The model keeps the last write and the last read of each line, and the last event up to which each of them is over.

use super::{
    access::{By, Order},
    event::{Agent, Event, Log, Time},
    finding::Finding,
    pages::{Page, Piece},
};

impl Order {
    /// Returns `true` if work of an earlier event of the job may still run.
    fn is_running(&self, earlier: Time, agent: Agent, by: Agent) -> bool {
        match agent {
            Agent::Shader => earlier > self.shaders,
            Agent::Dma => self.has_dma && earlier > self.dma && !(by == Agent::Dma && self.waits_for_dma),
            Agent::Pfp | Agent::Engine => false,
        }
    }
}

/// Returns an earlier event, if it belongs to the current job and is not the current one.
fn earlier<'l>(log: &'l Log, time: Time, by: &By) -> Option<&'l Event> {
    if by.is_private || time <= by.order.first || time == by.time {
        return None;
    }
    log.get(time).filter(|event| event.job == by.order.job)
}

/// Checks a read of bytes of a line, and remembers reads of what runs concurrently.
pub(super) fn read(page: &mut Page, piece: Piece, by: &By, log: &Log) -> Option<(usize, Finding)> {
    let is_slow = matches!(by.agent, Agent::Shader | Agent::Dma) && !by.is_private;
    if page.last.is_none() && !is_slow {
        return None;
    }
    let last = page.last();
    let line = piece.line;
    let mut found = None;
    let changed = last.changed[line] & piece.mask();
    if changed != 0
        && let Some(event) = earlier(log, last.writer[line], by)
    {
        let meets_atomic = by.is_atomic && last.by_atomic >> line & 1 != 0;
        if by.order.is_running(last.writer[line], event.agent, by.agent) && !meets_atomic {
            let finding = Finding::Race { earlier: last.writer[line], by: event.agent, is_write: true };
            found = Some((piece.first(changed), finding));
        } else if by.agent == Agent::Pfp && event.agent != Agent::Pfp && last.writer[line] > by.order.pfp {
            found = Some((piece.first(changed), Finding::Ahead(last.writer[line])));
        }
        if found.is_some() {
            // Each is found once.
            last.changed[line] &= !changed;
        }
    }
    if is_slow && !by.is_atomic {
        if last.reader[line] != by.time {
            last.reader[line] = by.time;
            last.read[line] = 0;
        }
        last.read[line] |= piece.mask();
    }
    found
}

/// Checks a write that changes bytes of a line.
pub(super) fn write(page: &mut Page, piece: Piece, changed: u64, by: &By, log: &Log) -> Option<(usize, Finding)> {
    let last = page.last.as_deref_mut().filter(|_| changed != 0)?;
    let line = piece.line;
    let overwritten = changed & last.written[line];
    if overwritten != 0
        && let Some(event) = earlier(log, last.writer[line], by)
        && by.order.is_running(last.writer[line], event.agent, by.agent)
        && !(by.is_atomic && last.by_atomic >> line & 1 != 0)
    {
        let finding = Finding::Race { earlier: last.writer[line], by: event.agent, is_write: true };
        return Some((piece.first(overwritten), finding));
    }
    let read = changed & last.read[line];
    if read != 0
        && let Some(event) = earlier(log, last.reader[line], by)
        && by.order.is_running(last.reader[line], event.agent, by.agent)
    {
        last.read[line] = 0;
        let finding = Finding::Race { earlier: last.reader[line], by: event.agent, is_write: false };
        return Some((piece.first(read), finding));
    }
    None
}

/// Remembers a write.
pub(super) fn wrote(page: &mut Page, piece: Piece, changed: u64, by: &By) {
    let last = page.last();
    let line = piece.line;
    if last.writer[line] != by.time {
        last.writer[line] = by.time;
        last.written[line] = 0;
        last.changed[line] = 0;
        last.by_atomic &= !(1 << line);
    }
    last.written[line] |= piece.mask();
    last.changed[line] |= if by.is_private { 0 } else { changed };
    last.by_atomic |= u64::from(by.is_atomic) << line;
}
