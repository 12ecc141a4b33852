//! Types shared by several packets: engines, caching, registers and comparisons.

use crate::FieldError;
use crate::choices::choices;
use crate::error::require;
use crate::layout::values::{CachePolicy, Compare as CompareWith, DmaEngine, EngineSel, EngineSelIb, Temporal};
use amdgpu_hw::{GfxLevel, GpuVa};

choices! {
    /// Half of the graphics front end that executes a packet. MEC has one processor and ignores the field.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `S_370_ENGINE_SEL` and its like.
    #[derive(Default)]
    pub enum Engine: EngineSel {
        /// The micro engine, in order with draws and dispatches.
        #[default]
        Me = ME,
        /// The prefetch parser, which runs ahead of ME.
        Pfp = PFP,
    }
}

choices! {
    /// L2's retention policy for the data of an access. It never changes what is read or written.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/pkt3.json`, `CACHE_POLICY`; on GFX12 the same two bits are the temporal
    /// hint.
    #[derive(Default)]
    pub enum Policy: CachePolicy {
        /// Kept as long as it is used (GFX12: regular).
        #[default]
        Lru = LRU,
        /// Thrown out early (GFX12: not temporal).
        Stream = STREAM,
        /// Not allocated (GFX12: highly temporal). GFX10 and later.
        NoAllocate = NOA,
        /// Passed by (GFX12: last use).
        Bypass = BYPASS,
    }
}

impl Engine {
    /// Returns the engine of a CP DMA.
    #[inline]
    pub(super) const fn of_dma(self) -> DmaEngine {
        match self {
            Self::Me => DmaEngine::ME,
            Self::Pfp => DmaEngine::PFP,
        }
    }

    /// Returns the engine of a wait.
    #[inline]
    pub(super) const fn of_wait(self) -> EngineSelIb {
        match self {
            Self::Me => EngineSelIb::ME,
            Self::Pfp => EngineSelIb::PFP,
        }
    }

    /// Returns the engine that a CP DMA names.
    #[inline]
    pub(super) const fn read_dma(raw: DmaEngine) -> Result<Self, FieldError> {
        match raw {
            DmaEngine::ME => Ok(Self::Me),
            DmaEngine::PFP => Ok(Self::Pfp),
            other => Err(FieldError::Unknown { field: "engine_sel", value: other.number() }),
        }
    }

    /// Returns the engine that a wait names.
    #[inline]
    pub(super) const fn read_wait(raw: EngineSelIb) -> Result<Self, FieldError> {
        match raw {
            EngineSelIb::ME => Ok(Self::Me),
            EngineSelIb::PFP => Ok(Self::Pfp),
            other => Err(FieldError::Unknown { field: "engine_sel", value: other.number() }),
        }
    }
}

impl Policy {
    /// Returns the policy of a packet, of whose two fields a generation has one.
    #[inline]
    pub(super) const fn of(policy: CachePolicy, temporal: Temporal) -> Result<Self, FieldError> {
        Self::read("cache_policy", CachePolicy::new(policy.number() | temporal.number()))
    }
}

/// Caching of an access; four neighbouring bits in every packet that has them. The default fits every generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caching {
    /// Retention policy of L2. GFX7 and later.
    pub policy: Policy,
    /// The address is translated by the IOMMU. GFX7 and GFX8.
    pub atc: bool,
    /// The access is volatile. GFX7.
    pub volatile: bool,
}

impl Caching {
    /// The default, for constants.
    pub(super) const NONE: Self = Self { policy: Policy::Lru, atc: false, volatile: false };

    /// Returns the cache policy of the generations up to GFX11_5, and the temporal hint of GFX12.
    #[inline(always)]
    pub(super) const fn policies(self, level: GfxLevel) -> (CachePolicy, Temporal) {
        match level {
            GfxLevel::Gfx12 => (CachePolicy::LRU, Temporal::new(self.policy as u32)),
            _ => (self.policy.raw(), Temporal::RT),
        }
    }

    /// Returns the policy in the fields of a packet, of which a generation has one at most.
    #[inline]
    pub(super) fn read(atc: bool, policy: CachePolicy, temporal: Temporal, volatile: bool) -> Result<Self, FieldError> {
        Ok(Self { policy: Policy::of(policy, temporal)?, atc, volatile })
    }
}

choices! {
    /// Comparison of the masked value with the reference, both unsigned.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `WAIT_REG_MEM_*`; Linux 6.12 `soc15d.h`, `WAIT_REG_MEM_FUNCTION`.
    #[derive(Default)]
    pub enum Compare: CompareWith {
        /// Passes at once.
        Always = ALWAYS,
        /// The value is below the reference.
        Less = LESS,
        /// The value is not above the reference.
        LessOrEqual = LESS_EQUAL,
        /// The value is the reference.
        #[default]
        Equal = EQUAL,
        /// The value is not the reference.
        NotEqual = NOT_EQUAL,
        /// The value is not below the reference.
        GreaterOrEqual = GREATER_EQUAL,
        /// The value is above the reference.
        Greater = GREATER,
    }
}

impl Compare {
    /// Returns `true` if `value` passes against `reference`. The mask has been applied to `value` before.
    ///
    /// ```
    /// use amdgpu_packets::pm4::Compare;
    ///
    /// assert!(Compare::GreaterOrEqual.holds(5, 5));
    /// assert!(!Compare::Less.holds(5, 5));
    /// ```
    #[inline]
    pub const fn holds(self, value: u32, reference: u32) -> bool {
        match self {
            Self::Always => true,
            Self::Less => value < reference,
            Self::LessOrEqual => value <= reference,
            Self::Equal => value == reference,
            Self::NotEqual => value != reference,
            Self::GreaterOrEqual => value >= reference,
            Self::Greater => value > reference,
        }
    }
}

/// A register, by the index of its dword in the register space (byte offset divided by 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u32);

impl Register {
    /// Names the register `index` dwords into the register space.
    #[inline]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Names the register at a byte offset, as AMD's register headers give it; `None` unless it is a multiple of 4.
    ///
    /// ```
    /// use amdgpu_packets::pm4::Register;
    ///
    /// assert_eq!(Register::at_byte(0x30100), Some(Register::new(0xc040))); // SCRATCH_REG0 from GFX7 on
    /// assert_eq!(Register::at_byte(0x30101), None);
    /// ```
    #[inline]
    pub const fn at_byte(offset: u32) -> Option<Self> {
        if offset.is_multiple_of(4) { Some(Self(offset / 4)) } else { None }
    }

    /// Returns the index of the register's dword.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0
    }

    /// Returns the register behind this one; `None` at the end of the register space.
    #[inline]
    pub const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(index) => Some(Self(index)),
            None => None,
        }
    }

    /// Returns the register whose index a field holds; this library uses 32 bits of it.
    #[inline]
    pub(super) fn read(field: &'static str, index: u64) -> Result<Self, FieldError> {
        let max = u32::MAX.into();
        require(index <= max, FieldError::TooWide { field, value: index, max })?;
        Ok(Self(index as u32))
    }
}

/// Returns the values of the fields of an address. Before GFX9 the address space is one half of 48 bits at most.
#[inline(always)]
pub(super) fn reach(field: &'static str, va: GpuVa, level: GfxLevel) -> Result<u64, FieldError> {
    let max = 0xffff_ffff_ffff;
    let raw = va.as_u64();
    if raw > max {
        seldom();
        require(level >= GfxLevel::Gfx9, FieldError::TooWide { field, value: raw, max })?;
    }
    Ok(raw)
}

/// Tells the compiler that it is called on a path that is seldom taken, which then stays a branch.
#[cold]
const fn seldom() {}
