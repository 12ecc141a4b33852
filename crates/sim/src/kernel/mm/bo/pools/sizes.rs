//! The sizes of the heaps, and the bytes in use of each.

use amdgpu_hw::GfxLevel;
use amdgpu_uapi::{GemDomain, MemoryInfo};

use super::place::Placement;
use crate::{Profile, chips::gds_config, kernel::mm::bo::PAGE};

/// The VRAM in bytes that the kernel reserves for page tables (`AMDGPU_VM_RESERVED_VRAM`).
const RESERVED_VRAM: u64 = 8 << 20;

/// The maximum size of a BO of doorbells in bytes: the doorbell aperture.
///
/// Source: Linux 6.17 `amdgpu_doorbell_mgr.c`, `amdgpu_doorbell_init`.
const DOORBELLS: u64 = 2 << 20;

/// The sizes of the domains in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sizes {
    pub(super) vram: u64,
    /// The VRAM that is not available for BOs.
    pub(super) reserved: u64,
    pub(super) visible: u64,
    pub(super) gtt: u64,
    /// The system memory and swap beyond GTT. GTT is half of a machine's memory, which is assumed to have as much swap as memory,
    /// so this is three times the size of GTT.
    pub(super) system: u64,
    pub(super) is_apu: bool,
    pub(super) gfx_level: GfxLevel,
}

impl Sizes {
    pub(super) fn new(profile: &Profile) -> Self {
        let MemoryInfo { vram, cpu_accessible_vram, gtt } = profile.memory;
        Self {
            vram: vram.total_heap_size,
            reserved: RESERVED_VRAM,
            visible: cpu_accessible_vram.total_heap_size.min(vram.total_heap_size),
            gtt: gtt.total_heap_size,
            system: gtt.total_heap_size.saturating_mul(3),
            is_apu: profile.is_apu(),
            gfx_level: profile.gfx_level,
        }
    }

    /// Returns `true` if all VRAM is visible.
    pub(super) const fn is_all_visible(&self) -> bool {
        self.visible == self.vram
    }

    /// Returns `true` if a request is larger than its heap: GTT if it is among the domains, otherwise VRAM.
    ///
    /// Source: Linux 6.12 `amdgpu_object.c`, `amdgpu_bo_validate_size`.
    pub(super) fn is_too_large(&self, bytes: u64, domains: GemDomain) -> bool {
        if domains.contains(GemDomain::GTT) {
            bytes >= self.gtt
        } else if domains.contains(GemDomain::VRAM) {
            bytes >= self.vram
        } else if domains.contains(GemDomain::DOORBELL) {
            bytes > DOORBELLS
        } else {
            false
        }
    }

    /// Returns `true` if the chip has this much of an on-chip resource. Sizes are pages, one for each unit.
    pub(super) fn has_on_chip(&self, bytes: u64, domains: GemDomain) -> bool {
        if domains.contains(GemDomain::DOORBELL) {
            return bytes <= DOORBELLS;
        }
        let config = gds_config(self.gfx_level);
        let units = if domains.contains(GemDomain::GDS) {
            config.gds_total_size
        } else if domains.contains(GemDomain::GWS) {
            config.gws_per_compute_partition
        } else {
            config.oa_per_compute_partition
        };
        bytes <= u64::from(units) * PAGE
    }
}

/// The bytes in use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) invisible: u64,
    pub(super) visible: u64,
    pub(super) gtt: u64,
    pub(super) system: u64,
}

impl Used {
    pub(super) const fn vram(&self) -> u64 {
        self.invisible + self.visible
    }

    /// Returns a location in VRAM with room for a BO: fully visible if the CPU needs it, otherwise with as little visible VRAM as
    /// possible.
    pub(super) fn room_in_vram(&self, sizes: &Sizes, bytes: u64, for_cpu: bool) -> Option<Placement> {
        let fits = |used: u64, size: u64| used.checked_add(bytes).is_some_and(|sum| sum <= size);
        if !fits(self.vram(), sizes.vram.saturating_sub(sizes.reserved)) {
            return None;
        }
        if for_cpu {
            return fits(self.visible, sizes.visible).then_some(Placement::Vram { visible: bytes });
        }
        let invisible = (sizes.vram - sizes.visible - self.invisible).min(bytes);
        Some(Placement::Vram { visible: bytes - invisible })
    }

    /// Returns `true` if invisible VRAM has room for a BO.
    pub(super) const fn has_invisible_room(&self, sizes: &Sizes, bytes: u64) -> bool {
        sizes.vram - sizes.visible - self.invisible >= bytes
    }

    pub(super) fn room_in_gtt(&self, sizes: &Sizes, bytes: u64) -> Option<Placement> {
        self.gtt.checked_add(bytes).is_some_and(|sum| sum <= sizes.gtt).then_some(Placement::Gtt)
    }

    pub(super) fn room_in_system(&self, sizes: &Sizes, bytes: u64) -> Option<Placement> {
        self.system.checked_add(bytes).is_some_and(|sum| sum <= sizes.system).then_some(Placement::System)
    }

    /// Counts a BO as in use.
    pub(super) const fn add(&mut self, place: Placement, bytes: u64) {
        match place {
            Placement::Vram { visible } => {
                self.visible += visible;
                self.invisible += bytes - visible;
            }
            Placement::Gtt => self.gtt += bytes,
            Placement::System => self.system += bytes,
            Placement::Nowhere => {}
        }
    }

    /// Removes a BO from the counts.
    pub(super) const fn subtract(&mut self, place: Placement, bytes: u64) {
        match place {
            Placement::Vram { visible } => {
                self.visible -= visible;
                self.invisible -= bytes - visible;
            }
            Placement::Gtt => self.gtt -= bytes,
            Placement::System => self.system -= bytes,
            Placement::Nowhere => {}
        }
    }
}
