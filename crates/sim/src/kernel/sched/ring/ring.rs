//! Rings: threads that run jobs.
//!
//! # Why each job ends once, and in its turn
//!
//! 1. **One place.** A job is in `waiting`, or its ring's thread has it, or [`Ring::end_killed`] has just taken it out to end it. It
//!    moves by value, so it is never in two places and cannot end twice.
//! 2. **One end.** `RingState::end` takes the job by value. It releases the job's memory and page tables first, then writes the sequence
//!    number, lowers the load and signals the fence last. Whoever saw the fence finds nothing left of the job. Only a mutation that
//!    tests must detect leaves the fence unsignalled.
//! 3. **Order of an entity.** Only a job that is the oldest of its entity in `waiting` and has no dependency left may start
//!    (`due`). A killed job may also end beside the running one, but not while that is of the same entity.
//! 4. **What runs is known.** `running` is set with `waiting` locked, in the step that takes the job out. Whoever holds both locks sees
//!    each job in one of them: [`Ring::has_jobs`] and [`Ring::abandon`] miss none. The locks are always taken in that order.
//! 5. **A cancel hits its job.** `abandoned` is cleared with `running` locked when a job starts, and set with it locked only if the
//!    running job is of the file that ends. `cancelled` is cleared before the job's fence counts as started; a reset that sets it
//!    afterwards means this job, and one that set it before meant the job that has ended.
//! 6. **No lost wake-up.** The thread sleeps in [`Events::wait`], which evaluates its condition again after each notification. Each
//!    change that may let a job start is followed by one: a new job, the end of a job, a signalled fence, the end of the ring.
//! 7. **No lock during a job.** IBs are executed, and objects dropped, without `waiting` and `running`. A job may hence wait as long as
//!    it likes for another ring's memory.
//! 8. **The end of a ring.** Drop sets `stopping`, which ends waits of the running job as a cancel does, and joins the thread. The
//!    thread holds the device only by a `Weak`, so a job does not keep its device alive; if the thread itself drops the last handle, it
//!    does not join itself.

use std::{
    cmp::Reverse,
    collections::{HashSet, VecDeque},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use amdgpu_hw::{GfxLevel, GpuVa, Ip};
use amdgpu_packets::{Target, pm4};
use amdgpu_uapi::Errno;
use amdgpu_waves::{InstructionHazard, WaveMutation};
use parking_lot::Mutex;

use super::{
    image::{OnRing, image},
    job::Job,
};
use crate::{
    Strictness,
    features::Features,
    gpu::{self, Client, Environment, FaultSource, Ib, PageFault, Place},
    kernel::{
        board::Board,
        hangs::{HangEnd, HangRecord, RingImage},
        process::identity::Process,
        sched::{
            captures::{IbCaptures, user_data},
            context::{Context, Entity},
            fault_cell::FaultCell,
            processor::{Executor, Halt, Processor},
            resets::RingReset,
        },
        strict::{Ahead, Checked, Submitted},
        sync::events::{Until, coarse_now, monotonic_now},
    },
    testing::hooks::{Hang, Queue, RingName, Turn},
};

/// The functions of the GPU that a ring needs at the end of a job.
pub(crate) trait Recovery: std::fmt::Debug + Send + Sync {
    /// Returns `true` if the GPU was unplugged.
    fn is_unplugged(&self) -> bool;

    /// Returns the number of resets that lost VRAM.
    fn losses(&self) -> u32;

    /// Records that the kernel killed the waves of a job or reset its ring. Returns `true` unless another reset took the job first.
    /// Contexts see a reset, and none is guilty.
    fn recovered(&self, is_lost: &dyn Fn() -> bool) -> bool;

    /// Resets the whole GPU without loss of VRAM: every job that has started is lost. Does nothing if the culprit itself was lost
    /// to another reset in the meantime. Returns the error that the culprit's job ends with.
    fn reset_for(&self, culprit: &Context, is_lost: &dyn Fn() -> bool) -> Errno;

    /// Resets the graphics block: the running job of every graphics and compute ring is a culprit. Returns `false` if another reset
    /// took the job first.
    fn reset_block(&self, is_lost: &dyn Fn() -> bool) -> bool;

    /// Returns the memory of the rings that a core dump has: the stuck one and those with jobs, or all of them with older kernels.
    ///
    /// Source: Linux 6.12 and 7.2 `amdgpu_dev_coredump.c`, `amdgpu_devcoredump_read` and `amdgpu_coredump`.
    fn images(&self, stuck: RingName) -> Vec<RingImage>;
}

/// A hardware ring: waiting jobs, and the thread that runs them.
#[derive(Debug)]
pub(crate) struct Ring {
    shared: Arc<RingState>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct RingState {
    /// Only upgraded for short times: a job does not keep its device alive, and ends with the device.
    gpu: Weak<dyn Recovery>,
    board: Arc<Board>,
    name: RingName,
    waiting: Mutex<VecDeque<Job>>,
    /// The running job. Set only with `waiting` locked.
    running: Mutex<Option<Current>>,
    /// The number of pending, waiting and running jobs.
    load: AtomicUsize,
    /// The number of jobs that have ended.
    ended: AtomicU64,
    stopping: AtomicBool,
    /// `true` if the running job should be cancelled.
    cancelled: AtomicBool,
    /// `true` if the cancelled job is one of those that are blamed for the reset.
    blamed: AtomicBool,
    /// `true` if the running job should end because its process has. Set and cleared only with `running` locked.
    abandoned: AtomicBool,
    executor: Executor,
    lockup_timeout: Duration,
    /// The time that the engine may execute a job, which is [`LockupTimeout::of_work`](crate::LockupTimeout).
    work_timeout: Duration,
    ring_reset: RingReset,
    captures: Option<IbCaptures>,
}

/// The job that a ring runs.
#[derive(Debug)]
struct Current {
    entity: Arc<Entity>,
    /// The file that submitted it.
    file: Option<u64>,
    /// Its packets on the ring.
    on_ring: OnRing,
}

impl Ring {
    /// Starts a ring and its thread, which does not keep the device alive.
    pub(crate) fn start(
        board: Arc<Board>,
        gpu: Weak<dyn Recovery>,
        executor: Executor,
        name: RingName,
    ) -> Result<Self, Errno> {
        let shared = Arc::new(RingState {
            gpu,
            name,
            waiting: Mutex::default(),
            running: Mutex::default(),
            load: AtomicUsize::new(0),
            ended: AtomicU64::new(0),
            stopping: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            blamed: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            executor,
            lockup_timeout: board.facts.options.lockup_timeout.of(name.0),
            work_timeout: board.facts.options.lockup_timeout.of_work(name.0, board.facts.options.features),
            ring_reset: board.ring_reset(name.0, executor),
            captures: IbCaptures::from_environment(),
            board,
        });
        let board = &shared.board;
        let queue = Arc::downgrade(&shared);
        board.hooks().ring_starts(name, queue);
        let worker = Arc::clone(&shared);
        let processor = match executor {
            Executor::Video(engine) => Processor::Video(engine),
            Executor::Engine(target) => Processor::Engine(Box::new(board.engine(target))),
        };
        let thread = std::thread::Builder::new()
            .name(format!("{} {}", name.0, name.1))
            .spawn(move || worker.run(processor))
            .map_err(|_| Errno::ENOMEM)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Returns the number of pending, waiting and running jobs.
    pub(crate) fn load(&self) -> usize {
        self.shared.load.load(Ordering::Acquire)
    }

    /// Returns `true` if no job runs and none can start: others wait for their dependencies, or the ring is held.
    pub(crate) fn is_settled(&self) -> bool {
        let is_held = self.shared.board.hooks().is_held(self.shared.name);
        let waiting = self.shared.waiting.lock();
        let is_running = self.shared.running.lock().is_some();
        !is_running && (is_held || most_urgent(&waiting).is_none())
    }

    /// Announces a job, so that others choose another ring.
    pub(crate) fn reserve(&self) {
        self.shared.load.fetch_add(1, Ordering::AcqRel);
        self.shared.board.power.begin_use();
    }

    /// Adds an announced job.
    pub(crate) fn push(&self, mut job: Job) {
        if !self.shared.board.hooks().waits_for_dependencies(self.shared.name) {
            job.dependencies.clear();
        }
        self.shared.waiting.lock().push_back(job);
        self.shared.board.events.wake_all();
    }

    /// Returns `true` if jobs of a file wait for room on the hardware ring, after it was filled.
    pub(crate) fn has_queued(&self, file: u64) -> bool {
        self.shared.advance_next();
        self.shared.waiting.lock().iter().any(|job| job.is_queued_by(file))
    }

    /// Kills the queued jobs of a file. Each ends after its dependencies and the previous job of its entity, see
    /// [`end_killed`](Self::end_killed).
    pub(crate) fn kill_queued(&self, file: u64) {
        self.shared.waiting.lock().iter_mut().filter(|job| job.is_queued_by(file)).for_each(|job| job.is_killed = true);
    }

    /// Returns `true` if a job of a file waits or runs.
    pub(crate) fn has_jobs(&self, file: u64) -> bool {
        let waiting = self.shared.waiting.lock();
        let runs = self.shared.running.lock().as_ref().is_some_and(|current| current.file == Some(file));
        runs || waiting.iter().any(|job| job.fence.owner() == Some(file))
    }

    /// Kills all jobs of a file, also the one that runs and the one on the hardware ring behind it.
    pub(crate) fn abandon(&self, file: u64) {
        let mut waiting = self.shared.waiting.lock();
        waiting.iter_mut().filter(|job| job.fence.owner() == Some(file)).for_each(|job| job.is_killed = true);
        if self.shared.running.lock().as_ref().is_some_and(|current| current.file == Some(file)) {
            self.shared.abandoned.store(true, Ordering::Release);
        }
    }

    /// Ends the killed jobs that have nothing left to wait for, even if the ring is busy. Returns `true` if there were any.
    pub(crate) fn end_killed(&self) -> bool {
        let over = {
            let mut waiting = self.shared.waiting.lock();
            let running = self.shared.running.lock();
            let runs = |job: &Job| running.as_ref().is_some_and(|current| Arc::ptr_eq(&current.entity, &job.entity));
            let found = due(&waiting).find(|(_, job)| job.is_killed && !runs(job)).map(|(index, _)| index);
            found.and_then(|index| waiting.remove(index))
        };
        over.map(|job| self.shared.end(job, Err(Errno::ESRCH))).is_some()
    }

    /// Returns the memory of the ring.
    pub(crate) fn image(&self) -> RingImage {
        let shared = &self.shared;
        let waiting = shared.waiting.lock();
        let behind = waiting.iter().filter(|job| job.is_on_the_ring).map(on_ring);
        let running = shared.running.lock();
        let own = running.iter().map(|current| current.on_ring.clone());
        let jobs: Vec<_> = own.chain(behind).collect();
        let ended = shared.ended.load(Ordering::Acquire);
        image(kernel_name(shared.name, shared.executor), shared.executor, ended, &jobs)
    }

    /// Cancels the running job, if any. Its waits detect this at their next check or notification.
    pub(crate) fn cancel_running(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
    }

    /// Cancels the running job, if any, as a culprit.
    pub(crate) fn blame_running(&self) {
        self.shared.advance_next();
        self.shared.blamed.store(true, Ordering::Release);
        self.cancel_running();
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.cancel_running();
        self.shared.board.events.wake_all();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // A thread that panicked has already printed a message.
            let _ = thread.join();
        }
        self.shared.board.hooks().ring_ends(self.shared.name);
    }
}

/// The next action of a ring.
enum Next {
    Run(Box<Job>),
    Stop,
}

impl RingState {
    fn run(&self, mut engine: Processor) {
        while let Some(Next::Run(job)) = self.board.events.wait(Until::Never, || self.next()) {
            self.execute(&mut engine, *job);
            let running = self.running.lock().take();
            drop(running);
            if self.board.hooks().end_turn(self.name) {
                self.board.events.wake_all();
            }
        }
    }

    /// Returns the first job that can start and is the oldest of its entity, unless the ring should stop.
    fn next(&self) -> Option<Next> {
        if self.stopping.load(Ordering::Acquire) {
            return Some(Next::Stop);
        }
        if self.board.hooks().is_held(self.name) {
            return None;
        }
        let turn = self.board.hooks().turn(self.name);
        let mut waiting = self.waiting.lock();
        let ready = match turn {
            Turn::Free => most_urgent(&waiting)?,
            Turn::NotYet => return None,
            Turn::Start(place) => place,
        };
        let job = waiting.remove(ready)?;
        let mut running = self.running.lock();
        self.abandoned.store(false, Ordering::Release);
        let on_ring = on_ring(&job);
        *running = Some(Current { entity: Arc::clone(&job.entity), file: job.fence.owner(), on_ring });
        Some(Next::Run(Box::new(job)))
    }

    /// Returns `true` if the running job should end before its time is over.
    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire) || self.is_abandoned() || self.stopping.load(Ordering::Acquire)
    }

    /// Returns the error of a job that another ring's reset has ended.
    fn cancellation(&self) -> Errno {
        if self.blamed.load(Ordering::Acquire) { Errno::ETIME } else { Errno::ECANCELED }
    }

    /// Returns `true` if the process of the running job has ended, and the job should.
    fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Acquire)
    }

    fn execute(&self, engine: &mut Processor, job: Job) {
        self.cancelled.store(false, Ordering::Release);
        self.blamed.store(false, Ordering::Release);
        if let Some(errno) = self.refusal(&job) {
            return self.end(job, Err(errno));
        }
        job.fence.start();
        let timed = (job.meter.start(), self.board.power.activity.start(self.name.0));
        let running = Running::new(self, &job);
        let mut state = std::mem::take(&mut *job.entity.gpu.lock());
        state.begin_job();
        if let Some(shadow) = job.shadow {
            self.note_shadow(&job, shadow.begin(&mut state, &job.space));
        }
        engine.switch(state);
        let followed = self.follow(engine, &job, &running);
        let state = engine.switch(gpu::State::new());
        if let Some(shadow) = job.shadow {
            self.note_shadow(&job, shadow.end(&state, &job.space));
        }
        *job.entity.gpu.lock() = state;
        let outcome = match (self.board.hooks().takes_hang(self.name), followed) {
            (Some(hang), _) => Err(self.time_out(&job, running.started, &"a test requested it", (hang, None))),
            (None, Ok(())) if self.is_abandoned() => Ok(()),
            _ if self.is_abandoned() => Err(Errno::ESRCH),
            _ if self.is_cancelled() => Err(self.cancellation()),
            (None, Ok(())) => Ok(()),
            (None, Err(stop)) => Err(self.hang(&job, running.started, &stop)),
        };
        drop(timed);
        self.end(job, outcome);
    }

    /// Records a page fault of a job's shadow area, if there was one.
    fn note_shadow(&self, job: &Job, accessed: Result<(), PageFault>) {
        if let Err(fault) = accessed {
            job.faults.record_shadow(fault);
            self.board.complaints.report(format!("{}, registers in memory: {fault}", self.executor));
        }
    }

    /// Executes the IBs of a job one after the other.
    fn follow(&self, engine: &mut Processor, job: &Job, running: &Running<'_>) -> Result<(), Halt> {
        if let (Some(caches), Some(target)) = (self.board.caches(), self.executor.target()) {
            let memory = Checked::new(&job.space, caches, target, &self.submitted(job));
            job.fence.set_job(memory.number());
            return self.follow_strictly(engine, job, running, memory);
        }
        let others = self.board.hooks().other_ibs(self.name, &job.ibs);
        let (ibs, constant) = others.as_ref().map_or((&job.ibs[..], &job.constant[..]), |ibs| (&ibs[..], &[][..]));
        let mut outcome = Ok(());
        let is_gfx = matches!(self.executor.target(), Some(Target::Pm4(target)) if target.ring == pm4::Ring::Gfx);
        let runs_ahead = is_gfx && self.board.facts.options.strictness == Strictness::Late;
        self.board.hooks().with_memory(self.name, &job.space, &mut |memory| {
            if runs_ahead {
                let ahead = Ahead::new(memory);
                let (clock, observer) = (&self.board.clock, Some(&ahead as &dyn gpu::CacheObserver));
                let env = Environment { memory: &ahead, clock, job: running, shaders: running, observer };
                outcome = execute_ibs(engine, ibs, constant, &env);
                return;
            }
            let env = Environment { memory, clock: &self.board.clock, job: running, shaders: running, observer: None };
            outcome = execute_ibs(engine, ibs, constant, &env);
        });
        outcome
    }

    /// Returns what decides about the order of a job.
    fn submitted(&self, job: &Job) -> Submitted {
        let (ip, index) = self.name;
        let dependencies = job.dependencies.iter().flat_map(|fence| fence.jobs().unwrap_or_else(|| vec![0])).collect();
        let (number, known) = job.known.clone().unwrap_or_default();
        Submitted {
            number,
            ring: (ip as u32) << 8 | index,
            entity: Arc::as_ptr(&job.entity) as usize,
            vm: job.fence.owner(),
            dependencies,
            known,
            is_in_gang: job.gang.is_some(),
            is_polled: job.user_fence.is_some(),
        }
    }

    /// Executes the IBs of a job on memory whose accesses are checked. The hooks do not change these jobs.
    fn follow_strictly(
        &self,
        engine: &mut Processor,
        job: &Job,
        running: &Running<'_>,
        memory: Checked<'_>,
    ) -> Result<(), Halt> {
        let (clock, observer) = (&self.board.clock, Some(&memory as &dyn gpu::CacheObserver));
        let env = Environment { memory: &memory, clock, job: running, shaders: running, observer };
        let followed = execute_ibs(engine, &job.ibs, &job.constant, &env);
        memory.end(followed.is_ok());
        followed
    }

    /// Returns the reason why a job is not started: errors are inherited within an entity, a guilty or stale context runs no jobs,
    /// queued jobs of a killed process are dropped, and an unplugged GPU runs no jobs.
    ///
    /// With [`Features::ENTITY_ERRORS`] a job on the hardware ring does not run if the previous job of its entity hung.
    ///
    /// Source: Linux 6.12 `amdgpu_job.c`, `amdgpu_job_run`; `sched_entity.c`, `drm_sched_entity_error`; Linux 7.2 `amdgpu_ring.c`,
    /// `amdgpu_ring_set_fence_errors_and_reemit`.
    fn refusal(&self, job: &Job) -> Option<Errno> {
        let Some(gpu) = self.gpu.upgrade().filter(|gpu| !gpu.is_unplugged()) else {
            return Some(Errno::ECANCELED);
        };
        if job.is_killed {
            return Some(Errno::ESRCH);
        }
        let follows_a_hang = self.board.facts.has(Features::ENTITY_ERRORS) && job.entity.error() == Some(Errno::ETIME);
        if job.is_on_the_ring && follows_a_hang {
            return Some(Errno::ECANCELED);
        }
        let is_cut_off = job.context.is_guilty() || job.context.is_stale(gpu.losses());
        job.entity.error().filter(|_| !job.is_on_the_ring).or_else(|| is_cut_off.then_some(Errno::ECANCELED))
    }

    /// Releases the objects of the job, and then signals its fence, so that waiters find nothing left of the job.
    fn end(&self, job: Job, outcome: Result<(), Errno>) {
        // An entity's error is that of its last job that reached the hardware ring.
        let has_successor = outcome == Err(Errno::ENODATA) && self.is_followed_by(&job.entity);
        if let Err(errno) = outcome
            && !has_successor
        {
            let counts_again = job.is_on_the_ring && self.board.facts.has(Features::ENTITY_ERRORS);
            if counts_again { job.entity.fail_again(errno) } else { job.entity.fail(errno) }
        }
        let Job { fence, user_fence, keep, space, .. } = job;
        drop((keep, space));
        // After the waves were killed, the ring continues with the packet that writes the sequence number.
        if let (Ok(()) | Err(Errno::ENODATA), Some((bo, offset, number))) = (outcome, user_fence) {
            let number = self.board.hooks().fence_value(self.name, number);
            bo.write(offset, &number.to_le_bytes());
        }
        if let Some(error) = self.board.hooks().hardware_error(self.name) {
            self.board.health.record_error(error);
        }
        self.load.fetch_sub(1, Ordering::AcqRel);
        self.ended.fetch_add(1, Ordering::AcqRel);
        self.board.power.end_use();
        if self.board.hooks().wakes_waiters(self.name) {
            fence.signal(outcome);
        }
    }

    /// Hangs until the ring times out and the GPU is reset, as hardware does for a stream that it cannot execute. If another ring's
    /// job times out first, this job is lost with all others, and is not guilty.
    ///
    /// Source: Linux 6.12 `amdgpu_job.c`, `amdgpu_job_timedout`, and `amdgpu_device.c`, `amdgpu_device_gpu_recover`: a full
    /// reset without loss of VRAM.
    fn hang(&self, job: &Job, started: Instant, stop: &Halt) -> Errno {
        if let Some(fault) = stop.fetch() {
            job.faults.record_fetch(fault, self.executor.target());
        }
        let hang = if stop.is_of_waves() { Hang::Waves } else { Hang::FrontEnd };
        if stop.is_early() {
            let why = format!("{stop}: a job may run for {:?} (lockup_timeout)", self.work_timeout);
            return self.time_out(job, started, &why, (hang, stop.place()));
        }
        self.time_out(job, started, stop, (hang, stop.place()))
    }

    /// Waits for the end of the job's time, and recovers the stuck ring as the kernel does: kills the job's waves, resets the ring, or resets the GPU, whichever helps first.
    fn time_out(
        &self,
        job: &Job,
        started: Instant,
        why: &dyn std::fmt::Display,
        (hang, place): (Hang, Option<Place>),
    ) -> Errno {
        let set = if let Some(Target::Pm4(target)) = self.executor.target() {
            job.entity.gpu.lock().registers().shown(target.level)
        } else {
            String::new()
        };
        let heading = if set.is_empty() { "" } else { "\n  registers set before:" };
        let record = self.hang_record(job, started, why, place);
        let saved = record.saved.as_ref().map(|name| format!(" (saved as {name})")).unwrap_or_default();
        self.board.complaints.report(format!("{} hangs: {why}{saved}{heading}{set}", self.executor));
        let culprit = record.process.clone();
        let record = self.board.complaints.hung(record);
        let deadline = started.checked_add(self.lockup_timeout).map_or(Until::Never, Until::At);
        self.board.events.wait(deadline, || self.is_cancelled().then_some(()));
        let rings = self.gpu.upgrade().map(|gpu| gpu.images(self.name)).unwrap_or_default();
        let (errno, end) = self.recover(job, hang);
        self.board.complaints.recovered(record, end, rings);
        if matches!(end, HangEnd::Ring | HangEnd::Full) {
            self.board.report_reset(culprit.as_ref());
        }
        errno
    }

    /// Returns what is known about a job that hangs.
    fn hang_record(
        &self,
        job: &Job,
        started: Instant,
        why: &dyn std::fmt::Display,
        place: Option<Place>,
    ) -> HangRecord {
        /// The longest IB whose contents are kept.
        const MOST_DWORDS: usize = 1 << 16;
        let read = |ib: &Ib| {
            let len = ib.dwords as usize;
            let mut bytes = vec![0; 4 * len.min(MOST_DWORDS)];
            let is_read = len <= MOST_DWORDS && gpu::Memory::read(&job.space, ib.va, &mut bytes).is_ok();
            let (dwords, _) = bytes.as_chunks::<4>();
            let dwords = dwords.iter().filter(|_| is_read).map(|&dword| u32::from_le_bytes(dword));
            (ib.va, len, dwords.collect())
        };
        let header = place.and_then(|place| {
            let at = place.ib.va.low_48_bits().checked_add(4 * place.offset as u64)?;
            let mut bytes = [0; 4];
            gpu::Memory::read(&job.space, GpuVa::from_48_bits(at), &mut bytes).ok()?;
            Some(u32::from_le_bytes(bytes))
        });
        let ended = self.ended.load(Ordering::Acquire);
        HangRecord {
            ring: kernel_name(self.name, self.executor),
            ip_type: Some(self.name.0 as u32),
            why: why.to_string(),
            saved: place.zip(self.captures.as_ref()).and_then(|(place, captures)| captures.saved(place.ib.va)),
            header,
            jobs: (ended, ended + self.load.load(Ordering::Acquire) as u64),
            ibs: job.ibs.iter().map(read).collect(),
            pasid: job.faults.pasid(),
            vmid: job.faults.vmid(),
            process: Some(Process::of(job.pid)),
            fault: job.faults.last(),
            rings: Vec::new(),
            started,
            recovered: None,
            end: HangEnd::Pending,
        }
    }

    /// Recovers the ring after the job's time. Returns the error that the job ends with, and the way.
    fn recover(&self, job: &Job, hang: Hang) -> (Errno, HangEnd) {
        if self.is_abandoned() {
            return (Errno::ESRCH, HangEnd::Lost);
        }
        let Some(gpu) = self.gpu.upgrade() else { return (Errno::ECANCELED, HangEnd::Lost) };
        if hang == Hang::Waves && self.can_kill_waves() {
            if !gpu.recovered(&|| self.is_cancelled()) {
                return (Errno::ECANCELED, HangEnd::Lost);
            }
            // The next job is on the hardware ring by now.
            self.advance_next();
            return (Errno::ENODATA, HangEnd::Soft);
        }
        let lost = match self.ring_reset {
            RingReset::None => None,
            RingReset::Lossy => Some(Errno::ECANCELED),
            RingReset::Selective => Some(Errno::ETIME),
        };
        if let Some(errno) = lost {
            if self.board.facts.has(Features::ENTITY_ERRORS) {
                // The job behind it is on the hardware ring by now.
                self.advance_next();
            }
            let is_own = gpu.recovered(&|| self.is_cancelled());
            return if is_own { (errno, HangEnd::Ring) } else { (Errno::ECANCELED, HangEnd::Lost) };
        }
        if self.has_block_reset() {
            let is_own = gpu.reset_block(&|| self.is_cancelled());
            return if is_own { (Errno::ETIME, HangEnd::Ring) } else { (self.cancellation(), HangEnd::Lost) };
        }
        let was_lost = self.is_cancelled();
        let errno = gpu.reset_for(&job.context, &|| self.is_cancelled());
        (errno, if was_lost { HangEnd::Lost } else { HangEnd::Full })
    }

    /// Returns `true` if the waves of a job can be killed: from GFX7 on, or on GFX7 and GFX8 alone.
    ///
    /// Source: Linux 6.12 `gfx_v7_0.c` to `gfx_v12_0.c`, `soft_recovery` of the graphics and compute rings' functions; Linux 7.2
    /// `amdgpu_device.c`, `amdgpu_get_soft_full_reset_mask`.
    fn can_kill_waves(&self) -> bool {
        let is_too_new = self.board.facts.has(Features::NO_SOFT_RECOVERY) && self.executor.is_pm4_from(GfxLevel::Gfx9);
        self.executor.is_pm4_from(GfxLevel::Gfx7) && !is_too_new
    }

    /// Returns `true` if the block of the ring can be reset alone: the graphics block of GFX6 to GFX8.
    ///
    /// Source: Linux 7.3 `amdgpu_device.c`, `amdgpu_device_ip_soft_reset`.
    fn has_block_reset(&self) -> bool {
        let is_old = self.executor.is_pm4_from(GfxLevel::Gfx6) && !self.executor.is_pm4_from(GfxLevel::Gfx9);
        is_old && self.board.facts.has(Features::BLOCK_RESETS)
    }

    /// Puts the next job on the hardware ring, which has room for the running job and one more.
    ///
    /// Source: Linux 6.12 `amdgpu_drv.c`, `amdgpu_sched_hw_submission`.
    fn advance_next(&self) {
        let mut waiting = self.waiting.lock();
        if self.running.lock().is_none() || waiting.iter().any(|job| job.is_on_the_ring) {
            return;
        }
        let next = due(&waiting).filter(|(_, job)| job.gang.is_none());
        let next = next.min_by_key(|(index, job)| (Reverse(job.context.level()), *index)).map(|(index, _)| index);
        if let Some(mut job) = next.and_then(|index| waiting.remove(index)) {
            job.is_on_the_ring = true;
            waiting.push_front(job);
        }
    }

    /// Returns `true` if a job of the entity is on the hardware ring.
    fn is_followed_by(&self, entity: &Arc<Entity>) -> bool {
        self.waiting.lock().iter().any(|job| job.is_on_the_ring && Arc::ptr_eq(&job.entity, entity))
    }
}

impl Queue for RingState {
    fn ready(&self) -> Vec<usize> {
        let waiting = self.waiting.lock();
        due(&waiting).filter(|(_, job)| job.may_start()).map(|(index, _)| index).collect()
    }
}

/// Executes the IBs of a job one after the other, beside those of the constant engine if the job has any.
fn execute_ibs(engine: &mut Processor, ibs: &[Ib], constant: &[Ib], env: &Environment<'_>) -> Result<(), Halt> {
    if constant.is_empty() {
        return ibs.iter().try_for_each(|&ib| engine.run(ib, env));
    }
    engine.run_beside(constant, ibs, env)
}

/// Returns the jobs that are due and the oldest of their entities, with their indices.
fn due(waiting: &VecDeque<Job>) -> impl Iterator<Item = (usize, &Job)> {
    // The entities whose oldest job was found: later jobs wait for it.
    let mut seen = HashSet::new();
    let oldest = waiting.iter().enumerate().filter(move |(_, job)| seen.insert(Arc::as_ptr(&job.entity)));
    oldest.filter(|(_, job)| job.is_due())
}

/// Returns the job to start: of the context with the highest priority, and of several the oldest.
fn most_urgent(waiting: &VecDeque<Job>) -> Option<usize> {
    if waiting.front().is_some_and(|job| job.is_on_the_ring) {
        return Some(0);
    }
    let mut candidates: Vec<_> = due(waiting).collect();
    candidates.sort_by_key(|(_, job)| Reverse(job.context.level()));
    candidates.into_iter().find(|(_, job)| job.may_start()).map(|(index, _)| index)
}

/// Returns the packets of a job on the ring.
fn on_ring(job: &Job) -> OnRing {
    OnRing { ibs: job.ibs.clone(), vmid: job.faults.vmid() }
}

/// Returns the name of a ring in the kernel's log.
///
/// Source: Linux 6.12 `gfx_v9_0.c` to `gfx_v12_0.c`, `sdma_v5_0.c`, `vcn_v4_0.c`, `jpeg_v4_0.c`, the formats of `ring->name`.
pub(super) fn kernel_name(name: RingName, executor: Executor) -> String {
    let (ip, index) = (name.0, name.1);
    match ip {
        Ip::Gfx if executor.is_pm4_from(GfxLevel::Gfx10) => format!("gfx_0.{index}.0"),
        Ip::Gfx => "gfx".to_owned(),
        Ip::Compute => format!("comp_1.{}.{}", index % 4, index / 4),
        Ip::Sdma => format!("sdma{index}"),
        Ip::VcnDec => format!("vcn_dec_{index}"),
        Ip::VcnEnc => format!("vcn_enc_{index}"),
        Ip::VcnJpeg => format!("jpeg_dec_{index}"),
        _ => format!("{ip}_{index}").to_lowercase(),
    }
}

/// The job as the engine sees it.
struct Running<'r> {
    shared: &'r RingState,
    faults: &'r FaultCell,
    /// The number of the submission, in the strict mode.
    submission: u64,
    started: Instant,
    /// The nanoseconds that the job has waited for values in memory.
    waited: AtomicU64,
    /// The time at which the job has run for long enough. The coarse clock is not there before it.
    deadline: u64,
}

impl<'r> Running<'r> {
    fn new(shared: &'r RingState, job: &'r Job) -> Self {
        let time = u64::try_from(shared.work_timeout.as_nanos()).unwrap_or(u64::MAX);
        Self {
            shared,
            faults: &job.faults,
            submission: job.known.as_ref().map_or(0, |(number, _)| *number),
            started: Instant::now(),
            waited: AtomicU64::new(0),
            deadline: monotonic_now().saturating_add(time),
        }
    }
}

/// The time that a wait sleeps between two polls of memory.
const LOOK_AGAIN: Duration = Duration::from_micros(50);

impl gpu::Job for Running<'_> {
    fn keep_waiting(&self) -> bool {
        let before = Instant::now();
        std::thread::sleep(LOOK_AGAIN);
        let slept = u64::try_from(before.elapsed().as_nanos()).unwrap_or(u64::MAX);
        let waited = self.waited.fetch_add(slept, Ordering::Relaxed).saturating_add(slept);
        !self.is_cancelled() && Duration::from_nanos(waited) < self.shared.lockup_timeout
    }

    fn fault(&self, fault: PageFault, place: Place) {
        let source = FaultSource { client: Client::Packet, is_atomic: false, is_readable: false };
        self.fault_by(fault, source, place);
    }

    fn fault_by(&self, fault: PageFault, source: FaultSource, place: Place) {
        if self.shared.board.hooks().reports_faults(self.shared.name) {
            self.faults.record(fault, source, place.target);
        }
        self.shared.board.complaints.report(format!("{place}: {fault}"));
    }

    fn hung(&self, reason: &str) {
        self.shared.board.complaints.report(reason.to_owned());
    }

    fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled() || coarse_now() >= self.deadline
    }

    fn shared(&self) -> Option<&(dyn gpu::Job + Sync)> {
        Some(self)
    }

    fn wave_mutation(&self) -> Option<WaveMutation> {
        self.shared.board.hooks().wave_mutation(self.shared.name)
    }

    fn draw_mutation(&self) -> Option<amdgpu_raster::DrawMutation> {
        self.shared.board.hooks().draw_mutation(self.shared.name)
    }

    fn hazard(&self, hazard: &InstructionHazard, place: Place) {
        if let Some(caches) = self.shared.board.caches() {
            caches.report_instruction(self.submission, hazard, &place);
        }
    }

    fn is_checked(&self) -> bool {
        self.shared.board.caches().is_some()
    }

    fn fetched(&self, ib: Ib, dwords: &[u32]) {
        if let (Some(captures), Some(target)) = (&self.shared.captures, self.shared.executor.target()) {
            captures.keep(target, ib, dwords, &self.shared.board.complaints);
        }
    }
}

/// An executor of shaders that captures them.
impl gpu::Shaders for Running<'_> {
    fn run(&self, work: &gpu::Work, scene: &gpu::Scene<'_>) -> Result<(), gpu::Unfinished> {
        let RingState { captures, executor, board, .. } = self.shared;
        if let (Some(captures), gpu::Work::Dispatch(grid), Some(Target::Pm4(target))) =
            (captures, work, executor.target())
        {
            let how = (target.level, grid.wave(target.level));
            captures.keep_shader(how, grid.program, scene.memory, &board.complaints);
            let user = user_data(target.level, scene.state);
            captures.keep_descriptors(how, grid.program, &user, scene.memory, &board.complaints);
        }
        self.shared.board.shaders.run(work, scene)
    }
}
