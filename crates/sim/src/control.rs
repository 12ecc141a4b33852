//! What a test can do to a simulated device from outside, beside what clients do: hold rings, stop the clock, break it.

use std::{
    collections::HashSet,
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU8, AtomicU64, Ordering},
    },
};

use amdgpu_winsys::winsys::Ip;
use nix::errno::Errno;
use parking_lot::Mutex;

use crate::{Mutation, SimDevice, events::Events};

/// A ring of a device: which IP, and the index among its rings.
pub(crate) type RingName = (Ip, u32);

/// The clock runs by itself.
const RUNNING: u64 = u64::MAX;

/// The switches of a device. All of them are off at first, and cost one load where they are looked at.
#[derive(Debug)]
pub(crate) struct Control {
    /// Who holds rings: as many entries as there are guards.
    held: Mutex<Vec<RingName>>,
    /// What the clock shows, or [`RUNNING`].
    clock: AtomicU64,
    /// [`Mutation::number`], or 0.
    mutation: AtomicU8,
}

impl Default for Control {
    fn default() -> Self {
        Self { held: Mutex::default(), clock: AtomicU64::new(RUNNING), mutation: AtomicU8::new(0) }
    }
}

impl Control {
    /// Whether a ring starts no job.
    pub(crate) fn is_held(&self, ring: RingName) -> bool {
        self.held.lock().contains(&ring)
    }

    /// What a stopped clock shows.
    pub(crate) fn stopped_clock(&self) -> Option<u64> {
        Some(self.clock.load(Ordering::Acquire)).filter(|&ticks| ticks != RUNNING)
    }

    /// What is wrong with the device.
    pub(crate) fn mutation(&self) -> Option<Mutation> {
        Mutation::numbered(self.mutation.load(Ordering::Acquire))
    }

    /// Serves a request, or does what the mutation makes of it.
    pub(crate) fn serve(
        &self,
        number: u8,
        bytes: &mut [u8],
        handler: impl FnOnce(&mut [u8]) -> Result<(), Errno>,
    ) -> Result<(), Errno> {
        match self.mutation() {
            None => handler(bytes),
            Some(mutation) => mutation.serve(number, bytes, handler),
        }
    }
}

/// A ring that starts no job until this is dropped. The job that it runs goes on.
#[must_use = "dropping it lets the ring go on"]
pub struct HeldRing {
    control: Arc<Control>,
    events: Arc<Events>,
    ring: RingName,
}

impl fmt::Debug for HeldRing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("HeldRing").field(&self.ring).finish()
    }
}

impl Drop for HeldRing {
    fn drop(&mut self) {
        let mut held = self.control.held.lock();
        if let Some(index) = held.iter().position(|ring| *ring == self.ring) {
            held.swap_remove(index);
        }
        drop(held);
        self.events.ring();
    }
}

impl SimDevice {
    /// Keeps a ring from starting jobs: they queue, and what waits for them waits. A job that was started goes on. Time that
    /// a job spends in the queue is no hang.
    ///
    /// ```
    /// use amdgpu_sim::{SimDevice, SimOptions, profile};
    /// use amdgpu_winsys::winsys::Ip;
    ///
    /// let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    /// let held = gpu.hold_ring(Ip::Gfx, 0);
    /// // Whatever is submitted to the graphics ring now is not done before:
    /// drop(held);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn hold_ring(&self, ip: Ip, index: u32) -> HeldRing {
        let (control, events) = (Arc::clone(self.control()), Arc::clone(self.events()));
        control.held.lock().push((ip, index));
        HeldRing { control, events, ring: (ip, index) }
    }

    /// Keeps all rings of the chip from starting jobs.
    pub fn hold_all_rings(&self) -> Vec<HeldRing> {
        let rings: HashSet<RingName> = [Ip::Gfx, Ip::Compute, Ip::Sdma]
            .into_iter()
            .flat_map(|ip| (0..self.ring_count(ip)).map(move |index| (ip, index)))
            .collect();
        rings.into_iter().map(|(ip, index)| self.hold_ring(ip, index)).collect()
    }

    /// Stops the GPU's clock where it is; from now on only [`SimDevice::advance_clock`] moves it. For good: a clock that
    /// ran on from there would be late for ever.
    pub fn stop_clock(&self) {
        let now = self.ticks();
        let _ = self.control().clock.compare_exchange(RUNNING, now, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Moves the clock, and stops it first if it still runs. In ticks of the chip's counter; the clock stays below its
    /// largest value.
    pub fn advance_clock(&self, ticks: u64) {
        self.stop_clock();
        let later = |now: u64| Some(now.saturating_add(ticks).min(RUNNING - 1));
        let _ = self.control().clock.fetch_update(Ordering::AcqRel, Ordering::Acquire, later);
        self.events().ring();
    }

    /// Breaks the device from now on, or mends it. What was asked before may be served either way.
    pub fn mutate(&self, mutation: Option<Mutation>) {
        self.control().mutation.store(mutation.map_or(0, Mutation::number), Ordering::Release);
    }
}
