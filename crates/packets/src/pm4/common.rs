//! What several packets share: who executes, how an access is cached, registers and comparisons.

use crate::field::{Bits, Choice, FieldError, Wire, choices, require};
use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;

use super::Target;

choices! {
    /// Which half of the graphics front end executes a packet. MEC has one processor and ignores the field.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `S_370_ENGINE_SEL` and its like.
    #[derive(Default)]
    pub enum Engine {
        /// The micro engine, in order with draws and dispatches.
        #[default]
        Me = 0,
        /// The prefetch parser, which runs ahead of ME.
        Pfp = 1,
    }
}

choices! {
    /// How long L2 keeps what an access brings in. It never changes what is read or written.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/pkt3.json`, `CACHE_POLICY`; on GFX12 the same two bits are the temporal
    /// hint.
    #[derive(Default)]
    pub enum Policy {
        /// Kept as long as it is used (GFX12: regular).
        #[default]
        Lru = 0,
        /// Thrown out early (GFX12: not temporal).
        Stream = 1,
        /// Not allocated (GFX12: highly temporal). GFX10 and later.
        NoAllocate = 2,
        /// Passed by (GFX12: last use).
        Bypass = 3,
    }
}

/// How an access is cached; four neighbouring bits in every packet that has them. The default fits every generation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Caching {
    /// How long L2 keeps the data. GFX7 and later.
    pub policy: Policy,
    /// The address is translated by the IOMMU. GFX7 and GFX8.
    pub atc: bool,
    /// The access is volatile. GFX7.
    pub volatile: bool,
}

impl Caching {
    const ATC: u32 = 1 << 0;
    const POLICY: u32 = 3 << 1;
    const VOLATILE: u32 = 1 << 3;
    /// A packet that has the policy only.
    pub(super) const POLICY_ONLY: u32 = Self::POLICY;
    /// A packet that has no ATC bit.
    pub(super) const WITHOUT_ATC: u32 = Self::POLICY | Self::VOLATILE;
    /// A packet with all that the generation knows.
    pub(super) const ALL: u32 = Self::ATC | Self::WITHOUT_ATC;

    fn known(level: GfxLevel) -> u32 {
        match level {
            GfxLevel::Gfx6 => 0,
            GfxLevel::Gfx7 => Self::ALL,
            GfxLevel::Gfx8 => Self::ATC | Self::POLICY,
            _ => Self::POLICY,
        }
    }

    /// The four bits from bit `at` on, as far as the packet (`has`) and the generation know them.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    pub(super) fn describe<D: Bits>(self, d: &mut D, at: u32, has: u32, level: GfxLevel) -> Result<Self, D::Error> {
        let bits = u32::from(self.atc) | self.policy.raw() << 1 | u32::from(self.volatile) << 3;
        let bits = d.masked("caching", (has & Self::known(level)) << at, bits << at)? >> at;
        let raw = (bits & Self::POLICY) >> 1;
        let unknown = FieldError::Unknown { field: "cache_policy", value: raw };
        let policy = Policy::from_raw(raw).ok_or(unknown)?;
        require(policy != Policy::NoAllocate || level >= GfxLevel::Gfx10, unknown)?;
        Ok(Self { policy, atc: bits & Self::ATC != 0, volatile: bits & Self::VOLATILE != 0 })
    }
}

choices! {
    /// How the masked value is compared with the reference, both unsigned.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `WAIT_REG_MEM_*`; Linux 6.12 `soc15d.h`, `WAIT_REG_MEM_FUNCTION`.
    #[derive(Default)]
    pub enum Compare {
        /// Passes at once.
        Always = 0,
        /// The value is below the reference.
        Less = 1,
        /// The value is not above the reference.
        LessOrEqual = 2,
        /// The value is the reference.
        #[default]
        Equal = 3,
        /// The value is not the reference.
        NotEqual = 4,
        /// The value is not below the reference.
        GreaterOrEqual = 5,
        /// The value is above the reference.
        Greater = 6,
    }
}

impl Compare {
    /// Whether `value` passes against `reference`. The mask has been applied to `value` before.
    ///
    /// ```
    /// use amdgpu_packets::pm4::Compare;
    ///
    /// assert!(Compare::GreaterOrEqual.holds(5, 5));
    /// assert!(!Compare::Less.holds(5, 5));
    /// ```
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
    /// The register `index` dwords into the register space.
    pub const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The register at a byte offset, as AMD's register headers give it; `None` unless it is a multiple of 4.
    ///
    /// ```
    /// use amdgpu_packets::pm4::Register;
    ///
    /// assert_eq!(Register::at_byte(0x30100), Some(Register::new(0xc040))); // SCRATCH_REG0 from GFX7 on
    /// assert_eq!(Register::at_byte(0x30101), None);
    /// ```
    pub const fn at_byte(offset: u32) -> Option<Self> {
        if offset.is_multiple_of(4) { Some(Self(offset / 4)) } else { None }
    }

    /// The index of the register's dword.
    pub const fn index(self) -> u32 {
        self.0
    }

    /// The register behind this one; `None` at the end of the register space.
    pub const fn next(self) -> Option<Self> {
        match self.0.checked_add(1) {
            Some(index) => Some(Self(index)),
            None => None,
        }
    }

    /// Two dwords: 18 bits and a zero dword before GFX12, 38 bits (of which this library uses 32) since.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    pub(super) fn describe<'a, W: Wire<'a>>(self, wire: &mut W, level: GfxLevel) -> Result<Self, W::Error> {
        let index = if level >= GfxLevel::Gfx12 {
            wire.word(self.0)?
        } else {
            let mut d = wire.open()?;
            let index = d.bits::<17, 0>("register", self.0)?;
            wire.close(d)?;
            index
        };
        wire.zero()?;
        Ok(Self(index))
    }
}

/// An address in two dwords, a multiple of `1 << LO`. The high half has 16 bits before GFX9, whose address space is one
/// half of 48 bits at most, and 32 bits since.
#[expect(clippy::inline_always, reason = "see the writer")]
#[inline(always)]
pub(super) fn address<'a, const LO: u32, W: Wire<'a>>(
    wire: &mut W,
    field: &'static str,
    target: Target,
    va: GpuVa,
) -> Result<GpuVa, W::Error> {
    if target.level >= GfxLevel::Gfx9 { wire.address::<LO, 31>(field, va) } else { wire.address::<LO, 15>(field, va) }
}
