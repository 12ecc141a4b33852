//! The strict mode: a model of the caches, which reports what a command stream forgot and the simulated memory hides.
//!
//! Everything that the simulated GPU does is visible to everybody at once. With
//! [`Strictness::Report`](crate::Strictness::Report), jobs run as before, but each access goes through [`Checked`], which asks a
//! model of the caches what a real chip would have found. The model knows which accesses go through L2 on each generation, and follows the
//! cache operations of packets and those of the kernel around a job. A report names both accesses and what is missing between them.
//!
//! With [`Strictness::Bite`](crate::Strictness::Bite), reads also give the bytes that the caches hold.
//!
//! Where sources differ or say nothing, the model takes the side of the stream, so that a report is a mistake:
//!
//! * commands are never fetched through old copies, because drivers reuse the memory of IBs without an invalidation;
//! * the copy engines of GFX10 to GFX11.5 find what is dirty in L2, and leave no old copies there;
//! * WRITE_DATA and end-of-pipe stores of GFX9 go through L2, like the command processor's reads;
//! * from GFX10 on, the caches in front of L2 are invalidated where a job starts, on which radeonsi relies;
//! * an operation on a range of addresses is one on everything;
//! * CP DMA of GFX6 and of MEC is in order with packets, because RADV does not wait for it there;
//! * a job overlaps with the dispatches and draws of the one before it on its ring, but not with other work of it, and its cache
//!   operations act on them;
//! * what has ended is over for all that the CPU submits after it has waited for anything, see [`RetiredJobs`];
//! * the end of a job flushes the caches of metadata with those of colour and depth;
//! * a wait for vertex shaders is taken for one for the whole draw, and draws are in order among themselves;
//! * the registers of arguments that no wave reads may be left as they were;
//! * of user queues only the packets of the ring are checked.

mod access;
mod ahead;
mod event;
mod finding;
mod front;
mod jobs;
mod l2;
mod model;
mod observer;
mod order;
mod packets;
mod pages;
mod report;
mod rules;
mod targets;
mod text;
mod trials;
mod view;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::{Target, pm4::Ring};
use amdgpu_waves::InstructionHazard;
use parking_lot::Mutex;

pub(crate) use self::{
    ahead::Ahead,
    jobs::{RetiredJobs, Submitted},
    view::Checked,
};
pub use self::{
    report::{HazardKind, HazardReport},
    trials::{TrialOutcome, TrialReport},
};

use self::{
    access::{By, Moment, Order},
    event::{Agent, Event, Log, Time},
    finding::Finding,
    jobs::Knowledge,
    model::Range,
    packets::{At, Deed, Hazard},
    report::Reports,
    trials::Trials,
    world::{Call, World},
};
use crate::{
    Strictness,
    gpu::{FrontCaches, Ib, Place, TargetCaches},
};

/// The caches of a device, and the reports about them.
#[derive(Debug)]
pub(crate) struct Caches {
    level: GfxLevel,
    chip: String,
    state: Mutex<CheckerState>,
    submissions: AtomicU64,
    jobs: AtomicU64,
    knowledge: Knowledge,
    /// Held from an access until it is judged, so that those of several rings do not come in between.
    accesses: Mutex<()>,
    reports: Reports,
}

#[derive(Debug)]
struct CheckerState {
    log: Log,
    world: World,
    trials: Option<Trials>,
}

impl Caches {
    /// Creates empty caches; `None` if nothing is checked.
    pub(crate) fn new(level: GfxLevel, chip: &str, strictness: Strictness) -> Option<Self> {
        if matches!(strictness, Strictness::Off | Strictness::Late) {
            return None;
        }
        let world = World::new(strictness == Strictness::Bite);
        let trials = (strictness == Strictness::Trials).then(Trials::default);
        Some(Self {
            level,
            chip: chip.to_owned(),
            state: Mutex::new(CheckerState { log: Log::default(), world, trials }),
            submissions: AtomicU64::new(0),
            jobs: AtomicU64::new(0),
            knowledge: Knowledge::default(),
            accesses: Mutex::default(),
            reports: Reports::default(),
        })
    }

    /// Returns all reports, in the order of submissions.
    pub(crate) fn reports(&self) -> Vec<HazardReport> {
        self.reports.list()
    }

    /// Returns the trials that are over, and ends those that are not.
    pub(crate) fn trials(&self) -> Vec<TrialReport> {
        self.state.lock().trials.as_mut().map(|trials| trials.finish(&self.chip)).unwrap_or_default()
    }

    /// Returns the number of a job that is submitted, from 1 on. Reports name it, because jobs of several rings start in any order.
    pub(crate) fn number_submission(&self) -> u64 {
        self.submissions.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns the jobs of which the CPU knows that they are over, for a submission. One that depends on a fence that is forgotten knows
    /// all.
    pub(crate) fn known(&self, is_forgotten: bool) -> RetiredJobs {
        self.knowledge.known(is_forgotten)
    }

    /// Notes a request to the kernel, by its number.
    pub(crate) fn note_request(&self, number: u8) {
        self.knowledge.note(number);
    }

    /// Notes that the CPU can poll what a job stores.
    fn can_be_polled(&self, job: u64) {
        self.state.lock().log.jobs.can_be_polled(job);
    }

    /// Does what happens before a job on this ring, and returns what is over then.
    ///
    /// Source: Mesa 25.0.7 `src/gallium/drivers/radeonsi/si_gfx_cs.c`, `si_begin_new_gfx_cs`: from GFX10 on the caches of shaders
    /// are invalidated where an IB starts, but not L2.
    fn begin_job(&self, target: Target, submitted: &Submitted) -> Order {
        let job = self.jobs.fetch_add(1, Ordering::Relaxed) + 1;
        let first = self.kernel_event(target, (job, submitted.number), "the start of the job");
        // MEC executes DMA in order, and RADV never waits for it on GFX6. Copies of a copy engine may overlap.
        let has_dma = match target {
            Target::Pm4(target) => target.ring == Ring::Gfx && target.level >= GfxLevel::Gfx7,
            Target::Sdma(_) => true,
        };
        // Source: Linux 6.12 `amdgpu_vm.c`, `amdgpu_vm_check_compute_bug`.
        let is_compute = matches!(target, Target::Pm4(target) if target.ring == Ring::Compute);
        let always_waits = is_compute && self.level == GfxLevel::Gfx7;
        let overlaps = self.state.lock().log.jobs.start(job, submitted, &self.knowledge, always_waits);
        let order = Order {
            job,
            ring: submitted.ring,
            first,
            others: 0,
            shaders: first,
            draws: first,
            posted: first,
            dma: first,
            pfp: first,
            has_dma,
            waits_for_dma: false,
        };
        let fronts = if matches!(target, Target::Pm4(_)) && self.level >= GfxLevel::Gfx10 {
            FrontCaches::all() - FrontCaches::METADATA
        } else {
            FrontCaches::empty()
        };
        self.each(|world| {
            world.begin(order, overlaps);
            world.model.operate(Moment::quiet(first), fronts, false, false);
        });
        self.operated(first, fronts, false, false);
        order
    }

    /// Does what the kernel does after a job on this ring.
    ///
    /// Source: Linux 6.12 `gfx_v6_0.c` to `gfx_v12_0.c`, `ring_emit_fence`: up to GFX9 L2 is written back and invalidated, later it
    /// is only written back. The vector caches are invalidated with L2, the scalar and instruction caches on GFX6, and the cache of
    /// metadata from GFX9 on. The copy engine's fence touches no caches.
    fn end_job(&self, target: Target, job: u64, submission: u64) {
        let now = self.kernel_event(target, (job, submission), "the end of the job");
        let is_pm4 = matches!(target, Target::Pm4(_));
        let fronts = match self.level {
            _ if !is_pm4 => FrontCaches::empty(),
            GfxLevel::Gfx6 => FrontCaches::all(),
            GfxLevel::Gfx7 | GfxLevel::Gfx8 => FrontCaches::VECTOR,
            GfxLevel::Gfx9 => FrontCaches::VECTOR | FrontCaches::METADATA,
            _ => FrontCaches::METADATA,
        };
        let invalidates = is_pm4 && self.level < GfxLevel::Gfx10;
        // Up to there PFP executes the operation, while shaders run.
        let is_early = self.level == GfxLevel::Gfx6;
        self.each(|world| {
            let order = world.order(job);
            world.end(job);
            let moment = if is_early { Moment::within(now, &order) } else { Moment::quiet(now) };
            world.model.operate(moment, fronts, is_pm4, invalidates);
            if is_pm4 {
                world.model.flush_targets(now, TargetCaches::all());
            }
        });
        self.operated(now, fronts, is_pm4, invalidates);
        self.state.lock().log.jobs.end(job, &self.knowledge);
    }

    /// Does something in the world and in all trials, and ends the trials that it makes pointless.
    fn each(&self, act: impl Fn(&mut World)) {
        let CheckerState { world, trials, .. } = &mut *self.state.lock();
        act(world);
        if let Some(trials) = trials {
            trials.each(world, act);
        }
    }

    /// Remembers an operation on caches for trials.
    fn operated(&self, now: Time, fronts: FrontCaches, writes_back: bool, invalidates: bool) {
        if let Some(trials) = &mut self.state.lock().trials {
            trials.operated(now, fronts, writes_back, invalidates);
        }
    }

    /// Adds an event of the kernel in a job and its submission.
    fn kernel_event(&self, target: Target, (job, submission): (u64, u64), packet: &'static str) -> Time {
        let ib = Ib { va: GpuVa::NULL, dwords: 0 };
        let place = Place { target, ib, offset: 0, level: 0, packet };
        self.event(Event { job, submission, place, agent: Agent::Engine })
    }

    /// Adds an event.
    fn event(&self, event: Event) -> Time {
        self.state.lock().log.add(event)
    }

    /// Does what a packet does, besides its accesses.
    fn act(&self, deed: Deed, at: &At) {
        let CheckerState { world, trials, .. } = &mut *self.state.lock();
        let hazards = match trials {
            None => world.act(deed, at),
            Some(trials) => trials.act(world, deed, at),
        };
        for Hazard { kind, earlier, later, missing } in hazards {
            self.report(at.submission, kind, None, earlier, later, missing);
        }
    }

    fn read(&self, range: Range<'_>, data: &mut [u8], call: &Call<'_>) -> Option<(u64, Finding)> {
        let CheckerState { log, world, trials } = &mut *self.state.lock();
        let found = world.read(range, data, call, log);
        if let Some(trials) = trials {
            let call = Call { waits: world.order(call.by.order.job).waits_for_dma, ..*call };
            trials.narrow(world, &call);
            trials.read(range, data, &call, log, found.is_some());
        }
        found
    }

    fn write(&self, range: Range<'_>, data: &[u8], call: &Call<'_>) -> Option<(u64, Finding)> {
        let CheckerState { log, world, trials } = &mut *self.state.lock();
        let found = world.write(range, data, call, log);
        if let Some(trials) = trials {
            let call = Call { waits: world.order(call.by.order.job).waits_for_dma, ..*call };
            trials.write(range, data, &call, log, found.is_some());
        }
        found
    }

    fn fetch(&self, range: Range<'_>, len: usize, call: &Call<'_>) -> Option<(u64, Finding)> {
        let CheckerState { log, world, trials } = &mut *self.state.lock();
        let found = world.fetch(range, len, call, log);
        if let Some(trials) = trials {
            trials.fetch(range, len, call, log, found.is_some());
        }
        found
    }

    /// Reports a finding of the model about an access of a submission.
    fn report_finding(&self, submission: u64, address: u64, finding: Finding, by: &By, is_write: bool) {
        let state = self.state.lock();
        let mut number = submission;
        let mut later = text::access(&state.log, by.time, by.agent);
        let (kind, mut earlier, missing) = text::finding(finding, is_write, (self.level, &later), &state.log);
        // Which of two rings that nothing orders comes first is chance, so the one that was submitted first does.
        if let Finding::Race { earlier: time, is_apart: true, .. } = finding
            && let Some(other) = state.log.get(time).filter(|other| other.submission > submission)
        {
            earlier = text::conflict(&later, is_write);
            later = text::event(&state.log, time);
            number = other.submission;
        }
        drop(state);
        self.report(number, kind, Some(address), earlier, later, missing);
    }

    /// Reports a hazard of instructions of a shader that a packet of a submission started.
    pub(crate) fn report_instruction(&self, submission: u64, hazard: &InstructionHazard, place: &Place) {
        let side = |side: &amdgpu_waves::WaitSide| format!("`{}` at {:#x}", side.text, side.pc);
        let earlier = hazard.earlier.as_ref().map(side).unwrap_or_default();
        // Without the job, so that the same program is reported once.
        let register = hazard.register.map(|register| format!(", {register}")).unwrap_or_default();
        let later = format!("{}{register} of a shader of {place}", side(&hazard.instruction));
        // The stream lacks an argument, and the code nothing.
        let source = match hazard.rule.name {
            "UnsetArgument" if place.packet.starts_with("DRAW_") => "radv_flush_descriptors",
            "UnsetArgument" => "radv_emit_compute_shader",
            _ => "aco_insert_NOPs.cpp",
        };
        let missing = format!("{}: {} ({}, {source})", hazard.rule.what, hazard.rule.needed, hazard.rule.name);
        self.report(submission, HazardKind::Instruction, Some(hazard.instruction.pc), earlier, later, missing);
    }

    /// Reports what is missing before a packet of a user queue's ring.
    pub(crate) fn report_ring(&self, later: &str, missing: &str) {
        let last = self.submissions.load(Ordering::Relaxed);
        self.report(last, HazardKind::Submission, None, String::new(), later.to_owned(), missing.to_owned());
    }

    fn report(
        &self,
        submission: u64,
        kind: HazardKind,
        address: Option<u64>,
        earlier: String,
        later: String,
        missing: String,
    ) {
        self.reports.add(submission, HazardReport { kind, chip: self.chip.clone(), address, earlier, later, missing });
    }
}
