//! The memory of a job as its agents see it through, or beside, L2.

use std::cell::Cell;

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::{
    Target,
    pm4::{Ring, Target as Pm4},
};
use amdgpu_uapi::VaFlags;

use super::{
    Caches,
    l2::{Access as By, Finding},
    report::HazardKind,
};
use crate::{
    gpu::{Access, CacheObserver, CacheOperation, Ib, Memory, PageFault, Place, Signal},
    kernel::mm::space::{Space, Spot},
};

/// The way of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// Through L2.
    In,
    /// Behind L2.
    Past,
    /// Behind L2, which is told of writes: it has no old copies for the agent, and the agent finds what is dirty.
    Coherent,
}

/// The memory of a job whose accesses are checked.
pub(crate) struct Checked<'a> {
    space: &'a Space,
    caches: &'a Caches,
    target: Target,
    job: u64,
    place: Cell<Option<Place>>,
    in_shaders: Cell<bool>,
    /// The number of packets so far, and the numbers of the last ones that matter to others.
    packets: Cell<u64>,
    sampled: Cell<Option<u64>>,
    ended: Cell<Option<(u64, Place)>>,
    /// The work that was started since PFP waited for ME.
    started: Cell<Option<Place>>,
}

impl<'a> Checked<'a> {
    /// Begins a job.
    pub(crate) fn new(space: &'a Space, caches: &'a Caches, target: Target) -> Self {
        let (place, in_shaders, packets, sampled, ended, started) = Default::default();
        let job = caches.begin_job();
        Self { space, caches, target, job, place, in_shaders, packets, sampled, ended, started }
    }

    /// Ends the job, as the kernel does.
    pub(crate) fn end(self) {
        self.check_pair(false);
        self.caches.end_job(self.target);
    }

    fn pm4(&self) -> Option<Pm4> {
        match self.target {
            Target::Pm4(target) => Some(target),
            Target::Sdma(_) => None,
        }
    }

    /// Returns the way of the current access to memory that is not uncached.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `cp_dma_use_L2` and `cp_sdma_ge_use_system_memory_scope`;
    /// `src/gallium/drivers/radeonsi/si_barrier.c`, for the command processor of GFX9.
    fn way(&self) -> Way {
        let level = self.caches.level;
        match self.target {
            Target::Pm4(_) if self.in_shaders.get() => Way::In,
            Target::Pm4(_) if level.command_processor_bypasses_l2() => Way::Past,
            Target::Pm4(_) => Way::In,
            // The copy engine of these generations reads what is dirty in L2, and its writes go around L2 but are coherent.
            Target::Sdma(_) if (GfxLevel::Gfx10..=GfxLevel::Gfx11_5).contains(&level) => Way::Coherent,
            Target::Sdma(_) => Way::Past,
        }
    }

    fn by(&self) -> Option<By> {
        let place = self.place.get()?;
        Some(By { job: self.job, place, is_shader: self.in_shaders.get() })
    }

    /// Returns the places in BOs that an access reaches, with their ways.
    fn spots(&self, va: GpuVa, len: usize, access: Access, mut visit: impl FnMut(&Spot<'_>, Way)) {
        let is_old = self.caches.level < GfxLevel::Gfx9;
        self.space.spots(va, len as u64, access, &mut |spot| {
            let is_uncached = !is_old && spot.flags & VaFlags::MTYPE_MASK == VaFlags::MTYPE_UC;
            if !is_uncached {
                visit(spot, self.way());
            }
        });
    }

    /// Checks a read of bytes that memory has just given.
    fn check_read(&self, va: GpuVa, data: &[u8]) {
        let Some(by) = self.by() else { return };
        self.spots(va, data.len(), Access::Read, |spot, way| {
            let data = &data[spot.done as usize..(spot.done + spot.len) as usize];
            let found = match way {
                Way::In => self.caches.l2.lock().read(spot.bo, spot.offset, data, by),
                Way::Past => self.caches.l2.lock().pass(spot.bo, spot.offset, data.len(), None),
                Way::Coherent => None,
            };
            self.tell(va, spot, found, by, false);
        });
    }

    /// Checks a write before memory changes.
    fn check_write(&self, va: GpuVa, data: &[u8]) {
        let Some(by) = self.by() else { return };
        self.spots(va, data.len(), Access::Write, |spot, way| {
            let data = &data[spot.done as usize..(spot.done + spot.len) as usize];
            let found = match way {
                Way::In => {
                    self.caches.l2.lock().write(spot.bo, spot.offset, data, by);
                    None
                }
                Way::Past => self.caches.l2.lock().pass(spot.bo, spot.offset, data.len(), Some(by)),
                Way::Coherent => {
                    self.caches.l2.lock().update(spot.bo, spot.offset, data);
                    None
                }
            };
            self.tell(va, spot, found, by, true);
        });
    }

    fn tell(&self, va: GpuVa, spot: &Spot<'_>, found: Option<(u64, Finding)>, by: By, is_write: bool) {
        let Some((offset, finding)) = found else { return };
        let address = va.as_u64().wrapping_add(spot.done).wrapping_add(offset - spot.offset);
        let (kind, earlier, missing) = match finding {
            Finding::Stale { filled, passed } => {
                let writer = passed.map_or_else(|| "the CPU".to_owned(), |by| name(&by));
                let missing = if by.place.packet.starts_with("WAIT_REG_MEM") {
                    "MTYPE_UC for the page, because nothing invalidates L2 while a packet polls (radv_create_event)"
                } else {
                    "an invalidation of L2 in between, as first in each submission (radv_update_preamble_cs)"
                };
                (HazardKind::StaleRead, format!("{} left a copy in L2, then {writer} wrote", name(&filled)), missing)
            }
            Finding::Dirty(writer) if is_write => {
                let missing = "a write-back of L2 in between (radv_src_access_flush)";
                (HazardKind::Clobber, format!("{} wrote into L2", name(&writer)), missing)
            }
            Finding::Dirty(writer) => {
                let missing = "a write-back of L2 in between (radv_src_access_flush)";
                (HazardKind::NotWrittenBack, format!("{} wrote into L2", name(&writer)), missing)
            }
        };
        self.caches.report(kind, Some(address), earlier, name(&by), missing.to_owned());
    }

    fn break_rule(&self, kind: HazardKind, earlier: Option<Place>, missing: &str) {
        let Some(by) = self.by() else { return };
        let earlier = earlier.map(|place| name(&By { job: self.job, place, is_shader: false })).unwrap_or_default();
        self.caches.report(kind, None, earlier, name(&by), missing.to_owned());
    }

    /// Reports an event at the end of the pipe that should have been the first of two, or the second.
    fn check_pair(&self, is_event: bool) {
        let is_open = |number: u64| number + 1 == self.packets.get();
        let Some((_, place)) = self.ended.get().filter(|&(number, _)| is_open(number) || !is_event) else { return };
        self.ended.set(None);
        let is_twice = self.caches.level == GfxLevel::Gfx7 || self.caches.level == GfxLevel::Gfx8;
        if is_twice && !is_event {
            let by = By { job: self.job, place, is_shader: false };
            let missing = "a second event directly before or after: the first may store before the caches are flushed \
                           (radv_cs_emit_write_event_eop)";
            self.caches.report(HazardKind::Submission, None, String::new(), name(&by), missing.to_owned());
        }
    }
}

/// Returns an access as text.
fn name(by: &By) -> String {
    let By { job, place, is_shader } = by;
    let shader = if *is_shader { "a shader of " } else { "" };
    format!("{shader}{place}, job {job}")
}

impl Memory for Checked<'_> {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.space.read(va, out)?;
        self.check_read(va, out);
        Ok(())
    }

    fn fetch(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.space.read(va, out)
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        self.check_write(va, data);
        self.space.write(va, data)
    }

    fn update(&self, va: GpuVa, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let len = usize::from(bytes).min(8);
        // Atomics happen in L2, or in memory for agents that bypass it: a read and a write.
        let mut before = [0; 8];
        self.space.read(va, &mut before[..len])?;
        self.check_read(va, &before[..len]);
        self.check_write(va, &change(u64::from_le_bytes(before)).to_le_bytes()[..len]);
        self.space.update(va, bytes, change)
    }

    fn copy(&self, to: GpuVa, from: GpuVa, len: u64) -> Result<(), PageFault> {
        let mut buffer = [0; 4096];
        let mut done = 0;
        while done < len {
            let part = &mut buffer[..(len - done).min(4096) as usize];
            let (Some(from), Some(to)) = (from.checked_add(done), to.checked_add(done)) else {
                return Err(PageFault { va: to, access: Access::Write });
            };
            self.read(from, part)?;
            self.write(to, part)?;
            done += part.len() as u64;
        }
        Ok(())
    }

    fn fill(&self, to: GpuVa, pattern: u32, len: u64) -> Result<(), PageFault> {
        let bytes: [u8; 4096] = std::array::from_fn(|at| pattern.to_le_bytes()[at % 4]);
        let mut done = 0;
        while done < len {
            let part = &bytes[..(len - done).min(4096) as usize];
            let at = to.checked_add(done).ok_or(PageFault { va: to, access: Access::Write })?;
            self.write(at, part)?;
            done += part.len() as u64;
        }
        Ok(())
    }
}

impl CacheObserver for Checked<'_> {
    fn packet(&self, place: Place) {
        self.packets.set(self.packets.get() + 1);
        if self.ended.get().is_some_and(|(number, _)| number + 1 < self.packets.get()) {
            self.check_pair(false);
        }
        self.place.set(Some(place));
    }

    fn signal(&self, signal: Signal) {
        let is_gfx = self.pm4().is_some_and(|target| target.ring == Ring::Gfx);
        match signal {
            Signal::PfpSync => self.started.set(None),
            Signal::Work => self.started.set(self.place.get()),
            Signal::SampleCounts => self.sampled.set(Some(self.packets.get())),
            Signal::EndOfPipe if is_gfx && self.caches.level == GfxLevel::Gfx9 => {
                if self.sampled.get() != self.packets.get().checked_sub(1) {
                    let missing = "ZPASS_DONE with an address directly before: the event may hang the chip \
                                   (radv_cs_emit_write_event_eop)";
                    self.break_rule(HazardKind::Submission, None, missing);
                }
            }
            Signal::EndOfPipe if is_gfx => match self.ended.get() {
                Some((number, _)) if number + 1 == self.packets.get() => self.ended.set(None),
                _ => self.ended.set(self.place.get().map(|place| (self.packets.get(), place))),
            },
            Signal::EndOfPipe => {}
        }
    }

    fn shaders(&self, are_running: bool) {
        self.in_shaders.set(are_running);
    }

    /// Commands may be fetched through old copies, because drivers reuse the memory of IBs without invalidations. What bypasses L2
    /// needs the write-back.
    fn fetched(&self, ib: Ib) {
        if !self.caches.level.command_processor_bypasses_l2() || self.pm4().is_none() {
            return;
        }
        let place = Place { target: self.target, ib, offset: 0, level: 1, packet: "command fetch" };
        let by = By { job: self.job, place, is_shader: false };
        self.spots(ib.va, 4 * ib.dwords as usize, Access::Read, |spot, _| {
            let found = self.caches.l2.lock().pass(spot.bo, spot.offset, spot.len as usize, None);
            self.tell(ib.va, spot, found, by, false);
        });
    }

    fn operate(&self, operation: CacheOperation) {
        if let Some(doubt) = operation.doubt {
            self.break_rule(HazardKind::Submission, None, &format!("a valid combination: {doubt}"));
        }
        let is_gfx = self.pm4().is_some_and(|target| target.ring == Ring::Gfx);
        // radeonsi lets PFP wait afterwards on GFX7, and both are known to work.
        let may_be_early = is_gfx && operation.by_pfp && self.caches.level != GfxLevel::Gfx7;
        if let (true, Some(work)) = (may_be_early, self.started.get()) {
            let missing = "PFP_SYNC_ME before: PFP executes the operation before this work has ended \
                           (radv_cs_emit_cache_flush)";
            self.break_rule(HazardKind::EarlyOperation, Some(work), missing);
        }
        self.caches.operate(operation.write_back_l2, operation.invalidate_l2);
    }
}
