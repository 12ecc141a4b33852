//! The strict mode: a model of the caches, which reports what a command stream forgot and the simulated memory hides.
//!
//! Everything that the simulated GPU does is visible to everybody at once. With
//! [`Strictness::Report`](crate::Strictness::Report), jobs run as before, but each access goes through [`Checked`], which asks a
//! model of L2 what a real chip would have found. The model knows which accesses go through L2 on each generation, and follows the
//! cache operations of packets and those of the kernel around a job. A report names both accesses and what is missing between them.
//!
//! Where sources differ or say nothing, the model takes the side of the stream, so that a report is a mistake:
//!
//! * commands are never fetched through old copies, because drivers reuse the memory of IBs without an invalidation;
//! * the copy engines of GFX10 to GFX11.5 find what is dirty in L2, and leave no old copies there;
//! * WRITE_DATA and end-of-pipe stores of GFX9 go through L2, like the command processor's reads;
//! * the caches in front of L2 are not modelled, nor are user queues.

mod l2;
mod report;
mod view;

use amdgpu_hw::GfxLevel;
use amdgpu_packets::Target;
use parking_lot::Mutex;

pub use self::report::{HazardKind, HazardReport};
pub(crate) use self::view::Checked;

use self::{l2::L2, report::Reports};

/// The caches of a device, and the reports about them.
#[derive(Debug)]
pub(crate) struct Caches {
    level: GfxLevel,
    chip: String,
    l2: Mutex<L2>,
    jobs: std::sync::atomic::AtomicU64,
    reports: Reports,
}

impl Caches {
    pub(crate) fn new(level: GfxLevel, chip: &str) -> Self {
        Self {
            level,
            chip: chip.to_owned(),
            l2: Mutex::default(),
            jobs: std::sync::atomic::AtomicU64::new(0),
            reports: Reports::default(),
        }
    }

    /// Returns all reports, the oldest first.
    pub(crate) fn reports(&self) -> Vec<HazardReport> {
        self.reports.list()
    }

    fn begin_job(&self) -> u64 {
        self.jobs.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1
    }

    /// Does what the kernel does after a job on this ring.
    ///
    /// Source: Linux 6.12 `gfx_v6_0.c` to `gfx_v12_0.c`, `ring_emit_fence`: up to GFX9 L2 is written back and invalidated, later it
    /// is only written back. The copy engine's fence touches no caches.
    fn end_job(&self, target: Target) {
        if matches!(target, Target::Pm4(_)) {
            self.operate(true, self.level < GfxLevel::Gfx10);
        }
    }

    fn operate(&self, writes_back: bool, invalidates: bool) {
        let mut l2 = self.l2.lock();
        if writes_back {
            l2.write_back();
        }
        if invalidates {
            l2.invalidate();
        }
    }

    fn report(&self, kind: HazardKind, address: Option<u64>, earlier: String, later: String, missing: String) {
        self.reports.add(HazardReport { kind, chip: self.chip.clone(), address, earlier, later, missing });
    }
}
