//! Repeats the operation of a bench row without its peer, for a tool that counts instructions.
//!
//! `.ci/helpers/steps` runs it under callgrind twice, with different counts, and prints the difference for one time: figures that do
//! not depend on what else the machine does.

use std::{env, hint::black_box, ops::ControlFlow, process::ExitCode};

use amdgpu_bench::shaders::{self, JobMemory, Paged, Simulated, Work};
use amdgpu_sim::{NullKernel, profile};
use amdgpu_waves::{
    CodeCache, Dispatch, Limits, Memory, TracedWaves, Vectors, Watch, run_checked, run_on_threads, run_watched,
};
use amdgpu_winsys::{
    cs::{CommandList, Packet, Queue, Stream, Submission, dump::Dumper, pm4, registers::SetRegisters},
    heaps::{AllocateFlags, AllocateInfo, BudgetRule, DeviceMemory, MemoryManager, TableOptions},
    vamgr::{GpuVa, VaRequest},
    winsys::{Binding, Context, Device, GfxLevel, Ip, Priority, ResidencySet},
};

type Failure = Box<dyn std::error::Error>;

/// The names of all rows.
const ROWS: [&str; 31] = [
    "submit-empty",
    "submit-listed",
    "submit-set-1000",
    "submit-listed-1000",
    "allocate-64K",
    "allocate-map-64K",
    "allocate-1000",
    "va",
    "va-1000",
    "budget",
    "record-update",
    "record-copy",
    "record-timestamp",
    "typed-write",
    "typed-copy",
    "typed-eop",
    "typed-nop",
    "decode",
    "dump",
    "shader",
    "shader-job",
    "shader-watch",
    "shader-trace",
    "shader-races",
    "shader-strict",
    "shader-fused",
    "shader-scatter",
    "shader-code",
    "shader-code-kept",
    "shader-short",
    "shader-short-sim",
];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let outcome = match arguments.as_slice() {
        [] => {
            println!("{}", ROWS.join("\n"));
            Ok(())
        }
        [row, count] => count.parse().map_err(Failure::from).and_then(|count| run(row, count)),
        _ => Err("usage: steps [ROW COUNT]".into()),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("steps: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(row: &str, count: u32) -> Result<(), Failure> {
    if row.starts_with("shader") {
        return shader(row, count);
    }
    let device = Device::new(NullKernel::open(profile("navi21").ok_or("no such chip")?)?)?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;
    match row {
        "submit-empty" => submit(&manager, count, 0, true),
        "submit-listed" => submit(&manager, count, 0, false),
        "submit-set-1000" => submit(&manager, count, 1000, true),
        "submit-listed-1000" => submit(&manager, count, 1000, false),
        "allocate-64K" => allocate(&manager, count, 0, false),
        "allocate-map-64K" => allocate(&manager, count, 0, true),
        "allocate-1000" => allocate(&manager, count, 1000, false),
        "va" => addresses(&device, count, 0),
        "va-1000" => addresses(&device, count, 1000),
        "budget" => (0..count).try_for_each(|_| {
            black_box(manager.cached_budgets(BudgetRule::Corrected)?);
            Ok(())
        }),
        "record-update" => record(&device, count, |stream, at| Ok(stream.push(&pm4::WriteData::new(at, &[1, 2]))?)),
        "record-copy" => record(&device, count, |stream, at| {
            let level = gfx().level;
            Ok(stream.push(&pm4::CpDma::copy(level, at, at, 256))?)
        }),
        "record-timestamp" => record(&device, count, |stream, at| Ok(stream.push(&pm4::EndOfPipe::timestamp(at))?)),
        "typed-write" => typed(&device, count, |stream, _, at, value| {
            stream.record(&pm4::WriteData::new(at, &[value, value]));
        }),
        "typed-copy" => typed(&device, count, |stream, level, at, value| {
            stream.record(&pm4::CpDma::copy(level, at, at, value & 0xffff));
        }),
        "typed-eop" => typed(&device, count, |stream, _, at, value| stream.record(&pm4::EndOfPipe::fence(at, value))),
        "typed-nop" => typed(&device, count, |stream, _, _, value| stream.record(&pm4::Nop::Skip(&[value; 5]))),
        "decode" => read(count, |ib, target| pm4::decode(ib, target).flatten().count()),
        "dump" => read(count, |ib, target| Dumper::new(target).dump(ib, None).ibs.len()),
        _ => Err(unknown(row)),
    }
}

/// Dispatches of a wave: the work of `amdgpu-bench shader`'s row `mix`, with what observes a job on or off; and code without a jump that
/// each dispatch decodes, or only the first.
fn shader(row: &str, count: u32) -> Result<(), Failure> {
    if row.starts_with("shader-short") {
        return short(row, count);
    }
    let program = match row {
        "shader-code" | "shader-code-kept" => shaders::straight()?,
        "shader-fused" => shaders::program(Work::Fused)?,
        "shader-scatter" => shaders::program(Work::Scatter)?,
        _ => shaders::program(Work::Mix)?,
    };
    let dispatch = Dispatch { end: [1; 3], ..shaders::dispatch(&program).ok_or("no descriptor")? };
    let plain = Paged::new(&program);
    let cache = (row == "shader-code-kept").then(CodeCache::default);
    let job = JobMemory::new(&program, cache);
    let limits = Limits { vectors: Vectors::Avx2, ..Limits::default() };
    let alone = |memory: &(dyn Memory + Sync)| drop(black_box(run_on_threads(&dispatch, memory, limits, 1)));
    let watched = |watch: &Watch| {
        drop(black_box(run_watched(&dispatch, &job, limits, watch, &mut |_| ControlFlow::Continue(()))));
    };
    for _ in 0..count {
        match row {
            "shader" | "shader-fused" | "shader-scatter" | "shader-code" => alone(&plain),
            "shader-job" | "shader-code-kept" => alone(&job),
            "shader-watch" => watched(&Watch::default()),
            "shader-trace" => watched(&Watch { trace: Some(TracedWaves::All), ..Watch::default() }),
            "shader-races" => watched(&Watch { races: true, ..Watch::default() }),
            "shader-strict" => drop(black_box(run_checked(&dispatch, &job, limits, &mut |_| ()))),
            _ => return Err(unknown(row)),
        }
    }
    Ok(())
}

/// Dispatches of 4,096 short waves, on the memory of the bench and on a simulated chip.
fn short(row: &str, count: u32) -> Result<(), Failure> {
    let program = shaders::short()?;
    let dispatch = shaders::short_dispatch(&program).ok_or("no descriptor")?;
    if row == "shader-short-sim" {
        let simulated = Simulated::new(&program, &dispatch)?;
        return (0..count).try_for_each(|_| simulated.run());
    }
    let memory = Paged::new(&program);
    let limits = Limits { vectors: Vectors::Avx2, ..Limits::default() };
    for _ in 0..count {
        drop(black_box(run_on_threads(&dispatch, &memory, limits, 1)));
    }
    Ok(())
}

fn unknown(row: &str) -> Failure {
    format!("no row {row}; the rows are {}", ROWS.join(", ")).into()
}

fn gfx() -> pm4::Target {
    pm4::Target::gfx(GfxLevel::Gfx10_3)
}

/// Memories that may be shared, so that submissions list them.
fn live(manager: &MemoryManager, live: usize) -> Result<Vec<DeviceMemory>, Failure> {
    let info = AllocateInfo { flags: AllocateFlags::EXPORTABLE, ..AllocateInfo::new(0, 4096) };
    (0..live).map(|_| Ok(manager.allocate(&info)?)).collect()
}

fn empty_list(device: &Device) -> Result<CommandList, Failure> {
    Ok(Stream::new(device, gfx(), 1024)?.finish()?)
}

fn submit(manager: &MemoryManager, count: u32, members: usize, in_a_set: bool) -> Result<(), Failure> {
    let device = manager.device();
    let context = Context::new(device, Priority::Normal)?;
    let queue = Queue::new(&context, Ip::Gfx, 0)?;
    let live = live(manager, members)?;
    let list = empty_list(device)?;
    let (set, sets, bindings): (_, [_; 1], Vec<Binding>);
    set = ResidencySet::new();
    let submission = if in_a_set {
        for memory in &live {
            set.add(memory.binding());
        }
        sets = [&set];
        Submission { lists: &[&list], sets: &sets, ..Submission::default() }
    } else {
        bindings = live.iter().map(|memory| memory.binding().clone()).collect();
        Submission { lists: &[&list], memory: &bindings, ..Submission::default() }
    };
    for _ in 0..count {
        drop(queue.submit(black_box(&submission))?);
    }
    Ok(())
}

fn allocate(manager: &MemoryManager, count: u32, members: usize, is_mapped: bool) -> Result<(), Failure> {
    let _live = live(manager, members)?;
    // Type 0 is device-local, type 5 visible to the host.
    let info = AllocateInfo::new(if is_mapped { 5 } else { 0 }, 64 << 10);
    for _ in 0..count {
        let memory = manager.allocate(black_box(&info))?;
        if is_mapped {
            black_box(memory.map()?);
        }
        drop(memory);
    }
    Ok(())
}

fn addresses(device: &Device, count: u32, members: usize) -> Result<(), Failure> {
    let request = VaRequest::new(64 << 10);
    let leases: Result<Vec<_>, _> = (0..members).map(|_| device.addresses().allocate(request)).collect();
    let leases = leases?;
    for _ in 0..count {
        drop(black_box(device.addresses().allocate(black_box(request))?));
    }
    drop(leases);
    Ok(())
}

/// Commands, a thousand between two resets.
fn record(
    device: &Device,
    count: u32,
    push: impl Fn(&mut Stream<pm4::Target>, GpuVa) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut stream = Stream::new(device, gfx(), 64_000)?;
    let at = GpuVa::new(0x1234_5678_0000)?;
    for number in 0..count {
        if number.is_multiple_of(1000) {
            stream.clear();
        }
        push(&mut stream, black_box(at))?;
    }
    Ok(())
}

/// Packets of which one number is not known, as the rows `record-typed-*` of `amdgpu-bench cs` record them.
fn typed(
    device: &Device,
    count: u32,
    record: impl Fn(&mut Stream<pm4::Target>, GfxLevel, GpuVa, u32),
) -> Result<(), Failure> {
    let (target, at) = black_box((gfx(), GpuVa::new(0x1234_5678_0000)?));
    let mut stream = Stream::new(device, target, 64_000)?;
    for number in 0..count {
        if number.is_multiple_of(1000) {
            stream.clear();
        }
        record(&mut stream, target.level, at, black_box(number));
    }
    Ok(stream.status()?)
}

/// Decodes an IB of 250 packets repeatedly.
fn read(count: u32, work: impl Fn(&[u32], pm4::Target) -> usize) -> Result<(), Failure> {
    let (target, at) = (gfx(), GpuVa::new(0x1234_5678_0000)?);
    let mut ib = vec![0_u32; 4096];
    let mut used = 0;
    for value in 0..50 {
        used += SetRegisters::new(0xb900, &[value; 8]).encode(target, &mut ib[used..])?;
        used += pm4::WriteData::new(at, &[value; 4]).encode(target, &mut ib[used..])?;
        used += pm4::CpDma::copy(target.level, at, at, 4096).encode(target, &mut ib[used..])?;
        used += pm4::EndOfPipe::fence(at, value).encode(target, &mut ib[used..])?;
        used += pm4::CopyData::timestamp(at).encode(target, &mut ib[used..])?;
    }
    for _ in 0..count {
        black_box(work(black_box(&ib[..used]), target));
    }
    Ok(())
}
