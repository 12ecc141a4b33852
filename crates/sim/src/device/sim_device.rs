//! Simulated GPUs for tests and programs.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use amdgpu_hw::Ip;
use amdgpu_waves::Watch;

use crate::{
    SkippedDraws,
    chips::Profile,
    display::Picture,
    features::Features,
    gpu::{Clock, Shaders, Tally},
    kernel::{
        board::Facts,
        card::Gpu,
        files::census::DeviceCensus,
        health::{HardwareError, Health},
        mm::bo::Pools,
        power::{Figures, LoadScript},
        sched::{
            resets::ResetKinds,
            shader_watch::{ShaderSink, Watching},
        },
        sim_kernel::SimKernel,
        sim_machine::SimMachine,
        strict::{Caches, HazardReport, TrialReport},
        sync::events::{Events, Until},
    },
    options::{SimOptions, place::Place},
    testing::control::Control,
};

/// A simulated GPU with its kernel driver.
///
/// Clones refer to the same GPU. Each call of [`SimDevice::open`] creates another open file of its node, with separate handles,
/// addresses and contexts.
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
    /// Creates a GPU in a new machine. It has no allocations and no running work.
    pub fn new(profile: impl Into<Arc<Profile>>, options: SimOptions) -> Self {
        SimMachine::new().add(profile, options)
    }

    /// Returns the machine that contains the GPU.
    pub fn machine(&self) -> SimMachine {
        SimMachine::of(&self.gpu.machine)
    }

    /// Opens the render node, and returns the open file.
    pub fn open(&self) -> SimKernel {
        SimKernel::new(&self.gpu)
    }

    /// Opens the primary node. `is_admin` is `true` for a process with CAP_SYS_ADMIN.
    ///
    /// The first file becomes the DRM master. Requests that need a master or a display are refused without one. Requests that need
    /// authentication are refused until the master authenticates the file, unless it is an administrator's.
    pub fn open_primary(&self, is_admin: bool) -> SimKernel {
        SimKernel::primary(&self.gpu, is_admin)
    }

    /// Returns the profile of the chip.
    pub fn profile(&self) -> &Profile {
        &self.gpu.facts.profile
    }

    /// Returns the complaints about requests that are invalid or not simulated, the oldest first.
    pub fn complaints(&self) -> Vec<String> {
        self.gpu.board.complaints.list()
    }

    /// Returns the number of complaints.
    pub fn complaint_count(&self) -> usize {
        self.gpu.board.complaints.count()
    }

    /// Returns the jobs that hung, the oldest first; at most 64 are kept.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    /// assert!(gpu.hangs().is_empty()); // nothing has run
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hangs(&self) -> Vec<crate::HangRecord> {
        self.gpu.board.complaints.hangs()
    }

    /// Returns the number of jobs that hung, of which [`hangs`](Self::hangs) are the first 64.
    pub fn hang_count(&self) -> usize {
        self.gpu.board.complaints.hang_count()
    }

    /// Returns the hazards that the strict mode has found, in the order in which jobs were submitted; none with [`Strictness::Off`](crate::Strictness::Off).
    /// At most 1000 are kept, and each pair of places once.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, Strictness, profile};
    ///
    /// let options = SimOptions { strictness: Strictness::Report, ..SimOptions::default() };
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    /// assert!(gpu.hazards().is_empty()); // nothing has run
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hazards(&self) -> Vec<HazardReport> {
        self.gpu.board.caches().map(Caches::reports).unwrap_or_default()
    }

    /// Returns what became of the stream without each of its cache operations and waits, with
    /// [`Strictness::Trials`](crate::Strictness::Trials); trials that still run end.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, Strictness, profile};
    ///
    /// let options = SimOptions { strictness: Strictness::Trials, ..SimOptions::default() };
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    /// assert!(gpu.trials().is_empty()); // nothing has run
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn trials(&self) -> Vec<TrialReport> {
        self.gpu.board.caches().map(Caches::trials).unwrap_or_default()
    }

    /// Replaces the executor of shaders, starting with the next draw or dispatch. The default is the simulator's interpreter for
    /// compute shaders, unless [`SimOptions::shaders`] disables it. The executor is called on the threads of the rings; if it
    /// panics, the ring's thread ends.
    pub fn plug_shaders(&self, shaders: Arc<dyn Shaders + Send + Sync>) {
        self.gpu.board.shaders.plug(shaders);
    }

    /// Reports the execution of compute shaders to `sink`, starting with the next dispatch. Waves then run one after the other.
    /// This replaces the executor of [`plug_shaders`](Self::plug_shaders). It costs nothing on devices that are not watched.
    ///
    /// ```
    /// use amdgpu_sim::{ShaderWatch, SimDevice, SimOptions, TracedWaves, profile, shader_log};
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    /// let first = TracedWaves::One { group: [0; 3], wave: 0 };
    /// let watch = ShaderWatch { trace: Some(first), races: true, ..ShaderWatch::default() };
    /// gpu.watch_shaders(watch, shader_log(std::io::stderr(), false));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn watch_shaders(&self, watch: Watch, sink: ShaderSink) {
        self.gpu.board.watch_shaders(Watching { watch, sink });
    }

    /// Returns the number of draws and dispatches since the device was created.
    pub fn tally(&self) -> Tally {
        self.gpu.board.shaders.tally()
    }

    /// Returns the draws that were not executed since the device was created, by reason: the features that are not simulated.
    pub fn skipped_draws(&self) -> Vec<SkippedDraws> {
        self.gpu.board.skipped.list()
    }

    /// Returns the answer to MEMORY: the current sizes and usage of the heaps.
    pub fn memory_info(&self) -> amdgpu_uapi::MemoryInfo {
        self.gpu.suspend_if_due();
        self.gpu.pools.memory_info()
    }

    /// Prepares for a change of the process's mappings in a range of addresses: munmap, mremap, mprotect, or the copy-on-write of a
    /// fork. Returns once no job uses user memory in the range, like these system calls on Linux. The next submission that lists
    /// such a BO looks up the pages again, and fails with EFAULT if there are none.
    ///
    /// A layer that intercepts system calls must call this before each of them. Without the call nothing breaks: GPU reads of
    /// unmapped pages return zero and writes are ignored.
    ///
    /// Source: Linux 6.12 `amdgpu_hmm.c`, `amdgpu_hmm_invalidate_gfx`.
    pub fn before_user_memory_changes(&self, addresses: std::ops::Range<u64>) {
        for bo in self.gpu.bos.offsets.of_user_memory(&addresses) {
            self.gpu.machine.events.wait(Until::Never, || bo.is_idle().then_some(()));
        }
    }

    /// Sets whether idle BOs lose their contents when they are evicted. This simulates a broken kernel, to check that tests notice.
    pub fn lose_evicted(&self, lose: bool) {
        self.gpu.pools.lose_evicted(lose);
    }

    pub(crate) fn pools(&self) -> &Arc<Pools> {
        &self.gpu.pools
    }

    pub(crate) fn control(&self) -> &Arc<Control> {
        &self.gpu.board.control
    }

    pub(crate) fn events(&self) -> &Arc<Events> {
        &self.gpu.machine.events
    }

    pub(crate) fn ring_count(&self, ip: Ip) -> u32 {
        self.gpu.facts.ring_count(ip)
    }

    pub(crate) fn ticks(&self) -> u64 {
        Clock::ticks(&self.gpu.board.clock)
    }

    /// Returns the numbers of objects of the whole device.
    pub fn census(&self) -> DeviceCensus {
        self.gpu.machine.descriptors.sweep();
        let memory = self.memory_info();
        DeviceCensus {
            files: self.gpu.files.load(Ordering::Acquire),
            bos: self.gpu.bos.offsets.live(),
            vram_bytes: memory.vram.heap_usage,
            visible_vram_bytes: memory.cpu_accessible_vram.heap_usage,
            gtt_bytes: memory.gtt.heap_usage,
        }
    }

    /// Resets the GPU, like the kernel's `amdgpu_gpu_recover` file: every job that has started ends with ECANCELED, and no context
    /// is guilty.
    ///
    /// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_gpu_recover`.
    pub fn reset(&self) {
        self.gpu.rings.reset_all(false);
    }

    /// Resets the GPU and loses VRAM, as most discrete cards do. In addition to the effects of [`SimDevice::reset`], the counter of
    /// VRAM losses increases, existing contexts can no longer run jobs, and user queues hang since Linux 7.2. On hardware the
    /// contents of VRAM are then undefined; here they are unchanged.
    pub fn reset_and_lose_vram(&self) {
        self.gpu.rings.reset_all(true);
    }

    /// Removes the GPU permanently: all requests and mmaps of its files fail with ENODEV, and every job ends with ECANCELED.
    /// Existing mappings and descriptors stay valid.
    ///
    /// Source: Linux 6.12 `amdgpu_drv.c`, `amdgpu_pci_remove`; `drm_ioctl.c`, `drm_ioctl`.
    pub fn unplug(&self) {
        self.gpu.unplug();
    }

    /// Returns `true` if the GPU has been [unplugged](Self::unplug).
    pub fn is_unplugged(&self) -> bool {
        self.gpu.is_unplugged()
    }

    /// Discovers an unplugged GPU again, like a write to `rescan` of the PCI bus. Returns a new device with the same chip and
    /// options in the same machine, at this place. Files of the old device stay unplugged.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    /// use amdgpu_winsys::winsys::Device;
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    /// let before = Device::new(gpu.open())?;
    /// gpu.unplug();
    /// assert!(before.memory_info().is_err());
    /// let again = gpu.found_again(gpu.place());
    /// assert!(Device::new(again.open())?.memory_info().is_ok());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Source: Linux 6.12 `pci-sysfs.c`, `rescan_store`; `amdgpu_drv.c`, `amdgpu_pci_probe`.
    #[must_use]
    pub fn found_again(&self, place: Place) -> Self {
        let options = SimOptions { place, ..self.gpu.facts.options };
        let found = self.machine().add(Arc::clone(&self.gpu.facts.profile), options);
        found.follow_load(self.gpu.board.power.script());
        found
    }

    /// Makes the device report the load of a script; `None` reports the real load of the rings again. The load is visible in
    /// sensors and files if the device's power is managed ([`SimOptions::power`]).
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    /// use amdgpu_winsys::winsys::{Device, Sensor};
    ///
    /// let options = SimOptions { power: true, ..SimOptions::default() };
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    /// gpu.follow_load(Some("60 75 30 71.5".parse()?));
    /// let device = Device::new(gpu.open())?;
    /// assert_eq!(device.sensor(Sensor::Load)?, Some(75));
    /// assert_eq!(device.sensor(Sensor::Temperature)?, Some(71_500));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn follow_load(&self, load: Option<LoadScript>) {
        self.gpu.board.power.follow(load);
    }

    pub(crate) fn power_figures(&self) -> Option<Figures> {
        self.gpu
            .facts
            .options
            .power
            .then(|| self.gpu.board.power.figures(&self.gpu.facts.profile, self.gpu.board.health.heat()))
    }

    /// Returns `true` if the kernel manages power.
    pub(crate) fn has_power_management(&self) -> bool {
        self.gpu.facts.options.power
    }

    pub(crate) const fn gpu(&self) -> &Arc<Gpu> {
        &self.gpu
    }

    pub(crate) fn health(&self) -> &Health {
        &self.gpu.board.health
    }

    /// Returns the number of errors of a kind that were counted.
    pub(crate) fn error_count(&self, error: HardwareError) -> u64 {
        self.health().count(error)
    }

    pub(crate) fn has_ras(&self) -> bool {
        self.gpu.facts.options.ras
    }

    /// Returns the kernel's differences from Linux 6.12.
    pub(crate) fn features(&self) -> Features {
        self.gpu.facts.options.features
    }

    /// Returns `true` if the kernel has all of these features.
    pub(crate) fn has(&self, features: Features) -> bool {
        self.gpu.facts.has(features)
    }

    /// Returns the kinds of reset of an IP's rings; `None` if the kernel does not list them.
    pub(crate) fn reset_kinds(&self, ip: Ip) -> Option<ResetKinds> {
        self.gpu.facts.reset_kinds(ip)
    }

    /// Returns the current state of the connectors.
    pub(crate) fn connectors(&self) -> Vec<ConnectorFacts> {
        let (modes, screen) = (self.gpu.display.modes, self.gpu.display.screen.as_ref());
        let configuration = screen.map(|screen| screen.configuration()).unwrap_or_default();
        let there = (0_u32..).zip(modes.connectors());
        there
            .filter_map(|(index, id)| {
                let plugged = screen.filter(|_| index == 0);
                let crtc = configuration.feeds(index);
                Some(ConnectorFacts {
                    id,
                    name: modes.socket(index)?.to_string(),
                    mode: plugged.and(self.gpu.facts.options.display).map(|display| display.to_string()),
                    edid: plugged.and_then(|screen| screen.edid()).map(|blob| blob.data.clone()).unwrap_or_default(),
                    is_fed: crtc.is_some(),
                    is_lit: crtc.is_some_and(|crtc| configuration.is_active(crtc)),
                })
            })
            .collect()
    }

    pub(crate) fn uptime(&self) -> Duration {
        self.gpu.board.power.uptime()
    }

    /// Returns the current or last image of the display. Returns `None` without a display, before the first image, or if the tiling
    /// of the framebuffer cannot be decoded.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    ///
    /// let options = SimOptions { display: Some("640x480".parse()?), ..SimOptions::default() };
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    /// assert_eq!(gpu.scanned_out(), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scanned_out(&self) -> Option<Picture> {
        self.gpu.display.screen.as_ref()?.picture()
    }

    /// Returns the PCI slot and the minor numbers of the device.
    pub fn place(&self) -> Place {
        self.gpu.facts.options.place
    }
}

/// The state of a connector for the files in sysfs.
#[derive(Debug)]
pub(crate) struct ConnectorFacts {
    pub(crate) id: u32,
    /// The name of the connector, such as `DP-1`.
    pub(crate) name: String,
    /// The mode of the connected display.
    pub(crate) mode: Option<String>,
    pub(crate) edid: Vec<u8>,
    /// `true` if a CRTC feeds the connector.
    pub(crate) is_fed: bool,
    /// `true` if that CRTC is active.
    pub(crate) is_lit: bool,
}

impl SimMachine {
    /// Adds a GPU to this machine.
    pub fn add(&self, profile: impl Into<Arc<Profile>>, options: SimOptions) -> SimDevice {
        SimDevice { gpu: Gpu::new(self.machine(), Facts::new(profile.into(), options)) }
    }
}

impl SimKernel {
    /// Creates a GPU with default options and opens its render node.
    pub fn open(profile: impl Into<Arc<Profile>>) -> Self {
        SimDevice::new(profile, SimOptions::default()).open()
    }
}
