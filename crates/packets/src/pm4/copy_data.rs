//! COPY_DATA: one dword or qword from here to there.

use super::common::{Caching, Engine, Register, address};
use super::header::{Describe, Flagged, HeaderFlags, measure, packet_impl, write};
use super::{Target, opcode};
use crate::field::{Bits, FieldError, Wire, choices, require, require_form, require_multiple};
use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;

choices! {
    /// How much COPY_DATA moves.
    pub enum CopySize {
        /// 32 bits.
        Dword = 0,
        /// 64 bits: memory addresses are multiples of 8, registers come in pairs.
        Qword = 1,
    }
}

/// Where COPY_DATA reads.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `COPY_DATA_*`; the numbers are the selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySource {
    /// 0: a register, or it and the next one.
    Register(Register),
    /// 1: memory. From GFX10 on an alias of the next.
    Memory(GpuVa),
    /// 2: memory through L2.
    L2(GpuVa),
    /// 5: the number in the packet, below 2^32 for [`CopySize::Dword`].
    Immediate(u64),
    /// 9: the GPU's reference counter. Only ME and MEC see it.
    GpuClock,
    /// 10: the system's counter. GFX8 and later, only ME and MEC.
    SystemClock,
}

impl CopySource {
    const fn selector(self) -> u32 {
        match self {
            Self::Register(_) => 0,
            Self::Memory(_) => 1,
            Self::L2(_) => 2,
            Self::Immediate(_) => 5,
            Self::GpuClock => 9,
            Self::SystemClock => 10,
        }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<'a, W: Wire<'a>>(self, wire: &mut W, target: Target, selector: u32) -> Result<Self, W::Error> {
        let va = if let Self::Memory(va) | Self::L2(va) = self { va } else { GpuVa::NULL };
        Ok(match selector {
            0 => {
                let register = if let Self::Register(register) = self { register } else { Register::new(0) };
                Self::Register(register.describe(wire, target.level)?)
            }
            1 => Self::Memory(address::<2, W>(wire, "src_addr", target, va)?),
            2 => Self::L2(address::<2, W>(wire, "src_addr", target, va)?),
            5 => Self::Immediate(wire.wide(if let Self::Immediate(value) = self { value } else { 0 })?),
            9 | 10 => {
                wire.zero()?;
                wire.zero()?;
                if selector == 9 { Self::GpuClock } else { Self::SystemClock }
            }
            value => return Err(FieldError::Unknown { field: "src_sel", value }.into()),
        })
    }

    #[inline]
    fn check(self, target: Target, engine: Engine, size: CopySize) -> Result<(), FieldError> {
        match self {
            Self::Memory(va) | Self::L2(va) => require_aligned("src_addr", va, size),
            Self::Immediate(value) if size == CopySize::Dword => {
                let max = u32::MAX.into();
                require(value <= max, FieldError::TooWide { field: "immediate", value, max })
            }
            Self::GpuClock => require_form(target.is_mec() || engine == Engine::Me, "a clock read by PFP"),
            Self::SystemClock => {
                require_form(target.is_mec() || engine == Engine::Me, "a clock read by PFP")?;
                require_form(target.level >= GfxLevel::Gfx8, "the system clock")
            }
            _ => Ok(()),
        }
    }
}

/// Where COPY_DATA writes; the numbers are the selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyTo {
    /// 0: a register, or it and the next one.
    Register(Register),
    /// 1: memory, in order with register writes. Only ME can.
    Grbm(GpuVa),
    /// 2: memory through L2.
    L2(GpuVa),
    /// 5: memory; an alias of L2 from GFX10 on, and what drivers use everywhere.
    Memory(GpuVa),
}

impl CopyTo {
    const fn selector(self) -> u32 {
        match self {
            Self::Register(_) => 0,
            Self::Grbm(_) => 1,
            Self::L2(_) => 2,
            Self::Memory(_) => 5,
        }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<'a, W: Wire<'a>>(self, wire: &mut W, target: Target, selector: u32) -> Result<Self, W::Error> {
        let va = if let Self::Grbm(va) | Self::L2(va) | Self::Memory(va) = self { va } else { GpuVa::NULL };
        Ok(match selector {
            0 => {
                let register = if let Self::Register(register) = self { register } else { Register::new(0) };
                Self::Register(register.describe(wire, target.level)?)
            }
            1 => Self::Grbm(address::<2, W>(wire, "dst_addr", target, va)?),
            2 => Self::L2(address::<2, W>(wire, "dst_addr", target, va)?),
            5 => Self::Memory(address::<2, W>(wire, "dst_addr", target, va)?),
            value => return Err(FieldError::Unknown { field: "dst_sel", value }.into()),
        })
    }

    #[inline]
    fn check(self, target: Target, engine: Engine, size: CopySize) -> Result<(), FieldError> {
        match self {
            Self::Grbm(va) => {
                require_form(engine == Engine::Me && !target.is_mec(), "a store in order with registers")?;
                require_aligned("dst_addr", va, size)
            }
            Self::L2(va) | Self::Memory(va) => require_aligned("dst_addr", va, size),
            Self::Register(_) => Ok(()),
        }
    }
}

#[inline]
fn require_aligned(field: &'static str, va: GpuVa, size: CopySize) -> Result<(), FieldError> {
    require_multiple(field, va.as_u64(), if size == CopySize::Qword { 8 } else { 4 })
}

/// COPY_DATA, opcode 0x40: the engine moves one dword or qword between memory, registers, the packet and the clocks.
///
/// | dword | bits  | field      | meaning                                       |
/// |-------|-------|------------|-----------------------------------------------|
/// | 1     | 3:0   | src_sel    | see [`CopySource`]                            |
/// | 1     | 11:8  | dst_sel    | see [`CopyTo`]                                |
/// | 1     | 15:12 |            | [`Caching`] of the source                     |
/// | 1     | 16    | count_sel  | see [`CopySize`]                              |
/// | 1     | 20    | wr_confirm | the next packet waits until the store is done |
/// | 1     | 27:24 |            | [`Caching`] of the destination                |
/// | 1     | 31:30 | engine_sel | see [`Engine`]                                |
/// | 2, 3  |       | src        | address, register index, or the immediate     |
/// | 4, 5  |       | dst        | address, or register index                    |
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_COPY_DATA`; Linux 6.12 `soc15d.h`, `PACKET3_COPY_DATA`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CopyData {
    /// Who copies.
    pub engine: Engine,
    /// From where.
    pub from: CopySource,
    /// To where.
    pub to: CopyTo,
    /// How much.
    pub size: CopySize,
    /// The next packet waits until the store is done.
    pub confirm: bool,
    /// How the read is cached.
    pub from_caching: Caching,
    /// How the store is cached.
    pub to_caching: Caching,
}

impl CopyData {
    /// Copies with ME and waits for the store.
    pub const fn new(from: CopySource, to: CopyTo, size: CopySize) -> Self {
        let caching = Caching { policy: super::Policy::Lru, atc: false, volatile: false };
        Self { engine: Engine::Me, from, to, size, confirm: true, from_caching: caching, to_caching: caching }
    }

    /// Stores the GPU's reference counter at `va`, a multiple of 8, as soon as ME comes by.
    pub const fn timestamp(va: GpuVa) -> Self {
        Self::new(CopySource::GpuClock, CopyTo::Memory(va), CopySize::Qword)
    }
}

impl<'a> Describe<'a> for CopyData {
    const NAME: &'static str = "COPY_DATA";
    const BLANK: Self = Self::new(CopySource::Immediate(0), CopyTo::Memory(GpuVa::NULL), CopySize::Dword);

    #[inline]
    fn opcode(self, _: Target) -> Option<u8> {
        Some(opcode::COPY_DATA)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, target: Target, _: u8) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        let from = d.bits::<3, 0>("src_sel", self.from.selector())?;
        let to = d.bits::<11, 8>("dst_sel", self.to.selector())?;
        let from_caching = self.from_caching.describe(&mut d, 12, Caching::ALL, target.level)?;
        let size = d.choice::<16, 16, _>("count_sel", self.size)?;
        let confirm = d.flag::<20>(self.confirm);
        let to_caching = self.to_caching.describe(&mut d, 24, Caching::ALL, target.level)?;
        let engine = d.choice::<31, 30, _>("engine_sel", self.engine)?;
        wire.close(d)?;

        let from = self.from.describe(wire, target, from)?;
        let to = self.to.describe(wire, target, to)?;
        from.check(target, engine, size)?;
        to.check(target, engine, size)?;
        Ok(Self { engine, from, to, size, confirm, from_caching, to_caching })
    }
}

packet_impl!(CopyData);
