//! Programs of this build, for the tests that run them.

#![allow(dead_code, reason = "no test uses all of it")]

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::{Command, Output},
};

pub(crate) const LAUNCHER: &str = env!("CARGO_BIN_EXE_amdgpu-sim");

/// Returns the folder of this build's programs.
pub(crate) fn programs() -> PathBuf {
    Path::new(LAUNCHER).parent().expect("a directory").to_owned()
}

/// The library as cargo built it for this test; a copy beside the programs is only made by `cargo build`, and may be old.
pub(crate) fn shim() -> PathBuf {
    let shim = programs().join("deps/libamdgpu_sim_shim.so");
    assert!(shim.exists(), "{} was not built", shim.display());
    shim
}

pub(crate) fn guest() -> PathBuf {
    let guest = programs().join("examples/guest");
    assert!(guest.exists(), "{} was not built", guest.display());
    guest
}

/// A command that starts without a world, whatever the test runs in.
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.env_remove("AMDGPU_SIM").env_remove("AMDGPU_SIM_WORLD").env("GUEST_LAUNCHER", LAUNCHER);
    command
}

/// The launcher, about to run what is added.
pub(crate) fn launcher(chips: &str) -> Command {
    let mut run = command(LAUNCHER);
    run.args(["run", "--gpu", chips, "--shim"]).arg(shim()).arg("--");
    run
}

pub(crate) fn expect_success(output: &Output) {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(output.status.success(), "{}: {}{}", output.status, text(&output.stdout), text(&output.stderr));
}
