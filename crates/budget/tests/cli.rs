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
    fs::write(device.join("uevent"), "DRIVER=amdgpu\nPCI_SLOT_NAME=0000:03:00.0\n").unwrap();
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
        let output = sim(&[&arguments[..], if arguments[0] == "record" { &["-n", "3"] } else { &[] }].concat());
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
    assert_eq!(sim(&["--sim-step", "0", "record", &file, "-n", "20"]).code, 0);
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
    assert!(braille.code == 0 && braille.stdout.is_ascii() && braille.stdout.lines().count() == 18);
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
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap();
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
    let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/metrics").unwrap();
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
