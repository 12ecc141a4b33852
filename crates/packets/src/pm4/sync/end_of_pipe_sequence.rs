//! End-of-pipe events with the packets that their generation needs in addition.

use super::end_of_pipe::{EndOfPipe, EopEvent, EopStore};
use super::event_write::{Event, EventWrite};
use crate::pm4::target::{Ring, Target};
use crate::{EncodeError, Packet};
use amdgpu_hw::{GfxLevel, GpuVa};

/// An [`EndOfPipe`] with the additional packets that its ring needs. All are in one IB, without other packets between them.
///
/// | ring                      | packets                                                                                   |
/// |---------------------------|-------------------------------------------------------------------------------------------|
/// | graphics, GFX7 and GFX8   | the event twice. The first one may store before earlier work is complete, so it stores to `scratch`, where nobody waits for it. An event at the end of shaders is recorded once |
/// | graphics, GFX9            | ZPASS_DONE, with which each render backend stores its sample count to `scratch`, directly before the event. Without it the event may hang the chip |
/// | others                    | the event alone                                                                           |
///
/// ```
/// use amdgpu_packets::{Packet, pm4};
/// use amdgpu_hw::{GfxLevel, GpuVa};
///
/// let (at, scratch) = (GpuVa::new(0x8000_1000)?, GpuVa::new(0x8000_2000)?);
/// let fence = pm4::EndOfPipeSequence { event: pm4::EndOfPipe::fence(at, 7), scratch };
/// let target = pm4::Target::gfx(GfxLevel::Gfx9);
/// let mut ib = [0; pm4::EndOfPipeSequence::MOST_DWORDS];
/// let len = fence.encode(target, &mut ib)?;
/// let names: Vec<_> = pm4::decode(&ib[..len], target).map(|read| read.map(|read| read.command)).collect::<Result<_, _>>()?;
/// assert_eq!(names[0], pm4::EventWrite::sample(pm4::Event::ZPASS_DONE, scratch).into());
/// assert_eq!(names[1], fence.event.into());
/// assert!(!pm4::EndOfPipeSequence::needs_scratch(pm4::Target::compute(GfxLevel::Gfx9)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_write_event_eop`, and
/// `src/gallium/drivers/radeonsi/si_cp_utils.c`, `si_cp_release_mem`, for the address of the first event; Linux 6.12 `gfx_v7_0.c`,
/// `gfx_v7_0_ring_emit_fence_gfx`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EndOfPipeSequence {
    /// The event.
    pub event: EndOfPipe,
    /// The address of [`SCRATCH_BYTES`](Self::SCRATCH_BYTES) that nothing reads, a multiple of 16. Unused on rings that
    /// [need no scratch memory](Self::needs_scratch).
    pub scratch: GpuVa,
}

impl EndOfPipeSequence {
    /// The size of the scratch memory in bytes: 16 for each of up to 16 render backends.
    pub const SCRATCH_BYTES: u64 = 256;

    /// The maximum length of the packets in dwords.
    pub const MOST_DWORDS: usize = 16;

    /// Returns `true` if the additional packets of a ring store to scratch memory.
    #[inline]
    pub const fn needs_scratch(target: Target) -> bool {
        matches!(target.ring, Ring::Gfx) && matches!(target.level, GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9)
    }

    /// Returns the ZPASS_DONE event or the first of two events that the ring needs, if any.
    fn before(self, target: Target) -> (Option<EventWrite>, Option<EndOfPipe>) {
        let Self { event, scratch: va } = self;
        if !Self::needs_scratch(target) {
            return (None, None);
        }
        if target.level == GfxLevel::Gfx9 {
            return (Some(EventWrite::sample(Event::ZPASS_DONE, va)), None);
        }
        if matches!(event.event, EopEvent::ComputeDone | EopEvent::PixelDone) {
            return (None, None);
        }
        let store = match event.store {
            EopStore::Nothing => EopStore::Nothing,
            EopStore::Dword { value, .. } => EopStore::Dword { va, value },
            EopStore::Qword { value, .. } => EopStore::Qword { va, value },
            EopStore::GpuClock { .. } => EopStore::GpuClock { va },
            EopStore::SystemClock { .. } => EopStore::SystemClock { va },
        };
        (None, Some(EndOfPipe { store, ..event }))
    }
}

impl Packet for EndOfPipeSequence {
    type Language = Target;
    const NAME: &'static str = EndOfPipe::NAME;

    fn len_dwords(&self, target: Target) -> Result<usize, EncodeError> {
        let (samples, first) = self.before(target);
        let samples = samples.map_or(Ok(0), |samples| samples.len_dwords(target))?;
        let first = first.map_or(Ok(0), |first| first.len_dwords(target))?;
        Ok(samples + first + self.event.len_dwords(target)?)
    }

    fn encode(&self, target: Target, out: &mut [u32]) -> Result<usize, EncodeError> {
        let (needed, left) = (self.len_dwords(target)?, out.len());
        if needed > left {
            return Err(EncodeError::NoRoom { packet: Self::NAME, needed, left });
        }
        let (samples, first) = self.before(target);
        let mut len = 0;
        if let Some(samples) = samples {
            len += samples.encode(target, out)?;
        }
        if let Some(first) = first {
            len += first.encode(target, out.get_mut(len..).unwrap_or_default())?;
        }
        len += self.event.encode(target, out.get_mut(len..).unwrap_or_default())?;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pm4::{Command, decode};

    fn commands(event: EndOfPipe, target: Target) -> Vec<Command<'static>> {
        let sequence = EndOfPipeSequence { event, scratch: GpuVa::new(0x9000).unwrap() };
        let mut ib = [0; EndOfPipeSequence::MOST_DWORDS];
        let len = sequence.encode(target, &mut ib).unwrap();
        assert_eq!(sequence.len_dwords(target), Ok(len), "{target}");
        for left in 0..len {
            let error = sequence.encode(target, &mut [0; EndOfPipeSequence::MOST_DWORDS][..left]).unwrap_err();
            assert_eq!(error, EncodeError::NoRoom { packet: "RELEASE_MEM", needed: len, left }, "{target}");
        }
        let ib: &'static [u32] = Vec::leak(ib[..len].to_vec());
        decode(ib, target).map(|read| read.unwrap().command).collect()
    }

    #[test]
    fn the_value_is_stored_once_and_by_the_last_packet() {
        let (at, scratch) = (GpuVa::new(0x1000).unwrap(), GpuVa::new(0x9000).unwrap());
        let fence = EndOfPipe::fence(at, 7);
        let first = EndOfPipe { store: EopStore::Dword { va: scratch, value: 7 }, ..fence };
        for target in Target::all() {
            let is_gfx = target.ring == Ring::Gfx;
            let before: Vec<Command<'_>> = match target.level {
                GfxLevel::Gfx7 | GfxLevel::Gfx8 if is_gfx => vec![first.into()],
                GfxLevel::Gfx9 if is_gfx => vec![EventWrite::sample(Event::ZPASS_DONE, scratch).into()],
                _ => vec![],
            };
            assert_eq!(EndOfPipeSequence::needs_scratch(target), !before.is_empty(), "{target}");
            assert_eq!(commands(fence, target), [before, vec![fence.into()]].concat(), "{target}");
        }
    }

    #[test]
    fn the_end_of_shaders_is_recorded_once() {
        let event =
            EndOfPipe::new(EopEvent::ComputeDone, EopStore::Dword { va: GpuVa::new(0x1000).unwrap(), value: 7 });
        for level in [GfxLevel::Gfx7, GfxLevel::Gfx8] {
            assert_eq!(commands(event, Target::gfx(level)), [event.into()], "{level}");
        }
    }
}
