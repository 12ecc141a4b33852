//! The test controls of a simulated device: held rings, a stopped clock, mutations.

use std::{
    collections::BTreeMap,
    sync::{
        Weak,
        atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering},
    },
};

use amdgpu_hw::Ip;
use amdgpu_uapi::Errno;
use amdgpu_waves::WaveMutation;
use parking_lot::Mutex;

use crate::{
    gpu::{Ib, Memory},
    kernel::{health::HardwareError, mm::space::Space},
    testing::{
        hooks::{Hang, Hooks, Queue, RingName, Turn},
        mutation::{Mutant, Mutation, Scope},
    },
};

/// The value for a running clock.
const RUNNING: u64 = u64::MAX;

/// The test controls of a device. All are off by default, and cost one load wherever they are checked.
#[derive(Debug)]
pub(crate) struct Control {
    /// The held rings, with an entry for each hold.
    held: Mutex<Vec<RingName>>,
    /// The rings whose next job hangs, with the kind of hang, and an entry for each job.
    hanging: Mutex<Vec<(RingName, Hang)>>,
    /// The time of a stopped clock, or [`RUNNING`].
    clock: AtomicU64,
    /// [`Mutation::number`], or 0.
    mutation: AtomicU8,
    /// The IP whose rings alone have the mutation, plus 1; or 0.
    broken_ip: AtomicU8,
    /// `true` if `schedule` determines the order of jobs.
    seeded: AtomicBool,
    schedule: Mutex<Schedule>,
    /// The address space of the last job of each ring, for the mutation that uses stale page tables.
    spaces: Mutex<BTreeMap<(u32, u32), Space>>,
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
            spaces: Mutex::default(),
        }
    }
}

impl Control {
    /// Returns the device's mutation, if any.
    pub(crate) fn mutation(&self) -> Option<Mutation> {
        Mutation::numbered(self.mutation.load(Ordering::Acquire))
    }

    /// Returns the mutation of a ring, if any.
    fn mutation_of(&self, (ip, _): RingName) -> Option<Mutation> {
        let mutation = self.mutation()?;
        let only = self.broken_ip.load(Ordering::Acquire).checked_sub(1).map(u32::from).and_then(Ip::from_raw);
        Scope(only).holds(ip).then_some(mutation)
    }

    /// Performs a request as the mutation requires.
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

    /// Prevents rings from starting jobs.
    pub(crate) fn hold(&self, rings: &[RingName]) {
        self.held.lock().extend(rings);
    }

    /// Releases rings. A ring starts jobs again after as many releases as holds.
    pub(crate) fn release(&self, rings: &[RingName]) {
        let mut held = self.held.lock();
        for ring in rings {
            if let Some(index) = held.iter().position(|held| held == ring) {
                held.swap_remove(index);
            }
        }
    }

    /// Makes the next job of a ring hang.
    pub(crate) fn hang(&self, ring: RingName, hang: Hang) {
        self.hanging.lock().push((ring, hang));
    }

    /// Stops the clock if it is running.
    pub(crate) fn stop_clock(&self, now: u64) {
        let _ = self.clock.compare_exchange(RUNNING, now, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Advances a stopped clock.
    pub(crate) fn advance_clock(&self, ticks: u64) {
        let later = |now: u64| Some(now.saturating_add(ticks).min(RUNNING - 1));
        let _ = self.clock.fetch_update(Ordering::AcqRel, Ordering::Acquire, later);
    }

    /// Makes a random generator determine the order of jobs.
    pub(crate) fn seed(&self, seed: u64) {
        self.schedule.lock().random = seed;
        self.seeded.store(true, Ordering::Release);
    }

    /// Sets or removes the mutation of the device, or of the rings of one IP.
    pub(crate) fn set_mutation(&self, mutation: Option<Mutation>, ip: Option<Ip>) {
        let only = ip.map_or(0, |ip| ip as u8 + 1);
        self.broken_ip.store(only, Ordering::Release);
        self.mutation.store(mutation.map_or(0, Mutation::number), Ordering::Release);
    }
}

impl Hooks for Control {
    fn is_held(&self, ring: RingName) -> bool {
        self.held.lock().contains(&ring)
    }

    fn takes_hang(&self, ring: RingName) -> Option<Hang> {
        let mut hanging = self.hanging.lock();
        let found = hanging.iter().position(|(hanging, _)| *hanging == ring);
        found.map(|index| hanging.remove(index).1)
    }

    fn stopped_clock(&self) -> Option<u64> {
        Some(self.clock.load(Ordering::Acquire)).filter(|&ticks| ticks != RUNNING)
    }

    fn notices_removal(&self) -> bool {
        self.mutation() != Some(Mutation::UnnoticedRemoval)
    }

    fn shows_flips(&self) -> bool {
        self.mutation() != Some(Mutation::LostFlip)
    }

    fn ring_starts(&self, ring: RingName, queue: Weak<dyn Queue>) {
        self.schedule.lock().rings.insert(key(ring), (ring, queue));
    }

    fn ring_ends(&self, ring: RingName) {
        self.schedule.lock().rings.remove(&key(ring));
        self.spaces.lock().remove(&key(ring));
    }

    fn turn(&self, ring: RingName) -> Turn {
        if !self.seeded.load(Ordering::Acquire) {
            return Turn::Free;
        }
        let mut schedule = self.schedule.lock();
        if schedule.running.is_some() {
            return Turn::NotYet;
        }
        if schedule.drawn.is_none_or(|(drawn, _)| self.is_held(drawn)) {
            // The held rings are read once, so that rings that are released together take part in the same draw.
            let held = self.held.lock();
            schedule.draw(&held);
        }
        // The queue has not lost a job since the draw, because only the drawn ring starts jobs.
        let place = schedule.drawn.filter(|(drawn, _)| *drawn == ring).map(|(_, place)| place);
        let Some(place) = place else { return Turn::NotYet };
        schedule.drawn = None;
        schedule.running = Some(ring);
        Turn::Start(place)
    }

    fn end_turn(&self, ring: RingName) -> bool {
        self.seeded.load(Ordering::Acquire)
            && self.schedule.lock().running.take_if(|running| *running == ring).is_some()
    }

    fn waits_for_dependencies(&self, ring: RingName) -> bool {
        self.mutation_of(ring) != Some(Mutation::IgnoredWait)
    }

    fn other_ibs(&self, ring: RingName, ibs: &[Ib]) -> Option<Vec<Ib>> {
        match self.mutation_of(ring)? {
            Mutation::SkippedJob => Some(Vec::new()),
            Mutation::ReversedIbs => Some(ibs.iter().rev().copied().collect()),
            _ => None,
        }
    }

    fn with_memory(&self, ring: RingName, space: &Space, run: &mut dyn FnMut(&dyn Memory)) {
        match self.mutation_of(ring) {
            None => run(space),
            Some(Mutation::StalePageTable) => {
                let before = self.spaces.lock().insert(key(ring), space.clone());
                run(before.as_ref().unwrap_or(space));
            }
            Some(mutation) => run(&Mutant { memory: space, mutation }),
        }
    }

    fn reports_faults(&self, ring: RingName) -> bool {
        self.mutation_of(ring) != Some(Mutation::SilentFault)
    }

    fn wave_mutation(&self, ring: RingName) -> Option<WaveMutation> {
        self.mutation_of(ring).and_then(Mutation::wave_mutation)
    }

    fn draw_mutation(&self, ring: RingName) -> Option<amdgpu_raster::DrawMutation> {
        self.mutation_of(ring).and_then(Mutation::draw_mutation)
    }

    fn fence_value(&self, ring: RingName, number: u64) -> u64 {
        if self.mutation_of(ring) == Some(Mutation::WrongFenceValue) { number.wrapping_sub(1) } else { number }
    }

    fn hardware_error(&self, ring: RingName) -> Option<HardwareError> {
        self.mutation_of(ring).and_then(Mutation::hardware_error)
    }

    fn wakes_waiters(&self, ring: RingName) -> bool {
        self.mutation_of(ring) != Some(Mutation::LostWakeUp)
    }
}

/// A random choice of the next job among all jobs that can start.
#[derive(Debug, Default)]
struct Schedule {
    random: u64,
    /// The ring that runs a job.
    running: Option<RingName>,
    /// The ring that may start a job next, and the job's index in its queue.
    drawn: Option<(RingName, usize)>,
    rings: BTreeMap<(u32, u32), (RingName, Weak<dyn Queue>)>,
}

fn key((ip, index): RingName) -> (u32, u32) {
    (ip as u32, index)
}

impl Schedule {
    fn draw(&mut self, held: &[RingName]) {
        let live = self.rings.values().filter(|(ring, _)| !held.contains(ring));
        let live = live.filter_map(|(ring, queue)| Some((*ring, queue.upgrade()?)));
        let ready: Vec<_> =
            live.flat_map(|(ring, queue)| queue.ready().into_iter().map(move |place| (ring, place))).collect();
        self.drawn = None;
        if !ready.is_empty() {
            let index = self.next() % ready.len() as u64;
            self.drawn = ready.get(index as usize).copied();
        }
    }

    /// SplitMix64 (Steele, Lea, Flood 2014), which is short and good enough to shuffle jobs.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }
}
