//! ACQUIRE_MEM and SURFACE_SYNC: treat caches, and wait.

use super::caches::{CacheActions, CoherCntl, Gcr};
use super::common::Engine;
use super::header::{Describe, Flagged, HeaderFlags, measure, packet_impl, write};
use super::{Ring, Target, opcode};
use crate::field::{Bits, FieldError, Wire, choices, require, require_form};
use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;

/// The memory whose cache lines are meant, in blocks of 256 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheRange {
    /// The first block: its address divided by 256.
    pub base: u64,
    /// How many blocks.
    pub blocks: u64,
}

impl CacheRange {
    /// Everything, as the drivers spell it for this ring.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_emit_acquire_mem` and `gfx10_cs_emit_cache_flush`.
    pub fn all(target: Target) -> Self {
        let blocks = match target.level {
            GfxLevel::Gfx6 => 0xffff_ffff,
            GfxLevel::Gfx7 | GfxLevel::Gfx8 if target.ring == Ring::Gfx => 0xffff_ffff,
            GfxLevel::Gfx7 | GfxLevel::Gfx8 => 0xff_ffff_ffff,
            _ => 0xff_ffff_ffff_ffff,
        };
        Self { base: 0, blocks }
    }

    /// The blocks that `bytes` bytes from `va` on touch.
    pub const fn of(va: GpuVa, bytes: u64) -> Self {
        let base = va.as_u64() >> 8;
        let skew = va.as_u64() & 0xff;
        Self { base, blocks: bytes.saturating_add(skew).div_ceil(256) }
    }
}

choices! {
    /// Where in the pipeline a pixel-wait-sync holds things up.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `V_580_CP_PFP` and its like.
    pub enum PwsStage {
        /// Before depth is written.
        PreDepth = 0,
        /// Before any shader.
        PreShader = 1,
        /// Before colour is written.
        PreColor = 2,
        /// Before pixel shaders.
        PrePixelShader = 3,
        /// In PFP.
        Pfp = 4,
        /// In ME.
        Me = 5,
    }
}

choices! {
    /// Which of the three pixel-wait-sync counters is waited for.
    pub enum PwsCounter {
        /// End-of-pipe events.
        EndOfPipe = 0,
        /// Finished pixel shaders.
        PixelShader = 1,
        /// Finished compute shaders.
        ComputeShader = 2,
    }
}

/// What the packet waits for, and who waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireWait {
    /// The engine waits for its own cache actions.
    Actions {
        /// Who executes and waits. MEC ignores it.
        engine: Engine,
        /// How often it looks, in units of 16 clocks.
        poll_interval: u16,
    },
    /// A stage of the pipeline waits for an event that bumped a counter, see
    /// [`EndOfPipe::pws`](super::EndOfPipe::pws). The graphics ring of GFX11 and later.
    Pws {
        /// Who waits.
        stage: PwsStage,
        /// For what.
        counter: PwsCounter,
        /// How many newer events may still be outstanding: 0 to 63.
        outstanding: u8,
    },
}

/// Cache actions over a range of memory, then a wait: SURFACE_SYNC (opcode 0x43) on the graphics rings of GFX6 to GFX8
/// and the compute rings of GFX6, ACQUIRE_MEM (0x58) elsewhere.
///
/// | SURFACE_SYNC | ACQUIRE_MEM to GFX9 | from GFX10     | field                                            |
/// |--------------|---------------------|----------------|--------------------------------------------------|
/// | 1: 30:0      | 1: 30:0             |                | [`CoherCntl`]                                    |
/// | 1: 31        | 1: 31               | 1: 31          | engine_sel, 0 PFP, 1 ME                          |
/// |              |                     | 1: 23:11       | GFX11, with bit 17: the pixel-wait-sync          |
/// | 2            | 2, 3                | 2, 3           | size in blocks of 256 bytes                      |
/// | 3            | 4, 5                | 4, 5           | base in blocks of 256 bytes                      |
/// | 4: 15:0      | 6: 15:0             | 6: 15:0        | poll_interval                                    |
/// |              |                     | 6: 31          | GFX11: this is a pixel-wait-sync                 |
/// |              |                     | 7: 18:0        | [`Gcr`]                                          |
///
/// The graphics rings of GFX7 and GFX8 take ACQUIRE_MEM too; it is read, but SURFACE_SYNC is what is written there.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_emit_acquire_mem` and `gfx10_cs_emit_cache_flush`; Linux 6.12
/// `gfx_v9_0.c`, `gfx_v9_0_emit_mem_sync`, and `gfx_v10_0.c`, `gfx_v10_0_emit_mem_sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcquireMem {
    /// The actions up to GFX9; empty from GFX10 on.
    pub coher: CoherCntl,
    /// The actions from GFX10 on; empty before.
    pub gcr: Gcr,
    /// The memory meant.
    pub range: CacheRange,
    /// Who waits, and for what.
    pub wait: AcquireWait,
}

impl AcquireMem {
    /// The actions over all memory. PFP waits, so that nothing behind the packet begins before.
    ///
    /// ```
    /// use amdgpu_packets::{Packet, pm4};
    /// use amdgpu_hw::GfxLevel;
    ///
    /// let mut ib = [0; 8];
    /// for level in GfxLevel::ALL {
    ///     let target = pm4::Target::gfx(level);
    ///     pm4::AcquireMem::all(target, pm4::CacheActions::ACQUIRE).encode(target, &mut ib)?;
    /// }
    /// # Ok::<(), amdgpu_packets::EncodeError>(())
    /// ```
    pub fn all(target: Target, actions: CacheActions) -> Self {
        let coher = CoherCntl::new(target.level, actions);
        let gcr = if target.level >= GfxLevel::Gfx10 { Gcr::new(target.level, actions) } else { Gcr::empty() };
        let wait = AcquireWait::Actions { engine: Engine::Pfp, poll_interval: 10 };
        Self { coher, gcr, range: CacheRange::all(target), wait }
    }

    /// The engine bit: unlike everywhere else PFP is 0. MEC has none.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_engine<D: Bits>(self, d: &mut D) -> Engine {
        let me = matches!(self.wait, AcquireWait::Actions { engine: Engine::Me, .. });
        if d.flag::<31>(me) { Engine::Me } else { Engine::Pfp }
    }

    /// Dword 1; answers with the wait but for its interval.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_control<D: Bits>(self, d: &mut D, target: Target) -> Result<(CoherCntl, AcquireWait), D::Error> {
        let known = CoherCntl::known(target.level);
        let coher = CoherCntl::from_bits_retain(d.masked("coher_cntl", known.bits(), self.coher.bits())?);
        let can_sync = target == Target::gfx(target.level) && target.level >= GfxLevel::Gfx11;
        let AcquireWait::Pws { stage, counter, outstanding } = self.wait else {
            // Reading starts from here, so the bit may turn out to be set.
            if can_sync && d.flag::<17>(false) {
                return Ok((coher, Self::describe_pws(d, PwsStage::Pfp, PwsCounter::EndOfPipe, 0)?));
            }
            let engine = self.describe_engine(d);
            return Ok((coher, AcquireWait::Actions { engine, poll_interval: 0 }));
        };
        require_form(can_sync, "a pixel-wait-sync")?;
        d.flag::<17>(true);
        Ok((coher, Self::describe_pws(d, stage, counter, outstanding)?))
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_pws<D: Bits>(
        d: &mut D,
        stage: PwsStage,
        counter: PwsCounter,
        outstanding: u8,
    ) -> Result<AcquireWait, D::Error> {
        let stage = d.choice::<13, 11, _>("pws_stage_sel", stage)?;
        let counter = d.choice::<15, 14, _>("pws_counter_sel", counter)?;
        let outstanding = d.bits::<23, 18>("pws_count", outstanding.into())? as u8;
        Ok(AcquireWait::Pws { stage, counter, outstanding })
    }

    /// A size or base: 32 bits and a high part that grew over the years.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_blocks<'a, const HIGH: u32, W: Wire<'a>>(
        wire: &mut W,
        field: &'static str,
        blocks: u64,
    ) -> Result<u64, W::Error> {
        let low = wire.word(blocks as u32)?;
        let mut d = wire.open()?;
        let high = d.bits::<HIGH, 0>(field, (blocks >> 32) as u32)?;
        wire.close(d)?;
        Ok(u64::from(high) << 32 | u64::from(low))
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_range<'a, W: Wire<'a>>(self, wire: &mut W, target: Target, op: u8) -> Result<CacheRange, W::Error> {
        let CacheRange { base, blocks } = self.range;
        if op == opcode::SURFACE_SYNC {
            let max = u32::MAX.into();
            require(blocks <= max, FieldError::TooWide { field: "coher_size", value: blocks, max })?;
            require(base <= max, FieldError::TooWide { field: "coher_base", value: base, max })?;
            let blocks = wire.word(blocks as u32)?.into();
            return Ok(CacheRange { base: wire.word(base as u32)?.into(), blocks });
        }
        let blocks = match target.level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 => {
                Self::describe_blocks::<7, W>(wire, "coher_size", blocks)?
            }
            GfxLevel::Gfx9 => Self::describe_blocks::<23, W>(wire, "coher_size", blocks)?,
            GfxLevel::Gfx10 | GfxLevel::Gfx10_3 => Self::describe_blocks::<23, W>(wire, "gcr_size", blocks)?,
            _ => Self::describe_blocks::<24, W>(wire, "gcr_size", blocks)?,
        };
        let base = match target.level {
            GfxLevel::Gfx11 | GfxLevel::Gfx11_5 | GfxLevel::Gfx12 => {
                Self::describe_blocks::<24, W>(wire, "gcr_base", base)?
            }
            _ => Self::describe_blocks::<23, W>(wire, "coher_base", base)?,
        };
        Ok(CacheRange { base, blocks })
    }

    /// The dword with the poll interval; `wait` comes from dword 1.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_interval<'a, W: Wire<'a>>(self, wire: &mut W, wait: AcquireWait) -> Result<AcquireWait, W::Error> {
        let mut d = wire.open()?;
        let wait = match wait {
            AcquireWait::Actions { engine, .. } => {
                let interval =
                    if let AcquireWait::Actions { poll_interval, .. } = self.wait { poll_interval } else { 0 };
                let poll_interval = d.bits::<15, 0>("poll_interval", interval.into())? as u16;
                AcquireWait::Actions { engine, poll_interval }
            }
            AcquireWait::Pws { .. } => {
                d.fixed::<31, 31>("pws_ena", 1)?;
                wait
            }
        };
        wire.close(d)?;
        Ok(wait)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_gcr<'a, W: Wire<'a>>(self, wire: &mut W, target: Target) -> Result<Gcr, W::Error> {
        if target.level < GfxLevel::Gfx10 {
            require_form(self.gcr.is_empty(), "GCR_CNTL")?;
            return Ok(Gcr::empty());
        }
        let mut d = wire.open()?;
        let gcr = Gcr::from_bits_retain(d.masked("gcr_cntl", Gcr::WIRE, self.gcr.bits())?);
        wire.close(d)?;
        gcr.check()?;
        Ok(gcr)
    }
}

impl<'a> Describe<'a> for AcquireMem {
    const NAME: &'static str = "ACQUIRE_MEM";
    const BLANK: Self = Self {
        coher: CoherCntl::empty(),
        gcr: Gcr::empty(),
        range: CacheRange { base: 0, blocks: 0 },
        wait: AcquireWait::Actions { engine: Engine::Pfp, poll_interval: 0 },
    };

    #[inline]
    fn opcode(self, target: Target) -> Option<u8> {
        let old = target.level < GfxLevel::Gfx9 && !target.is_mec();
        Some(if old { opcode::SURFACE_SYNC } else { opcode::ACQUIRE_MEM })
    }

    fn takes(op: u8, target: Target) -> bool {
        Self::BLANK.opcode(target) == Some(op) || (op == opcode::ACQUIRE_MEM && target.level >= GfxLevel::Gfx7)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, target: Target, op: u8) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        let (coher, wait) = self.describe_control(&mut d, target)?;
        wire.close(d)?;
        let range = self.describe_range(wire, target, op)?;
        let wait = self.describe_interval(wire, wait)?;
        let gcr = self.describe_gcr(wire, target)?;
        Ok(Self { coher, gcr, range, wait })
    }
}

packet_impl!(AcquireMem);
