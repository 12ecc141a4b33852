//! What recording, submitting and bring-up cost, each against a floor measured in the same run.
//!
//! `cargo bench --bench submission` prints one line a row: ours, the floor, and their ratio. Ours and the floor are
//! measured in turn, several times, and the medians are compared, because the machine is shared and noisy.

use std::{
    hint::black_box,
    sync::Arc,
    time::{Duration, Instant},
};

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    vamgr::GpuVa,
    winsys::{ChunkScratch, Chunks, Context, Deadline, Device, Ip, Priority},
};

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
    for memories in [0, 100, 1000] {
        submitting(&device, memories);
    }
    for name in ["navi21", "pitcairn"] {
        bring_up(name);
    }
}
