//! `amdgpu-ib dump --recording`: what a client submitted, long after it has gone.
//!
//! The golden texts hold everything that umr's `ring_stream` and Mesa's `ac_parse_ib` show of the same packets: names and
//! headers, every field by name, registers by name and content, addresses (here with the object there), nested IBs with who
//! called them, annotations and trace points, shaders' addresses, and with `--raw` every dword.
//! `AMDGPU_IB_WRITE_GOLDENS=1 cargo test -p amdgpu-ib --test recordings` writes them anew.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use amdgpu_layers::Recording;
use amdgpu_sim::{SimDevice, SimOptions, profile};
use amdgpu_winsys::{
    cs::{
        CommandList, Described, Inclusion, Language, Marker, Queue, QueueOptions, Stream, Submission,
        layout::{
            names::{dst_addr, dst_sel, src_addr, src_sel, wr_confirm},
            pm4::{COPY_DATA, DISPATCH_DIRECT, DRAW_INDEX_AUTO, NUM_INSTANCES},
        },
        pm4,
        registers::{self, SetRegisters},
        sdma,
    },
    heaps::{AllocateInfo, DeviceMemory, MemoryManager, MemoryPropertyFlags, TableOptions},
    packet,
    winsys::{Context, Deadline, Device, Ip, Priority},
};

fn run(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_amdgpu-ib")).args(arguments).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Without the numbers of calls: how often a client has to ask whether a job is done is chance.
fn without_calls(text: &str) -> String {
    let line = |line: &str| match line
        .split_once(": call ")
        .and_then(|(start, rest)| Some((start, rest.split_once(' ')?.1)))
    {
        Some((start, rest)) if start.starts_with("submission ") => format!("{start}: call N {rest}\n"),
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

/// The output is the golden file's text, or becomes it.
fn is_golden(name: &str, output: &Output) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
    let shown = without_calls(&text(&output.stdout));
    if std::env::var_os("AMDGPU_IB_WRITE_GOLDENS").is_some() {
        fs::write(&path, &shown).unwrap();
    }
    assert_eq!(shown, fs::read_to_string(path).unwrap(), "{name}");
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
}

/// A file that goes with the test.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("amdgpu-ib-{name}-{}.rec", std::process::id())))
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

struct Client {
    device: Device,
    context: Context,
    memory: DeviceMemory,
}

impl Client {
    fn new(device: Device) -> Self {
        let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
        let wanted = MemoryPropertyFlags::HOST_VISIBLE | MemoryPropertyFlags::HOST_CACHED;
        let types = (0..).zip(manager.properties().types());
        let index = types.into_iter().find(|(_, of)| of.properties.contains(wanted)).unwrap().0;
        let memory = manager.allocate(&AllocateInfo::new(index, 4096)).unwrap();
        let context = Context::new(&device, Priority::Normal).unwrap();
        Self { device, context, memory }
    }

    fn stream<L: Language>(&self, language: L) -> Stream<L> {
        Stream::new(&self.device, language, 256).unwrap()
    }

    fn submit(&self, ip: Ip, list: &CommandList) {
        // Only what is recorded here is submitted.
        let options = QueueOptions { acquires: false, ..QueueOptions::default() };
        let queue = Queue::with_options(&self.context, ip, 0, options).unwrap();
        let bindings = [self.memory.binding().clone()];
        let fence = queue.submit(&Submission { lists: &[list], memory: &bindings, ..Submission::default() }).unwrap();
        assert!(fence.wait(Deadline::NEVER).unwrap());
    }

    fn graphics(&self) {
        let target = pm4::Target::gfx(self.device.info().gfx_level);
        let at = self.memory.address();
        let mut called = Stream::secondary(&self.device, target, 64).unwrap();
        called.annotate("from a secondary list").unwrap();
        pm4::Target::note(&mut called, at, 77).unwrap();
        let called = called.finish().unwrap();
        let mut stream = self.stream(target);
        // A trace point of Mesa's drivers.
        stream.reserve(2).unwrap().copy_from_slice(&[0xc000_1000, 0xcafe_0003]);
        stream.push(&SetRegisters::new(0x2_8000, &[1, 2])).unwrap();
        let shader = [(at.as_u64() >> 8) as u32, (at.as_u64() >> 40) as u32 & 0xff];
        let pgm = registers::SPI_SHADER_PGM_LO_PS.offset(target.level).unwrap();
        stream.push(&SetRegisters::new(pgm, &shader)).unwrap();
        stream.push(&packet!(NUM_INSTANCES { instance_count: 1 })).unwrap();
        stream.push(&packet!(DRAW_INDEX_AUTO { vertex_count: 3, draw_initiator: 2 })).unwrap();
        stream.push(&pm4::EventWrite::new(pm4::Event::CS_PARTIAL_FLUSH)).unwrap();
        let [from, to] = [64, 128].map(|offset| at.checked_add(offset).unwrap().as_u64());
        let fields = [(src_sel, 1), (dst_sel, 5), (wr_confirm, 1), (src_addr, from), (dst_addr, to)];
        stream.push(&Described { fields: &fields, ..packet!(COPY_DATA {}) }).unwrap();
        stream.execute(&called, Inclusion::Auto).unwrap();
        pm4::Target::store(&mut stream, at, 5).unwrap();
        self.submit(Ip::Gfx, &stream.finish().unwrap());
    }

    fn compute(&self) {
        let target = pm4::Target::compute(self.device.info().gfx_level);
        let mut stream = self.stream(target);
        let size = registers::COMPUTE_NUM_THREAD_X.offset(target.level).unwrap();
        stream.push(&SetRegisters::new(size, &[64, 1, 1])).unwrap();
        stream.push(&packet!(DISPATCH_DIRECT { dim_x: 4, dim_y: 1, dim_z: 1, dispatch_initiator: 1 })).unwrap();
        pm4::Target::store(&mut stream, self.memory.address(), 6).unwrap();
        self.submit(Ip::Compute, &stream.finish().unwrap());
    }

    fn copies(&self) {
        let version = sdma::Version::of(self.device.info().gfx_level);
        let mut stream = self.stream(version);
        stream.annotate("a copy").unwrap();
        let at = self.memory.address();
        stream.push(&sdma::CopyLinear::new(at, at.checked_add(1024).unwrap(), 256)).unwrap();
        sdma::Version::store(&mut stream, at, 7).unwrap();
        self.submit(Ip::Sdma, &stream.finish().unwrap());
    }
}

fn record(chip: &str, path: &Path) {
    record_after(chip, path, |_| {});
}

/// Records a client that does something before its submissions.
fn record_after(chip: &str, path: &Path, before: impl Fn(&Client)) {
    let recording = Recording::create(path).unwrap();
    let gpu = SimDevice::new(profile(chip).unwrap(), SimOptions::default());
    let client = Client::new(Device::new(recording.wrap(gpu.open())).unwrap());
    before(&client);
    client.graphics();
    client.compute();
    client.copies();
    drop(client);
    recording.finish().unwrap();
}

#[test]
fn everything_that_was_submitted_is_shown_as_the_golden_files_have_it() {
    for chip in ["navi21", "polaris10"] {
        let scratch = Scratch::new(chip);
        record(chip, &scratch.0);
        is_golden(&format!("{chip}-recording.txt"), &run(&["dump", "--recording", scratch.path()]));
        let raw = run(&["dump", "--recording", scratch.path(), "--last", "--raw"]);
        is_golden(&format!("{chip}-last-raw.txt"), &raw);
    }
}

/// The text for people has everything that umr and `ac_parse_ib` show, one by one.
#[test]
fn nothing_is_missing_that_other_disassemblers_show() {
    let scratch = Scratch::new("others");
    record("navi21", &scratch.0);
    let shown = text(&run(&["dump", "--recording", scratch.path()]).stdout);
    for what in [
        // Where an IB lies, how long it is, on which ring, and who called it.
        "GFX ring 0\nIB 0 at 0x",
        "called by IB 0 at dword",
        "-> calls IB 1",
        // Fields, selectors, registers with their content.
        "event_type = 7 (cs_partial_flush)",
        "COMPUTE_NUM_THREAD_X <- 0x40",
        "dispatch_initiator = 0x1  {compute_shader_en = 1}",
        "draw_initiator = 0x2  {source_select = 2 (di_src_sel_auto_index)}",
        // Shaders and addresses, with what lies there.
        "shader at 0x",
        "64 bytes into BO ",
        // What the driver left there.
        "trace point 3",
        "annotation: from a secondary list",
        "annotation: a copy",
        // Other languages.
        "COPY_LINEAR",
        "for SDMA",
    ] {
        assert!(shown.contains(what), "{what} is missing in\n{shown}");
    }
}

#[test]
fn one_submission_can_be_asked_for_and_json_has_them_all() {
    let scratch = Scratch::new("json");
    record("navi21", &scratch.0);
    let one = text(&run(&["dump", "--recording", scratch.path(), "--submission", "1"]).stdout);
    assert!(one.starts_with("submission 1: call ") && one.contains("DISPATCH_DIRECT") && !one.contains("submission 2"));
    let all = run(&["dump", "--recording", scratch.path(), "--json"]);
    let all: serde_json::Value = serde_json::from_slice(&all.stdout).unwrap();
    assert_eq!((&all["schema"], &all["generation"]), (&"amdgpu-ib-recording".into(), &"GFX10_3".into()));
    let submissions = all["submissions"].as_array().unwrap();
    assert_eq!(submissions.len(), 3);
    assert!(submissions.iter().all(|of| of["errno"] == 0 && of["ibs"][0]["dump"]["schema"] == "amdgpu-ib"));
}

#[test]
fn recordings_are_recognised_searched_and_compared() {
    let [one, two] = ["one", "two"].map(Scratch::new);
    record("navi21", &one.0);
    record_after("navi21", &two.0, |client| drop(Context::new(&client.device, Priority::Normal).unwrap()));
    let found = text(&run(&["dump", one.path(), "--grep", "COPY_LINEAR|annotation: a copy"]).stdout);
    assert!(found.starts_with("submission 2: ") && found.contains("\nSDMA ring 0\nIB 0 at 0x"), "{found}");
    assert!(!found.contains("submission 1") && found.contains("annotation: a copy"), "{found}");
    // The numbers of calls differ, and are no difference.
    let same = run(&["diff", "--ignore-addresses", one.path(), two.path()]);
    assert_eq!((same.status.code(), text(&same.stdout)), (Some(0), String::new()));
    let other = Scratch::new("other");
    record("polaris10", &other.0);
    let different = run(&["diff", one.path(), other.path()]);
    assert_eq!(different.status.code(), Some(1));
    assert!(text(&different.stdout).contains("+IB 0 at 0x"), "{}", text(&different.stdout));
}

#[test]
fn a_recording_that_is_none_or_was_cut_off_ends_with_3_and_says_why() {
    let scratch = Scratch::new("cut");
    fs::write(&scratch.0, b"not one").unwrap();
    let none = run(&["dump", "--recording", scratch.path()]);
    assert_eq!((none.status.code(), text(&none.stderr).contains("not a recording")), (Some(3), true));
    record("navi21", &scratch.0);
    let bytes = fs::read(&scratch.0).unwrap();
    fs::write(&scratch.0, &bytes[..bytes.len() - 40]).unwrap();
    let cut = run(&["dump", "--recording", scratch.path()]);
    assert_eq!(cut.status.code(), Some(3));
    assert!(text(&cut.stderr).contains("cut off at byte"), "{}", text(&cut.stderr));
    assert!(text(&cut.stdout).contains("submission 0"), "what is whole is shown");
    let beyond = run(&["dump", "--recording", scratch.path(), "--submission", "9"]);
    assert_eq!(beyond.status.code(), Some(3));
    let both = run(&["dump", "a file", "--recording", scratch.path()]);
    assert_eq!(both.status.code(), Some(2));
}
