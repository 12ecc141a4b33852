//! The launcher's other commands: `shell`, `doctor`, `man` and `completions`.

mod support;

use std::{
    fs::File,
    io::{Read as _, Write as _},
    os::unix::fs::OpenOptionsExt as _,
    path::Path,
    process::{Command, Output, Stdio},
};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use support::{LAUNCHER, command, guest, shim};

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The launcher with arguments before and after the preload library's option.
fn launcher(task: &[&str], rest: &[&str]) -> Command {
    let mut run = command(LAUNCHER);
    run.args(task).arg("--shim").arg(shim()).args(rest);
    run
}

fn doctor(program: &[&str]) -> Output {
    launcher(&["doctor", "--gpu", "navi21"], &[&["--"], program].concat()).output().expect("the launcher")
}

#[test]
fn a_shell_is_in_a_world_that_ends_with_it() {
    let mut run = launcher(&["shell", "--gpu", "navi21,renoir"], &[]);
    run.env("SHELL", "/bin/sh").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut shell = run.spawn().expect("the launcher");
    let lines = b"echo $AMDGPU_SIM\nls /dev/dri\ncommand -v amdgpu-sim\necho $AMDGPU_SIM_WORLD\nexit 3\n";
    shell.stdin.take().expect("a pipe").write_all(lines).expect("a shell that reads");
    let output = shell.wait_with_output().expect("the launcher");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
    assert!(said.starts_with("navi21,renoir\n") && said.contains("renderD129"), "{said}");
    assert!(said.contains(&format!("\n{LAUNCHER}\n")), "the README's tools are on the path: {said}");
    let world = said.lines().last().expect("a line");
    assert!(world.contains("amdgpu-sim.") && !Path::new(world).exists(), "{world}");
    assert!(text(&output.stderr).contains("amdgpu-sim: a shell with navi21,renoir begins"));
}

/// On a terminal of the shell's own.
#[test]
fn the_prompt_of_a_shell_names_the_chips() {
    for shell in ["/bin/bash", "/bin/sh"] {
        // Makes a session with the terminal.
        let mut run = command("setsid");
        run.args(["--ctty", "--wait", LAUNCHER, "shell", "--gpu", "navi21", "--shim"]).arg(shim());
        run.env("SHELL", shell).env("HOME", "/nowhere").env("TERM", "dumb");
        let said = on_terminal(run, b"exit\n");
        assert!(said.contains("(amdgpu-sim navi21) "), "{shell}: {said}");
    }
}

/// Runs a command on a new terminal on which this is typed, and returns what is shown until the command has ended.
fn on_terminal(mut command: Command, typed: &[u8]) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).expect("a terminal");
    grantpt(&master).expect("a terminal");
    unlockpt(&master).expect("a terminal");
    let name = ptsname(&master, Vec::new()).expect("a name").into_string().expect("a path");
    // It is the terminal of the command's session, and not of this one.
    let open = || File::options().read(true).write(true).custom_flags(libc::O_NOCTTY).open(&name).expect("a terminal");
    command.stdin(open()).stdout(open()).stderr(open());
    let mut child = command.spawn().expect("a command");
    // The command holds the descriptors of its terminal until it is dropped.
    drop(command);
    let mut master = File::from(master);
    master.write_all(typed).expect("a terminal that takes input");
    let mut shown = Vec::new();
    let mut chunk = [0; 4096];
    // When no process has the terminal any more, reads fail with EIO.
    while let Ok(count @ 1..) = master.read(&mut chunk) {
        shown.extend_from_slice(&chunk[..count]);
    }
    child.wait().expect("a command");
    text(&shown)
}

#[test]
fn a_program_that_sees_the_gpu_is_told_so() {
    let output = doctor(&[guest().to_str().expect("a path"), "primary"]);
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{said}{}", text(&output.stderr));
    assert!(said.contains(" loaded the preload library") && said.contains(" sees the GPU: nodes opened "), "{said}");
    assert!(!said.contains("next:"), "{said}");
}

#[test]
fn each_reason_not_to_see_the_gpu_has_a_sentence_and_a_next_step() {
    for (program, sentence, step) in [
        (&["no-such-program"][..], "is not there", "name it by its path"),
        (&["/sbin/ldconfig"], "is linked statically: the preload library is not loaded into it", "link it dynamically"),
        (&["/etc/passwd"], "was not executed: permission denied", "see that its file"),
        (&["true"], "opened no node of the GPU, and loaded neither libdrm nor Vulkan", "it may use no GPU"),
        (&["sh", "-c", "env -i sleep 1; true"], "started sleep without the preload library", "start sleep itself"),
    ] {
        let output = doctor(program);
        let said = text(&output.stdout);
        assert_eq!(output.status.code(), Some(1), "{said}{}", text(&output.stderr));
        assert!(said.contains(sentence) && said.contains(&format!("    next: {step}")), "{program:?}: {said}");
    }
}

#[test]
fn the_readmes_excerpt_is_what_doctor_prints() {
    let readme = include_str!("../README.md");
    let shown = readme.split("```text\n$ amdgpu-sim doctor true\n").nth(1).and_then(|rest| rest.split("```").next());
    let mut run = launcher(&["doctor"], &["true"]);
    let output = run.env("PATH", "/usr/bin:/bin").output().expect("the launcher");
    assert_eq!(shown, Some(text(&output.stdout).as_str()));
}

#[test]
fn a_program_that_goes_on_is_ended() {
    let mut run = launcher(&["doctor", "--seconds", "1"], &["--", "sh", "-c", "trap '' TERM; exec sleep 90"]);
    let output = run.output().expect("the launcher");
    // The pipe to our standard error is closed when the last process of the program is gone.
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    assert!(text(&output.stdout).contains("loaded the preload library"));
}

#[test]
fn the_manual_page_and_the_completions_have_every_command() {
    let printed = |arguments: &[&str]| text(&command(LAUNCHER).args(arguments).output().expect("the launcher").stdout);
    let man = printed(&["man"]);
    for task in ["run", "shell", "doctor", "list", "census", "man", "completions"] {
        assert!(man.contains(&format!(".SS {task}\n")), "{task}");
    }
    for section in ["EXAMPLES", "EXIT STATUS", "ENVIRONMENT", "SEE ALSO"] {
        assert!(man.contains(&format!("\n.SH \"{section}\"\n")), "{section}");
    }
    assert!(man.contains("AMDGPU_SIM_IBS_KEEP") && man.contains("\n.B 127\n"));
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(printed(&["completions", shell]).contains("doctor"), "{shell}");
    }
}

#[test]
fn hostile_names_are_visible() {
    let hostile = "x\x1b]0;title\x07\x1b[8m\u{9b}2J\u{7f}\u{202e}";
    for mut run in [
        launcher(&["doctor", "--gpu", "navi21"], &["--", hostile]),
        launcher(&["run", "--gpu", hostile], &["--", "true"]),
        launcher(&["run", "--gpu", "navi21"], &["--", hostile]),
        launcher(&[hostile], &[]),
    ] {
        let output = run.output().expect("the launcher");
        let said = [output.stdout, output.stderr].map(|bytes| text(&bytes)).concat();
        assert!(said.contains("[U+001B]") || said.contains("\\u{1b}"), "{run:?}: {said:?}");
        let is_hidden = |letter: char| letter != '\n' && (letter.is_control() || letter == '\u{202e}');
        assert!(!said.contains(is_hidden), "{run:?}: {said:?}");
    }
}
