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

/// Returns the actions that one packet of GFX8 or GFX9 can execute for `actions`.
///
/// The L2 of these chips accepts a write-back, an invalidation (with or without that of the vector caches), an invalidation of the
/// vector caches, or an invalidation of metadata, but not a mixture: of a write-back and an invalidation of the vector caches in one
/// packet, only one is executed. A mixture becomes the write-back and invalidation of everything, which includes metadata.
/// [`AcquireMem::each`](super::AcquireMem::each) splits it instead.
///
/// Source: Mesa 25.0.7 `src/gallium/drivers/radeonsi/si_barrier.c`, `si_emit_barrier_as_acquire_mem` and the list of combinations
/// before it; `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush`.
const fn unmixed(level: GfxLevel, actions: CacheActions) -> CacheActions {
    const ALONE: CacheActions =
        CacheActions::WRITE_BACK_L2.union(CacheActions::INVALIDATE_VECTOR).union(CacheActions::INVALIDATE_L2_METADATA);
    let is_old = matches!(level, GfxLevel::Gfx8 | GfxLevel::Gfx9);
    let has_metadata = !matches!(level, GfxLevel::Gfx8);
    let known = if has_metadata { actions } else { actions.difference(CacheActions::INVALIDATE_L2_METADATA) };
    let mixes = known.intersection(ALONE).bits().count_ones() > 1;
    if !is_old || !(mixes || known.contains(CacheActions::INVALIDATE_L2)) {
        return actions;
    }
    actions
        .union(CacheActions::INVALIDATE_L2)
        .difference(CacheActions::WRITE_BACK_L2.union(CacheActions::INVALIDATE_L2_METADATA))
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
    /// restricted to non-coherent lines, and a packet cannot also invalidate the vector caches: L2 is then invalidated, too.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush`.
    #[inline]
    pub fn new(level: GfxLevel, actions: CacheActions) -> Self {
        let actions = unmixed(level, actions);
        let (write_back, invalidate) = if level >= GfxLevel::Gfx8 {
            (Self::TC_WRITE_BACK | Self::TC_NC, Self::TC | Self::TCL1 | Self::TC_WRITE_BACK)
        } else {
            (Self::TC | Self::TCL1, Self::TC | Self::TCL1)
        };
        let write_back = if actions.contains(CacheActions::INVALIDATE_L2) { Self::empty() } else { write_back };
        // The bit selects lines for the invalidation, and does nothing without it.
        let metadata = if level == GfxLevel::Gfx9 { Self::TC | Self::TC_METADATA } else { Self::empty() };
        pick!(actions;
            INVALIDATE_INSTRUCTIONS => Self::SH_ICACHE,
            INVALIDATE_SCALAR => Self::SH_KCACHE,
            INVALIDATE_VECTOR => Self::TCL1,
            INVALIDATE_L2 => invalidate,
            WRITE_BACK_L2 => write_back,
            INVALIDATE_L2_METADATA => metadata,
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
    /// As in [`CoherCntl::new`], a mixture that GFX8 and GFX9 do not accept becomes the invalidation of L2.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush` (GFX9). Older generations have the same bits.
    #[inline]
    pub fn new(level: GfxLevel, actions: CacheActions) -> Self {
        let actions = unmixed(level, actions);
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
    /// GLM cannot be written back without invalidation. GFX12 has no GLM. The instruction and scalar caches are refilled through
    /// GL1, so their invalidation includes GL1: otherwise they would receive the old bytes again.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `gfx10_cs_emit_cache_flush`.
    #[inline]
    pub fn new(level: GfxLevel, actions: CacheActions) -> Self {
        let glm = if level >= GfxLevel::Gfx12 { Self::empty() } else { Self::GLM_WRITE_BACK | Self::GLM_INVALIDATE };
        pick!(actions;
            INVALIDATE_INSTRUCTIONS => Self::GLI_ALL | Self::GL1_INVALIDATE,
            INVALIDATE_SCALAR => Self::GLK_INVALIDATE | Self::GL1_INVALIDATE,
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

    #[test]
    fn a_packet_of_gfx8_and_gfx9_has_no_mixture_that_the_chip_does_not_execute() {
        const WRITE_BACK: u32 = CoherCntl::TC_WRITE_BACK.bits() | CoherCntl::TC_NC.bits();
        const INVALIDATE: u32 = CoherCntl::TC.bits() | CoherCntl::TC_WRITE_BACK.bits();
        let l1 = CoherCntl::TCL1.bits();
        let metadata = CoherCntl::TC.bits() | CoherCntl::TC_METADATA.bits();
        let allowed = [0, l1, WRITE_BACK, INVALIDATE, INVALIDATE | l1, metadata];
        let l2 = (CoherCntl::TC | CoherCntl::TC_WRITE_BACK | CoherCntl::TC_NC | CoherCntl::TCL1).bits()
            | CoherCntl::TC_METADATA.bits();
        for level in [GfxLevel::Gfx8, GfxLevel::Gfx9] {
            for actions in (0..1 << 6).map(CacheActions::from_bits_truncate) {
                let bits = CoherCntl::new(level, actions).bits() & l2;
                assert!(allowed.contains(&bits), "{level} {actions:?} {bits:#x}");
                let caches = [
                    (CacheActions::INVALIDATE_VECTOR, l1),
                    (CacheActions::WRITE_BACK_L2, CoherCntl::TC_WRITE_BACK.bits()),
                    (CacheActions::INVALIDATE_L2, INVALIDATE),
                ];
                for (action, bit) in caches.into_iter().filter(|(action, _)| actions.contains(*action)) {
                    assert_eq!(bits & bit, bit, "{level} {actions:?}: {action:?} is done");
                }
                let event = TcActions::new(level, actions);
                let (back, first) = (TcActions::TC_WRITE_BACK | TcActions::TC_NC, TcActions::TCL1);
                let mixes = event.contains(back | first) && !event.contains(TcActions::TC);
                assert!(!mixes, "{level} {actions:?} {event:?}");
            }
        }
    }

    #[test]
    fn caches_that_are_filled_through_gl1_are_invalidated_together_with_it() {
        let through =
            [CacheActions::INVALIDATE_INSTRUCTIONS, CacheActions::INVALIDATE_SCALAR, CacheActions::INVALIDATE_VECTOR];
        for level in GfxLevel::ALL.into_iter().filter(|level| *level >= GfxLevel::Gfx10) {
            for actions in through {
                assert!(Gcr::new(level, actions).contains(Gcr::GL1_INVALIDATE), "{level} {actions:?}");
            }
        }
    }
}
