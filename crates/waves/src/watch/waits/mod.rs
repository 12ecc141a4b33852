//! Missing waits: accesses to registers that outstanding operations still write or read.
//!
//! Every wave has a list of its [`Outstanding`] operations with the counters that they hold up. An instruction that waits removes
//! those that have certainly completed, whatever order the hardware takes; any other is compared with the rest of the list.

mod access;
mod counter;
mod facts;
mod finding;
mod issue;
mod outstanding;

use amdgpu_hw::GfxLevel;

pub(super) use access::{Accesses, Span, VECTORS};
pub(super) use counter::{Counter, Limits};
pub(super) use facts::Facts;
pub use finding::{MissingWait, RegisterName, RequiredWait, WaitSide, WaitedFor};
pub(super) use outstanding::Outstanding;
use outstanding::{Conflict, Marks};

use crate::wave::state::Wave;

impl Outstanding {
    /// Returns the conflicts of the instruction that a wave is about to execute, and lists its operation.
    pub(super) fn step(&mut self, level: GfxLevel, wave: &Wave, facts: &Facts) -> Vec<Conflict> {
        if self.is_idle() && facts.issue.is_empty() {
            return Vec::new();
        }
        let Some(accesses) = facts.accesses(wave) else { return Vec::new() };
        let exec = wave.registers.exec();
        let found = self.conflicts(level, accesses, exec, facts.issue.writer);
        if !facts.limits.is_empty() {
            self.wait(level, &facts.limits);
        }
        if !facts.issue.is_empty() {
            self.issue(level, wave.pc, facts.issue, accesses, exec);
        }
        found
    }
}

impl Conflict {
    /// Returns the report of the conflict. `texts` are those of the instruction that the wave is about to execute and of the
    /// outstanding operation.
    pub(super) fn finding(&self, level: GfxLevel, group: [u32; 3], wave: &Wave, texts: [String; 2]) -> MissingWait {
        let [instruction, operation] = texts;
        MissingWait {
            group,
            wave: wave.number,
            instruction: WaitSide { pc: wave.pc, text: instruction },
            operation: WaitSide { pc: self.pc, text: operation },
            register: RegisterName::of(self.register),
            reads: self.reads,
            waited_for: match self.marks {
                Marks::Results => WaitedFor::Result,
                Marks::StoredData => WaitedFor::StoredData,
            },
            enough: self
                .enough
                .iter()
                .map(|(counter, value)| RequiredWait { counter: counter.name(level), at_most: *value })
                .collect(),
        }
    }
}
