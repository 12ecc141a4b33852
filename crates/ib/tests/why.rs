//! `amdgpu-ib why` from outside: files, folders and pipes in, a page or JSON out.

mod support;

use std::fs;

use serde_json::Value;
use support::{Scratch, data, printed, run, run_on, text};

/// The incidents, and the code of their class.
const INCIDENTS: [(&str, i32); 12] = [
    ("01-gfx-ring-reset-ok", 25),
    ("02-compute-reset-then-vmid0-fault", 30),
    ("03-sdma-kernel-job", 22),
    ("04-page-fault-read", 19),
    ("05-ring-reset-failed-baco-vram-lost", 26),
    ("06-mes-reset-no-response", 26),
    ("07-reset-failed-vce", 23),
    ("08-smu-no-response", 13),
    ("09-firmware-missing", 14),
    ("10-enomem-at-cs", 16),
    ("11-soft-recovered", 19),
    ("12-thermal-shutdown", 10),
];

fn file(name: &str) -> String {
    format!("hangs/{name}.txt")
}

fn content(name: &str) -> String {
    fs::read_to_string(data(&file(name))).unwrap()
}

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&printed(&[&["why", "--json"], arguments].concat(), 1)).unwrap()
}

#[test]
fn each_incident_has_its_status_and_its_class() {
    for (name, code) in INCIDENTS {
        let shown = printed(&["why", &file(name)], 1);
        assert!(shown.lines().count() <= 40 && shown.contains("  cause  "), "{shown}");
        assert_eq!(run(&["why", "--exit-class", &file(name)]).status.code(), Some(code), "{name}");
    }
    assert_eq!(run(&["why", "compute.txt"]).status.code(), Some(0));
    assert!(text(&run(&["why", "compute.txt"]).stdout).starts_with("no trouble of amdgpu found in compute.txt\n"));
    assert_eq!(run(&["why", "no-such-file"]).status.code(), Some(2));
    assert_eq!(run(&["why"]).status.code(), Some(2));
    // A file that cannot be read does not hide the others.
    let output = run(&["why", "no-such-file", &file("03-sdma-kernel-job")]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stdout).contains("sdma0"));
    // Files that have no traces of hangs are named.
    let output = run_on(&["why", "-"], b"\x1f\x8b\x08\0");
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("gzip, which zcat unpacks"), "{}", text(&output.stderr));
}

#[test]
fn the_json_of_every_incident_fits_the_schema_that_the_command_prints() {
    let schema: Value = serde_json::from_str(&printed(&["why", "--schema"], 0)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let fits = |value: &Value, what: &str| {
        let wrong: Vec<_> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(wrong.is_empty(), "{what}: {wrong:#?}");
    };
    for (name, _) in INCIDENTS {
        fits(&json(&[&file(name)]), name);
    }
    for name in ["fetched.txt", "without-rings.txt", "pasted.md"] {
        fits(&json(&[&format!("reports/{name}")]), name);
    }
    let folders = ["wordings", "further"].map(|folder| fs::read_dir(data(folder)).unwrap());
    for entry in folders.into_iter().flatten() {
        let path = entry.unwrap().path();
        fits(&json(&[path.to_str().unwrap()]), &path.display().to_string());
    }
    let all: Vec<_> = INCIDENTS.iter().map(|(name, _)| file(name)).collect();
    let all: Vec<_> = all.iter().map(String::as_str).collect();
    let value = json(&all);
    fits(&value, "all");
    assert_eq!(value["incidents"].as_array().map(Vec::len), Some(12));
    let nothing: Value = serde_json::from_str(&printed(&["why", "--json", "compute.txt"], 0)).unwrap();
    fits(&nothing, "nothing");
    // The schema refuses what it does not know.
    let mut wrong = value;
    wrong["incidents"][0]["cause"]["class"] = "bad-luck".into();
    assert!(!validator.is_valid(&wrong));
}

#[test]
fn a_folder_of_radv_names_packet_instruction_and_buffer() {
    let scratch = Scratch::new("why-radv");
    let folder = scratch.0.join("radv_dumps_4400_2026.11.29_10.16.18");
    fs::create_dir_all(&folder).unwrap();
    let put = |name: &str, text: &str| fs::write(folder.join(name), text).unwrap();
    put(
        "trace.log",
        "Trace ID: 1\n\x1b[35mc0012d00\x1b[0m DRAW_INDEX_AUTO:\nTrace point ID: 1\n\x1b[31m!!!!! This is the last trace point that was reached by the CP !!!!!\x1b[0m\nc0031502 DISPATCH_DIRECT(C):\n",
    );
    put(
        "pipeline.log",
        "\x1b[1;33mCompute Shader - annotated disassembly:\x1b[0m\n\tbuffer_store_dword v1, v2, s[0:3], 0 offen ; e0701000 80000102 [PC=0x1010, off=16, size=8]\n          \x1b[1;32m^ SE0 SH0 CU0 SIMD0 WAVE0  EXEC=ffffffff  INST64=E0701000 80000102\x1b[0m\n",
    );
    put("vm_fault.log", "VM fault report.\n\nFailing VM page: 0x80011e079000\n");
    put(
        "bo_history.log",
        "timestamp=1, VA=000080011e079000-000080011e07a000, destroyed=0, is_virtual=0\ntimestamp=2, VA=000080011e079000-000080011e07a000, destroyed=1, is_virtual=0\n",
    );
    put("bo_ranges.log", "");
    put("app_info.log", "Application name: game\nEngine name: DXVK\n");
    put("gpu_info.log", "Device name: AMD Radeon (DRM 3.64.0 / 6.12.9)\n");
    put("dmesg.log", &format!("\nLast 60 lines of dmesg:\n\n{}", content("11-soft-recovered")));
    let value = json(&[folder.to_str().unwrap()]);
    let incident = &value["incidents"][0];
    assert_eq!(value["incidents"].as_array().map(Vec::len), Some(1), "{value:#}");
    assert!(incident["packet"].as_str().unwrap().starts_with("DISPATCH_DIRECT, "), "{incident:#}");
    assert_eq!(incident["shader"], "Compute Shader: buffer_store_dword v1, v2, s[0:3], 0 offen at offset 16 (1 wave)");
    assert_eq!(incident["buffer"]["freed"], true);
    assert_eq!(incident["application"], "game (DXVK)");
    assert_eq!(incident["cause"]["class"], "page-fault");
    // The same without a kernel log: nothing about the ring is claimed.
    fs::remove_file(folder.join("dmesg.log")).unwrap();
    let value = json(&[folder.to_str().unwrap()]);
    assert_eq!(value["incidents"][0]["rings"].as_array().map(Vec::len), Some(0));
    assert_eq!(value["incidents"][0]["buffer"]["freed"], true);
}

#[test]
fn a_folder_with_log_and_dump_is_one_incident() {
    let scratch = Scratch::new("why-folder");
    let dump = fs::read(data("reports/fetched-with-ib.txt")).unwrap();
    scratch.write("devcoredump", &dump);
    scratch.write(
        "dmesg.txt",
        b"[ 5211.873] amdgpu 0000:03:00.0: ring gfx_0.0.0 timeout, signaled seq=700, emitted seq=701\n",
    );
    scratch.put("000001-gfx-GFX10_3-100000.ib", &[0xffff_1000]);
    let value = json(&[scratch.0.to_str().unwrap()]);
    assert_eq!(value["incidents"].as_array().map(Vec::len), Some(1), "{value:#}");
    assert_eq!(value["incidents"][0]["coredump"], true);
    let empty = Scratch::new("why-empty");
    let output = run(&["why", empty.0.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).contains("no logs or dumps here"), "{}", text(&output.stdout));
}

#[test]
fn names_with_escape_sequences_reach_no_terminal() {
    let evil = content("01-gfx-ring-reset-ok").replace("llama-server", "\u{9b}2Jevil\x07\u{202e}");
    let output = run_on(&["why", "-"], evil.as_bytes());
    assert_eq!(output.status.code(), Some(1));
    let shown = text(&output.stdout);
    assert!(shown.contains("evil") && !shown.contains(['\x07', '\u{9b}', '\u{202e}', '\x1b']), "{shown:?}");
}

#[test]
fn random_bytes_and_mixtures_are_no_trouble() {
    let mut state = 0x1234_5678_u32;
    let mut random = || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    };
    let all: String = INCIDENTS.iter().map(|(name, _)| content(name)).collect();
    let dump = fs::read_to_string(data("reports/fetched-with-ib.txt")).unwrap();
    let whole = format!("{all}{dump}{all}");
    for _ in 0..12 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..40 {
            let at = random() as usize % bytes.len();
            match random() % 3 {
                0 => bytes[at] = random() as u8,
                1 => drop(bytes.drain(at..(at + random() as usize % 200).min(bytes.len()))),
                _ => bytes.insert(at, b'\n'),
            }
        }
        let output = run_on(&["why", "-v", "-"], &bytes);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    }
}

#[test]
fn a_report_of_checks_gives_the_kernels_messages_and_the_checks() {
    let messages: Vec<_> = content("05-ring-reset-failed-baco-vram-lost").lines().map(str::to_owned).collect();
    let report = serde_json::json!({
        "schema": "amdgpu-smoke/1",
        "results": [
            {"id": "exec.nop.gfx", "status": "pass", "detail": ""},
            {"id": "exec.hang.gfx", "status": "fail", "detail": "the job hangs", "evidence": {"hang": ["at DISPATCH_DIRECT"], "messages": messages}},
        ],
    });
    let output = run_on(&["why", "--json", "-"], report.to_string().as_bytes());
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["incidents"].as_array().map(Vec::len), Some(1), "{value:#}");
    assert_eq!(value["incidents"][0]["packet"], "at DISPATCH_DIRECT");
    let without = serde_json::json!({"schema": "amdgpu-smoke/1", "results": [{"id": "exec.hang.gfx", "status": "fail", "detail": "x"}]});
    let output = run_on(&["why", "--json", "-"], without.to_string().as_bytes());
    let value: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["incidents"][0]["cause"]["class"], "check-failed");
    let passed =
        serde_json::json!({"schema": "amdgpu-smoke/1", "results": [{"id": "a.b", "status": "pass", "detail": ""}]});
    assert_eq!(run_on(&["why", "-"], passed.to_string().as_bytes()).status.code(), Some(0));
    let output = run_on(&["why", "-"], br#"{"schema": "amdgpu-smoke/1", "results": [{"id": "#);
    assert!(text(&output.stdout).contains("not a whole report"), "{}", text(&output.stdout));
}

#[test]
fn a_log_that_grows_is_followed_and_each_incident_is_told_when_it_is_over() {
    use std::{
        io::{BufRead as _, BufReader, Write as _},
        process::Stdio,
        time::{Duration, Instant},
    };
    let mut command = support::command(&["why", "--follow", "--json", "-"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut log = child.stdin.take().unwrap();
    let mut told = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut next = || serde_json::from_str::<Value>(&told.next().unwrap().unwrap()).unwrap();
    let begin = Instant::now();
    log.write_all(content("03-sdma-kernel-job").as_bytes()).unwrap();
    log.flush().unwrap();
    let first = next();
    // Before the end of the input.
    assert!(begin.elapsed() < Duration::from_secs(15), "{:?}", begin.elapsed());
    assert_eq!(first["incidents"][0]["cause"]["class"], "kernel-job");
    log.write_all(content("05-ring-reset-failed-baco-vram-lost").replace("[  90", "[ 990").as_bytes()).unwrap();
    drop(log);
    let second = next();
    assert_eq!(second["incidents"].as_array().map(Vec::len), Some(1), "{second:#}");
    assert_eq!(second["incidents"][0]["cause"]["class"], "stuck-job");
    assert_eq!(child.wait().unwrap().code(), Some(1));
    // Two files cannot be followed.
    assert_eq!(run(&["why", "--follow", "a", "b"]).status.code(), Some(2));
}

#[test]
fn a_report_of_the_simulator_names_the_saved_ib_and_the_instruction() {
    let scratch = Scratch::new("why-simulated");
    let log = "[    0.000000] Linux version 7.2.0 (amdgpu-sim)\n[    0.000000] Command line: amdgpu.lockup_timeout=300,300\n\
               [  100.300170] amdgpu 0000:03:00.0: ring comp_1.0.0 timeout, signaled seq=0, emitted seq=1\n\
               [  100.300170] amdgpu 0000:03:00.0: Starting comp_1.0.0 ring reset\n\
               [  100.300170] amdgpu 0000:03:00.0: Ring comp_1.0.0 reset succeeded\n";
    scratch.write("dmesg.txt", log.as_bytes());
    let place =
        "DISPATCH_DIRECT at dword 13 of the level-1 IB at 0xffff800100100000 (24 dwords), the GFX10_3 compute ring";
    let said = format!(
        "navi21: {place}: wave 0 of group [0, 0, 0] hangs at 0x800100000000: the budget of 1000 instructions is used up (GFX10_3, bf82ffff 00000000)\n\
         navi21: ring comp_1.0.0 hangs: {place}: a wave hangs (saved as 000000-compute-GFX10_3-ffff800100100000.ib)\n"
    );
    scratch.write("simulator.txt", said.as_bytes());
    let value = json(&[scratch.0.to_str().unwrap()]);
    let incident = &value["incidents"][0];
    assert_eq!(value["incidents"].as_array().map(Vec::len), Some(1), "{value:#}");
    assert_eq!(incident["saved_ib"], "000000-compute-GFX10_3-ffff800100100000.ib");
    let shader = incident["shader"].as_str().unwrap();
    assert!(shader.starts_with("s_branch") && shader.contains("at 0x800100000000: wave 0 of group"), "{shader}");
    assert_eq!((&incident["time_out"]["ms"], &incident["cause"]["class"]), (&300.into(), &"long-work".into()));
}

/// The page of a text, with the line breaks of its fields removed, and the exit status.
fn page_of(input: &str) -> (String, Option<i32>) {
    let output = run_on(&["why", "-"], input.as_bytes());
    let page = text(&output.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    (page, output.status.code())
}

#[test]
fn the_ways_of_recovery_of_a_wedged_device_are_named_and_a_recovered_one_is_not_called_unusable() {
    let event = |methods: &str| {
        page_of(&format!(
            "KERNEL[12.0] change /devices/pci0000:00/0000:00:01.1/0000:03:00.0/drm/card0 (drm)\nACTION=change\nWEDGED={methods}\nPID=5\nTASK=game\n"
        ))
    };
    let (page, code) = event("rebind,bus-reset");
    assert_eq!(code, Some(1));
    for part in ["the device is wedged", "(rebind), or", "(bus-reset)", "game (PID 5)"] {
        assert!(page.contains(part), "{part}: {page}");
    }
    assert!(!page.contains("unusable until"), "{page}");
    assert!(event("unknown").0.contains("none that the kernel knows"));
    assert!(event("vendor-specific").0.contains("what the vendor documents"));
    let (page, _) = event("none");
    assert!(page.starts_with("the device was wedged, and works again") && page.contains("state recovered"), "{page}");
    // The kernel writes no empty value: the event was cut off, and tells neither.
    let (page, code) = event("");
    assert_eq!(code, Some(1));
    assert!(page.contains("whether the device works is not told"), "{page}");
    assert!(!page.contains("unusable") && !page.contains("state recovered"), "{page}");
    // A line of the log alone names no way.
    let (page, _) = page_of("[ 9.0] amdgpu 0000:03:00.0: [drm] device wedged, needs recovery\n");
    assert!(page.contains("names the ways of recovery") && !page.contains("unusable until"), "{page}");
}

#[test]
fn an_input_that_was_cut_off_is_not_called_free_of_trouble() {
    let report = r#"{"schema":"amdgpu-smoke/1","results":[{"id":"exec.nop.gfx","status":"pass","detail":""},{"id":"memory.whole","status":"fa"#;
    let (page, code) = page_of(report);
    assert_eq!(code, Some(2), "{page}");
    assert!(page.contains("is incomplete") && page.contains("ends in the result of memory.whole"), "{page}");
    assert!(page.ends_with("after 1 whole result") && !page.contains("no check failed"), "{page}");
    // What is whole is told.
    let failed = report.replace(r#""status":"pass","detail":"""#, r#""status":"fail","detail":"lost""#);
    let (page, code) = page_of(&failed);
    assert_eq!(code, Some(1), "{page}");
    assert!(page.contains("exec.nop.gfx: lost") && page.contains("incomplete"), "{page}");
    for (log, known) in [
        (
            "[ 1.0] amdgpu 0000:03:00.0: amdgpu: ring comp_1.1.0 timeout, signaled seq=7, emi",
            "ring comp_1.1.0 timed out",
        ),
        (
            "[ 1.0] amdgpu 0000:03:00.0: amdgpu: ring comp_1.1.0 timeout, signaled seq=1669, emitted seq=16",
            "which job is not told",
        ),
        ("[ 1.0] amdgpu 0000:03:00.0: amdgpu: ring comp_1.1.0 time", "is incomplete"),
        ("[ 1.0] amdgpu 0000:03:00.0: amdgpu: GPU reset be", "is incomplete"),
        ("[ 1.0] amdgpu 0000:03:00.0: amdgpu: [gfxhub] page fa", "is incomplete"),
        (r#"{"_TRANSPORT":"kernel","MESSAGE":"amdgpu 0000:03:00.0: ring gfx time"#, "is incomplete"),
        (
            "[ 1.0] amdgpu 0000:03:00.0: [gfxhub] page fault (src_id:0 ring:24 vmid:4 pas",
            "VMID 4 state the inputs end within",
        ),
    ] {
        let (page, code) = page_of(log);
        assert!(page.contains(known) && code != Some(0), "{log}: {page}");
    }
    // The digits before a cut may not be all.
    assert!(!page_of("[ 1.0] amdgpu 0000:03:00.0: [gfxhub] page fault (src_id:0 ring:24 vmid:1").0.contains("VMID 1"));
}

#[test]
fn a_folder_of_radv_without_a_log_is_a_hang_whatever_its_files_have() {
    for (name, content) in [
        ("trace.log", "\0\u{1}\u{2}"),
        ("trace.log", "Trace ID: 3\n!!!!! This is the last trace point that was rea"),
        ("vm_fault.log", "VM fault report.\n\nFailing VM page: 0x80011e079000\n"),
        ("dmesg.log", ""),
    ] {
        let scratch = Scratch::new("why-radv-alone");
        let folder = scratch.0.join("radv_dumps_4400_2026.11.29_10.16.18");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(name), content).unwrap();
        let shown = printed(&["why", folder.to_str().unwrap()], 1);
        let page = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(page.starts_with("RADV reports a hang") && page.contains("PID 4400"), "{name}: {page}");
        assert!(page.contains("whether the GPU recovered is not told"), "{name}: {page}");
        assert!(!page.contains("without a hang") && !page.contains("goes on"), "{name}: {page}");
    }
}

#[test]
fn the_form_of_a_line_bounds_the_release_and_so_the_time_out() {
    let old = "[ 511.0] [drm:amdgpu_job_timedout [amdgpu]] *ERROR* ring gfx timeout, but soft recovered\n";
    let fault = "[ 500.1] amdgpu 0000:01:00.0: GPU fault detected: 147 0x0a104802 for process glxgears pid 44 thread glxgears:cs0 pid 45\n\
                 [ 500.1] amdgpu 0000:01:00.0:   VM_CONTEXT1_PROTECTION_FAULT_STATUS 0x0C048002\n\
                 [ 500.1] amdgpu 0000:01:00.0: VM fault (0x02, vmid 6, pasid 32771) at page 1052672, read from 'TC1' (0x54433100) (72)\n";
    for log in [old.to_owned(), format!("{fault}{old}")] {
        let (page, _) = page_of(&log);
        assert!(page.contains("time-out 10 s") && !page.contains("time-out of 2 s"), "{page}");
    }
    assert!(page_of(&format!("{fault}{old}")).0.contains("a shader of glxgears made a read"));
}

#[test]
fn numbers_of_jobs_begin_anew_after_32_bits() {
    let (page, _) =
        page_of("[ 9.0] amdgpu 0000:03:00.0: ring gfx_0.0.0 timeout, signaled seq=4294967295, emitted seq=2\n");
    assert!(page.contains("job 0 hung, 3 outstanding up to 2"), "{page}");
    let (page, _) = page_of("[ 9.0] amdgpu 0000:03:00.0: ring sdma0 timeout, signaled seq=1, emitted seq=3\n");
    assert!(page.contains("had done only 1 job, so"), "{page}");
}

#[test]
fn a_fault_of_another_process_names_it_and_engines_without_shaders_lack_no_shader() {
    let log = "[ 20.0] amdgpu 0000:03:00.0: [gfxhub] page fault (src_id:0 ring:24 vmid:5 pasid:17)\n\
               [ 20.1] amdgpu 0000:03:00.0:  Process chrome pid 50 thread chrome:cs0 pid 51\n\
               [ 20.2] amdgpu 0000:03:00.0:   in page starting at address 0x0000000000400000 from client 10\n\
               [ 20.3] amdgpu 0000:03:00.0: GCVM_L2_PROTECTION_FAULT_STATUS:0x00501031\n\
               [ 21.2] amdgpu 0000:03:00.0: ring comp_1.0.0 timeout, signaled seq=3000, emitted seq=3005\n\
               [ 21.3] amdgpu 0000:03:00.0:  Process darktable pid 60 thread darktable pid 61\n\
               [ 21.4] amdgpu 0000:03:00.0: Starting comp_1.0.0 ring reset\n\
               [ 21.5] amdgpu 0000:03:00.0: Ring comp_1.0.0 reset succeeded\n";
    let (page, _) = page_of(log);
    assert!(page.contains("missing: valid + read, of chrome (PID 50)"), "{page}");
    assert!(page.contains("page fault of another program, chrome (PID 50)"), "{page}");
    assert!(page.contains("shader line"), "{page}");
    for ring in ["sdma0", "vcn_dec_0"] {
        assert!(!page_of(&log.replace("comp_1.0.0", ring)).0.contains("shader line"), "{ring}");
    }
}

#[test]
fn each_heading_says_what_happened() {
    for (log, heading) in [
        (
            "[ 61.0] amdgpu 0000:03:00.0: [drm] *ERROR* [CRTC:80:crtc-0] flip_done timed out\n",
            "the display waited for a picture",
        ),
        (
            "[ 10.0] amdgpu 0000:03:00.0: [drm] *ERROR* Failed to initialize parser -125!\n",
            "submissions were cancelled",
        ),
        ("[ 10.0] amdgpu 0000:03:00.0: [drm] *ERROR* Failed to initialize parser -19!\n", "submissions were refused"),
    ] {
        assert!(page_of(log).0.starts_with(heading), "{}", page_of(log).0);
    }
}

#[test]
fn a_journal_that_translates_the_kernels_name_is_read() {
    for (date, name) in [
        ("nov. 30 05:58:18 poste", "noyau"),
        ("30.11. 05:58:18 rechner", "Kernel"),
        ("nov 30 05:58:18 equipo", "núcleo"),
    ] {
        let log = format!(
            "{date} {name}: amdgpu 0000:03:00.0: ring gfx_0.0.0 timeout, signaled seq=1000, emitted seq=1003\n\
             {date} {name}: amdgpu 0000:03:00.0: Ring gfx_0.0.0 reset succeeded\n"
        );
        let (page, code) = page_of(&log);
        assert!(code == Some(1) && page.contains("when 05:58:18") && page.contains("only this ring"), "{page}");
    }
}

/// An incident as the page and the JSON tell of it: the heading, the class of the cause and the name of the state.
type Told = (&'static str, &'static str, &'static str);

/// Further logs, with the incidents that are in each.
const FURTHER: [(&str, &[Told]); 12] = [
    ("vpe", &[("ring vpe timed out", "video-engine", "recovered-full")]),
    ("jpeg-journal", &[("ring jpeg_dec timed out", "video-engine", "recovered-vram-lost")]),
    (
        "two-gpus",
        &[
            ("a page fault, without a hang", "page-fault", "continues"),
            ("ring sdma1 timed out", "kernel-job", "recovered-vram-lost"),
        ],
    ),
    ("power-controller", &[("ring gfx_0.0.0 timed out", "power-controller", "failed")]),
    ("scheduler-of-7.2", &[("ring gfx_0.0.0 timed out", "scheduler-firmware", "recovered-vram-lost")]),
    ("uncorrectable", &[("the GPU was reset", "hardware-error", "recovered-vram-lost")]),
    ("firmware-refused", &[("the driver did not start", "not-started", "not-started")]),
    ("soft-recovered", &[("ring gfx_0.0.0 timed out", "stuck-job", "recovered-soft")]),
    (
        "wedged-events",
        &[
            ("the device was wedged, and works again", "unknown", "recovered"),
            ("the device is wedged", "unknown", "wedged"),
        ],
    ),
    ("dump-of-7.2", &[("ring comp_1.2.0 timed out", "page-fault", "unfinished")]),
    ("bad-pages", &[("memory or another part reported an uncorrectable error", "hardware-error", "unknown")]),
    ("rocm-fault", &[("a page fault, without a hang", "page-fault", "continues")]),
];

#[test]
fn further_incidents_have_their_diagnosis_whatever_the_ends_of_lines() {
    for (name, expected) in FURTHER {
        let content = fs::read_to_string(data(&format!("further/{name}.txt"))).unwrap();
        for input in [content.clone(), content.replace('\n', "\r\n"), content.trim_end().to_owned()] {
            let output = run_on(&["why", "--json", "-"], input.as_bytes());
            assert_eq!(output.status.code(), Some(1), "{name}");
            let value: Value = serde_json::from_slice(&output.stdout).unwrap();
            let text = |value: &Value| value.as_str().unwrap().to_owned();
            let row = |incident: &Value| {
                (text(&incident["title"]), text(&incident["cause"]["class"]), text(&incident["state"]["name"]))
            };
            let found: Vec<_> = value["incidents"].as_array().unwrap().iter().map(row).collect();
            let found: Vec<_> = found.iter().map(|row| (row.0.as_str(), row.1.as_str(), row.2.as_str())).collect();
            assert_eq!(found, expected, "{name}");
        }
    }
}
