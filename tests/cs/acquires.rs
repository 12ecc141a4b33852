//! The preambles of a queue: submissions begin with an invalidation of the caches unless they say otherwise.

use std::sync::Arc;

use crate::spy::{Seen, Spy};
use crate::support::{
    chip, host_memory, job_time,
    jobs::{context, load, poke},
};
use amdgpu_sim::{HazardKind, SimDevice, SimOptions, Strictness};
use amdgpu_winsys::{
    cs::{AnyStream, CommandList, Gang, Preambles, Queue, QueueOptions, Stream, Submission, SyncPoint, Target, pm4},
    heaps::DeviceMemory,
    uapi::{Cs, chunk_id},
    winsys::{Device, GfxLevel, Ip, Syncobj},
};
use parking_lot::Mutex;

const BARE: fn() -> QueueOptions = || QueueOptions { acquires: false, ..QueueOptions::default() };

/// A device whose submissions are written down.
struct Watched {
    device: Device,
    calls: Arc<Mutex<Vec<Seen>>>,
}

impl Watched {
    fn new(name: &str) -> Self {
        let kernel = Spy::on(SimDevice::new(chip(name), SimOptions::default()).open());
        let device = Device::new(Arc::clone(&kernel)).unwrap();
        let calls = Arc::<Mutex<Vec<Seen>>>::default();
        let log = Arc::clone(&calls);
        kernel.layer().watch(move |call| {
            if call.is::<Cs>() {
                log.lock().push(call.clone());
            }
        });
        Self { device, calls }
    }

    fn queue(&self, ip: Ip, options: QueueOptions) -> Queue {
        Queue::with_options(&context(&self.device), ip, 0, options).unwrap()
    }

    fn list(&self, queue: &Queue) -> CommandList {
        AnyStream::new(&self.device, queue.target(), 8).unwrap().finish().unwrap()
    }

    /// Submits, and returns the addresses of the IBs of each call.
    fn submit(&self, queue: &Queue, submission: &Submission<'_>) -> Vec<Vec<u64>> {
        assert!(queue.submit(submission).unwrap().wait(job_time()).unwrap());
        self.taken()
    }

    fn taken(&self) -> Vec<Vec<u64>> {
        let address = |ib: &[u32]| u64::from(ib[2]) | u64::from(ib[3]) << 32;
        let calls = std::mem::take(&mut *self.calls.lock());
        calls.iter().map(|call| call.chunks_of(chunk_id::IB).map(address).collect()).collect()
    }
}

fn address(list: &CommandList) -> u64 {
    list.ibs().next().unwrap().0.as_u64()
}

#[test]
fn each_call_begins_with_one_ib_of_the_queue_unless_the_submission_or_the_queue_says_otherwise() {
    for (name, after) in [("pitcairn", 1), ("polaris10", 0), ("navi21", 0), ("navi31", 0)] {
        let rig = Watched::new(name);
        for ip in [Ip::Gfx, Ip::Compute] {
            let queue = rig.queue(ip, QueueOptions::default());
            let list = rig.list(&queue);
            let plain = Submission { lists: &[&list], ..Submission::default() };
            let calls = rig.submit(&queue, &plain);
            assert_eq!((calls.len(), calls[0].len(), calls[0][1]), (1, 2 + after, address(&list)), "{name} {ip}");
            let own = Preambles::new().with_initial(rig.list(&queue), rig.list(&queue)).unwrap();
            let expected = [address(&own.before(0, false)[0]), address(&list)];
            assert_eq!(rig.submit(&queue, &Submission { preambles: Some(&own), ..plain }), [expected], "{name} {ip}");
            let none = Submission { preambles: Some(&Preambles::new()), ..plain };
            let bare = rig.queue(ip, BARE());
            for alone in [rig.submit(&queue, &none), rig.submit(&bare, &plain), rig.submit(&bare, &none)] {
                assert_eq!(alone, [[address(&list)]], "{name} {ip}");
            }
            assert_eq!(rig.submit(&queue, &plain), calls, "{name} {ip}, again");
        }
    }
    let rig = Watched::new("navi21");
    let copies = rig.queue(Ip::Sdma, QueueOptions::default());
    let list = rig.list(&copies);
    let calls = rig.submit(&copies, &Submission { lists: &[&list], ..Submission::default() });
    assert_eq!(calls, [[address(&list)]], "the copy engine has no such caches");
}

/// The plan of a queue is that of the last submission, which may have begun otherwise.
#[test]
fn a_submission_that_waits_begins_with_another_ib_whatever_was_submitted_before() {
    let rig = Watched::new("navi21");
    let queue = rig.queue(Ip::Compute, QueueOptions::default());
    let list = rig.list(&queue);
    let ready = Syncobj::new(&rig.device, true).unwrap();
    let none = Preambles::new();
    let plain = Submission { lists: &[&list], ..Submission::default() };
    let waits = Submission { waits: &[SyncPoint::binary(&ready)], ..plain };
    let bare = Submission { preambles: Some(&none), ..plain };
    let kinds = [plain, waits, bare];
    let alone = kinds.map(|kind| rig.submit(&queue, &kind).concat());
    assert_eq!(alone.each_ref().map(Vec::len), [2, 2, 1]);
    assert_ne!(alone[0][0], alone[1][0]);
    for [first, second] in [[0, 0], [0, 1], [1, 1], [1, 0], [0, 2], [2, 2], [2, 1], [1, 2], [2, 0]] {
        for kind in [first, second] {
            assert_eq!(rig.submit(&queue, &kinds[kind]).concat(), alone[kind], "{first}, then {second}");
        }
    }
}

#[test]
fn each_part_of_a_submission_that_is_split_begins_with_an_invalidation() {
    let rig = Watched::new("navi21");
    let queue = rig.queue(Ip::Gfx, QueueOptions::default());
    let lists: Vec<_> = (0..192).map(|_| rig.list(&queue)).collect();
    let lists: Vec<_> = lists.iter().collect();
    let calls = rig.submit(&queue, &Submission { lists: &lists, ..Submission::default() });
    assert_eq!(calls.iter().map(Vec::len).collect::<Vec<_>>(), [192, 2]);
    let single = rig.submit(&queue, &Submission { lists: &lists[..1], ..Submission::default() });
    assert_eq!([calls[0][0], calls[1][0]], [single[0][0]; 2]);
}

#[test]
fn each_queue_of_a_gang_begins_with_its_own_invalidation_after_it_may_start() {
    let rig = Watched::new("navi21");
    let context = context(&rig.device);
    let none = Preambles::new();
    for (options, is_empty, acquires) in
        [(QueueOptions::default(), false, true), (QueueOptions::default(), true, false), (BARE(), false, false)]
    {
        let queue = |ip| Queue::with_options(&context, ip, 0, options).unwrap();
        let (leader, follower) = (queue(Ip::Gfx), queue(Ip::Compute));
        let [main, share] = [&leader, &follower].map(|queue| rig.list(queue));
        let preambles = is_empty.then_some(&none);
        let submission = Submission { lists: &[&main], preambles, ..Submission::default() };
        for (gang, around) in [(Gang::bare(&leader, &[&follower]), 0), (Gang::new(&leader, &[&follower]), 1)] {
            let fence = gang.unwrap().submit(&[&[&share]], &submission).unwrap();
            assert!(fence.wait(job_time()).unwrap());
            let [ibs] = &rig.taken()[..] else { panic!("one call") };
            let place = |list: &CommandList| ibs.iter().position(|&ib| ib == address(list)).unwrap();
            // The handshake is around the lists of each queue; its invalidation comes after the wait of a follower.
            let extra = usize::from(acquires);
            assert_eq!(place(&share), around + extra);
            assert_eq!(place(&main), 2 * around + extra + 1 + around + extra, "{ibs:x?}");
        }
    }
}

/// Copies a dword that the CPU changes between two jobs.
struct Copier {
    gpu: SimDevice,
    queue: Queue,
    memory: DeviceMemory,
    list: CommandList,
}

impl Copier {
    fn new(name: &str, ip: Ip, options: QueueOptions) -> Self {
        let strict = SimOptions { strictness: Strictness::Report, ..SimOptions::default() };
        let gpu = SimDevice::new(chip(name), strict);
        let device = Device::new(gpu.open()).unwrap();
        let queue = Queue::with_options(&context(&device), ip, 0, options).unwrap();
        let memory = host_memory(&device, 8192);
        let Target::Pm4(target) = queue.target() else { panic!("no PM4 ring") };
        let mut stream = Stream::new(&device, target, 64).unwrap();
        let (from, to) = (memory.address(), memory.address().checked_add(4096).unwrap());
        stream.push(&pm4::CpDma::copy(target.level, to, from, 4).with_sync(true)).unwrap();
        let list = stream.finish().unwrap();
        Self { gpu, queue, memory, list }
    }

    /// Returns the hazards of two jobs.
    fn hazards(&self) -> Vec<HazardKind> {
        for value in [1, 2] {
            poke(&self.memory, 0, value);
            let bindings = [self.memory.binding().clone()];
            let submission = Submission { lists: &[&self.list], memory: &bindings, ..Submission::default() };
            assert!(self.queue.submit(&submission).unwrap().wait(job_time()).unwrap());
            assert_eq!(load(&self.memory, 4096), value);
        }
        self.gpu.hazards().iter().map(|hazard| hazard.kind).collect()
    }
}

/// Lists that say nothing about caches, as in most examples.
#[test]
fn a_submission_to_a_new_queue_finds_what_the_cpu_has_written() {
    for name in ["pitcairn", "polaris10", "vega10", "navi10", "navi21", "navi31"] {
        for ip in [Ip::Gfx, Ip::Compute] {
            assert_eq!(Copier::new(name, ip, QueueOptions::default()).hazards(), [], "{name} {ip}");
            let through_l2 = [GfxLevel::Gfx10, GfxLevel::Gfx10_3, GfxLevel::Gfx11];
            let bare = Copier::new(name, ip, BARE());
            let level = bare.queue.context().device().info().gfx_level;
            let expected: &[_] = if through_l2.contains(&level) { &[HazardKind::StaleRead] } else { &[] };
            assert_eq!(bare.hazards(), expected, "{name} {ip} without them");
        }
    }
}
