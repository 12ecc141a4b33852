//! Counters of the memory that a device holds, by account.
//!
//! A device has one tracker, which counts every BO: device memory, imports, user memory, and the library's own (IBs, user
//! fences). A BO's handle owns a [`UsageEntry`], which stores the added amount and its counter; closing the handle
//! subtracts exactly that. The counters are therefore right after any order of allocations, imports, exports and frees. A
//! BO that is imported twice, or imported where it was created, has one handle and is counted once.
//!
//! RADV 25.0 has plain counters and chooses one twice, at import and at free (Mesa 25.0.7
//! `src/amd/vulkan/winsys/amdgpu/radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_from_fd` and `radv_amdgpu_winsys_bo_destroy`).
//! It adds an imported VRAM buffer to one counter and subtracts it from another, which then wraps below zero and makes the
//! budgets wrong. An import that may be in VRAM or GTT is added to both.

use std::sync::{Arc, atomic::Ordering::Relaxed};

use crate::vamgr::shard::{CachePadded, SHARDS, own_shard};

use crate::{
    sync::AtomicU64,
    uapi::{GemCreateFlags, GemDomain},
    winsys::PAGE_SIZE,
};

/// The counter that a BO is charged to.
///
/// ```
/// use amdgpu_winsys::{uapi::{GemCreateFlags, GemDomain}, winsys::Account};
///
/// let (both, none) = (GemDomain::VRAM | GemDomain::GTT, GemCreateFlags::empty());
/// assert_eq!(Account::of_bo(both, none), Some(Account::VisibleVram)); // VRAM that may be evicted to GTT
/// assert_eq!(Account::of_bo(both, GemCreateFlags::NO_CPU_ACCESS), Some(Account::InvisibleVram));
/// assert_eq!(Account::of_bo(GemDomain::GDS, none), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Account {
    /// VRAM without CPU access.
    InvisibleVram,
    /// VRAM that the CPU may map.
    VisibleVram,
    /// System memory, including imported host pointers.
    Gtt,
}

impl Account {
    /// All accounts.
    pub const ALL: [Self; 3] = [Self::InvisibleVram, Self::VisibleVram, Self::Gtt];

    /// Returns the account of a BO with these domains and flags; `None` if it is in neither VRAM nor GTT.
    ///
    /// A BO that may be in VRAM is charged to VRAM alone, even if its domains include GTT. This also applies to imported
    /// BOs, whose domains and flags the kernel reports (GEM_OP).
    pub fn of_bo(domains: GemDomain, flags: GemCreateFlags) -> Option<Self> {
        match (domains.contains(GemDomain::VRAM), domains.contains(GemDomain::GTT)) {
            (true, _) if flags.contains(GemCreateFlags::NO_CPU_ACCESS) => Some(Self::InvisibleVram),
            (true, _) => Some(Self::VisibleVram),
            (false, true) => Some(Self::Gtt),
            (false, false) => None,
        }
    }
}

/// The memory that a device holds, by account, in bytes.
///
/// ```
/// use amdgpu_winsys::winsys::{Account, OwnUsage, UsageTracker};
///
/// let tracker = UsageTracker::new(4096);
/// let (_image, _buffer) = (tracker.charge(Account::InvisibleVram, 1 << 20), tracker.charge(Account::Gtt, 4096));
/// let usage = tracker.usage();
/// assert_eq!(usage, OwnUsage { invisible_vram: 1 << 20, visible_vram: 0, gtt: 4096 });
/// assert_eq!(usage.total(), (1 << 20) + 4096);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnUsage {
    /// Bytes of [`Account::InvisibleVram`].
    pub invisible_vram: u64,
    /// Bytes of [`Account::VisibleVram`].
    pub visible_vram: u64,
    /// Bytes of [`Account::Gtt`].
    pub gtt: u64,
}

impl OwnUsage {
    /// Returns the sum of all accounts; `u64::MAX` if it overflows.
    pub const fn total(&self) -> u64 {
        self.invisible_vram.saturating_add(self.visible_vram).saturating_add(self.gtt)
    }
}

/// Charges of this many bytes and more have counters of their own. The sum of smaller ones cannot exceed `u64::MAX`,
/// because each has a BO or a [`Charge`] in this process's memory.
const LARGE: u64 = 1 << 32;

/// The counters of one kind of BO, in bytes, by account.
type Counters = [AtomicU64; Account::ALL.len()];

/// The charges of some threads. An entry is removed from the shard that it was added to, so no counter goes below zero.
#[derive(Debug, Default)]
struct Shard {
    listed: Counters,
    /// Memory that is resident for every submission of the file.
    always_valid: Counters,
}

impl Shard {
    #[inline]
    fn counter(&self, account: Account, is_always_valid: bool) -> &AtomicU64 {
        let counters = if is_always_valid { &self.always_valid } else { &self.listed };
        // PANIC: accounts are numbered from 0, in the order of `Account::ALL`.
        &counters[account as usize]
    }
}

/// The memory usage counters of a device. Reading and charging take no lock, and threads that charge do not contend.
///
/// A `UsageTracker` is a reference-counted handle: its clones have the same counters and compare equal.
///
/// ```
/// use amdgpu_winsys::winsys::{Account, UsageTracker};
///
/// let tracker = UsageTracker::new(4096);
/// let charge = tracker.charge(Account::Gtt, 5000);
/// assert_eq!(tracker.clone().usage().gtt, 8192);
/// drop(charge);
/// assert_eq!(tracker.usage().gtt, 0);
/// ```
#[derive(Clone, Debug)]
pub struct UsageTracker(Arc<Books>);

/// Two handles are equal if they refer to the same counters.
impl PartialEq for UsageTracker {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for UsageTracker {}

/// The counters that all handles of a usage tracker share.
#[derive(Debug)]
struct Books {
    page_size: u64,
    /// The counters of each shard of threads.
    shards: [CachePadded<Shard>; SHARDS],
    /// Charges of at least [`LARGE`] bytes, and all charges while the large ones exceed a quarter of `u64::MAX`.
    large: CachePadded<Shard>,
}

impl UsageTracker {
    /// Creates a tracker with all counters at zero. Charges are rounded up to a multiple of `page_size` bytes, which must
    /// be a power of two and at least 4096; other values count as 4096.
    ///
    /// Source: Mesa 25.0.7 `radv_amdgpu_bo.c`, `radv_amdgpu_winsys_bo_create` (`gart_page_size`).
    pub fn new(page_size: u64) -> Self {
        let page_size = if page_size.is_power_of_two() { page_size.max(PAGE_SIZE) } else { PAGE_SIZE };
        Self(Arc::new(Books { page_size, shards: Default::default(), large: CachePadded::default() }))
    }

    /// Charges `bytes`, rounded up to whole pages, until the charge is dropped.
    ///
    /// A counter does not exceed `u64::MAX`; the charge then holds the smaller amount that was added.
    pub fn charge(&self, account: Account, bytes: u64) -> Charge {
        Charge { tracker: self.clone(), entry: self.enter(account, bytes, false) }
    }

    /// Charges a BO until the entry is [removed](UsageTracker::remove); `None` if the BO is in neither VRAM nor GTT.
    #[inline]
    pub(in crate::winsys) fn enter_bo(
        &self,
        domains: GemDomain,
        flags: GemCreateFlags,
        bytes: u64,
    ) -> Option<UsageEntry> {
        let is_always_valid = flags.contains(GemCreateFlags::VM_ALWAYS_VALID);
        Account::of_bo(domains, flags).map(|account| self.enter(account, bytes, is_always_valid))
    }

    #[inline]
    fn enter(&self, account: Account, bytes: u64, is_always_valid: bool) -> UsageEntry {
        // The page size is a power of two.
        let bytes = bytes.checked_add(self.0.page_size - 1).map_or(u64::MAX, |raised| raised & !(self.0.page_size - 1));
        let (bytes, shard) = if bytes >= LARGE || self.is_flooded(account) {
            (self.add_large(account, bytes, is_always_valid), SHARDS)
        } else {
            let shard = own_shard();
            self.0.shards[shard].0.counter(account, is_always_valid).fetch_add(bytes, Relaxed);
            (bytes, shard)
        };
        UsageEntry { bytes, account, place: Place::new(shard, is_always_valid) }
    }

    /// Returns `true` if the large charges are so high that small ones could overflow the sum.
    #[inline]
    fn is_flooded(&self, account: Account) -> bool {
        let half = |is_always_valid| self.0.large.0.counter(account, is_always_valid).load(Relaxed) > u64::MAX / 4;
        half(false) || half(true)
    }

    /// Adds a large charge, up to the largest sum. Returns the added bytes.
    #[cold]
    fn add_large(&self, account: Account, bytes: u64, is_always_valid: bool) -> u64 {
        let counter = self.0.large.0.counter(account, is_always_valid);
        loop {
            let now = counter.load(Relaxed);
            let after = now.saturating_add(bytes.min(u64::MAX - self.sum(account)));
            if counter.compare_exchange(now, after, Relaxed, Relaxed).is_ok() {
                return after - now;
            }
        }
    }

    /// Removes an entry.
    #[inline]
    pub(in crate::winsys) fn remove(&self, entry: UsageEntry) {
        let UsageEntry { bytes, account, place } = entry;
        let shard = &self.0.shards.get(place.shard()).unwrap_or(&self.0.large).0;
        // The counter cannot go below zero: this entry added the amount to it, and is removed only once.
        shard.counter(account, place.is_always_valid()).fetch_sub(bytes, Relaxed);
    }

    /// Returns the current usage. The counters are read one after the other while other threads may allocate. Every charge
    /// made before the first read and kept until after the last one is included.
    #[inline]
    pub fn usage(&self) -> OwnUsage {
        OwnUsage {
            invisible_vram: self.sum(Account::InvisibleVram),
            visible_vram: self.sum(Account::VisibleVram),
            gtt: self.sum(Account::Gtt),
        }
    }

    /// Returns the part of the usage that the kernel keeps resident for every submission of this file, listed or not
    /// ([`VM_ALWAYS_VALID`](GemCreateFlags::VM_ALWAYS_VALID)).
    pub fn always_valid(&self) -> OwnUsage {
        OwnUsage {
            invisible_vram: self.sum_of(Account::InvisibleVram, true),
            visible_vram: self.sum_of(Account::VisibleVram, true),
            gtt: self.sum_of(Account::Gtt, true),
        }
    }

    #[inline]
    fn sum(&self, account: Account) -> u64 {
        self.sum_of(account, false).saturating_add(self.sum_of(account, true))
    }

    #[inline]
    fn sum_of(&self, account: Account, is_always_valid: bool) -> u64 {
        let read = |shard: &CachePadded<Shard>| shard.0.counter(account, is_always_valid).load(Relaxed);
        // The sum of small charges does not overflow (see `LARGE`).
        let small = self.0.shards.iter().map(read).fold(0, u64::wrapping_add);
        small.saturating_add(read(&self.0.large))
    }
}

/// The amount by which a BO raises the counters of a [`UsageTracker`] until the BO's handle is closed.
///
/// ```
/// use amdgpu_winsys::winsys::Account;
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let request = amdgpu_winsys::winsys::BoRequest {
/// #     size: 64 << 10, alignment: 0, domains: amdgpu_winsys::uapi::GemDomain::GTT, flags: amdgpu_winsys::uapi::GemCreateFlags::empty(),
/// # };
/// # let bo = amdgpu_winsys::winsys::Bo::create(&device, request)?;
/// let charge = bo.charge().ok_or("neither in VRAM nor in GTT")?;
/// assert_eq!((charge.account(), charge.bytes()), (Account::Gtt, bo.size()));
/// assert_eq!(device.usage_tracker().usage().gtt, charge.bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UsageEntry {
    bytes: u64,
    account: Account,
    place: Place,
}

/// The counter to which an entry was added.
///
/// Packed into one number, because entries are copied with every allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place(u8);

impl Place {
    #[inline]
    fn new(shard: usize, is_always_valid: bool) -> Self {
        Self((shard as u8) << 1 | u8::from(is_always_valid))
    }

    /// Returns the index of the shard; the number of shards for the counters of large charges.
    #[inline]
    fn shard(self) -> usize {
        usize::from(self.0 >> 1)
    }

    #[inline]
    const fn is_always_valid(self) -> bool {
        self.0 & 1 != 0
    }
}

impl UsageEntry {
    /// Returns the account that was charged.
    pub const fn account(self) -> Account {
        self.account
    }

    /// Returns the charged bytes, a multiple of the page size.
    pub const fn bytes(self) -> u64 {
        self.bytes
    }
}

/// A charge on a [`UsageTracker`] that is removed on drop.
///
/// ```
/// use amdgpu_winsys::winsys::{Account, UsageTracker};
///
/// let tracker = UsageTracker::new(4096);
/// let charge = tracker.charge(Account::VisibleVram, 100); // memory without a `Bo`
/// assert_eq!((charge.account(), charge.bytes()), (Account::VisibleVram, 4096));
/// drop(charge);
/// assert_eq!(tracker.usage().visible_vram, 0);
/// ```
#[derive(Debug)]
#[must_use = "dropping a charge takes it off the usage tracker"]
pub struct Charge {
    tracker: UsageTracker,
    entry: UsageEntry,
}

impl Charge {
    /// Returns the account that was charged.
    pub const fn account(&self) -> Account {
        self.entry.account
    }

    /// Returns the charged bytes, a multiple of the page size.
    pub const fn bytes(&self) -> u64 {
        self.entry.bytes
    }
}

impl Drop for Charge {
    fn drop(&mut self) {
        self.tracker.remove(self.entry);
    }
}
