//! EVENT_WRITE: triggers pipeline events, some of which store counters.

use crate::error::{address, require, require_form};
use crate::layout::choices::EVENT_TYPE;
use crate::layout::records::pm4 as records;
use crate::layout::values::EventIndex;
use crate::layout::written::EventWriteSample;
use crate::pm4::common::reach;
use crate::pm4::sink::{Sink, Typed, packet_impl};
use crate::{EncodeError, FieldError};
use amdgpu_hw::{GfxLevel, GpuVa};

pub use crate::layout::values::EventType as Event;

impl Event {
    /// Returns `true` if this generation has the event.
    #[inline]
    pub fn exists(self, level: GfxLevel) -> bool {
        KNOWN.get(level as usize).is_some_and(|events| events >> (self.number() & 63) & 1 != 0)
    }

    /// Returns `true` if the event stores counters at an address.
    #[inline]
    pub fn samples(self, level: GfxLevel) -> bool {
        matches!(
            self.index(level),
            EventIndex::ZPASS_OR_PIXEL_PIPE_STAT | EventIndex::SAMPLE_PIPELINESTAT | EventIndex::SAMPLE_STREAMOUTSTATS
        )
    }

    /// Returns the event index, which tells the command processor the kind of event.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `EVENT_INDEX`.
    #[inline]
    fn index(self, level: GfxLevel) -> EventIndex {
        match self {
            Self::ZPASS_DONE if level < GfxLevel::Gfx11 => EventIndex::ZPASS_OR_PIXEL_PIPE_STAT,
            Self::PIXEL_PIPE_STAT_DUMP | Self::PIXEL_PIPE_STAT_CONTROL => EventIndex::ZPASS_OR_PIXEL_PIPE_STAT,
            Self::SAMPLE_PIPELINESTAT => EventIndex::SAMPLE_PIPELINESTAT,
            Self::SAMPLE_STREAMOUTSTATS
            | Self::SAMPLE_STREAMOUTSTATS1
            | Self::SAMPLE_STREAMOUTSTATS2
            | Self::SAMPLE_STREAMOUTSTATS3 => EventIndex::SAMPLE_STREAMOUTSTATS,
            Self::CS_PARTIAL_FLUSH | Self::VS_PARTIAL_FLUSH | Self::PS_PARTIAL_FLUSH => EventIndex::PARTIAL_FLUSH,
            _ => EventIndex::OTHER,
        }
    }
}

/// EVENT_WRITE, opcode 0x46: triggers an event in the pipeline. Sampling events store their counters at an address.
///
/// | dword | bits | field       | meaning                                                               |
/// |-------|------|-------------|-----------------------------------------------------------------------|
/// | 1     | 5:0  | event_type  | see [`Event`]                                                         |
/// | 1     | 11:8 | event_index | 1 sample counts, 2 pipeline and 3 stream-out statistics, 4 flushes, 0 |
/// | 2, 3  |      | address     | with index 1 to 3 only; a multiple of 8                               |
///
/// [`Event::PIXEL_PIPE_STAT_CONTROL`], whose two dwords are not an address, is not supported.
///
/// Source: Mesa 25.0.7 `src/amd/common/sid.h`, `PKT3_EVENT_WRITE`; `src/amd/vulkan/radv_query.c`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventWrite {
    /// The event to trigger.
    pub event: Event,
    /// The destination address, for events that [sample](Event::samples); `None` for all other events.
    pub at: Option<GpuVa>,
}

impl EventWrite {
    /// Creates an event that stores nothing.
    #[inline]
    pub const fn new(event: Event) -> Self {
        Self { event, at: None }
    }

    /// Creates an event that stores its counters at `va`, a multiple of 8.
    #[inline]
    pub const fn sample(event: Event, va: GpuVa) -> Self {
        Self { event, at: Some(va) }
    }
}

impl EventWrite {
    #[inline(always)]
    fn record(self, level: GfxLevel, samples: bool) -> Result<records::EventWrite, FieldError> {
        let value = self.event.number();
        require(self.event.exists(level), FieldError::Unknown { field: "event_type", value })?;
        require_form(self.event != Event::PIXEL_PIPE_STAT_CONTROL, "a counter setup")?;
        let form = if samples { "an address for this event" } else { "this event without an address" };
        require_form(self.event.samples(level) == samples, form)?;
        Ok(records::EventWrite {
            event_type: self.event,
            event_index: self.event.index(level),
            ..records::EventWrite::default()
        })
    }

    #[inline(always)]
    fn sample_at(self, level: GfxLevel, va: GpuVa) -> Result<EventWriteSample, FieldError> {
        let addr = reach("addr", va, level)?;
        Ok(EventWriteSample(records::EventWrite { addr, ..self.record(level, true)? }))
    }

    /// Converts the fields of the packet.
    #[inline]
    pub(in crate::pm4) fn read(record: &records::EventWrite, level: GfxLevel) -> Result<Self, FieldError> {
        let event = record.event_type;
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

/// A mask of the events of each generation, by event number.
const KNOWN: [u64; GfxLevel::ALL.len()] = {
    let mut known = [0; GfxLevel::ALL.len()];
    let mut at = 0;
    while at < EVENT_TYPE.len() {
        let mut level = 0;
        while level < known.len() {
            if EVENT_TYPE[at].is_on(GfxLevel::ALL[level]) {
                known[level] |= 1 << EVENT_TYPE[at].value();
            }
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
                let names = EVENT_TYPE.iter().filter(|choice| choice.value() == number && choice.is_on(level));
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
        assert_eq!(Event::CS_PARTIAL_FLUSH.name(GfxLevel::Gfx12), Some("cs_partial_flush"));
        assert_eq!(Event::ZPASS_DONE.name(GfxLevel::Gfx10_3), Some("zpass_done"));
        assert_eq!(Event::ZPASS_DONE.name(GfxLevel::Gfx11), Some("wait_sync"));
        assert_eq!(Event::PIXEL_PIPE_STAT_DUMP.name(GfxLevel::Gfx11), Some("pixel_pipe_stat_dump"));
        assert_eq!(Event::new(0).name(GfxLevel::Gfx9), None);
    }
}
