//! Costs of the simulated kernel and GPU, as ratios measured in one run.
//!
//! `cargo bench -p amdgpu-bench --bench kernel` prints what one more BO or binding costs among many, what copies cost against
//! plain memcpy, and how many empty submissions go through in a second. The sides of a ratio are measured in turn, several
//! times, and medians are compared, because machines are shared and noisy.
#![expect(clippy::cast_precision_loss, reason = "times are printed with a few digits")]

use std::{hint::black_box, time::Duration};

use amdgpu_bench::{
    client::Client,
    measure::{compare, median, timed},
};
use amdgpu_sim::{SimDevice, SimKernel, SimOptions};
use amdgpu_winsys::{
    cs::{Packet, Target, pm4, sdma},
    uapi::{BoListEntry, VaOperation},
    vamgr::GpuVa,
    winsys::{GfxLevel, Ip},
};

/// Measurements of each side; odd, so that there is a median.
const ROUNDS: usize = 11;
/// Live BOs at which one more is measured; the first is what the others are compared with.
const LIVE: [u64; 4] = [100, 1_000, 10_000, 100_000];
const PAGE: u64 = 4096;
/// Generation of the chip that is measured, navi21.
const GFX_LEVEL: GfxLevel = GfxLevel::Gfx10_3;
/// Start of the bindings.
const VA: u64 = 0x1_0000_0000;

type File = Client<SimKernel>;

fn open(name: &str) -> File {
    let profile = amdgpu_sim::profile(name).expect("a chip of the simulator");
    let options = SimOptions::hanging_for(Duration::from_mins(1));
    Client::new(SimDevice::new(profile, options).open())
}

/// One more among many: files with that many bound BOs, measured in turn.
fn among_many(name: &str, one_more: impl Fn(&File, u64)) {
    // So short that most measurements fall between two turns of other programs.
    const EACH: u64 = 100;
    const MANY_ROUNDS: u64 = 201;
    let files: Vec<(u64, File)> = LIVE
        .into_iter()
        .map(|live| {
            let file = open("navi21");
            for index in 0..live {
                file.bound(VA + index * 2 * PAGE, PAGE);
            }
            (live, file)
        })
        .collect();
    let mut times = vec![Vec::new(); files.len()];
    for round in 0..MANY_ROUNDS {
        for ((live, file), times) in files.iter().zip(&mut times) {
            // All over the address space, between the bindings.
            let place = |index: u64| VA + ((round * EACH + index) * 7919 % live) * 2 * PAGE + PAGE;
            times.push(timed(|| (0..EACH).for_each(|index| one_more(file, place(index)))) / EACH as f64);
        }
    }
    let times: Vec<_> = times.iter_mut().map(|times| median(times)).collect();
    for (live, time) in LIVE.into_iter().zip(&times) {
        println!("{name:<34} {live:>7} live {time:>9.0} ns  ratio {:>5.2}", time / times[0]);
    }
}

fn objects_and_bindings() {
    among_many("GEM_CREATE + GEM_CLOSE", |file, _| file.close(file.create(PAGE)));
    among_many("GEM_CREATE, bind, GEM_CLOSE", |file, va| file.close(file.bound(va, PAGE)));
    among_many("GEM_VA map + unmap", |file, va| {
        file.va(VaOperation::Map, 1, va, PAGE);
        file.va(VaOperation::Unmap, 1, va, PAGE);
    });
    // Every submission sees the bindings of its moment, so each takes a snapshot and each change is made beside it.
    among_many("map, empty CS, unmap, wait", |file, va| {
        let context = file.context;
        file.va(VaOperation::Map, 1, va, PAGE);
        let number = file.submit(context, Ip::Gfx, (VA, 0), &[]);
        file.va(VaOperation::Unmap, 1, va, PAGE);
        file.wait(context, Ip::Gfx, number);
    });
}

/// The dwords of a copy of any size, in packets as large as they get.
fn copy_program(target: Target, from: u64, to: u64, bytes: u64) -> Vec<u32> {
    const LARGEST: u64 = 1 << 20;
    let mut dwords = Vec::new();
    for start in (0..bytes).step_by(LARGEST as usize) {
        let part = (bytes - start).min(LARGEST) as u32;
        let [from, to] = [from, to].map(|base| GpuVa::new(base + start).expect("an address of the low half"));
        match target {
            Target::Pm4(target) => push(&mut dwords, &pm4::CpDma::copy(GFX_LEVEL, to, from, part), target),
            Target::Sdma(version) => {
                push(&mut dwords, &sdma::CopyLinear { to, from, bytes: part, in_dwords: false }, version);
            }
        }
    }
    dwords
}

fn push<P: Packet>(dwords: &mut Vec<u32>, packet: &P, language: P::Language) {
    let mut encoded = vec![0; packet.len_dwords(language).expect("a packet of this chip")];
    packet.encode(language, &mut encoded).expect("a packet of this chip");
    dwords.extend(encoded);
}

/// Copies by an engine, submitted and waited for, against memcpy of as much.
fn copies(name: &str, ip: Ip) {
    let file = open("navi21");
    let context = file.context;
    let target = Target::new(GFX_LEVEL, ip).expect("packets");
    for bytes in [4_u32 << 10, 64 << 10, 1 << 20, 16 << 20, 128 << 20] {
        let size = u64::from(bytes);
        let (from_va, to_va, ib_va) = (VA, VA + (1 << 30), VA + (2 << 30));
        let program = copy_program(target, from_va, to_va, size);
        let handles = [file.bound(from_va, size), file.bound(to_va, size), file.bound(ib_va, 1 << 20)];
        file.store(handles[0], &vec![0x5555_5555; bytes as usize / 4]);
        file.store(handles[1], &vec![0; bytes as usize / 4]);
        file.store(handles[2], &program);
        let bos = handles.map(|bo_handle| BoListEntry { bo_handle, bo_priority: 0 });
        let (from, mut to) = (vec![0x55_u8; bytes as usize], vec![0_u8; bytes as usize]);
        let repeats = (32_u32 << 20).div_ceil(bytes).min(200);
        let submitted = || {
            timed(|| {
                for _ in 0..repeats {
                    let number = file.submit(context, ip, (ib_va, 4 * program.len() as u32), &bos);
                    file.wait(context, ip, number);
                }
            })
        };
        let copied = || timed(|| (0..repeats).for_each(|_| black_box(&mut to).copy_from_slice(black_box(&from))));
        let times = compare(ROUNDS, submitted, copied);
        let rate = |time: f64| f64::from(bytes) * f64::from(repeats) / time;
        let (ours, floor) = (rate(times.ours), rate(times.floor));
        println!(
            "{name:<34} {:>7} KiB {ours:>8.2} GB/s, memcpy {floor:>6.2} GB/s  ratio {:>5.2}",
            bytes >> 10,
            ours / floor
        );
        for handle in handles {
            file.close(handle);
        }
    }
    assert_eq!(file.kernel.complaints(), Vec::<String>::new());
}

/// NOP submissions: as many as fit into a second, the last one waited for.
fn submissions(ip: Ip, bos: usize) {
    const SUBMITS: u32 = 2000;
    let file = open("navi21");
    let context = file.context;
    let ibs = file.bound(VA, PAGE);
    let Some(Target::Pm4(target)) = Target::new(GFX_LEVEL, ip) else {
        return;
    };
    let mut program = Vec::new();
    push(&mut program, &pm4::Nop::Skip(&[0; 7]), target);
    file.store(ibs, &program);
    let others = (1..bos).map(|index| file.bound(VA + index as u64 * PAGE, PAGE));
    let bos: Vec<_> =
        [ibs].into_iter().chain(others).map(|bo_handle| BoListEntry { bo_handle, bo_priority: 0 }).collect();
    let run = || {
        timed(|| {
            let mut last = 0;
            for _ in 0..SUBMITS {
                last = file.submit(context, ip, (VA, 4 * program.len() as u32), &bos);
            }
            file.wait(context, ip, last);
        })
    };
    let mut times: Vec<f64> = (0..ROUNDS).map(|_| run()).collect();
    let rate = f64::from(SUBMITS) * 1e9 / median(&mut times);
    println!("NOP submissions, {:>4} BOs listed     {rate:>10.0} a second on the {ip} ring", bos.len());
}

fn main() {
    objects_and_bindings();
    copies("SDMA copy", Ip::Sdma);
    copies("DMA_DATA copy, graphics ring", Ip::Gfx);
    for bos in [1, 10, 100] {
        submissions(Ip::Gfx, bos);
    }
    submissions(Ip::Compute, 1);
}
