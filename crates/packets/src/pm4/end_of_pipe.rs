//! RELEASE_MEM, EVENT_WRITE_EOP and EVENT_WRITE_EOS: a store when earlier work has drained.

use super::caches::{CacheActions, Gcr, TcActions};
use super::common::{Caching, address};
use super::header::{Describe, Flagged, HeaderFlags, measure, packet_impl, write};
use super::{Ring, Target, opcode};
use crate::field::{Bits, FieldError, Wire, choices, require, require_form, require_multiple};
use amdgpu_hw::GfxLevel;
use amdgpu_hw::GpuVa;

choices! {
    /// The event that triggers the store.
    ///
    /// Source: Mesa 25.0.7 `src/amd/registers/*.json`, `VGT_EVENT_TYPE`.
    pub enum EopEvent {
        /// All earlier work has finished and the colour and depth caches are written back.
        CacheFlush = 4,
        /// As [`Self::CacheFlush`], and those caches are empty.
        CacheFlushAndInvalidate = 20,
        /// All earlier work has finished.
        BottomOfPipe = 40,
        /// Depth is flushed.
        FlushDepth = 43,
        /// Colour is flushed.
        FlushColor = 45,
        /// All earlier compute shaders have finished.
        ComputeDone = 47,
        /// All earlier pixel shaders have finished.
        PixelDone = 48,
    }
}

impl EopEvent {
    /// Whether the event is an end of shaders, not of the whole pipe.
    pub const fn is_end_of_shader(self) -> bool {
        matches!(self, Self::ComputeDone | Self::PixelDone)
    }

    /// The event index that belongs to it.
    const fn index(self) -> u32 {
        if self.is_end_of_shader() { 6 } else { 5 }
    }
}

choices! {
    /// When an interrupt is raised.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `EOP_INT_SEL_*`.
    pub enum EopInterrupt {
        /// Never; the store need not wait for confirmation.
        None = 0,
        /// At once, without a store.
        Only = 1,
        /// After the store is confirmed. What the kernel's own fences use.
        AfterStore = 2,
        /// Never; the store waits until earlier writes are confirmed. What drivers use whenever they store.
        NoneButConfirm = 3,
    }
}

choices! {
    /// The way the store takes. Both end in the same place.
    pub enum EopPath {
        /// Straight to memory.
        Memory = 0,
        /// Through L2. GFX7 and later.
        L2 = 1,
    }
}

/// What is stored, and where.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `EOP_DATA_SEL_*`; the numbers are the selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EopStore {
    /// 0: nothing.
    Nothing,
    /// 1: 32 bits, at a multiple of 4.
    Dword {
        /// Where.
        va: GpuVa,
        /// What.
        value: u32,
    },
    /// 2: 64 bits, at a multiple of 8.
    Qword {
        /// Where.
        va: GpuVa,
        /// What.
        value: u64,
    },
    /// 3: the GPU's reference counter, 64 bits at a multiple of 8.
    GpuClock {
        /// Where.
        va: GpuVa,
    },
    /// 4: the system's counter, 64 bits at a multiple of 8. GFX9 and later.
    SystemClock {
        /// Where.
        va: GpuVa,
    },
}

impl EopStore {
    const fn selector(self) -> u32 {
        match self {
            Self::Nothing => 0,
            Self::Dword { .. } => 1,
            Self::Qword { .. } => 2,
            Self::GpuClock { .. } => 3,
            Self::SystemClock { .. } => 4,
        }
    }

    /// The address, zero where nothing is stored.
    const fn va(self) -> GpuVa {
        match self {
            Self::Nothing => GpuVa::NULL,
            Self::Dword { va, .. } | Self::Qword { va, .. } | Self::GpuClock { va } | Self::SystemClock { va } => va,
        }
    }

    /// The two dwords of data, zero where the packet brings none.
    const fn data(self) -> u64 {
        match self {
            Self::Dword { value, .. } => value as u64,
            Self::Qword { value, .. } => value,
            _ => 0,
        }
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn from_wire(selector: u32, va: GpuVa, data: u64, level: GfxLevel) -> Result<Self, FieldError> {
        let store = match selector {
            0 => Self::Nothing,
            1 => Self::Dword { va, value: data as u32 },
            2 => Self::Qword { va, value: data },
            3 => Self::GpuClock { va },
            4 if level >= GfxLevel::Gfx9 => Self::SystemClock { va },
            value => return Err(FieldError::Unknown { field: "data_sel", value }),
        };
        if selector >= 2 {
            require_multiple("addr", va.as_u64(), 8)?;
        }
        require(store.va() == va, FieldError::TooWide { field: "addr", value: va.as_u64(), max: 0 })?;
        let max = if selector == 1 { u32::MAX.into() } else { 0 };
        require(store.data() == data, FieldError::TooWide { field: "data", value: data, max })?;
        Ok(store)
    }
}

/// A store when the end of the pipe, or of shaders, is reached: RELEASE_MEM (opcode 0x49) on MEC and from GFX9 on, else
/// EVENT_WRITE_EOP (0x47), or EVENT_WRITE_EOS (0x48) for the end of shaders.
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
/// What the recorder has to add: on the graphics rings of GFX7 and GFX8 the packet is sent twice, the second one
/// counts; on that of GFX9 an [`EventWrite`](super::EventWrite) of ZPASS_DONE to a scratch address goes before it.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_write_event_eop`; Linux 6.12 `gfx_v7_0.c`,
/// `gfx_v7_0_ring_emit_fence_gfx` and `gfx_v7_0_ring_emit_fence_compute`, `gfx_v9_0.c`, `gfx_v9_0_ring_emit_fence`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfPipe {
    /// The trigger.
    pub event: EopEvent,
    /// The cache actions up to GFX9; empty from GFX10 on.
    pub tc: TcActions,
    /// The cache actions from GFX10 on; empty before.
    pub gcr: Gcr,
    /// What is stored.
    pub store: EopStore,
    /// The way the store takes.
    pub path: EopPath,
    /// Whether an interrupt is raised, and what the store waits for.
    pub interrupt: EopInterrupt,
    /// How the store is cached.
    pub caching: Caching,
    /// Nothing is stored; a counter goes up that an [`AcquireWait::Pws`](super::AcquireWait::Pws) waits for. GFX11 and
    /// later, graphics ring.
    pub pws: bool,
}

impl EndOfPipe {
    /// Stores when `event` has come and earlier writes are confirmed, without an interrupt.
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
            caching: Caching { policy: super::Policy::Lru, atc: false, volatile: false },
            pws: false,
        }
    }

    /// A fence: 32 bits stored when everything before has finished.
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
    pub const fn fence(va: GpuVa, value: u32) -> Self {
        Self::new(EopEvent::BottomOfPipe, EopStore::Dword { va, value })
    }

    /// The GPU's reference counter at the time when everything before has finished; `va` is a multiple of 8.
    pub const fn timestamp(va: GpuVa) -> Self {
        Self::new(EopEvent::BottomOfPipe, EopStore::GpuClock { va })
    }

    /// With these cache actions between the event and the store, as far as an event can carry them.
    #[must_use]
    pub fn with_caches(self, level: GfxLevel, actions: CacheActions) -> Self {
        let mut gcr = Gcr::empty();
        if level >= GfxLevel::Gfx10 {
            gcr = Gcr::new(level, actions) & Gcr::in_event(level);
        }
        if !gcr.is_empty() {
            gcr |= Gcr::FORWARD;
        }
        Self { tc: TcActions::new(level, actions), gcr, ..self }
    }

    /// Dword 1.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_event<D: Bits>(self, d: &mut D, target: Target, op: u8) -> Result<Self, D::Error> {
        let level = target.level;
        let event: EopEvent = d.choice::<5, 0, _>("event_type", self.event)?;
        d.fixed::<11, 8>("event_index", event.index())?;
        let eos = op == opcode::EVENT_WRITE_EOS;
        require_form(op == opcode::RELEASE_MEM || eos == event.is_end_of_shader(), "this event")?;
        let known = if eos { TcActions::empty() } else { TcActions::known(level) };
        let tc = TcActions::from_bits_retain(d.masked("tc_action", known.bits(), self.tc.bits())?);
        let gcr = self.describe_gcr(d, level)?;
        let has = match op {
            opcode::EVENT_WRITE_EOP => Caching::ALL,
            opcode::EVENT_WRITE_EOS => 0,
            _ => Caching::WITHOUT_ATC,
        };
        let caching = self.caching.describe(d, 24, has, level)?;
        let can_sync = target.ring == Ring::Gfx && level >= GfxLevel::Gfx11;
        require_form(can_sync || !self.pws, "a pixel-wait-sync")?;
        let pws = can_sync && d.flag::<31>(self.pws);
        Ok(Self { event, tc, gcr, caching, pws, ..self })
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_gcr<D: Bits>(self, d: &mut D, level: GfxLevel) -> Result<Gcr, D::Error> {
        if level < GfxLevel::Gfx10 {
            require_form(self.gcr.is_empty(), "GCR_CNTL")?;
            return Ok(Gcr::empty());
        }
        let carried = Gcr::in_event(level);
        let bits = self.gcr.difference(carried).bits();
        require(bits == 0, FieldError::Flags { field: "gcr", bits })?;
        let gcr = Gcr::gather(d.masked("gcr", carried.scatter(), self.gcr.scatter())?);
        gcr.check()?;
        Ok(gcr)
    }

    /// The three selectors above bit 16, which travel with the high address in EVENT_WRITE_EOP.
    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_selectors<D: Bits>(self, d: &mut D, level: GfxLevel) -> Result<(Self, u32), D::Error> {
        let path: EopPath = d.choice::<17, 16, _>("dst_sel", self.path)?;
        require_form(path == EopPath::Memory || level >= GfxLevel::Gfx7, "a store through L2")?;
        let interrupt = d.choice::<26, 24, _>("int_sel", self.interrupt)?;
        let selector = d.bits::<31, 29>("data_sel", self.store.selector())?;
        Ok((Self { path, interrupt, ..self }, selector))
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_release<'a, W: Wire<'a>>(self, wire: &mut W, target: Target) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        let (packet, selector) = self.describe_selectors(&mut d, target.level)?;
        wire.close(d)?;
        let va = address::<2, W>(wire, "addr", target, self.store.va())?;
        let data = wire.wide(self.store.data())?;
        if target.level >= GfxLevel::Gfx9 {
            wire.zero()?;
        }
        Ok(Self { store: EopStore::from_wire(selector, va, data, target.level)?, ..packet })
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe_eop<'a, W: Wire<'a>>(self, wire: &mut W, target: Target) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        let low = d.aligned::<2>("addr", self.store.va().low())?;
        wire.close(d)?;
        let mut d = wire.open()?;
        let high = d.bits::<15, 0>("addr", self.store.va().high())?;
        let (packet, selector) = self.describe_selectors(&mut d, target.level)?;
        wire.close(d)?;
        let data = wire.wide(self.store.data())?;
        let store =
            EopStore::from_wire(selector, wire.joined("addr", self.store.va(), low, high)?, data, target.level)?;
        Ok(Self { store, ..packet })
    }

    #[inline(always)]
    fn describe_eos<'a, W: Wire<'a>>(self, wire: &mut W) -> Result<Self, W::Error> {
        const STORE_DWORD: u32 = 2;
        let dword = matches!(self.store, EopStore::Dword { .. }) && self.path == EopPath::Memory;
        require_form(dword && self.interrupt == EopInterrupt::NoneButConfirm, "this store at the end of shaders")?;
        let mut d = wire.open()?;
        let low = d.aligned::<2>("addr", self.store.va().low())?;
        wire.close(d)?;
        let mut d = wire.open()?;
        let high = d.bits::<15, 0>("addr", self.store.va().high())?;
        d.fixed::<31, 29>("command", STORE_DWORD)?;
        wire.close(d)?;
        let value = wire.word(self.store.data() as u32)?;
        Ok(Self { store: EopStore::Dword { va: wire.joined("addr", self.store.va(), low, high)?, value }, ..self })
    }
}

impl<'a> Describe<'a> for EndOfPipe {
    const NAME: &'static str = "RELEASE_MEM";
    // A dword is all that EVENT_WRITE_EOS can store, so reading begins there.
    const BLANK: Self = Self::new(EopEvent::BottomOfPipe, EopStore::Dword { va: GpuVa::NULL, value: 0 });

    #[inline]
    fn opcode(self, target: Target) -> Option<u8> {
        Some(if target.is_mec() || target.level >= GfxLevel::Gfx9 {
            opcode::RELEASE_MEM
        } else if self.event.is_end_of_shader() {
            opcode::EVENT_WRITE_EOS
        } else {
            opcode::EVENT_WRITE_EOP
        })
    }

    fn takes(op: u8, target: Target) -> bool {
        let release = target.is_mec() || target.level >= GfxLevel::Gfx9;
        release == (op == opcode::RELEASE_MEM)
    }

    #[expect(clippy::inline_always, reason = "see the writer")]
    #[inline(always)]
    fn describe<W: Wire<'a>>(self, wire: &mut W, target: Target, op: u8) -> Result<Self, W::Error> {
        let mut d = wire.open()?;
        let packet = self.describe_event(&mut d, target, op)?;
        wire.close(d)?;
        let packet = match op {
            opcode::EVENT_WRITE_EOP => packet.describe_eop(wire, target)?,
            opcode::EVENT_WRITE_EOS => packet.describe_eos(wire)?,
            _ => packet.describe_release(wire, target)?,
        };
        require_form(!packet.pws || packet.store == EopStore::Nothing, "a store with a pixel-wait-sync")?;
        Ok(packet)
    }
}

packet_impl!(EndOfPipe);
