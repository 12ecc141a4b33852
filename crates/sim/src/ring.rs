//! Rings: threads that run jobs.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::{Duration, Instant},
};

use amdgpu_winsys::{cs::Target, vamgr::GpuVa};
use nix::errno::Errno;
use parking_lot::Mutex;

use crate::{
    bo::Bo,
    context::{Context, Entity},
    device::Gpu,
    events::{Events, Until},
    fence::Fence,
    file::FaultCell,
    gpu::{self, Access, Clock, Engine, Environment, Ib, PageFault, Place, Stop},
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
    gpu: Weak<Gpu>,
    events: Arc<Events>,
    waiting: Mutex<VecDeque<Job>>,
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
            waiting: Mutex::default(),
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

    pub(crate) fn push(&self, job: Job) {
        self.shared.waiting.lock().push_back(job);
        self.shared.events.ring();
    }

    /// The running job, if any, is to be given up.
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
        let ready = (0..waiting.len()).find(|&index| {
            let job = &waiting[index];
            let is_first = waiting.iter().take(index).all(|earlier| !Arc::ptr_eq(&earlier.entity, &job.entity));
            is_first && job.is_ready()
        })?;
        waiting.remove(ready).map(|job| Next::Run(Box::new(job)))
    }

    fn execute(&self, engine: &mut Engine, job: Job) {
        self.cancelled.store(false, Ordering::Release);
        let Some(gpu) = self.gpu.upgrade() else { return job.fence.signal(Err(Errno::ECANCELED)) };
        // Errors are inherited within an entity, and a guilty or stale context runs nothing any more.
        let refused = job
            .entity
            .error()
            .or_else(|| (job.context.is_guilty() || job.context.is_stale(gpu.losses())).then_some(Errno::ECANCELED));
        if let Some(errno) = refused {
            return job.fence.signal(Err(errno));
        }
        job.fence.start();
        let running = Running { shared: self, gpu: &gpu, faults: &job.faults, started: Instant::now() };
        match follow(engine, &job, &running) {
            Ok(()) if !self.cancelled.load(Ordering::Acquire) => {
                if let Some((bo, offset, number)) = &job.user_fence {
                    bo.write(*offset, &number.to_le_bytes());
                }
                drop(job.keep);
                job.fence.signal(Ok(()));
            }
            Ok(()) | Err(Stop::Cancelled { .. }) => {
                job.entity.fail(Errno::ECANCELED);
                job.fence.signal(Err(Errno::ECANCELED));
            }
            Err(stop) => self.hang(&gpu, &job, &running, stop),
        }
    }

    /// What hardware does with a stream it cannot follow: nothing, until the ring times out and the GPU is reset.
    ///
    /// Source: Linux 6.12 `amdgpu_job.c`, `amdgpu_job_timedout`, and `amdgpu_device.c`, `amdgpu_device_gpu_recover`: a full
    /// reset without loss of VRAM.
    fn hang(&self, gpu: &Arc<Gpu>, job: &Job, running: &Running<'_>, stop: Stop) {
        if let Stop::Fetch { fault, .. } = &stop {
            job.faults.record(*fault);
        }
        gpu.complaints.say(format!("the {} ring hangs: {stop}", self.target));
        let deadline = running.started + self.hang_timeout;
        self.events.wait(Until::At(deadline), || self.cancelled.load(Ordering::Acquire).then_some(()));
        job.context.blame();
        job.entity.fail(Errno::ECANCELED);
        gpu.reset();
        job.fence.signal(Err(Errno::ECANCELED));
    }
}

/// Runs the IBs of a job, one after the other.
fn follow(engine: &mut Engine, job: &Job, running: &Running<'_>) -> Result<(), Stop> {
    let env = Environment { memory: &job.space, clock: running.gpu, job: running };
    job.ibs.iter().filter(|ib| ib.dwords > 0).try_for_each(|&ib| engine.run(ib, &env))
}

/// The job as the engine sees it.
struct Running<'r> {
    shared: &'r Shared,
    gpu: &'r Arc<Gpu>,
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
        self.gpu.complaints.say(format!("{place}: {fault}"));
    }

    fn is_cancelled(&self) -> bool {
        self.shared.cancelled.load(Ordering::Acquire) || self.shared.stopping.load(Ordering::Acquire)
    }
}

impl Clock for Arc<Gpu> {
    fn ticks(&self) -> u64 {
        Gpu::ticks(self)
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
