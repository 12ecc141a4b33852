//! What a test can do to a simulated device from outside, beside what clients do: hold rings, stop the clock, break it.

use std::{
    collections::BTreeMap,
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
};

use amdgpu_hw::Ip;
use nix::errno::Errno;
use parking_lot::Mutex;

use crate::{Mutation, SimDevice, events::Events, mutation::Scope, ring::Shared};

/// What hangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hang {
    /// The ring's front end: only a reset helps.
    FrontEnd,
    /// Waves of a shader: killing them helps, where the ring can.
    Waves,
}

/// A ring of a device: which IP, and the index among its rings.
pub(crate) type RingName = (Ip, u32);

/// The clock runs by itself.
const RUNNING: u64 = u64::MAX;

/// The switches of a device. All of them are off at first, and cost one load where they are looked at.
#[derive(Debug)]
pub(crate) struct Control {
    /// Which rings are held, as often as they are.
    held: Mutex<Vec<RingName>>,
    /// Whose next job hangs, and how, as often as it is to.
    hanging: Mutex<Vec<(RingName, Hang)>>,
    /// What the clock shows, or [`RUNNING`].
    clock: AtomicU64,
    /// [`Mutation::number`], or 0.
    mutation: AtomicU8,
    /// The IP whose rings alone are broken, plus 1; or 0.
    broken_ip: AtomicU8,
    /// Whether `schedule` draws.
    seeded: AtomicBool,
    schedule: Mutex<Schedule>,
}

impl Default for Control {
    fn default() -> Self {
        Self {
            held: Mutex::default(),
            hanging: Mutex::default(),
            clock: AtomicU64::new(RUNNING),
            mutation: AtomicU8::new(0),
            broken_ip: AtomicU8::new(0),
            seeded: AtomicBool::new(false),
            schedule: Mutex::default(),
        }
    }
}

impl Control {
    /// Whether a ring starts no job.
    pub(crate) fn is_held(&self, ring: RingName) -> bool {
        self.held.lock().contains(&ring)
    }

    /// How the job that a ring runs now hangs, if it is to; the next one then does not, unless told again.
    pub(crate) fn takes_hang(&self, ring: RingName) -> Option<Hang> {
        let mut hanging = self.hanging.lock();
        let found = hanging.iter().position(|(hanging, _)| *hanging == ring);
        found.map(|index| hanging.remove(index).1)
    }

    /// What a stopped clock shows.
    pub(crate) fn stopped_clock(&self) -> Option<u64> {
        Some(self.clock.load(Ordering::Acquire)).filter(|&ticks| ticks != RUNNING)
    }

    /// A ring came to life.
    pub(crate) fn register(&self, ring: RingName, shared: &Arc<Shared>) {
        self.schedule.lock().rings.insert(key(ring), (ring, Arc::downgrade(shared)));
    }

    /// A ring goes; nobody looks at it any more afterwards.
    pub(crate) fn deregister(&self, ring: RingName) {
        self.schedule.lock().rings.remove(&key(ring));
    }

    /// Whether this ring is to start a job now.
    pub(crate) fn turn(&self, ring: RingName) -> Turn {
        if !self.seeded.load(Ordering::Acquire) {
            return Turn::Free;
        }
        let mut schedule = self.schedule.lock();
        if schedule.running.is_some() {
            return Turn::NotYet;
        }
        if schedule.drawn.is_none_or(|(drawn, _)| self.is_held(drawn)) {
            // One look at who is held, so that rings released together are drawn from together.
            let held = self.held.lock();
            schedule.draw(&held);
        }
        // The queue has not lost a job since the draw: only the ring that was drawn takes any.
        let place = schedule.drawn.filter(|(drawn, _)| *drawn == ring).map(|(_, place)| place);
        let Some(place) = place else { return Turn::NotYet };
        schedule.drawn = None;
        schedule.running = Some(ring);
        Turn::Start(place)
    }

    /// A job of this ring is over. Whether it had the turn, so that others are to look again.
    pub(crate) fn end_turn(&self, ring: RingName) -> bool {
        self.seeded.load(Ordering::Acquire)
            && self.schedule.lock().running.take_if(|running| *running == ring).is_some()
    }

    /// What is wrong with the device.
    pub(crate) fn mutation(&self) -> Option<Mutation> {
        Mutation::numbered(self.mutation.load(Ordering::Acquire))
    }

    /// What is wrong with the rings of an IP.
    pub(crate) fn mutation_of(&self, ip: Ip) -> Option<Mutation> {
        let mutation = self.mutation()?;
        let only = self.broken_ip.load(Ordering::Acquire).checked_sub(1).map(u32::from).and_then(Ip::from_raw);
        Scope(only).holds(ip).then_some(mutation)
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

/// What a ring may do.
pub(crate) enum Turn {
    /// Whatever it likes: chance decides nothing.
    Free,
    /// Nothing: it is another one's turn.
    NotYet,
    /// Start the job at this place in its queue.
    Start(usize),
}

/// Which job starts next, drawn by chance among all that can.
#[derive(Debug, Default)]
struct Schedule {
    random: u64,
    /// The ring that has the turn.
    running: Option<RingName>,
    /// Whose turn it is, and which job of its queue.
    drawn: Option<(RingName, usize)>,
    rings: BTreeMap<(u32, u32), (RingName, Weak<Shared>)>,
}

fn key((ip, index): RingName) -> (u32, u32) {
    (ip as u32, index)
}

impl Schedule {
    fn draw(&mut self, held: &[RingName]) {
        let live = self.rings.values().filter(|(ring, _)| !held.contains(ring));
        let live = live.filter_map(|(ring, shared)| Some((*ring, shared.upgrade()?)));
        let ready: Vec<_> =
            live.flat_map(|(ring, shared)| shared.ready().into_iter().map(move |place| (ring, place))).collect();
        self.drawn = None;
        if !ready.is_empty() {
            let index = self.next() % ready.len() as u64;
            self.drawn = ready.get(index as usize).copied();
        }
    }

    /// SplitMix64 (Steele, Lea, Flood 2014): short, and good enough to shuffle jobs.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}

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
        let mut held = self.control.held.lock();
        for ring in &self.rings {
            if let Some(index) = held.iter().position(|held| held == ring) {
                held.swap_remove(index);
            }
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
        let rings = [Ip::Gfx, Ip::Compute, Ip::Sdma].into_iter();
        self.hold(rings.flat_map(|ip| (0..self.ring_count(ip)).map(move |index| (ip, index))).collect())
    }

    fn hold(&self, rings: Vec<RingName>) -> HeldRings {
        let (control, events) = (Arc::clone(self.control()), Arc::clone(self.events()));
        control.held.lock().extend(&rings);
        HeldRings { control, events, rings }
    }

    /// Makes the next job that ends on a ring hang instead, after it has done its work: the ring times out, the GPU is
    /// reset, and the job's context is the guilty one. Told twice, two jobs hang.
    pub fn hang_next_job(&self, ip: Ip, index: u32) {
        self.control().hanging.lock().push(((ip, index), Hang::FrontEnd));
    }

    /// Makes the next job that ends on a ring hang in a shader instead, after it has done its work. When the ring times out,
    /// the kernel kills the shader's waves (soft recovery): the job ends with ENODATA, its number is written, nobody is
    /// guilty, and what was queued behind it runs. Where the ring cannot do that (copy engines, GFX6), it is as
    /// [`SimDevice::hang_next_job`].
    ///
    /// Source: Linux 6.12 `amdgpu_ring.c`, `amdgpu_ring_soft_recovery`; `amdgpu_job.c`, `amdgpu_job_timedout`.
    pub fn hang_next_job_in_a_shader(&self, ip: Ip, index: u32) {
        self.control().hanging.lock().push(((ip, index), Hang::Waves));
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

    /// From now on one job at a time runs on the whole device, and the next one is drawn among all that can start, of
    /// whatever ring and queue, by a generator that begins with `seed`. The same jobs queued in the same order on rings that
    /// are all [held](SimDevice::hold_all_rings) and then released run in the same order every time.
    ///
    /// A job that waits in memory for what another one is to write there can now wait in vain, and time out.
    pub fn schedule_by_seed(&self, seed: u64) {
        let control = self.control();
        control.schedule.lock().random = seed;
        control.seeded.store(true, Ordering::Release);
        self.events().ring();
    }

    /// Breaks the device from now on, or mends it. What was asked before may be served either way.
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
        let only = ip.map_or(0, |ip| ip as u8 + 1);
        self.control().broken_ip.store(only, Ordering::Release);
        self.control().mutation.store(mutation.map_or(0, Mutation::number), Ordering::Release);
    }
}
