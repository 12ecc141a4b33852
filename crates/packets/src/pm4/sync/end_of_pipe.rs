//! RELEASE_MEM, EVENT_WRITE_EOP and EVENT_WRITE_EOS: store a value when earlier work is complete.

use super::caches::{CacheActions, Gcr, TcActions};
use crate::choices::choices;
use crate::error::{self, require, require_form, require_multiple};
use crate::layout::records::pm4 as records;
use crate::layout::values::{EopData, EopDst, EopInt, EosCmd, EventIndex, EventType};
use crate::pm4::common::{Caching, reach};
use crate::pm4::sink::{Sink, Typed, packet_impl};
use crate::pm4::target::{Ring, Target};
use crate::{EncodeError, FieldError};
use amdgpu_hw::{GfxLevel, GpuVa};

choices! {
    /// The event that triggers the store.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/*.json`, `VGT_EVENT_TYPE`.
    pub enum EopEvent: EventType {
        /// All earlier work is complete, and the colour and depth caches are written back.
        CacheFlush = CACHE_FLUSH_TS,
        /// All earlier work is complete, and the colour and depth caches are written back and invalidated.
        CacheFlushAndInvalidate = CACHE_FLUSH_AND_INV_TS_EVENT,
        /// All earlier work is complete.
        BottomOfPipe = BOTTOM_OF_PIPE_TS,
        /// The depth caches are written back and invalidated.
        FlushDepth = FLUSH_AND_INV_DB_DATA_TS,
        /// The colour caches are written back and invalidated.
        FlushColor = FLUSH_AND_INV_CB_DATA_TS,
        /// All earlier compute shaders are complete.
        ComputeDone = CS_DONE,
        /// All earlier pixel shaders are complete.
        PixelDone = PS_DONE,
    }
}

impl EopEvent {
    /// Returns `true` for end-of-shader events, and `false` for end-of-pipe events.
    #[inline]
    pub const fn is_end_of_shader(self) -> bool {
        matches!(self, Self::ComputeDone | Self::PixelDone)
    }

    /// Returns the event index that belongs to the event.
    #[inline]
    const fn index(self) -> EventIndex {
        if self.is_end_of_shader() { EventIndex::END_OF_SHADER } else { EventIndex::END_OF_PIPE }
    }
}

choices! {
    /// The time at which an interrupt is raised, and the condition of the store.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `EOP_INT_SEL_*`.
    pub enum EopInterrupt: EopInt {
        /// No interrupt. The store need not wait for confirmation.
        None = NONE,
        /// An interrupt at once, without a store.
        Only = INTERRUPT_ONLY,
        /// An interrupt after the store is confirmed, as for the kernel's fences.
        AfterStore = INTERRUPT_AFTER_WRITE,
        /// No interrupt. The store waits until earlier writes are confirmed. Drivers use this for all their stores.
        NoneButConfirm = DATA_AFTER_CONFIRM,
    }
}

choices! {
    /// The path of the store. Both have the same result.
    pub enum EopPath: EopDst {
        /// Directly to memory.
        Memory = MEMORY,
        /// Through L2. GFX7 and later.
        L2 = TC_L2,
    }
}

/// The value to store, and its destination.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `EOP_DATA_SEL_*`; the numbers are the selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EopStore {
    /// 0: no store.
    Nothing,
    /// 1: 32 bits at an address that is a multiple of 4.
    Dword {
        /// The destination address.
        va: GpuVa,
        /// The value to store.
        value: u32,
    },
    /// 2: 64 bits at an address that is a multiple of 8.
    Qword {
        /// The destination address.
        va: GpuVa,
        /// The value to store.
        value: u64,
    },
    /// 3: the GPU's reference clock counter, 64 bits at an address that is a multiple of 8.
    GpuClock {
        /// The destination address.
        va: GpuVa,
    },
    /// 4: the system clock counter, 64 bits at an address that is a multiple of 8. GFX9 and later.
    SystemClock {
        /// The destination address.
        va: GpuVa,
    },
}

impl EopStore {
    #[inline]
    const fn selector(self) -> EopData {
        match self {
            Self::Nothing => EopData::NONE,
            Self::Dword { .. } => EopData::DWORD,
            Self::Qword { .. } => EopData::QWORD,
            Self::GpuClock { .. } => EopData::GPU_CLOCK,
            Self::SystemClock { .. } => EopData::SYSTEM_CLOCK,
        }
    }

    /// Returns the destination address; zero without a store.
    #[inline]
    const fn va(self) -> GpuVa {
        match self {
            Self::Nothing => GpuVa::NULL,
            Self::Dword { va, .. } | Self::Qword { va, .. } | Self::GpuClock { va } | Self::SystemClock { va } => va,
        }
    }

    /// Returns the two dwords of data; zero if the packet has none.
    #[inline]
    const fn data(self) -> u64 {
        match self {
            Self::Dword { value, .. } => value as u64,
            Self::Qword { value, .. } => value,
            _ => 0,
        }
    }

    /// Checks that the address is aligned to the size of the store, and that the generation has the clock.
    #[inline(always)]
    fn check(self, level: GfxLevel) -> Result<(), FieldError> {
        let multiple = match self {
            Self::Nothing => return Ok(()),
            Self::Dword { .. } => 4,
            Self::Qword { .. } | Self::GpuClock { .. } => 8,
            Self::SystemClock { .. } => {
                let value = self.selector().number();
                require(level >= GfxLevel::Gfx9, FieldError::Unknown { field: "data_sel", value })?;
                8
            }
        };
        require_multiple("addr", self.va().as_u64(), multiple)
    }

    /// Converts the fields of the packet. Other bits are checked when the packet is encoded again.
    #[inline]
    fn read(selector: EopData, address: u64, data: u64) -> Result<Self, FieldError> {
        let va = error::address("addr", address)?;
        Ok(match selector {
            EopData::NONE => Self::Nothing,
            EopData::DWORD => Self::Dword { va, value: data as u32 },
            EopData::QWORD => Self::Qword { va, value: data },
            EopData::GPU_CLOCK => Self::GpuClock { va },
            EopData::SYSTEM_CLOCK => Self::SystemClock { va },
            value => return Err(FieldError::Unknown { field: "data_sel", value: value.number() }),
        })
    }
}

/// A store that is triggered by the end of the pipe or of shaders: RELEASE_MEM (opcode 0x49) on MEC and on GFX9 and later;
/// otherwise EVENT_WRITE_EOP (0x47), or EVENT_WRITE_EOS (0x48) for the end of shaders.
///
/// | RELEASE_MEM | ..._EOP  | ..._EOS  | field                                                            |
/// |-------------|----------|----------|------------------------------------------------------------------|
/// | 1: 5:0      | 1: 5:0   | 1: 5:0   | event_type, see [`EopEvent`]                                     |
/// | 1: 11:8     | 1: 11:8  | 1: 11:8  | event_index: 5 end of pipe, 6 end of shader                      |
/// | 1: 21:12    | 1: 17:12 |          | up to GFX9: [`TcActions`]                                        |
/// | 1: 30:12    |          |          | from GFX10 on: [`Gcr`], scattered                                |
/// | 1: 27:25    | 1: 27:24 |          | see [`Caching`]                                                  |
/// | 1: 31       |          |          | pws_enable, GFX11 and later                                      |
/// | 2: 17:16    | 3: 17:16 |          | dst_sel, see [`EopPath`]                                         |
/// | 2: 26:24    | 3: 26:24 |          | int_sel, see [`EopInterrupt`]                                    |
/// | 2: 31:29    | 3: 31:29 | 3: 31:29 | data_sel, see [`EopStore`]; in ..._EOS the command, 2 is a dword |
/// | 3, 4        | 2, 3     | 2, 3     | address                                                          |
/// | 5, 6        | 4, 5     | 4        | data                                                             |
/// | 7           |          |          | interrupt context from GFX9 on: 0                                |
///
/// Some rings need more packets: on the graphics rings of GFX7 and GFX8 the packet is recorded twice, and on the graphics ring of
/// GFX9 an [`EventWrite`](super::EventWrite) of ZPASS_DONE precedes it. An [`EndOfPipeSequence`](super::EndOfPipeSequence) has them.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_write_event_eop`; Linux 6.12 `gfx_v7_0.c`,
/// `gfx_v7_0_ring_emit_fence_gfx` and `gfx_v7_0_ring_emit_fence_compute`, `gfx_v9_0.c`, `gfx_v9_0_ring_emit_fence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfPipe {
    /// The event that triggers the store.
    pub event: EopEvent,
    /// The cache actions on GFX6 to GFX9; empty on GFX10 and later.
    pub tc: TcActions,
    /// The cache actions on GFX10 and later; empty before.
    pub gcr: Gcr,
    /// The value to store and its destination.
    pub store: EopStore,
    /// The path of the store.
    pub path: EopPath,
    /// The interrupt to raise, if any, and the condition of the store.
    pub interrupt: EopInterrupt,
    /// The caching of the store.
    pub caching: Caching,
    /// `true` to increment a counter that an [`AcquireWait::Pws`](super::AcquireWait::Pws) waits for, instead of a store. The
    /// graphics ring of GFX11 and later.
    pub pws: bool,
}

impl EndOfPipe {
    /// Creates a store after `event` and after earlier writes are confirmed, without an interrupt.
    #[inline]
    pub const fn new(event: EopEvent, store: EopStore) -> Self {
        let interrupt = match store {
            EopStore::Nothing => EopInterrupt::None,
            _ => EopInterrupt::NoneButConfirm,
        };
        Self {
            event,
            tc: TcActions::empty(),
            gcr: Gcr::empty(),
            store,
            path: EopPath::Memory,
            interrupt,
            caching: Caching::NONE,
            pws: false,
        }
    }

    /// Creates a fence: a store of 32 bits after all earlier work is complete.
    ///
    /// ```
    /// use amdgpu_packets::{Packet, pm4};
    /// use amdgpu_hw::GpuVa;
    ///
    /// let packet = pm4::EndOfPipe::fence(GpuVa::new(0x81_2345_6780)?, 1);
    /// let mut ib = [0; 8];
    /// for target in pm4::Target::all() {
    ///     packet.encode(target, &mut ib)?;
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[inline]
    pub const fn fence(va: GpuVa, value: u32) -> Self {
        Self::new(EopEvent::BottomOfPipe, EopStore::Dword { va, value })
    }

    /// Creates a store of the GPU's reference clock counter after all earlier work is complete. `va` must be a multiple of 8.
    #[inline]
    pub const fn timestamp(va: GpuVa) -> Self {
        Self::new(EopEvent::BottomOfPipe, EopStore::GpuClock { va })
    }

    /// Adds cache actions between the event and the store, as far as the packet supports them.
    #[must_use]
    #[inline]
    pub fn with_caches(self, level: GfxLevel, actions: CacheActions) -> Self {
        let mut gcr = Gcr::empty();
        if level >= GfxLevel::Gfx10 {
            gcr = Gcr::new(level, actions) & Gcr::carried(level);
        }
        if !gcr.is_empty() {
            gcr |= Gcr::FORWARD;
        }
        Self { tc: TcActions::new(level, actions), gcr, ..self }
    }

    /// Checks the fields that all packets have.
    #[inline(always)]
    fn check(self, target: Target) -> Result<(), FieldError> {
        let level = target.level;
        let bits = self.tc.difference(TcActions::known(level)).bits();
        require(bits == 0, FieldError::Flags { field: "tc_action", bits })?;
        if level < GfxLevel::Gfx10 {
            require_form(self.gcr.is_empty(), "GCR_CNTL")?;
        } else {
            let bits = self.gcr.difference(Gcr::carried(level)).bits();
            require(bits == 0, FieldError::Flags { field: "gcr", bits })?;
            self.gcr.check()?;
        }
        require_form(self.path == EopPath::Memory || level >= GfxLevel::Gfx7, "a store through L2")?;
        let can_sync = target.ring == Ring::Gfx && level >= GfxLevel::Gfx11;
        require_form(can_sync || !self.pws, "a pixel-wait-sync")?;
        require_form(!self.pws || self.store == EopStore::Nothing, "a store with a pixel-wait-sync")?;
        self.store.check(level)
    }

    #[inline(always)]
    fn release_mem(self, target: Target) -> Result<records::ReleaseMem, FieldError> {
        self.check(target)?;
        require(!self.caching.atc, FieldError::NoSuchField { field: "atc" })?;
        let (cache_policy, temporal) = self.caching.policies(target.level);
        Ok(records::ReleaseMem {
            event_type: self.event.raw(),
            event_index: self.event.index(),
            tcl1_vol_action: self.tc.contains(TcActions::TCL1_VOLATILE),
            tc_vol_action: self.tc.contains(TcActions::TC_VOLATILE),
            tc_wb_action: self.tc.contains(TcActions::TC_WRITE_BACK),
            tcl1_action: self.tc.contains(TcActions::TCL1),
            tc_action: self.tc.contains(TcActions::TC),
            tc_nc_action: self.tc.contains(TcActions::TC_NC),
            tc_wc_action: self.tc.contains(TcActions::TC_WC),
            tc_md_action: self.tc.contains(TcActions::TC_METADATA),
            glm_wb: self.gcr.contains(Gcr::GLM_WRITE_BACK),
            glm_inv: self.gcr.contains(Gcr::GLM_INVALIDATE),
            glv_inv: self.gcr.contains(Gcr::GLV_INVALIDATE),
            gl1_inv: self.gcr.contains(Gcr::GL1_INVALIDATE),
            gl2_us: self.gcr.contains(Gcr::GL2_US),
            gl2_range: self.gcr.gl2_range(),
            gl2_discard: self.gcr.contains(Gcr::GL2_DISCARD),
            gl2_inv: self.gcr.contains(Gcr::GL2_INVALIDATE),
            gl2_wb: self.gcr.contains(Gcr::GL2_WRITE_BACK),
            seq: self.gcr.seq(),
            glk_wb: self.gcr.contains(Gcr::GLK_WRITE_BACK),
            glk_inv: self.gcr.contains(Gcr::GLK_INVALIDATE),
            cache_policy,
            temporal,
            volatile: self.caching.volatile,
            pws_enable: self.pws,
            dst_sel: self.path.raw(),
            int_sel: self.interrupt.raw(),
            data_sel: self.store.selector(),
            addr: reach("addr", self.store.va(), target.level)?,
            data: self.store.data(),
            ..records::ReleaseMem::default()
        })
    }

    #[inline(always)]
    fn event_write_eop(self, target: Target) -> Result<records::EventWriteEop, FieldError> {
        self.check(target)?;
        let (cache_policy, _) = self.caching.policies(target.level);
        Ok(records::EventWriteEop {
            event_type: self.event.raw(),
            event_index: self.event.index(),
            tcl1_vol_action: self.tc.contains(TcActions::TCL1_VOLATILE),
            tc_vol_action: self.tc.contains(TcActions::TC_VOLATILE),
            tc_wb_action: self.tc.contains(TcActions::TC_WRITE_BACK),
            tcl1_action: self.tc.contains(TcActions::TCL1),
            tc_action: self.tc.contains(TcActions::TC),
            atc: self.caching.atc,
            cache_policy,
            volatile: self.caching.volatile,
            addr: self.store.va().as_u64(),
            dst_sel: self.path.raw(),
            int_sel: self.interrupt.raw(),
            data_sel: self.store.selector(),
            data: self.store.data(),
            ..records::EventWriteEop::default()
        })
    }

    #[inline(always)]
    fn event_write_eos(self, target: Target) -> Result<records::EventWriteEos, FieldError> {
        self.check(target)?;
        let bits = self.tc.bits();
        require(bits == 0, FieldError::Flags { field: "tc_action", bits })?;
        require_form(self.caching == Caching::NONE, "a cache policy")?;
        let EopStore::Dword { va, value } = self.store else { return Err(Self::NO_SUCH_STORE) };
        let is_plain = self.path == EopPath::Memory && self.interrupt == EopInterrupt::NoneButConfirm;
        require(is_plain, Self::NO_SUCH_STORE)?;
        Ok(records::EventWriteEos {
            event_type: self.event.raw(),
            event_index: self.event.index(),
            addr: va.as_u64(),
            command: EosCmd::STORE_DWORD,
            data: value,
            ..records::EventWriteEos::default()
        })
    }

    const NO_SUCH_STORE: FieldError = FieldError::NoSuchForm { form: "this store at the end of shaders" };

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read(record: &records::ReleaseMem) -> Result<Self, FieldError> {
        let tc = TcActions::TCL1_VOLATILE.when(record.tcl1_vol_action)
            | TcActions::TC_VOLATILE.when(record.tc_vol_action)
            | TcActions::TC_WRITE_BACK.when(record.tc_wb_action)
            | TcActions::TCL1.when(record.tcl1_action)
            | TcActions::TC.when(record.tc_action)
            | TcActions::TC_NC.when(record.tc_nc_action)
            | TcActions::TC_WC.when(record.tc_wc_action)
            | TcActions::TC_METADATA.when(record.tc_md_action);
        let gcr = Gcr::of_gl2_range(record.gl2_range)
            | Gcr::of_seq(record.seq)
            | Gcr::GLM_WRITE_BACK.when(record.glm_wb)
            | Gcr::GLM_INVALIDATE.when(record.glm_inv)
            | Gcr::GLV_INVALIDATE.when(record.glv_inv)
            | Gcr::GL1_INVALIDATE.when(record.gl1_inv)
            | Gcr::GL2_US.when(record.gl2_us)
            | Gcr::GL2_DISCARD.when(record.gl2_discard)
            | Gcr::GL2_INVALIDATE.when(record.gl2_inv)
            | Gcr::GL2_WRITE_BACK.when(record.gl2_wb)
            | Gcr::GLK_WRITE_BACK.when(record.glk_wb)
            | Gcr::GLK_INVALIDATE.when(record.glk_inv);
        let store = EopStore::read(record.data_sel, record.addr, record.data)?;
        Ok(Self {
            tc,
            gcr,
            path: EopPath::read("dst_sel", record.dst_sel)?,
            interrupt: EopInterrupt::read("int_sel", record.int_sel)?,
            caching: Caching::read(false, record.cache_policy, record.temporal, record.volatile)?,
            pws: record.pws_enable,
            ..Self::new(EopEvent::read("event_type", record.event_type)?, store)
        })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read_event_write_eop(record: &records::EventWriteEop) -> Result<Self, FieldError> {
        let release = records::ReleaseMem {
            event_type: record.event_type,
            tcl1_vol_action: record.tcl1_vol_action,
            tc_vol_action: record.tc_vol_action,
            tc_wb_action: record.tc_wb_action,
            tcl1_action: record.tcl1_action,
            tc_action: record.tc_action,
            cache_policy: record.cache_policy,
            volatile: record.volatile,
            addr: record.addr,
            dst_sel: record.dst_sel,
            int_sel: record.int_sel,
            data_sel: record.data_sel,
            data: record.data,
            ..records::ReleaseMem::default()
        };
        let packet = Self::read(&release)?;
        Ok(Self { caching: Caching { atc: record.atc, ..packet.caching }, ..packet })
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read_event_write_eos(record: &records::EventWriteEos) -> Result<Self, FieldError> {
        let store = EopStore::read(EopData::DWORD, record.addr, record.data.into())?;
        Ok(Self::new(EopEvent::read("event_type", record.event_type)?, store))
    }
}

impl Typed for EndOfPipe {
    const NAME: &'static str = "RELEASE_MEM";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let target = sink.target;
        if sink.has::<records::ReleaseMem>() {
            sink.put(self.release_mem(target))
        } else if self.event.is_end_of_shader() {
            sink.put(self.event_write_eos(target))
        } else {
            sink.put(self.event_write_eop(target))
        }
    }
}

packet_impl!(EndOfPipe);
