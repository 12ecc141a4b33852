//! Options of a simulated device.

use std::{str::FromStr, thread::available_parallelism, time::Duration};

use super::{display::Display, features::Features, lockup::LockupTimeout, place::Place, release::KernelRelease};

/// Degree to which the simulator checks the behaviour of a real chip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Strictness {
    /// Everything that the GPU does is visible at once, and nothing is checked. This costs nothing.
    #[default]
    Off,
    /// Jobs run as with [`Off`](Self::Off), on one thread for each ring, and what a real chip would have shown is reported, see
    /// [`SimDevice::hazards`](crate::SimDevice::hazards): accesses that find old copies in caches, do not find what is still
    /// there or come too early, and packets and instructions that break rules.
    Report,
    /// As [`Report`](Self::Report), and what a real chip would have shown is shown: reads through a cache with an old copy give the
    /// old bytes, reads behind L2 do not find what is still in L2, and registers and LDS of shaders start with other values than 0.
    /// A stream without hazards gives the same results. The CPU finds all writes at once all the same.
    Bite,
    /// Nothing is reported, and everything happens as late as a real chip may let it: dispatches, draws and the DMA of command processors
    /// are executed when a packet waits for them or their job ends, and registers and LDS of shaders start with other values than 0. A
    /// stream that waits for all that it depends on gives the same results.
    Late,
    /// As [`Report`](Self::Report), and the stream is also judged without each of its cache operations and waits, one at a time:
    /// [`SimDevice::trials`](crate::SimDevice::trials) has what became of it. This measures the model, or a stream that waits more
    /// often than it has to.
    Trials,
}

/// The error of a text that names no [`Strictness`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no strictness: off, report, bite, late or trials")]
pub struct StrictnessError {
    text: String,
}

impl FromStr for Strictness {
    type Err = StrictnessError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "off" => Ok(Self::Off),
            "report" => Ok(Self::Report),
            "bite" => Ok(Self::Bite),
            "late" => Ok(Self::Late),
            "trials" => Ok(Self::Trials),
            _ => Err(StrictnessError { text: text.to_owned() }),
        }
    }
}

/// Options of a [`SimDevice`](crate::SimDevice).
#[expect(clippy::struct_excessive_bools, reason = "switches that have nothing to do with each other")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// The differences of the simulated kernel from Linux 6.12. [`SimOptions::of_kernel`] returns the options of a release.
    pub features: Features,
    /// The minor version of the driver. Features of later versions are refused.
    pub drm_minor: i32,
    /// The time after which the kernel recovers a stuck ring.
    pub lockup_timeout: LockupTimeout,
    /// `true` if the device has copy engines. No capture contains them.
    pub sdma: bool,
    /// `true` to add the video engines that the driver sets up for the chip, if its capture has none. They only execute IBs of
    /// NOPs.
    pub video: bool,
    /// `true` if the kernel manages power: there are sensors, and files with clocks, temperatures and load. Their values depend on
    /// the work of the rings or on a script ([`SimDevice::follow_load`](crate::SimDevice::follow_load)).
    pub power: bool,
    /// `true` if the driver suspends the GPU when it is not used, as Linux does by default with cards that have no display. It only
    /// affects cards from GFX7 on whose driver supports that, which excludes Vega 10, Vega 20 and Arcturus. A card with a display
    /// stays active.
    ///
    /// The GPU is suspended 5 seconds after the last request, job or user queue, by its own clock; files in the directory `power`
    /// change the delay and prevent suspension. BOs leave VRAM and keep their contents. Each access that wakes the GPU is recorded:
    /// [`SimDevice::wake_ups`](crate::SimDevice::wake_ups).
    ///
    /// Source: Linux 6.12 `amdgpu_device.c`, `amdgpu_device_detect_runtime_pm_mode`; `amdgpu_drv.c`,
    /// `amdgpu_runtime_idle_check_display`.
    pub runtime_pm: bool,
    /// `true` if the memory has ECC whose errors the driver counts (directory `ras` of sysfs), as on workstation cards. No capture
    /// contains it.
    ///
    /// Source: Linux 6.12 `amdgpu_ras.c`, `amdgpu_ras_check_supported`.
    pub ras: bool,
    /// The display that is connected to the first connector. Without a display, nothing is scanned out and requests for scanout are
    /// refused.
    pub display: Option<Display>,
    /// `true` if INFO supports MAX_IBS.
    pub max_ibs: bool,
    /// `true` if the process may use context priorities above normal.
    pub may_raise_priority: bool,
    /// `true` if the kernel resets only the ring after a failed soft recovery, for graphics rings of GFX7 and later and compute
    /// rings of GFX9 and later: the job is lost and no context is guilty. `false` if it resets the whole GPU. With
    /// [`Features::QUEUE_RESETS`] the driver decides by the chip, and this option is ignored.
    ///
    /// Source: Linux 6.12 `amdgpu_job.c`, `amdgpu_job_timedout`.
    pub ring_reset: bool,
    /// `true` if a job faults, and a complaint is recorded, when it accesses a BO that is neither in its submission's list nor
    /// always valid. On Linux such an access succeeds until the BO is moved, so that the mistake shows only when memory is short.
    pub strict: bool,
    /// The checks of what a real chip's caches would show.
    pub strictness: Strictness,
    /// `true` if compute shaders are executed; `false` if dispatches are only counted and reported, like draws.
    pub shaders: bool,
    /// The number of instructions that the waves of a dispatch may execute before the next work-group ends, and a 64th of those
    /// that they may execute altogether. A dispatch that exceeds either hangs its ring.
    pub shader_instructions: u64,
    /// The number of threads that execute a long dispatch, or the pixels of a large draw: the thread of its ring and additional threads
    /// for the time of the work. Draws leave the same on any number. With 0 or 1, work-groups start in the order of the grid on the thread of the ring, so that work-groups that race with
    /// each other always do so in the same order. Without races the results are the same for any number. Watched dispatches
    /// ([`SimDevice::watch_shaders`](crate::SimDevice::watch_shaders)), dispatches of user queues, and dispatches with a deliberate
    /// mistake use one thread.
    pub shader_threads: usize,
    /// `true` if fills of the copy engines 4.0 and 5.0 (GFX9 and GFX10.1) have sizes of 30 bits, as those of later ones have. IGT's
    /// `amd_basic` tests need this, because they fill 1 GiB at once. Linux and Mesa define 22 bits, and by default a larger size makes
    /// the packet malformed.
    pub wide_fills: bool,
    /// `true` if user queues are enabled, like the driver's parameter `user_queue` with value 1; they are disabled by default. They
    /// exist with [`Features::USER_QUEUES`], on GFX11 and later. Linux also requires newer microcode than that of the captured navi31, which is
    /// not checked here.
    pub user_queues: bool,
    /// The VRAM in bytes that the kernel itself uses: page tables, rings, microcode, the console's framebuffer. It counts as used
    /// from the start and is never evicted. The default is 0, because no capture contains this number alone.
    pub kernel_vram: u64,
    /// The place of the device in the machine: PCI slot and minor numbers.
    pub place: Place,
}

impl Default for SimOptions {
    fn default() -> Self {
        Self {
            features: Features::of(KernelRelease::V6_18),
            drm_minor: KernelRelease::V6_18.drm_minor(),
            lockup_timeout: LockupTimeout::DEFAULT,
            sdma: true,
            video: false,
            power: false,
            runtime_pm: false,
            ras: false,
            display: None,
            max_ibs: true,
            may_raise_priority: false,
            ring_reset: false,
            strict: true,
            strictness: Strictness::Off,
            shaders: true,
            shader_instructions: Self::SHADER_INSTRUCTIONS,
            shader_threads: available_parallelism().map_or(1, usize::from).min(Self::SHADER_THREADS),
            wide_fills: false,
            user_queues: false,
            kernel_vram: 0,
            place: Place::FIRST,
        }
    }
}

impl SimOptions {
    /// The default number of instructions of a dispatch: minutes of an endless shader.
    pub const SHADER_INSTRUCTIONS: u64 = 1 << 28;

    /// The highest default number of threads of a dispatch; computers with fewer processors use one thread for each processor.
    pub const SHADER_THREADS: usize = 4;

    /// Returns the default options with another lockup timeout, so that tests of hangs need not wait ten seconds.
    #[must_use]
    pub fn hanging_for(time: Duration) -> Self {
        Self { lockup_timeout: LockupTimeout::all(time), ..Self::default() }
    }

    /// Returns the default options with the driver of another kernel release.
    ///
    /// ```
    /// use amdgpu_sim::{KernelRelease, SimDevice, SimOptions, profile, sysfs::reset_files};
    ///
    /// let options = SimOptions::of_kernel(KernelRelease::V6_17);
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    /// assert_eq!(reset_files(&gpu)[0], ("gfx_reset_mask", "soft queue full \n".to_owned()));
    /// # Ok::<(), &str>(())
    /// ```
    #[must_use]
    pub fn of_kernel(kernel: KernelRelease) -> Self {
        Self::default().with_kernel(kernel)
    }

    /// Returns these options with the features, the minor version and the lockup timeout of a kernel release.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use amdgpu_sim::{Features, KernelRelease, SimOptions};
    ///
    /// let options = SimOptions { video: true, ..SimOptions::default() }.with_kernel(KernelRelease::V7_2);
    /// assert!(options.video && options.features.contains(Features::LIST_HANDLES));
    /// assert_eq!(options.lockup_timeout.compute, Duration::from_secs(2));
    /// ```
    #[must_use]
    pub const fn with_kernel(self, kernel: KernelRelease) -> Self {
        let features = Features::of(kernel);
        Self { features, drm_minor: kernel.drm_minor(), lockup_timeout: LockupTimeout::of_kernel(features), ..self }
    }

    /// The minor version that Linux 6.12 reports.
    pub const REFERENCE_MINOR: i32 = 61;

    /// The options of the kernel with which the captures were taken: driver 3.54, no copy engine, no MAX_IBS.
    pub const RECORDING: Self = Self {
        features: Features::of(KernelRelease::V6_12),
        drm_minor: 54,
        lockup_timeout: LockupTimeout::DEFAULT,
        sdma: false,
        video: false,
        power: false,
        runtime_pm: false,
        ras: false,
        display: None,
        max_ibs: false,
        may_raise_priority: false,
        ring_reset: false,
        strict: true,
        strictness: Strictness::Off,
        shaders: true,
        shader_instructions: Self::SHADER_INSTRUCTIONS,
        shader_threads: 1,
        wide_fills: false,
        user_queues: false,
        kernel_vram: 0,
        place: Place::FIRST,
    };
}
