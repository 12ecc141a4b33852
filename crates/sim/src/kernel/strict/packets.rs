//! The rules about packets, and what packets do to caches and to the order of accesses.

use amdgpu_hw::GfxLevel;
use amdgpu_packets::{Target, pm4::Ring};

use super::{
    access::{Moment, Order},
    event::{Agent, Time},
    report::HazardKind,
    rules::{Store, Values},
    text,
    world::{RunningJob, World},
};
use crate::gpu::{CacheOperation, Ended, Place, Signal};

/// A packet that does something.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) job: u64,
    /// The number of the job's submission.
    pub(super) submission: u64,
    pub(super) place: Option<Place>,
    pub(super) target: Target,
    pub(super) level: GfxLevel,
    pub(super) now: Time,
    /// The values of the packet's store, if it has one.
    pub(super) values: Option<Values>,
}

/// An effect of a packet besides its accesses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Deed {
    /// Comes after another packet.
    Packet,
    Signal(Signal),
    Operation(CacheOperation),
    /// Is the last one of the job.
    End,
}

/// A hazard of a packet.
#[derive(Clone, Debug)]
pub(super) struct Hazard {
    pub(super) kind: HazardKind,
    pub(super) earlier: String,
    pub(super) later: String,
    pub(super) missing: String,
}

impl At {
    /// Returns `true` for a ring with a prefetch parser.
    pub(super) fn is_gfx(&self) -> bool {
        matches!(self.target, Target::Pm4(target) if target.ring == Ring::Gfx)
    }

    /// Returns `true` for packets whose operations are executed when everything before them is over.
    pub(super) fn is_at_the_end_of_the_pipe(&self) -> bool {
        self.place.is_some_and(|place| matches!(place.packet, "RELEASE_MEM" | "EVENT_WRITE_EOP"))
    }

    fn hazard(&self, kind: HazardKind, earlier: Option<Place>, missing: &str) -> Option<Hazard> {
        let earlier = earlier.map(|place| text::packet(&place, self.submission, Agent::Engine)).unwrap_or_default();
        let later = text::packet(&self.place?, self.submission, Agent::Engine);
        Some(Hazard { kind, earlier, later, missing: missing.to_owned() })
    }
}

impl World {
    /// Does what a packet does, and returns its hazards.
    pub(super) fn act(&mut self, deed: Deed, at: &At) -> Vec<Hazard> {
        match deed {
            Deed::Operation(operation) => self.operate(operation, at),
            Deed::Packet => self.with(at, |job| job.packet(at)),
            Deed::Signal(signal) => {
                self.catch_up(deed, at);
                self.with(at, |job| job.signal(signal, at))
            }
            Deed::End => {
                self.catch_up(deed, at);
                let mut hazards = self.with(at, |job| job.end(at));
                hazards.extend(self.job(at.job).and_then(|job| job.check_written(at)));
                hazards
            }
        }
    }

    /// Executes the operations at the end of the pipe for which a packet has waited: those of its job, and those of another ring's job
    /// that stores at the address.
    fn catch_up(&mut self, deed: Deed, at: &At) {
        let mut due = Vec::new();
        for job in &mut self.jobs {
            let until = match deed {
                Deed::End if job.order.job == at.job => Some(Time::MAX),
                Deed::Signal(signal @ Signal::Waited { .. }) => job.rules.waited(signal).map(|(time, _)| time),
                Deed::Signal(signal @ Signal::Counted { .. }) if job.order.job == at.job => {
                    job.rules.waited(signal).map(|(time, _)| time)
                }
                _ => None,
            };
            due.extend(until.map(|until| job.rules.due(until)).unwrap_or_default());
        }
        for (origin, operation) in &due {
            // What was started after the event and before the wait may run.
            let order = self.order(at.job);
            let over = |time: Time| time.max(*origin);
            let order = Order { shaders: over(order.shaders), draws: over(order.draws), ..order };
            let moment = if deed == Deed::End { Moment::quiet(at.now) } else { Moment::within(at.now, &order) };
            self.execute(*operation, moment, at);
        }
        self.caught_up = due;
    }

    /// Returns the event of the store that a wait has seen; `None` for all else.
    pub(super) fn seen(&mut self, deed: Deed, at: &At) -> Option<Time> {
        let Deed::Signal(signal) = deed else { return None };
        self.job(at.job)?.rules.waited(signal).map(|(time, _)| time)
    }

    fn with(&mut self, at: &At, act: impl FnOnce(&mut RunningJob) -> Vec<Hazard>) -> Vec<Hazard> {
        self.job(at.job).map(act).unwrap_or_default()
    }

    fn operate(&mut self, operation: CacheOperation, at: &At) -> Vec<Hazard> {
        let mut hazards = Vec::new();
        if let Some(misuse) = operation.misuse {
            hazards.extend(at.hazard(HazardKind::Submission, None, &format!("a valid combination: {misuse}")));
        }
        let Some(job) = self.job(at.job) else { return hazards };
        // radeonsi lets PFP wait afterwards on GFX7, and both are known to work.
        let may_be_early = at.is_gfx() && operation.by_pfp && at.level != GfxLevel::Gfx7;
        if let (true, Some(work)) = (may_be_early, job.rules.started) {
            let missing = "PFP_SYNC_ME before: PFP executes the operation before this work has ended \
                           (radv_cs_emit_cache_flush)";
            hazards.extend(at.hazard(HazardKind::EarlyOperation, Some(work), missing));
        }
        if operation.holds_pfp {
            job.order.pfp = at.now;
        }
        if at.is_at_the_end_of_the_pipe() {
            job.rules.pending.push((at.now, operation));
            return hazards;
        }
        // Up to GFX8 the operation waits for draws, if it is about what they write.
        if at.level < GfxLevel::Gfx9 && at.place.is_none_or(|place| place.packet != "EVENT_WRITE") {
            job.order.draws = at.now;
        }
        let moment = Moment::within(at.now, &job.order);
        self.execute(operation, moment, at);
        hazards
    }

    fn execute(&mut self, operation: CacheOperation, moment: Moment, at: &At) {
        let CacheOperation { fronts, write_back_l2, invalidate_l2, flush_targets, .. } = operation;
        self.model.operate(moment, fronts, write_back_l2, invalidate_l2);
        self.model.flush_targets(moment.time, flush_targets);
        if let Some(job) = self.job(at.job).filter(|_| write_back_l2) {
            job.rules.written.take_if(|(time, agent, _)| moment.has_waited_for(*time, *agent));
        }
    }
}

impl RunningJob {
    fn packet(&mut self, at: &At) -> Vec<Hazard> {
        self.end_packet();
        self.rules.packets += 1;
        let is_late = self.rules.ended.is_some_and(|(number, _)| number + 1 < self.rules.packets);
        if is_late { self.check_pair(at).into_iter().collect() } else { Vec::new() }
    }

    /// Ends the packet before the next one.
    fn end_packet(&mut self) {
        if let Some(now) = self.rules.synced.take() {
            self.rules.open_dma = None;
            self.order.dma = now;
        }
    }

    /// Reports an event at the end of the pipe that should have been the first of two, or the second.
    fn check_pair(&mut self, at: &At) -> Option<Hazard> {
        let (_, place) = self.rules.ended.take()?;
        let is_twice = at.level == GfxLevel::Gfx7 || at.level == GfxLevel::Gfx8;
        let missing = "a second event directly before or after: the first may store before the caches are flushed \
                       (radv_cs_emit_write_event_eop)";
        let at = At { place: Some(place), ..*at };
        if is_twice { at.hazard(HazardKind::Submission, None, missing) } else { None }
    }

    /// Checks what a job leaves behind.
    fn end(&mut self, at: &At) -> Vec<Hazard> {
        let mut hazards: Vec<_> = self.check_pair(at).into_iter().collect();
        self.end_packet();
        if let Some(place) = self.rules.open_dma.filter(|_| self.order.has_dma && at.is_gfx()) {
            let missing = "a CP DMA with cp_sync at the end: the kernel's fence does not wait for DMA \
                           (radv_cp_dma_wait_for_idle)"
                .to_owned();
            let later = text::packet(&place, at.submission, Agent::Dma);
            hazards.push(Hazard { kind: HazardKind::Race, earlier: String::new(), later, missing });
        }
        hazards
    }

    /// Checks that a job of GFX6 writes back what its shaders have stored: the kernel's flush at the end comes while they run, unless PFP
    /// has waited for them.
    ///
    /// Source: Linux 6.12 `gfx_v6_0.c`, `gfx_v6_0_ring_emit_fence`, where SURFACE_SYNC is executed by PFP; Mesa 25.0.7
    /// `src/gallium/drivers/radeonsi/si_gfx_cs.c`, `si_flush_gfx_cs`, which only waits.
    fn check_written(&self, at: &At) -> Option<Hazard> {
        let (stored, agent, place) = self.rules.written.filter(|_| at.level == GfxLevel::Gfx6)?;
        let over = if agent == Agent::Draw { self.order.draws } else { self.order.shaders };
        if at.is_gfx() && stored <= over && over <= self.order.pfp {
            return None;
        }
        let earlier = text::packet(&place, at.submission, agent);
        let later = text::packet(&Place { packet: "the end of the job", ..at.place? }, at.submission, Agent::Engine);
        let missing = "a flush of shaders, PFP_SYNC_ME and a write-back of L2 at the end of the job: those of the kernel come before \
                       shaders end (radv_create_flush_postamble)";
        Some(Hazard { kind: HazardKind::NotWrittenBack, earlier, later, missing: missing.to_owned() })
    }

    fn signal(&mut self, signal: Signal, at: &At) -> Vec<Hazard> {
        let Self { order, rules } = self;
        match signal {
            Signal::PfpSync => {
                rules.started = None;
                order.pfp = at.now;
            }
            Signal::Work => rules.started = at.place,
            Signal::ShadersDone => order.shaders = at.now,
            Signal::DrawsDone => order.draws = at.now,
            // The wait is for a number that something at the end of the pipe stores.
            Signal::Waited { .. } | Signal::Counted { .. } => {
                let found = rules.waited(signal);
                if let Some((seen, ended)) = found {
                    if let Signal::Waited { va, .. } = signal {
                        rules.forget(va, seen);
                    }
                    if ended != Ended::Draws {
                        order.shaders = order.shaders.max(seen);
                    }
                    if ended != Ended::Dispatches {
                        order.draws = order.draws.max(seen);
                    }
                    order.posted = order.posted.max(seen);
                }
                // PFP has waited for ME to come as far as what it has seen. Other values come from other rings.
                match signal {
                    Signal::Waited { by_pfp: true, .. } => {
                        order.pfp = order.pfp.max(found.map_or(at.now, |(seen, _)| seen));
                    }
                    Signal::Counted { .. } if found.is_some() => order.pfp = at.now,
                    _ => {}
                }
            }
            Signal::Dma { waits_for_writes } => order.waits_for_dma = waits_for_writes,
            Signal::DmaSync if matches!(at.target, Target::Sdma(_)) => order.dma = at.now,
            Signal::DmaSync => rules.synced = Some(at.now),
            Signal::Stored { va, ended } => rules.store(Store { va, time: at.now, ended, values: at.values }),
            Signal::SampleCounts => rules.sampled = Some(rules.packets),
            Signal::EndOfPipe if at.is_gfx() && at.level == GfxLevel::Gfx9 => {
                if rules.sampled != rules.packets.checked_sub(1) {
                    let missing = "ZPASS_DONE with an address directly before: the event may hang the chip \
                                   (radv_cs_emit_write_event_eop)";
                    return at.hazard(HazardKind::Submission, None, missing).into_iter().collect();
                }
            }
            Signal::EndOfPipe if at.is_gfx() => match rules.ended {
                Some((number, _)) if number + 1 == rules.packets => rules.ended = None,
                _ => rules.ended = at.place.map(|place| (rules.packets, place)),
            },
            Signal::EndOfPipe | Signal::ByPfp | Signal::Unconfirmed | Signal::Confirmed | Signal::Bypass { .. } => {}
        }
        Vec::new()
    }
}
