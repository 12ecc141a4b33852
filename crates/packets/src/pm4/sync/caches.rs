//! Cache write-backs and invalidations of a packet, in each generation's encoding.

use bitflags::bitflags;

use crate::FieldError;
use crate::error::require;
use amdgpu_hw::GfxLevel;

bitflags! {
    /// Cache operations, in terms that hold on every generation.
    ///
    /// [`CoherCntl::new`], [`TcActions::new`] and [`Gcr::new`] translate, and do more than was asked where the hardware
    /// has no smaller step.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct CacheActions: u32 {
        /// Forget instructions.
        const INVALIDATE_INSTRUCTIONS = 1 << 0;
        /// Forget what scalar loads have read.
        const INVALIDATE_SCALAR = 1 << 1;
        /// Forget what vector loads have read: L0, and L1 where there is one.
        const INVALIDATE_VECTOR = 1 << 2;
        /// Write back and forget L2.
        const INVALIDATE_L2 = 1 << 3;
        /// Write back L2 and keep it.
        const WRITE_BACK_L2 = 1 << 4;
        /// Forget what L2 keeps of colour and depth metadata. GFX9 and later; nothing before.
        const INVALIDATE_L2_METADATA = 1 << 5;
    }
}

impl CacheActions {
    /// Everything that makes earlier writes by anyone visible to later reads by shaders.
    pub const ACQUIRE: Self = Self::INVALIDATE_INSTRUCTIONS
        .union(Self::INVALIDATE_SCALAR)
        .union(Self::INVALIDATE_VECTOR)
        .union(Self::INVALIDATE_L2);
}

/// `value` if `actions` holds any of `when`, else nothing.
macro_rules! pick {
    ($actions:expr; $($when:ident => $value:expr),+ $(,)?) => {{
        let mut picked = Self::empty();
        $(if $actions.intersects(CacheActions::$when) { picked |= $value; })+
        picked
    }};
}

bitflags! {
    /// CP_COHER_CNTL, the cache actions of SURFACE_SYNC and ACQUIRE_MEM up to GFX9, and the surfaces they wait for.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/*.json`, `CP_COHER_CNTL`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct CoherCntl: u32 {
        /// Wait for writes to the surface in CP_COHER_BASE of destination 0. GFX6 to GFX8.
        const DEST_BASE_0 = 1 << 0;
        /// As [`Self::DEST_BASE_0`], for destination 1. GFX6 to GFX8.
        const DEST_BASE_1 = 1 << 1;
        /// L2 lines of shared-descriptor accesses. GFX8.
        const TC_SD = 1 << 2;
        /// Restrict the L2 action to lines that are not coherent. GFX8 and GFX9.
        const TC_NC = 1 << 3;
        /// Restrict the L2 action to write-combined lines. GFX9.
        const TC_WC = 1 << 4;
        /// Forget metadata in L2. GFX9.
        const TC_METADATA = 1 << 5;
        /// Wait for colour targets 0 to 7. GFX6 to GFX8.
        const CB_DEST_BASE = 0xff << 6;
        /// Wait for the depth target. GFX6 to GFX8.
        const DB_DEST_BASE = 1 << 14;
        /// Forget volatile lines of the vector L1.
        const TCL1_VOLATILE = 1 << 15;
        /// Forget volatile lines of L2. GFX6 and GFX7.
        const TC_VOLATILE = 1 << 16;
        /// Write back L2.
        const TC_WRITE_BACK = 1 << 18;
        /// As [`Self::DEST_BASE_0`], for destination 2. GFX6 to GFX8.
        const DEST_BASE_2 = 1 << 19;
        /// As [`Self::DEST_BASE_0`], for destination 3. GFX6 to GFX8.
        const DEST_BASE_3 = 1 << 21;
        /// Forget the vector L1.
        const TCL1 = 1 << 22;
        /// Forget L2; up to GFX7 it is written back too.
        const TC = 1 << 23;
        /// Flush and forget the colour caches.
        const CB = 1 << 25;
        /// Flush and forget the depth caches.
        const DB = 1 << 26;
        /// Forget the scalar cache.
        const SH_KCACHE = 1 << 27;
        /// Forget volatile lines of the scalar cache.
        const SH_KCACHE_VOLATILE = 1 << 28;
        /// Forget the instruction cache.
        const SH_ICACHE = 1 << 29;
        /// Write back the scalar cache. GFX8 and GFX9.
        const SH_KCACHE_WRITE_BACK = 1 << 30;
    }
}

impl CoherCntl {
    /// The bits that a generation knows; none from GFX10 on, where [`Gcr`] takes over.
    #[inline]
    pub const fn known(level: GfxLevel) -> Self {
        Self::from_bits_retain(match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 => 0x3eed_ffc3,
            GfxLevel::Gfx8 => 0x7eec_ffcf,
            GfxLevel::Gfx9 => 0x7ec4_8038,
            _ => 0,
        })
    }

    /// The actions in this generation's bits; empty from GFX10 on.
    ///
    /// GFX6 and GFX7 can not write L2 back without forgetting it. From GFX8 on a plain write-back is restricted to the
    /// lines that are not coherent anyway.
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

bitflags! {
    /// The cache actions that an end-of-pipe event takes along up to GFX9, at their place in the packet.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `EVENT_TC_*_ACTION_ENA` and `EVENT_TCL1_*`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct TcActions: u32 {
        /// Forget volatile lines of the vector L1.
        const TCL1_VOLATILE = 1 << 12;
        /// Forget volatile lines of L2.
        const TC_VOLATILE = 1 << 13;
        /// Write back L2.
        const TC_WRITE_BACK = 1 << 15;
        /// Forget the vector L1.
        const TCL1 = 1 << 16;
        /// Forget L2.
        const TC = 1 << 17;
        /// Restrict the L2 action to lines that are not coherent. GFX9.
        const TC_NC = 1 << 19;
        /// Restrict the L2 action to write-combined lines. GFX9.
        const TC_WC = 1 << 20;
        /// The action concerns metadata in L2. GFX9.
        const TC_METADATA = 1 << 21;
    }
}

impl TcActions {
    /// Returns the actions if a field says so, else none.
    #[inline]
    pub(in crate::pm4) const fn when(self, is_set: bool) -> Self {
        if is_set { self } else { Self::empty() }
    }

    /// The bits that a generation knows: none on GFX6, and none from GFX10 on, where [`Gcr`] takes over.
    #[inline]
    pub const fn known(level: GfxLevel) -> Self {
        match level {
            GfxLevel::Gfx7 | GfxLevel::Gfx8 => Self::from_bits_retain(0x0003_b000),
            GfxLevel::Gfx9 => Self::all(),
            _ => Self::empty(),
        }
    }

    /// The L2 and vector actions in this generation's bits; the others can not travel with an event.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush` (GFX9); the bits before are the same.
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

bitflags! {
    /// GCR_CNTL, the cache actions from GFX10 on.
    ///
    /// GLI caches instructions, GLK scalar loads, GLV is the vector L0, GL1 the L1 of a shader array, GL2 the L2, GLM
    /// the metadata part of L2.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/gfx10-rsrc.json` and `src/amd/common/sid.h`, `S_586_*`; Linux 6.12
    /// `nvd.h`, `PACKET3_ACQUIRE_MEM_GCR_CNTL_*`.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct Gcr: u32 {
        /// Forget all instructions.
        const GLI_ALL = 1;
        /// Forget the instructions of the range.
        const GLI_RANGE = 2;
        /// Forget the first and last line of the range.
        const GLI_FIRST_LAST = 3;
        /// The GL1 action is for the range, not for everything.
        const GL1_RANGE = 2 << 2;
        /// The GL1 action is for the first and last line of the range.
        const GL1_FIRST_LAST = 3 << 2;
        /// Write back metadata. The hardware wants [`Self::GLM_INVALIDATE`] with it.
        const GLM_WRITE_BACK = 1 << 4;
        /// Forget metadata.
        const GLM_INVALIDATE = 1 << 5;
        /// Write back scalar stores.
        const GLK_WRITE_BACK = 1 << 6;
        /// Forget scalar loads.
        const GLK_INVALIDATE = 1 << 7;
        /// Forget vector loads in L0.
        const GLV_INVALIDATE = 1 << 8;
        /// Forget L1.
        const GL1_INVALIDATE = 1 << 9;
        /// Change the L2 action to lines used by the system.
        const GL2_US = 1 << 10;
        /// The L2 action is for volatile lines.
        const GL2_VOLATILE = 1 << 11;
        /// The L2 action is for the range.
        const GL2_RANGE = 2 << 11;
        /// The L2 action is for the first and last line of the range.
        const GL2_FIRST_LAST = 3 << 11;
        /// Drop dirty lines of L2.
        const GL2_DISCARD = 1 << 13;
        /// Forget L2.
        const GL2_INVALIDATE = 1 << 14;
        /// Write back L2.
        const GL2_WRITE_BACK = 1 << 15;
        /// The caches are treated from the shader outwards.
        const FORWARD = 1 << 16;
        /// The caches are treated from memory inwards.
        const REVERSE = 2 << 16;
        /// The range holds physical addresses. Kernel only.
        const RANGE_IS_PHYSICAL = 1 << 18;
    }
}

impl Gcr {
    /// Returns the actions if a field says so, else none.
    #[inline]
    pub(in crate::pm4) const fn when(self, is_set: bool) -> Self {
        if is_set { self } else { Self::empty() }
    }

    /// The actions in GCR_CNTL's bits.
    ///
    /// GLM can not be written back alone, and GFX12 has none.
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

    /// Two-bit fields with a number that means nothing.
    #[inline]
    pub(in crate::pm4) fn check(self) -> Result<(), FieldError> {
        let unknown = |field, value| FieldError::Unknown { field, value };
        require((self.bits() >> 2) & 3 != 1, unknown("gl1_range", 1))?;
        require((self.bits() >> 16) & 3 != 3, unknown("gcr_seq", 3))
    }

    /// Returns the operations that an end-of-pipe event can carry: everything from GLM up to the sequence. GLK only from
    /// GFX11 on.
    #[inline]
    pub(in crate::pm4) const fn in_event(level: GfxLevel) -> Self {
        match level {
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => Self::from_bits_retain(0x3_ff30),
            _ => Self::from_bits_retain(0x3_fff0),
        }
    }

    /// Returns the range of the L2 action.
    #[inline]
    pub(in crate::pm4) const fn gl2_range(self) -> u32 {
        self.bits() >> 11 & 3
    }

    /// Returns the order in which the caches are treated.
    #[inline]
    pub(in crate::pm4) const fn sequence(self) -> u32 {
        self.bits() >> 16 & 3
    }

    /// Returns the reverse of [`Self::gl2_range`] and [`Self::sequence`].
    #[inline]
    pub(in crate::pm4) const fn with_numbers(gl2_range: u32, sequence: u32) -> Self {
        Self::from_bits_retain(gl2_range << 11 | sequence << 16)
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
            // Bit 31 is the engine's in the packets.
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
