//! The rule that divides a device's memory into at most three heaps.

use crate::heaps::{MemoryFacts, TableOptions};

/// The kind of memory that a heap consists of.
///
/// ```
/// use amdgpu_winsys::{heaps::{HeapKind, MemoryManager, TableOptions}, winsys::Device};
///
/// let kinds = |chip| -> Result<Vec<_>, Box<dyn std::error::Error>> {
///     let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile(chip).ok_or("no such chip")?);
///     let manager = MemoryManager::new(&Device::new(kernel)?, &TableOptions::default())?;
///     Ok(manager.properties().heaps().iter().map(|heap| heap.kind).collect())
/// };
/// assert_eq!(kinds("navi21")?, [HeapKind::InvisibleVram, HeapKind::Gtt, HeapKind::VisibleVram]); // a small BAR
/// assert_eq!(kinds("renoir")?, [HeapKind::Gtt, HeapKind::VisibleVram]); // an APU
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeapKind {
    /// VRAM that the CPU cannot map because it is outside a small BAR, or VRAM that the options present in this way.
    InvisibleVram,
    /// System memory that the GPU maps.
    Gtt,
    /// VRAM that the CPU can map. On an APU, the device-local share of all memory.
    VisibleVram,
}

/// The relation between heaps and physical memories. It determines the [budget
/// formula](crate::heaps::MemoryProperties::budgets).
///
/// ```
/// use amdgpu_winsys::{heaps::{Accounting, MemoryManager, TableOptions}, winsys::Device};
///
/// let accounting = |chip, options: &TableOptions| -> Result<_, Box<dyn std::error::Error>> {
///     let kernel = amdgpu_sim::SimKernel::open(amdgpu_sim::profile(chip).ok_or("no such chip")?);
///     Ok(MemoryManager::new(&Device::new(kernel)?, options)?.properties().accounting())
/// };
/// let split = TableOptions::default();
/// let unified = TableOptions { unified_heap_on_apu: true, ..split };
/// assert_eq!(accounting("navi21", &split)?, Accounting::PerHeap);
/// assert_eq!(accounting("renoir", &split)?, Accounting::SplitPool);
/// assert_eq!(accounting("renoir", &unified)?, Accounting::OnePool);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Accounting {
    /// Each heap is a separate memory.
    PerHeap,
    /// Like [`Accounting::PerHeap`], but invisible and visible VRAM are one memory to the kernel, which reports one usage for
    /// both ([`TableOptions::hide_rebar`]).
    HiddenRebar,
    /// Two heaps share one pool in the ratio 2 to 1 (APUs).
    SplitPool,
    /// One heap covers the whole pool ([`TableOptions::unified_heap_on_apu`]).
    OnePool,
}

/// Sizes of the heaps in bytes; a heap of size 0 does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Split {
    pub(super) invisible: u64,
    pub(super) gtt: u64,
    pub(super) visible: u64,
    pub(super) accounting: Accounting,
}

/// Size in bytes of the visible heap when resizable BAR is hidden.
const PRETENDED_BAR: u64 = 256 << 20;

impl Split {
    /// Source: Mesa 26.2 `src/amd/vulkan/radv_physical_device.c`, `radv_physical_device_init_mem_types`.
    ///
    /// `MemoryFacts` bounds every size by 2^48, so neither `2 * total` nor `9 * invisible` can overflow.
    pub(super) fn new(facts: &MemoryFacts, options: &TableOptions) -> Self {
        let mut split = if facts.has_dedicated_vram() { Self::card(facts, options) } else { Self::apu(facts, options) };
        if options.profile.rules().drop_small_remainder && split.invisible * 9 < split.visible {
            split.invisible = 0;
        }
        split
    }

    /// Returns the sizes that the device reports, with VRAM limited to the size that the options set.
    fn as_reported(facts: &MemoryFacts, options: &TableOptions) -> Self {
        let most = options.override_vram_mib.map_or(u64::MAX, |mib| u64::from(mib) << 20);
        let vram = facts.vram().min(most);
        let visible = facts.visible_vram().min(vram);
        Self { invisible: vram - visible, gtt: facts.gtt(), visible, accounting: Accounting::PerHeap }
    }

    fn card(facts: &MemoryFacts, options: &TableOptions) -> Self {
        let real = Self::as_reported(facts, options);
        // If nothing lies above the simulated BAR, there is nothing to hide (RADV's subtraction wraps in this case).
        if !(options.hide_rebar && facts.has_all_vram_visible() && real.visible > PRETENDED_BAR) {
            return real;
        }
        let invisible = real.visible - PRETENDED_BAR;
        Self { invisible, visible: PRETENDED_BAR, accounting: Accounting::HiddenRebar, ..real }
    }

    fn apu(facts: &MemoryFacts, options: &TableOptions) -> Self {
        let real = Self { invisible: 0, ..Self::as_reported(facts, options) };
        let total = real.gtt + real.visible;
        if options.unified_heap_on_apu {
            return Self { gtt: 0, visible: total, accounting: Accounting::OnePool, ..real };
        }
        if !options.profile.rules().split_apu {
            return real;
        }
        let visible = (total * 2 / 3).next_multiple_of(facts.page_size()).min(total);
        Self { gtt: total - visible, visible, accounting: Accounting::SplitPool, ..real }
    }

    /// Returns kind and size of the heaps that exist, in the order of their indices.
    pub(super) fn heaps(&self, visible_before_gtt: bool) -> impl Iterator<Item = (HeapKind, u64)> {
        let [gtt, visible] = [(HeapKind::Gtt, self.gtt), (HeapKind::VisibleVram, self.visible)];
        let rest = if visible_before_gtt { [visible, gtt] } else { [gtt, visible] };
        std::iter::once((HeapKind::InvisibleVram, self.invisible)).chain(rest).filter(|&(_, size)| size > 0)
    }
}
