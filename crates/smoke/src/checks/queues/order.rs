//! Order between rings: what one ring writes, another reads, because a fence says that it may.

use amdgpu_winsys::{
    cs::{CommandList, Fence, Queue, Submission, SyncPoint},
    heaps::DeviceMemory,
    winsys::{Capabilities, Deadline, Syncobj},
};

use crate::{
    checks::check::Check,
    gpu::{
        ring::Ring,
        test_context::{HostMemory, TestContext},
    },
    level::Level,
    result::outcome::{ErrorContext, Outcome, Stop, ensure, same, same_bytes, skip},
};

pub(crate) const CHECKS: &[Check] = &[
    Check::once("order.syncobj", "a ring that waits for a sync object reads what its signaller wrote", syncobj),
    Check::once("order.dependency", "a job that names an earlier fence reads what that job wrote", dependency),
    Check::once("order.held", "a job does not begin before the one it names has ended, however long that takes", held)
        .at(Level::Core)
        .anchor("amd_basic@sync-dependency-test-with-IP-GFX"),
    Check::once("order.timeline", "a ring that waits for a point reads what its signaller wrote", timeline),
];

const SIZE: u64 = 64 << 10;

/// Number of unrelated copies that the first job makes before the one that counts: time in which a second job that does not
/// wait for it reads the wrong bytes.
const DETOURS: u32 = 16;

/// Two jobs on two queues: the first copies `decoy` and in the end `from` into `through`, the second `through` into `to`.
struct Relay {
    decoy: HostMemory,
    from: HostMemory,
    through: DeviceMemory,
    to: HostMemory,
    first: Queue,
    second: Queue,
    seed: u32,
}

impl Relay {
    fn new(test: &TestContext<'_>, first: Ring, second: Ring, seed: u32) -> Result<Self, Stop> {
        let filled = |bytes: &[u8]| {
            let memory = test.host_memory(SIZE)?;
            memory.write(0, bytes)?;
            Ok(memory)
        };
        Ok(Self {
            decoy: filled(&test.pattern(!seed, SIZE as usize))?,
            from: filled(&test.pattern(seed, SIZE as usize))?,
            through: test.device_memory(SIZE)?,
            to: filled(&vec![0; SIZE as usize])?,
            first: test.queue(first)?,
            second: test.queue(second)?,
            seed,
        })
    }

    /// Submits the first job.
    fn start(&self, test: &TestContext<'_>, signals: &[SyncPoint<'_>]) -> Result<Fence, Stop> {
        let (to, from, decoy) = (self.through.address(), self.from.at(0)?, self.decoy.at(0)?);
        let list = test.record(&self.first, |recorder| {
            (0..DETOURS).try_for_each(|_| recorder.copy(to, decoy, SIZE))?;
            recorder.copy(to, from, SIZE)
        })?;
        self.submit(&self.first, &list, &Submission { signals, ..Submission::default() })
    }

    /// Submits the second job, which waits as `order` says, and looks at what arrived.
    fn end(&self, test: &TestContext<'_>, order: &Submission<'_>) -> Result<(), Stop> {
        let (to, from) = (self.to.at(0)?, self.through.address());
        let list = test.record(&self.second, |recorder| recorder.copy(to, from, SIZE))?;
        let fence = self.submit(&self.second, &list, order)?;
        test.wait(&fence, || self.to.differs(&vec![0; SIZE as usize]))?;
        same_bytes(&self.to.read(0, SIZE as usize)?, &test.pattern(self.seed, SIZE as usize))
    }

    fn submit(&self, queue: &Queue, list: &CommandList, order: &Submission<'_>) -> Result<Fence, Stop> {
        let memory = [self.decoy.memory(), self.from.memory(), &self.through, self.to.memory()];
        let memory = memory.map(|memory| memory.binding().clone());
        queue.submit(&Submission { lists: &[list], memory: &memory, ..*order }).context("submitting")
    }
}

/// Runs a relay from each ring to the next one, and from the last to the first.
fn around(test: &TestContext<'_>, relay: impl Fn(&Relay) -> Result<(), Stop>) -> Outcome {
    let next = test.rings.iter().cycle().skip(1);
    for ((&first, &second), seed) in test.rings.iter().zip(next).zip(10..) {
        relay(&Relay::new(test, first, second, seed)?).map_err(|stop| stop.of(format_args!("{first} to {second}")))?;
    }
    Ok(format!("{} pairs of rings", test.rings.len()))
}

fn syncobj(test: &TestContext<'_>) -> Outcome {
    around(test, |relay| {
        let done = Syncobj::new(&test.device, false).context("creating a sync object")?;
        let point = [SyncPoint::binary(&done)];
        relay.start(test, &point)?;
        relay.end(test, &Submission { waits: &point, ..Submission::default() })?;
        same("sync object signalled", done.wait(Deadline::POLL).context("polling")?, true)
    })
}

fn dependency(test: &TestContext<'_>) -> Outcome {
    around(test, |relay| {
        let first = relay.start(test, &[])?;
        relay.end(test, &Submission { after: &[&first], ..Submission::default() })
    })
}

fn held(test: &TestContext<'_>) -> Outcome {
    /// Value that the first job waits for in memory and that both jobs store.
    const GO: u32 = 0x60_60_60;
    const STORED: [u32; 2] = [1, 2];
    let next = test.rings.iter().cycle().skip(1);
    for (&first, &second) in test.rings.iter().zip(next) {
        let memory = test.polled_memory(4096)?;
        memory.write(0, &[0; 256])?;
        let (go, to) = (memory.at(0)?, memory.at(64)?);
        let (before, after) = (test.queue(first)?, test.queue(second)?);
        let one = test.record(&before, |recorder| {
            recorder.wait_for(go, GO)?;
            recorder.write(to, &STORED[..1])
        })?;
        let two = test.record(&after, |recorder| recorder.write(to, &STORED[1..]))?;
        let bindings = [memory.memory().binding().clone()];
        let alone = Submission { memory: &bindings, ..Submission::default() };
        let one = before.submit(&Submission { lists: &[&one], ..alone }).context("submitting the first job")?;
        let two = after
            .submit(&Submission { lists: &[&two], after: &[&one], ..alone })
            .context("submitting the second job")?;
        // A second job that does not wait is done soon; one that does cannot be.
        let early =
            two.wait(Deadline::after(std::time::Duration::from_millis(30))).context("waiting for the second job")?;
        memory.write(0, &GO.to_le_bytes())?;
        test.wait(&one, || memory.differs(&[0; 4]))?;
        test.wait(&two, || true)?;
        let stored = memory.dwords(64, 1)?;
        ensure(!early && stored == STORED[1..], || {
            format!("{first} to {second}: done before the first job was: {early}; stored last: {stored:?}")
        })?;
    }
    Ok(format!("{} pairs of rings", test.rings.len()))
}

fn timeline(test: &TestContext<'_>) -> Outcome {
    if !test.device.info().capabilities.contains(Capabilities::TIMELINE_SYNCOBJ) {
        return skip("the kernel has no timeline sync objects");
    }
    let timeline = Syncobj::new(&test.device, false).context("creating a sync object")?;
    let point = std::cell::Cell::new(0);
    around(test, |relay| {
        point.set(point.get() + 1);
        let point = [SyncPoint { syncobj: &timeline, point: point.get() }];
        relay.start(test, &point)?;
        relay.end(test, &Submission { waits: &point, ..Submission::default() })?;
        same("last point", timeline.query().context("asking for the last point")?, point[0].point)
    })
}
