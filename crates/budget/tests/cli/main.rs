//! The program from outside: exit codes, outputs that take nothing, inputs that make no sense.

mod advise;
mod buffers;
mod dashboard;
mod facts;
mod figures;
mod hostile;
mod own_memory;
mod page;
mod recordings;
mod reports;
mod server;
mod sockets;
#[path = "../support/mod.rs"]
mod support;
mod why;

use std::{
    fs,
    io::Read as _,
    os::unix::{
        fs::{MetadataExt as _, PermissionsExt as _, symlink},
        process::CommandExt as _,
    },
    process::{Command, Stdio},
};

use support::{Directory, command, run};

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
    let late = sim(&["wait", "free>1TiB", "--timeout", "3"]);
    assert_eq!(late.code, 124);
    assert!(late.stderr.contains("does not hold; free is ") && late.stderr.contains("MiB on GPU 0"), "{}", late.stderr);
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
    assert!(gpu["heaps"].is_null() && gpu["apu"] == false && gpu["domains"]["gtt"]["used"].is_null());
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
fn completions_and_the_man_page_know_every_command() {
    let man = run(&["man"]).stdout;
    let bash = run(&["completions", "bash"]).stdout;
    for name in ["show", "heaps", "explain", "top", "watch", "serve", "doctor", "capture"] {
        assert!(man.contains(&format!(".SS {name}\n")) && bash.contains(name), "{name}");
    }
    for section in ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "CONDITIONS", "SEE ALSO"] {
        assert!(man.contains(&format!("\n.SH \"{section}\"\n")), "{section}");
    }
    for code in ["64", "69", "74", "77", "124"] {
        assert!(man.contains(&format!(".TP\n.B {code}\n")), "{code}");
    }
    assert!(run(&["completions", "zsh"]).stdout.contains("amdgpu-budget"));
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
    fs::create_dir_all(tree.path().join("proc/8")).unwrap();
    for name in ["proc/7/fdinfo/3", "proc/7/stat", "proc/8/fd", "proc/meminfo", "amdgpu-budget/info/0000:03:00.0.rec"] {
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

#[test]
fn the_help_of_a_command_explains_its_own_options_and_names_the_common_ones_in_a_line() {
    let all = run(&["--help"]).stdout;
    assert!(all.contains("Print no headings of columns"), "{all}");
    for name in ["show", "ps", "top", "serve", "wait"] {
        let help = run(&[name, "--help"]).stdout;
        assert!(!help.contains("Print no headings of columns"), "{name}: {help}");
        assert!(help.contains("Common options, which amdgpu-budget --help explains: --"), "{name}: {help}");
    }
    // The page has them once, and one heading.
    let man = run(&["man"]).stdout;
    assert_eq!(man.matches("\n.SH OPTIONS\n").count(), 1);
    assert_eq!(man.matches("Print no headings of columns").count(), 1);
    assert_eq!(run(&[&SIM[..], &["ps", "--no-header"]].concat()).code, 0);
}
