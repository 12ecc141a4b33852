//! The memory pools: what is in VRAM, visible VRAM and GTT.

use std::sync::Arc;

use amdgpu_winsys::uapi::{GemCreateFlags, GemDomain, HeapInfo, MemoryInfo};
use nix::errno::Errno;
use parking_lot::Mutex;

use crate::Profile;

/// VRAM that the kernel keeps for page tables (`AMDGPU_VM_RESERVED_VRAM`), bytes.
const RESERVED_VRAM: u64 = 8 << 20;

/// Where a BO is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// VRAM, in the part that the CPU can map or not.
    Vram {
        /// Whether the CPU can map it there.
        visible: bool,
    },
    /// System memory that the GPU can map.
    Gtt,
    /// System memory out of the GPU's reach; counted nowhere.
    System,
}

/// Usage of the pools. A BO is wholly in one place: the real allocator may split one over visible and invisible VRAM.
#[derive(Debug)]
pub(crate) struct Pools {
    sizes: MemoryInfo,
    usable_captured: bool,
    used: Mutex<Used>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Used {
    invisible: u64,
    visible: u64,
    gtt: u64,
}

/// What a BO takes from the pools, given back on drop.
#[derive(Debug)]
pub(crate) struct Taken {
    pools: Arc<Pools>,
    place: Place,
    bytes: u64,
}

impl Pools {
    pub(crate) fn new(profile: &Profile) -> Arc<Self> {
        Arc::new(Self {
            sizes: profile.memory,
            usable_captured: profile.memory_usable_captured,
            used: Mutex::default(),
        })
    }

    fn visible_size(&self) -> u64 {
        self.sizes.cpu_accessible_vram.total_heap_size.min(self.sizes.vram.total_heap_size)
    }

    /// Finds a place for a new BO, with the fallbacks of the ioctl: first the CPU access hint is dropped, then a request
    /// for VRAM alone may go to GTT. The domains as they are afterwards.
    ///
    /// Nothing is evicted: when all is full, the answer is ENOMEM.
    ///
    /// Source: Linux 6.12 `amdgpu_gem.c`, `amdgpu_gem_create_ioctl`; `amdgpu_object.c`, `amdgpu_bo_validate_size`.
    pub(crate) fn place(
        self: &Arc<Self>,
        bytes: u64,
        domains: GemDomain,
        flags: GemCreateFlags,
    ) -> Result<(Taken, GemDomain), Errno> {
        let mut attempts = vec![(domains, flags)];
        let relaxed = flags - GemCreateFlags::CPU_ACCESS_REQUIRED;
        if relaxed != flags {
            attempts.push((domains, relaxed));
        }
        if domains == GemDomain::VRAM {
            attempts.push((GemDomain::VRAM | GemDomain::GTT, relaxed));
        }
        for (domains, flags) in attempts {
            if let Some(taken) = self.try_place(bytes, domains, flags) {
                return Ok((taken, domains));
            }
        }
        Err(Errno::ENOMEM)
    }

    fn try_place(self: &Arc<Self>, bytes: u64, domains: GemDomain, flags: GemCreateFlags) -> Option<Taken> {
        let largest = if domains.contains(GemDomain::GTT) {
            self.sizes.gtt.total_heap_size
        } else if domains.contains(GemDomain::VRAM) {
            self.sizes.vram.total_heap_size
        } else {
            u64::MAX
        };
        if bytes >= largest {
            return None;
        }
        let mut used = self.used.lock();
        let place = self.find(&used, bytes, domains, flags)?;
        match place {
            Place::Vram { visible: true } => used.visible += bytes,
            Place::Vram { visible: false } => used.invisible += bytes,
            Place::Gtt => used.gtt += bytes,
            Place::System => {}
        }
        Some(Taken { pools: Arc::clone(self), place, bytes })
    }

    fn find(&self, used: &Used, bytes: u64, domains: GemDomain, flags: GemCreateFlags) -> Option<Place> {
        let fits = |used: u64, size: u64| used.checked_add(bytes).is_some_and(|sum| sum <= size);
        if domains.contains(GemDomain::VRAM) {
            let total = self.sizes.vram.total_heap_size;
            let invisible_size = total - self.visible_size();
            if fits(used.invisible + used.visible, total.saturating_sub(RESERVED_VRAM)) {
                let needs_cpu = flags.contains(GemCreateFlags::CPU_ACCESS_REQUIRED);
                if !needs_cpu && fits(used.invisible, invisible_size) {
                    return Some(Place::Vram { visible: false });
                }
                if fits(used.visible, self.visible_size()) {
                    return Some(Place::Vram { visible: true });
                }
            }
        }
        if domains.contains(GemDomain::GTT) && fits(used.gtt, self.sizes.gtt.total_heap_size) {
            return Some(Place::Gtt);
        }
        let special = GemDomain::GDS | GemDomain::GWS | GemDomain::OA | GemDomain::CPU;
        (domains.is_empty() || domains.intersects(special)).then_some(Place::System)
    }

    /// Counts user memory and imports, which are always in GTT; refused when GTT is full.
    pub(crate) fn take_gtt(self: &Arc<Self>, bytes: u64) -> Result<Taken, Errno> {
        self.try_place(bytes, GemDomain::GTT, GemCreateFlags::empty()).ok_or(Errno::ENOMEM)
    }

    /// The answer to MEMORY: totals of the capture, usage of now. Where the capture lacks the usable sizes they follow
    /// the kernel's formulas with nothing pinned.
    ///
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_info_ioctl`.
    pub(crate) fn memory_info(&self) -> MemoryInfo {
        let used = *self.used.lock();
        let mut info = self.sizes;
        if !self.usable_captured {
            let vram_usable = info.vram.total_heap_size.saturating_sub(RESERVED_VRAM);
            let visible_usable = info.cpu_accessible_vram.total_heap_size.min(vram_usable);
            for (heap, usable) in [
                (&mut info.vram, vram_usable),
                (&mut info.cpu_accessible_vram, visible_usable),
                (&mut info.gtt, self.sizes.gtt.total_heap_size),
            ] {
                *heap = HeapInfo { usable_heap_size: usable, max_allocation: usable / 4 * 3, ..*heap };
            }
        }
        info.vram.heap_usage = used.invisible + used.visible;
        info.cpu_accessible_vram.heap_usage = used.visible;
        info.gtt.heap_usage = used.gtt;
        info
    }
}

impl Taken {
    /// Where it is.
    pub(crate) fn place(&self) -> Place {
        self.place
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut used = self.pools.used.lock();
        match self.place {
            Place::Vram { visible: true } => used.visible -= self.bytes,
            Place::Vram { visible: false } => used.invisible -= self.bytes,
            Place::Gtt => used.gtt -= self.bytes,
            Place::System => {}
        }
    }
}
