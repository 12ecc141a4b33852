//! Rings: threads that run jobs.

use std::{
    collections::{HashSet, VecDeque},
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use amdgpu_winsys::{cs::Target, vamgr::GpuVa};
use nix::errno::Errno;
use parking_lot::Mutex;

use crate::{
    bo::Bo,
    complaints::Complaints,
    context::{Context, Entity},
    device::{Gpu, Ticker},
    events::{Events, Until},
    fence::Fence,
    file::FaultCell,
    gpu::{self, Access, Engine, Environment, Ib, PageFault, Place, Stop},
    space::Space,
};

/// One submission to one ring.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) ibs: Vec<Ib>,
    pub(crate) space: Space,
    pub(crate) context: Arc<Context>,
    pub(crate) entity: Arc<Entity>,
    pub(crate) fence: Arc<Fence>,
    /// Must have signalled.
    pub(crate) dependencies: Vec<Arc<Fence>>,
    /// Must have started.
    pub(crate) scheduled: Vec<Arc<Fence>>,
    /// Where the sequence number goes.
    pub(crate) user_fence: Option<(Arc<Bo>, u64, u64)>,
    pub(crate) faults: Arc<FaultCell>,
    /// What the job uses lives until it is done.
    pub(crate) keep: Vec<Arc<Bo>>,
}

impl Job {
    fn is_ready(&self) -> bool {
        self.dependencies.iter().all(|fence| fence.is_signalled())
            && self.scheduled.iter().all(|fence| fence.has_started())
    }
}

/// A hardware ring: jobs that wait, and the thread that runs them.
#[derive(Debug)]
pub(crate) struct Ring {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug)]
struct Shared {
    /// Only looked at for a moment: a job does not keep its device alive, and ends when the device goes.
    gpu: Weak<Gpu>,
    events: Arc<Events>,
    complaints: Arc<Complaints>,
    clock: Ticker,
    waiting: Mutex<VecDeque<Job>>,
    /// Jobs that are to come, wait or run.
    load: AtomicUsize,
    stopping: AtomicBool,
    /// The running job is to be given up.
    cancelled: AtomicBool,
    target: Target,
    hang_timeout: Duration,
}

impl Ring {
    /// A ring and its thread, which does not keep the device alive.
    pub(crate) fn start(gpu: &Arc<Gpu>, target: Target, name: String) -> Result<Self, Errno> {
        let shared = Arc::new(Shared {
            gpu: Arc::downgrade(gpu),
            events: Arc::clone(&gpu.events),
            complaints: Arc::clone(&gpu.complaints),
            clock: gpu.clock,
            waiting: Mutex::default(),
            load: AtomicUsize::new(0),
            stopping: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            target,
            hang_timeout: gpu.options.hang_timeout,
        });
        let worker = Arc::clone(&shared);
        let backends = gpu.profile.dev_info.enabled_rb_pipes_mask;
        let thread = std::thread::Builder::new()
            .name(name)
            .spawn(move || worker.run(Engine::new(target).with_render_backends(backends)))
            .map_err(|_| Errno::ENOMEM)?;
        Ok(Self { shared, thread: Mutex::new(Some(thread)) })
    }

    /// Jobs that are to come, wait or run.
    pub(crate) fn load(&self) -> usize {
        self.shared.load.load(Ordering::Acquire)
    }

    /// Announces a job, so that others choose another ring.
    pub(crate) fn reserve(&self) {
        self.shared.load.fetch_add(1, Ordering::AcqRel);
    }

    /// Takes a job that was announced.
    pub(crate) fn push(&self, job: Job) {
        self.shared.waiting.lock().push_back(job);
        self.shared.events.ring();
    }

    /// The running job, if any, is to be given up. Its waits notice with the next look or ring of the bell.
    pub(crate) fn cancel_running(&self) {
        self.shared.cancelled.store(true, Ordering::Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.cancel_running();
        self.shared.events.ring();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id()) {
            // A thread that panicked has already said so on standard error.
            let _ = thread.join();
        }
    }
}

/// What a ring does next.
enum Next {
    Run(Box<Job>),
    Stop,
}

impl Shared {
    fn run(&self, mut engine: Engine) {
        while let Some(Next::Run(job)) = self.events.wait(Until::Never, || self.next()) {
            self.execute(&mut engine, *job);
        }
    }

    /// The first job that can start and is the oldest of its entity, unless the ring is to stop.
    fn next(&self) -> Option<Next> {
        if self.stopping.load(Ordering::Acquire) {
            return Some(Next::Stop);
        }
        let mut waiting = self.waiting.lock();
        // Entities whose oldest job was looked at: what comes behind it waits for it.
        let mut seen = HashSet::new();
        let mut can_start = |job: &Job| seen.insert(Arc::as_ptr(&job.entity)) && job.is_ready();
        let mut ready = waiting.iter().position(&mut can_start)?;
        let mut level = waiting.get(ready)?.context.level();
        // A job behind it goes first if its context has a higher priority.
        for (index, job) in waiting.iter().enumerate().skip(ready + 1) {
            if can_start(job) && job.context.level() > level {
                (ready, level) = (index, job.context.level());
            }
        }
        waiting.remove(ready).map(|job| Next::Run(Box::new(job)))
    }

    fn is_cancelled(&self) -> bool {
        self.cancelled.load(Ordering::Acquire) || self.stopping.load(Ordering::Acquire)
    }

    fn execute(&self, engine: &mut Engine, job: Job) {
        self.cancelled.store(false, Ordering::Release);
        if let Some(errno) = self.refusal(&job) {
            return self.end(job, Err(errno));
        }
        job.fence.start();
        let running = Running { shared: self, faults: &job.faults, started: Instant::now() };
        let outcome = match follow(engine, &job, &running) {
            _ if self.is_cancelled() => Err(Errno::ECANCELED),
            Ok(()) => Ok(()),
            Err(stop) => Err(self.hang(&job, running.started, &stop)),
        };
        self.end(job, outcome);
    }

    /// Why a job is not even started: errors are inherited within an entity, and a guilty or stale context runs nothing
    /// any more.
    ///
    /// Source: Linux 6.12 `amdgpu_job.c`, `amdgpu_job_run`; `sched_entity.c`, `drm_sched_entity_error`.
    fn refusal(&self, job: &Job) -> Option<Errno> {
        let Some(losses) = self.gpu.upgrade().map(|gpu| gpu.losses()) else { return Some(Errno::ECANCELED) };
        let is_cut_off = job.context.is_guilty() || job.context.is_stale(losses);
        job.entity.error().or_else(|| is_cut_off.then_some(Errno::ECANCELED))
    }

    /// Gives back what the job used, and then tells: whoever hears of the end finds nothing left of it.
    fn end(&self, job: Job, outcome: Result<(), Errno>) {
        if let Err(errno) = outcome {
            job.entity.fail(errno);
        }
        let Job { fence, user_fence, keep, space, .. } = job;
        drop((keep, space));
        if let (Ok(()), Some((bo, offset, number))) = (outcome, user_fence) {
            bo.write(offset, &number.to_le_bytes());
        }
        self.load.fetch_sub(1, Ordering::AcqRel);
        fence.signal(outcome);
    }

    /// What hardware does with a stream it cannot follow: nothing, until the ring times out and the GPU is reset. When
    /// another ring's job is the first to time out, this one is lost with all others, and is not to blame.
    ///
    /// Source: Linux 6.12 `amdgpu_job.c`, `amdgpu_job_timedout`, and `amdgpu_device.c`, `amdgpu_device_gpu_recover`: a full
    /// reset without loss of VRAM.
    fn hang(&self, job: &Job, started: Instant, stop: &Stop) -> Errno {
        if let Stop::Fetch { fault, .. } = stop {
            job.faults.record(*fault);
        }
        self.complaints.say(format!("the {} ring hangs: {stop}", self.target));
        let deadline = Until::At(started + self.hang_timeout);
        self.events.wait(deadline, || self.is_cancelled().then_some(()));
        if let Some(gpu) = self.gpu.upgrade() {
            gpu.reset_for(&job.context, || self.is_cancelled());
        }
        Errno::ECANCELED
    }
}

/// Runs the IBs of a job, one after the other.
fn follow(engine: &mut Engine, job: &Job, running: &Running<'_>) -> Result<(), Stop> {
    let env = Environment { memory: &job.space, clock: &running.shared.clock, job: running };
    job.ibs.iter().filter(|ib| ib.dwords > 0).try_for_each(|&ib| engine.run(ib, &env))
}

/// The job as the engine sees it.
struct Running<'r> {
    shared: &'r Shared,
    faults: &'r FaultCell,
    started: Instant,
}

/// How long a wait sleeps between two looks at memory.
const LOOK_AGAIN: Duration = Duration::from_micros(50);

impl gpu::Job for Running<'_> {
    fn keep_waiting(&self) -> bool {
        std::thread::sleep(LOOK_AGAIN);
        !self.is_cancelled() && self.started.elapsed() < self.shared.hang_timeout
    }

    fn fault(&self, fault: PageFault, place: Place) {
        self.faults.record(fault);
        self.shared.complaints.say(format!("{place}: {fault}"));
    }

    fn is_cancelled(&self) -> bool {
        self.shared.is_cancelled()
    }
}

/// The status word of a fault: bit 0 says there was one, bit 6 that it was a write.
///
/// The layout of VM_L2_PROTECTION_FAULT_STATUS differs between generations; only that it is not zero is relied on.
pub(crate) const fn fault_status(access: Access) -> u32 {
    match access {
        Access::Read | Access::Fetch => 1,
        Access::Write => 1 | 1 << 6,
    }
}

/// The address of an IB as the kernel takes it: 48 bits of it count.
pub(crate) const fn ib(va: u64, bytes: u32) -> Ib {
    Ib { va: GpuVa::from_48_bits(va), dwords: bytes / 4 }
}
