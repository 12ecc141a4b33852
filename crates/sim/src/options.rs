//! Options of a simulated device.

use std::time::Duration;

use crate::{display::Display, lockup::LockupTimeout, release::KernelRelease, sysfs::Place};

/// Options of a [`SimDevice`](crate::SimDevice).
#[expect(clippy::struct_excessive_bools, reason = "switches that have nothing to do with each other")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SimOptions {
    /// The kernel that the driver is of. [`SimOptions::of_kernel`] sets the minor version with it.
    pub kernel: KernelRelease,
    /// Minor version of the driver. Features that an older minor did not have are refused.
    pub drm_minor: i32,
    /// Time after which a stuck ring is recovered.
    pub lockup_timeout: LockupTimeout,
    /// `true` if the copy engines are there, which no capture holds.
    pub sdma: bool,
    /// `true` if a chip whose capture has no video engines has those that the driver sets up for it. They execute IBs of NOPs
    /// alone.
    pub video: bool,
    /// `true` if the kernel manages power: there are sensors, and files that tell clocks, temperatures and load, which follow
    /// from what the rings do or from a script ([`SimDevice::follow_load`](crate::SimDevice::follow_load)).
    pub power: bool,
    /// The display that is plugged into the first connector. Without one, nothing is scanned out, and requests for that are
    /// refused.
    pub display: Option<Display>,
    /// `true` if INFO knows MAX_IBS.
    pub max_ibs: bool,
    /// `true` if the process may have context priorities above normal.
    pub may_raise_priority: bool,
    /// `true` if a graphics ring from GFX7 on, or a compute ring from GFX9 on, that soft recovery does not help is reset
    /// alone: its job is lost and no context is guilty. Otherwise the whole GPU is reset. From Linux 6.17 on, the driver itself
    /// decides by the chip, and this counts for nothing.
    ///
    /// Source: Linux 6.12 `amdgpu_job.c`, `amdgpu_job_timedout`.
    pub ring_reset: bool,
    /// `true` if a job that touches a BO that its submission does not list, and that is not always valid, faults there and
    /// is complained of. Linux leaves such a BO where it is, and the access succeeds until the BO is moved: a mistake that
    /// shows only when memory is short.
    pub strict: bool,
    /// `true` if compute shaders are executed; otherwise dispatches are counted and reported like draws.
    pub shaders: bool,
    /// Number of instructions that the waves of a dispatch may execute; one that goes on after them hangs its ring.
    pub shader_instructions: u64,
    /// `true` if fills of the copy engines 4.0 to 5.2 (GFX9 to GFX10.3) take sizes of 30 bits, as IGT's tests of `amd_basic`
    /// have it, which fill 1 GiB at once. Linux's headers (`sdma0/*_sdma_pkt_open.h`) and Mesa know 22 bits there, and a
    /// larger size is a malformed packet by default.
    pub wide_fills: bool,
    /// `true` if user queues are on, as with 1 for the driver's parameter `user_queue`, which has none by default. They exist
    /// from Linux 6.17 on and on GFX11 and later. Linux also wants microcode that is newer than that of the captured navi31,
    /// which is not asked for here.
    pub user_queues: bool,
    /// Bytes of VRAM that the kernel itself has: page tables, rings, microcode, what a console shows. They count as used from
    /// the start and are never evicted. No capture tells their number alone, so it is 0 by default.
    pub kernel_vram: u64,
    /// Place among its siblings: the PCI slot and the minor numbers.
    pub place: Place,
}

impl Default for SimOptions {
    fn default() -> Self {
        Self {
            kernel: KernelRelease::V6_12,
            drm_minor: Self::REFERENCE_MINOR,
            lockup_timeout: LockupTimeout::DEFAULT,
            sdma: true,
            video: false,
            power: false,
            display: None,
            max_ibs: true,
            may_raise_priority: false,
            ring_reset: false,
            strict: true,
            shaders: true,
            shader_instructions: Self::SHADER_INSTRUCTIONS,
            wide_fills: false,
            user_queues: false,
            kernel_vram: 0,
            place: Place::FIRST,
        }
    }
}

impl SimOptions {
    /// Instructions of a dispatch by default: minutes of a shader that never ends.
    pub const SHADER_INSTRUCTIONS: u64 = 1 << 28;

    /// Returns the default options with another lockup timeout, for tests of hangs that do not wait ten seconds.
    #[must_use]
    pub fn hanging_for(time: Duration) -> Self {
        Self { lockup_timeout: LockupTimeout::all(time), ..Self::default() }
    }

    /// Returns the default options with the driver of another kernel.
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
        Self { kernel, drm_minor: kernel.drm_minor(), ..Self::default() }
    }

    /// The minor version that Linux 6.12 reports.
    pub const REFERENCE_MINOR: i32 = 61;

    /// The kernel that the captures were taken with: driver 3.54, no copy engine, no MAX_IBS.
    pub const RECORDING: Self = Self {
        kernel: KernelRelease::V6_12,
        drm_minor: 54,
        lockup_timeout: LockupTimeout::DEFAULT,
        sdma: false,
        video: false,
        power: false,
        display: None,
        max_ibs: false,
        may_raise_priority: false,
        ring_reset: false,
        strict: true,
        shaders: true,
        shader_instructions: Self::SHADER_INSTRUCTIONS,
        wide_fills: false,
        user_queues: false,
        kernel_vram: 0,
        place: Place::FIRST,
    };
}
