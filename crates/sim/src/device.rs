//! A simulated GPU: what all its open files share.

mod reset;

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Instant,
};

use amdgpu_hw::Ip;
use amdgpu_packets::Target;
use nix::errno::Errno;
use parking_lot::Mutex;

use crate::{
    Profile, SimKernel, SimMachine, SimOptions,
    bo::{Bo, Offsets, Pools},
    census::DeviceCensus,
    complaints::Complaints,
    context::{Context, Entity, Pstate},
    control::Control,
    descriptors::FileId,
    events::{Events, Until},
    gang::Gangs,
    gpu::{Clock, Shaders, Tally},
    machine::Machine,
    names::Names,
    node::Masters,
    ring::Ring,
    shaders::ShaderSlot,
};

/// One simulated GPU, with the kernel driver that serves it.
///
/// Clones are the same GPU. Each [`SimDevice::open`] is another file of its node: handles, addresses and contexts of
/// their own.
///
/// ```
/// use amdgpu_sim::{SimDevice, SimOptions, profile};
/// use amdgpu_winsys::winsys::Device;
///
/// let gpu = SimDevice::new(profile("renoir").ok_or("no such chip")?, SimOptions::default());
/// let device = Device::new(gpu.open())?;
/// assert_eq!(device.info().chip_name(), "RENOIR");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct SimDevice {
    gpu: Arc<Gpu>,
}

impl SimDevice {
    /// A fresh GPU in a machine of its own: nothing allocated, nothing running.
    pub fn new(profile: impl Into<Arc<Profile>>, options: SimOptions) -> Self {
        SimMachine::new().add(profile, options)
    }

    pub(crate) fn on(machine: &Arc<Machine>, profile: Arc<Profile>, options: SimOptions) -> Self {
        Self { gpu: Gpu::new(machine, profile, options) }
    }

    /// The machine it is in.
    pub fn machine(&self) -> SimMachine {
        SimMachine::of(&self.gpu.machine)
    }

    /// Opens its render node once more.
    pub fn open(&self) -> SimKernel {
        SimKernel::new(&self.gpu)
    }

    /// Opens its primary node once more; `is_admin` for a process with CAP_SYS_ADMIN.
    ///
    /// The first file becomes master. What needs a master or a display is refused, and what needs authentication is
    /// refused to other files than an administrator's until the master authenticates them.
    pub fn open_primary(&self, is_admin: bool) -> SimKernel {
        SimKernel::primary(&self.gpu, is_admin)
    }

    /// The chip.
    pub fn profile(&self) -> &Profile {
        &self.gpu.profile
    }

    /// What clients asked for that is wrong or not simulated, in words, oldest first.
    pub fn complaints(&self) -> Vec<String> {
        self.gpu.complaints.list()
    }

    /// What executes shaders from the next draw or dispatch on; there is nothing at first. It is called on the threads of
    /// the rings, and its panics end them.
    pub fn plug_shaders(&self, shaders: Arc<dyn Shaders + Send + Sync>) {
        self.gpu.shaders.plug(shaders);
    }

    /// How many draws and dispatches were started since the device came to life.
    pub fn tally(&self) -> Tally {
        self.gpu.shaders.tally()
    }

    /// The answer to MEMORY: sizes and usage of the heaps now.
    pub fn memory_info(&self) -> amdgpu_uapi::MemoryInfo {
        self.gpu.pools.memory_info()
    }

    /// The process is about to change its mappings in a range of addresses: munmap, mremap, mprotect, a fork's copy on
    /// write. Returns when no job uses user memory there any more, as the real system calls do; the next submission that
    /// lists such a BO looks the pages up again, and is EFAULT where there are none.
    ///
    /// Whoever intercepts system calls calls this before each. Without it nothing breaks: what the GPU finds unmapped
    /// reads zero and takes no writes.
    ///
    /// Source: Linux 6.12 `amdgpu_hmm.c`, `amdgpu_hmm_invalidate_gfx`.
    pub fn before_user_memory_changes(&self, addresses: std::ops::Range<u64>) {
        for bo in self.gpu.offsets.of_user_memory(&addresses) {
            self.gpu.events.wait(Until::Never, || bo.is_idle().then_some(()));
        }
    }

    /// From now on every BO that is evicted while it is idle loses what is in it, or does so no longer: a broken kernel,
    /// to see whether a test notices.
    pub fn lose_evicted(&self, lose: bool) {
        self.gpu.pools.lose_evicted(lose);
    }

    pub(crate) fn pools(&self) -> &Arc<Pools> {
        &self.gpu.pools
    }

    pub(crate) fn control(&self) -> &Arc<Control> {
        &self.gpu.control
    }

    pub(crate) fn events(&self) -> &Arc<Events> {
        &self.gpu.events
    }

    pub(crate) fn ring_count(&self, ip: Ip) -> u32 {
        self.gpu.ring_count(ip)
    }

    pub(crate) fn ticks(&self) -> u64 {
        self.gpu.clock.ticks()
    }

    /// What is alive on the whole device.
    pub fn census(&self) -> DeviceCensus {
        self.gpu.machine.descriptors.sweep();
        let memory = self.gpu.pools.memory_info();
        DeviceCensus {
            files: self.gpu.files.load(Ordering::Acquire),
            bos: self.gpu.offsets.live(),
            vram_bytes: memory.vram.heap_usage,
            visible_vram_bytes: memory.cpu_accessible_vram.heap_usage,
            gtt_bytes: memory.gtt.heap_usage,
        }
    }
}

/// The device behind its files.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) profile: Arc<Profile>,
    pub(crate) options: SimOptions,
    pub(crate) machine: Arc<Machine>,
    pub(crate) names: Mutex<Names>,
    pub(crate) pools: Arc<Pools>,
    pub(crate) offsets: Arc<Offsets>,
    pub(crate) events: Arc<Events>,
    pub(crate) complaints: Arc<Complaints>,
    pub(crate) files: AtomicU32,
    pub(crate) pstate: Mutex<Pstate>,
    pub(crate) masters: Masters,
    pub(crate) control: Arc<Control>,
    pub(crate) clock: Ticker,
    pub(crate) shaders: Arc<ShaderSlot>,
    /// Held while a submission orders itself among all others: its dependencies, its fences, its place in the queues.
    pub(crate) submitting: Mutex<()>,
    pub(crate) gangs: Arc<Gangs>,
    resets: AtomicU32,
    losses: AtomicU32,
    unplugged: AtomicBool,
    rings: Mutex<HashMap<(Ip, u32), Arc<Ring>>>,
}

/// The GPU clock: ticks at its frequency since the device came to life, unless a test has stopped it.
#[derive(Clone, Debug)]
pub(crate) struct Ticker {
    control: Arc<Control>,
    born: Instant,
    khz: u32,
}

impl Clock for Ticker {
    fn ticks(&self) -> u64 {
        if let Some(stopped) = self.control.stopped_clock() {
            return stopped;
        }
        let ticks = self.born.elapsed().as_nanos() * u128::from(self.khz) / 1_000_000;
        u64::try_from(ticks).unwrap_or(u64::MAX)
    }
}

impl Gpu {
    fn new(machine: &Arc<Machine>, profile: Arc<Profile>, options: SimOptions) -> Arc<Self> {
        let control = Arc::<Control>::default();
        let clock =
            Ticker { control: Arc::clone(&control), born: Instant::now(), khz: profile.dev_info.gpu_counter_freq };
        Arc::new(Self {
            options,
            machine: Arc::clone(machine),
            names: Mutex::default(),
            pools: Pools::new(&profile),
            profile,
            offsets: Arc::default(),
            events: Arc::clone(&machine.events),
            complaints: Arc::default(),
            files: AtomicU32::new(0),
            pstate: Mutex::default(),
            masters: Masters::default(),
            control,
            clock,
            shaders: Arc::default(),
            submitting: Mutex::default(),
            gangs: Arc::default(),
            resets: AtomicU32::new(0),
            losses: AtomicU32::new(0),
            unplugged: AtomicBool::new(false),
            rings: Mutex::default(),
        })
    }

    pub(crate) fn resets(&self) -> u32 {
        self.resets.load(Ordering::Acquire)
    }

    pub(crate) fn losses(&self) -> u32 {
        self.losses.load(Ordering::Acquire)
    }

    /// A full reset without loss of VRAM: every job that had started is lost. Not for a culprit that was itself lost to
    /// a reset in the meantime.
    pub(crate) fn reset_for(&self, culprit: &Context, is_lost: impl FnOnce() -> bool) {
        let rings = self.rings.lock();
        if is_lost() {
            return;
        }
        culprit.blame();
        self.reset(rings.values());
        drop(rings);
        self.events.ring();
    }

    /// The kernel killed the waves of a job, or reset its ring alone; whether it came to that before another reset took the
    /// job. Contexts see that there was a reset, and nobody is blamed.
    pub(crate) fn recovered(&self, is_lost: impl FnOnce() -> bool) -> bool {
        let rings = self.rings.lock();
        let recovers = !is_lost();
        self.resets.fetch_add(recovers.into(), Ordering::AcqRel);
        drop(rings);
        recovers
    }

    fn reset<'r>(&self, rings: impl Iterator<Item = &'r Arc<Ring>>) {
        self.resets.fetch_add(1, Ordering::AcqRel);
        rings.for_each(|ring| ring.cancel_running());
    }

    /// The block of an IP, as far as the options let it exist.
    pub(crate) fn ip(&self, ip: Ip) -> Option<amdgpu_uapi::InfoHwIp> {
        self.profile.ip(ip).filter(|_| ip != Ip::Sdma || self.options.sdma)
    }

    /// How many rings of an IP the chip has for user space.
    pub(crate) fn ring_count(&self, ip: Ip) -> u32 {
        self.ip(ip).map_or(0, |block| block.available_rings.count_ones())
    }

    /// Whether a ring of an IP has a job that is to come, waits or runs.
    pub(crate) fn is_busy(&self, ip: Ip) -> bool {
        self.rings.lock().iter().any(|((of, _), ring)| *of == ip && ring.load() > 0)
    }

    /// The ring for the next job of an entity, which counts as the ring's from now on: where its last job still is, else
    /// the least loaded one.
    ///
    /// Source: Linux 6.12 `sched_entity.c`, `drm_sched_entity_select_rq`.
    pub(crate) fn ring_for(self: &Arc<Self>, ip: Ip, entity: &Entity) -> Result<Arc<Ring>, Errno> {
        let mut rings = self.rings.lock();
        let load = |index: &u32| rings.get(&(ip, *index)).map_or(0, |ring| ring.load());
        let free = || (0..self.ring_count(ip)).min_by_key(load);
        let index = entity.busy_on().or_else(free).ok_or(Errno::EINVAL)?;
        let ring = match rings.entry((ip, index)) {
            Entry::Occupied(known) => Arc::clone(known.get()),
            Entry::Vacant(new) => {
                let target = Target::new(self.profile.gfx_level, ip).ok_or(Errno::EINVAL)?;
                Arc::clone(new.insert(Arc::new(Ring::start(self, target, (ip, index))?)))
            }
        };
        ring.reserve();
        entity.settle_on(index);
        Ok(ring)
    }

    /// A file closed a handle of the BO. With the last one in any file the BO lives on only as long as its dma-buf is open.
    pub(crate) fn handle_closed(&self, bo: &Bo) {
        let link = self.names.lock().handle_closed(bo);
        let id = link.as_ref().and_then(|link| FileId::of(link).ok());
        drop(link);
        if let Some(id) = id {
            self.machine.descriptors.orphan(id);
        }
    }
}
