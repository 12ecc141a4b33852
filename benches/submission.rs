//! What recording, submitting and bring-up cost, each against a floor measured in the same run.
//!
//! `cargo bench --bench submission` prints one line a row: ours, the floor, and their ratio. Ours and the floor are
//! measured in turn, several times, and the medians are compared, because the machine is shared and noisy.

#![expect(unsafe_code, reason = "a kernel that answers at once")]

#[path = "submission/commands.rs"]
mod commands;

use std::{
    ffi::{c_int, c_void},
    hint::black_box,
    ptr::NonNull,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    uapi::{Argument, Cs, Request, WaitCs},
    vamgr::GpuVa,
    winsys::{
        ChunkScratch, Chunks, Context, Deadline, Device, Ip, Kernel, OpenFile, Priority, Protection, ResidentSet,
    },
};
use nix::errno::Errno;

/// Measurements of each side; odd, so that there is a median.
const ROUNDS: usize = 11;

/// Medians of two things measured in turn.
fn compare(mut ours: impl FnMut() -> Duration, mut floor: impl FnMut() -> Duration) -> (Duration, Duration) {
    let (mut ours_times, mut floor_times) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        ours_times.push(ours());
        floor_times.push(floor());
    }
    ours_times.sort();
    floor_times.sort();
    (ours_times[ROUNDS / 2], floor_times[ROUNDS / 2])
}

fn timed(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn row(name: &str, count: u32, unit: &str, (ours, floor): (Duration, Duration), floor_name: &str) {
    let each = |time: Duration| time.as_secs_f64() * 1e9 / f64::from(count);
    println!(
        "{name:<34} {:>10.1} ns/{unit:<8} {floor_name:<28} {:>10.1} ns  ratio {:>5.2}",
        each(ours),
        each(floor),
        each(ours) / each(floor),
    );
}

fn open(name: &str) -> Arc<Device> {
    let profile = amdgpu_sim::profile(name).expect("a chip of the simulator");
    Device::new(SimDevice::new(profile, SimOptions::default()).open()).expect("the simulator comes up")
}

/// Typed packets into a stream, against storing as many dwords into plain memory.
fn recording(device: &Arc<Device>) {
    const PACKETS: u32 = 10_000;
    let target = pm4::Target::gfx(device.info().gfx_level);
    let at = GpuVa::new(0x1234_5678_0000).expect("an address of the low half");
    let mut stream = Stream::new(device, target, 100_000).expect("a stream");
    let dwords = {
        stream.push(&pm4::WriteData::new(at, &[1, 2])).expect("room");
        stream.len()
    };
    let mut plain = vec![0_u32; dwords * PACKETS as usize];
    let record = || {
        stream.clear();
        timed(|| {
            for value in 0..PACKETS {
                stream.push(black_box(&pm4::WriteData::new(at, &[value, value]))).expect("room");
            }
        })
    };
    let store = || {
        timed(|| {
            for (index, packet) in plain.chunks_exact_mut(dwords).enumerate() {
                for (offset, dword) in packet.iter_mut().enumerate() {
                    *dword = black_box((index + offset) as u32);
                }
            }
            black_box(&plain);
        })
    };
    row("record WRITE_DATA (6 dwords)", PACKETS, "packet", compare(record, store), "storing 6 dwords");
}

/// A queue's submit, against the bare CS ioctl with the same chunks on the same simulator.
fn submitting(device: &Arc<Device>, memories: u32) {
    const SUBMITS: u32 = 200;
    let manager = MemoryManager::new(device, &TableOptions::default()).expect("tables");
    let memory: Vec<_> =
        (0..memories).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).expect("memory")).collect();
    let bindings: Vec<_> = memory.iter().map(|memory| Arc::clone(memory.binding())).collect();
    let queue_on = |context: &Arc<Context>| Queue::new(context, Ip::Compute, 0).expect("a compute ring");
    let context = || Arc::new(Context::new(device, Priority::Normal).expect("a context"));
    let (ours, floor) = (context(), context());
    let queue = queue_on(&ours);
    let mut stream = Stream::new(device, pm4::Target::compute(device.info().gfx_level), 64).expect("a stream");
    stream.push(&pm4::Nop::Skip(&[0; 7])).expect("room");
    let list = stream.finish().unwrap();
    let submission = Submission { lists: &[&list], memory: &bindings, ..Submission::default() };
    let through_queue = || {
        timed(|| {
            for _ in 0..SUBMITS {
                let fence = queue.submit(&submission).expect("submitted");
                assert!(fence.wait(Deadline::NEVER).expect("not lost"));
            }
        })
    };
    let ibs = [amdgpu_winsys::uapi::CsChunkIb {
        va_start: list.submitted_ibs().next().unwrap().0.as_u64(),
        ib_bytes: 4 * list.len() as u32,
        ip_type: Ip::Compute as u32,
        ..amdgpu_winsys::uapi::CsChunkIb::ZEROED
    }];
    let bos: Vec<_> = bindings
        .iter()
        .map(|binding| amdgpu_winsys::uapi::BoListEntry { bo_handle: binding.bo().handle(), bo_priority: 0 })
        .collect();
    let mut scratch = ChunkScratch::default();
    let bare = || {
        timed(|| {
            for _ in 0..SUBMITS {
                let chunks = Chunks { ibs: &ibs, bos: &bos, ..Chunks::default() };
                let sequence = floor.submit(chunks, &mut scratch).expect("submitted");
                assert!(floor.wait(Ip::Compute, 0, sequence, Deadline::NEVER).expect("not lost"));
            }
        })
    };
    let name = format!("submit and wait, {memories} BOs listed");
    row(&name, SUBMITS, "submit", compare(through_queue, bare), "bare CS and WAIT_CS");
}

/// The simulator, but for submissions: those are answered at once, and are done.
struct NullKernel {
    inner: SimKernel,
    submissions: AtomicU64,
}

// SAFETY: what is not passed on unchanged writes the 8 bytes with which the answers of CS (a number) and WAIT_CS (a
// status) begin, into an argument that has room for more.
unsafe impl Kernel for NullKernel {
    fn open_file(&self) -> OpenFile<'_> {
        self.inner.open_file()
    }

    unsafe fn ioctl(&self, request: Request, argument: *mut c_void) -> Result<c_int, Errno> {
        let answer = match request.number() {
            number if number == Cs::REQUEST.number() => self.submissions.fetch_add(1, Ordering::Relaxed) + 1,
            number if number == WaitCs::REQUEST.number() => 0,
            // SAFETY: passed on unchanged.
            _ => return unsafe { self.inner.ioctl(request, argument) },
        };
        // SAFETY: see above; both arguments are aligned to 8 bytes.
        unsafe { argument.cast::<u64>().write(answer) };
        Ok(0)
    }

    unsafe fn mmap(
        &self,
        len: usize,
        protection: Protection,
        at: Option<NonNull<u8>>,
        offset: u64,
    ) -> Result<NonNull<u8>, Errno> {
        // SAFETY: passed on unchanged.
        unsafe { self.inner.mmap(len, protection, at, offset) }
    }

    unsafe fn munmap(&self, address: NonNull<u8>, len: usize) -> Result<(), Errno> {
        // SAFETY: passed on unchanged.
        unsafe { self.inner.munmap(address, len) }
    }
}

/// What the library does for a submission with a set of so many memories that has not changed, against the same without
/// a set. The kernel answers at once.
fn submitting_sets(memories: usize) {
    const SUBMITS: u32 = 1000;
    let profile = amdgpu_sim::profile("navi21").expect("a chip of the simulator");
    let kernel = NullKernel { inner: SimKernel::open(profile), submissions: AtomicU64::new(0) };
    let device = Device::new(kernel).expect("the simulator comes up");
    let manager = MemoryManager::new(&device, &TableOptions::default()).expect("tables");
    let memory: Vec<_> =
        (0..memories).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).expect("memory")).collect();
    let set = ResidentSet::new();
    for memory in &memory {
        assert!(set.add(memory.binding()));
    }
    let mut stream = Stream::new(&device, pm4::Target::compute(device.info().gfx_level), 64).expect("a stream");
    stream.push(&pm4::Nop::Skip(&[0; 7])).expect("room");
    let list = stream.finish().expect("a list");
    let context = Arc::new(Context::new(&device, Priority::Normal).expect("a context"));
    let queue = Queue::new(&context, Ip::Compute, 0).expect("a compute ring");
    let submit = |submission: &Submission<'_>| {
        let time = timed(|| {
            for _ in 0..SUBMITS {
                black_box(queue.submit(submission).expect("submitted"));
            }
        });
        assert!(queue.wait_idle(Deadline::NEVER).expect("not lost"));
        time
    };
    let without = Submission { lists: &[&list], ..Submission::default() };
    let (ours, floor) = compare(
        || {
            // The first of a round lists the set anew.
            black_box(queue.submit(&Submission { sets: &[&set], ..without }).expect("submitted"));
            submit(&Submission { sets: &[&set], ..without })
        },
        || submit(&without),
    );
    row(&format!("submit, an unchanged set of {memories}"), SUBMITS, "submit", (ours, floor), "without a set");
}

/// Bring-up of the library on a fresh simulated device, against making that device and opening its file alone.
fn bring_up(name: &str) {
    let profile = amdgpu_sim::profile(name).expect("a chip of the simulator");
    let ours = || timed(|| drop(black_box(open(name))));
    let floor = || timed(|| drop(black_box(SimDevice::new(profile, SimOptions::default()).open())));
    row(&format!("bring-up of {name}"), 1, "device", compare(ours, floor), "opening the file alone");
}

fn main() {
    let device = open("navi21");
    recording(&device);
    commands::run(&device);
    for memories in [0, 100, 1000] {
        submitting(&device, memories);
    }
    for memories in [1, 1000, 10_000] {
        submitting_sets(memories);
    }
    for name in ["navi21", "pitcairn"] {
        bring_up(name);
    }
}
