//! The launcher's other commands: `shell`, `doctor`, `man` and `completions`.

mod support;

use std::{
    io::Write as _,
    path::Path,
    process::{Command, Output, Stdio},
};

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
    let lines = b"echo $AMDGPU_SIM\nls /dev/dri\necho $AMDGPU_SIM_WORLD\nexit 3\n";
    shell.stdin.take().expect("a pipe").write_all(lines).expect("a shell that reads");
    let output = shell.wait_with_output().expect("the launcher");
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}{}", text(&output.stderr));
    assert!(said.starts_with("navi21,renoir\n") && said.contains("renderD129"), "{said}");
    let world = said.lines().last().expect("a line");
    assert!(world.contains("amdgpu-sim.") && !Path::new(world).exists(), "{world}");
    assert!(text(&output.stderr).contains("amdgpu-sim: a shell with navi21,renoir begins"));
}

/// On a terminal, which `script` makes.
#[test]
fn the_prompt_of_a_shell_names_the_chips() {
    let line = format!("{LAUNCHER} shell --gpu navi21 --shim {}", shim().display());
    let mut script = command("script");
    script.args(["-qec", &line, "/dev/null"]).env("HOME", "/nowhere").env("TERM", "dumb");
    for shell in ["/bin/bash", "/bin/sh"] {
        let run = script.env("SHELL", shell).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        // No script, no terminal.
        let Ok(mut run) = run else { return };
        run.stdin.take().expect("a pipe").write_all(b"exit\n").expect("a shell that reads");
        let said = text(&run.wait_with_output().expect("script").stdout);
        assert!(said.contains("(amdgpu-sim navi21) "), "{shell}: {said}");
    }
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
    for task in ["run", "shell", "doctor", "profiles", "census", "man", "completions"] {
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
