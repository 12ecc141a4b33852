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
//! * jobs of a ring do not overlap, and a wait for memory ends everything up to the last end-of-pipe event;
//! * user queues are not modelled.

mod access;
mod event;
mod finding;
mod front;
mod l2;
mod model;
mod order;
mod packets;
mod pages;
mod report;
mod rules;
mod text;
mod view;

use std::sync::atomic::{AtomicU64, Ordering};

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::{Target, pm4::Ring};
use amdgpu_waves::InstructionHazard;
use parking_lot::Mutex;

pub use self::report::{HazardKind, HazardReport};
pub(crate) use self::view::Checked;

use self::{
    access::{By, Order},
    event::{Agent, Event, Time},
    finding::Finding,
    model::Model,
    report::Reports,
};
use crate::gpu::{FrontCaches, Ib, Place};

/// The caches of a device, and the reports about them.
#[derive(Debug)]
pub(crate) struct Caches {
    level: GfxLevel,
    chip: String,
    model: Mutex<Model>,
    jobs: AtomicU64,
    reports: Reports,
}

impl Caches {
    /// Creates empty caches. With `bites`, reads give what they hold.
    pub(crate) fn new(level: GfxLevel, chip: &str, bites: bool) -> Self {
        Self {
            level,
            chip: chip.to_owned(),
            model: Mutex::new(Model::new(bites)),
            jobs: AtomicU64::new(0),
            reports: Reports::default(),
        }
    }

    /// Returns all reports, the oldest first.
    pub(crate) fn reports(&self) -> Vec<HazardReport> {
        self.reports.list()
    }

    /// Does what happens before a job on this ring, and returns what is over then.
    ///
    /// Source: Mesa 25.0.7 `src/gallium/drivers/radeonsi/si_gfx_cs.c`, `si_begin_new_gfx_cs`: from GFX10 on the caches of shaders
    /// are invalidated where an IB starts, but not L2.
    fn begin_job(&self, target: Target) -> Order {
        let job = self.jobs.fetch_add(1, Ordering::Relaxed) + 1;
        let first = self.kernel_event(target, job, "the start of the job");
        if matches!(target, Target::Pm4(_)) && self.level >= GfxLevel::Gfx10 {
            self.model.lock().operate(first, FrontCaches::all(), false, false);
        }
        // MEC executes DMA in order, and RADV never waits for it on GFX6.
        let has_dma =
            matches!(target, Target::Pm4(target) if target.ring == Ring::Gfx && target.level >= GfxLevel::Gfx7);
        Order { job, first, shaders: first, dma: first, pfp: first, has_dma, waits_for_dma: false }
    }

    /// Does what the kernel does after a job on this ring.
    ///
    /// Source: Linux 6.12 `gfx_v6_0.c` to `gfx_v12_0.c`, `ring_emit_fence`: up to GFX9 L2 is written back and invalidated, later it
    /// is only written back. The vector caches are invalidated with L2, and the scalar and instruction caches on GFX6. The copy
    /// engine's fence touches no caches.
    fn end_job(&self, target: Target, job: u64) {
        if matches!(target, Target::Pm4(_)) {
            let now = self.kernel_event(target, job, "the end of the job");
            let fronts = match self.level {
                GfxLevel::Gfx6 => FrontCaches::all(),
                GfxLevel::Gfx7 | GfxLevel::Gfx8 | GfxLevel::Gfx9 => FrontCaches::VECTOR,
                _ => FrontCaches::empty(),
            };
            self.model.lock().operate(now, fronts, true, self.level < GfxLevel::Gfx10);
        }
    }

    /// Adds an event of the kernel.
    fn kernel_event(&self, target: Target, job: u64, packet: &'static str) -> Time {
        let ib = Ib { va: GpuVa::NULL, dwords: 0 };
        let place = Place { target, ib, offset: 0, level: 0, packet };
        self.model.lock().event(Event { job, place, agent: Agent::Engine })
    }

    /// Reports a finding of the model.
    fn tell(&self, address: u64, finding: Finding, by: &By, is_write: bool) {
        let model = self.model.lock();
        let later = text::event(&model.log, by.time);
        let (kind, earlier, missing) = text::finding(finding, is_write, (self.level, &later), &model.log);
        drop(model);
        self.report(kind, Some(address), earlier, later, missing);
    }

    /// Reports a hazard of instructions of a shader that a packet started.
    pub(crate) fn tell_instruction(&self, hazard: &InstructionHazard, place: &Place) {
        let side = |side: &amdgpu_waves::WaitSide| format!("`{}` at {:#x}", side.text, side.pc);
        let earlier = hazard.earlier.as_ref().map(side).unwrap_or_default();
        // Without the job, so that the same program is reported once.
        let register = hazard.register.map(|register| format!(", {register}")).unwrap_or_default();
        let later = format!("{}{register} of a shader of {place}", side(&hazard.instruction));
        let missing =
            format!("{}: {} ({}, aco_insert_NOPs.cpp)", hazard.rule.what, hazard.rule.needed, hazard.rule.name);
        self.report(HazardKind::Instruction, Some(hazard.instruction.pc), earlier, later, missing);
    }

    fn report(&self, kind: HazardKind, address: Option<u64>, earlier: String, later: String, missing: String) {
        self.reports.add(HazardReport { kind, chip: self.chip.clone(), address, earlier, later, missing });
    }
}
