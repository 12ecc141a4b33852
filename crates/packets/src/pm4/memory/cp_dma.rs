//! CP DMA: the copy and fill engine of the command processor.

use crate::choices::choices;
use crate::error::{self, require_form};
use crate::layout::records::pm4 as records;
use crate::layout::values::{DmaDst, DmaSrc};
use crate::pm4::common::{Caching, Engine};
use crate::pm4::sink::{Sink, Typed, packet_impl};
use crate::{EncodeError, FieldError};
use amdgpu_hw::{GfxLevel, GpuVa};

choices! {
    /// The path by which CP DMA accesses memory.
    pub enum DmaPath: DmaSrc {
        /// Bypasses L2.
        Memory = SAS_ADDRESS,
        /// Through L2. GFX7 and later.
        L2 = L2_ADDRESS,
    }
}

/// The source of CP DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmaSource {
    /// Memory, with any byte alignment.
    Memory {
        /// The address of the first byte.
        va: GpuVa,
        /// The path to memory.
        path: DmaPath,
    },
    /// A repeated 32-bit pattern, the lowest byte first.
    Pattern(u32),
}

/// The destination of CP DMA.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmaTo {
    /// Memory, with any byte alignment.
    Memory {
        /// The address of the first byte.
        va: GpuVa,
        /// The path to memory.
        path: DmaPath,
    },
    /// No destination: the source is prefetched into L2. The address has no effect; RADV uses the source's. GFX9 and later.
    Nowhere(GpuVa),
}

impl DmaSource {
    /// Returns the selector, the address and the pattern.
    #[inline(always)]
    const fn fields(self) -> (DmaSrc, u64, u32) {
        match self {
            Self::Memory { va, path } => (path.raw(), va.as_u64(), 0),
            Self::Pattern(pattern) => (DmaSrc::DATA, 0, pattern),
        }
    }

    #[inline]
    fn read(selector: DmaSrc, address: u64, pattern: u32) -> Result<Self, FieldError> {
        if selector == DmaSrc::DATA {
            return Ok(Self::Pattern(pattern));
        }
        Ok(Self::Memory { va: error::address("src_addr", address)?, path: DmaPath::read("src_sel", selector)? })
    }
}

impl DmaTo {
    /// Returns the selector and the address.
    #[inline(always)]
    const fn fields(self) -> (DmaDst, u64) {
        match self {
            Self::Memory { va, path: DmaPath::Memory } => (DmaDst::DAS_ADDRESS, va.as_u64()),
            Self::Memory { va, path: DmaPath::L2 } => (DmaDst::L2_ADDRESS, va.as_u64()),
            Self::Nowhere(va) => (DmaDst::NOWHERE, va.as_u64()),
        }
    }

    #[inline]
    fn read(selector: DmaDst, address: u64) -> Result<Self, FieldError> {
        let va = error::address("dst_addr", address)?;
        match selector {
            DmaDst::NOWHERE => Ok(Self::Nowhere(va)),
            DmaDst::DAS_ADDRESS => Ok(Self::Memory { va, path: DmaPath::Memory }),
            DmaDst::L2_ADDRESS => Ok(Self::Memory { va, path: DmaPath::L2 }),
            other => Err(FieldError::Unknown { field: "dst_sel", value: other.number() }),
        }
    }
}

/// A copy or fill by the command processor: DMA_DATA (opcode 0x50) on GFX7 and later, CP_DMA (0x41) on GFX6.
///
/// | DMA_DATA   | CP_DMA     | field               | meaning                                                      |
/// |------------|------------|---------------------|--------------------------------------------------------------|
/// | 1: 0       | 2: 27      | engine_sel          | see [`Engine`]                                               |
/// | 1: 15:12   |            |                     | [`Caching`] of the source                                    |
/// | 1: 21:20   | 2: 21:20   | dst_sel             | 0 and 3 memory, see [`DmaPath`], 2 nowhere                   |
/// | 1: 27:24   |            |                     | [`Caching`] of the destination                               |
/// | 1: 30:29   | 2: 30:29   | src_sel             | 0 and 3 memory, 2 pattern                                    |
/// | 1: 31      | 2: 31      | cp_sync             | the next packet waits for this and all earlier CP DMA        |
/// | 2, 3       | 1, 2: 15:0 | src                 | address, low half first, or the pattern                      |
/// | 4, 5       | 3, 4       | dst                 | address, low half first                                      |
/// | 6: 25:0    | 5: 20:0    | byte_count          | 21 bits up to GFX8, 26 bits since                            |
/// | 6: 30      | 5: 30      | raw_wait            | begin when earlier CP DMA has written                        |
/// | 6: 31      | 5: 21      | disable_wr_confirm  | do not wait for the stores; bit 21 up to GFX8                |
///
/// Register and GDS operands, constant addresses and endian swaps are not supported, because drivers do not use them.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_CP_DMA` and `PKT3_DMA_DATA`; `src/amd/vulkan/radv_cp_dma.c`,
/// `radv_emit_cp_dma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpDma {
    /// The engine that `sync` stalls.
    pub engine: Engine,
    /// The source of the transfer.
    pub from: DmaSource,
    /// The destination of the transfer.
    pub to: DmaTo,
    /// The number of bytes, at most [`CpDma::max_bytes`]. 0 transfers nothing.
    pub bytes: u32,
    /// `true` if the next packet waits for this and all earlier CP DMA.
    pub sync: bool,
    /// `true` if the transfer begins only after the writes of earlier CP DMA.
    pub raw_wait: bool,
    /// `true` if the packet completes only after its stores have been confirmed.
    pub confirm: bool,
    /// The caching of the reads.
    pub from_caching: Caching,
    /// The caching of the stores.
    pub to_caching: Caching,
}

impl CpDma {
    /// Returns the maximum number of bytes of a packet, given by the width of the field.
    #[inline]
    pub const fn max_bytes(level: GfxLevel) -> u32 {
        match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => (1 << 21) - 1,
            _ => (1 << 26) - 1,
        }
    }

    /// Returns the size of the chunks into which drivers split long transfers: a multiple of 32 bytes, for speed. On GFX11 and
    /// later it is below 32 KiB, as in RADV, although the field has more bits.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cp_dma.c`, `cp_dma_max_byte_count`.
    #[inline]
    pub const fn max_chunk_bytes(level: GfxLevel) -> u32 {
        match level {
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 | GfxLevel::Gfx12 => 0x7fe0,
            _ => Self::max_bytes(level) & !31,
        }
    }

    /// Returns this generation's path to memory: through L2 on GFX9 and later, as in RADV.
    #[inline]
    fn path(level: GfxLevel) -> DmaPath {
        if level >= GfxLevel::Gfx9 { DmaPath::L2 } else { DmaPath::Memory }
    }

    #[inline]
    const fn between(from: DmaSource, to: DmaTo, bytes: u32) -> Self {
        let caching = Caching::NONE;
        Self {
            engine: Engine::Me,
            from,
            to,
            bytes,
            sync: false,
            raw_wait: false,
            confirm: true,
            from_caching: caching,
            to_caching: caching,
        }
    }

    /// Creates a copy of `bytes` bytes between ranges that do not overlap, without waiting.
    #[inline]
    pub fn copy(level: GfxLevel, to: GpuVa, from: GpuVa, bytes: u32) -> Self {
        let path = Self::path(level);
        Self::between(DmaSource::Memory { va: from, path }, DmaTo::Memory { va: to, path }, bytes)
    }

    /// Creates a fill of `bytes` bytes with `pattern`, its lowest byte first, without waiting.
    #[inline]
    pub fn fill(level: GfxLevel, to: GpuVa, pattern: u32, bytes: u32) -> Self {
        Self::between(DmaSource::Pattern(pattern), DmaTo::Memory { va: to, path: Self::path(level) }, bytes)
    }

    /// Creates a packet that transfers nothing and waits for all earlier CP DMA.
    #[inline]
    pub fn wait_idle(level: GfxLevel) -> Self {
        let to = if level >= GfxLevel::Gfx9 {
            DmaTo::Nowhere(GpuVa::NULL)
        } else {
            DmaTo::Memory { va: GpuVa::NULL, path: DmaPath::Memory }
        };
        let from = DmaSource::Memory { va: GpuVa::NULL, path: DmaPath::Memory };
        Self { sync: true, ..Self::between(from, to, 0) }
    }

    /// Sets [`CpDma::sync`].
    #[must_use]
    #[inline]
    pub const fn with_sync(self, sync: bool) -> Self {
        Self { sync, ..self }
    }

    #[inline(always)]
    fn dma_data(self, level: GfxLevel) -> Result<records::DmaData, FieldError> {
        self.check(level)?;
        let (src_sel, src_addr, data) = self.from.fields();
        let (dst_sel, dst_addr) = self.to.fields();
        let (src_cache_policy, src_temporal) = self.from_caching.policies(level);
        let (dst_cache_policy, dst_temporal) = self.to_caching.policies(level);
        Ok(records::DmaData {
            engine_sel: self.engine.of_dma(),
            src_atc: self.from_caching.atc,
            src_cache_policy,
            src_temporal,
            src_volatile: self.from_caching.volatile,
            dst_sel,
            dst_atc: self.to_caching.atc,
            dst_cache_policy,
            dst_temporal,
            dst_volatile: self.to_caching.volatile,
            src_sel,
            cp_sync: self.sync,
            src_addr,
            data,
            dst_addr,
            byte_count: self.bytes,
            disable_wr_confirm: !self.confirm,
            raw_wait: self.raw_wait,
            ..records::DmaData::default()
        })
    }

    #[inline(always)]
    fn cp_dma(self) -> Result<records::CpDma, FieldError> {
        self.check(GfxLevel::Gfx6)?;
        require_form(self.from_caching == Caching::NONE && self.to_caching == Caching::NONE, "a cache policy")?;
        let (src_sel, src_addr, data) = self.from.fields();
        let (dst_sel, dst_addr) = self.to.fields();
        Ok(records::CpDma {
            src_addr,
            data,
            dst_sel,
            engine_sel: self.engine.of_dma(),
            src_sel,
            cp_sync: self.sync,
            dst_addr,
            byte_count: self.bytes,
            disable_wr_confirm: !self.confirm,
            raw_wait: self.raw_wait,
            ..records::CpDma::default()
        })
    }

    #[inline(always)]
    fn check(self, level: GfxLevel) -> Result<(), FieldError> {
        let through_l2 = self.from.fields().0 == DmaSrc::L2_ADDRESS || self.to.fields().0 == DmaDst::L2_ADDRESS;
        require_form(!through_l2 || level >= GfxLevel::Gfx7, "CP DMA through L2")?;
        require_form(!matches!(self.to, DmaTo::Nowhere(_)) || level >= GfxLevel::Gfx9, "CP DMA to nowhere")
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read(record: &records::DmaData) -> Result<Self, FieldError> {
        let from = (record.src_cache_policy, record.src_temporal);
        let to = (record.dst_cache_policy, record.dst_temporal);
        Ok(Self {
            engine: Engine::read_dma(record.engine_sel)?,
            from: DmaSource::read(record.src_sel, record.src_addr, record.data)?,
            to: DmaTo::read(record.dst_sel, record.dst_addr)?,
            bytes: record.byte_count,
            sync: record.cp_sync,
            raw_wait: record.raw_wait,
            confirm: !record.disable_wr_confirm,
            from_caching: Caching::read(record.src_atc, from.0, from.1, record.src_volatile)?,
            to_caching: Caching::read(record.dst_atc, to.0, to.1, record.dst_volatile)?,
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read_cp_dma(record: &records::CpDma) -> Result<Self, FieldError> {
        let from = DmaSource::read(record.src_sel, record.src_addr, record.data)?;
        let to = DmaTo::read(record.dst_sel, record.dst_addr)?;
        Ok(Self {
            engine: Engine::read_dma(record.engine_sel)?,
            sync: record.cp_sync,
            raw_wait: record.raw_wait,
            confirm: !record.disable_wr_confirm,
            ..Self::between(from, to, record.byte_count)
        })
    }
}

impl Typed for CpDma {
    const NAME: &'static str = "DMA_DATA";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let level = sink.target.level;
        if level >= GfxLevel::Gfx7 { sink.put(self.dma_data(level)) } else { sink.put(self.cp_dma()) }
    }
}

packet_impl!(CpDma);
