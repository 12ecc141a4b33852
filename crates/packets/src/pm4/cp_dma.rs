//! CP DMA: the command processor's own copy and fill engine.

use super::common::{Caching, Engine};
use super::header::{Describe, Flagged, HeaderFlags, measure, packet_impl, write};
use super::{Target, opcode};
use crate::field::{Bits, FieldError, Wire, choices, require, require_form};
use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;

choices! {
    /// The way CP DMA reaches memory.
    pub enum DmaPath {
        /// Past L2.
        Memory = 0,
        /// Through L2. GFX7 and later.
        L2 = 3,
    }
}

/// Where CP DMA reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmaSource {
    /// Memory from any byte on.
    Memory {
        /// The first byte's address.
        va: GpuVa,
        /// The way there.
        path: DmaPath,
    },
    /// Nowhere: these 32 bits, again and again, the lowest byte first.
    Pattern(u32),
}

/// Where CP DMA writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DmaTo {
    /// Memory from any byte on.
    Memory {
        /// The first byte's address.
        va: GpuVa,
        /// The way there.
        path: DmaPath,
    },
    /// Nowhere; what is read stays in L2. The address has no effect; RADV repeats the source. GFX9 and later.
    Nowhere(GpuVa),
}

const PATTERN: u32 = 2;
const NOWHERE: u32 = 2;

impl DmaSource {
    const fn selector(self) -> u32 {
        match self {
            Self::Memory { path, .. } => path as u32,
            Self::Pattern(_) => PATTERN,
        }
    }

    /// The two dwords of the source.
    const fn halves(self) -> (u32, u32) {
        match self {
            Self::Memory { va, .. } => (va.low(), va.high()),
            Self::Pattern(pattern) => (pattern, 0),
        }
    }

    const fn va(self) -> GpuVa {
        match self {
            Self::Memory { va, .. } => va,
            Self::Pattern(_) => GpuVa::NULL,
        }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn on_wire<'a, W: Wire<'a>>(self, wire: &W, selector: u32, low: u32, high: u32) -> Result<Self, W::Error> {
        if selector == PATTERN {
            require(high == 0, FieldError::Flags { field: "src_addr_hi", bits: high })?;
            return Ok(Self::Pattern(low));
        }
        let va = wire.joined("src_addr", self.va(), low, high)?;
        Ok(Self::Memory { va, path: path("src_sel", selector)? })
    }
}

impl DmaTo {
    const fn selector(self) -> u32 {
        match self {
            Self::Memory { path, .. } => path as u32,
            Self::Nowhere(_) => NOWHERE,
        }
    }

    const fn va(self) -> GpuVa {
        match self {
            Self::Memory { va, .. } | Self::Nowhere(va) => va,
        }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn on_wire<'a, W: Wire<'a>>(self, wire: &W, selector: u32, low: u32, high: u32) -> Result<Self, W::Error> {
        let va = wire.joined("dst_addr", self.va(), low, high)?;
        match selector {
            NOWHERE => Ok(Self::Nowhere(va)),
            _ => Ok(Self::Memory { va, path: path("dst_sel", selector)? }),
        }
    }
}

#[inline]
fn path(field: &'static str, selector: u32) -> Result<DmaPath, FieldError> {
    crate::field::Choice::from_raw(selector).ok_or(FieldError::Unknown { field, value: selector })
}

/// A copy or fill by the command processor: DMA_DATA (opcode 0x50) from GFX7 on, CP_DMA (0x41) on GFX6.
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
/// Register and GDS sides, addresses that stand still and endian swaps are not taken: drivers use none of them.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_CP_DMA` and `PKT3_DMA_DATA`; `src/amd/vulkan/radv_cp_dma.c`,
/// `radv_emit_cp_dma`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CpDma {
    /// Who is held up by `sync`.
    pub engine: Engine,
    /// From where.
    pub from: DmaSource,
    /// To where.
    pub to: DmaTo,
    /// How much, in bytes; 0 moves nothing. At most [`CpDma::max_bytes`].
    pub bytes: u32,
    /// The next packet waits for this and all earlier CP DMA.
    pub sync: bool,
    /// Begins only when earlier CP DMA has written.
    pub raw_wait: bool,
    /// The stores count as done only when confirmed.
    pub confirm: bool,
    /// How the reads are cached.
    pub from_caching: Caching,
    /// How the stores are cached.
    pub to_caching: Caching,
}

impl CpDma {
    /// The most bytes a packet can say: what the field holds.
    pub const fn max_bytes(level: GfxLevel) -> u32 {
        match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => (1 << 21) - 1,
            _ => (1 << 26) - 1,
        }
    }

    /// The chunk that drivers cut long transfers into: a multiple of 32 bytes, for speed. From GFX11 on RADV stays
    /// below 32 KiB, though the field holds more.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cp_dma.c`, `cp_dma_max_byte_count`.
    pub const fn max_chunk_bytes(level: GfxLevel) -> u32 {
        match level {
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 | GfxLevel::Gfx12 => 0x7fe0,
            _ => Self::max_bytes(level) & !31,
        }
    }

    /// How this generation reaches memory: through L2 from GFX9 on, as RADV does.
    fn path(level: GfxLevel) -> DmaPath {
        if level >= GfxLevel::Gfx9 { DmaPath::L2 } else { DmaPath::Memory }
    }

    const fn between(from: DmaSource, to: DmaTo, bytes: u32) -> Self {
        let caching = Caching { policy: super::Policy::Lru, atc: false, volatile: false };
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

    /// Copies `bytes` bytes, which do not overlap, without waiting.
    pub fn copy(level: GfxLevel, to: GpuVa, from: GpuVa, bytes: u32) -> Self {
        let path = Self::path(level);
        Self::between(DmaSource::Memory { va: from, path }, DmaTo::Memory { va: to, path }, bytes)
    }

    /// Fills `bytes` bytes with `pattern`, its lowest byte first, without waiting.
    pub fn fill(level: GfxLevel, to: GpuVa, pattern: u32, bytes: u32) -> Self {
        Self::between(DmaSource::Pattern(pattern), DmaTo::Memory { va: to, path: Self::path(level) }, bytes)
    }

    /// Moves nothing and waits for all earlier CP DMA.
    pub fn wait_idle(level: GfxLevel) -> Self {
        let to = if level >= GfxLevel::Gfx9 {
            DmaTo::Nowhere(GpuVa::NULL)
        } else {
            DmaTo::Memory { va: GpuVa::NULL, path: DmaPath::Memory }
        };
        let from = DmaSource::Memory { va: GpuVa::NULL, path: DmaPath::Memory };
        Self { sync: true, ..Self::between(from, to, 0) }
    }

    /// With [`CpDma::sync`] set or not.
    #[must_use]
    pub const fn with_sync(self, sync: bool) -> Self {
        Self { sync, ..self }
    }

    /// The selectors, sync and engine bits that both packets keep in one dword, the engine in bit `ENGINE`.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn control<const ENGINE: u32, D: Bits>(self, d: &mut D) -> Result<(u32, u32, bool, Engine), D::Error> {
        let to = d.bits::<21, 20>("dst_sel", self.to.selector())?;
        let from = d.bits::<30, 29>("src_sel", self.from.selector())?;
        let sync = d.flag::<31>(self.sync);
        let engine = d.choice::<ENGINE, ENGINE, _>("engine_sel", self.engine)?;
        Ok((from, to, sync, engine))
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_cp_dma<'a, W: Wire<'a>>(self, wire: &mut W) -> Result<Self, W::Error> {
        let (low, high) = self.from.halves();
        let low = wire.word(low)?;
        let mut d = wire.open()?;
        let high = d.bits::<15, 0>("src_addr_hi", high)?;
        let (from, to, sync, engine) = self.control::<27, _>(&mut d)?;
        wire.close(d)?;
        let from = self.from.on_wire(wire, from, low, high)?;
        let to_low = wire.word(self.to.va().low())?;
        let mut d = wire.open()?;
        let to_high = d.bits::<15, 0>("dst_addr_hi", self.to.va().high())?;
        wire.close(d)?;
        let to = self.to.on_wire(wire, to, to_low, to_high)?;
        let (bytes, raw_wait, confirm) = self.count(wire, GfxLevel::Gfx6)?;
        require_form(
            self.from_caching == Caching::default() && self.to_caching == Caching::default(),
            "a cache policy",
        )?;
        Ok(Self { engine, from, to, bytes, sync, raw_wait, confirm, ..self })
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_dma_data<'a, W: Wire<'a>>(self, wire: &mut W, level: GfxLevel) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        let (from, to, sync, engine) = self.control::<0, _>(&mut d)?;
        let from_caching = self.from_caching.describe(&mut d, 12, Caching::ALL, level)?;
        let to_caching = self.to_caching.describe(&mut d, 24, Caching::ALL, level)?;
        wire.close(d)?;
        let (low, high) = self.from.halves();
        let (low, high) = (wire.word(low)?, wire.word(high)?);
        let from = self.from.on_wire(wire, from, low, high)?;
        let va = self.to.va();
        let (low, high) = (wire.word(va.low())?, wire.word(va.high())?);
        let to = self.to.on_wire(wire, to, low, high)?;
        let (bytes, raw_wait, confirm) = self.count(wire, level)?;
        Ok(Self { engine, from, to, bytes, sync, raw_wait, confirm, from_caching, to_caching })
    }

    /// The last dword: the byte count and two flags.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn count<'a, W: Wire<'a>>(self, wire: &mut W, level: GfxLevel) -> Result<(u32, bool, bool), W::Error> {
        let mut d = wire.open()?;
        let (bytes, unconfirmed) = if level >= GfxLevel::Gfx9 {
            (d.bits::<25, 0>("byte_count", self.bytes)?, d.flag::<31>(!self.confirm))
        } else {
            (d.bits::<20, 0>("byte_count", self.bytes)?, d.flag::<21>(!self.confirm))
        };
        let raw_wait = d.flag::<30>(self.raw_wait);
        wire.close(d)?;
        Ok((bytes, raw_wait, !unconfirmed))
    }

    #[inline]
    fn check(self, level: GfxLevel) -> Result<(), FieldError> {
        let through_l2 = self.from.selector() == DmaPath::L2 as u32 || self.to.selector() == DmaPath::L2 as u32;
        require_form(!through_l2 || level >= GfxLevel::Gfx7, "CP DMA through L2")?;
        require_form(!matches!(self.to, DmaTo::Nowhere(_)) || level >= GfxLevel::Gfx9, "CP DMA to nowhere")
    }
}

impl<'a> Describe<'a> for CpDma {
    const NAME: &'static str = "DMA_DATA";
    const BLANK: Self =
        Self::between(DmaSource::Pattern(0), DmaTo::Memory { va: GpuVa::NULL, path: DmaPath::Memory }, 0);

    #[inline]
    fn opcode(self, target: Target) -> Option<u8> {
        Some(if target.level >= GfxLevel::Gfx7 { opcode::DMA_DATA } else { opcode::CP_DMA })
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, target: Target, opcode: u8) -> Result<Self, W::Error> {
        let packet = if opcode == opcode::CP_DMA {
            self.describe_cp_dma(wire)?
        } else {
            self.describe_dma_data(wire, target.level)?
        };
        packet.check(target.level)?;
        Ok(packet)
    }
}

packet_impl!(CpDma);
