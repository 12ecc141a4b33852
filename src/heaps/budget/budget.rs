//! Budgets: how much of each heap this process may still use, `VK_EXT_memory_budget`.
//!
//! Two sides are known: what this process allocated (its [own usage](OwnUsage), counted here) and what is in use on the
//! whole device (the [system usage](SystemUsage), which the kernel reports and which includes the first once it is really
//! placed). A heap's budget is what is free, plus what this process already has:
//!
//! ```text
//! used   = max(own, system)            own memory may not be placed yet, so the system may know less
//! free   = size - min(size, used)
//! budget = min(size, free + own)       usage = own
//! ```
//!
//! [`Accounting`] says which numbers belong to which heap.

use crate::{
    heaps::{Accounting, HeapKind, MAX_HEAPS, MemoryProperties, OwnUsage, SystemUsage, tables::fixed::FixedList},
    winsys::PressureLevel,
};

/// Formula of the reported figures.
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
    /// Those of RADV, to the byte.
    Radv,
    /// RADV's with two mistakes put right:
    ///
    /// * behind a small BAR, the usage of the invisible heap is that of all VRAM *less the visible part*; RADV counts
    ///   the visible part against both heaps;
    /// * a budget is never zero, which Vulkan forbids, but at least a page.
    #[default]
    Corrected,
}

/// `heapBudget` and `heapUsage` of one heap, in bytes.
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
    /// Bytes that this process can expect to have in the heap, including those it has: never more than the heap's size.
    pub budget: u64,
    /// Bytes that this process has. Overcommitted memory counts, so this may pass both the budget and the heap's size.
    pub usage: u64,
}

impl HeapBudget {
    /// Returns the bytes that this process may still allocate before it passes its budget.
    pub const fn available(&self) -> u64 {
        self.budget.saturating_sub(self.usage)
    }

    /// Returns the pressure level, given the last one. [`PressureLevel::High`] begins at 80 % of the budget and ends at 75 %;
    /// [`PressureLevel::Exceeded`] begins above 100 % and ends at 95 %, so that a usage that oscillates around a limit is reported
    /// once.
    pub fn pressure(&self, before: PressureLevel) -> PressureLevel {
        let (usage, budget) = (u128::from(self.usage), u128::from(self.budget));
        // In twentieths of the budget.
        let exceeded = usage > budget || (before == PressureLevel::Exceeded && usage * 20 > budget * 19);
        let high = usage * 20 >= budget * 16 || (before >= PressureLevel::High && usage * 20 > budget * 15);
        match (exceeded, high && usage > 0) {
            (true, _) => PressureLevel::Exceeded,
            (false, true) => PressureLevel::High,
            (false, false) => PressureLevel::Low,
        }
    }
}

/// The budgets of all heaps.
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

/// The heap rule makes no more; this is copied on every query.
const MOST_HEAPS: usize = 3;

impl Budgets {
    /// Of no heaps.
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

    /// Returns the two arrays of `VkPhysicalDeviceMemoryBudgetPropertiesEXT`, `heapBudget` and `heapUsage`, zero past the heaps.
    pub fn arrays(&self) -> ([u64; MAX_HEAPS], [u64; MAX_HEAPS]) {
        let (mut budgets, mut usages) = ([0; MAX_HEAPS], [0; MAX_HEAPS]);
        for (heap, (budget, usage)) in self.heaps().iter().zip(budgets.iter_mut().zip(&mut usages)) {
            (*budget, *usage) = (heap.budget, heap.usage);
        }
        (budgets, usages)
    }
}

impl MemoryProperties {
    /// Returns the budget and usage of every heap. No input makes a sum wrap or a budget pass its heap.
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

    /// Returns this process's usage of the heap of this kind, bytes.
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

    /// Returns the system's usage of the heap of this kind, bytes, if the heap is not part of a split pool.
    fn system_usage(&self, kind: HeapKind, system: &SystemUsage, rule: BudgetRule) -> u64 {
        let visible = match self.accounting() {
            Accounting::OnePool => return system.visible_vram.saturating_add(system.gtt),
            // Really everything is visible, and the kernel says so; pretend that the visible heap fills up first.
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

    /// Shares out what is free on an APU as its heaps were: two thirds, in whole pages, to the device-local heap, but no
    /// more than it has room for; the rest to GTT.
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

/// The share of a pool's free memory that each of its two heaps is granted, bytes.
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
