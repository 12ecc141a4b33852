//! Budgets of the heaps: how much memory this process can use (`VK_EXT_memory_budget`).
//!
//! Two values are known: how much this process allocated (its [own usage](OwnUsage), counted by the library), and how much is
//! used on the whole device (the [system usage](SystemUsage), which the kernel reports, and which includes the own usage once
//! it is placed). The budget of a heap is its free memory plus the memory that this process already has:
//!
//! ```text
//! used   = max(own, system)            own memory may not be placed yet, so the system may know less
//! free   = size - min(size, used)
//! budget = min(size, free + own)       usage = own
//! ```
//!
//! [`Accounting`] determines which values apply to which heap.

use crate::{
    heaps::{Accounting, HeapKind, MAX_HEAPS, MemoryProperties, OwnUsage, SystemUsage, tables::fixed::FixedList},
    winsys::PressureLevel,
};

/// The formula of the reported budgets.
///
/// ```
/// use amdgpu_winsys::heaps::{BudgetRule, MemoryProperties, OwnUsage, SystemUsage, TableOptions};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let facts = amdgpu_winsys::heaps::MemoryFacts::try_from(device.info())?;
/// let memory = MemoryProperties::new(&facts, &TableOptions::default()); // behind a small BAR
/// let own = OwnUsage { visible_vram: 64 << 20, ..OwnUsage::default() };
/// let system = SystemUsage { vram: 64 << 20, visible_vram: 64 << 20, gtt: 0 };
/// let budget = |rule| memory.budgets(&own, &system, rule).heaps()[0].budget;
/// // Only visible VRAM is in use, and RADV counts it against the invisible heap as well.
/// assert_eq!(budget(BudgetRule::Corrected), memory.heaps()[0].size);
/// assert_eq!(budget(BudgetRule::Radv), memory.heaps()[0].size - (64 << 20));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BudgetRule {
    /// The formula of RADV, with byte-identical results.
    Radv,
    /// The formula of RADV with two errors corrected:
    ///
    /// * with a small BAR, the usage of the invisible heap is the usage of all VRAM *minus that of the visible part*; RADV
    ///   counts the visible part in both heaps;
    /// * a budget is at least a page, because Vulkan forbids zero.
    #[default]
    Corrected,
}

/// The budget and usage of one heap in bytes (`heapBudget` and `heapUsage`).
///
/// ```
/// use amdgpu_winsys::{heaps::HeapBudget, winsys::PressureLevel};
///
/// let heap = HeapBudget { budget: 100 << 20, usage: 85 << 20 };
/// assert_eq!(heap.available(), 15 << 20);
/// assert_eq!(heap.pressure(PressureLevel::Low), PressureLevel::High); // from 80 MiB on
/// let relieved = HeapBudget { usage: 78 << 20, ..heap };
/// assert_eq!(relieved.pressure(PressureLevel::High), PressureLevel::High); // down to 75 MiB
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HeapBudget {
    /// Bytes that this process can expect to use in the heap, including those it already uses; never more than the heap's size.
    pub budget: u64,
    /// Bytes that this process uses. Over-committed memory counts, so the usage can exceed the budget and the heap's size.
    pub usage: u64,
}

impl HeapBudget {
    /// Returns the number of bytes that this process can still allocate before it exceeds its budget.
    pub const fn available(&self) -> u64 {
        self.budget.saturating_sub(self.usage)
    }

    /// Returns the pressure level, given the last one. [`PressureLevel::High`] begins at 80 % of the budget and ends at 75 %;
    /// [`PressureLevel::Exceeded`] begins above 100 % and ends at 95 %, so that a usage that oscillates around a limit is reported
    /// once.
    pub fn pressure(&self, before: PressureLevel) -> PressureLevel {
        let (usage, budget) = (u128::from(self.usage), u128::from(self.budget));
        // Computed in twentieths of the budget.
        let exceeded = usage > budget || (before == PressureLevel::Exceeded && usage * 20 > budget * 19);
        let high = usage * 20 >= budget * 16 || (before >= PressureLevel::High && usage * 20 > budget * 15);
        match (exceeded, high && usage > 0) {
            (true, _) => PressureLevel::Exceeded,
            (false, true) => PressureLevel::High,
            (false, false) => PressureLevel::Low,
        }
    }
}

/// The budgets and usages of all heaps of a device.
///
/// ```
/// use amdgpu_winsys::heaps::{AllocateInfo, BudgetRule};
///
/// # let device = amdgpu_winsys::winsys::Device::new(amdgpu_sim::SimKernel::open(amdgpu_sim::profile("navi21").ok_or("no such chip")?))?;
/// # let manager = amdgpu_winsys::heaps::MemoryManager::new(&device, &amdgpu_winsys::heaps::TableOptions::default())?;
/// let memory = manager.allocate(&AllocateInfo::new(0, 1 << 20))?;
/// let budgets = manager.budgets(BudgetRule::default())?;
/// assert_eq!(budgets.heaps().len(), manager.properties().heaps().len());
/// assert_eq!(budgets.heaps()[0].usage, 1 << 20);
/// assert!(budgets.heaps()[0].budget <= manager.properties().heaps()[0].size);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Budgets(FixedList<HeapBudget, MOST_HEAPS>);

/// The largest number of heaps that the tables have. Kept small because the budgets are copied on every query.
const MOST_HEAPS: usize = 3;

impl Budgets {
    /// The budgets of a device without heaps.
    #[cfg(test)]
    pub(in crate::heaps) const NONE: Self = Self(FixedList::new(HeapBudget { budget: 0, usage: 0 }));

    /// Adds a heap.
    #[cfg(test)]
    pub(in crate::heaps) fn push_for_tests(&mut self, heap: HeapBudget) {
        self.0.push(heap);
    }

    /// Returns the budgets by heap index.
    pub fn heaps(&self) -> &[HeapBudget] {
        self.0.as_slice()
    }

    /// Returns the arrays `heapBudget` and `heapUsage` of `VkPhysicalDeviceMemoryBudgetPropertiesEXT`, with zeros for indices
    /// that are not heaps.
    pub fn arrays(&self) -> ([u64; MAX_HEAPS], [u64; MAX_HEAPS]) {
        let (mut budgets, mut usages) = ([0; MAX_HEAPS], [0; MAX_HEAPS]);
        for (heap, (budget, usage)) in self.heaps().iter().zip(budgets.iter_mut().zip(&mut usages)) {
            (*budget, *usage) = (heap.budget, heap.usage);
        }
        (budgets, usages)
    }
}

impl MemoryProperties {
    /// Returns the budget and usage of every heap. No input causes an overflow, or a budget larger than its heap.
    ///
    /// Source: Mesa 26.2 `src/amd/vulkan/radv_physical_device.c`, `radv_get_memory_budget_properties`.
    pub fn budgets(&self, own: &OwnUsage, system: &SystemUsage, rule: BudgetRule) -> Budgets {
        let split = (self.accounting() == Accounting::SplitPool).then(|| self.split_pool(own, system));
        let mut budgets = FixedList::new(HeapBudget::default());
        for heap in self.heaps() {
            let own = self.own_usage(heap.kind, own);
            let free = match (&split, heap.kind) {
                (Some(pool), HeapKind::Gtt) => pool.gtt,
                (Some(pool), _) => pool.device_local,
                (None, kind) => heap.size.saturating_sub(own.max(self.system_usage(kind, system, rule))),
            };
            let least = if rule == BudgetRule::Corrected { self.facts().page_size() } else { 0 };
            let budget = free.saturating_add(own).max(least).min(heap.size);
            budgets.push(HeapBudget { budget, usage: own });
        }
        Budgets(budgets)
    }

    /// Returns this process's usage of the heap of this kind in bytes.
    fn own_usage(&self, kind: HeapKind, own: &OwnUsage) -> u64 {
        let all_vram = own.visible_vram.saturating_add(own.invisible_vram);
        match kind {
            _ if self.accounting() == Accounting::OnePool => all_vram.saturating_add(own.gtt),
            HeapKind::Gtt => own.gtt,
            HeapKind::InvisibleVram => own.invisible_vram,
            HeapKind::VisibleVram if self.heap_of_kind(HeapKind::InvisibleVram).is_some() => own.visible_vram,
            HeapKind::VisibleVram => all_vram,
        }
    }

    /// Returns the system's usage of the heap of this kind in bytes. Not used for a split pool.
    fn system_usage(&self, kind: HeapKind, system: &SystemUsage, rule: BudgetRule) -> u64 {
        let visible = match self.accounting() {
            Accounting::OnePool => return system.visible_vram.saturating_add(system.gtt),
            // All VRAM is visible, and the kernel reports it so. Assume that the visible heap fills up first.
            Accounting::HiddenRebar => {
                system.vram.min(self.heap_of_kind(HeapKind::VisibleVram).map_or(0, |heap| heap.size))
            }
            Accounting::PerHeap | Accounting::SplitPool => system.visible_vram,
        };
        let counts_twice = self.accounting() == Accounting::PerHeap && rule == BudgetRule::Radv;
        match kind {
            HeapKind::Gtt => system.gtt,
            HeapKind::VisibleVram => visible,
            HeapKind::InvisibleVram if counts_twice => system.vram,
            HeapKind::InvisibleVram => system.vram.saturating_sub(visible),
        }
    }

    /// Divides the free memory of an APU like its heaps: two thirds, in whole pages and limited by the space in the heap, for
    /// the device-local heap, and the rest for GTT.
    fn split_pool(&self, own: &OwnUsage, system: &SystemUsage) -> FreeShares {
        let size_of = |kind| self.heap_of_kind(kind).map_or(0, |heap| heap.size);
        let (device_local, gtt) = (size_of(HeapKind::VisibleVram), size_of(HeapKind::Gtt));
        let own_device_local = self.own_usage(HeapKind::VisibleVram, own);
        let own_total = own_device_local.saturating_add(own.gtt);
        let used = own_total.max(system.visible_vram.saturating_add(system.gtt));
        // Heap sizes add up to less than 2^50, by the limits of `MemoryFacts`.
        let free = (device_local + gtt).saturating_sub(used);
        let room = device_local.saturating_sub(own_device_local);
        let share = (free * 2 / 3).min(room);
        let share = share - share % self.facts().page_size();
        FreeShares { device_local: share, gtt: free - share }
    }
}

/// The free memory of a pool that is assigned to each of its two heaps, bytes.
struct FreeShares {
    device_local: u64,
    gtt: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_rises_at_four_fifths_and_beyond_all_and_falls_a_twentieth_below() {
        use PressureLevel::{Exceeded, High, Low};
        let levels = |usages: &[u64], before| {
            usages.iter().map(|&usage| HeapBudget { budget: 100, usage }.pressure(before)).collect::<Vec<_>>()
        };
        assert_eq!(levels(&[0, 1, 79, 80, 100, 101], Low), [Low, Low, Low, High, High, Exceeded]);
        assert_eq!(levels(&[75, 76, 100, 101], High), [Low, High, High, Exceeded]);
        assert_eq!(levels(&[75, 76, 95, 96, 100, 101], Exceeded), [Low, High, High, Exceeded, Exceeded, Exceeded]);
        assert_eq!(HeapBudget::default().pressure(Low), Low, "nothing is used of nothing");
        assert_eq!(HeapBudget { budget: 0, usage: 1 }.pressure(Low), Exceeded);
        assert_eq!(HeapBudget { budget: u64::MAX, usage: u64::MAX }.pressure(Low), High);
    }

    #[test]
    fn available_is_what_the_budget_has_left() {
        assert_eq!(HeapBudget { budget: 100, usage: 30 }.available(), 70);
        assert_eq!(HeapBudget { budget: 100, usage: 130 }.available(), 0);
    }
}
