//! Vulkan's heaps and their budgets, by the rules of RADV without any options.
//!
//! ```text
//! card   invisible VRAM, GTT, visible VRAM; a rest of invisible VRAM below a ninth of the visible one is no heap
//! APU    the carve-out that is visible and GTT are one pool, of which two thirds are the device-local heap
//!
//! used   = max(own, system)            own memory may not be placed yet, so the system may know less
//! budget = min(size, size - min(size, used) + own), at least a page
//! ```
//!
//! Source: Mesa 26.2 `src/amd/vulkan/radv_physical_device.c`, `radv_physical_device_init_mem_types` and
//! `radv_get_memory_budget_properties`; `src/amd/common/ac_gpu_info.c`, `fix_vram_size`. Two mistakes of the budgets are corrected:
//! with a small BAR, RADV counts visible VRAM against the invisible heap too, and it lets a budget be zero.

use crate::model::{Domains, Heap};

/// Bytes to which cards round their VRAM up: the kernel keeps a part of it.
const INSTALLED: u64 = 256 << 20;
/// Bytes that page-table entries can address.
const ADDRESSABLE: u64 = 1 << 48;

/// The memory that one process uses on a GPU, by the place in which it is, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OwnUsage {
    /// VRAM outside the visible part.
    pub invisible_vram: u64,
    /// VRAM in the visible part.
    pub visible_vram: u64,
    /// System memory that the GPU maps.
    pub gtt: u64,
}

/// The memory that all processes and the kernel use on a GPU, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UsedMemory {
    /// VRAM.
    pub vram: u64,
    /// VRAM in the visible part.
    pub visible_vram: u64,
    /// System memory that the GPU maps.
    pub gtt: u64,
}

impl From<&Domains> for UsedMemory {
    /// Takes the usage of domains. An unknown usage counts as zero.
    fn from(domains: &Domains) -> Self {
        Self {
            vram: domains.vram.used.unwrap_or(0),
            visible_vram: domains.visible_vram.used.unwrap_or(0),
            gtt: domains.gtt.used.unwrap_or(0),
        }
    }
}

/// Sizes of the heaps in bytes; a heap of size 0 does not exist.
struct Split {
    invisible: u64,
    gtt: u64,
    visible: u64,
    is_apu: bool,
    page: u64,
}

/// Returns the heaps of a GPU with the budgets of a process whose own usage is `own`.
///
/// # Errors
///
/// A message if a size is unknown, or the sizes are possible for no GPU.
pub fn heaps(is_apu: bool, page_size: u32, domains: &Domains, own: &OwnUsage) -> Result<Vec<Heap>, String> {
    let split = Split::new(is_apu, page_size, domains)?;
    let used = UsedMemory::from(domains);
    let kinds = [("invisible_vram", split.invisible), ("gtt", split.gtt), ("visible_vram", split.visible)];
    let exist: Vec<_> = kinds.into_iter().filter(|&(_, size)| size > 0).collect();
    let pooled = is_apu && exist.len() > 1;
    let heap = |(index, &(kind, size)): (usize, &(&str, u64))| {
        let usage = split.own(kind, own);
        let free = if is_apu { split.share(kind, own, &used) } else { Split::free(kind, size, usage, &used) };
        Heap {
            index,
            flags: if kind == "gtt" { Vec::new() } else { vec!["DEVICE_LOCAL".to_owned()] },
            kind: kind.to_owned(),
            size,
            budget: free.saturating_add(usage).max(split.page).min(size),
            usage,
            shares_with: if pooled { (0..exist.len()).filter(|&other| other != index).collect() } else { Vec::new() },
        }
    };
    Ok(exist.iter().enumerate().map(heap).collect())
}

impl Split {
    /// Every size is bounded by 2^48, so that no sum or product below can overflow.
    fn new(is_apu: bool, page_size: u32, domains: &Domains) -> Result<Self, String> {
        let known = |what: &str, bytes: Option<u64>| {
            let bytes = bytes.ok_or_else(|| format!("the size of {what} is unknown"))?;
            if bytes > ADDRESSABLE {
                return Err(format!("{what} of {bytes} bytes is more than a page table can address"));
            }
            Ok(bytes)
        };
        let reported = known("VRAM", domains.vram.total)?;
        let visible = known("visible VRAM", domains.visible_vram.total)?;
        let gtt = known("GTT", domains.gtt.total)?;
        if reported == 0 && gtt == 0 {
            return Err("the device reports neither VRAM nor GTT".to_owned());
        }
        if page_size < 4096 || !page_size.is_power_of_two() {
            return Err(format!("gart page size {page_size} is not a power of two from 4096 on"));
        }
        let (vram, page) = (reported.next_multiple_of(INSTALLED), u64::from(page_size));
        let (visible, gtt) = (visible.next_multiple_of(1024).min(vram), gtt.next_multiple_of(1024));
        if is_apu {
            let total = gtt + visible;
            let visible = (total * 2 / 3).next_multiple_of(page).min(total);
            return Ok(Self { invisible: 0, gtt: total - visible, visible, is_apu, page });
        }
        let rest = vram - visible;
        Ok(Self { invisible: if rest * 9 < visible { 0 } else { rest }, gtt, visible, is_apu, page })
    }

    /// The usage of the process in a heap.
    fn own(&self, kind: &str, own: &OwnUsage) -> u64 {
        match kind {
            "gtt" => own.gtt,
            "invisible_vram" => own.invisible_vram,
            _ if self.invisible > 0 => own.visible_vram,
            _ => own.visible_vram.saturating_add(own.invisible_vram),
        }
    }

    /// The free bytes in the heap of a card.
    fn free(kind: &str, size: u64, own: u64, used: &UsedMemory) -> u64 {
        let used = match kind {
            "gtt" => used.gtt,
            "invisible_vram" => used.vram.saturating_sub(used.visible_vram),
            _ => used.visible_vram,
        };
        size.saturating_sub(own.max(used))
    }

    /// The free bytes in the heap of an APU: two thirds of the pool, in whole pages and limited by the space in the heap, are
    /// device-local, and the rest is GTT.
    fn share(&self, kind: &str, own: &OwnUsage, used: &UsedMemory) -> u64 {
        debug_assert!(self.is_apu);
        let own_local = self.own("visible_vram", own);
        let used = own_local.saturating_add(own.gtt).max(used.visible_vram.saturating_add(used.gtt));
        let free = (self.visible + self.gtt).saturating_sub(used);
        let local = (free * 2 / 3).min(self.visible.saturating_sub(own_local));
        let local = local - local % self.page;
        if kind == "gtt" { free - local } else { local }
    }
}
