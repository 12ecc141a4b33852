//! Types shared by several packets: engines, caching, registers and comparisons.

use crate::FieldError;
use crate::choices::choices;
use crate::error::require;
use crate::layout::values::{CachePolicy, Compare as CompareWith, DmaEngine, EngineSel, EngineSelIb, Temporal};
use amdgpu_hw::{GfxLevel, GpuVa};

choices! {
    /// The part of the graphics front end that executes a packet. MEC has one processor and ignores the field.
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
    /// L2's retention policy for the data of an access. It does not affect the data that is read or written.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/pkt3.json`, `CACHE_POLICY`; on GFX12 the same two bits are the temporal
    /// hint.
    #[derive(Default)]
    pub enum Policy: CachePolicy {
        /// Keeps the data as long as it is used (GFX12: regular).
        #[default]
        Lru = LRU,
        /// Evicts the data early (GFX12: not temporal).
        Stream = STREAM,
        /// Does not allocate the data (GFX12: highly temporal). GFX10 and later.
        NoAllocate = NOA,
        /// Bypasses the cache (GFX12: last use).
        Bypass = BYPASS,
    }
}

impl Engine {
    /// Returns the value for a CP DMA packet.
    #[inline]
    pub(super) const fn of_dma(self) -> DmaEngine {
        match self {
            Self::Me => DmaEngine::ME,
            Self::Pfp => DmaEngine::PFP,
        }
    }

    /// Returns the value for a wait packet.
    #[inline]
    pub(super) const fn of_wait(self) -> EngineSelIb {
        match self {
            Self::Me => EngineSelIb::ME,
            Self::Pfp => EngineSelIb::PFP,
        }
    }

    /// Converts the value of a CP DMA packet.
    #[inline]
    pub(super) const fn read_dma(raw: DmaEngine) -> Result<Self, FieldError> {
        match raw {
            DmaEngine::ME => Ok(Self::Me),
            DmaEngine::PFP => Ok(Self::Pfp),
            other => Err(FieldError::Unknown { field: "engine_sel", value: other.number() }),
        }
    }

    /// Converts the value of a wait packet.
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
    /// Returns the policy of a packet, which has one of the two fields, depending on the generation.
    #[inline]
    pub(super) const fn of(policy: CachePolicy, temporal: Temporal) -> Result<Self, FieldError> {
        Self::read("cache_policy", CachePolicy::new(policy.number() | temporal.number()))
    }
}

/// The caching of an access, in four adjacent bits of all packets that have it. The default is valid on all generations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caching {
    /// The retention policy of L2. GFX7 and later.
    pub policy: Policy,
    /// `true` if the IOMMU translates the address. GFX7 and GFX8.
    pub atc: bool,
    /// `true` if the access is volatile. GFX7.
    pub volatile: bool,
}

impl Caching {
    /// The default value, as a constant.
    pub(super) const NONE: Self = Self { policy: Policy::Lru, atc: false, volatile: false };

    /// Returns the cache policy, for generations up to GFX11_5, and the temporal hint, for GFX12.
    #[inline(always)]
    pub(super) const fn policies(self, level: GfxLevel) -> (CachePolicy, Temporal) {
        match level {
            GfxLevel::Gfx12 => (CachePolicy::LRU, Temporal::new(self.policy as u32)),
            _ => (self.policy.raw(), Temporal::RT),
        }
    }

    /// Returns the caching in the fields of a packet, which has at most one of the policy fields, depending on the generation.
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
        /// The comparison always passes.
        Always = ALWAYS,
        /// Passes if the value is less than the reference.
        Less = LESS,
        /// Passes if the value is less than or equal to the reference.
        LessOrEqual = LESS_EQUAL,
        /// Passes if the value equals the reference.
        #[default]
        Equal = EQUAL,
        /// Passes if the value differs from the reference.
        NotEqual = NOT_EQUAL,
        /// Passes if the value is greater than or equal to the reference.
        GreaterOrEqual = GREATER_EQUAL,
        /// Passes if the value is greater than the reference.
        Greater = GREATER,
    }
}

impl Compare {
    /// Returns `true` if the comparison of `value` with `reference` passes. The mask must already be applied to `value`.
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

/// A register, given by its dword index in the register space (byte offset divided by 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Register(u32);

impl Register {
    /// Creates the register with this dword index.
    #[inline]
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// Creates the register with this byte offset, as in AMD's register headers; `None` if it is not a multiple of 4.
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

    /// Returns the dword index of the register.
    #[inline]
    pub const fn index(self) -> u32 {
        self.0
    }

    /// Returns the next register; `None` at the end of the register space.
    #[inline]
    pub const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(index) => Some(Self(index)),
            None => None,
        }
    }

    /// Converts the register index in a field. This library uses 32 bits of the index.
    #[inline]
    pub(super) fn read(field: &'static str, index: u64) -> Result<Self, FieldError> {
        let max = u32::MAX.into();
        require(index <= max, FieldError::TooWide { field, value: index, max })?;
        Ok(Self(index as u32))
    }
}

/// Returns the value of an address field. Before GFX9 addresses have at most 48 bits, without sign extension.
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

/// Marks a path as rarely taken, so that the compiler keeps it as a branch.
#[cold]
const fn seldom() {}
