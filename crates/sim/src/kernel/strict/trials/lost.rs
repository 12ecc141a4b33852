//! The effects that a stream can lose.

use std::fmt;

use amdgpu_hw::GfxLevel;

use crate::{
    gpu::{CacheOperation, FrontCaches, Signal, TargetCaches},
    kernel::strict::{
        access::{AsIf, Instead},
        packets::{At, Deed, Hazard},
        world::World,
    },
};

/// The effect that a stream loses in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::kernel::strict) enum Lost {
    /// The invalidation of a cache in front of L2, a bit of [`FrontCaches`].
    Front(u8),
    WriteBackL2,
    InvalidateL2,
    /// The engine bit with which PFP waits for a cache operation.
    PfpWait,
    /// The flush of a cache of targets, a bit of [`TargetCaches`].
    Targets(u8),
    /// A whole cache operation.
    Operation,
    PfpSync,
    ShadersDone,
    DrawsDone,
    Wait,
    DmaSync,
    RawWait,
    SampleCounts,
    FirstEvent,
    /// The work for which an event with a store waits.
    Ended,
    /// The wait of a packet until its writes have landed.
    Confirmation,
    /// The engine PFP of a packet.
    Engine,
    /// The cache policy that bypasses L2.
    Policy,
    /// The scope of loads of a dispatch.
    Scope,
}

impl Lost {
    /// Returns what accesses are like without it, if it is a property of theirs.
    pub(super) const fn instead(self) -> Option<Instead> {
        match self {
            Self::Confirmation => Some(Instead::Posted),
            Self::Engine => Some(Instead::MicroEngine),
            Self::Policy => Some(Instead::ThroughL2),
            Self::Scope => Some(Instead::Near),
            _ => None,
        }
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Front(1) => "the invalidation of vector caches",
            Self::Front(2) => "the invalidation of scalar caches",
            Self::Front(4) => "the invalidation of instruction caches",
            Self::Front(8) => "the invalidation of GL1",
            Self::Front(_) => "the invalidation of the cache of metadata",
            Self::WriteBackL2 => "the write-back of L2",
            Self::InvalidateL2 => "the invalidation of L2",
            Self::PfpWait => "the engine bit of the cache operation",
            Self::Targets(1) => "the flush of colour targets",
            Self::Targets(2) => "the flush of metadata of colour targets",
            Self::Targets(4) => "the flush of depth targets",
            Self::Targets(_) => "the flush of metadata of depth targets",
            Self::Operation => "the cache operation",
            Self::PfpSync => "PFP_SYNC_ME",
            Self::ShadersDone => "CS_PARTIAL_FLUSH",
            Self::DrawsDone => "PS_PARTIAL_FLUSH or VS_PARTIAL_FLUSH",
            Self::Wait => "the wait for memory",
            Self::DmaSync => "the wait for DMA",
            Self::RawWait => "raw_wait",
            Self::SampleCounts => "ZPASS_DONE",
            Self::FirstEvent => "one of two events",
            Self::Ended => "the event type",
            Self::Confirmation => "WR_CONFIRM",
            Self::Engine => "the engine PFP",
            Self::Policy => "the cache policy",
            Self::Scope => "the scope of loads",
        })
    }
}

/// Returns what a stream can lose of what a packet does.
pub(super) fn possible(deed: Deed, at: &At, world: &mut World) -> Vec<Lost> {
    let Some(job) = world.job(at.job) else { return Vec::new() };
    let one = |lost: Lost, is_there: bool| if is_there { vec![lost] } else { Vec::new() };
    match deed {
        Deed::Operation(operation) => of_operation(operation, at.is_gfx()),
        Deed::Signal(signal) => match signal {
            Signal::PfpSync => one(Lost::PfpSync, at.is_gfx()),
            Signal::ShadersDone => one(Lost::ShadersDone, true),
            Signal::DrawsDone => one(Lost::DrawsDone, true),
            Signal::Waited { .. } | Signal::Counted { .. } => one(Lost::Wait, job.rules.waited(signal).is_some()),
            Signal::DmaSync => one(Lost::DmaSync, job.order.has_dma),
            Signal::Dma { waits_for_writes } => one(Lost::RawWait, waits_for_writes && job.order.has_dma),
            Signal::SampleCounts => one(Lost::SampleCounts, at.is_gfx() && at.level == GfxLevel::Gfx9),
            Signal::EndOfPipe => {
                let is_twice = at.level == GfxLevel::Gfx7 || at.level == GfxLevel::Gfx8;
                one(Lost::FirstEvent, at.is_gfx() && is_twice)
            }
            Signal::ByPfp => one(Lost::Engine, at.is_gfx()),
            Signal::Confirmed => vec![Lost::Confirmation],
            Signal::Bypass { .. } => vec![Lost::Policy],
            Signal::Unconfirmed | Signal::Stored { .. } | Signal::Work => Vec::new(),
        },
        Deed::Packet | Deed::End => Vec::new(),
    }
}

fn of_operation(operation: CacheOperation, is_gfx: bool) -> Vec<Lost> {
    let mut parts: Vec<_> = operation.fronts.iter().map(|front| Lost::Front(front.bits())).collect();
    parts.extend(operation.write_back_l2.then_some(Lost::WriteBackL2));
    parts.extend(operation.invalidate_l2.then_some(Lost::InvalidateL2));
    parts.extend(operation.flush_targets.iter().map(|cache| Lost::Targets(cache.bits())));
    parts.extend((operation.holds_pfp && is_gfx).then_some(Lost::PfpWait));
    if parts.len() > 1 {
        parts.push(Lost::Operation);
    }
    parts
}

impl World {
    /// Does what is left of what a packet does.
    pub(in crate::kernel::strict) fn act_without(&mut self, lost: Lost, deed: Deed, at: &At) -> Vec<Hazard> {
        if let Some(instead) = lost.instead() {
            self.as_if = Some(AsIf { time: at.now, job: at.job, instead });
            return self.act(deed, at);
        }
        let left = match (lost, deed) {
            (Lost::Front(bits), Deed::Operation(operation)) => {
                let fronts = operation.fronts - FrontCaches::from_bits_truncate(bits);
                Some(Deed::Operation(CacheOperation { fronts, ..operation }))
            }
            (Lost::Targets(bits), Deed::Operation(operation)) => {
                let flush_targets = operation.flush_targets - TargetCaches::from_bits_truncate(bits);
                Some(Deed::Operation(CacheOperation { flush_targets, ..operation }))
            }
            (Lost::WriteBackL2, Deed::Operation(operation)) => {
                Some(Deed::Operation(CacheOperation { write_back_l2: false, ..operation }))
            }
            (Lost::InvalidateL2, Deed::Operation(operation)) => {
                Some(Deed::Operation(CacheOperation { invalidate_l2: false, ..operation }))
            }
            (Lost::PfpWait, Deed::Operation(operation)) => {
                Some(Deed::Operation(CacheOperation { holds_pfp: false, ..operation }))
            }
            (Lost::RawWait, _) => Some(Deed::Signal(Signal::Dma { waits_for_writes: false })),
            _ => None,
        };
        if let Some(left) = left {
            return self.act(left, at);
        }
        // The packet is not there at all if this is all that it does.
        let stays = at.place.is_none_or(|place| {
            ["RELEASE_MEM", "EVENT_WRITE_EOP", "DMA_DATA", "CP_DMA"].iter().any(|name| place.packet.starts_with(name))
        });
        if let Some(job) = self.job(at.job)
            && (!stays || lost == Lost::FirstEvent)
        {
            job.rules.packets = job.rules.packets.saturating_sub(1);
        }
        Vec::new()
    }
}
