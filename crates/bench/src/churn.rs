//! Threads that use everything at once on the simulator, for as long as asked; then nothing may be left.

use std::{
    fs,
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    cs::{Queue, Stream, Submission, pm4},
    heaps::{AllocateFlags, AllocateInfo, DeviceMemory, MemoryManager, TableOptions},
    uapi::VaFlags,
    vamgr::VaRequest,
    winsys::{Binding, Bo, Context, Deadline, Device, Ip, Priority, ResidencySet},
};

use crate::contest::traces::random;

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Memories that a thread keeps at most.
const MOST_LIVE: usize = 48;
/// Submissions are given this long.
const PATIENCE: Duration = Duration::from_mins(1);
/// System memory that the CPU may map, and VRAM.
const TYPES: [u32; 2] = [5, 0];
const MAPPABLE: u32 = TYPES[0];

/// State shared by all threads.
struct Shared {
    manager: MemoryManager,
    /// Resident for every submission; members come and go under them.
    set: ResidencySet,
    steps: AtomicU64,
}

/// Runs for the given time and reports leaks.
pub(crate) fn run(time: Duration, threads: u32) -> ExitCode {
    match churn(time, threads) {
        Ok(lost) if lost.is_empty() => ExitCode::SUCCESS,
        Ok(lost) => {
            for what in &lost {
                eprintln!("lost: {what}");
            }
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn churn(time: Duration, threads: u32) -> Result<Vec<String>, Failure> {
    let gpu = SimDevice::new(profile("navi21").ok_or("no such chip")?, SimOptions::default());
    // What is set up once, such as a ring's thread, is there before the count.
    use_device(&gpu, Duration::ZERO, 1)?;
    let before = (gpu.census(), descriptors()?);
    let (steps, mut lost) = use_device(&gpu, time, threads)?;
    let after = (gpu.census(), descriptors()?);
    println!("{steps} steps of {threads} threads in {time:?}");
    if before.0 != after.0 {
        lost.push(format!("the device had {:?}, and has {:?}", before.0, after.0));
    }
    if before.1 != after.1 {
        lost.push(format!("the process had {} descriptors open, and has {}", before.1, after.1));
    }
    lost.extend(gpu.complaints());
    Ok(lost)
}

/// Descriptors of this process.
fn descriptors() -> std::io::Result<usize> {
    Ok(fs::read_dir("/proc/self/fd")?.count())
}

/// Opens the device, lets the threads loose on it and closes it; the steps they made, and what their side of it lost.
fn use_device(gpu: &SimDevice, time: Duration, threads: u32) -> Result<(u64, Vec<String>), Failure> {
    let device = Device::new(gpu.open())?;
    let manager = MemoryManager::new(&device, &TableOptions::default())?;
    let shared = Shared { manager, set: ResidencySet::new(), steps: AtomicU64::new(0) };
    let usage = shared.manager.usage_tracker().usage();
    let end = Instant::now() + time;
    thread::scope(|scope| {
        let running: Vec<_> = (0..threads)
            .map(|seed| {
                scope.spawn({
                    let shared = &shared;
                    move || Churner::new(shared, seed)?.run(end)
                })
            })
            .collect();
        running.into_iter().try_for_each(|thread| thread.join().map_err(|_| "a thread panicked")?)
    })?;
    let mut lost = Vec::new();
    if !shared.set.is_empty() {
        lost.push(format!("{} members of the residency set", shared.set.len()));
    }
    if shared.manager.usage_tracker().usage() != usage {
        lost.push(format!("the usage tracker had {usage:?}, and has {:?}", shared.manager.usage_tracker().usage()));
    }
    let leased = device.addresses().leased_bytes();
    if leased != 0 {
        lost.push(format!("{leased} bytes of addresses"));
    }
    Ok((shared.steps.into_inner(), lost))
}

/// One thread.
struct Churner<'a> {
    shared: &'a Shared,
    draws: Box<dyn FnMut() -> u64 + Send>,
    queue: Queue,
    live: Vec<Live>,
}

struct Live {
    memory: DeviceMemory,
    /// Value that the first dword was last set to, by the CPU or the GPU.
    value: Option<u32>,
    is_resident: bool,
    /// Of the same BO, made anew of a descriptor.
    twin: Option<Binding>,
}

impl<'a> Churner<'a> {
    fn new(shared: &'a Shared, seed: u32) -> Result<Self, Failure> {
        let device = shared.manager.device();
        let context = Context::new(device, Priority::Normal)?;
        let rings = device.info().ring_count(Ip::Compute).max(1);
        let queue = Queue::new(&context, Ip::Compute, seed % rings)?;
        Ok(Self { shared, draws: Box::new(random(0xC4_0A00 + u64::from(seed))), queue, live: Vec::new() })
    }

    fn run(mut self, end: Instant) -> Result<(), Failure> {
        while Instant::now() < end {
            self.step()?;
            self.shared.steps.fetch_add(1, Relaxed);
        }
        while !self.live.is_empty() {
            self.free(0)?;
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), Failure> {
        let (what, which) = ((self.draws)() % 8, (self.draws)());
        if self.live.is_empty() || what < 2 && self.live.len() < MOST_LIVE {
            return self.allocate();
        }
        let which = (which % self.live.len() as u64) as usize;
        match what {
            2 => self.write_by_cpu(which),
            3 => self.write_by_gpu(which),
            4 => self.share(which),
            5 => {
                self.toggle_residency(which);
                Ok(())
            }
            _ => self.free(which),
        }
    }

    fn allocate(&mut self) -> Result<(), Failure> {
        let (kind, size) = ((self.draws)(), (self.draws)());
        let flags = if kind & 2 == 0 { AllocateFlags::EXPORTABLE } else { AllocateFlags::empty() };
        let info = AllocateInfo { flags, ..AllocateInfo::new(TYPES[(kind & 1) as usize], 1 + (size % (2 << 20))) };
        let memory = self.shared.manager.allocate(&info)?;
        self.live.push(Live { memory, value: None, is_resident: false, twin: None });
        Ok(())
    }

    fn write_by_cpu(&mut self, which: usize) -> Result<(), Failure> {
        let value = (self.draws)() as u32;
        let Some(live) = self.live.get_mut(which).filter(|live| live.memory.memory_type() == MAPPABLE) else {
            return Ok(());
        };
        live.check()?;
        live.memory.map()?.store_u32(0, value)?;
        live.value = Some(value);
        if value & 1 == 0 {
            live.memory.unmap();
        }
        Ok(())
    }

    fn write_by_gpu(&mut self, which: usize) -> Result<(), Failure> {
        let value = (self.draws)() as u32;
        let mut stream = Stream::new(self.shared.manager.device(), self.target(), 64)?;
        let Some(live) = self.live.get_mut(which) else { return Ok(()) };
        let at = live.twin.as_ref().map_or(live.memory.address(), Binding::address);
        stream.push(&pm4::WriteData::new(at, &[value]))?;
        let list = stream.finish()?;
        let memory = [live.memory.binding().clone()];
        let submission =
            Submission { lists: &[&list], memory: &memory, sets: &[&self.shared.set], ..Submission::default() };
        if !self.queue.submit(&submission)?.wait(Deadline::after(PATIENCE))? {
            return Err("a submission took more than a minute".into());
        }
        live.value = Some(value);
        live.check()
    }

    fn target(&self) -> pm4::Target {
        pm4::Target::compute(self.shared.manager.device().info().gfx_level)
    }

    /// Out as a descriptor and in again: the same BO, at further addresses.
    fn share(&mut self, which: usize) -> Result<(), Failure> {
        let Some(live) = self.live.get_mut(which) else { return Ok(()) };
        if live.memory.bo().flags().contains(amdgpu_winsys::uapi::GemCreateFlags::VM_ALWAYS_VALID) {
            return Ok(());
        }
        let device = self.shared.manager.device();
        let bo = Bo::import(device, live.memory.bo().export()?)?;
        if bo.handle() != live.memory.bo().handle() {
            return Err("an import of the device's own BO has another handle".into());
        }
        let lease = device.addresses().allocate(VaRequest::new(bo.size()))?;
        let access = VaFlags::READABLE | VaFlags::WRITEABLE;
        live.twin = Some(Binding::new(&bo, lease, access).map_err(|(_lease, error)| error)?);
        Ok(())
    }

    fn toggle_residency(&mut self, which: usize) {
        let Some(live) = self.live.get_mut(which) else { return };
        if live.is_resident {
            self.shared.set.remove(live.memory.binding());
        } else {
            self.shared.set.add(live.memory.binding());
        }
        live.is_resident = !live.is_resident;
    }

    fn free(&mut self, which: usize) -> Result<(), Failure> {
        if self.live.get(which).is_some_and(|live| live.is_resident) {
            self.toggle_residency(which);
        }
        let mut gone = self.live.swap_remove(which);
        gone.check()
    }
}

impl Live {
    /// Checks that the CPU sees what was written last.
    fn check(&mut self) -> Result<(), Failure> {
        let Some(value) = self.value.filter(|_| self.memory.memory_type() == MAPPABLE) else { return Ok(()) };
        let found = self.memory.map()?.load_u32(0)?;
        if found == value { Ok(()) } else { Err(format!("{found:#x} where {value:#x} was written").into()) }
    }
}
