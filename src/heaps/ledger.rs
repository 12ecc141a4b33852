//! What this process has allocated, counted by kind of memory.
//!
//! Every allocation holds a [`Charge`] that remembers what it added and where, and takes exactly that back when it is
//! dropped. So no order of allocating, importing and freeing can leave a counter wrong. (RADV 25.0 keeps plain counters
//! and decides twice, at import and at free, which one is meant; it adds an imported VRAM buffer to one counter and
//! subtracts it from the other, which then wraps below zero and takes the budgets with it.)

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering::Relaxed},
};

use super::MemoryFacts;
use crate::uapi::{GemCreateFlags, GemDomain};

/// The counter that a BO is charged to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Account {
    /// VRAM that the CPU never maps.
    InvisibleVram,
    /// VRAM that the CPU may map.
    VisibleVram,
    /// System memory, imported host pointers included.
    Gtt,
}

impl Account {
    /// Every account.
    pub const ALL: [Self; 3] = [Self::InvisibleVram, Self::VisibleVram, Self::Gtt];

    /// The account of a BO with these domains and flags; `None` for one that is in neither VRAM nor GTT.
    ///
    /// A BO that may be in VRAM counts there and nowhere else, although VRAM requests carry GTT too. That holds for
    /// imported BOs as well, whose domains and flags the kernel tells (GEM_OP).
    pub fn of_bo(domains: GemDomain, flags: GemCreateFlags) -> Option<Self> {
        match (domains.contains(GemDomain::VRAM), domains.contains(GemDomain::GTT)) {
            (true, _) if flags.contains(GemCreateFlags::NO_CPU_ACCESS) => Some(Self::InvisibleVram),
            (true, _) => Some(Self::VisibleVram),
            (false, true) => Some(Self::Gtt),
            (false, false) => None,
        }
    }
}

/// Bytes this process has allocated, by account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnUsage {
    /// Of [`Account::InvisibleVram`].
    pub invisible_vram: u64,
    /// Of [`Account::VisibleVram`].
    pub visible_vram: u64,
    /// Of [`Account::Gtt`].
    pub gtt: u64,
}

/// The counters of one device. Shared by everything that allocates; reading and charging take no lock.
#[derive(Debug)]
pub struct Ledger {
    page_size: u64,
    counters: [AtomicU64; Account::ALL.len()],
}

impl Ledger {
    /// Counters at zero. Charges are rounded up to the page size of `facts`.
    pub fn new(facts: &MemoryFacts) -> Arc<Self> {
        Arc::new(Self { page_size: facts.page_size(), counters: Default::default() })
    }

    /// Charges `bytes`, rounded up to whole pages, until the charge is dropped.
    ///
    /// A counter that would pass `u64::MAX` stays there, and the charge remembers the smaller amount it really added.
    #[inline]
    pub fn charge(self: &Arc<Self>, account: Account, bytes: u64) -> Charge {
        let wanted = bytes.checked_next_multiple_of(self.page_size).unwrap_or(u64::MAX);
        let counter = self.counter(account);
        let mut now = counter.load(Relaxed);
        loop {
            let after = now.saturating_add(wanted);
            match counter.compare_exchange_weak(now, after, Relaxed, Relaxed) {
                Ok(before) => return Charge { ledger: Arc::clone(self), account, bytes: after - before },
                Err(seen) => now = seen,
            }
        }
    }

    /// What is charged now. The three numbers are read one after the other, while others may allocate.
    pub fn usage(&self) -> OwnUsage {
        let read = |account| self.counter(account).load(Relaxed);
        OwnUsage {
            invisible_vram: read(Account::InvisibleVram),
            visible_vram: read(Account::VisibleVram),
            gtt: read(Account::Gtt),
        }
    }

    fn counter(&self, account: Account) -> &AtomicU64 {
        let [invisible_vram, visible_vram, gtt] = &self.counters;
        match account {
            Account::InvisibleVram => invisible_vram,
            Account::VisibleVram => visible_vram,
            Account::Gtt => gtt,
        }
    }
}

/// An entry in the [`Ledger`], for as long as it lives.
#[derive(Debug)]
#[must_use = "dropping a charge takes it off the ledger"]
pub struct Charge {
    ledger: Arc<Ledger>,
    account: Account,
    bytes: u64,
}

impl Charge {
    /// Where it counts.
    pub const fn account(&self) -> Account {
        self.account
    }

    /// The bytes it added: whole pages.
    pub const fn bytes(&self) -> u64 {
        self.bytes
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        // Never below zero: this charge added as much, and no other takes it away.
        self.ledger.counter(self.account).fetch_sub(self.bytes, Relaxed);
    }
}
