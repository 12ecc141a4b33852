//! The Vulkan heaps and memory types of a GPU, computed by the library's heap code.

use amdgpu_winsys::{
    heaps::{
        Accounting, BudgetRule, FactsError, HeapFlags, HeapKind, MemoryFacts, MemoryProperties, MemoryPropertyFlags,
        OwnUsage, SystemUsage, TableOptions,
    },
    winsys::GpuInfo,
};

use crate::snapshot::model::{Domains, Heap, MemoryType, Process};

/// The tables of Vulkan heaps and memory types of a GPU.
#[derive(Clone, Debug)]
pub struct Tables {
    properties: MemoryProperties,
}

impl Tables {
    /// Builds the tables as RADV does without any options.
    ///
    /// # Errors
    ///
    /// [`FactsError`] if the kernel's values are not possible for any GPU.
    pub fn new(gpu: &GpuInfo) -> Result<Self, FactsError> {
        let facts = MemoryFacts::try_from(gpu)?;
        Ok(Self { properties: MemoryProperties::new(&facts, &TableOptions::default()) })
    }

    /// Returns the heaps with the budgets of a process whose own usage is `own`. The usage by all processes is in `domains`; an
    /// unknown usage counts as zero.
    pub fn heaps(&self, own: &OwnUsage, domains: &Domains) -> Vec<Heap> {
        let system = SystemUsage {
            vram: domains.vram.used.unwrap_or(0),
            visible_vram: domains.visible_vram.used.unwrap_or(0),
            gtt: domains.gtt.used.unwrap_or(0),
        };
        let budgets = self.properties.budgets(own, &system, BudgetRule::default());
        let heaps = self.properties.heaps().iter().zip(budgets.heaps()).enumerate();
        heaps
            .map(|(index, (heap, budget))| Heap {
                index,
                flags: names(heap.flags.iter_names()),
                kind: kind(heap.kind).to_owned(),
                size: heap.size,
                // The library promises it; a figure that is shown is checked all the same.
                budget: budget.budget.min(heap.size),
                usage: budget.usage,
                shares_with: self.shares_with(index),
            })
            .collect()
    }

    /// Returns the memory types, ordered by index.
    pub fn types(&self) -> Vec<MemoryType> {
        let types = self.properties.types().iter().enumerate();
        let flags = |flags: MemoryPropertyFlags| names(flags.iter_names());
        types.map(|(index, ty)| MemoryType { index, heap: ty.heap as usize, flags: flags(ty.properties) }).collect()
    }

    /// The other heaps whose bytes are the same: both of an APU, and both of a card that hides its resizable BAR.
    fn shares_with(&self, index: usize) -> Vec<usize> {
        let heaps = self.properties.heaps();
        let is_pooled = |heap: usize| match self.properties.accounting() {
            Accounting::SplitPool => true,
            Accounting::HiddenRebar => heaps.get(heap).is_some_and(|heap| heap.flags.contains(HeapFlags::DEVICE_LOCAL)),
            Accounting::PerHeap | Accounting::OnePool => false,
        };
        (0..heaps.len()).filter(|&other| other != index && is_pooled(index) && is_pooled(other)).collect()
    }
}

/// Returns the memory usage of a process, by the domains in which its memory is, not the domains that it requested.
pub fn own_usage(process: &Process) -> OwnUsage {
    let (vram, visible) = (process.vram.unwrap_or(0), process.visible_vram.unwrap_or(0));
    OwnUsage {
        invisible_vram: vram.saturating_sub(visible),
        visible_vram: visible.min(vram),
        gtt: process.gtt.unwrap_or(0),
    }
}

fn kind(kind: HeapKind) -> &'static str {
    match kind {
        HeapKind::InvisibleVram => "invisible_vram",
        HeapKind::VisibleVram => "visible_vram",
        HeapKind::Gtt => "gtt",
    }
}

fn names<T>(flags: impl Iterator<Item = (&'static str, T)>) -> Vec<String> {
    flags.map(|(name, _)| name.to_owned()).collect()
}
