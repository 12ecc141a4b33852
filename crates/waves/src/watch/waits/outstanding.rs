//! The outstanding operations of a wave.

use std::collections::VecDeque;

use amdgpu_hw::GfxLevel;

use super::{
    access::{Accesses, Span},
    counter::{Counter, Limits},
    issue::{Issue, Queue, Writer},
};

/// A counter that an outstanding operation holds up.
#[derive(Clone, Copy, Debug)]
struct Held {
    counter: Counter,
    queue: Queue,
    /// The number of later operations that complete after this one.
    later: u8,
}

impl Held {
    /// Returns the largest value of the counter with which the operation has certainly completed: operations that complete after
    /// it are outstanding as well. FLAT loads make a counter unreliable.
    fn enough(self, level: GfxLevel, unreliable: &[Counter]) -> u8 {
        if unreliable.contains(&self.counter) { 0 } else { self.later.min(self.counter.most(level) - 1) }
    }
}

/// The registers that an outstanding operation accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Marks {
    /// Registers that it writes.
    Results,
    /// Registers that it reads, which must not be overwritten.
    StoredData,
}

/// An outstanding operation whose registers must not be accessed.
#[derive(Debug)]
struct Operation {
    pc: u64,
    spans: Vec<Span>,
    /// The lanes of vector registers.
    lanes: u64,
    marks: Marks,
    writer: Option<Writer>,
    held: [Option<Held>; 2],
}

/// An access to a register of an outstanding operation.
#[derive(Debug)]
pub(in crate::watch) struct Conflict {
    pub(super) register: u16,
    /// `true` if the register is read, `false` if it is overwritten.
    pub(super) reads: bool,
    pub(super) marks: Marks,
    pub(in crate::watch) pc: u64,
    /// The largest values of counters that exclude the conflict.
    pub(super) enough: Vec<(Counter, u8)>,
}

/// The maximum number of operations. Fewer can be outstanding: seven counters count to at most 63.
const MOST: usize = 512;

/// The outstanding operations of a wave, the oldest first.
#[derive(Debug, Default)]
pub(in crate::watch) struct Outstanding {
    operations: VecDeque<Operation>,
    /// Counters that FLAT loads may decrement in any order (up to GFX9): a value above 0 says nothing about any operation.
    unreliable: Vec<Counter>,
}

/// Returns the lanes of vector registers that an instruction accesses.
///
/// From GFX11 on results of memory may overwrite lanes that were off (Mesa's `insert_wait_entry`).
fn lanes(level: GfxLevel, exec: u64, all: bool) -> u64 {
    if all || level >= GfxLevel::Gfx11 { u64::MAX } else { exec }
}

impl Outstanding {
    /// Returns `true` if nothing is outstanding.
    pub(super) fn is_idle(&self) -> bool {
        self.operations.is_empty() && self.unreliable.is_empty()
    }

    /// Returns the conflicts of an instruction with outstanding operations.
    pub(super) fn conflicts(
        &self,
        level: GfxLevel,
        accesses: &Accesses,
        exec: u64,
        writer: Option<Writer>,
    ) -> Vec<Conflict> {
        let lanes = lanes(level, exec, accesses.all_lanes);
        let overlap = |operation: &Operation, spans: &[Span]| {
            let common = spans.iter().flat_map(|span| operation.spans.iter().map(|other| span.common(*other)));
            let mut registers = common.flatten();
            registers.find(|register| *register < super::access::VECTORS || lanes & operation.lanes != 0)
        };
        let mut found = Vec::new();
        for operation in &self.operations {
            let read = match operation.marks {
                Marks::Results => overlap(operation, &accesses.reads),
                Marks::StoredData => None,
            };
            let in_order = operation.marks == Marks::Results && writer.is_some() && writer == operation.writer;
            let written = || if in_order { None } else { overlap(operation, &accesses.writes) };
            if let Some(register) = read.or_else(written) {
                let enough =
                    operation.held.iter().flatten().map(|held| (held.counter, held.enough(level, &self.unreliable)));
                found.push(Conflict {
                    register,
                    reads: read.is_some(),
                    marks: operation.marks,
                    pc: operation.pc,
                    enough: enough.collect(),
                });
            }
        }
        found
    }

    /// Removes the operations that have certainly completed when counters have come down to `limits`.
    pub(super) fn wait(&mut self, level: GfxLevel, limits: &Limits) {
        let Self { operations, unreliable } = self;
        for operation in operations.iter_mut() {
            for held in &mut operation.held {
                *held = held.filter(|held| {
                    let enough = held.enough(level, unreliable);
                    limits.get(held.counter).is_none_or(|limit| limit > enough)
                });
            }
        }
        operations.retain(|operation| operation.held.iter().any(Option::is_some));
        unreliable.retain(|counter| limits.get(*counter) != Some(0));
    }

    /// Adds the operation of an instruction.
    pub(super) fn issue(&mut self, level: GfxLevel, pc: u64, issue: Issue, accesses: &Accesses, exec: u64) {
        let writes = !accesses.writes.is_empty();
        for (counter, queue) in issue.counts.into_iter().flatten() {
            self.count(level, counter, queue);
            if queue == Queue::Flat && !queue.is_ordered(level) && writes && !self.unreliable.contains(&counter) {
                self.unreliable.push(counter);
            }
        }
        let held = |counts: [Option<(Counter, Queue)>; 2]| {
            counts.map(|count| count.map(|(counter, queue)| Held { counter, queue, later: 0 }))
        };
        let lanes = lanes(level, exec, accesses.all_lanes);
        let operation = |spans: &[Span], marks, held| Operation {
            pc,
            spans: spans.to_vec(),
            lanes,
            marks,
            writer: issue.writer,
            held,
        };
        if writes {
            self.push(operation(&accesses.writes, Marks::Results, held(issue.counts)));
        }
        if issue.holds_data {
            self.count(level, Counter::Export, Queue::StoredData);
            // The last vector registers that a store reads are its data.
            let data: Vec<Span> =
                accesses.reads.iter().rev().copied().find(|span| span.is_vector()).into_iter().collect();
            self.push(operation(&data, Marks::StoredData, held([Some((Counter::Export, Queue::StoredData)), None])));
        }
    }

    fn push(&mut self, operation: Operation) {
        if self.operations.len() >= MOST {
            self.operations.pop_front();
        }
        self.operations.push_back(operation);
    }

    /// Counts an operation as later than those of its queue.
    fn count(&mut self, level: GfxLevel, counter: Counter, queue: Queue) {
        if !queue.is_ordered(level) {
            return;
        }
        for held in self.operations.iter_mut().flat_map(|operation| operation.held.iter_mut().flatten()) {
            if held.counter == counter && held.queue == queue {
                held.later = held.later.saturating_add(1);
            }
        }
    }
}
