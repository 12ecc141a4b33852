//! The ways in which a stream can get an effect wrong.

use std::fmt;

use super::lost::Lost;
use crate::{
    gpu::{Ended, Signal, WaitCondition},
    kernel::strict::{
        access::Order,
        event::Time,
        packets::{At, Deed, Hazard},
        world::World,
    },
};
use amdgpu_hw::GfxLevel;
use amdgpu_packets::pm4::Compare;

/// The way in which a stream gets an effect wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernel::strict) enum How {
    /// The effect is missing.
    Without,
    /// The packet says this instead.
    Changed(&'static str),
    /// The packet comes before the one before it.
    Early,
    /// The packet comes after the one behind it.
    Late,
}

impl fmt::Display for How {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Without => Ok(()),
            Self::Changed(what) => write!(f, " ({what})"),
            Self::Early => f.write_str(" (before the packet before it)"),
            Self::Late => f.write_str(" (after the packet behind it)"),
        }
    }
}

/// A change of what a packet does: what is lost, how, and what the packet does then; `None` for what is executed elsewhere.
pub(in crate::kernel::strict) type Change = (Lost, How, Option<Deed>);

/// The circumstances in which a packet starts.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Start {
    /// The last event before it.
    pub(super) since: Time,
    pub(super) order: Order,
}

/// Returns how else a packet can be wrong than by its absence.
pub(super) fn changes(deed: Deed, at: &At, world: &mut World) -> Vec<Change> {
    let Some(job) = world.job(at.job) else { return Vec::new() };
    let signal = |lost, what, signal| (lost, How::Changed(what), Some(Deed::Signal(signal)));
    let mut all = Vec::new();
    match deed {
        Deed::Signal(Signal::ShadersDone) => {
            all.push(signal(Lost::ShadersDone, "PS_PARTIAL_FLUSH in its place", Signal::DrawsDone));
        }
        Deed::Signal(Signal::DrawsDone) if at.is_gfx() => {
            all.push(signal(Lost::DrawsDone, "CS_PARTIAL_FLUSH in its place", Signal::ShadersDone));
        }
        Deed::Signal(Signal::Counted { counter, outstanding }) => {
            let weaker = Signal::Counted { counter, outstanding: outstanding + 1 };
            let has_event = job.rules.counted(counter, outstanding).is_some();
            all.extend(has_event.then(|| signal(Lost::Wait, "its count is too large", weaker)));
        }
        Deed::Signal(Signal::Waited { va, by_pfp, condition }) => {
            let seen = job.rules.seen(va, condition);
            let mut weaker = |what, condition: WaitCondition| {
                // Another condition that waits for the same store is as good.
                if seen.is_some() && job.rules.seen(va, condition) != seen {
                    let waited = Signal::Waited { va, by_pfp, condition };
                    all.push(signal(Lost::Wait, what, waited));
                }
            };
            weaker("always met", WaitCondition { compare: Compare::Always, ..condition });
            if matches!(condition.compare, Compare::GreaterOrEqual | Compare::Greater) && condition.reference > 0 {
                weaker("its reference is too low", WaitCondition { reference: condition.reference - 1, ..condition });
            }
            if condition.compare == Compare::Equal {
                weaker("its mask is 0", WaitCondition { mask: 0, reference: 0, ..condition });
            }
            if by_pfp && at.is_gfx() {
                let waited = Signal::Waited { va, by_pfp: false, condition };
                all.push(signal(Lost::PfpWait, "ME waits in place of PFP", waited));
            }
        }
        Deed::Signal(Signal::Stored { va, ended: Ended::All }) if at.level >= GfxLevel::Gfx7 => {
            let stored = Signal::Stored { va, ended: Ended::Draws };
            all.push(signal(Lost::Ended, "PS_DONE in its place", stored));
        }
        Deed::Operation(operation) => {
            let has_engine = at.place.is_some_and(|place| matches!(place.packet, "ACQUIRE_MEM" | "SURFACE_SYNC"));
            if has_engine && at.is_gfx() && at.level < GfxLevel::Gfx10 && !operation.by_pfp {
                let by_pfp = crate::gpu::CacheOperation { by_pfp: true, ..operation };
                let change = How::Changed("PFP executes it in place of ME");
                all.push((Lost::PfpWait, change, Some(Deed::Operation(by_pfp))));
            }
            let has_bit = matches!(at.level, GfxLevel::Gfx8 | GfxLevel::Gfx9) && !at.is_at_the_end_of_the_pipe();
            if has_bit && operation.write_back_l2 && !operation.invalidate_l2 {
                let misuse = Some(crate::gpu::CacheMisuse::WriteBackAlone);
                let without = crate::gpu::CacheOperation { write_back_l2: false, misuse, ..operation };
                all.push((Lost::WriteBackL2, How::Changed("without TC_NC"), Some(Deed::Operation(without))));
            }
        }
        _ => {}
    }
    all
}

/// Returns `true` if a packet that does this can change places with others.
pub(super) fn moves(deed: Deed, at: &At, world: &mut World) -> Option<Lost> {
    let job = world.job(at.job)?;
    match deed {
        Deed::Operation(_) if !at.is_at_the_end_of_the_pipe() => Some(Lost::Operation),
        Deed::Signal(Signal::PfpSync) => at.is_gfx().then_some(Lost::PfpSync),
        Deed::Signal(Signal::ShadersDone) => Some(Lost::ShadersDone),
        Deed::Signal(Signal::DrawsDone) => Some(Lost::DrawsDone),
        Deed::Signal(signal @ Signal::Waited { .. }) => job.rules.waited(signal).map(|_| Lost::Wait),
        _ => None,
    }
}

impl World {
    /// Does what a packet does as if it came before the packet before it, which began at `start`.
    pub(super) fn act_early(&mut self, deed: Deed, at: &At, start: &Start) -> Vec<Hazard> {
        let Some(job) = self.job(at.job) else { return Vec::new() };
        let (now, started) = (job.order, job.rules.started);
        job.order = start.order;
        let hazards = self.act(deed, &At { now: start.since, ..*at });
        if let Some(job) = self.job(at.job) {
            job.order = now.after(&job.order);
            // The packet before may have started work, which it does not wait for.
            job.rules.started = started;
        }
        hazards
    }
}
