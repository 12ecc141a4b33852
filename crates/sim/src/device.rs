//! A simulated GPU, as tests and programs hold it.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use amdgpu_hw::Ip;
use amdgpu_waves::Watch;

use crate::{
    chips::Profile,
    display::Picture,
    gpu::{Clock, Shaders, Tally},
    kernel::{
        card::Gpu,
        files::census::DeviceCensus,
        mm::bo::Pools,
        power::{Figures, LoadScript},
        sched::{
            interpreter::Interpreter,
            resets::ResetKinds,
            shader_watch::{ShaderSink, Watching},
        },
        sim_kernel::SimKernel,
        sim_machine::SimMachine,
        sync::events::{Events, Until},
    },
    options::SimOptions,
    sysfs::Place,
    testing::control::Control,
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
    /// Creates a fresh GPU in a machine of its own: nothing allocated, nothing running.
    pub fn new(profile: impl Into<Arc<Profile>>, options: SimOptions) -> Self {
        SimMachine::new().add(profile, options)
    }

    /// Returns the machine it is in.
    pub fn machine(&self) -> SimMachine {
        SimMachine::of(&self.gpu.machine)
    }

    /// Opens its render node once more.
    pub fn open(&self) -> SimKernel {
        SimKernel::new(&self.gpu)
    }

    /// Opens its primary node once more; `is_admin` for a process with CAP_SYS_ADMIN.
    ///
    /// The first file becomes master. Requests that need a master or a display are refused, and those that need authentication are
    /// refused to other files than an administrator's until the master authenticates them.
    pub fn open_primary(&self, is_admin: bool) -> SimKernel {
        SimKernel::primary(&self.gpu, is_admin)
    }

    /// Returns the chip.
    pub fn profile(&self) -> &Profile {
        &self.gpu.profile
    }

    /// Returns the complaints about requests that are wrong or not simulated, in words, oldest first.
    pub fn complaints(&self) -> Vec<String> {
        self.gpu.complaints.list()
    }

    /// Replaces what executes shaders, from the next draw or dispatch on. At first that is the simulator itself, for compute
    /// shaders, unless [`SimOptions::shaders`] says otherwise. It is called on the threads of
    /// the rings, and its panics end them.
    pub fn plug_shaders(&self, shaders: Arc<dyn Shaders + Send + Sync>) {
        self.gpu.shaders.plug(shaders);
    }

    /// Executes compute shaders and tells `sink` of them, from the next dispatch on, one wave after the other. It takes the place of what
    /// [`plug_shaders`](Self::plug_shaders) plugged. A device that is not watched pays nothing for it.
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
        let watching = Some(Watching { watch, sink });
        let interpreter = Interpreter::new(self.gpu.options.shader_instructions, &self.gpu.profile, watching);
        self.gpu.shaders.plug(Arc::new(interpreter));
    }

    /// Returns the number of draws and dispatches started since the device was created.
    pub fn tally(&self) -> Tally {
        self.gpu.shaders.tally()
    }

    /// Returns the answer to MEMORY: sizes and usage of the heaps now.
    pub fn memory_info(&self) -> amdgpu_uapi::MemoryInfo {
        self.gpu.pools.memory_info()
    }

    /// Makes ready for the process to change its mappings in a range of addresses: munmap, mremap, mprotect, a fork's copy on
    /// write. Returns once no job uses user memory there, as the real system calls do; the next submission that lists such a BO
    /// looks the pages up again, and is EFAULT where there are none.
    ///
    /// A layer that intercepts system calls calls this before each. Without it nothing breaks: what the GPU finds unmapped
    /// reads zero and takes no writes.
    ///
    /// Source: Linux 6.12 `amdgpu_hmm.c`, `amdgpu_hmm_invalidate_gfx`.
    pub fn before_user_memory_changes(&self, addresses: std::ops::Range<u64>) {
        for bo in self.gpu.offsets.of_user_memory(&addresses) {
            self.gpu.events.wait(Until::Never, || bo.is_idle().then_some(()));
        }
    }

    /// Makes every BO that is evicted from now on while it is idle lose what is in it, or no longer: a broken kernel, to see
    /// whether a test notices.
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
        Clock::ticks(&self.gpu.clock)
    }

    /// Returns the census of the whole device.
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

    /// Resets the GPU as by hand, through the kernel's `amdgpu_gpu_recover` file: every job that has started ends with
    /// ECANCELED, and no context is guilty.
    ///
    /// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_gpu_recover`.
    pub fn reset(&self) {
        self.gpu.reset_all(false);
    }

    /// Resets the GPU and loses VRAM, as most discrete cards do: besides what [`SimDevice::reset`] does, the counter of
    /// losses goes up, and contexts made before run nothing from then on. The contents of VRAM are undefined afterwards; here they
    /// stay as they were.
    pub fn reset_and_lose_vram(&self) {
        self.gpu.reset_all(true);
    }

    /// Pulls the GPU out for good: from now on every request and mmap of its files is ENODEV, and every job ends with
    /// ECANCELED. Mappings and descriptors stay.
    ///
    /// Source: Linux 6.12 `amdgpu_drv.c`, `amdgpu_pci_remove`; `drm_ioctl.c`, `drm_ioctl`.
    pub fn unplug(&self) {
        self.gpu.unplug();
    }

    /// Returns `true` after [`unplug`](Self::unplug).
    pub fn is_unplugged(&self) -> bool {
        self.gpu.is_unplugged()
    }

    /// Finds an unplugged GPU again, as writing to `rescan` of the PCI bus does: a fresh device of the same chip, options and
    /// machine, at this place. Files of the old one stay as they are.
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
        let options = SimOptions { place, ..self.gpu.options };
        let found = self.machine().add(Arc::clone(&self.gpu.profile), options);
        found.follow_load(self.gpu.power.script());
        found
    }

    /// Pretends the load of a script from now on, or tells what the rings do again. It shows in sensors and files of a device
    /// whose power is managed ([`SimOptions::power`]).
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
        self.gpu.power.follow(load);
    }

    pub(crate) fn power_figures(&self) -> Option<Figures> {
        self.gpu.options.power.then(|| self.gpu.power.figures(&self.gpu.profile))
    }

    /// Returns the resets of the rings of an IP, where the kernel lists them.
    pub(crate) fn reset_kinds(&self, ip: Ip) -> Option<ResetKinds> {
        self.gpu.reset_kinds(ip)
    }

    /// Returns the connectors as they are now.
    pub(crate) fn connectors(&self) -> Vec<ConnectorFacts> {
        let (modes, screen) = (self.gpu.modes, self.gpu.screen.as_ref());
        let configuration = screen.map(|screen| screen.configuration()).unwrap_or_default();
        let there = (0_u32..).zip(modes.connectors());
        there
            .filter_map(|(index, id)| {
                let plugged = screen.filter(|_| index == 0);
                let crtc = configuration.feeds(index);
                Some(ConnectorFacts {
                    id,
                    name: modes.socket(index)?.to_string(),
                    mode: plugged.and(self.gpu.options.display).map(|display| display.to_string()),
                    edid: plugged.and_then(|screen| screen.edid()).map(|blob| blob.data.clone()).unwrap_or_default(),
                    is_fed: crtc.is_some(),
                    is_lit: crtc.is_some_and(|crtc| configuration.is_active(crtc)),
                })
            })
            .collect()
    }

    pub(crate) fn uptime(&self) -> Duration {
        self.gpu.power.uptime()
    }

    /// Returns what the display shows, or showed last; `None` without a display, before the first picture, and where the tiles
    /// of its memory cannot be told.
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
        self.gpu.screen.as_ref()?.picture()
    }

    /// Returns the slot and the nodes.
    pub fn place(&self) -> Place {
        self.gpu.options.place
    }
}

/// A connector as the files of sysfs tell of it.
#[derive(Debug)]
pub(crate) struct ConnectorFacts {
    pub(crate) id: u32,
    /// Such as `DP-1`.
    pub(crate) name: String,
    /// The mode of the display that is plugged in.
    pub(crate) mode: Option<String>,
    pub(crate) edid: Vec<u8>,
    /// `true` if a CRTC feeds it.
    pub(crate) is_fed: bool,
    /// `true` if that CRTC is active.
    pub(crate) is_lit: bool,
}

impl SimMachine {
    /// Adds a fresh GPU to this machine.
    pub fn add(&self, profile: impl Into<Arc<Profile>>, options: SimOptions) -> SimDevice {
        SimDevice { gpu: Gpu::new(self.machine(), profile.into(), options) }
    }
}

impl SimKernel {
    /// Opens a file of a fresh GPU with default options.
    pub fn open(profile: impl Into<Arc<Profile>>) -> Self {
        SimDevice::new(profile, SimOptions::default()).open()
    }
}
