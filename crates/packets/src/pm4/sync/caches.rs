//! Cache actions: write-backs and invalidations, in the encoding of each generation.

use bitflags::bitflags;

pub use crate::layout::flags::{CoherCntl, Gcr, TcActions};
use amdgpu_hw::GfxLevel;

bitflags! {
    /// Cache actions, independent of the generation.
    ///
    /// [`CoherCntl::new`], [`TcActions::new`] and [`Gcr::new`] convert them to the bits of a generation. If the hardware has no
    /// matching action, they choose one that does more.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct CacheActions: u32 {
        /// Invalidates the instruction cache.
        const INVALIDATE_INSTRUCTIONS = 1 << 0;
        /// Invalidates the scalar cache.
        const INVALIDATE_SCALAR = 1 << 1;
        /// Invalidates the vector caches: L0, and L1 if there is one.
        const INVALIDATE_VECTOR = 1 << 2;
        /// Writes back and invalidates L2.
        const INVALIDATE_L2 = 1 << 3;
        /// Writes back L2 without invalidating it.
        const WRITE_BACK_L2 = 1 << 4;
        /// Invalidates metadata of colour and depth in L2. GFX9 and later; no effect before.
        const INVALIDATE_L2_METADATA = 1 << 5;
    }
}

impl CacheActions {
    /// The actions that make all earlier writes visible to later reads by shaders.
    pub const ACQUIRE: Self = Self::INVALIDATE_INSTRUCTIONS
        .union(Self::INVALIDATE_SCALAR)
        .union(Self::INVALIDATE_VECTOR)
        .union(Self::INVALIDATE_L2);
}

/// Returns `value` if `actions` contains any of `when`; empty otherwise.
macro_rules! pick {
    ($actions:expr; $($when:ident => $value:expr),+ $(,)?) => {{
        let mut picked = Self::empty();
        $(if $actions.intersects(CacheActions::$when) { picked |= $value; })+
        picked
    }};
}

impl CoherCntl {
    /// Returns the actions in this generation's bits; empty on GFX10 and later.
    ///
    /// GFX6 and GFX7 cannot write back L2 without invalidating it. On GFX8 and later, a write-back without invalidation is
    /// restricted to non-coherent lines.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush`.
    #[inline]
    pub fn new(level: GfxLevel, actions: CacheActions) -> Self {
        let (write_back, invalidate) = if level >= GfxLevel::Gfx8 {
            (Self::TC_WRITE_BACK | Self::TC_NC, Self::TC | Self::TCL1 | Self::TC_WRITE_BACK)
        } else {
            (Self::TC | Self::TCL1, Self::TC | Self::TCL1)
        };
        let write_back = if actions.contains(CacheActions::INVALIDATE_L2) { Self::empty() } else { write_back };
        pick!(actions;
            INVALIDATE_INSTRUCTIONS => Self::SH_ICACHE,
            INVALIDATE_SCALAR => Self::SH_KCACHE,
            INVALIDATE_VECTOR => Self::TCL1,
            INVALIDATE_L2 => invalidate,
            WRITE_BACK_L2 => write_back,
            INVALIDATE_L2_METADATA => Self::TC_METADATA,
        )
        .intersection(Self::known(level))
    }
}

impl TcActions {
    /// Returns the actions if the field is set; empty otherwise.
    #[inline]
    pub(in crate::pm4) const fn when(self, is_set: bool) -> Self {
        if is_set { self } else { Self::empty() }
    }

    /// Returns the L2 and vector cache actions in this generation's bits. Other actions are not possible with an event.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush` (GFX9). Older generations have the same bits.
    #[inline]
    pub fn new(level: GfxLevel, actions: CacheActions) -> Self {
        let nc = if level >= GfxLevel::Gfx9 { Self::TC_NC } else { Self::empty() };
        let write_back = if actions.contains(CacheActions::INVALIDATE_L2) { Self::empty() } else { nc };
        pick!(actions;
            INVALIDATE_VECTOR => Self::TCL1,
            INVALIDATE_L2 => Self::TC | Self::TC_WRITE_BACK,
            WRITE_BACK_L2 => Self::TC_WRITE_BACK | write_back,
            INVALIDATE_L2_METADATA => Self::TC | Self::TC_METADATA,
        )
        .intersection(Self::known(level))
    }
}

impl Gcr {
    /// Returns the actions if the field is set; empty otherwise.
    #[inline]
    pub(in crate::pm4) const fn when(self, is_set: bool) -> Self {
        if is_set { self } else { Self::empty() }
    }

    /// Returns the actions in the bits of GCR_CNTL.
    ///
    /// GLM cannot be written back without invalidation. GFX12 has no GLM.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `gfx10_cs_emit_cache_flush`.
    #[inline]
    pub fn new(level: GfxLevel, actions: CacheActions) -> Self {
        let glm = if level >= GfxLevel::Gfx12 { Self::empty() } else { Self::GLM_WRITE_BACK | Self::GLM_INVALIDATE };
        pick!(actions;
            INVALIDATE_INSTRUCTIONS => Self::GLI_ALL,
            INVALIDATE_SCALAR => Self::GLK_INVALIDATE,
            INVALIDATE_VECTOR => Self::GLV_INVALIDATE | Self::GL1_INVALIDATE,
            INVALIDATE_L2 => Self::GL2_INVALIDATE | Self::GL2_WRITE_BACK | glm,
            WRITE_BACK_L2 => Self::GL2_WRITE_BACK | glm,
            INVALIDATE_L2_METADATA => glm,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registers::CP_COHER_CNTL;

    #[test]
    fn the_bits_of_every_generation_are_among_the_named_ones() {
        for level in GfxLevel::ALL {
            assert!(CoherCntl::all().contains(CoherCntl::known(level)), "{level}");
            assert!(TcActions::all().contains(TcActions::known(level)), "{level}");
            assert!(CoherCntl::known(level).contains(CoherCntl::new(level, CacheActions::all())));
        }
        assert_eq!(Gcr::all().bits(), 0x7_ffff);
    }

    #[test]
    fn the_actions_up_to_gfx9_are_the_fields_of_their_register() {
        for level in [GfxLevel::Gfx6, GfxLevel::Gfx7, GfxLevel::Gfx8, GfxLevel::Gfx9] {
            let fields = CP_COHER_CNTL.fields(level).fold(0, |bits, field| bits | field.mask());
            // Bit 31 of the packets is the engine.
            assert_eq!(CoherCntl::known(level).bits(), fields & 0x7fff_ffff, "{level}");
        }
    }

    #[test]
    fn an_acquire_is_what_radv_emits() {
        assert_eq!(
            CoherCntl::new(GfxLevel::Gfx6, CacheActions::INVALIDATE_L2 | CacheActions::INVALIDATE_SCALAR).bits(),
            0x08c0_0000
        );
        assert_eq!(CoherCntl::new(GfxLevel::Gfx9, CacheActions::INVALIDATE_L2).bits(), 0x00c4_0000);
        assert_eq!(Gcr::new(GfxLevel::Gfx10, CacheActions::ACQUIRE).bits(), 0xc3b1);
    }
}
