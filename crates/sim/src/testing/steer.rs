//! Test controls of a simulated device, besides what clients do: hold rings, stop the clock, break it.

use std::{fmt, sync::Arc};

use amdgpu_hw::Ip;

use crate::{
    device::SimDevice,
    kernel::sync::events::Events,
    testing::{
        control::Control,
        hooks::{Hang, RingName},
        mutation::Mutation,
    },
};

/// Rings that start no job until this is dropped, and then all at once. A job that one of them runs goes on.
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
        self.events.ring();
    }
}

impl SimDevice {
    /// Keeps a ring from starting jobs: they queue, and what waits for them waits. A job that was started goes on. Time that
    /// a job spends in the queue is no hang.
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

    /// Keeps all rings of the chip from starting jobs.
    pub fn hold_all_rings(&self) -> HeldRings {
        let rings = Ip::ALL.into_iter();
        self.hold(rings.flat_map(|ip| (0..self.ring_count(ip)).map(move |index| (ip, index))).collect())
    }

    fn hold(&self, rings: Vec<RingName>) -> HeldRings {
        let (control, events) = (Arc::clone(self.control()), Arc::clone(self.events()));
        control.hold(&rings);
        HeldRings { control, events, rings }
    }

    /// Makes the next job that ends on a ring hang instead, after it has done its work: the ring times out, the GPU is
    /// reset, and the job's context is the guilty one. Told twice, two jobs hang.
    pub fn hang_next_job(&self, ip: Ip, index: u32) {
        self.control().hang((ip, index), Hang::FrontEnd);
    }

    /// Makes the next job that ends on a ring hang in a shader instead, after it has done its work. When the ring times out,
    /// the kernel kills the shader's waves (soft recovery): the job ends with ENODATA, its number is written, no context
    /// is guilty, and what was queued behind it runs. Where the ring cannot do that (copy engines, GFX6), it is as
    /// [`SimDevice::hang_next_job`].
    ///
    /// Source: Linux 6.12 `amdgpu_ring.c`, `amdgpu_ring_soft_recovery`; `amdgpu_job.c`, `amdgpu_job_timedout`.
    pub fn hang_next_job_in_a_shader(&self, ip: Ip, index: u32) {
        self.control().hang((ip, index), Hang::Waves);
    }

    /// Stops the GPU's clock where it is; from now on only [`SimDevice::advance_clock`] moves it. For good: a clock that
    /// ran on from there would be late for ever.
    pub fn stop_clock(&self) {
        self.control().stop_clock(self.ticks());
    }

    /// Moves the clock, and stops it first if it still runs. In ticks of the chip's counter; the clock stays below its
    /// largest value.
    pub fn advance_clock(&self, ticks: u64) {
        self.stop_clock();
        self.control().advance_clock(ticks);
        self.events().ring();
    }

    /// Runs one job at a time on the whole device from now on, and draws the next one among all that can start, of whatever
    /// ring and queue, by a generator that begins with `seed`. The same jobs queued in the same order on rings that are all
    /// [held](SimDevice::hold_all_rings) and then released run in the same order every time.
    ///
    /// A job that waits in memory for what another one is to write there can now wait in vain, and time out.
    pub fn schedule_by_seed(&self, seed: u64) {
        self.control().seed(seed);
        self.events().ring();
    }

    /// Breaks the device from now on, or mends it. Earlier requests may be served either way.
    pub fn mutate(&self, mutation: Option<Mutation>) {
        self.set_mutation(mutation, None);
    }

    /// Breaks the rings of one IP only, from now on. A [mistake](Mutation::is_of_a_ring) that is none of a ring's is made
    /// as by [`SimDevice::mutate`].
    pub fn mutate_rings(&self, ip: Ip, mutation: Mutation) {
        self.set_mutation(Some(mutation), Some(ip));
    }

    fn set_mutation(&self, mutation: Option<Mutation>, ip: Option<Ip>) {
        self.lose_evicted(mutation == Some(Mutation::EvictionWithoutRestore));
        self.control().set_mutation(mutation, ip);
    }
}
