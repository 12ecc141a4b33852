//! EVENT_WRITE: pipeline events, and the counters some of them store.

use std::fmt;

use crate::error::{address, require, require_form};
use crate::layout::records::pm4 as records;
use crate::layout::written::EventWriteSample;
use crate::pm4::common::reach;
use crate::pm4::sink::{Sink, Typed, packet_impl};
use crate::{EncodeError, FieldError};
use amdgpu_hw::{GfxLevel, GpuVa};

/// A pipeline event, by its number: 1 to 63. Some numbers change their meaning between generations.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Event(u8);

impl Event {
    /// Waits until compute shaders are done.
    pub const CS_PARTIAL_FLUSH: Self = Self(7);
    /// Waits until vertex shaders are done.
    pub const VS_PARTIAL_FLUSH: Self = Self(15);
    /// Waits until pixel shaders are done.
    pub const PS_PARTIAL_FLUSH: Self = Self(16);
    /// Every render backend stores its count of passed samples. GFX6 to GFX10_3.
    pub const ZPASS_DONE: Self = Self(21);
    /// Pipeline statistics start to count.
    pub const PIPELINESTAT_START: Self = Self(25);
    /// Pipeline statistics stop counting.
    pub const PIPELINESTAT_STOP: Self = Self(26);
    /// Stores the pipeline statistics.
    pub const SAMPLE_PIPELINESTAT: Self = Self(30);
    /// Stores the stream-out statistics of stream 0.
    pub const SAMPLE_STREAMOUTSTATS: Self = Self(32);
    /// Flushes the geometry front end.
    pub const VGT_FLUSH: Self = Self(36);
    /// Flushes and forgets depth metadata.
    pub const FLUSH_AND_INV_DB_META: Self = Self(44);
    /// Flushes and forgets colour metadata.
    pub const FLUSH_AND_INV_CB_META: Self = Self(46);
    /// Chooses what [`Self::PIXEL_PIPE_STAT_DUMP`] stores.
    pub const PIXEL_PIPE_STAT_CONTROL: Self = Self(56);
    /// Every render backend stores its count of passed samples. GFX11 and later.
    pub const PIXEL_PIPE_STAT_DUMP: Self = Self(57);

    /// The event with this number.
    #[inline]
    pub const fn new(number: u8) -> Self {
        Self(number)
    }

    /// The event's number.
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the event's name in AMD's headers on this generation; `None` where there is no such event.
    pub fn name(self, level: GfxLevel) -> Option<&'static str> {
        let known = |&&(number, _, first, last): &&Row| number == self.0 && (first..=last).contains(&level);
        NAMES.iter().find(known).map(|&(_, name, ..)| name)
    }

    /// Returns `true` if there is such an event on this generation.
    #[inline]
    pub fn exists(self, level: GfxLevel) -> bool {
        KNOWN.get(level as usize).is_some_and(|events| events >> (self.0 & 63) & 1 != 0)
    }

    /// Returns `true` if the event stores something at an address.
    #[inline]
    pub fn samples(self, level: GfxLevel) -> bool {
        matches!(self.index(level), 1..=3)
    }

    /// The event index: what kind of event the command processor has to expect.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `EVENT_INDEX`.
    #[inline]
    fn index(self, level: GfxLevel) -> u32 {
        match self {
            Self::ZPASS_DONE if level < GfxLevel::Gfx11 => 1,
            Self::PIXEL_PIPE_STAT_DUMP | Self::PIXEL_PIPE_STAT_CONTROL => 1,
            Self::SAMPLE_PIPELINESTAT => 2,
            Self::SAMPLE_STREAMOUTSTATS | Self(1..=3) => 3,
            Self::CS_PARTIAL_FLUSH | Self::VS_PARTIAL_FLUSH | Self::PS_PARTIAL_FLUSH => 4,
            _ => 0,
        }
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |level| self.name(level);
        match name(GfxLevel::Gfx8).or_else(|| name(GfxLevel::Gfx12)).or_else(|| name(GfxLevel::Gfx10)) {
            Some(name) => write!(f, "{name} ({})", self.0),
            None => write!(f, "event {}", self.0),
        }
    }
}

/// EVENT_WRITE, opcode 0x46: an event runs down the pipeline. Those that sample store their counters at an address.
///
/// | dword | bits | field       | meaning                                                               |
/// |-------|------|-------------|-----------------------------------------------------------------------|
/// | 1     | 5:0  | event_type  | see [`Event`]                                                         |
/// | 1     | 11:8 | event_index | 1 sample counts, 2 pipeline and 3 stream-out statistics, 4 flushes, 0 |
/// | 2, 3  |      | address     | with index 1 to 3 only; a multiple of 8                               |
///
/// [`Event::PIXEL_PIPE_STAT_CONTROL`], whose two dwords are no address, is not taken.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_EVENT_WRITE`; `src/amd/vulkan/radv_query.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventWrite {
    /// The event.
    pub event: Event,
    /// Destination of the store; needed by the events that [sample](Event::samples), and by no others.
    pub at: Option<GpuVa>,
}

impl EventWrite {
    /// An event that stores nothing.
    #[inline]
    pub const fn new(event: Event) -> Self {
        Self { event, at: None }
    }

    /// An event that stores its counters at `va`, a multiple of 8.
    #[inline]
    pub const fn sample(event: Event, va: GpuVa) -> Self {
        Self { event, at: Some(va) }
    }
}

impl EventWrite {
    #[inline(always)]
    fn record(self, level: GfxLevel, samples: bool) -> Result<records::EventWrite, FieldError> {
        let value = self.event.number().into();
        require(self.event.exists(level), FieldError::Unknown { field: "event_type", value })?;
        require_form(self.event != Event::PIXEL_PIPE_STAT_CONTROL, "a counter setup")?;
        let form = if samples { "an address for this event" } else { "this event without an address" };
        require_form(self.event.samples(level) == samples, form)?;
        Ok(records::EventWrite {
            event_type: value,
            event_index: self.event.index(level),
            ..records::EventWrite::default()
        })
    }

    #[inline(always)]
    fn sample_at(self, level: GfxLevel, va: GpuVa) -> Result<EventWriteSample, FieldError> {
        let addr = reach("addr", va, level)?;
        Ok(EventWriteSample(records::EventWrite { addr, ..self.record(level, true)? }))
    }

    /// Returns the packet that was read.
    #[inline]
    pub(in crate::pm4) fn read(record: &records::EventWrite, level: GfxLevel) -> Result<Self, FieldError> {
        let event = Event(record.event_type as u8);
        let at = if event.samples(level) { Some(address("addr", record.addr)?) } else { None };
        Ok(Self { event, at })
    }
}

impl Typed for EventWrite {
    const NAME: &'static str = "EVENT_WRITE";

    #[inline(always)]
    fn write(self, sink: Sink<'_>) -> Result<usize, EncodeError> {
        let level = sink.target.level;
        match self.at {
            None => {
                let record = self.record(level, false);
                sink.put(record)
            }
            Some(va) => {
                let record = self.sample_at(level, va);
                sink.put(record)
            }
        }
    }
}

packet_impl!(EventWrite);

type Row = (u8, &'static str, GfxLevel, GfxLevel);

/// Number, name, first and last generation.
///
/// Source: Mesa 25.0.7 `src/amd/registers/*.json`, `VGT_EVENT_TYPE`.
#[rustfmt::skip]
const NAMES: &[Row] = {
    use GfxLevel::{Gfx6, Gfx8, Gfx9, Gfx10, Gfx10_3, Gfx11, Gfx12};
    &[
        (1, "SAMPLE_STREAMOUTSTATS1", Gfx6, Gfx12),
        (2, "SAMPLE_STREAMOUTSTATS2", Gfx6, Gfx12),
        (3, "SAMPLE_STREAMOUTSTATS3", Gfx6, Gfx12),
        (4, "CACHE_FLUSH_TS", Gfx6, Gfx12),
        (5, "CONTEXT_DONE", Gfx6, Gfx12),
        (6, "CACHE_FLUSH", Gfx6, Gfx12),
        (7, "CS_PARTIAL_FLUSH", Gfx6, Gfx12),
        (8, "VGT_STREAMOUT_SYNC", Gfx6, Gfx12),
        (9, "SET_FE_ID", Gfx10, Gfx10_3),
        (10, "VGT_STREAMOUT_RESET", Gfx6, Gfx12),
        (11, "END_OF_PIPE_INCR_DE", Gfx6, Gfx12),
        (12, "END_OF_PIPE_IB_END", Gfx6, Gfx12),
        (13, "RST_PIX_CNT", Gfx6, Gfx12),
        (14, "BREAK_BATCH", Gfx9, Gfx12),
        (15, "VS_PARTIAL_FLUSH", Gfx6, Gfx12),
        (16, "PS_PARTIAL_FLUSH", Gfx6, Gfx12),
        (17, "FLUSH_HS_OUTPUT", Gfx6, Gfx12),
        (18, "FLUSH_LS_OUTPUT", Gfx6, Gfx8),
        (18, "FLUSH_DFSM", Gfx9, Gfx12),
        (19, "RESET_TO_LOWEST_VGT", Gfx9, Gfx12),
        (20, "CACHE_FLUSH_AND_INV_TS_EVENT", Gfx6, Gfx12),
        (21, "ZPASS_DONE", Gfx6, Gfx10_3),
        (21, "WAIT_SYNC", Gfx11, Gfx12),
        (22, "CACHE_FLUSH_AND_INV_EVENT", Gfx6, Gfx12),
        (23, "PERFCOUNTER_START", Gfx6, Gfx12),
        (24, "PERFCOUNTER_STOP", Gfx6, Gfx12),
        (25, "PIPELINESTAT_START", Gfx6, Gfx12),
        (26, "PIPELINESTAT_STOP", Gfx6, Gfx12),
        (27, "PERFCOUNTER_SAMPLE", Gfx6, Gfx12),
        (28, "FLUSH_ES_OUTPUT", Gfx6, Gfx8),
        (28, "FLUSH_ES_OUTPUT", Gfx10, Gfx12),
        (29, "FLUSH_GS_OUTPUT", Gfx6, Gfx8),
        (29, "BIN_CONF_OVERRIDE_CHECK", Gfx10, Gfx12),
        (30, "SAMPLE_PIPELINESTAT", Gfx6, Gfx12),
        (31, "SO_VGTSTREAMOUT_FLUSH", Gfx6, Gfx12),
        (32, "SAMPLE_STREAMOUTSTATS", Gfx6, Gfx12),
        (33, "RESET_VTX_CNT", Gfx6, Gfx12),
        (34, "BLOCK_CONTEXT_DONE", Gfx6, Gfx12),
        (35, "CS_CONTEXT_DONE", Gfx6, Gfx12),
        (36, "VGT_FLUSH", Gfx6, Gfx12),
        (37, "TGID_ROLLOVER", Gfx8, Gfx12),
        (38, "SQ_NON_EVENT", Gfx6, Gfx12),
        (39, "SC_SEND_DB_VPZ", Gfx6, Gfx12),
        (40, "BOTTOM_OF_PIPE_TS", Gfx6, Gfx12),
        (41, "FLUSH_SX_TS", Gfx6, Gfx12),
        (42, "DB_CACHE_FLUSH_AND_INV", Gfx6, Gfx12),
        (43, "FLUSH_AND_INV_DB_DATA_TS", Gfx6, Gfx12),
        (44, "FLUSH_AND_INV_DB_META", Gfx6, Gfx12),
        (45, "FLUSH_AND_INV_CB_DATA_TS", Gfx6, Gfx12),
        (46, "FLUSH_AND_INV_CB_META", Gfx6, Gfx12),
        (47, "CS_DONE", Gfx6, Gfx12),
        (48, "PS_DONE", Gfx6, Gfx12),
        (49, "FLUSH_AND_INV_CB_PIXEL_DATA", Gfx6, Gfx12),
        (50, "SX_CB_RAT_ACK_REQUEST", Gfx6, Gfx12),
        (51, "THREAD_TRACE_START", Gfx6, Gfx12),
        (52, "THREAD_TRACE_STOP", Gfx6, Gfx12),
        (53, "THREAD_TRACE_MARKER", Gfx6, Gfx12),
        (54, "THREAD_TRACE_FLUSH", Gfx6, Gfx9),
        (54, "THREAD_TRACE_DRAW", Gfx10, Gfx12),
        (55, "THREAD_TRACE_FINISH", Gfx6, Gfx12),
        (56, "PIXEL_PIPE_STAT_CONTROL", Gfx6, Gfx12),
        (57, "PIXEL_PIPE_STAT_DUMP", Gfx6, Gfx12),
        (58, "PIXEL_PIPE_STAT_RESET", Gfx6, Gfx12),
        (59, "CONTEXT_SUSPEND", Gfx6, Gfx12),
        (60, "OFFCHIP_HS_DEALLOC", Gfx8, Gfx12),
        (61, "ENABLE_NGG_PIPELINE", Gfx9, Gfx12),
        (62, "ENABLE_LEGACY_PIPELINE", Gfx9, Gfx12),
        (63, "DRAW_DONE", Gfx10, Gfx12),
    ]
};

/// The events of each generation, one bit for each number.
const KNOWN: [u64; GfxLevel::ALL.len()] = {
    let mut known = [0; GfxLevel::ALL.len()];
    let mut at = 0;
    while at < NAMES.len() {
        let (number, _, first, last) = NAMES[at];
        let mut level = first as usize;
        while level <= last as usize {
            known[level] |= 1 << number;
            level += 1;
        }
        at += 1;
    }
    known
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_number_has_two_names_on_one_generation() {
        for level in GfxLevel::ALL {
            for number in 0..64 {
                let names = NAMES.iter().filter(|row| row.0 == number && (row.2..=row.3).contains(&level));
                assert!(names.count() <= 1, "event {number} on {level}");
            }
        }
    }

    #[test]
    fn an_event_exists_where_it_has_a_name() {
        for (level, number) in GfxLevel::ALL.into_iter().flat_map(|level| (0..64).map(move |number| (level, number))) {
            assert_eq!(
                Event::new(number).exists(level),
                Event::new(number).name(level).is_some(),
                "{number} on {level}"
            );
        }
    }

    #[test]
    fn the_names_behind_the_constants_are_the_headers() {
        assert_eq!(Event::CS_PARTIAL_FLUSH.name(GfxLevel::Gfx12), Some("CS_PARTIAL_FLUSH"));
        assert_eq!(Event::ZPASS_DONE.name(GfxLevel::Gfx10_3), Some("ZPASS_DONE"));
        assert_eq!(Event::ZPASS_DONE.name(GfxLevel::Gfx11), Some("WAIT_SYNC"));
        assert_eq!(Event::PIXEL_PIPE_STAT_DUMP.name(GfxLevel::Gfx11), Some("PIXEL_PIPE_STAT_DUMP"));
        assert_eq!(Event::new(0).name(GfxLevel::Gfx9), None);
    }
}
