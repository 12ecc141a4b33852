//! Hang reports: the commands around the last marks decoded, with addresses as objects, and the page fault explained.

use crate::support::{
    host_memory, job_time,
    jobs::{context, impatient_gpu},
};
use amdgpu_sim::SimDevice;
use amdgpu_winsys::{
    cs::{
        Breadcrumbs, CommandList, HangReport, IbPrinter, Inclusion, Marker, Queue, RawPrinter, Stream, Submission,
        Target,
        dump::Dumper,
        layout::pm4::CLEAR_STATE,
        pm4,
        registers::{self, RegisterWriter},
    },
    heaps::{DeviceMemory, MemoryManager, TableOptions},
    packet,
    vamgr::GpuVa,
    winsys::{BoHistory, Device, Ip, Observer, VaMap, Verdict},
};

/// A device with a map and a history, and memory of a known name.
struct Rig {
    gpu: SimDevice,
    device: Device,
    queue: Queue,
    memory: DeviceMemory,
    crumbs: Breadcrumbs,
}

impl Rig {
    fn new(name: &str, ip: Ip) -> Self {
        let map = VaMap::new(64);
        let observers: Vec<Box<dyn Observer>> = vec![Box::new(map.clone()), Box::new(BoHistory::new(64))];
        let gpu = impatient_gpu(name);
        let device = Device::with_observer(gpu.open(), observers).unwrap();
        let queue = Queue::new(&context(&device), ip, 0).unwrap();
        let memory = host_memory(&device, 4096);
        map.name(memory.bo().handle(), "results");
        let crumbs = Breadcrumbs::new(&device).unwrap();
        map.name(crumbs.binding().bo().handle(), "marks");
        Self { gpu, device, queue, memory, crumbs }
    }

    fn at(&self, index: u64) -> GpuVa {
        self.memory.address().checked_add(4 * index).unwrap()
    }

    /// 40 stores, mark 1, 10 stores, and mark 2, behind which something waits for `never`.
    fn stuck(&self, never: GpuVa) -> CommandList {
        fn record<L: Marker>(rig: &Rig, language: L, never: GpuVa) -> CommandList {
            let mut stream = Stream::new(&rig.device, language, 512).unwrap();
            for index in 0..40 {
                L::store(&mut stream, rig.at(index), 7).unwrap();
            }
            stream.annotate("the first draw").unwrap();
            rig.crumbs.begin(&mut stream, 0xc0de_0001).unwrap();
            rig.crumbs.end(&mut stream, 0xc0de_0001).unwrap();
            for index in 40..50 {
                L::store(&mut stream, rig.at(index), 7).unwrap();
            }
            stream.annotate("the second draw").unwrap();
            rig.crumbs.begin(&mut stream, 0xc0de_0002).unwrap();
            L::wait_for(&mut stream, never, 1).unwrap();
            rig.crumbs.end(&mut stream, 0xc0de_0002).unwrap();
            for index in 50..100 {
                L::store(&mut stream, rig.at(index), 9).unwrap();
            }
            stream.finish().unwrap()
        }
        match self.queue.target() {
            Target::Pm4(target) => record(self, target, never),
            Target::Sdma(version) => record(self, version, never),
        }
    }

    /// Submits, and waits until it is given up.
    fn lose(&self, list: &CommandList) -> HangReport {
        let memory = [self.memory.binding().clone(), self.crumbs.binding().clone()];
        let fence =
            self.queue.submit(&Submission { lists: &[list], memory: &memory, ..Submission::default() }).unwrap();
        assert!(fence.wait(job_time()).unwrap_err().loss().is_some());
        HangReport::new(&self.device).with_queue(&self.queue, Some(&self.crumbs))
    }
}

/// The one line that has this in it.
fn line<'t>(text: &'t str, what: &str) -> &'t str {
    let mut lines = text.lines().filter(|line| line.contains(what));
    let found = lines.next().unwrap_or_else(|| panic!("no {what} in\n{text}"));
    assert_eq!(lines.next(), None, "{what}");
    found
}

const RINGS: [(&str, Ip); 5] = [
    ("navi21", Ip::Gfx),
    ("polaris10", Ip::Gfx),
    ("navi31", Ip::Compute),
    ("vega10", Ip::Compute),
    ("navi21", Ip::Sdma),
];

/// W-41: RADV's hang-debug mode replaces preambles, and guesses after a second; here nothing changes in what is submitted.
#[test]
fn a_hang_in_the_middle_of_an_ib_is_shown_decoded_with_objects_by_name() {
    for (name, ip) in RINGS {
        let rig = Rig::new(name, ip);
        let report = rig.lose(&rig.stuck(rig.at(200)));
        let text = report.to_string();
        let excerpt = report.queues[0].excerpt.as_ref().unwrap();
        let (done, last) = (excerpt.done_mark.unwrap(), excerpt.last_mark.unwrap());
        assert!(0 < excerpt.first && excerpt.first < done && done < last, "{name} {ip}");
        let arrow = line(&text, "the last mark that the ring came to");
        assert!(arrow.trim_start().starts_with(&format!("->{last:6}:")), "{arrow:?}");
        let arrow = line(&text, "the last mark up to which everything is done");
        assert!(arrow.trim_start().starts_with(&format!("=>{done:6}:")), "{arrow:?}");
        // What it waits for, by the name of the packet, its fields, and the object.
        let wait = if ip == Ip::Sdma { "POLL_REGMEM" } else { "WAIT_REG_MEM" };
        let behind = &text[text.find(arrow).unwrap()..];
        let wait = &behind[behind.find(wait).unwrap_or_else(|| panic!("{text}"))..];
        assert!(wait.contains("800 bytes into \"results\"") && wait.contains("equal"), "{text}");
        assert!(text.contains("into \"marks\""), "{text}");
        assert!(text.contains("no page fault") && text.contains("mark 3235774466 begun"), "{text}");
        assert!(text.contains("annotation: the second draw"), "{text}");
        assert_eq!(excerpt.decoded.problems().count(), 0);
    }
}

#[test]
fn the_page_fault_behind_a_hang_is_explained_with_its_history() {
    for (name, ip) in RINGS {
        let rig = Rig::new(name, ip);
        let freed = host_memory(&rig.device, 4096);
        let address = freed.address();
        rig.device.va_map().unwrap().name(freed.bo().handle(), "freed too early");
        drop(freed);
        let report = rig.lose(&rig.stuck(address));
        let explained = report.explained.as_ref().unwrap_or_else(|| panic!("{name} {ip}: {report}"));
        assert_eq!((&explained.verdict, explained.fault.page), (&Verdict::UseAfterFree, address), "{name} {ip}");
        assert!(!explained.history.is_empty() && rig.device.history().is_some());
        let text = report.to_string();
        assert!(text.starts_with("last page fault: a read in the page at "), "{text}");
        assert!(text.contains("use after free: 0 bytes into \"freed too early\""), "{text}");
        // The packet that did it names the same object.
        assert!(text.matches("\"freed too early\" (BO").count() >= 2, "{text}");
    }
}

#[test]
fn a_list_that_is_called_is_shown_with_its_caller() {
    let rig = Rig::new("navi21", Ip::Gfx);
    let target = pm4::Target::gfx(rig.device.info().gfx_level);
    let mut secondary = Stream::secondary(&rig.device, target, 64).unwrap();
    pm4::Target::wait_for(&mut secondary, rig.at(200), 1).unwrap();
    let secondary = secondary.finish().unwrap();
    let mut stream = Stream::new(&rig.device, target, 256).unwrap();
    rig.crumbs.begin(&mut stream, 5).unwrap();
    stream.execute(&secondary, Inclusion::Auto).unwrap();
    let list = stream.finish().unwrap();
    drop(secondary);
    let report = rig.lose(&list);
    let text = report.to_string();
    assert!(text.contains("called by IB 0 at dword") && text.contains("800 bytes into \"results\""), "{text}");
}

#[test]
fn marks_inside_a_called_list_are_found_there() {
    let rig = Rig::new("navi21", Ip::Gfx);
    let target = pm4::Target::gfx(rig.device.info().gfx_level);
    let mut secondary = Stream::secondary(&rig.device, target, 64).unwrap();
    rig.crumbs.begin(&mut secondary, 5).unwrap();
    pm4::Target::wait_for(&mut secondary, rig.at(200), 1).unwrap();
    let secondary = secondary.finish().unwrap();
    let mut stream = Stream::new(&rig.device, target, 256).unwrap();
    stream.execute(&secondary, Inclusion::Auto).unwrap();
    let report = rig.lose(&stream.finish().unwrap());
    let excerpt = report.queues[0].excerpt.as_ref().unwrap();
    assert_eq!((excerpt.ib, excerpt.last_mark), (secondary.ibs().next().unwrap().0, Some(0)), "{report}");
}

#[test]
fn the_registers_that_were_set_before_the_last_mark_are_told_by_name() {
    for (name, is_called) in [("navi21", false), ("navi21", true), ("polaris10", true)] {
        let rig = Rig::new(name, Ip::Gfx);
        let target = pm4::Target::gfx(rig.device.info().gfx_level);
        let set = |stream: &mut Stream<pm4::Target>, register, value| {
            let mut writer = RegisterWriter::new(target);
            writer.set(register, value).unwrap();
            writer.packets().for_each(|packet| stream.push(&packet).unwrap());
        };
        let mut callee = Stream::secondary(&rig.device, target, 64).unwrap();
        set(&mut callee, registers::COMPUTE_NUM_THREAD_Y, 4);
        let callee = callee.finish().unwrap();
        let mut main = Stream::new(&rig.device, target, 512).unwrap();
        set(&mut main, registers::COMPUTE_NUM_THREAD_X, 32);
        set(&mut main, registers::COMPUTE_NUM_THREAD_X, 64);
        set(&mut main, registers::CB_TARGET_MASK, 0xf);
        main.push(&packet!(CLEAR_STATE {})).unwrap();
        set(&mut main, registers::CB_SHADER_MASK, 0xf);
        if is_called {
            main.execute(&callee, Inclusion::Auto).unwrap();
        }
        rig.crumbs.begin(&mut main, 1).unwrap();
        set(&mut main, registers::COMPUTE_NUM_THREAD_Z, 2);
        pm4::Target::wait_for(&mut main, rig.at(200), 1).unwrap();
        let report = rig.lose(&main.finish().unwrap());
        let shown: Vec<_> =
            report.queues[0].excerpt.as_ref().unwrap().registers.iter().map(ToString::to_string).collect();
        let x = "COMPUTE_NUM_THREAD_X <- 0x40  {num_thread_full = 64}".to_owned();
        let y = "COMPUTE_NUM_THREAD_Y <- 0x4  {num_thread_full = 4}".to_owned();
        let mask = "CB_SHADER_MASK <- 0xf  {output0_enable = 15}".to_owned();
        assert_eq!(shown, if is_called { vec![x, y, mask] } else { vec![x, mask] }, "{name}");
        assert!(report.to_string().contains("set before the last mark:\n    COMPUTE_NUM_THREAD_X <- 0x40"), "{report}");
        let complaints = rig.gpu.complaints().join("\n");
        assert!(complaints.contains("COMPUTE_NUM_THREAD_Z <- 0x2  {num_thread_full = 2}"), "{complaints}");
    }
}

#[test]
fn another_dumper_or_the_raw_printer_shows_the_same_dwords() {
    let rig = Rig::new("navi21", Ip::Gfx);
    let report = rig.lose(&rig.stuck(rig.at(200)));
    let names = |address| (address == rig.at(200).as_u64()).then(|| "mine".to_owned());
    let dumper = Dumper::new(rig.queue.target()).with_names(&names);
    let printer: &dyn IbPrinter = &dumper;
    let text = report.printed_by(printer).to_string();
    assert!(text.contains("(mine)") && !text.contains("\"results\""), "{text}");
    assert_eq!(text.lines().filter(|line| line.contains("->")).count(), 1, "{text}");
    let raw = report.printed_by(&RawPrinter).to_string();
    assert!(raw.lines().any(|line| line.contains("->") && line.contains("WRITE_DATA")), "{raw}");
}

#[test]
fn without_a_book_there_are_numbers_instead_of_names() {
    let device = Device::new(impatient_gpu("navi21").open()).unwrap();
    assert!(device.va_map().is_none() && device.history().is_none());
    let queue = Queue::new(&context(&device), Ip::Gfx, 0).unwrap();
    let memory = host_memory(&device, 4096);
    let list = crate::support::jobs::wait_for(&device, queue.target(), memory.address(), 1);
    let bindings = [memory.binding().clone()];
    let fence = queue.submit(&Submission { lists: &[&list], memory: &bindings, ..Submission::default() }).unwrap();
    assert!(fence.wait(job_time()).is_err());
    let report = HangReport::new(&device).with_queue(&queue, None);
    let text = report.to_string();
    assert!(text.contains(&format!("poll_addr = {:#x}\n", memory.address().as_u64())), "{text}");
    assert!(MemoryManager::new(&device, &TableOptions::default()).is_ok(), "the device itself goes on");
}
