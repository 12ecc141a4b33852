//! The program from outside: exit codes, outputs that take nothing, inputs that make no sense.

mod support;

use std::{
    fs,
    io::Read as _,
    net::TcpStream,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, symlink},
        process::CommandExt as _,
    },
    process::{Command, Stdio},
};

use amdgpu_sim::{SimDevice, SimOptions};
use amdgpu_winsys::{
    heaps::{AllocateInfo, MemoryManager, TableOptions},
    winsys::{Device, VaMap},
};
use support::{Directory, command, golden, run, run_with};

const SIM: [&str; 2] = ["--sim", "navi21"];

fn sim(arguments: &[&str]) -> support::Output {
    run(&[&SIM, arguments].concat())
}

/// The least tree that shows a GPU: nothing of it can be opened.
fn bare_tree() -> Directory {
    let tree = Directory::new();
    let device = tree.path().join("sys/class/drm/renderD128/device");
    fs::create_dir_all(device.join("power")).unwrap();
    fs::create_dir_all(tree.path().join("proc")).unwrap();
    fs::write(device.join("uevent"), "DRIVER=amdgpu\nPCI_ID=1002:73BF\nPCI_SLOT_NAME=0000:03:00.0\n").unwrap();
    fs::write(device.join("revision"), "0xc3\n").unwrap();
    fs::write(device.join("power/runtime_status"), "suspended\n").unwrap();
    fs::write(device.join("mem_info_vram_total"), "8573157376\n").unwrap();
    fs::write(device.join("mem_info_vram_used"), "21504000\n").unwrap();
    tree
}

#[test]
fn exit_codes_are_those_of_the_table() {
    let empty = Directory::new();
    let root = empty.path().to_str().unwrap();
    assert_eq!(sim(&[]).code, 0);
    assert_eq!(run(&["--help"]).code, 0);
    assert_eq!(run(&["--version"]).code, 0);
    for usage in [
        &["--nonsense"][..],
        &["--sim", "navi99"],
        &["--sim", "navi21", "--from", "x"],
        &["--json", "--csv"],
        &["--sim", "navi21", "watch", "--until", "nonsense"],
        &["--sim", "navi21", "explain", "nonsense"],
        &["--sim", "navi21", "top", "--once", "0x0"],
        &["--sim", "navi21", "top"],
        &["--sim", "navi21", "watch", "--interval", "-1"],
        &["--sim", "navi21", "record", "--max-size", "x"],
        &["--sim", "navi21", "--json", "diff", "x"],
        &["--sim", "navi21", "--csv", "explain"],
    ] {
        assert_eq!(run(usage).code, 64, "{usage:?}");
    }
    assert_eq!(run(&["--root", root]).code, 69, "a machine without GPUs");
    assert_eq!(sim(&["--gpu", "7"]).code, 69, "a GPU that is not there");
    assert_eq!(run(&["--root", "/nonexistent"]).code, 1);
    assert_eq!(run(&["--from", "/nonexistent"]).code, 1);
    assert_eq!(sim(&["wait", "free>1TiB", "--timeout", "3"]).code, 124);
    assert_eq!(sim(&["wait", "free>1GiB", "--timeout", "60"]).code, 0);
}

#[test]
fn a_captured_gpu_is_looked_at_as_the_chip_of_its_name() {
    let captured = concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/data/devices/renoir.json");
    let [by_name, by_file] = ["renoir", captured].map(|chip| run(&["--sim", chip, "heaps"]));
    assert_eq!((by_file.code, &by_file.stdout), (0, &by_name.stdout), "{}", by_file.stderr);
    let refused = run(&["--sim", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")]);
    assert_eq!(refused.code, 64);
    assert!(refused.stderr.contains("not JSON"), "{}", refused.stderr);
}

#[test]
fn a_gpu_can_be_named_in_every_way() {
    let pci = |name: &str| {
        let output = run(&["--sim", "navi21,renoir", "--gpu", name, "list", "--no-header"]);
        output.stdout.split_whitespace().nth(1).map(str::to_owned)
    };
    for name in ["1", "0000:04:00.0", "04:00.0", "renderD129", "/dev/dri/renderD129", "renoir"] {
        assert_eq!(pci(name).as_deref(), Some("0000:04:00.0"), "{name}");
    }
    assert_eq!(pci("rx 6800").as_deref(), Some("0000:03:00.0"));
}

#[test]
fn check_speaks_the_convention_of_plug_ins() {
    let line = |arguments: &[&str]| {
        let output = sim(&[&["check"], arguments].concat());
        assert_eq!(output.stdout.lines().count(), 1, "{}", output.stdout);
        (output.code, output.stdout)
    };
    let (code, text) = line(&["--free", "100MiB"]);
    assert!(code == 0 && text.starts_with("OK - GPU 0: ") && text.contains("| vram=16"), "{text}");
    assert_eq!(line(&["--free", "8GiB,100MiB"]).0, 1);
    assert_eq!(line(&["--budget", "80%"]).0, 2);
    assert_eq!(line(&["--budget", "80%,99%"]).0, 1);
    assert_eq!(line(&["--process-max", "1GiB"]).0, 2);
    assert_eq!(line(&["--evictions-per-s", "1"]).0, 0);
    let (_, text) = line(&["--free", "4GiB,1GiB"]);
    assert!(text.starts_with("CRITICAL - GPU 0: 206 MiB free, below 1GiB | "), "{text}");
    assert!(text.contains(" available=217014272B;4294967296:;1073741824:;0;17128448000"), "{text}");
    let (_, text) = line(&["--budget", "80%,99%"]);
    assert!(text.starts_with("WARNING - GPU 0: 15.75 GiB (98%) used, above 80% | "), "{text}");
    assert!(text.contains(" used=16911433728B;13702758400;16957163520;0;17128448000"), "{text}");
    let refused = sim(&["check", "--budget", "95"]);
    assert!(refused.stdout.contains("--budget: 95 would be 95 bytes; write 95% or 95MiB"), "{refused:?}");
    let json = run(&["--sim", "navi21", "check", "--free", "1GiB", "--json"]);
    let value: serde_json::Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!((json.code, &value["status"], &value["code"]), (2, &"CRITICAL".into(), &2.into()));
    let asleep = bare_tree();
    let root = asleep.path().to_str().unwrap();
    assert_eq!(run(&["--root", root, "check", "--free", "1GiB"]).code, 3);
    assert_eq!(run(&["--root", root, "check", "--free", "1GiB", "--asleep-ok"]).code, 0);
    let none = run(&["--root", "/nonexistent", "check"]);
    assert!(none.code == 3 && none.stdout.starts_with("UNKNOWN - "), "{none:?}");
}

#[test]
fn a_sleeping_gpu_is_not_opened_and_its_sizes_are_shown() {
    let tree = bare_tree();
    let output = run(&["--root", tree.path().to_str().unwrap(), "--json"]);
    let value: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let gpu = &value["gpus"][0];
    assert_eq!(gpu["domains"]["vram"]["total"], 8_573_157_376_u64);
    assert!(gpu["heaps"].is_null() && gpu["apu"].is_null() && gpu["domains"]["gtt"]["used"].is_null());
    let reasons: Vec<_> =
        gpu["missing"].as_array().unwrap().iter().map(|one| one["reason"].as_str().unwrap()).collect();
    assert!(reasons.iter().any(|reason| reason.contains("asleep")), "{reasons:?}");
    assert_eq!(gpu["name"], "AMD Radeon RX 6800", "known by the ids in sysfs");
    // Woken, it is opened; its answers were not recorded.
    let woken = run(&["--root", tree.path().to_str().unwrap(), "--wake"]);
    assert!(woken.code == 0 && woken.stdout.contains("no session with this GPU was captured"), "{}", woken.stdout);
}

#[test]
fn what_may_not_be_read_is_counted_and_what_vanishes_is_not() {
    let tree = bare_tree();
    let process = |pid: u32| tree.path().join(format!("proc/{pid}"));
    for pid in [10, 11, 12] {
        fs::create_dir_all(process(pid).join("fd")).unwrap();
    }
    // A descriptor whose fdinfo is gone, as of a process that ends while it is looked at.
    symlink("/dev/dri/renderD128", process(10).join("fd/3")).unwrap();
    fs::remove_dir(process(11).join("fd")).unwrap();
    fs::set_permissions(process(12).join("fd"), fs::Permissions::from_mode(0o000)).unwrap();
    let is_root = fs::read_dir(process(12).join("fd")).is_ok();
    let output = run(&["--root", tree.path().to_str().unwrap(), "--json"]);
    let value: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    fs::set_permissions(process(12).join("fd"), fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(value["gpus"][0]["processes"], serde_json::json!([]));
    // To root nothing is closed.
    assert_eq!(value["gpus"][0]["unreadable"]["processes"], u64::from(!is_root));
}

#[test]
fn fdinfo_of_every_generation_and_of_no_sense_is_survived() {
    let tree = bare_tree();
    let texts: [&[u8]; 7] = [
        b"pdev:\t0000:03:00.0\npasid:\t32769\nvram mem:\t2048 kB\ngtt mem:\t0 kB\ncpu mem:\t0 kB\n",
        b"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t5\ndrm-memory-vram:\t1024 KiB\n",
        b"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t6\ndrm-resident-vram:\t4096\ndrm-total-vram:\t9 MiB\n",
        b"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\ndrm-client-id:\t7\ndrm-memory-vram:\t99999999999999999999 KiB\n",
        b"drm-driver:\tamdgpu\ndrm-pdev:\t0000:03:00.0\n",
        b"\xff\xfe\x00drm-driver",
        b"",
    ];
    for (pid, text) in (100_u32..).zip(texts) {
        let process = tree.path().join(format!("proc/{pid}"));
        fs::create_dir_all(process.join("fd")).unwrap();
        fs::create_dir_all(process.join("fdinfo")).unwrap();
        // Twice the same open file: counted once.
        for fd in ["4", "9"] {
            symlink("/dev/dri/renderD128", process.join("fd").join(fd)).unwrap();
            fs::write(process.join("fdinfo").join(fd), text).unwrap();
        }
    }
    let output = run(&["--root", tree.path().to_str().unwrap(), "--json"]);
    let value: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let rows = value["gpus"][0]["processes"].as_array().unwrap();
    let vram: Vec<_> = rows.iter().map(|row| (row["pid"].as_u64().unwrap(), row["vram"].as_u64())).collect();
    assert_eq!(vram, [(100, Some(2 << 20)), (101, Some(1 << 20)), (102, Some(4096)), (103, None)]);
}

#[test]
fn a_closed_pipe_is_a_clean_exit_and_a_full_disk_is_74() {
    for arguments in [&["--json"][..], &[], &["--csv"], &["watch", "-n", "50"], &["man"], &["plot"]] {
        let arguments = [&SIM, arguments].concat();
        let mut child = command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{arguments:?}: {output:?}");
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(&arguments).stdout(full).stderr(Stdio::piped()).output().unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(74), "{arguments:?}: {message}");
        assert!(message.starts_with("amdgpu-budget: the output could not be written"), "{message}");
    }
    for arguments in [["record", "/dev/full"], ["plot", "-o/dev/full"], ["serve", "--textfile=/nonexistent/x"]] {
        let output =
            sim(&[&arguments[..], if arguments[0] == "record" { &["-n", "3", "--speed", "0"] } else { &[] }].concat());
        assert_eq!(output.code, 74, "{arguments:?}: {}", output.stderr);
    }
}

#[test]
fn recordings_that_make_no_sense_are_refused_with_their_line() {
    for (text, reason) in
        [("", "empty"), ("nonsense\n", "line 1"), ("{\"schema\":\"other/1\"}\n", "line 1"), ("[[[[", "line 1")]
    {
        let output = run_with(&["--from", "-"], text.as_bytes());
        assert!(output.code == 1 && output.stderr.contains(reason), "{text:?}: {output:?}");
    }
    let deep = "[".repeat(1 << 20);
    assert_eq!(run_with(&["--from", "-"], deep.as_bytes()).code, 1);
    let later = memory_dump().replacen("\"schema\":1", "\"schema\":2", 1);
    for text in ["{}", "nonsense", "{\"schema\":\"amdgpu-va/1\",\"windows\":[]}", &later] {
        assert_eq!(run_with(&["va", "-"], text.as_bytes()).code, 1);
        assert_eq!(run_with(&["export", "--dump", "-"], text.as_bytes()).code, 1);
    }
}

#[test]
fn a_recording_shows_what_was_seen_in_every_command() {
    let directory = Directory::new();
    let file = directory.join("run.jsonl");
    assert_eq!(sim(&["--sim-step", "0", "record", &file, "-n", "20", "--speed", "0"]).code, 0);
    let live = sim(&["--sim-step", "0", "ps"]);
    assert_eq!(run(&["--from", &file, "ps"]).stdout, live.stdout);
    assert_eq!(run(&["replay", &file, "ps", "--speed", "0"]).stdout.matches("(sum: in use)").count(), 20);
    let diff = run(&["diff", &file]);
    assert!(diff.stdout.contains("trainer (new)"), "{}", diff.stdout);
    golden("tests/golden/diff.txt", &diff.stdout);
    let plot = run(&["--from", &file, "plot", "--by", "process"]);
    assert!(plot.stdout.starts_with("<svg") && plot.stdout.contains("3301 game") && plot.stdout.ends_with("</svg>\n"));
    golden("tests/golden/plot.svg", &plot.stdout);
    let png = directory.join("plot.png");
    assert_eq!(run(&["--from", &file, "plot", "--format", "png", "-o", &png]).code, 0);
    assert_eq!(fs::read(png).unwrap().get(..8), Some(&b"\x89PNG\r\n\x1a\n"[..]));
    let braille = run(&["--from", &file, "plot", "--format", "braille", "--ascii"]);
    assert!(braille.code == 0 && braille.stdout.is_ascii() && braille.stdout.lines().count() == 36);
}

#[test]
fn a_captured_tree_shows_the_same_and_no_names() {
    let directory = Directory::new();
    let (with, without) = (directory.join("with"), directory.join("without"));
    assert_eq!(sim(&["capture", &with, "--names"]).code, 0);
    assert_eq!(sim(&["capture", &without]).code, 0);
    assert_eq!(sim(&["capture", &without]).code, 64, "never into a directory with something in it");
    assert_eq!(run(&["--root", &with, "show"]).stdout, sim(&["show"]).stdout);
    let output = run(&["--root", &without, "--json"]).stdout;
    for name in ["game", "trainer", "browser", "compositor", "alice", "bob", "app-"] {
        assert!(!output.contains(name), "{name}");
    }
    let vram = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["gpus"][0]["domains"].clone();
    assert_eq!(vram(&output), vram(&sim(&["--json"]).stdout));
}

#[test]
fn prometheus_is_served_on_the_loopback_interface() {
    let arguments = [&SIM[..], &["serve", "--port", "0", "--requests", "2", "--per-process"]].concat();
    let mut child = command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/").unwrap();
    let ask = |path: &str| {
        let mut stream = TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut stream, format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = ask("/metrics");
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4"), "{answer}");
    assert!(answer.contains("amdgpu_process_vram_bytes{gpu=\"0000:03:00.0\",pid=\"3301\",name=\"game\"}"), "{answer}");
    assert!(ask("/other").starts_with("HTTP/1.1 404"));
    assert!(child.wait().unwrap().success());
}

/// A browser's preconnect, a port scan, a client on a slow line: none holds up a scrape.
#[test]
fn silent_and_dripping_clients_do_not_hold_up_a_scrape_and_are_dropped() {
    let arguments = [&SIM[..], &["serve", "--listen", "127.0.0.1:0", "--requests", "2"]].concat();
    let mut child = command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/").unwrap();
    let scrape = || {
        let mut stream = TcpStream::connect(address).unwrap();
        std::io::Write::write_all(&mut stream, b"GET /metrics?x=1 HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    };
    // Served one after the other without a time limit, 200 clients would take minutes.
    let mut silent: Vec<_> = (0..200).map(|_| TcpStream::connect(address).unwrap()).collect();
    for stream in silent.iter_mut().skip(100) {
        std::io::Write::write_all(stream, b"GET /met").unwrap();
    }
    scrape();
    let mut dripping = TcpStream::connect(address).unwrap();
    let dropped = (0..10_000).find(|_| {
        std::thread::sleep(std::time::Duration::from_millis(5));
        std::io::Write::write_all(&mut dripping, b"G").is_err()
    });
    assert!(dropped.is_some(), "a client that sends a byte at a time has no more time than others");
    for mut stream in silent {
        let closed = stream.read(&mut [0; 64]);
        assert!(matches!(closed, Ok(0) | Err(_)), "{closed:?}");
    }
    scrape();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_crossing_runs_its_command_once() {
    let directory = Directory::new();
    let log = directory.join("log");
    let append = format!("echo $AMDGPU_BUDGET_GPU >>{log}");
    let watched =
        sim(&["--sim-step", "0", "watch", "-n", "20", "--when", "vram.used>50%", "--on-cross", &append, "list"]);
    assert_eq!(watched.code, 0, "{}", watched.stderr);
    assert_eq!(fs::read_to_string(log).unwrap(), "0000:03:00.0\n", "held for many looks, told once");
}

#[test]
fn completions_and_the_man_page_know_every_command() {
    let man = run(&["man"]).stdout;
    let bash = run(&["completions", "bash"]).stdout;
    for name in ["show", "heaps", "explain", "top", "watch", "serve", "doctor", "capture"] {
        assert!(man.contains(&format!(".SS {name}\n")) && bash.contains(name), "{name}");
    }
    for code in ["64", "69", "74", "77", "124"] {
        assert!(man.contains(&format!(".TP\n{code}\n")), "{code}");
    }
    assert!(run(&["completions", "zsh"]).stdout.contains("amdgpu-budget"));
}

#[test]
fn csv_export_and_doctor_answer() {
    let csv = sim(&["--csv"]).stdout;
    assert!(csv.starts_with("time,gpu,kind,id,metric,value\r\n"));
    assert!(csv.lines().all(|line| line.split(',').count() == 6), "{csv}");
    let vma: serde_json::Value = serde_json::from_str(&sim(&["export"]).stdout).unwrap();
    assert_eq!(vma["General"]["MemoryHeapCount"], 3);
    let doctor = sim(&["doctor"]);
    assert!(
        doctor.code == 0 && doctor.stdout.contains("ok  0000:03:00.0: /dev/dri/renderD128 opens"),
        "{}",
        doctor.stdout
    );
}

/// Returns the memory dump of a process with three allocations.
fn memory_dump() -> String {
    let map = VaMap::new(8);
    let gpu = SimDevice::new(amdgpu_sim::profile("navi21").unwrap(), SimOptions::default());
    let device = Device::with_observer(gpu.open(), map.clone()).unwrap();
    let manager = MemoryManager::new(&device, &TableOptions::default()).unwrap();
    let allocate = |memory_type, size| manager.allocate(&AllocateInfo::new(memory_type, size)).unwrap();
    let held = [allocate(0, 1 << 20), allocate(5, 2 << 20), allocate(5, 64 << 10)];
    drop(allocate(0, 4096));
    map.name(held[1].bo().handle(), "staging");
    manager.dump_json(&map).unwrap()
}

#[test]
fn the_librarys_own_dump_is_shown_and_exported() {
    let dump = memory_dump();
    let va = run_with(&["va", "-"], dump.as_bytes());
    assert_eq!(va.code, 0, "{}", va.stderr);
    golden("tests/golden/va.txt", &va.stdout);
    let directory = Directory::new();
    let file = directory.join("dump.json");
    fs::write(&file, &dump).unwrap();
    assert_eq!(run(&["va", &file]).stdout, va.stdout);
    let exported = run(&["export", "--dump", &file]);
    assert_eq!(exported.code, 0, "{}", exported.stderr);
    let vma: serde_json::Value = serde_json::from_str(&exported.stdout).unwrap();
    let held = &vma["DefaultPools"]["Type 5"]["DedicatedAllocations"];
    let sizes: Vec<_> = held.as_array().unwrap().iter().map(|one| one["Size"].as_u64().unwrap()).collect();
    assert_eq!(sizes.iter().sum::<u64>(), (2 << 20) + (64 << 10));
    assert!(held.as_array().unwrap().iter().any(|one| one["Name"] == "staging"), "{held}");
    assert_eq!((&vma["Total"]["AllocationCount"], &vma["General"]["MemoryHeapCount"]), (&3.into(), &3.into()));
    let in_heaps = |key: &str| -> u64 {
        let heaps = vma["MemoryInfo"].as_object().unwrap().values();
        heaps.map(|heap| heap["Stats"][key].as_u64().unwrap()).sum()
    };
    assert_eq!(in_heaps("AllocationBytes"), (3 << 20) + (64 << 10));
}

/// 77: there is a node, and it may not be read. Root may read all, so root asks as the user `nobody`.
#[test]
fn what_may_not_be_read_at_all_is_77() {
    let tree = bare_tree();
    let program = tree.path().join("amdgpu-budget");
    fs::copy(env!("CARGO_BIN_EXE_amdgpu-budget"), &program).unwrap();
    fs::set_permissions(tree.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let closed = tree.path().join("sys/class/drm");
    let is_root = fs::metadata(&closed).unwrap().uid() == 0;
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o000)).unwrap();
    let run = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(["--root", tree.path().to_str().unwrap()]).args(arguments);
        if is_root {
            command.uid(65534).gid(65534);
        }
        command.output().unwrap()
    };
    for arguments in [&["show"][..], &["--json"], &["ps"], &["watch", "-n", "1"]] {
        let output = run(arguments);
        assert_eq!((output.status.code(), output.stdout.len()), (Some(77), 0), "{arguments:?}: {output:?}");
        let reason = String::from_utf8(output.stderr).unwrap();
        assert!(reason.contains("/sys/class/drm") && reason.to_lowercase().contains("permission denied"), "{reason}");
    }
    assert_eq!(run(&["check", "--free", "1GiB"]).status.code(), Some(3), "a plug-in's UNKNOWN");
    fs::set_permissions(&closed, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(run(&["show"]).status.code(), Some(0));
}

#[test]
fn colours_are_only_where_they_are_wanted() {
    let coloured = |environment: &[(&str, &str)], arguments: &[&str]| {
        let mut command = command(&[&SIM, arguments].concat());
        command.envs(environment.iter().copied());
        command.output().unwrap().stdout.contains(&0x1b)
    };
    assert!(!coloured(&[], &[]), "a pipe is no terminal");
    assert!(coloured(&[], &["--color", "always"]));
    assert!(coloured(&[("CLICOLOR_FORCE", "1")], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")], &[]));
    assert!(!coloured(&[("CLICOLOR_FORCE", "1")], &["--color", "never"]));
    assert!(sim(&["--ascii"]).stdout.is_ascii());
}

/// A FIFO has no end until a writer comes, and nobody writes.
#[test]
fn a_fifo_in_a_captured_tree_holds_nothing_up() {
    let tree = bare_tree();
    let device = tree.path().join("sys/class/drm/renderD128/device");
    fs::create_dir_all(tree.path().join("proc/7/fdinfo")).unwrap();
    fs::create_dir_all(tree.path().join("proc/7/fd")).unwrap();
    symlink("/dev/dri/renderD128", tree.path().join("proc/7/fd/3")).unwrap();
    fs::remove_file(device.join("mem_info_vram_total")).unwrap();
    fs::create_dir_all(tree.path().join("amdgpu-budget/info")).unwrap();
    for name in ["proc/7/fdinfo/3", "proc/7/stat", "proc/meminfo", "amdgpu-budget/info/0000:03:00.0.rec"] {
        make_fifo(&tree.path().join(name));
    }
    make_fifo(&device.join("mem_info_vram_total"));
    let output = run(&["--root", tree.path().to_str().unwrap(), "--wake", "--json"]);
    assert_eq!(output.code, 0, "{}", output.stderr);
    let value: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
    let missing = value["gpus"][0]["missing"].to_string();
    assert!(missing.contains("no regular file"), "{missing}");
}

fn make_fifo(path: &std::path::Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// Each view's JSON is what the view shows.
#[test]
fn json_is_specific_to_the_view() {
    let value = |arguments: &[&str]| -> serde_json::Value {
        let output = sim(&[arguments, &["--json"]].concat());
        assert_eq!(output.code, 0, "{arguments:?}: {}", output.stderr);
        serde_json::from_str(&output.stdout).unwrap()
    };
    let names = |view: &serde_json::Value, at: &str| -> Vec<String> {
        view["gpus"][0][at].as_object().map(|object| object.keys().cloned().collect()).unwrap_or_default()
    };
    for name in ["list", "ps", "heaps", "explain"] {
        let view = value(&[name]);
        assert_eq!(view["schema"], format!("amdgpu-budget-{name}/1"));
        assert!(view["gpus"][0].get("counters").is_none() && names(&view, "domains").is_empty(), "{name}");
    }
    assert_eq!(value(&["show"])["schema"], "amdgpu-budget/1");
    let explained = value(&["explain", "effective.total"]);
    let figures = explained["gpus"][0]["figures"].as_array().unwrap();
    assert!(figures.len() == 1 && figures[0]["arithmetic"].as_str().unwrap().starts_with("usable VRAM"), "{figures:?}");
    let rows = value(&["ps", "--pid", "3301"])["gpus"][0]["processes"].as_array().unwrap().len();
    assert_eq!(rows, 1);
    let doctor = value(&["doctor"]);
    assert!(doctor["findings"].as_array().unwrap().iter().all(|one| one["state"].is_string()), "{doctor}");
    let held = value(&["wait", "free>1GiB"]);
    assert_eq!((&held["holds"], &held["schema"]), (&true.into(), &"amdgpu-budget-wait/1".into()));
}

#[test]
fn explain_of_a_name_that_does_not_exist_lists_the_names() {
    let message = sim(&["explain", "nosuch"]).stderr;
    assert!(message.contains("vram.total") && message.contains("effective.available"), "{message}");
}

/// Reads a sum, a difference, `min` and `max` of the numbers in a sentence; words are left out.
fn evaluated(text: &str) -> Option<i128> {
    let mut words = text.replace('(', " ( ").replace(')', " ) ").replace(',', " , ");
    words.retain(|c| !c.is_control());
    let tokens: Vec<&str> = words
        .split(' ')
        .filter(|w| w.parse::<i128>().is_ok() || ["(", ")", ",", "+", "-", "min", "max"].contains(w))
        .collect();
    let mut place = 0;
    let value = sum(&tokens, &mut place)?;
    (place == tokens.len()).then_some(value)
}

fn sum(tokens: &[&str], place: &mut usize) -> Option<i128> {
    let mut value = term(tokens, place)?;
    while let Some(sign @ (&"+" | &"-")) = tokens.get(*place) {
        *place += 1;
        let next = term(tokens, place)?;
        value = if *sign == "+" { value + next } else { value - next };
    }
    Some(value)
}

fn term(tokens: &[&str], place: &mut usize) -> Option<i128> {
    let token = *tokens.get(*place)?;
    *place += 1;
    if token != "min" && token != "max" {
        return token.parse().ok();
    }
    *place += 1;
    let first = sum(tokens, place)?;
    *place += 1;
    let second = sum(tokens, place)?;
    *place += 1;
    Some(if token == "min" { first.min(second) } else { first.max(second) })
}

/// Every equation that is printed holds, on every chip and at every stage of the script.
#[test]
fn explain_never_prints_a_false_equation() {
    let mut count = 0;
    for profile in amdgpu_sim::profiles() {
        for step in ["0", "14", "30"] {
            let output = run(&["--sim", &profile.name, "--sim-step", step, "explain", "--json"]);
            let value: serde_json::Value = serde_json::from_str(&output.stdout).unwrap();
            for one in value["gpus"][0]["figures"].as_array().unwrap() {
                let (name, text) = (one["figure"].as_str().unwrap(), one["arithmetic"].as_str().unwrap());
                let is_sum = [".usable", ".budget"].iter().any(|end| name.ends_with(end))
                    || ["effective.", "unattributed."].iter().any(|start| name.starts_with(start));
                if is_sum {
                    count += 1;
                    let wanted = one["value"].as_u64().map(i128::from);
                    // "free F of a pool + own O" has no other numbers.
                    assert_eq!(evaluated(text), wanted, "{} {step}: {name} = {text}", profile.name);
                }
            }
        }
    }
    assert!(count > 200, "{count}");
}

/// What a kernel reports may make no sense: usable is never more than the total, in any output.
#[test]
fn usable_memory_is_never_more_than_there_is() {
    let value: serde_json::Value = serde_json::from_str(&sim(&["--json"]).stdout).unwrap();
    let domains = &value["gpus"][0]["domains"];
    for name in ["vram", "visible_vram", "gtt"] {
        assert!(domains[name]["usable"].as_u64() <= domains[name]["total"].as_u64(), "{name}: {domains}");
    }
    let missing = value["gpus"][0]["missing"].to_string();
    assert!(missing.contains("visible_vram.usable") && missing.contains("273055744"), "{missing}");
}

/// Every figure of a process is the same in JSON, CSV, Prometheus and text.
#[test]
fn a_figure_is_the_same_in_every_format() {
    let value: serde_json::Value = serde_json::from_str(&sim(&["--json"]).stdout).unwrap();
    let csv = sim(&["--csv"]).stdout;
    let directory = Directory::new();
    let file = directory.join("metrics.prom");
    assert_eq!(sim(&["serve", "--textfile", &file, "--per-process"]).code, 0);
    let metrics = fs::read_to_string(&file).unwrap();
    let text = sim(&["ps", "--units", "bytes", "--no-header"]).stdout;
    for process in value["gpus"][0]["processes"].as_array().unwrap() {
        let (pid, name) = (process["pid"].as_u64().unwrap(), process["name"].as_str().unwrap());
        for figure in ["vram", "own_vram", "gtt", "own_gtt"] {
            let bytes = process[figure].as_u64().unwrap();
            assert!(csv.contains(&format!(",process,{pid},{figure},{bytes}\r\n")), "{figure} of {name}");
            let series = format!(
                "amdgpu_process_{figure}_bytes{{gpu=\"0000:03:00.0\",pid=\"{pid}\",name=\"{name}\"}} {bytes}\n"
            );
            assert!(metrics.contains(&series), "{series}");
        }
        let row: Vec<&str> = text
            .lines()
            .find(|line| line.trim_start().starts_with(&pid.to_string()))
            .unwrap()
            .split_whitespace()
            .collect();
        assert_eq!((row[2], row[4]), (&*process["own_vram"].to_string(), &*process["own_gtt"].to_string()), "{name}");
    }
}

/// A recording of simulated time is written in real time, and no larger than was asked for.
#[test]
fn a_recording_does_not_fill_a_disk() {
    let directory = Directory::new();
    let began = std::time::Instant::now();
    let timed = sim(&["record", &directory.join("timed.jsonl"), "-n", "3", "--interval", "0.2"]);
    assert!(timed.code == 0 && began.elapsed().as_millis() >= 400, "{:?}", began.elapsed());
    for (name, keep) in [("plain.jsonl", "2"), ("packed.jsonl.gz", "3"), ("alone.jsonl", "0")] {
        let file = directory.join(name);
        let most = "64KiB";
        let options = ["record", &*file, "-n", "200", "--speed", "0", "--max-size", most, "--keep", keep];
        assert_eq!(sim(&options).code, 0, "{name}");
        let sizes: Vec<u64> = fs::read_dir(directory.path())
            .unwrap()
            .map(Result::unwrap)
            .filter(|entry| entry.file_name().to_str().unwrap().starts_with(name))
            .map(|entry| entry.metadata().unwrap().len())
            .collect();
        assert!(sizes.iter().all(|&size| size <= 64 << 10), "{name}: {sizes:?}");
        assert!(sizes.len() <= keep.parse::<usize>().unwrap() + 1, "{name}: {sizes:?}");
        if name != "packed.jsonl.gz" {
            assert_eq!(sizes.len(), keep.parse::<usize>().unwrap() + 1, "{name}: {sizes:?}");
        }
        assert_eq!(run(&["--from", &file, "ps"]).code, 0, "{name}");
    }
}

/// Load, clocks, temperature and power are what the kernel says, and absent where it says nothing.
#[test]
fn sensors_are_read_of_a_gpu_that_is_awake() {
    let tree = bare_tree();
    let device = tree.path().join("sys/class/drm/renderD128/device");
    fs::create_dir_all(device.join("hwmon/hwmon3")).unwrap();
    for (name, text) in [
        ("gpu_busy_percent", "37\n"),
        ("hwmon/hwmon3/freq1_input", "2105000000\n"),
        ("hwmon/hwmon3/temp1_input", "61500\n"),
        ("hwmon/hwmon3/power1_average", "183000000\n"),
    ] {
        fs::write(device.join(name), text).unwrap();
    }
    let sensors = || -> serde_json::Value {
        let output = run(&["--root", tree.path().to_str().unwrap(), "--json"]);
        serde_json::from_str::<serde_json::Value>(&output.stdout).unwrap()["gpus"][0]["sensors"].clone()
    };
    assert!(sensors()["power_uw"].is_null(), "asleep, the files are not touched");
    fs::write(device.join("power/runtime_status"), "active\n").unwrap();
    let read = sensors();
    assert_eq!((&read["busy_percent"], &read["power_uw"]), (&37.into(), &183_000_000.into()));
    assert!(read["memory_clock_hz"].is_null());
    let shown = run(&["--root", tree.path().to_str().unwrap(), "show"]).stdout;
    assert!(shown.contains("busy 37%, 2105 MHz, 61.5 C, 183.0 W"), "{shown}");
}

/// promtool, Prometheus's own checker, has nothing to say; skipped where it is not installed.
#[test]
fn promtool_accepts_the_metrics() {
    let directory = Directory::new();
    let file = directory.join("metrics.prom");
    assert_eq!(run(&["--sim", "navi21,renoir", "serve", "--textfile", &file, "--per-process"]).code, 0);
    let tool = Command::new("promtool").args(["check", "metrics"]).stdin(fs::File::open(&file).unwrap()).output();
    let Ok(output) = tool else { return };
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Ctrl-Z gives the terminal back and stops the program; a shell with job control continues it.
#[test]
fn top_suspends_and_goes_on_and_refuses_a_dumb_terminal() {
    let program = env!("CARGO_BIN_EXE_amdgpu-budget");
    let script = |term: &str, shell: &str| {
        let mut command = Command::new("timeout");
        command
            .args(["120", "script", "-qefc", shell, "/dev/null"])
            .env("TERM", term)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        command.spawn()
    };
    let Ok(dumb) = script("dumb", &format!("{program} --sim navi21 top")) else { return };
    let output = dumb.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(64) && text.contains("TERM is dumb"), "{text}");
    let jobs = format!(
        "sh -mc 'stty rows 24 cols 100; {program} --sim navi21 top --interval 0.2; echo STOPPED; fg; echo ENDED'"
    );
    let mut child = script("xterm", &jobs).unwrap();
    let (mut input, mut output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut seen = String::new();
    let mut read_until = |what: &str, seen: &mut String| {
        let mut bytes = [0; 4096];
        while !seen.contains(what) {
            let count = output.read(&mut bytes).unwrap();
            assert!(count > 0, "{what} is missing at the end of {:?}", seen.get(seen.len().saturating_sub(400)..));
            seen.push_str(&String::from_utf8_lossy(&bytes[..count]));
        }
    };
    read_until("RX 6800", &mut seen);
    std::io::Write::write_all(&mut input, b"\x1a").unwrap();
    read_until("STOPPED", &mut seen);
    // What came in the same piece is part of what follows.
    seen = seen.rsplit_once("STOPPED").unwrap().1.to_owned();
    read_until("RX 6800", &mut seen);
    std::io::Write::write_all(&mut input, b"q").unwrap();
    read_until("ENDED", &mut seen);
    assert!(child.wait().unwrap().success());
}

/// A server on a port of its own, for as long as this lives.
struct Served {
    child: std::process::Child,
    address: String,
}

impl Served {
    fn new(chips: &str) -> Self {
        let arguments = ["--sim", chips, "serve", "--port", "0"];
        let mut child = command(&arguments).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.take().unwrap()), &mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().strip_suffix('/').unwrap().to_owned();
        Self { child, address }
    }

    /// All that the server says to these bytes until it hangs up.
    fn say(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        // A server that has answered already resets the connection.
        let _ = std::io::Write::write_all(&mut stream, bytes);
        let _ = stream.shutdown(std::net::Shutdown::Write);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        answer
    }

    fn get(&self, path: &str) -> String {
        let answer = self.say(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").as_bytes());
        String::from_utf8(answer).unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn the_page_needs_nothing_from_elsewhere_and_its_json_is_that_of_the_commands() {
    let served = Served::new("navi21,renoir");
    let page = served.get("/");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\nContent-Type: text/html"), "{}", &page[..100]);
    for elsewhere in ["https://", "src=", "@import", "url("] {
        assert!(!page.contains(elsewhere), "{elsewhere}");
    }
    assert_eq!(page.matches("http://").count(), 1, "the name space of SVG");
    // A process may be called anything.
    assert!(!page.contains("innerHTML") && !page.contains("insertAdjacentHTML") && !page.contains("document.write"));
    let body = |path: &str| served.get(path).split_once("\r\n\r\n").unwrap().1.trim().to_owned();
    let shown = run(&["--sim", "navi21,renoir", "show", "--json"]).stdout;
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert_eq!(parsed(&body("/api/snapshot")), parsed(&shown));
    let explained = run(&["--sim", "navi21,renoir", "explain", "--json"]).stdout;
    assert_eq!(parsed(&body("/api/explain")), parsed(&explained));
}

/// The page as a browser shows it; skipped where there is no Chromium.
#[test]
fn a_browser_shows_the_figures() {
    let served = Served::new("navi21,renoir");
    let profile = Directory::new();
    let url = format!("http://{}/", served.address);
    let shown = Command::new("chromium")
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=5000", "--dump-dom"])
        .args([&format!("--user-data-dir={}", profile.join("profile")), &url])
        .output();
    let Ok(shown) = shown else { return };
    let dom = String::from_utf8_lossy(&shown.stdout);
    for text in [
        "AMD Radeon RX 6800",
        "AMD Radeon Graphics",
        ">game</td>",
        "8.36 GiB",
        "<polygon",
        "evicted from VRAM",
        ", sim</span>",
    ] {
        assert!(dom.contains(text), "{text}: {dom}");
    }
}

/// Fifty requests that no browser sends: each is answered or dropped, and the server goes on.
#[test]
fn hostile_requests_are_answered_or_dropped() {
    let served = Served::new("renoir");
    let mut requests: Vec<Vec<u8>> = Vec::new();
    for path in [
        "/../../etc/passwd",
        "//etc/passwd",
        "/%2e%2e/%2e%2e/etc/passwd",
        "/metrics/../../x",
        "/.",
        "/..",
        "/metrics%00",
        "/api",
        "/api/",
        "/api/snapshot/",
        "/api/../metrics",
        "/\u{e9}",
        "*",
        "http://elsewhere/metrics",
        "/metrics#x",
        "/?/../metrics",
        "/METRICS",
        "/favicon.ico",
        "/index.html",
        "/page.html",
        "/<script>alert(1)</script>",
        "/'\"",
    ] {
        requests.push(format!("GET {path} HTTP/1.1\r\nHost: x\r\n\r\n").into_bytes());
    }
    for method in ["POST", "PUT", "DELETE", "TRACE", "CONNECT", "OPTIONS", "PRI", "get", ""] {
        requests.push(format!("{method} / HTTP/1.1\r\n\r\n").into_bytes());
    }
    requests.push([&b"A".repeat(100_000)[..], b" / HTTP/1.1\r\n\r\n"].concat());
    requests.push([b"GET /", &b"a".repeat(100_000)[..], b" HTTP/1.1\r\n\r\n"].concat());
    requests.push([b"GET / HTTP/1.1\r\n", &b"a: b\r\n".repeat(50_000)[..], b"\r\n"].concat());
    requests.push([b"GET / HTTP/1.1\r\nHost: ", &b"a".repeat(100_000)[..], b"\r\n\r\n"].concat());
    for text in [
        &b"GET / HTTP/9.9\r\n\r\n"[..],
        b"GET / HTTP/1.1",
        b"GET  /  HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\n\n",
        b"GET / HTTP/1.1\r\n folded: x\r\n\r\n",
        b"GET / HTTP/1.1\r\n: x\r\n\r\n",
        b"GET / HTTP/1.1\r\na\0b: c\r\n\r\n",
        b"GET / HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffff\r\n",
        b"GET / HTTP/1.1\r\n\r\nGET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n",
        b"GET / HTTP/1.1\r\nUpgrade: h2c\r\n\r\n",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"\0\0\0\0",
        b"\r\n\r\n",
        b"",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\xff\xfe\xfd",
    ] {
        requests.push(text.to_vec());
    }
    assert!(requests.len() >= 50, "{}", requests.len());
    for request in &requests {
        let answer = served.say(request);
        let first = String::from_utf8_lossy(answer.get(..12).unwrap_or(&answer)).into_owned();
        let shown = String::from_utf8_lossy(request.get(..60).unwrap_or(request)).into_owned();
        assert!(first.is_empty() || first.starts_with("HTTP/1.1 "), "{shown:?}: {first:?}");
        assert!(!String::from_utf8_lossy(&answer).contains("root:"), "{shown:?}");
    }
    assert!(served.get("/metrics").starts_with("HTTP/1.1 200 OK"));
}
