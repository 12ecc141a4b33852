//! The state that all files of a device share.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};

use amdgpu_hw::{Chip, GfxLevel, Ip};
use amdgpu_packets::Target;
use amdgpu_uapi::{Errno, GemDomain, InfoHwIp};
use parking_lot::Mutex;

use crate::{
    chips::{Profile, VideoBlock},
    features::Features,
    gpu::video::VideoEngine,
    kernel::{
        client,
        complaints::Complaints,
        files::{file_id::FileId, names::Names, node::Masters},
        health::Health,
        machine::Machine,
        mm::bo::{Bo, Offsets, PAGE, Pinned, Pools},
        modes::{Modes, Screen},
        power::{Power, Process, RuntimePm, RuntimeState, WakeCause, clock::Ticker},
        sched::{
            context::{Context, Entity, Pstate},
            gang::Gangs,
            interpreter::{Interpreter, tiling},
            processor::Executor,
            resets::{ResetKinds, RingReset},
            ring::{Board, Recovery, Ring},
            shaders::ShaderSlot,
            skipped::Skipped,
        },
        strict::Caches,
        sync::events::Events,
        userq::Slots,
    },
    options::{SimOptions, Strictness},
    testing::{control::Control, hooks::Hooks},
};

/// The state that all files of a device share.
#[derive(Debug)]
pub(crate) struct Gpu {
    pub(crate) profile: Arc<Profile>,
    /// The video engines of the chip, including those without a ring.
    pub(crate) video: Vec<VideoBlock>,
    pub(crate) options: SimOptions,
    pub(crate) machine: Arc<Machine>,
    pub(crate) names: Mutex<Names>,
    pub(crate) pools: Arc<Pools>,
    /// The VRAM that the kernel itself uses.
    _own: Option<Pinned>,
    pub(crate) offsets: Arc<Offsets<Bo>>,
    pub(crate) events: Arc<Events>,
    pub(crate) complaints: Arc<Complaints>,
    /// The model of the caches, in the strict mode.
    pub(crate) caches: Option<Arc<Caches>>,
    pub(crate) files: AtomicU32,
    pub(crate) pstate: Mutex<Pstate>,
    pub(crate) masters: Masters,
    /// The display engine, for requests about modes.
    pub(crate) modes: Modes,
    /// The connected display.
    pub(crate) screen: Option<Arc<Screen>>,
    pub(crate) control: Arc<Control>,
    pub(crate) clock: Ticker,
    pub(crate) shaders: Arc<ShaderSlot>,
    /// The draws that were not executed.
    pub(crate) skipped: Arc<Skipped>,
    /// Power management, with the activity of the rings.
    pub(crate) power: Arc<Power>,
    /// Counts of hardware errors, and lasting faults.
    pub(crate) health: Arc<Health>,
    /// Held while a submission is ordered among all others: its dependencies, its fences, and its place in the queues.
    pub(crate) submitting: Mutex<()>,
    pub(crate) gangs: Arc<Gangs>,
    resets: AtomicU32,
    losses: AtomicU32,
    unplugged: AtomicBool,
    rings: Mutex<HashMap<(Ip, u32), Arc<Ring>>>,
    /// The fences of the device's user queues in memory.
    pub(crate) slots: Arc<Slots>,
}

impl Gpu {
    pub(crate) fn new(machine: &Arc<Machine>, profile: Arc<Profile>, options: SimOptions) -> Arc<Self> {
        let control = Arc::<Control>::default();
        let hooks: Arc<dyn Hooks> = Arc::<Control>::clone(&control);
        let clock = Ticker::new(hooks, profile.dev_info.gpu_counter_freq);
        let skipped = Arc::<Skipped>::default();
        let shaders = if options.shaders {
            ShaderSlot::new(Arc::new(Interpreter::new(&options, &profile, None, &skipped)))
        } else {
            ShaderSlot::default()
        };
        let has_runtime_pm = options.runtime_pm && has_runtime_pm(&profile);
        let power = Power::new(has_runtime_pm.then(|| RuntimePm::new(clock.clone(), options.display.is_some())));
        let (pools, complaints) = (Pools::new(&profile), Arc::<Complaints>::default());
        let own = Some(options.kernel_vram).filter(|&bytes| bytes <= profile.memory.vram.total_heap_size);
        let own = own.and_then(|bytes| pools.pin(GemDomain::VRAM, false, bytes.next_multiple_of(PAGE)).ok());
        if own.is_none() {
            complaints.say(format!("VRAM has no room for the kernel's own {} bytes", options.kernel_vram));
        }
        let is_checked = options.strictness != Strictness::Off;
        let bites = options.strictness == Strictness::Bite;
        let caches = is_checked.then(|| Arc::new(Caches::new(profile.gfx_level, &profile.name, bites)));
        let modes = Modes::new(profile.is_apu());
        let is_by_rule = options.video && profile.video.is_empty();
        let video = if is_by_rule { profile.video_by_rule() } else { profile.video.clone() };
        Arc::new(Self {
            video,
            _own: own,
            options,
            machine: Arc::clone(machine),
            names: Mutex::default(),
            pools,
            modes,
            screen: options
                .display
                .map(|display| Screen::new(display, &profile, options.drm_minor, modes, &machine.events)),
            profile,
            offsets: Arc::default(),
            events: Arc::clone(&machine.events),
            complaints,
            caches,
            files: AtomicU32::new(0),
            pstate: Mutex::default(),
            masters: Masters::default(),
            control,
            clock,
            shaders: Arc::new(shaders),
            skipped,
            power: Arc::new(power),
            health: Arc::default(),
            submitting: Mutex::default(),
            gangs: Arc::default(),
            resets: AtomicU32::new(0),
            losses: AtomicU32::new(0),
            unplugged: AtomicBool::new(false),
            rings: Mutex::default(),
            slots: Arc::default(),
        })
    }

    /// Performs an action on the state of runtime power management, after a suspension that is due. Returns `None` if the driver has
    /// none for this device.
    pub(crate) fn runtime<T>(&self, action: impl FnOnce(&mut RuntimeState, Duration) -> T) -> Option<T> {
        let (result, fell_asleep) = self.power.runtime.as_ref()?.with(action);
        if fell_asleep {
            self.pools.evict_vram();
        }
        Some(result)
    }

    /// Suspends the GPU if that is due.
    pub(crate) fn suspend_if_due(&self) {
        self.runtime(|_, _| ());
    }

    /// Resumes the GPU if it is suspended, and keeps it active until the result is dropped.
    ///
    /// Source: Linux 6.12 `amdgpu_kms.c`, `amdgpu_driver_open_kms` and `amdgpu_driver_postclose_kms`; `amdgpu_drv.c`,
    /// `amdgpu_drm_ioctl`.
    pub(crate) fn awake(&self, process: impl FnOnce() -> Process, cause: WakeCause) -> Option<Awake<'_>> {
        self.runtime(|state, now| state.get(now, process, cause))?;
        Some(Awake(&self.power))
    }

    pub(crate) fn resets(&self) -> u32 {
        self.resets.load(Ordering::Acquire)
    }

    pub(crate) fn losses(&self) -> u32 {
        self.losses.load(Ordering::Acquire)
    }

    /// Resets the whole GPU, without a guilty job.
    pub(crate) fn reset_all(&self, loses_vram: bool) {
        let rings = self.rings.lock();
        self.losses.fetch_add(loses_vram.into(), Ordering::AcqRel);
        self.reset(rings.values());
        drop(rings);
        self.events.ring();
    }

    pub(crate) fn unplug(&self) {
        // The driver resumes the GPU before it lets go of it (Linux 6.12 `amdgpu_drv.c`, `amdgpu_pci_remove`).
        self.runtime(|state, now| state.get(now, current_process, WakeCause::Write("remove".to_owned())));
        self.unplugged.store(true, Ordering::Release);
        self.rings.lock().values().for_each(|ring| ring.cancel_running());
        self.events.ring();
    }

    /// Returns `true` if the GPU was unplugged, which every request checks first.
    pub(crate) fn is_unplugged(&self) -> bool {
        self.unplugged.load(Ordering::Acquire)
    }

    /// Returns the parts of the device that a ring uses.
    pub(crate) fn board(self: &Arc<Self>, ip: Ip, executor: Executor) -> Board {
        let hooks: Arc<dyn Hooks> = Arc::<Control>::clone(&self.control);
        let gpu: Weak<Self> = Arc::downgrade(self);
        Board {
            gpu,
            events: Arc::clone(&self.events),
            complaints: Arc::clone(&self.complaints),
            hooks,
            clock: self.clock.clone(),
            shaders: Arc::clone(&self.shaders),
            power: Arc::clone(&self.power),
            health: Arc::clone(&self.health),
            render_backends: self.profile.dev_info.enabled_rb_pipes_mask,
            wide_fills: self.options.wide_fills,
            tiling: tiling(&self.profile),
            lockup_timeout: self.options.lockup_timeout,
            caches: self.caches.clone(),
            features: self.options.features,
            ring_reset: RingReset::of(&self.options, self.reset_kinds(ip), (ip, executor)),
        }
    }

    fn reset<'r>(&self, rings: impl Iterator<Item = &'r Arc<Ring>>) {
        self.resets.fetch_add(1, Ordering::AcqRel);
        rings.for_each(|ring| ring.cancel_running());
    }

    /// Returns the block of an IP, if the options enable it.
    pub(crate) fn ip(&self, ip: Ip) -> Option<InfoHwIp> {
        let video = || self.video(ip).map(|known| known.block).filter(|block| block.available_rings != 0);
        self.profile.ip(ip).filter(|_| ip != Ip::Sdma || self.options.sdma).or_else(video)
    }

    /// Returns `true` if the kernel has all of these features.
    pub(crate) const fn has(&self, features: Features) -> bool {
        self.options.features.contains(features)
    }

    /// Returns `true` if processes may create user queues.
    ///
    /// Source: Linux 6.17 `gfx_v11_0.c`, `gfx_v11_0_early_init` and `gfx_v11_0_sw_init`; `amdgpu_userq.c`.
    pub(crate) fn has_user_queues(&self) -> bool {
        self.options.user_queues && self.has(Features::USER_QUEUES) && self.profile.gfx_level >= GfxLevel::Gfx11
    }

    /// Returns a mask of the IPs that support user queues.
    ///
    /// Source: Linux 6.17 `amdgpu_userq.c`, `amdgpu_userq_get_supported_ip_mask`.
    pub(crate) fn user_queue_ips(&self) -> u32 {
        let has = |ip: &Ip| self.has_user_queues() && self.ring_count(*ip) > 0;
        [Ip::Gfx, Ip::Compute, Ip::Sdma].iter().filter(|ip| has(ip)).map(|&ip| 1 << ip as u32).sum()
    }

    /// Returns the kinds of reset of an IP's rings; `None` if the kernel has no file that lists them.
    pub(crate) fn reset_kinds(&self, ip: Ip) -> Option<ResetKinds> {
        let version = self.ip(ip)?.hw_ip_version_major;
        ResetKinds::of(&self.profile, self.options.features, (ip, version))
    }

    /// Returns the video engines of an IP, which may have no ring.
    pub(crate) fn video(&self, ip: Ip) -> Option<&VideoBlock> {
        self.video.iter().find(|known| known.ip == ip)
    }

    /// Returns the executor of an IP's rings.
    pub(crate) fn executor(&self, ip: Ip) -> Option<Executor> {
        let engine = Target::new(self.profile.gfx_level, ip).map(Executor::Engine);
        engine.or_else(|| self.video_engine(ip).map(Executor::Video))
    }

    /// Returns the video engine of an IP's rings.
    pub(crate) fn video_engine(&self, ip: Ip) -> Option<VideoEngine> {
        let block = self.video(ip)?.block;
        VideoEngine::new(ip, block.hw_ip_version_major, block.hw_ip_version_minor)
    }

    /// Returns the number of an IP's rings for user space.
    pub(crate) fn ring_count(&self, ip: Ip) -> u32 {
        self.ip(ip).map_or(0, |block| block.available_rings.count_ones())
    }

    /// Returns `true` if a ring of an IP has a pending, waiting or running job.
    pub(crate) fn is_busy(&self, ip: Ip) -> bool {
        self.rings.lock().iter().any(|((of, _), ring)| *of == ip && ring.load() > 0)
    }

    /// Returns the ring for the next job of an entity, and counts the job as load of the ring. This is the ring of its last job if
    /// that has not ended, otherwise the ring with the least load.
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
                let executor = self.executor(ip).ok_or(Errno::EINVAL)?;
                Arc::clone(new.insert(Arc::new(Ring::start(self.board(ip, executor), executor, (ip, index))?)))
            }
        };
        ring.reserve();
        entity.settle_on(index);
        Ok(ring)
    }

    /// Returns the rings that have had jobs.
    pub(crate) fn rings(&self) -> Vec<Arc<Ring>> {
        self.rings.lock().values().cloned().collect()
    }

    /// Handles the closing of a BO's handle by a file. After the last handle of all files, the BO lives only as long as its dma-buf
    /// is open.
    pub(crate) fn handle_closed(&self, bo: &Bo) {
        let link = self.names.lock().handle_closed(bo);
        let id = link.as_ref().and_then(|link| FileId::of(link).ok());
        drop(link);
        if let Some(id) = id {
            self.machine.descriptors.orphan(id);
        }
    }
}

/// A use of the GPU, which is not suspended until it is dropped.
#[must_use = "the GPU is kept active until it is dropped"]
pub(crate) struct Awake<'g>(&'g Power);

impl Drop for Awake<'_> {
    fn drop(&mut self) {
        self.0.end_use();
    }
}

/// Returns the process that accesses the GPU on this thread.
pub(crate) fn current_process() -> Process {
    Process::of(client::accessing())
}

/// Returns `true` if the driver suspends chips of this kind.
///
/// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_detect_runtime_pm_mode`; `si.c`, `si_asic_supports_baco`; `amdgpu_gmc.c`,
/// `amdgpu_gmc_noretry_set`.
fn has_runtime_pm(profile: &Profile) -> bool {
    let is_excluded = matches!(profile.chip(), Some(Chip::CHIP_VEGA10 | Chip::CHIP_VEGA20 | Chip::CHIP_ARCTURUS));
    !profile.is_apu() && profile.gfx_level >= GfxLevel::Gfx7 && !is_excluded
}

impl Recovery for Gpu {
    fn is_unplugged(&self) -> bool {
        self.is_unplugged()
    }

    fn losses(&self) -> u32 {
        self.losses()
    }

    fn recovered(&self, is_lost: &dyn Fn() -> bool) -> bool {
        let rings = self.rings.lock();
        let recovers = !is_lost();
        self.resets.fetch_add(recovers.into(), Ordering::AcqRel);
        drop(rings);
        recovers
    }

    fn reset_for(&self, culprit: &Context, is_lost: &dyn Fn() -> bool) -> Errno {
        let rings = self.rings.lock();
        if is_lost() {
            return Errno::ECANCELED;
        }
        let has_entity_errors = self.has(Features::ENTITY_ERRORS);
        if !has_entity_errors {
            culprit.blame();
        }
        self.reset(rings.values());
        drop(rings);
        self.events.ring();
        if has_entity_errors { Errno::ETIME } else { Errno::ECANCELED }
    }
}
