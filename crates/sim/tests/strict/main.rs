//! The strict mode: pairs of streams. Each hazard is reported in a stream that has it, and not in the stream that has what was missing.

mod ahead;
mod bite;
mod counted;
mod ends;
mod fronts;
mod jobs;
mod late;
mod order;
mod recycled;
mod registers;
mod submission;
mod targets;
mod trials;

use std::sync::Arc;

use amdgpu_sim::{
    HazardKind, HazardReport, SimDevice, SimOptions, Strictness,
    gpu::{Scene, Shaders, Unfinished, Work},
    profile,
};
use amdgpu_winsys::{
    cs::{
        Queue, QueueOptions, Stream, Submission,
        pm4::{
            AcquireMem, CacheActions, CoherCntl, Compare, CpDma, DispatchDirect, EndOfPipe, Event, EventWrite,
            HeaderFlags, PfpSyncMe, Ring, Target, WaitRegMem, WriteData,
        },
    },
    heaps::{AllocateFlags, AllocateInfo, DeviceMemory, MemoryManager, MemoryUsage, TableOptions},
    vamgr::GpuVa,
    winsys::{Context, Deadline, Device, GfxLevel, Ip, Priority},
};

/// A chip of each generation of which there is a capture.
const CHIPS: [&str; 6] = ["pitcairn", "polaris10", "vega10", "navi10", "navi21", "navi31"];

/// A device in the strict mode, a queue, and two pages of host memory.
struct Rig {
    gpu: SimDevice,
    device: Device,
    queue: Queue,
    memory: DeviceMemory,
}

impl Rig {
    fn new(chip: &str, ip: Ip) -> Self {
        Self::strictly(chip, ip, Strictness::Report)
    }

    fn strictly(chip: &str, ip: Ip, strictness: Strictness) -> Self {
        Self::with(chip, ip, strictness, AllocateFlags::empty())
    }

    fn with(chip: &str, ip: Ip, strictness: Strictness, flags: AllocateFlags) -> Self {
        let options = SimOptions { strictness, ..SimOptions::default() };
        let gpu = SimDevice::new(profile(chip).unwrap(), options);
        let device = Device::new(gpu.open()).unwrap();
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        let kind = manager.properties().type_for(MemoryUsage::Readback).unwrap();
        let memory = manager.allocate(&AllocateInfo { flags, ..AllocateInfo::new(kind, 8192) }).unwrap();
        memory.map().unwrap().write(0, &[0; 8192]).unwrap();
        // Only what a test records invalidates caches.
        let options = QueueOptions { acquires: false, ..QueueOptions::default() };
        let context = Context::new(&device, Priority::Normal).unwrap();
        let queue = Queue::with_options(&context, ip, 0, options).unwrap();
        Self { gpu, device, queue, memory }
    }

    fn target(&self) -> Target {
        let amdgpu_winsys::cs::Target::Pm4(target) = self.queue.target() else { panic!("not a PM4 ring") };
        target
    }

    fn level(&self) -> GfxLevel {
        self.target().level
    }

    fn at(&self, offset: u64) -> GpuVa {
        self.memory.address().checked_add(offset).unwrap()
    }

    /// Stores a dword from the CPU.
    fn poke(&self, offset: u64, value: u32) {
        self.memory.map().unwrap().store_u32(offset, value).unwrap();
    }

    /// Loads a dword by the CPU.
    fn peek(&self, offset: u64) -> u32 {
        self.memory.map().unwrap().load_u32(offset).unwrap()
    }

    /// Records and runs a job, which sets the registers of its work first.
    fn run(&self, record: impl FnOnce(&mut Stream<Target>)) {
        self.run_bare(|stream| {
            registers::set_all(stream);
            record(stream);
            if self.level() == GfxLevel::Gfx6 {
                write_back(stream);
            }
        });
    }

    /// Records and runs a job.
    fn run_bare(&self, record: impl FnOnce(&mut Stream<Target>)) {
        let mut stream = Stream::new(&self.device, self.target(), 2048).unwrap();
        record(&mut stream);
        let list = stream.finish().unwrap();
        let memory = [self.memory.binding().clone()];
        let submission = Submission { lists: &[&list], memory: &memory, ..Submission::default() };
        assert!(self.queue.submit(&submission).unwrap().wait(Deadline::NEVER).unwrap());
    }

    /// Copies a dword of the first page to the second by CP DMA, and waits for it.
    fn copy(&self, stream: &mut Stream<Target>) {
        stream.push(&CpDma::copy(self.level(), self.at(4096), self.at(0), 4).with_sync(true)).unwrap();
    }

    fn kinds(&self) -> Vec<HazardKind> {
        self.gpu.hazards().iter().map(|report| report.kind).collect()
    }

    fn only(&self) -> HazardReport {
        let reports = self.gpu.hazards();
        let [report] = &reports[..] else { panic!("{reports:?}") };
        report.clone()
    }
}

/// A shader executor whose dispatches store a dword, the number of the dispatch, at an address.
struct Store(GpuVa);

impl Shaders for Store {
    fn run(&self, work: &Work, scene: &Scene<'_>) -> Result<(), Unfinished> {
        if let Work::Dispatch(_) = work {
            scene.memory.write(self.0, &7_u32.to_le_bytes()).unwrap();
        }
        Ok(())
    }
}

/// A dispatch for which nothing waits.
fn start_alone(stream: &mut Stream<Target>) {
    stream.push(&DispatchDirect { flags: HeaderFlags::empty(), x: 1, y: 1, z: 1, initiator: 1 }).unwrap();
}

/// A dispatch, and a wait until it is over.
fn start(stream: &mut Stream<Target>) {
    start_alone(stream);
    stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH)).unwrap();
}

/// Ends a job of GFX6 as it has to, because the kernel's flush comes before shaders end.
fn write_back(stream: &mut Stream<Target>) {
    let target = stream.language();
    stream.push(&EventWrite::new(Event::CS_PARTIAL_FLUSH)).unwrap();
    if target.ring == Ring::Gfx {
        stream.push(&EventWrite::new(Event::PS_PARTIAL_FLUSH)).unwrap();
        stream.push(&PfpSyncMe).unwrap();
    }
    AcquireMem::each(target, CacheActions::WRITE_BACK_L2).for_each(|acquire| stream.push(&acquire).unwrap());
}

/// Jobs that read what the CPU changes in between.
fn reads_twice(chip: &str, ip: Ip, acquires: bool) -> Rig {
    let rig = Rig::new(chip, ip);
    for value in [1, 2] {
        rig.poke(0, value);
        rig.run(|stream| {
            if acquires {
                stream.acquire().unwrap();
            }
            rig.copy(stream);
        });
    }
    rig
}

#[test]
fn what_the_cpu_wrote_between_jobs_needs_an_invalidation_of_l2_from_gfx10_on() {
    for ip in [Ip::Gfx, Ip::Compute] {
        for chip in ["navi10", "navi21", "navi31"] {
            let rig = reads_twice(chip, ip, false);
            let report = rig.only();
            assert_eq!((report.kind, report.address), (HazardKind::StaleRead, Some(rig.at(0).as_u64())), "{report}");
            assert!(report.earlier.contains("DMA_DATA") && report.earlier.contains("the CPU wrote"), "{report}");
            assert!(report.earlier.contains("job 1") && report.later.contains("job 2"), "{report}");
            assert!(reads_twice(chip, ip, true).gpu.hazards().is_empty(), "{chip} {ip}");
        }
        // The kernel's end of job invalidates L2, or CP DMA bypasses it.
        for chip in ["vega10", "raven", "polaris10", "pitcairn"] {
            assert!(reads_twice(chip, ip, false).gpu.hazards().is_empty(), "{chip} {ip}");
        }
    }
}

#[test]
fn an_equal_value_is_no_hazard_and_neither_are_other_bytes_of_the_line() {
    let rig = Rig::new("navi21", Ip::Gfx);
    rig.run(|stream| rig.copy(stream));
    rig.poke(0, 0);
    rig.poke(4, 9);
    rig.run(|stream| rig.copy(stream));
    assert!(rig.gpu.hazards().is_empty(), "{:?}", rig.gpu.hazards());
}

#[test]
fn a_ring_that_polls_what_the_cpu_writes_needs_uncached_memory() {
    for (flags, expected) in [(AllocateFlags::empty(), 1), (AllocateFlags::BYPASS_L2, 0)] {
        let rig = Rig::with("navi21", Ip::Compute, Strictness::Report, flags);
        rig.run(|stream| rig.copy(stream));
        rig.poke(0, 1);
        rig.run(|stream| stream.push(&WaitRegMem::new(rig.at(0), Compare::Equal, 1)).unwrap());
        let reports = rig.gpu.hazards();
        assert_eq!(reports.len(), expected, "{reports:?}");
        assert!(reports.iter().all(|report| report.missing.contains("MTYPE_UC")), "{reports:?}");
    }
}

#[test]
fn what_a_shader_wrote_is_written_back_before_the_command_processor_looks_behind_l2() {
    let run = |chip: &str, actions: CacheActions| {
        let rig = Rig::new(chip, Ip::Compute);
        rig.gpu.plug_shaders(Arc::new(Store(rig.at(0))));
        rig.run(|stream| {
            start(stream);
            AcquireMem::each(rig.target(), actions).for_each(|acquire| stream.push(&acquire).unwrap());
            rig.copy(stream);
        });
        rig
    };
    for chip in ["pitcairn", "polaris10"] {
        let report = run(chip, CacheActions::INVALIDATE_VECTOR).only();
        assert_eq!(report.kind, HazardKind::NotWrittenBack, "{report}");
        assert!(report.earlier.contains("a shader of DISPATCH_DIRECT") && report.later.contains("DMA"), "{report}");
        assert!(run(chip, CacheActions::WRITE_BACK_L2).gpu.hazards().is_empty(), "{chip}");
    }
    for chip in ["vega10", "navi21"] {
        assert!(run(chip, CacheActions::empty()).gpu.hazards().is_empty(), "{chip}: both go through L2");
    }
}

#[test]
fn dirty_bytes_are_written_back_before_they_are_overwritten_behind_l2() {
    let run = |actions: CacheActions| {
        let rig = Rig::new("polaris10", Ip::Compute);
        rig.gpu.plug_shaders(Arc::new(Store(rig.at(0))));
        rig.run(|stream| {
            start(stream);
            AcquireMem::each(rig.target(), actions).for_each(|acquire| stream.push(&acquire).unwrap());
            stream.push(&WriteData::new(rig.at(0), &[9])).unwrap();
        });
        rig.kinds()
    };
    assert_eq!(run(CacheActions::empty()), [HazardKind::Clobber]);
    assert_eq!(run(CacheActions::WRITE_BACK_L2), []);
}

#[test]
fn an_end_of_pipe_needs_the_packets_of_its_generation() {
    for chip in ["vega10", "raven", "polaris10", "stoney"] {
        let rig = Rig::new(chip, Ip::Gfx);
        let fence = EndOfPipe::fence(rig.at(0), 1);
        rig.run(|stream| stream.push(&fence).unwrap());
        let report = rig.only();
        assert_eq!(report.kind, HazardKind::Submission, "{report}");
        assert!(report.missing.contains("radv_cs_emit_write_event_eop"), "{report}");
        let rig = Rig::new(chip, Ip::Gfx);
        rig.run(|stream| {
            stream.end_of_pipe(EndOfPipe::fence(rig.at(0), 1)).unwrap();
            stream.end_of_pipe(EndOfPipe::fence(rig.at(4), 2)).unwrap();
        });
        assert!(rig.gpu.hazards().is_empty(), "{chip}: {:?}", rig.gpu.hazards());
    }
    for (chip, ip) in [("vega10", Ip::Compute), ("polaris10", Ip::Compute), ("navi21", Ip::Gfx), ("pitcairn", Ip::Gfx)]
    {
        let rig = Rig::new(chip, ip);
        rig.run(|stream| stream.push(&EndOfPipe::fence(rig.at(0), 1)).unwrap());
        assert!(rig.gpu.hazards().is_empty(), "{chip} {ip}: {:?}", rig.gpu.hazards());
    }
}

#[test]
fn gfx8_and_gfx9_do_not_write_back_l2_and_invalidate_the_vector_caches_at_once() {
    let back = CoherCntl::TC_WRITE_BACK | CoherCntl::TC_NC;
    for chip in ["polaris10", "vega10"] {
        for (coher, count) in
            [(back | CoherCntl::TCL1, 1), (back, 0), (CoherCntl::TCL1, 0), (CoherCntl::TC_WRITE_BACK, 1)]
        {
            let rig = Rig::new(chip, Ip::Compute);
            let acquire = AcquireMem { coher, ..AcquireMem::all(rig.target(), CacheActions::empty()) };
            rig.run(|stream| stream.push(&acquire).unwrap());
            assert_eq!(rig.gpu.hazards().len(), count, "{chip} {coher:?}: {:?}", rig.gpu.hazards());
        }
    }
}

#[test]
fn the_prefetch_parser_waits_before_it_operates_on_caches_up_to_gfx9() {
    let run = |chip: &str, waits: bool| {
        let rig = Rig::new(chip, Ip::Gfx);
        rig.run(|stream| {
            start(stream);
            if waits {
                stream.push(&PfpSyncMe).unwrap();
            }
            stream.push(&AcquireMem::all(rig.target(), CacheActions::ACQUIRE)).unwrap();
        });
        rig.kinds()
    };
    for chip in ["pitcairn", "polaris10", "vega10"] {
        assert_eq!((run(chip, false), run(chip, true)), (vec![HazardKind::EarlyOperation], vec![]), "{chip}");
    }
    assert_eq!(run("navi21", false), []);
}

#[test]
fn nothing_is_checked_by_default() {
    let gpu = SimDevice::new(profile("vega10").unwrap(), SimOptions::default());
    let device = Device::new(gpu.open()).unwrap();
    let queue = Queue::new(&Context::new(&device, Priority::Normal).unwrap(), Ip::Gfx, 0).unwrap();
    let mut stream = Stream::new(&device, Target::gfx(GfxLevel::Gfx9), 64).unwrap();
    stream
        .push(&EndOfPipe::new(
            amdgpu_winsys::cs::pm4::EopEvent::BottomOfPipe,
            amdgpu_winsys::cs::pm4::EopStore::Nothing,
        ))
        .unwrap();
    let list = stream.finish().unwrap();
    let fence = queue.submit(&Submission { lists: &[&list], ..Submission::default() }).unwrap();
    assert!(fence.wait(Deadline::NEVER).unwrap());
    assert!(gpu.hazards().is_empty());
}
