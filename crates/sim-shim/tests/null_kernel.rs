//! Programs on the null kernel.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

const LAUNCHER: &str = env!("CARGO_BIN_EXE_amdgpu-sim");

fn beside_the_launcher(name: &str) -> PathBuf {
    let path = Path::new(LAUNCHER).parent().expect("a directory").join(name);
    assert!(path.exists(), "{} was not built", path.display());
    path
}

fn launcher(chips: &str) -> Command {
    let mut command = Command::new(LAUNCHER);
    command.args(["run", "--null", "--gpu", chips, "--shim"]).arg(beside_the_launcher("deps/libamdgpu_sim_shim.so"));
    command.env_remove("AMDGPU_SIM_WORLD").env("GUEST_LAUNCHER", LAUNCHER).arg("--");
    command
}

#[test]
fn a_program_is_answered_without_the_server() {
    let output =
        launcher("navi21").arg(beside_the_launcher("examples/guest")).arg("null").output().expect("the launcher");
    assert!(output.status.success(), "{}{}", output.status, String::from_utf8_lossy(&output.stderr));
}

#[test]
fn without_the_launcher_a_variable_is_enough() {
    let mut guest = Command::new(beside_the_launcher("examples/guest"));
    guest.env_remove("AMDGPU_SIM_WORLD").env("GUEST_LAUNCHER", LAUNCHER).env("AMDGPU_SIM_NULL", "navi21");
    let output = guest.env("LD_PRELOAD", beside_the_launcher("deps/libamdgpu_sim_shim.so")).arg("null").output();
    let output = output.expect("the guest");
    assert!(output.status.success(), "{}{}", output.status, String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_captures_path_holds_wherever_the_program_goes() {
    let mut run = launcher("./navi21.json");
    run.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../sim/data/devices"));
    let script = "cd / && exec \"$0\" null";
    let output =
        run.args(["sh", "-c", script]).arg(beside_the_launcher("examples/guest")).output().expect("the launcher");
    assert!(output.status.success(), "{}{}", output.status, String::from_utf8_lossy(&output.stderr));
}

#[test]
fn it_is_one_chip() {
    let output = launcher("navi21,renoir").arg("true").output().expect("the launcher");
    assert_eq!(output.status.code(), Some(125));
    assert!(String::from_utf8_lossy(&output.stderr).contains("one chip"));
}
