//! Targets of PM4: a generation and a ring.

use std::fmt;

use amdgpu_hw::GfxLevel;

/// The kind of ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Ring {
    /// The graphics ring: PFP fetches, ME executes.
    Gfx,
    /// A compute ring: MEC fetches and executes, except on GFX6, where the graphics firmware serves compute rings.
    Compute,
}

/// A target of PM4 packets. The generation and the kind of ring determine the packets and their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Target {
    /// The graphics generation.
    pub level: GfxLevel,
    /// The kind of ring.
    pub ring: Ring,
}

impl Target {
    /// Returns all combinations of generation and ring, the oldest generation first.
    #[inline]
    pub fn all() -> impl Iterator<Item = Self> {
        GfxLevel::ALL.into_iter().flat_map(|level| [Self::gfx(level), Self::compute(level)])
    }

    /// Returns the target for the graphics ring of a generation.
    #[inline]
    pub const fn gfx(level: GfxLevel) -> Self {
        Self { level, ring: Ring::Gfx }
    }

    /// Returns the target for the compute rings of a generation.
    #[inline]
    pub const fn compute(level: GfxLevel) -> Self {
        Self { level, ring: Ring::Compute }
    }

    /// Returns `true` if MEC executes the packets. Compute rings of GFX6 accept the graphics forms.
    ///
    /// Source: Linux 6.12 `drivers/gpu/drm/radeon/si.c`, `si_vm_packet3_compute_check`; Mesa 25.0.7
    /// `src/amd/vulkan/radv_cs.c`, where `is_mec` asks for GFX7.
    #[inline]
    pub fn is_mec(self) -> bool {
        self.ring == Ring::Compute && self.level >= GfxLevel::Gfx7
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ring = match self.ring {
            Ring::Gfx => "gfx",
            Ring::Compute => "compute",
        };
        write!(f, "the {} {ring} ring", self.level)
    }
}

/// A one-dword NOP of type 2, which all generations accept and only GFX6 needs.
pub(super) const TYPE_2_FILLER: u32 = 0x8000_0000;

/// A NOP without payload: the reserved COUNT 0x3fff, supported on GFX7 and later.
pub(super) const HEADER_ONLY_NOP: u32 = 0xffff_1000;
