//! ACQUIRE_MEM and SURFACE_SYNC: write back or invalidate caches, and wait.

use super::caches::{CacheActions, CoherCntl, Gcr};
use crate::choices::choices;
use crate::error::{require, require_form};
use crate::layout::records::pm4 as records;
use crate::layout::values::{PwsCounter as Counter, PwsStage as Stage};
use crate::layout::written::AcquireMemPws;
use crate::pm4::common::Engine;
use crate::pm4::sink::{Sink, Typed, packet_impl};
use crate::pm4::target::{Ring, Target};
use crate::{EncodeError, FieldError};
use amdgpu_hw::{GfxLevel, GpuVa};

/// A range of memory for cache actions, in blocks of 256 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CacheRange {
    /// The address of the first block divided by 256.
    pub base: u64,
    /// The number of blocks of 256 bytes.
    pub blocks: u64,
}

impl CacheRange {
    /// Returns the range that covers all memory, as drivers encode it for this ring.
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_emit_acquire_mem` and `gfx10_cs_emit_cache_flush`.
    #[inline]
    pub fn all(target: Target) -> Self {
        let blocks = match target.level {
            GfxLevel::Gfx6 => 0xffff_ffff,
            GfxLevel::Gfx7 | GfxLevel::Gfx8 if target.ring == Ring::Gfx => 0xffff_ffff,
            GfxLevel::Gfx7 | GfxLevel::Gfx8 => 0xff_ffff_ffff,
            _ => 0xff_ffff_ffff_ffff,
        };
        Self { base: 0, blocks }
    }

    /// Returns the blocks that contain the `bytes` bytes that start at `va`.
    #[inline]
    pub const fn of(va: GpuVa, bytes: u64) -> Self {
        let base = va.as_u64() >> 8;
        let skew = va.as_u64() & 0xff;
        Self { base, blocks: bytes.saturating_add(skew).div_ceil(256) }
    }
}

choices! {
    /// The pipeline stage that a pixel-wait-sync stalls.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `V_580_CP_PFP` and its like.
    pub enum PwsStage: Stage {
        /// The stage before depth is written.
        PreDepth = PRE_DEPTH,
        /// The stage before any shader.
        PreShader = PRE_SHADER,
        /// The stage before colour is written.
        PreColor = PRE_COLOR,
        /// The stage before pixel shaders.
        PrePixelShader = PRE_PIXEL_SHADER,
        /// The prefetch parser (PFP).
        Pfp = CP_PFP,
        /// The micro engine (ME).
        Me = CP_ME,
    }
}

choices! {
    /// A pixel-wait-sync counter.
    pub enum PwsCounter: Counter {
        /// The counter of end-of-pipe events.
        EndOfPipe = TS,
        /// The counter of completed pixel shaders.
        PixelShader = PS,
        /// The counter of completed compute shaders.
        ComputeShader = CS,
    }
}

/// The condition that the packet waits for, and the engine or stage that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AcquireWait {
    /// The engine waits for the packet's cache actions.
    Actions {
        /// The engine that executes the packet and waits. MEC ignores it.
        engine: Engine,
        /// The interval between polls in units of 16 clocks.
        poll_interval: u16,
    },
    /// A stage of the pipeline waits for an event that incremented a counter, see [`EndOfPipe::pws`](super::EndOfPipe::pws). The
    /// graphics ring of GFX11 and later.
    Pws {
        /// The stage that waits.
        stage: PwsStage,
        /// The counter to wait for.
        counter: PwsCounter,
        /// The number of newer events that may still be outstanding: 0 to 63.
        outstanding: u8,
    },
}

/// Cache actions on a range of memory, followed by a wait: SURFACE_SYNC (opcode 0x43) on the graphics rings of GFX6 to GFX8 and the
/// compute rings of GFX6, ACQUIRE_MEM (0x58) elsewhere.
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
/// The graphics rings of GFX7 and GFX8 also accept ACQUIRE_MEM. It can be decoded, but encoding writes SURFACE_SYNC.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_emit_acquire_mem` and `gfx10_cs_emit_cache_flush`; Linux 6.12
/// `gfx_v9_0.c`, `gfx_v9_0_emit_mem_sync`, and `gfx_v10_0.c`, `gfx_v10_0_emit_mem_sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AcquireMem {
    /// The cache actions on GFX6 to GFX9; empty on GFX10 and later.
    pub coher: CoherCntl,
    /// The cache actions on GFX10 and later; empty on GFX6 to GFX9.
    pub gcr: Gcr,
    /// The memory to which the actions apply.
    pub range: CacheRange,
    /// The condition to wait for, and the engine or stage that waits.
    pub wait: AcquireWait,
}

impl AcquireMem {
    /// Creates a packet with these actions on all memory. PFP waits, so that no later packet begins before the actions are done.
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
    #[inline]
    pub fn all(target: Target, actions: CacheActions) -> Self {
        let coher = CoherCntl::new(target.level, actions);
        let gcr = if target.level >= GfxLevel::Gfx10 { Gcr::new(target.level, actions) } else { Gcr::empty() };
        let wait = AcquireWait::Actions { engine: Engine::Pfp, poll_interval: 10 };
        Self { coher, gcr, range: CacheRange::all(target), wait }
    }

    /// Returns the packets that execute exactly these actions on all memory, in order: none without actions, and two if the chip
    /// cannot write back L2 and invalidate the vector caches with one packet (GFX8 and GFX9). L2 keeps its lines.
    ///
    /// ```
    /// use amdgpu_packets::pm4::{AcquireMem, CacheActions, CoherCntl, Target};
    /// use amdgpu_hw::GfxLevel;
    ///
    /// let actions = CacheActions::WRITE_BACK_L2 | CacheActions::INVALIDATE_VECTOR;
    /// let packets: Vec<_> = AcquireMem::each(Target::gfx(GfxLevel::Gfx9), actions).collect();
    /// let [back, vector] = packets[..] else { panic!("{packets:?}") };
    /// assert_eq!(back.coher, CoherCntl::TC_WRITE_BACK | CoherCntl::TC_NC);
    /// assert_eq!(vector.coher, CoherCntl::TCL1);
    /// assert_eq!(AcquireMem::each(Target::gfx(GfxLevel::Gfx10), actions).count(), 1);
    /// ```
    ///
    /// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush`.
    pub fn each(target: Target, actions: CacheActions) -> impl Iterator<Item = Self> {
        let (back, vector) = (CacheActions::WRITE_BACK_L2, CacheActions::INVALIDATE_VECTOR);
        let is_split = matches!(target.level, GfxLevel::Gfx8 | GfxLevel::Gfx9)
            && actions.contains(back | vector)
            && !actions.intersects(CacheActions::INVALIDATE_L2 | CacheActions::INVALIDATE_L2_METADATA);
        let steps = if is_split { [actions - vector, vector] } else { [actions, CacheActions::empty()] };
        steps.into_iter().filter(|step| !step.is_empty()).map(move |step| Self::all(target, step))
    }

    /// Returns the actions for GFX6 to GFX9, and the actions for GFX10 and later; one of the two is empty.
    #[inline(always)]
    fn actions(self, level: GfxLevel) -> Result<(u32, u32), FieldError> {
        let bits = self.coher.difference(CoherCntl::known(level)).bits();
        require(bits == 0, FieldError::Flags { field: "coher_cntl", bits })?;
        if level < GfxLevel::Gfx10 {
            require_form(self.gcr.is_empty(), "GCR_CNTL")?;
        }
        self.gcr.check()?;
        Ok((self.coher.bits(), self.gcr.bits()))
    }

    #[inline(always)]
    fn surface_sync(self, level: GfxLevel) -> Result<records::SurfaceSync, FieldError> {
        let AcquireWait::Actions { engine, poll_interval } = self.wait else {
            return Err(FieldError::NoSuchForm { form: "a pixel-wait-sync" });
        };
        let max = u32::MAX.into();
        let CacheRange { base, blocks } = self.range;
        require(blocks <= max, FieldError::TooWide { field: "coher_size", value: blocks, max })?;
        require(base <= max, FieldError::TooWide { field: "coher_base", value: base, max })?;
        Ok(records::SurfaceSync {
            coher_cntl: self.actions(level)?.0,
            engine_sel: engine == Engine::Me,
            coher_size: blocks as u32,
            coher_base: base as u32,
            poll_interval: poll_interval.into(),
        })
    }

    #[inline(always)]
    fn acquire_mem(
        self,
        level: GfxLevel,
        engine: Engine,
        poll_interval: u16,
    ) -> Result<records::AcquireMem, FieldError> {
        let (coher_cntl, gcr_cntl) = self.actions(level)?;
        let CacheRange { base, blocks } = self.range;
        let packet = records::AcquireMem {
            coher_cntl,
            // In this field PFP is 0, unlike in other packets.
            engine_sel: engine == Engine::Me,
            poll_interval: poll_interval.into(),
            gcr_cntl,
            ..records::AcquireMem::default()
        };
        Ok(match level {
            GfxLevel::Gfx6 | GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 => {
                records::AcquireMem { coher_size: blocks, coher_base: base, ..packet }
            }
            _ => records::AcquireMem { gcr_size: blocks, gcr_base: base, ..packet },
        })
    }

    /// Writes ACQUIRE_MEM, even on rings for which SURFACE_SYNC is written by default.
    #[inline(always)]
    pub(in crate::pm4) fn write_acquire_mem(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let target = sink.target;
        let (stage, counter, outstanding) = match self.wait {
            AcquireWait::Actions { engine, poll_interval } => {
                return sink.put(self.acquire_mem(target.level, engine, poll_interval));
            }
            AcquireWait::Pws { stage, counter, outstanding } => (stage, counter, outstanding),
        };
        sink.put(self.acquire_mem_pws(target, stage, counter, outstanding))
    }

    #[inline(always)]
    fn acquire_mem_pws(
        self,
        target: Target,
        stage: PwsStage,
        counter: PwsCounter,
        outstanding: u8,
    ) -> Result<AcquireMemPws, FieldError> {
        let can_sync = target.ring == Ring::Gfx && target.level >= GfxLevel::Gfx11;
        require_form(can_sync, "a pixel-wait-sync")?;
        let (coher_cntl, gcr_cntl) = self.actions(target.level)?;
        Ok(AcquireMemPws(records::AcquireMem {
            coher_cntl,
            gcr_cntl,
            gcr_size: self.range.blocks,
            gcr_base: self.range.base,
            pws_stage_sel: stage.raw(),
            pws_counter_sel: counter.raw(),
            pws_count: outstanding.into(),
            pws_ena: true,
            pws_ena2: true,
            ..records::AcquireMem::default()
        }))
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read(record: &records::AcquireMem, level: GfxLevel) -> Result<Self, FieldError> {
        let wait = if record.pws_ena {
            AcquireWait::Pws {
                stage: PwsStage::read("pws_stage_sel", record.pws_stage_sel)?,
                counter: PwsCounter::read("pws_counter_sel", record.pws_counter_sel)?,
                outstanding: record.pws_count as u8,
            }
        } else {
            AcquireWait::Actions { engine: waits(record.engine_sel), poll_interval: record.poll_interval as u16 }
        };
        let range = if level < GfxLevel::Gfx10 {
            CacheRange { base: record.coher_base, blocks: record.coher_size }
        } else {
            CacheRange { base: record.gcr_base, blocks: record.gcr_size }
        };
        let coher = CoherCntl::from_bits_retain(record.coher_cntl);
        Ok(Self { coher, gcr: Gcr::from_bits_retain(record.gcr_cntl), range, wait })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read_surface_sync(record: &records::SurfaceSync) -> Self {
        let poll_interval = record.poll_interval as u16;
        Self {
            coher: CoherCntl::from_bits_retain(record.coher_cntl),
            gcr: Gcr::empty(),
            range: CacheRange { base: record.coher_base.into(), blocks: record.coher_size.into() },
            wait: AcquireWait::Actions { engine: waits(record.engine_sel), poll_interval },
        }
    }
}

/// Returns the engine that waits.
#[inline]
const fn waits(is_me: bool) -> Engine {
    if is_me { Engine::Me } else { Engine::Pfp }
}

impl Typed for AcquireMem {
    const NAME: &'static str = "ACQUIRE_MEM";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let target = sink.target;
        if target.level < GfxLevel::Gfx9 && !target.is_mec() {
            return sink.put(self.surface_sync(target.level));
        }
        self.write_acquire_mem(sink)
    }
}

packet_impl!(AcquireMem);
