//! Observers and tracing subscribers may panic. Objects that the kernel has made by then have an owner, which gives them back, and
//! no address is given away that is still bound.

#[path = "support/scenario.rs"]
mod scenario;
mod support;

use std::{
    any::Any,
    collections::HashMap,
    panic::{AssertUnwindSafe, catch_unwind, panic_any, set_hook, take_hook},
    sync::{
        Arc, Once,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
};

use amdgpu_layers::{Attempt, FaultInjector};
use amdgpu_sim::{Census, SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{Stream, Submission, pm4},
    heaps::{AllocateFlags, AllocateInfo, MemoryManager, OwnUsage, TableOptions},
    uapi::{Argument, GemClose, GemVa, VaOperation},
    winsys::{Device, Errno, Event, Ip, Observer},
};
use parking_lot::Mutex;
use support::{Trouble, Watch, chip, host_memory, job_time, jobs::store, queue};
use tracing::{Metadata, Subscriber, span};

/// The panic that a test has planned.
struct Planned;

/// Keeps planned panics out of the test's output.
fn quieten() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !info.payload().is::<Planned>() {
                before(info);
            }
        }));
    });
}

/// Counts what it hears, and panics once.
#[derive(Debug)]
struct Fuse {
    heard: AtomicU64,
    at: u64,
    /// `true` if it goes on panicking.
    forever: bool,
    armed: AtomicBool,
}

impl Fuse {
    fn new(at: u64, forever: bool) -> Arc<Self> {
        Arc::new(Self { heard: AtomicU64::new(0), at, forever, armed: AtomicBool::new(true) })
    }

    fn hear(&self) {
        if !self.armed.load(SeqCst) {
            return;
        }
        let heard = self.heard.fetch_add(1, SeqCst);
        if heard == self.at || self.forever && heard > self.at {
            panic_any(Planned);
        }
    }

    fn has_blown(&self) -> bool {
        self.heard.load(SeqCst) > self.at
    }

    fn disarm(&self) {
        self.armed.store(false, SeqCst);
    }
}

impl Observer for Fuse {
    fn observe(&self, _: &Event) {
        self.hear();
    }
}

/// A subscriber that hears the library's spans and events on the thread that it is set for.
struct Subscribed(Arc<Fuse>);

impl Subscriber for Subscribed {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        ["amdgpu_winsys", "amdgpu_uapi"].iter().any(|of| metadata.target().starts_with(of))
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        self.0.hear();
        span::Id::from_u64(1)
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {
        self.0.hear();
    }

    fn enter(&self, _: &span::Id) {
        self.0.hear();
    }

    fn exit(&self, _: &span::Id) {
        self.0.hear();
    }
}

type Kernel = Arc<FaultInjector<SimKernel>>;
type Scenario = fn(&Device) -> Result<(), Trouble>;

/// Returns the objects of a file by the kernel's count, and by the library's own.
fn counts(kernel: &Kernel, device: &Device) -> (Census, u64, OwnUsage) {
    (kernel.inner().census(), device.addresses().leased_bytes(), device.usage_tracker().usage())
}

/// The kernel's descriptors of this process.
fn open_files() -> usize {
    std::fs::read_dir("/proc/self/fd").unwrap().count()
}

/// Returns `true` if a request gives something back.
fn gives_back(attempt: &Attempt<'_>) -> bool {
    match attempt {
        Attempt::Munmap { .. } => true,
        Attempt::Ioctl { request, argument } => {
            let word =
                |at: usize| argument.get(at..at + 4).map_or(0, |word| u32::from_ne_bytes(word.try_into().unwrap()));
            let name = (request.kind(), request.number());
            let is = |wanted: amdgpu_winsys::uapi::Request| name == (wanted.kind(), wanted.number());
            is(GemClose::REQUEST)
                || is(GemVa::REQUEST) && [VaOperation::Unmap as u32, VaOperation::Clear as u32].contains(&word(8))
                || is(amdgpu_winsys::uapi::SyncobjDestroy::REQUEST)
                || is(amdgpu_winsys::uapi::Ctx::REQUEST) && word(0) == amdgpu_winsys::uapi::ctx_op::FREE_CTX
        }
        _ => false,
    }
}

/// The kernel refuses everything once that is to be given back, so that the refusals are heard of.
fn refuse_once(kernel: &Kernel) {
    let seen = Mutex::new(HashMap::<(u8, u8), u64>::new());
    kernel.fail_every_where(Errno::EBUSY, move |attempt| {
        let kind = match attempt {
            Attempt::Ioctl { request, .. } => (request.kind(), request.number()),
            _ => (0, 0),
        };
        gives_back(attempt) && {
            let mut seen = seen.lock();
            let count = seen.entry(kind).or_default();
            *count += 1;
            *count % 2 == 1
        }
    });
}

/// After a panic the device serves as before: whatever addresses it gives away, the kernel has nothing bound there.
fn still_serves(device: &Device) {
    let manager = MemoryManager::new(device, &TableOptions::default()).unwrap();
    let info = AllocateInfo { flags: AllocateFlags::LISTED, ..AllocateInfo::new(5, 64 << 10) };
    let memories: Vec<_> = (0..40).map(|_| manager.allocate(&info).unwrap()).collect();
    drop(memories);
}

/// Runs a scenario with a fuse that blows at its n-th hearing; whether it came to that.
fn survives(name: &str, scenario: Scenario, fuse: &Arc<Fuse>, kind: Told, refuses: bool) -> bool {
    let kernel: Kernel = Arc::new(FaultInjector::new(SimKernel::open(chip(name))));
    let closed = kernel.inner().census();
    let files = open_files();
    let device = match kind {
        Told::Observer => Device::with_observer(Arc::clone(&kernel), Arc::clone(fuse)).unwrap(),
        Told::Subscriber => Device::new(Arc::clone(&kernel)).unwrap(),
    };
    let before = counts(&kernel, &device);
    if refuses {
        refuse_once(&kernel);
    }
    let run = || catch_unwind(AssertUnwindSafe(|| scenario(&device)));
    let outcome: Result<Result<(), Trouble>, Box<dyn Any + Send>> = match kind {
        Told::Observer => run(),
        Told::Subscriber => tracing::subscriber::with_default(Subscribed(Arc::clone(fuse)), run),
    };
    fuse.disarm();
    kernel.stop();
    let blown = fuse.has_blown();
    if let Err(payload) = &outcome {
        assert!(payload.is::<Planned>(), "{name} {kind:?}: another panic than that at {}", fuse.at);
    } else if !blown {
        outcome.unwrap().unwrap_or_else(|error| panic!("{name} {kind:?}: nothing panicked, and yet: {error}"));
    }
    assert_eq!(counts(&kernel, &device), before, "{name} {kind:?}: after a panic at {}", fuse.at);
    still_serves(&device);
    assert_eq!(counts(&kernel, &device), before, "{name} {kind:?}: served after a panic at {}", fuse.at);
    drop(device);
    assert_eq!(kernel.inner().census(), closed, "{name} {kind:?}: without the device, after a panic at {}", fuse.at);
    drop(kernel);
    assert_eq!(open_files(), files, "{name} {kind:?}: descriptors after a panic at {}", fuse.at);
    blown
}

/// The listener that panics.
#[derive(Clone, Copy, Debug)]
enum Told {
    Observer,
    Subscriber,
}

/// Tests that count the process's descriptors take turns.
static TURN: Mutex<()> = Mutex::new(());

fn sweep(name: &str, scenario: Scenario, kind: Told, refuses: bool, least: u64) {
    quieten();
    let _turn = TURN.lock();
    let heard = (0..10_000).find(|&n| !survives(name, scenario, &Fuse::new(n, false), kind, refuses));
    let heard = heard.expect("the scenario ends");
    assert!(heard >= least, "{name} {kind:?}: only {heard} places to panic at");
}

#[test]
fn an_observer_that_panics_leaves_nothing_behind() {
    sweep("navi21", scenario::scenario, Told::Observer, false, 100);
    sweep("navi21", scenario::heaps, Told::Observer, false, 30);
}

#[test]
fn an_observer_that_panics_leaves_no_guard_page_behind() {
    sweep("pitcairn", scenario::heaps, Told::Observer, false, 30);
}

#[test]
fn a_subscriber_that_panics_leaves_nothing_behind() {
    sweep("navi21", scenario::scenario, Told::Subscriber, false, 100);
    sweep("navi21", scenario::heaps, Told::Subscriber, false, 30);
}

#[test]
fn a_subscriber_that_panics_over_a_refusal_leaves_nothing_behind() {
    sweep("navi21", scenario::heaps, Told::Subscriber, true, 40);
}

/// Also one that panics at whatever it hears, while a panic unwinds too.
#[test]
fn an_observer_that_always_panics_does_not_end_the_process() {
    quieten();
    let _turn = TURN.lock();
    for at in 0..40 {
        assert!(survives("navi21", scenario::heaps, &Fuse::new(at, true), Told::Observer, false));
    }
}

/// The kernel never lets go, and the warning about it panics: the addresses still get no new owner.
#[test]
fn addresses_that_stay_bound_are_given_to_nobody() {
    quieten();
    let _turn = TURN.lock();
    for at in 0..3 {
        let kernel: Kernel = Arc::new(FaultInjector::new(SimKernel::open(chip("navi21"))));
        let device = Device::new(Arc::clone(&kernel)).unwrap();
        let memory = host_memory(&device, 64 << 10);
        let address = memory.address();
        kernel.fail_every_where(Errno::EIO, gives_back);
        let fuse = Fuse::new(at, false);
        let drop_it = || catch_unwind(AssertUnwindSafe(|| drop(memory)));
        let _ = tracing::subscriber::with_default(Subscribed(Arc::clone(&fuse)), drop_it);
        fuse.disarm();
        kernel.stop();
        // Were the addresses given away, the kernel would refuse to bind there.
        let others: Vec<_> = (0..40).map(|_| host_memory(&device, 64 << 10)).collect();
        assert!(others.iter().all(|other| other.address() != address), "{at}");
    }
}

/// Panics at submissions.
#[derive(Debug)]
struct AtSubmissions;

impl Observer for AtSubmissions {
    fn observe(&self, event: &Event) {
        if matches!(event, Event::Submitted { .. }) {
            panic_any(Planned);
        }
    }
}

/// The kernel has taken the submission when the observer panics: what it uses lives until it is done.
#[test]
fn a_submission_that_an_observer_panics_at_keeps_what_it_uses() {
    quieten();
    let _turn = TURN.lock();
    let options = SimOptions::hanging_for(std::time::Duration::from_mins(1));
    let gpu = SimDevice::new(chip("navi21"), options);
    let device = Device::with_observer(gpu.open(), AtSubmissions).unwrap();
    let queue = queue(&device, Ip::Compute, 0);
    let memory = host_memory(&device, 4096);
    let used = host_memory(&device, 4096);
    let watch = Watch::of(used.binding());
    let target = pm4::Target::compute(device.info().gfx_level);
    let mut lists: Vec<_> = (0..130).map(|_| Stream::new(&device, target, 1).unwrap().finish().unwrap()).collect();
    lists.push(store(&device, queue.target(), memory.address(), 1));
    let held = gpu.hold_ring(Ip::Compute, 0);
    let refs: Vec<_> = lists.iter().collect();
    let bindings = [memory.binding(), used.binding()].map(Clone::clone);
    let submission = Submission { lists: &refs, memory: &bindings, ..Submission::default() };
    let panicked = catch_unwind(AssertUnwindSafe(|| queue.submit(&submission))).unwrap_err();
    assert!(panicked.is::<Planned>());
    drop((lists, bindings, used));
    assert_eq!((queue.in_flight(), queue.last().sequence(), watch.is_bound()), (1, 2, true));
    drop(held);
    assert!(queue.wait_idle(job_time()).unwrap());
    assert_eq!((memory.mapping().unwrap().load_u32(0).unwrap(), watch.is_bound()), (1, false));
}

/// The kernel took a part of a submission, and the news that it refused the rest panics.
#[test]
fn a_part_that_the_kernel_took_is_kept_where_the_refusal_of_the_rest_panics() {
    quieten();
    let _turn = TURN.lock();
    let options = SimOptions::hanging_for(std::time::Duration::from_mins(1));
    let gpu = SimDevice::new(chip("navi21"), options);
    let kernel: Kernel = Arc::new(FaultInjector::new(gpu.open()));
    let device = Device::new(Arc::clone(&kernel)).unwrap();
    let queue = queue(&device, Ip::Compute, 0);
    let used = host_memory(&device, 4096);
    let watch = Watch::of(used.binding());
    let target = pm4::Target::compute(device.info().gfx_level);
    let lists: Vec<_> = (0..130).map(|_| Stream::new(&device, target, 1).unwrap().finish().unwrap()).collect();
    let held = gpu.hold_ring(Ip::Compute, 0);
    let refs: Vec<_> = lists.iter().collect();
    let bindings = [used.binding().clone()];
    kernel.fail_nth_ioctl(amdgpu_winsys::uapi::Cs::REQUEST, 1, Errno::EINVAL);
    let submit = || queue.submit(&Submission { lists: &refs, memory: &bindings, ..Submission::default() });
    let fuse = Fuse::new(0, false);
    let caught = || catch_unwind(AssertUnwindSafe(submit));
    let panicked = tracing::subscriber::with_default(Subscribed(Arc::clone(&fuse)), caught).unwrap_err();
    assert!(panicked.is::<Planned>());
    drop((lists, bindings, used));
    assert_eq!((queue.in_flight(), queue.last().sequence(), watch.is_bound()), (1, 1, true));
    drop(held);
    assert!(queue.wait_idle(job_time()).unwrap());
    assert_eq!((queue.in_flight(), watch.is_bound()), (0, false));
}
