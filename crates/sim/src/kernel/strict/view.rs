//! The memory of a job as its agents see it through, or beside, the caches.

use std::cell::Cell;

use amdgpu_hw::{GfxLevel, GpuVa};
use amdgpu_packets::{
    Target,
    pm4::{Ring, Target as Pm4},
};
use amdgpu_uapi::VaFlags;
use amdgpu_waves::Reach;
use zerocopy::IntoBytes;

use super::{
    Caches,
    access::{By, Order, Way},
    event::{Agent, Event, Time},
    finding::Finding,
    jobs::Submitted,
    model::Range,
    pages::Front,
    report::HazardKind,
    rules::Values,
    text,
    world::Call,
};
use crate::{
    gpu::{Access, Client, Memory, PageFault, Place, TargetCaches},
    kernel::mm::{
        lanes::LaneAddresses,
        space::{Space, Spot},
    },
};

/// The memory of a job whose accesses are checked.
pub(crate) struct Checked<'a> {
    space: &'a Space,
    pub(super) caches: &'a Caches,
    pub(super) target: Target,
    /// The address space's owner.
    vm: Option<u64>,
    pub(super) place: Cell<Option<Place>>,
    /// The agent of the packet's accesses, and `true` while its shaders run.
    pub(super) agent: Cell<Agent>,
    pub(super) in_shaders: Cell<bool>,
    /// The unit and reach of the shader's accesses.
    pub(super) route: Cell<(Client, Reach)>,
    /// The last write of a packet: the address, and the values before and after.
    pub(super) stored: Cell<Option<(u64, Values)>>,
    /// The cache of the accesses of render backends.
    target_cache: Cell<TargetCaches>,
    /// `true` if the packet's reads, and its writes, bypass L2.
    pub(super) bypasses: Cell<(bool, bool)>,
    /// The event of the current accesses, once there was one.
    pub(super) event: Cell<Option<Time>>,
    /// The number of the job.
    pub(super) job: u64,
    /// The number of its submission.
    pub(super) submission: u64,
    ring: u32,
    /// `true` if DMA is not executed in order with packets.
    pub(super) has_dma: bool,
}

impl<'a> Checked<'a> {
    /// Begins a job of an address space.
    pub(crate) fn new(space: &'a Space, caches: &'a Caches, target: Target, submitted: &Submitted) -> Self {
        let Order { job, has_dma, .. } = caches.begin_job(target, submitted);
        let vm = submitted.vm;
        Self {
            space,
            caches,
            target,
            vm,
            place: Cell::default(),
            agent: Cell::new(Agent::Engine),
            in_shaders: Cell::default(),
            route: Cell::new((Client::Vector, Reach::Unit)),
            target_cache: Cell::new(TargetCaches::COLOR),
            stored: Cell::default(),
            bypasses: Cell::default(),
            event: Cell::default(),
            job,
            submission: submitted.number,
            ring: submitted.ring,
            has_dma,
        }
    }

    /// Returns the number of the job on the device, from 1 on, in the order in which jobs start.
    pub(crate) const fn number(&self) -> u64 {
        self.job
    }

    /// Ends the job, as the kernel does; `true` if it has come to its end, and was not stopped before.
    pub(crate) fn end(self, is_complete: bool) {
        if is_complete {
            self.check_end();
        }
        self.caches.end_job(self.target, self.job, self.submission);
    }

    pub(super) fn pm4(&self) -> Option<Pm4> {
        match self.target {
            Target::Pm4(target) => Some(target),
            Target::Sdma(_) => None,
        }
    }

    /// Returns `true` for a ring with a prefetch parser.
    fn is_gfx(&self) -> bool {
        self.pm4().is_some_and(|target| target.ring == Ring::Gfx)
    }

    pub(super) fn level(&self) -> GfxLevel {
        self.caches.level
    }

    /// Returns the way of the current access to memory that is not uncached.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `cp_dma_use_L2` and `cp_sdma_ge_use_system_memory_scope`;
    /// `src/gallium/drivers/radeonsi/si_barrier.c`, for the command processor of GFX9; `src/amd/common/ac_shader_util.h` for the
    /// scopes of GFX12.
    fn way(&self) -> Way {
        let level = self.level();
        match self.target {
            Target::Pm4(_) if self.in_shaders.get() && self.route.get().0 == Client::Indices => {
                if level.index_fetch_bypasses_l2() { Way::Past } else { Way::In }
            }
            Target::Pm4(_) if self.in_shaders.get() => {
                if self.route.get().1 == Reach::System {
                    Way::Past
                } else {
                    Way::In
                }
            }
            Target::Pm4(_) if level.command_processor_bypasses_l2() => Way::Past,
            Target::Pm4(_) => Way::In,
            // The copy engine of these generations reads what is dirty in L2, and its writes go around L2 but are coherent.
            Target::Sdma(_) if (GfxLevel::Gfx10..=GfxLevel::Gfx11_5).contains(&level) => Way::Coherent,
            Target::Sdma(_) => Way::Past,
        }
    }

    /// Returns the event that the current accesses belong to.
    pub(super) fn now(&self) -> Option<Time> {
        if let Some(time) = self.event.get() {
            return Some(time);
        }
        let place = self.place.get()?;
        let time = self.caches.event(Event { job: self.job, submission: self.submission, place, agent: self.agent() });
        self.event.set(Some(time));
        Some(time)
    }

    fn agent(&self) -> Agent {
        if !self.in_shaders.get() {
            return self.agent.get();
        }
        let is_draw = self.place.get().is_some_and(|place| place.packet.starts_with("DRAW_"));
        if is_draw { Agent::Draw } else { Agent::Shader }
    }

    /// Returns the properties of an access, unless it is none of a packet.
    fn by(&self, agent: Agent, is_update: bool, is_write: bool) -> Option<By> {
        let in_shaders = self.in_shaders.get();
        let (client, reach) = self.route.get();
        let has_array = (GfxLevel::Gfx10..=GfxLevel::Gfx11_5).contains(&self.level());
        // Render backends, whose accesses are among those of draws, have caches of their own.
        let is_fixed = matches!(client, Client::Indices | Client::Targets);
        let is_near = in_shaders
            && agent != Agent::Draw
            && !is_fixed
            && !is_update
            && matches!(reach, Reach::Unit | Reach::Array);
        let front = match client {
            Client::Scalar => Front::Scalar,
            Client::Instructions => Front::Instructions,
            Client::Vector | Client::Packet | Client::Indices | Client::Targets => Front::Vector,
        };
        let has_metadata_cache = (GfxLevel::Gfx9..=GfxLevel::Gfx11_5).contains(&self.level());
        let is_metadata = in_shaders && client == Client::Vector && reach == Reach::Metadata && has_metadata_cache;
        let (reads, writes) = self.bypasses.get();
        let bypasses = !in_shaders && if is_write { writes } else { reads };
        let is_wide = matches!(reach, Reach::Device | Reach::System);
        let is_wide_load = in_shaders && agent != Agent::Draw && !is_fixed && !is_update && !is_write && is_wide;
        Some(By {
            time: self.now()?,
            agent,
            way: if bypasses { Way::Past } else { self.way() },
            bypasses,
            near: is_wide_load.then_some((front, has_array)),
            as_if: None,
            front: if is_metadata { Some(Front::Metadata) } else { (is_near && reach == Reach::Unit).then_some(front) },
            through_array: is_near && has_array,
            vm: self.vm,
            is_atomic: is_update || in_shaders && !is_fixed && matches!(reach, Reach::Device | Reach::System),
            is_private: in_shaders && reach == Reach::Private,
            of_target: (in_shaders && client == Client::Targets).then(|| self.target_cache.get()),
            // Each world knows the rest.
            order: Order { job: self.job, ring: self.ring, ..Order::default() },
        })
    }

    /// Visits the parts of an access in BOs, unless they are uncached.
    fn spots(&self, va: GpuVa, len: usize, access: Access, mut visit: impl FnMut(&Spot<'_>)) {
        let is_old = self.level() < GfxLevel::Gfx9;
        self.space.spots(va, len as u64, access, &mut |spot| {
            let is_uncached = !is_old && spot.flags & VaFlags::MTYPE_MASK == VaFlags::MTYPE_UC;
            if is_uncached && access == Access::Write {
                self.caches.can_be_polled(self.job);
            }
            if !is_uncached {
                visit(spot);
            }
        });
    }

    /// Checks a read of bytes that memory has just given, and that become those of caches if these bite.
    fn check_read(&self, va: GpuVa, data: &mut [u8], is_update: bool) {
        // What a packet polls is written concurrently.
        let polls = !self.in_shaders.get() && self.place.get().is_some_and(|place| is_poll(place.packet));
        let agent = match self.agent() {
            Agent::Engine | Agent::Posted
                if self.is_gfx() && self.place.get().is_some_and(|place| is_read_ahead(place.packet)) =>
            {
                Agent::Pfp
            }
            agent => agent,
        };
        self.check_arguments(va);
        if self.in_shaders.get() && self.route.get().0 == Client::Indices {
            // PFP fetches indices ahead of the draw, and they are read as long as the draw runs.
            self.check_read_by(Agent::Pfp, va, data, (is_update, polls));
        }
        self.check_read_by(agent, va, data, (is_update, polls));
    }

    fn check_read_by(&self, agent: Agent, va: GpuVa, data: &mut [u8], (is_update, polls): (bool, bool)) {
        let Some(by) = self.by(agent, is_update, false) else { return };
        let call = Call { by: &by, polls, place: self.place.get(), waits: false };
        self.spots(va, data.len(), Access::Read, |spot| {
            let data = &mut data[spot.done as usize..(spot.done + spot.len) as usize];
            let found = self.caches.read(range(va, spot), data, &call);
            self.report_finding(va, spot, found, &by, false);
        });
    }

    /// Checks the address of the arguments of an indirect dispatch.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `has_async_compute_align32_bug`.
    fn check_arguments(&self, va: GpuVa) {
        const MULTIPLE: u64 = 32;
        let Some(place) = self.place.get().filter(|_| self.level() == GfxLevel::Gfx7 && !self.is_gfx()) else { return };
        if place.packet == "DISPATCH_INDIRECT" && !self.in_shaders.get() && !va.as_u64().is_multiple_of(MULTIPLE) {
            self.report_submission(va, "arguments at a multiple of 32 bytes (radv_emit_dispatch_packets)");
        }
    }

    /// Checks that what is prefetched behind an instruction is mapped.
    ///
    /// Source: Mesa 25.0.7 `src/amd/common/ac_gpu_info.c`, `ac_align_shader_binary_for_prefetch`: three lines of 64 bytes behind that
    /// of the instruction, and from GFX11 on up to a multiple of 128 bytes. A prefetch from no page faults like a fetch.
    fn check_prefetch(&self, va: GpuVa) {
        const PAGE: u64 = 4096;
        const BEHIND: u64 = 3 * 64;
        let level = self.level();
        if level < GfxLevel::Gfx10 || va.as_u64() % PAGE < PAGE - BEHIND - 128 {
            return;
        }
        let end = (va.as_u64() + 4 + BEHIND).next_multiple_of(if level >= GfxLevel::Gfx11 { 128 } else { 64 });
        let Ok(last) = GpuVa::new(end - 1) else { return };
        if end > va.as_u64().next_multiple_of(PAGE) && self.space.read(last, &mut [0]).is_err() {
            let missing = "192 mapped bytes behind the code, for the chip prefetches instructions \
                           (ac_align_shader_binary_for_prefetch)";
            self.report_submission(va, missing);
        }
    }

    fn report_submission(&self, va: GpuVa, missing: &str) {
        let Some(place) = self.place.get() else { return };
        let later = text::packet(&place, self.submission, self.agent());
        self.report(HazardKind::Submission, Some(va.as_u64()), later, missing.to_owned());
    }

    /// Reports a hazard of the job that has no earlier access.
    pub(super) fn report(&self, kind: HazardKind, address: Option<u64>, later: String, missing: String) {
        self.caches.report(self.submission, kind, address, String::new(), later, missing);
    }

    /// Remembers the values of a store of a packet, for which others may wait.
    fn note_store(&self, va: GpuVa, data: &[u8]) {
        let mut before = [0; 8];
        let (true, Some(before)) = (!self.in_shaders.get(), before.get_mut(..data.len())) else { return };
        if self.space.read(va, before).is_ok() {
            let value = |bytes: &[u8]| bytes.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            let values = Values { before: value(before), after: value(data) };
            self.stored.set(Some((va.as_u64(), values)));
        }
    }

    /// Checks a write before memory changes.
    fn check_write(&self, va: GpuVa, data: &[u8], is_update: bool) {
        self.note_store(va, data);
        let Some(by) = self.by(self.agent(), is_update, true) else { return };
        let call = Call { by: &by, polls: false, place: self.place.get(), waits: false };
        self.spots(va, data.len(), Access::Write, |spot| {
            let data = &data[spot.done as usize..(spot.done + spot.len) as usize];
            let found = self.caches.write(range(va, spot), data, &call);
            self.report_finding(va, spot, found, &by, true);
        });
    }

    /// Checks a fetch of commands.
    pub(super) fn check_fetch(&self, va: GpuVa, len: usize, place: Place) {
        let before = (self.place.replace(Some(place)), self.event.replace(None));
        let agent = if self.is_gfx() { Agent::Pfp } else { Agent::Engine };
        if let Some(by) = self.by(agent, false, false) {
            let call = Call { by: &by, polls: false, place: self.place.get(), waits: false };
            self.spots(va, len, Access::Read, |spot| {
                let found = self.caches.fetch(range(va, spot), spot.len as usize, &call);
                self.report_finding(va, spot, found, &by, false);
            });
        }
        self.place.set(before.0);
        self.event.set(before.1);
    }

    fn report_finding(&self, va: GpuVa, spot: &Spot<'_>, found: Option<(u64, Finding)>, by: &By, is_write: bool) {
        let Some((offset, finding)) = found else { return };
        let address = va.as_u64().wrapping_add(spot.done).wrapping_add(offset - spot.offset);
        self.caches.report_finding(self.submission, address, finding, by, is_write);
    }
}

fn range<'s>(va: GpuVa, spot: &Spot<'s>) -> Range<'s> {
    Range { bo: spot.bo, offset: spot.offset, va: va.low_48_bits().wrapping_add(spot.done) }
}

/// Returns `true` if the prefetch parser of a graphics ring reads memory for a packet.
///
/// Source: Mesa 25.0.7 `src/amd/vulkan/radv_cs.c`, `radv_cs_emit_cache_flush`, and the places of PFP_SYNC_ME in
/// `radv_cmd_buffer.c`.
pub(super) fn is_read_ahead(packet: &str) -> bool {
    matches!(packet, "COND_EXEC" | "SET_PREDICATION" | "COND_INDIRECT_BUFFER" | "INDEX_ATTRIBUTES_INDIRECT")
        || packet.starts_with("LOAD_")
        || (packet.starts_with("DRAW_") || packet.starts_with("DISPATCH_")) && packet.contains("INDIRECT")
}

/// Returns `true` for packets that wait for what others write.
fn is_poll(packet: &str) -> bool {
    packet.starts_with("WAIT_REG_MEM") || matches!(packet, "REWIND" | "MEM_SEMAPHORE" | "ATOMIC_MEM" | "POLL_REGMEM")
}

impl Memory for Checked<'_> {
    fn read(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        let _held = self.caches.accesses.lock();
        self.space.read(va, out)?;
        self.check_read(va, out, false);
        Ok(())
    }

    fn fetch(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        self.space.read(va, out)
    }

    fn route(&self, client: Client, reach: Reach) {
        self.route.set((client, reach));
    }

    fn enter(&self, cache: TargetCaches) {
        self.target_cache.set(cache);
    }

    fn read_code(&self, va: GpuVa, out: &mut [u8]) -> Result<(), PageFault> {
        let before = self.route.replace((Client::Instructions, Reach::Unit));
        self.check_prefetch(va);
        let read = self.read(va, out);
        self.route.set(before);
        read
    }

    fn read_lanes(&self, addresses: &[u64; 64], lanes: u64, out: &mut [u32; 64]) -> Result<(), PageFault> {
        let _held = self.caches.accesses.lock();
        let read = self.space.read_lanes(addresses, lanes, out);
        if read.is_ok()
            && let Some(access) = LaneAddresses::new(addresses, lanes)
            && let Some((first, count)) = access.row()
        {
            self.check_read(GpuVa::from_48_bits(access.first()), out[first..first + count].as_mut_bytes(), false);
            return read;
        }
        for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
            // Lanes that cannot be read are in no BO.
            self.check_read(GpuVa::from_48_bits(addresses[lane]), out[lane].as_mut_bytes(), false);
        }
        read
    }

    fn write(&self, va: GpuVa, data: &[u8]) -> Result<(), PageFault> {
        let _held = self.caches.accesses.lock();
        self.check_write(va, data, false);
        self.space.write(va, data)
    }

    fn write_lanes(&self, addresses: &[u64; 64], lanes: u64, data: &[u32; 64]) -> Result<(), PageFault> {
        let _held = self.caches.accesses.lock();
        if let Some(access) = LaneAddresses::new(addresses, lanes)
            && let Some((first, count)) = access.row()
        {
            self.check_write(GpuVa::from_48_bits(access.first()), data[first..first + count].as_bytes(), false);
        } else {
            for lane in (0..64).filter(|lane| lanes >> lane & 1 != 0) {
                self.check_write(GpuVa::from_48_bits(addresses[lane]), data[lane].as_bytes(), false);
            }
        }
        self.space.write_lanes(addresses, lanes, data)
    }

    fn update(&self, va: GpuVa, bytes: u8, change: &mut dyn FnMut(u64) -> u64) -> Result<u64, PageFault> {
        let _held = self.caches.accesses.lock();
        let len = usize::from(bytes).min(8);
        // Atomics happen in L2, or in memory for agents that bypass it: a read and a write.
        let mut before = [0; 8];
        self.space.read(va, &mut before[..len])?;
        // The operation itself is on memory.
        self.check_read(va, &mut { before }[..len], true);
        self.check_write(va, &change(u64::from_le_bytes(before)).to_le_bytes()[..len], true);
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
