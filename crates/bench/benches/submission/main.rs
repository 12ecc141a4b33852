//! Cost of recording, submitting and bring-up, each against a floor measured in the same run.
//!
//! `cargo bench -p amdgpu-bench --bench submission` prints one line a row: ours, the floor, and their ratio. Ours and the floor are
//! measured in turn, several times, and the medians are compared, because the machine is shared and noisy.

mod commands;

use std::hint::black_box;

use amdgpu_bench::measure::{self, Compared, timed};
use amdgpu_sim::{NullKernel, SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    vamgr::GpuVa,
    winsys::{ChunkScratch, Chunks, Context, Deadline, Device, Ip, Priority, ResidencySet},
};

/// Measurements of each side; odd, so that there is a median.
const ROUNDS: usize = 11;

/// Medians of two things measured in turn.
fn compare(ours: impl FnMut() -> f64, floor: impl FnMut() -> f64) -> Compared {
    measure::compare(ROUNDS, ours, floor)
}

fn row(name: &str, count: u32, unit: &str, times: Compared, floor_name: &str) {
    let Compared { ours, floor } = times.each(count);
    println!("{name:<34} {ours:>10.1} ns/{unit:<8} {floor_name:<28} {floor:>10.1} ns  ratio {:>5.2}", times.ratio());
}

fn open(name: &str) -> Device {
    let profile = amdgpu_sim::profile(name).expect("a chip of the simulator");
    Device::new(SimDevice::new(profile, SimOptions::default()).open()).expect("the simulator comes up")
}

/// Typed packets into a stream, against storing the same number of dwords into plain memory.
fn recording(device: &Device) {
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
fn submitting(device: &Device, memories: u32) {
    const SUBMITS: u32 = 200;
    let manager = MemoryManager::new(device, &TableOptions::default()).expect("tables");
    let memory: Vec<_> =
        (0..memories).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).expect("memory")).collect();
    let bindings: Vec<_> = memory.iter().map(|memory| memory.binding().clone()).collect();
    let queue_on = |context: &Context| Queue::new(context, Ip::Compute, 0).expect("a compute ring");
    let context = || Context::new(device, Priority::Normal).expect("a context");
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

/// Measures a submission with a set of `memories` allocations that has not changed, against the same without a set. The
/// kernel answers at once.
fn submitting_sets(memories: usize) {
    const SUBMITS: u32 = 1000;
    let profile = amdgpu_sim::profile("navi21").expect("a chip of the simulator");
    let kernel = NullKernel::open(profile).expect("addresses to map to");
    let device = Device::new(kernel).expect("the null kernel comes up");
    let manager = MemoryManager::new(&device, &TableOptions::default()).expect("tables");
    let memory: Vec<_> =
        (0..memories).map(|_| manager.allocate(&AllocateInfo::new(0, 4096)).expect("memory")).collect();
    let set = ResidencySet::new();
    for memory in &memory {
        assert!(set.add(memory.binding()));
    }
    let mut stream = Stream::new(&device, pm4::Target::compute(device.info().gfx_level), 64).expect("a stream");
    stream.push(&pm4::Nop::Skip(&[0; 7])).expect("room");
    let list = stream.finish().expect("a list");
    let context = Context::new(&device, Priority::Normal).expect("a context");
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
    let times = compare(
        || {
            // The first of a round lists the set anew.
            black_box(queue.submit(&Submission { sets: &[&set], ..without }).expect("submitted"));
            submit(&Submission { sets: &[&set], ..without })
        },
        || submit(&without),
    );
    row(&format!("submit, an unchanged set of {memories}"), SUBMITS, "submit", times, "without a set");
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
