//! Test controls of a simulated device: holding rings, stopping the clock, and breaking the device.

use std::{fmt, sync::Arc};

use amdgpu_hw::Ip;

use crate::{
    device::SimDevice,
    kernel::{health::HardwareError, sync::events::Events},
    testing::{
        control::Control,
        hooks::{Hang, RingName},
        mutation::Mutation,
    },
};

/// Rings that start no jobs until this value is dropped, which releases all of them at once. Running jobs continue.
#[must_use = "dropping it lets the rings go on"]
pub struct HeldRings {
    control: Arc<Control>,
    events: Arc<Events>,
    rings: Vec<RingName>,
}

impl fmt::Debug for HeldRings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HeldRings").field(&self.rings).finish()
    }
}

impl Drop for HeldRings {
    fn drop(&mut self) {
        self.control.release(&self.rings);
        self.events.wake_all();
    }
}

impl SimDevice {
    /// Prevents a ring from starting jobs: jobs stay queued, and waits for them continue. Running jobs continue. The time in the
    /// queue does not count towards the lockup timeout.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    /// use amdgpu_hw::Ip;
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    /// let held = gpu.hold_ring(Ip::Gfx, 0);
    /// // Whatever is submitted to the graphics ring now is not done before:
    /// drop(held);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hold_ring(&self, ip: Ip, index: u32) -> HeldRings {
        self.hold(vec![(ip, index)])
    }

    /// Prevents all rings of the chip from starting jobs.
    pub fn hold_all_rings(&self) -> HeldRings {
        let rings = Ip::ALL.into_iter();
        self.hold(rings.flat_map(|ip| (0..self.ring_count(ip)).map(move |index| (ip, index))).collect())
    }

    fn hold(&self, rings: Vec<RingName>) -> HeldRings {
        let (control, events) = (Arc::clone(self.control()), Arc::clone(self.events()));
        control.hold(&rings);
        HeldRings { control, events, rings }
    }

    /// Makes the next job that ends on a ring hang after it has done its work: the ring times out, the GPU is reset, and the job's
    /// context is guilty. After two calls two jobs hang.
    pub fn hang_next_job(&self, ip: Ip, index: u32) {
        self.control().hang((ip, index), Hang::FrontEnd);
    }

    /// Makes the next job that ends on a ring hang in a shader after it has done its work. When the ring times out, the kernel
    /// kills the shader's waves (soft recovery): the job ends with ENODATA, its sequence number is written, no context is guilty,
    /// and jobs queued after it run. On rings without soft recovery (copy engines, GFX6) the effect is that of
    /// [`SimDevice::hang_next_job`].
    ///
    /// Source: Linux 6.12 `amdgpu_ring.c`, `amdgpu_ring_soft_recovery`; `amdgpu_job.c`, `amdgpu_job_timedout`.
    pub fn hang_next_job_in_a_shader(&self, ip: Ip, index: u32) {
        self.control().hang((ip, index), Hang::Waves);
    }

    /// Stops the GPU's clock permanently. Only [`SimDevice::advance_clock`] then advances it. The clock cannot be restarted,
    /// because it would stay behind forever.
    pub fn stop_clock(&self) {
        self.control().stop_clock(self.ticks());
    }

    /// Advances the clock by a number of ticks of the chip's counter, and stops it first if it is running. The clock saturates
    /// below its maximum.
    pub fn advance_clock(&self, ticks: u64) {
        self.stop_clock();
        self.control().advance_clock(ticks);
        self.events().wake_all();
    }

    /// Makes the device run one job at a time. The next job is selected at random among all jobs that can start, on any ring and
    /// queue. The generator starts with `seed`. If the same jobs are queued in the same order on rings that are all
    /// [held](SimDevice::hold_all_rings) and then released, they run in the same order every time.
    ///
    /// A job that polls for a memory write of another job can then time out.
    pub fn schedule_by_seed(&self, seed: u64) {
        self.control().seed(seed);
        self.events().wake_all();
    }

    /// Causes an error of the hardware, which files of sysfs then report: a counted error increments its counter, other errors
    /// persist. Errors of memory are visible with [`SimOptions::ras`](crate::SimOptions::ras), overheating with
    /// [`SimOptions::power`](crate::SimOptions::power).
    ///
    /// ```
    /// use amdgpu_sim::{HardwareError, SimDevice, SimOptions, profile, sysfs::error_files};
    ///
    /// let options = SimOptions { ras: true, ..SimOptions::default() };
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, options);
    /// gpu.inject_hardware_error(HardwareError::RasCorrectable);
    /// assert!(error_files(&gpu).contains(&("ras/umc_err_count", "ue: 0\nce: 1\nde: 0\n".to_owned())));
    /// # Ok::<(), &str>(())
    /// ```
    pub fn inject_hardware_error(&self, error: HardwareError) {
        self.health().record_error(error);
    }

    /// Sets the mutation of the device; `None` removes it. Concurrent requests may be performed either way.
    pub fn mutate(&self, mutation: Option<Mutation>) {
        self.set_mutation(mutation, None);
    }

    /// Sets the mutation of the rings of one IP. A mutation that is [not a ring's](Mutation::is_of_a_ring) affects the whole
    /// device, as with [`SimDevice::mutate`].
    pub fn mutate_rings(&self, ip: Ip, mutation: Mutation) {
        self.set_mutation(Some(mutation), Some(ip));
    }

    fn set_mutation(&self, mutation: Option<Mutation>, ip: Option<Ip>) {
        self.lose_evicted(mutation == Some(Mutation::EvictionWithoutRestore));
        self.control().set_mutation(mutation, ip);
    }
}
