//! Checks of what becomes of the GPU when the computer sleeps, and of its users when it is taken out. Both are for those who ask.

use std::{
    os::fd::OwnedFd,
    time::{Duration, Instant},
};

use amdgpu_winsys::{
    cs::{self, CommandList, Fence, Queue, Submission},
    uapi::{GemCreateFlags, GemDomain},
    winsys::{Bo, BoRequest, Context, Deadline, Device, Errno, Mapping, PAGE_SIZE, Priority, Syncobj},
};

use crate::{
    checks::{bos::share, check::Check, leak},
    gpu::{
        computer::{self, TakenOut},
        pattern::pattern_dwords,
        ring::Ring,
        target::Target,
        test_context::{HostMemory, Settings, TestContext},
    },
    level::Level,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, fail, same, same_bytes, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once(
        "power.suspend",
        "memory, queues and contexts outlive a sleep of the computer, and VRAM fills again",
        suspend,
    )
    .at(Level::Destructive)
    .needs("`--i-accept-a-suspend` on a real computer, root, a clock with an alarm")
    .lasting(Duration::from_mins(5)),
    Check::alone(
        "device.unplug",
        "whoever uses a GPU that is taken out is told ENODEV, lets go of it, and finds it again",
        unplug,
    )
    .at(Level::Destructive)
    .needs("`--i-accept-an-unplug` on a real GPU, root")
    .anchor("amd_pci_unplug"),
];

/// The most memory that is followed through a sleep.
const MOST: u64 = 64 << 20;
/// The time in which memory that jobs use returns to VRAM.
const RETURN: Duration = Duration::from_secs(5);
/// Between two jobs that ask for it.
const PAUSE: Duration = Duration::from_millis(10);

/// A queue that is older than the sleep, with its place for results.
struct Sleeper {
    ring: Ring,
    queue: Queue,
    memory: HostMemory,
}

impl Sleeper {
    fn new(test: &TestContext<'_>, ring: Ring) -> Result<Self, Stop> {
        let sleeper = Self { ring, queue: test.queue(ring)?, memory: test.host_memory(PAGE_SIZE)? };
        sleeper.works(test, 1)?;
        Ok(sleeper)
    }

    /// Runs a job that writes dwords which only this round has.
    fn works(&self, test: &TestContext<'_>, round: u32) -> Result<(), Stop> {
        let (to, data) = (self.memory.at(0)?, pattern_dwords(90 + round, 64));
        let list = test.record(&self.queue, |recorder| recorder.write(to, &data))?;
        let bindings = [self.memory.memory().binding().clone()];
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        let fence = self.queue.submit(&submission).context("submitting")?;
        test.wait(&fence, || self.memory.differs(&[0; 64]))?;
        same("written", self.memory.dwords(0, 64)?, data)
    }
}

fn suspend(test: &TestContext<'_>) -> Outcome {
    if test.is_stand_in() {
        return skip("nothing sleeps: this kernel only pretends");
    }
    let size = (test.ceiling() / 16).clamp(PAGE_SIZE, MOST) / PAGE_SIZE * PAGE_SIZE;
    let ring = test.ring_of(amdgpu_winsys::winsys::Ip::Sdma)?;
    let bytes = test.pattern(92, size as usize);
    let (own, way) = (test.device_memory(size)?, test.host_memory(size)?);
    let seen = test.visible_memory(PAGE_SIZE)?;
    way.write(0, &bytes)?;
    let (a, b) = (own.address(), way.at(0)?);
    let memory = [&own, way.memory()];
    test.run(ring, &memory, || false, |recorder| recorder.copy(a, b, size))?;
    if let Some(seen) = &seen {
        seen.write(0, &bytes[..PAGE_SIZE as usize])?;
    }
    let sleepers = test.rings.iter().map(|&ring| Sleeper::new(test, ring)).collect::<Result<Vec<_>, _>>()?;
    let losses = test.device.vram_lost_counter().ok();
    let before = vram_used(test)?;

    let how = computer::suspend(test.target, test.settings.may_suspend)?;

    let after = vram_used(test).map_err(|stop| stop.of("after the sleep"))?;
    same_bytes(&way.read(0, bytes.len())?, &bytes).map_err(|stop| stop.of("system memory after the sleep"))?;
    if let Some(seen) = &seen {
        let found = seen.read(0, PAGE_SIZE as usize)?;
        same_bytes(&found, &bytes[..found.len()]).map_err(|stop| stop.of("VRAM that the CPU maps, after the sleep"))?;
    }
    for sleeper in &sleepers {
        let state = sleeper.queue.context().state().context("asking a context what happened")?;
        ensure(state.is_empty(), || format!("a context of before the sleep, on {}: {state:?}", sleeper.ring))?;
        sleeper.works(test, 2).map_err(|stop| stop.of(format_args!("{} after the sleep", sleeper.ring)))?;
    }
    same("VRAM_LOST_COUNTER", test.device.vram_lost_counter().ok(), losses)?;
    way.write(0, &vec![0; bytes.len()])?;
    test.run(ring, &memory, || way.differs(&[0; 64]), |recorder| recorder.copy(b, a, size))?;
    same_bytes(&way.read(0, bytes.len())?, &bytes).map_err(|stop| stop.of("VRAM after the sleep"))?;
    let returned = returned(test, ring, &[&own], size, (before, after))?;
    Ok(format!("{how}; {} KiB and {} queues as before; {returned}", size >> 10, sleepers.len()))
}

fn vram_used(test: &TestContext<'_>) -> Result<u64, Stop> {
    Ok(test.device.memory_info().context("asking for the usage of memory")?.vram.heap_usage)
}

/// Lets jobs use memory until it is in VRAM again, if it was moved out. The kernel moves no more at a time than a budget permits.
///
/// Source: Linux 7.2 `amdgpu_cs.c`, `amdgpu_cs_get_threshold_for_moves`.
fn returned(
    test: &TestContext<'_>,
    ring: Ring,
    memory: &[&amdgpu_winsys::heaps::DeviceMemory],
    size: u64,
    (before, after): (u64, u64),
) -> Outcome {
    if after >= before {
        return Ok("VRAM was not moved out".to_owned());
    }
    // Other programs' memory may come and go meanwhile: what is waited for is as much as this one has.
    let wanted = (after + size).min(before);
    let begun = Instant::now();
    loop {
        let now = vram_used(test)?;
        if now >= wanted {
            let (out, back) = (mib(before - after), begun.elapsed().as_secs_f64() * 1e3);
            return Ok(format!("{out} MiB of VRAM were moved out, and the memory of jobs was back in {back:.1} ms"));
        }
        if begun.elapsed() >= RETURN {
            let (before, after, now) = (mib(before), mib(after), mib(now));
            return fail(format!(
                "VRAM does not fill again: {before} MiB were used before the sleep, {after} after it, {now} after {} s of jobs",
                RETURN.as_secs()
            ));
        }
        std::thread::sleep(PAUSE);
        test.run(ring, memory, || false, crate::gpu::recorder::Recorder::nop)?;
    }
}

fn mib(bytes: u64) -> u64 {
    bytes >> 20
}

/// Everything that a program has of a GPU.
struct Belongings {
    memory: HostMemory,
    unmapped: Bo,
    shared: OwnedFd,
    context: Context,
    queue: Queue,
    list: CommandList,
    done: Fence,
    syncobj: Syncobj,
}

impl Belongings {
    fn new(test: &TestContext<'_>, ring: Ring) -> Result<Self, Stop> {
        let memory = test.host_memory(PAGE_SIZE)?;
        let shared = share::exportable(test, PAGE_SIZE)?.bo().export().context("exporting")?;
        let context = test.context()?;
        let queue = Queue::new(&context, ring.ip, ring.index).context("making the queue")?;
        let (to, data) = (memory.at(0)?, pattern_dwords(94, 16));
        let list = test.record(&queue, |recorder| recorder.write(to, &data))?;
        let bindings = [memory.memory().binding().clone()];
        let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
        let done = queue.submit(&submission).context("submitting")?;
        test.wait(&done, || memory.differs(&[0; 64]))?;
        let syncobj = Syncobj::new(&test.device, false).context("creating a sync object")?;
        Ok(Self {
            memory,
            unmapped: bo(&test.device).context("creating a BO")?,
            shared,
            context,
            queue,
            list,
            done,
            syncobj,
        })
    }

    /// Asks for everything there is. Returns the number of requests, all of which were refused with ENODEV.
    fn are_refused(&self, device: &Device) -> Result<usize, Stop> {
        let bindings = [self.memory.memory().binding().clone()];
        let submission = Submission { lists: &[&self.list], memory: &bindings, ..Submission::default() };
        let deadline = Deadline::after(Duration::from_secs(1));
        let submitted = self.queue.submit(&submission).map(drop).map_err(cs::Error::from);
        let errno = |error: cs::Error| error.winsys().and_then(amdgpu_winsys::winsys::Error::errno);
        let requests = [
            ("VERSION", device.ping().map_err(|error| error.errno())),
            ("AMDGPU_INFO", device.memory_info().map(drop).map_err(|error| error.errno())),
            ("GEM_CREATE", bo(device).map(drop).map_err(|error| error.errno())),
            ("mmap", Mapping::new(&self.unmapped).map(drop).map_err(|error| error.errno())),
            ("PRIME_HANDLE_TO_FD", self.unmapped.export().map(drop).map_err(|error| error.errno())),
            ("PRIME_FD_TO_HANDLE", Bo::import(device, &self.shared).map(drop).map_err(|error| error.errno())),
            ("GEM_WAIT_IDLE", self.unmapped.wait_idle(deadline).map(drop).map_err(|error| error.errno())),
            ("AMDGPU_CTX", Context::new(device, Priority::Normal).map(drop).map_err(|error| error.errno())),
            ("QUERY_STATE2", self.context.state().map(drop).map_err(|error| error.errno())),
            ("AMDGPU_CS", submitted.map_err(errno)),
            ("SYNCOBJ_CREATE", Syncobj::new(device, false).map(drop).map_err(|error| error.errno())),
            ("SYNCOBJ_SIGNAL", self.syncobj.signal().map_err(|error| error.errno())),
            ("SYNCOBJ_WAIT", self.syncobj.wait(deadline).map(drop).map_err(|error| error.errno())),
            ("SYNCOBJ_HANDLE_TO_FD", self.syncobj.export().map(drop).map_err(|error| error.errno())),
        ];
        for (request, answer) in &requests {
            match answer {
                Err(Some(Errno::ENODEV)) => {}
                Ok(()) => return fail(format!("{request} was done for a GPU that is not there")),
                Err(errno) => return fail(format!("{request} on a GPU that is not there: {errno:?}, and not ENODEV")),
            }
        }
        ensure(self.done.is_signalled(), || "a job that had ended is no longer done".to_owned())?;
        // What pages show is not said; a process that dies of them would be wrong.
        self.memory.read(0, 64)?;
        Ok(requests.len())
    }
}

fn bo(device: &Device) -> Result<Bo, amdgpu_winsys::winsys::CreateBoError> {
    let request = BoRequest { size: PAGE_SIZE, alignment: 0, domains: GemDomain::GTT, flags: GemCreateFlags::empty() };
    Bo::create(device, request)
}

fn unplug(target: &Target, settings: Settings) -> Outcome {
    // Without a GPU no file of it is open.
    let before = leak::open_things()?;
    let test = TestContext::open(target, settings)?;
    if test.is_stand_in() {
        return skip("nothing can be taken out: this kernel only pretends");
    }
    let ring = test.ring_of(amdgpu_winsys::winsys::Ip::Sdma)?;
    let belongings = Belongings::new(&test, ring)?;
    let mut taken = TakenOut::new(target, settings.may_unplug)?;
    let count = belongings.are_refused(&test.device)?;
    let opened = target.open().map(drop);
    ensure(opened.is_err(), || "the GPU opens although it is not there".to_owned())?;
    let began = Instant::now();
    drop((belongings, test));
    let time = began.elapsed().as_secs_f64() * 1e3;
    let left = leak::grown_open_things(target, before)?;
    ensure(left.is_empty(), || format!("still open after all was dropped: {}", left.join(", ")))?;

    let node = taken.put_back()?;
    let moved = node.clone().map(Target::at);
    let back = TestContext::open(moved.as_ref().unwrap_or(target), settings).map_err(|stop| stop.of("found again"))?;
    let ring = back.ring_of(ring.ip)?;
    Sleeper::new(&back, ring).map_err(|stop| stop.of("found again"))?;
    let place = node.map(|node| format!(" as {}, because its former node is open elsewhere", node.display()));
    Ok(format!(
        "{count} requests were ENODEV; all was dropped in {time:.1} ms; found again{}",
        place.unwrap_or_default()
    ))
}
