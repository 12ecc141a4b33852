//! COPY_DATA: copies one dword or qword.

use crate::choices::choices;
use crate::error::{address, require, require_form, require_multiple};
use crate::layout::records::pm4 as records;
use crate::layout::values::{CopyDst, CopySrc, CountSel};
use crate::pm4::common::{Caching, Engine, Register, reach};
use crate::pm4::sink::{Sink, Typed, packet_impl};
use crate::pm4::target::Target;
use crate::{EncodeError, FieldError};
use amdgpu_hw::{GfxLevel, GpuVa};

choices! {
    /// The size that COPY_DATA copies.
    pub enum CopySize: CountSel {
        /// Copies 32 bits.
        Dword = DWORD,
        /// Copies 64 bits. Memory addresses must be multiples of 8, and registers are used in pairs.
        Qword = QWORD,
    }
}

/// The source of COPY_DATA.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `COPY_DATA_*`; the numbers are the selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopySource {
    /// 0: a register; for a qword also the next register.
    Register(Register),
    /// 1: memory. On GFX10 and later an alias of 2.
    Memory(GpuVa),
    /// 2: memory through L2.
    L2(GpuVa),
    /// 5: an immediate value, below 2^32 for [`CopySize::Dword`].
    Immediate(u64),
    /// 9: the GPU's reference clock counter. ME and MEC only.
    GpuClock,
    /// 10: the system clock counter. GFX8 and later, ME and MEC only.
    SystemClock,
}

impl CopySource {
    /// Returns src_sel, src_addr, src_reg and the immediate value.
    #[inline(always)]
    fn fields(self, level: GfxLevel) -> Result<(CopySrc, u64, u64, u64), FieldError> {
        Ok(match self {
            Self::Register(register) => (CopySrc::REGISTER, 0, register.index().into(), 0),
            Self::Memory(va) => (CopySrc::MEMORY, reach("src_addr", va, level)?, 0, 0),
            Self::L2(va) => (CopySrc::TC_L2, reach("src_addr", va, level)?, 0, 0),
            Self::Immediate(value) => (CopySrc::IMMEDIATE, 0, 0, value),
            Self::GpuClock => (CopySrc::GPU_CLOCK, 0, 0, 0),
            Self::SystemClock => (CopySrc::SYSTEM_CLOCK, 0, 0, 0),
        })
    }

    #[inline]
    fn read(record: &records::CopyData) -> Result<Self, FieldError> {
        Ok(match record.src_sel {
            CopySrc::REGISTER => Self::Register(Register::read("src_reg", record.src_reg)?),
            CopySrc::MEMORY => Self::Memory(address("src_addr", record.src_addr)?),
            CopySrc::TC_L2 => Self::L2(address("src_addr", record.src_addr)?),
            CopySrc::IMMEDIATE => Self::Immediate(record.imm),
            CopySrc::GPU_CLOCK => Self::GpuClock,
            CopySrc::SYSTEM_CLOCK => Self::SystemClock,
            value => return Err(FieldError::Unknown { field: "src_sel", value: value.number() }),
        })
    }

    #[inline(always)]
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

/// The destination of COPY_DATA. The numbers are the selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CopyTo {
    /// 0: a register; for a qword also the next register.
    Register(Register),
    /// 1: memory, in order with register writes. ME only.
    Grbm(GpuVa),
    /// 2: memory through L2.
    L2(GpuVa),
    /// 5: memory. On GFX10 and later an alias of L2. Drivers use it on all generations.
    Memory(GpuVa),
}

impl CopyTo {
    /// Returns dst_sel, dst_addr and dst_reg.
    #[inline(always)]
    fn fields(self, level: GfxLevel) -> Result<(CopyDst, u64, u64), FieldError> {
        Ok(match self {
            Self::Register(register) => (CopyDst::REGISTER, 0, register.index().into()),
            Self::Grbm(va) => (CopyDst::MEMORY_GRBM_SYNC, reach("dst_addr", va, level)?, 0),
            Self::L2(va) => (CopyDst::TC_L2, reach("dst_addr", va, level)?, 0),
            Self::Memory(va) => (CopyDst::MEMORY, reach("dst_addr", va, level)?, 0),
        })
    }

    #[inline]
    fn read(record: &records::CopyData) -> Result<Self, FieldError> {
        Ok(match record.dst_sel {
            CopyDst::REGISTER => Self::Register(Register::read("dst_reg", record.dst_reg)?),
            CopyDst::MEMORY_GRBM_SYNC => Self::Grbm(address("dst_addr", record.dst_addr)?),
            CopyDst::TC_L2 => Self::L2(address("dst_addr", record.dst_addr)?),
            CopyDst::MEMORY => Self::Memory(address("dst_addr", record.dst_addr)?),
            value => return Err(FieldError::Unknown { field: "dst_sel", value: value.number() }),
        })
    }

    #[inline(always)]
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

/// COPY_DATA, opcode 0x40: copies one dword or qword between memory, registers, the packet and the clocks.
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
    /// The engine that copies.
    pub engine: Engine,
    /// The source of the copied dword or qword.
    pub from: CopySource,
    /// The destination of the copied dword or qword.
    pub to: CopyTo,
    /// The size of the copied value: a dword or a qword.
    pub size: CopySize,
    /// `true` if the next packet waits until the store has completed.
    pub confirm: bool,
    /// The cache policy of the read.
    pub from_caching: Caching,
    /// The cache policy of the store.
    pub to_caching: Caching,
}

impl CopyData {
    /// Creates a copy by ME that waits for the store.
    #[inline]
    pub const fn new(from: CopySource, to: CopyTo, size: CopySize) -> Self {
        let caching = Caching::NONE;
        Self { engine: Engine::Me, from, to, size, confirm: true, from_caching: caching, to_caching: caching }
    }

    /// Creates a store of the GPU's reference clock counter to `va`, a multiple of 8, when ME executes the packet.
    #[inline]
    pub const fn timestamp(va: GpuVa) -> Self {
        Self::new(CopySource::GpuClock, CopyTo::Memory(va), CopySize::Qword)
    }
}

impl CopyData {
    #[inline(always)]
    fn record(self, target: Target) -> Result<records::CopyData, FieldError> {
        self.from.check(target, self.engine, self.size)?;
        self.to.check(target, self.engine, self.size)?;
        let (src_sel, src_addr, src_reg, imm) = self.from.fields(target.level)?;
        let (dst_sel, dst_addr, dst_reg) = self.to.fields(target.level)?;
        let (src_cache_policy, src_temporal) = self.from_caching.policies(target.level);
        let (dst_cache_policy, dst_temporal) = self.to_caching.policies(target.level);
        Ok(records::CopyData {
            src_sel,
            dst_sel,
            src_atc: self.from_caching.atc,
            src_cache_policy,
            src_temporal,
            src_volatile: self.from_caching.volatile,
            count_sel: self.size.raw(),
            wr_confirm: self.confirm,
            dst_atc: self.to_caching.atc,
            dst_cache_policy,
            dst_temporal,
            dst_volatile: self.to_caching.volatile,
            engine_sel: self.engine.raw(),
            src_addr,
            src_reg,
            imm,
            dst_addr,
            dst_reg,
            ..records::CopyData::default()
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read(record: &records::CopyData) -> Result<Self, FieldError> {
        let from = (record.src_cache_policy, record.src_temporal);
        let to = (record.dst_cache_policy, record.dst_temporal);
        Ok(Self {
            engine: Engine::read("engine_sel", record.engine_sel)?,
            from: CopySource::read(record)?,
            to: CopyTo::read(record)?,
            size: CopySize::read("count_sel", record.count_sel)?,
            confirm: record.wr_confirm,
            from_caching: Caching::read(record.src_atc, from.0, from.1, record.src_volatile)?,
            to_caching: Caching::read(record.dst_atc, to.0, to.1, record.dst_volatile)?,
        })
    }
}

impl Typed for CopyData {
    const NAME: &'static str = "COPY_DATA";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let record = self.record(sink.target);
        sink.put(record)
    }
}

packet_impl!(CopyData);
