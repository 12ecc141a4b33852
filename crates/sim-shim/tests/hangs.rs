//! Jobs that hang are never silent, and leave what a real kernel leaves.

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    time::{Duration, Instant},
};

use support::{LAUNCHER, command, guest, shim};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The launcher with options, about to run a guest that hangs.
fn hanging(options: &[&str], guest_arguments: &[&str]) -> Command {
    let mut run = command(LAUNCHER);
    run.args(["run", "--gpu", "navi21", "--shader-instructions", "1000"]).args(options).arg("--shim").arg(shim());
    run.arg("--").arg(guest()).arg("hang").args(guest_arguments);
    run
}

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("amdgpu-sim-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.0.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn code(output: &Output) -> Option<i32> {
    output.status.code()
}

#[test]
fn a_hang_is_told_with_its_saved_ib_and_summed_up_and_can_fail_the_run() {
    let (report, ibs) = (Folder::new("report"), Folder::new("ibs"));
    let options = ["--lockup-timeout", "300,300", "--fail-on-hang", "--hang-report", report.0.to_str().unwrap()];
    let output = hanging(&options, &["waits"]).env("AMDGPU_SIM_IBS", &ibs.0).output().expect("the launcher");
    let said = text(&output.stderr);
    assert_eq!(code(&output), Some(124), "{said}");
    assert_eq!(said.matches(" hangs: ").count(), 1, "{said}");
    assert!(said.contains("1 job hung: on ring comp_1.0.0, DISPATCH_DIRECT "), "{said}");
    let (_, saved) = said.split_once("(saved as ").expect("the name of a file");
    let saved = saved.split(')').next().unwrap();
    let file = ibs.0.join(saved);
    assert!(file.extension().is_some_and(|ending| ending == "ib") && file.is_file(), "{saved}");
    // The kernel's log, the dump, and what the simulator alone knows.
    let log = report.text("dmesg.txt");
    assert!(log.contains("Linux version 7.2.0") && log.contains("Starting comp_1.0.0 ring reset"), "{log}");
    let dump = report.text("devcoredump-0");
    assert!(dump.contains("Ring Name: comp_1.0.0") && dump.contains("0xc0031502"), "{dump}");
    assert!(report.text("simulator.txt").contains(&format!("(saved as {saved})")));
}

/// R250, R251 and R252.
#[test]
fn the_kernel_keeps_a_core_dump_of_a_job_that_timed_out_in_the_form_of_its_release() {
    for (linux, has_ibs) in [("6.12", false), ("7.2", true)] {
        let mut run = command(LAUNCHER);
        run.args(["run", "--gpu", "navi21", "--shader-instructions", "1000", "--lockup-timeout", "300,300"]);
        run.args(["--linux", linux, "--shim"]).arg(shim()).arg("--").arg(guest()).arg("coredump");
        let output = run.output().expect("the launcher");
        let (dump, said) = (text(&output.stdout), text(&output.stderr));
        assert_eq!(code(&output), Some(0), "{linux}: {said}");
        assert!(dump.starts_with("**** AMDGPU Device Coredump ****\nversion: 1\n"), "{linux}: {dump}");
        let always = [
            "Ring Name: comp_1.0.0",
            "real vram size: ",
            "[gfxhub] Page fault observed",
            "VRAM lost check is skipped!",
        ];
        for line in always {
            assert!(dump.contains(line), "{linux}: {line}: {dump}");
        }
        assert!(dump.contains(&format!("kernel: {linux}.0\n")), "{dump}");
        for line in ["\nvmid: ", "\npasid: ", "\nIB #0 0x", " thread: guest PID: "] {
            assert_eq!(dump.contains(line), has_ibs, "{linux}: {line}: {dump}");
        }
    }
}

// R246.
#[test]
fn a_socket_for_events_hears_of_a_reset_and_whose_job_it_was() {
    for (linux, told) in [("6.12", "nothing"), ("6.16", "reset"), ("7.2", "culprit")] {
        let mut run = command(LAUNCHER);
        run.args(["run", "--gpu", "navi21", "--shader-instructions", "1000", "--lockup-timeout", "300,300"]);
        // Linux before 7.2 kills the waves of such a job, which is no reset.
        run.args(["--kernel-features", "+no-soft-recovery", "--linux", linux, "--shim"]);
        run.arg(shim()).arg("--").arg(guest()).args(["uevents", told]);
        let output = run.output().expect("the launcher");
        assert_eq!(code(&output), Some(0), "{linux}: {}", text(&output.stderr));
    }
}

// R265.
#[test]
fn a_carve_out_is_chosen_in_sysfs() {
    let mut run = command(LAUNCHER);
    run.args(["run", "--gpu", "renoir", "--linux", "7.2", "--shim"]).arg(shim()).arg("--").arg(guest());
    let output = run.arg("carve-out").output().expect("the launcher");
    assert_eq!(code(&output), Some(0), "{}", text(&output.stderr));
}

#[test]
fn without_the_switch_the_commands_status_stays_and_the_hang_is_told_all_the_same() {
    let output = hanging(&["--lockup-timeout", "300,300"], &["waits"]).output().expect("the launcher");
    assert_eq!(code(&output), Some(0));
    assert!(text(&output.stderr).contains("1 job hung"), "{}", text(&output.stderr));
    // With a time-out of a minute the program ends before the ring is recovered.
    let begin = Instant::now();
    let output = hanging(&["--fail-on-hang", "--lockup-timeout", "60000"], &[]).output().expect("the launcher");
    let said = text(&output.stderr);
    assert_eq!(code(&output), Some(124), "{said}");
    assert!(said.contains(" hangs: ") && said.contains("not waited for"), "{said}");
    assert!(begin.elapsed() < Duration::from_secs(40));
    // Nothing hung.
    let mut run = command(LAUNCHER);
    let output = run.args(["run", "--fail-on-hang", "--shim"]).arg(shim()).args(["--", "true"]).output().unwrap();
    assert_eq!((code(&output), text(&output.stderr).contains("hung")), (Some(0), false));
}

#[test]
fn wrong_command_lines_and_settings_end_with_125() {
    let status = |arguments: &[&str], variable: Option<(&str, &str)>| {
        let mut run = command(LAUNCHER);
        run.args(arguments).envs(variable);
        let output = run.output().expect("the launcher");
        (code(&output), text(&output.stderr))
    };
    let shim = shim();
    let own = ["run", "--shim", shim.to_str().unwrap(), "--", "true"];
    assert_eq!(status(&["run", "--lockup-timeout", "abc", "--", "true"], None).0, Some(125));
    assert_eq!(status(&["shell", "--no-such-option"], None).0, Some(125));
    assert_eq!(status(&["no-such-task"], None).0, Some(2));
    assert_eq!(status(&["run", "--help"], None).0, Some(0));
    assert_eq!(status(&own, None).0, Some(0));
    // A file that cannot be executed, as env and timeout have it.
    assert_eq!(status(&["run", "--shim", shim.to_str().unwrap(), "--", "/etc/passwd"], None).0, Some(126));
    let (code, said) = status(&["run", "--shim", "/bin/ls", "--", "true"], None);
    assert!(code == Some(125) && said.contains("is not the simulator's preload library"), "{said}");
    let (code, said) = status(&own, Some(("AMDGPU_SIM_IBS", "/proc/x")));
    assert!(code == Some(125) && said.contains("cannot write /proc/x"), "{said}");
    let folder = Folder::new("kept");
    let mut run = command(LAUNCHER);
    run.args(own).env("AMDGPU_SIM_IBS", &folder.0).env("AMDGPU_SIM_IBS_KEEP", "-5");
    let output = run.output().expect("the launcher");
    assert_eq!(self::code(&output), Some(125));
    assert!(text(&output.stderr).contains("AMDGPU_SIM_IBS_KEEP is \"-5\""), "{}", text(&output.stderr));
    assert!(!Path::new("/proc/x").exists());
}
