//! Helpers that the tests of the command share.

#![allow(dead_code, reason = "no test uses all of it")]

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Output, Stdio},
};

/// The command, to be run among the test data.
pub(crate) fn command(arguments: &[&str]) -> Command {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    let mut command = Command::new(env!("CARGO_BIN_EXE_amdgpu-ib"));
    command.current_dir(directory).args(arguments).env_remove("NO_COLOR").env("TERM", "xterm");
    command
}

pub(crate) fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// Runs the command with bytes on its standard input.
pub(crate) fn run_on(arguments: &[&str], input: &[u8]) -> Output {
    let mut command = command(arguments);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command");
    let mut pipe = child.stdin.take().expect("a pipe");
    // The command may not read to the end.
    let _ = pipe.write_all(input);
    drop(pipe);
    child.wait_with_output().expect("the command")
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Standard output of a run that ended with this status.
pub(crate) fn printed(arguments: &[&str], status: i32) -> String {
    let output = run(arguments);
    assert_eq!(output.status.code(), Some(status), "{arguments:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// A directory that goes with the test.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("amdgpu-ib-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn put(&self, name: &str, dwords: &[u32]) -> String {
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.write(name, &bytes)
    }

    pub(crate) fn write(&self, name: &str, bytes: &[u8]) -> String {
        let path = self.0.join(name);
        fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
