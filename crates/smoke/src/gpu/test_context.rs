//! The environment of a check: an open device and the operations that all checks share.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use amdgpu_winsys::{
    cs::{CommandList, Fence, HangReport, Queue, Submission},
    heaps::{Addressing, AllocateFlags, AllocateInfo, DeviceMemory, MemoryManager, MemoryPropertyFlags, TableOptions},
    uapi::CtxStateFlags,
    winsys::{Context, Deadline, Device, Errno, Mapped, PageFault, Priority, VaMap},
};

use crate::{
    gpu::{
        packet_trace::{Bound, PacketTrace},
        pattern,
        recorder::Recorder,
        ring::Ring,
        target::Target,
    },
    result::{
        bandwidth::Bandwidth,
        evidence::Evidence,
        outcome::{ErrorContext, Stop, fail},
        peers::PeerCopy,
        report::Facts,
        tested::{Progress, Tested},
    },
};

/// Time limit of a job: far more than any needs, less than the kernel's own time-out.
const JOB_TIME: Duration = Duration::from_secs(4);

/// A sequence number that no context has issued.
const NEVER_ISSUED: u64 = 1 << 40;

/// Bindings that went, of which the names are remembered.
const REMEMBERED: usize = 1024;

/// User settings that apply to all checks.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Settings {
    /// Seed of the random numbers.
    pub(crate) seed: u32,
    /// The most bytes that a check may take at once; what [`TestContext::ceiling`] says where nothing was chosen.
    pub(crate) memory: Option<u64>,
    /// `true` if a real computer may be suspended.
    pub(crate) may_suspend: bool,
    /// `true` if a real GPU may be taken out.
    pub(crate) may_unplug: bool,
    /// Told whenever a job is done: the check is at work.
    pub(crate) pulse: Option<fn()>,
    /// Told how far a long check has come.
    pub(crate) progress: Option<fn(Progress)>,
}

/// GPU state that can change during a check without an error of the check itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    /// Resets that lost VRAM.
    vram_lost: Option<u32>,
    /// BOs that were moved out of VRAM.
    evictions: Option<u64>,
    fault: Option<PageFault>,
}

/// An open device and its memory manager.
pub(crate) struct TestContext<'a> {
    pub(crate) target: &'a Target,
    pub(crate) settings: Settings,
    pub(crate) device: Device,
    pub(crate) memory: MemoryManager,
    pub(crate) rings: Vec<Ring>,
    /// A context that submits nothing: what resets do to it was done by others. None where the kernel grants none.
    witness: Option<Context>,
    vram_lost: Option<u32>,
    is_stand_in: bool,
    map: VaMap,
    /// Packets recorded last.
    trace: RefCell<Option<PacketTrace>>,
    /// Bandwidths of the check that runs.
    bandwidths: RefCell<Vec<Bandwidth>>,
    /// Copies between GPUs of the check that runs.
    peers: RefCell<Vec<PeerCopy>>,
    /// Memory that the check that runs has tested.
    tested: Cell<Option<Tested>>,
    /// Report of the last job that did not finish.
    hang: RefCell<Option<HangReport>>,
}

impl<'a> TestContext<'a> {
    pub(crate) fn open(target: &'a Target, settings: Settings) -> Result<Self, Stop> {
        let map = VaMap::new(REMEMBERED);
        let device = target.open_observed(map.clone()).context("opening the device")?;
        let memory = MemoryManager::new(&device, &TableOptions::default()).context("building the memory tables")?;
        let rings = Ring::all(device.info());
        let witness = Context::new(&device, Priority::Normal);
        let is_stand_in = match &witness {
            Ok(context) => rings
                .first()
                .is_some_and(|ring| context.wait(ring.ip, ring.index, NEVER_ISSUED, Deadline::POLL).is_ok()),
            // It said yes and answered nothing.
            Err(error) => error.errno() == Some(Errno::EBADF),
        };
        let witness = witness.ok();
        let vram_lost = device.vram_lost_counter().ok();
        let (trace, bandwidths, peers, tested, hang) = Default::default();
        Ok(Self {
            target,
            settings,
            device,
            memory,
            rings,
            witness,
            vram_lost,
            is_stand_in,
            map,
            trace,
            bandwidths,
            peers,
            tested,
            hang,
        })
    }

    /// `len` bytes that look random, for this run's seed.
    pub(crate) fn pattern(&self, seed: u32, len: usize) -> Vec<u8> {
        pattern::pattern(seed ^ self.settings.seed, len)
    }

    /// The most bytes that a check may take at once: what the user says, else half of what the fullest heap has left, and
    /// no more than 4 GiB, or than 64 MiB of a simulated GPU's, which are this machine's.
    pub(crate) fn ceiling(&self) -> u64 {
        let most = if self.target.gpu().simulated { 64 << 20 } else { 4 << 30 };
        self.settings.memory.unwrap_or_else(|| {
            let budgets = self.memory.budgets(amdgpu_winsys::heaps::BudgetRule::Corrected);
            let left = budgets.map(|budgets| {
                budgets.heaps().iter().map(|heap| heap.budget.saturating_sub(heap.usage)).min().unwrap_or(0)
            });
            left.map_or(0, |left| left / 2).min(most)
        })
    }

    /// Returns the GPU's current condition.
    pub(crate) fn condition(&self) -> Condition {
        Condition {
            vram_lost: self.device.vram_lost_counter().ok(),
            evictions: self.device.evictions().ok(),
            fault: self.device.page_fault().ok().flatten(),
        }
    }

    /// The page fault that is new since then, with whose address it is.
    pub(crate) fn fault_since(&self, before: &Condition) -> Option<String> {
        let fault = self.device.page_fault().ok().flatten()?;
        (before.fault != Some(fault)).then(|| self.map.explain(&fault))
    }

    /// Returns the evidence that a failed check leaves besides its own message.
    pub(crate) fn evidence_since(&self, before: &Condition) -> Evidence {
        let now = self.condition();
        let mut changes = Vec::new();
        if now.vram_lost != before.vram_lost {
            changes.push(format!("VRAM_LOST_COUNTER {:?}, then {:?}", before.vram_lost, now.vram_lost));
        }
        if now.evictions != before.evictions {
            changes.push(format!("NUM_EVICTIONS {:?}, then {:?}", before.evictions, now.evictions));
        }
        if let Some(Ok(state)) = self.witness.as_ref().map(Context::state)
            && !state.is_empty()
        {
            changes.push(format!("QUERY_STATE2 of a context that did nothing: {state:?}"));
        }
        let ib = self.trace.borrow().as_ref().map(PacketTrace::lines).unwrap_or_default();
        let hang = self.hang.borrow().as_ref().map(ToString::to_string).unwrap_or_default();
        let hang = hang.lines().map(str::to_owned).collect();
        Evidence { fault: self.fault_since(before), changes, hang, ib, ..Evidence::default() }
    }

    /// Forgets what was recorded.
    pub(crate) fn rewind(&self) {
        self.trace.replace(None);
        self.hang.replace(None);
        self.bandwidths.take();
        self.peers.take();
        self.tested.take();
    }

    /// Keeps a bandwidth for the result of the check that runs.
    pub(crate) fn measured(&self, bandwidth: Bandwidth) {
        self.bandwidths.borrow_mut().push(bandwidth);
    }

    /// Takes the bandwidths that were kept since the last [`TestContext::rewind`].
    pub(crate) fn take_bandwidths(&self) -> Vec<Bandwidth> {
        self.bandwidths.take()
    }

    /// Keeps copies between GPUs for the result of the check that runs.
    pub(crate) fn copied_between(&self, copies: Vec<PeerCopy>) {
        self.peers.replace(copies);
    }

    /// Takes the copies between GPUs that were kept since the last [`TestContext::rewind`].
    pub(crate) fn take_peers(&self) -> Vec<PeerCopy> {
        self.peers.take()
    }

    /// Keeps the memory that was tested for the result of the check that runs.
    pub(crate) fn tested(&self, tested: Tested) {
        self.tested.set(Some(tested));
    }

    /// Takes the tested memory that was kept since the last [`TestContext::rewind`].
    pub(crate) fn take_tested(&self) -> Option<Tested> {
        self.tested.take()
    }

    /// Tells how far the check that runs has come.
    pub(crate) fn progress(&self, progress: Progress) {
        if let Some(tell) = self.settings.progress {
            tell(progress);
        }
    }

    /// Gives memory a name for the report of a page fault.
    pub(crate) fn name(&self, memory: &DeviceMemory, name: &str) {
        self.map.name(memory.bo().handle(), name);
    }

    /// The ring of an IP with the lowest number, else any.
    pub(crate) fn ring_of(&self, ip: amdgpu_winsys::winsys::Ip) -> Result<Ring, Stop> {
        let found = self.rings.iter().find(|ring| ring.ip == ip).or_else(|| self.rings.first());
        found.copied().map_or_else(|| crate::result::outcome::skip("no ring takes packets"), Ok)
    }

    /// Returns `true` if the kernel accepts what every real one refuses: it only pretends, as Mesa's no-op shim does.
    pub(crate) fn is_stand_in(&self) -> bool {
        self.is_stand_in
    }

    /// Returns the facts about the GPU for the report.
    pub(crate) fn facts(&self) -> Facts {
        Facts::new(self.device.info(), self.memory.properties(), &self.rings, self.is_stand_in)
    }

    /// Returns the reason if the GPU can no longer be trusted.
    pub(crate) fn lost(&self) -> Option<String> {
        if self.device.ping().is_err_and(|error| error.errno() == Some(Errno::ENODEV)) {
            return Some("the GPU is gone".to_owned());
        }
        let lost = CtxStateFlags::RESET | CtxStateFlags::VRAMLOST | CtxStateFlags::RESET_IN_PROGRESS;
        if let Some(Ok(state)) = self.witness.as_ref().map(Context::state)
            && state.intersects(lost)
        {
            return Some(format!("the GPU was reset: {state:?}"));
        }
        let (before, now) = self.vram_lost.zip(self.device.vram_lost_counter().ok())?;
        (before != now).then(|| format!("VRAM was lost: counter {now}, was {before}"))
    }

    /// The queue of a fresh context on one ring.
    pub(crate) fn queue(&self, ring: Ring) -> Result<Queue, Stop> {
        Queue::new(&self.context()?, ring.ip, ring.index).context("making the queue")
    }

    /// A fresh context.
    pub(crate) fn context(&self) -> Result<Context, Stop> {
        match Context::new(&self.device, Priority::Normal) {
            Ok(context) => Ok(context),
            Err(error) if self.is_stand_in => {
                fail(format!("nothing executed: no context, though the kernel said yes: {error}"))
            }
            Err(error) => Err(error).context("allocating a context"),
        }
    }

    /// Memory of the type that has the required properties and most of the preferred ones.
    pub(crate) fn allocate(
        &self,
        size: u64,
        required: MemoryPropertyFlags,
        preferred: MemoryPropertyFlags,
    ) -> Result<DeviceMemory, Stop> {
        self.allocate_as(size, required, preferred, AllocateFlags::empty())
    }

    fn allocate_as(
        &self,
        size: u64,
        required: MemoryPropertyFlags,
        preferred: MemoryPropertyFlags,
        flags: AllocateFlags,
    ) -> Result<DeviceMemory, Stop> {
        let tables = self.memory.properties();
        let usable = tables.buffer_types(Addressing::Bits64, false);
        match tables.find_type(usable, required, preferred) {
            Some(memory_type) => self
                .memory
                .allocate(&AllocateInfo { flags, ..AllocateInfo::new(memory_type, size) })
                .context(&format!("allocating {size} bytes of type {memory_type}")),
            None => fail(format!("no memory type with {required:?}")),
        }
    }

    /// Mapped system memory that the CPU reads through its caches: where jobs and results meet.
    pub(crate) fn host_memory(&self, size: u64) -> Result<HostMemory, Stop> {
        let required = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
        HostMemory::new(self.allocate(size, required, MemoryPropertyFlags::HOST_CACHED)?)
    }

    /// Mapped system memory that the CPU and the GPU, or several rings, access during a job: a ring polls it, or tells another
    /// something there. It bypasses L2 from GFX9 on. Otherwise a ring that polls would find the line of its first look for ever.
    ///
    /// Source: libdrm 2.4.124 `tests/amdgpu/deadlock_tests.c`, which says so.
    pub(crate) fn polled_memory(&self, size: u64) -> Result<HostMemory, Stop> {
        let required = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_COHERENT;
        HostMemory::new(self.allocate_as(size, required, MemoryPropertyFlags::HOST_CACHED, AllocateFlags::BYPASS_L2)?)
    }

    /// Mapped memory of the GPU's own, which the CPU reaches through the BAR; `None` if there is no such type.
    pub(crate) fn visible_memory(&self, size: u64) -> Result<Option<HostMemory>, Stop> {
        let (required, none) =
            (MemoryPropertyFlags::DEVICE_LOCAL | MemoryPropertyFlags::HOST_VISIBLE, MemoryPropertyFlags::empty());
        let tables = self.memory.properties();
        let usable = tables.buffer_types(Addressing::Bits64, false);
        if tables.find_type(usable, required, none).is_none() {
            return Ok(None);
        }
        HostMemory::new(self.allocate(size, required, none)?).map(Some)
    }

    /// Memory that is the GPU's own.
    pub(crate) fn device_memory(&self, size: u64) -> Result<DeviceMemory, Stop> {
        self.allocate(size, MemoryPropertyFlags::DEVICE_LOCAL, MemoryPropertyFlags::empty())
    }

    /// Records a command list for a queue.
    pub(crate) fn record(
        &self,
        queue: &Queue,
        commands: impl FnOnce(&mut Recorder) -> Result<(), amdgpu_winsys::cs::RecordError>,
    ) -> Result<CommandList, Stop> {
        let mut recorder = Recorder::new(&self.device, queue.target()).context("making a stream")?;
        commands(&mut recorder).context("recording")?;
        let (list, trace) = recorder.finish().context("closing a stream")?;
        self.trace.replace(Some(trace.with(Bound::now(&self.map))));
        Ok(list)
    }

    /// Waits for a job. `touched` tells whether memory shows that something ran: with that a job that runs wrong can be
    /// told from one that never ran.
    pub(crate) fn wait(&self, fence: &Fence, touched: impl FnOnce() -> bool) -> Result<(), Stop> {
        let done = fence.wait(Deadline::after(JOB_TIME));
        if !matches!(done, Ok(true)) {
            self.hang.replace(Some(HangReport::new(&self.device).with_fence(fence, None)));
        }
        let done = done.context("waiting for the job")?;
        if done && fence.is_signalled() {
            if let Some(pulse) = self.settings.pulse {
                pulse();
            }
            return Ok(());
        }
        let ran = if touched() { "memory was written, but" } else { "nothing executed:" };
        let why = if done {
            "the kernel calls the job done, and no sequence number was written"
        } else {
            "the job was not done at the deadline"
        };
        let fault = match self.device.page_fault() {
            Ok(Some(fault)) => format!("; last {}", self.map.explain(&fault)),
            _ => String::new(),
        };
        fail(format!("{ran} {why}{fault}"))
    }

    /// Records one command list, submits it to a fresh queue of the ring, and waits for it.
    pub(crate) fn run(
        &self,
        ring: Ring,
        memory: &[&DeviceMemory],
        touched: impl FnOnce() -> bool,
        commands: impl FnOnce(&mut Recorder) -> Result<(), amdgpu_winsys::cs::RecordError>,
    ) -> Result<(), Stop> {
        let queue = self.queue(ring)?;
        let list = self.record(&queue, commands)?;
        let memory: Vec<_> = memory.iter().map(|memory| memory.binding().clone()).collect();
        let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
        let fence = queue.submit(&submission).context("submitting")?;
        self.wait(&fence, touched)
    }
}

/// Device memory with its CPU mapping.
pub(crate) struct HostMemory {
    memory: DeviceMemory,
}

impl HostMemory {
    fn new(memory: DeviceMemory) -> Result<Self, Stop> {
        memory.map().context("mapping it")?;
        Ok(Self { memory })
    }

    /// The memory alone, mapped.
    pub(crate) fn into_memory(self) -> DeviceMemory {
        self.memory
    }

    /// The memory, to name in a submission.
    pub(crate) fn memory(&self) -> &DeviceMemory {
        &self.memory
    }

    /// Returns the GPU address of the byte `offset`.
    pub(crate) fn at(&self, offset: u64) -> Result<amdgpu_winsys::vamgr::GpuVa, Stop> {
        match self.memory.address().checked_add(offset) {
            Some(va) => Ok(va),
            None => fail(format!("{} + {offset:#x} is no address", self.memory.address())),
        }
    }

    /// Stores bytes from the CPU.
    pub(crate) fn write(&self, offset: u64, bytes: &[u8]) -> Result<(), Stop> {
        self.mapping()?.write(offset, bytes).context("writing through the mapping")
    }

    /// Loads bytes with the CPU.
    pub(crate) fn read(&self, offset: u64, len: usize) -> Result<Vec<u8>, Stop> {
        let mut bytes = vec![0; len];
        self.mapping()?.read(offset, &mut bytes).context("reading through the mapping")?;
        Ok(bytes)
    }

    /// Loads dwords with the CPU.
    pub(crate) fn dwords(&self, offset: u64, len: usize) -> Result<Vec<u32>, Stop> {
        let bytes = self.read(offset, len * 4)?;
        Ok(bytes.as_chunks::<4>().0.iter().map(|&dword| u32::from_le_bytes(dword)).collect())
    }

    /// Returns `true` if the first bytes differ from `from`.
    pub(crate) fn differs(&self, from: &[u8]) -> bool {
        self.read(0, from.len()).is_ok_and(|now| now != from)
    }

    fn mapping(&self) -> Result<Mapped<'_>, Stop> {
        self.memory.mapping().map_or_else(|| fail("not mapped"), Ok)
    }
}
