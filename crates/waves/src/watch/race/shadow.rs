//! The last accesses of each dword.

use std::collections::HashMap;

use super::{Clock, WaveNumber};
use crate::watch::observer::Act;

/// An access of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Access {
    pub(crate) wave: WaveNumber,
    /// The wave's own time.
    pub(crate) time: u32,
    pub(crate) act: Act,
    pub(crate) lane: Option<u8>,
    pub(crate) pc: u64,
    /// A bit for each byte of the dword.
    pub(crate) mask: u8,
}

/// Accesses of a dword that are remembered.
const MOST_OF_A_DWORD: usize = 4;

/// Dwords that are remembered.
const MOST: usize = 1 << 20;

/// The last accesses of memory, by dword.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    dwords: HashMap<u64, [Option<Access>; MOST_OF_A_DWORD]>,
    /// Accesses of dwords that there was no room for.
    pub(crate) missed: u64,
}

/// Returns `true` if two accesses want an order.
fn conflict(first: &Access, second: &Access) -> bool {
    first.wave != second.wave
        && first.mask & second.mask != 0
        && match (first.act, second.act) {
            (Act::Load, Act::Load) | (Act::Atomic, Act::Atomic) => false,
            // A plain load concurrent with an atomic operation is a poll.
            (Act::Load, Act::Atomic) | (Act::Atomic, Act::Load) => false,
            _ => true,
        }
}

impl Shadow {
    /// Remembers an access of `dword`, and returns an earlier one that races with it; `clock` is that of the wave.
    pub(crate) fn access(&mut self, dword: u64, access: Access, clock: &Clock) -> Option<Access> {
        if self.dwords.len() >= MOST && !self.dwords.contains_key(&dword) {
            self.missed += 1;
            return None;
        }
        let known = self.dwords.entry(dword).or_default();
        let is_over = |earlier: &Access| clock.of(earlier.wave) >= earlier.time;
        let race = known.iter().flatten().find(|earlier| conflict(earlier, &access) && !is_over(earlier)).copied();
        // What is over before this access, and what it does again, need not be remembered.
        for slot in known.iter_mut() {
            let superseded = slot.is_some_and(|earlier| {
                let covered = earlier.mask & !access.mask == 0;
                let again = earlier.wave == access.wave && earlier.act == access.act;
                covered && (again || access.act == Act::Store && is_over(&earlier))
            });
            if superseded {
                *slot = None;
            }
        }
        let oldest = known.iter().enumerate().min_by_key(|(_, slot)| slot.map_or((0, 0), |slot| (1, slot.time)));
        if let Some((place, _)) = oldest {
            known[place] = Some(access);
        }
        race
    }

    /// Forgets everything.
    pub(crate) fn clear(&mut self) {
        self.dwords.clear();
    }
}
