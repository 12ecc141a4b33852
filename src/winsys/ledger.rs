//! What this file holds of each kind of memory.
//!
//! One ledger counts for a device, and every BO is on it, whoever made it: device memory, imports, user memory, and what
//! the library needs for itself (IBs, user fences). A BO's handle owns a [`Charge`] that remembers what it added and
//! where, and takes exactly that back when the handle goes. So no order of allocating, importing, exporting and freeing
//! can leave a counter wrong, and a BO that is imported twice, or imported where it was made, counts once: it has one
//! handle.
//!
//! RADV 25.0 keeps plain counters and decides twice, at import and at free, which one is meant (Mesa 25.0.7
//! `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd` and `radv_amdgpu_winsys_bo_destroy`).
//! It adds an imported VRAM buffer to one counter and subtracts it from the other, which then wraps below zero and takes
//! the budgets with it; and it adds an import that may be in VRAM or GTT to both.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use super::PAGE_SIZE;
use crate::{
    sync::AtomicU64,
    uapi::{GemCreateFlags, GemDomain},
};

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

/// Bytes this file holds, by account.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnUsage {
    /// Of [`Account::InvisibleVram`].
    pub invisible_vram: u64,
    /// Of [`Account::VisibleVram`].
    pub visible_vram: u64,
    /// Of [`Account::Gtt`].
    pub gtt: u64,
}

impl OwnUsage {
    /// All accounts together; `u64::MAX` if that is more.
    pub const fn total(&self) -> u64 {
        self.invisible_vram.saturating_add(self.visible_vram).saturating_add(self.gtt)
    }
}

/// Two counters of one account, bytes.
#[derive(Debug, Default)]
struct Counter {
    all: AtomicU64,
    /// The part that belongs to every submission of the file.
    always_valid: AtomicU64,
}

/// The counters of one device. Shared by everything that makes BOs; reading and charging take no lock.
#[derive(Debug)]
pub struct Ledger {
    page_size: u64,
    counters: [Counter; Account::ALL.len()],
}

impl Ledger {
    /// Counters at zero. Charges are rounded up to `page_size` bytes, a power of two of at least 4096; what is none
    /// counts as 4096.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create` (`gart_page_size`).
    pub fn new(page_size: u64) -> Arc<Self> {
        let page_size = if page_size.is_power_of_two() { page_size.max(PAGE_SIZE) } else { PAGE_SIZE };
        Arc::new(Self { page_size, counters: Default::default() })
    }

    /// Charges `bytes`, rounded up to whole pages, until the charge is dropped.
    ///
    /// A counter that would pass `u64::MAX` stays there, and the charge remembers the smaller amount it really added.
    pub fn charge(self: &Arc<Self>, account: Account, bytes: u64) -> Charge {
        self.enter(account, bytes, false)
    }

    /// Charges a BO; `None` for one that is in neither VRAM nor GTT, and takes none of either.
    pub fn charge_bo(self: &Arc<Self>, domains: GemDomain, flags: GemCreateFlags, bytes: u64) -> Option<Charge> {
        let is_always_valid = flags.contains(GemCreateFlags::VM_ALWAYS_VALID);
        Account::of_bo(domains, flags).map(|account| self.enter(account, bytes, is_always_valid))
    }

    fn enter(self: &Arc<Self>, account: Account, bytes: u64, is_always_valid: bool) -> Charge {
        let wanted = bytes.checked_next_multiple_of(self.page_size).unwrap_or(u64::MAX);
        let counter = self.counter(account);
        let mut now = counter.all.load(Relaxed);
        let bytes = loop {
            let after = now.saturating_add(wanted);
            match counter.all.compare_exchange_weak(now, after, Relaxed, Relaxed) {
                Ok(before) => break after - before,
                Err(seen) => now = seen,
            }
        };
        if is_always_valid {
            // Never above `u64::MAX`: it is at most the counter of all.
            counter.always_valid.fetch_add(bytes, Relaxed);
        }
        Charge { ledger: Arc::clone(self), account, bytes, is_always_valid }
    }

    /// What is charged now. The three numbers are read one after the other, while others may allocate.
    pub fn usage(&self) -> OwnUsage {
        self.read(|counter| &counter.all)
    }

    /// The part of it that the kernel keeps resident for every submission of this file, listed or not
    /// ([`VM_ALWAYS_VALID`](GemCreateFlags::VM_ALWAYS_VALID)).
    pub fn always_valid(&self) -> OwnUsage {
        self.read(|counter| &counter.always_valid)
    }

    fn read(&self, which: impl Fn(&Counter) -> &AtomicU64) -> OwnUsage {
        let read = |account| which(self.counter(account)).load(Relaxed);
        OwnUsage {
            invisible_vram: read(Account::InvisibleVram),
            visible_vram: read(Account::VisibleVram),
            gtt: read(Account::Gtt),
        }
    }

    fn counter(&self, account: Account) -> &Counter {
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
    is_always_valid: bool,
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
        let counter = self.ledger.counter(self.account);
        if self.is_always_valid {
            counter.always_valid.fetch_sub(self.bytes, Relaxed);
        }
        counter.all.fetch_sub(self.bytes, Relaxed);
    }
}
