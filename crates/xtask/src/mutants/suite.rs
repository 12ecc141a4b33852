//! The tests, and running some of them in a process with limits.

use std::{
    fs::{self, File},
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant, UNIX_EPOCH},
};

use anyhow::{Context as _, Result, bail};
use nix::{
    sys::signal::{Signal, killpg},
    unistd::Pid,
};
use serde_json::Value;
use wait_timeout::ChildExt as _;

use crate::tree::Tree;

/// Data that a process may have: a mutant that allocates forever must not take the machine with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Data {
    /// 4 GiB.
    Limited,
    /// For the few tests that reserve much more than they touch.
    Unlimited,
}

/// A test program.
#[derive(Clone, Debug)]
pub(crate) struct Binary {
    /// Package and target, as people name it.
    pub(crate) name: String,
    pub(crate) executable: PathBuf,
    /// The folder that cargo runs it in.
    pub(crate) folder: PathBuf,
    /// Changes whenever the program does.
    pub(crate) stamp: String,
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Passed,
    /// A test failed, or the process did otherwise than end with success.
    Failed(String),
    TimedOut,
}

/// Builds the tests of some packages in the copy.
pub(crate) fn build(tree: &Tree, packages: &[String]) -> Result<Vec<Binary>> {
    let mut test = tree.cargo(&["test", "--no-run", "--tests", "--message-format=json"]);
    for package in packages {
        test.args(["-p", package]);
    }
    let output = test.stderr(Stdio::inherit()).output()?;
    if !output.status.success() {
        let lines = String::from_utf8_lossy(&output.stdout);
        let messages = lines.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let errors = messages.filter(|message| message["message"]["level"] == "error");
        errors.for_each(|error| eprintln!("{}", error["message"]["rendered"].as_str().unwrap_or_default()));
        bail!("the tests of the mutated workspace do not build");
    }
    let mut binaries = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let message: Value = serde_json::from_str(line)?;
        if message["reason"] != "compiler-artifact" || message["profile"]["test"] != true {
            continue;
        }
        let Some(executable) = message["executable"].as_str().map(PathBuf::from) else { continue };
        let manifest = Path::new(message["manifest_path"].as_str().context("a manifest")?);
        let folder = manifest.parent().context("a package's folder")?.to_owned();
        let package = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let target = message["target"]["name"].as_str().unwrap_or_default();
        let modified = fs::metadata(&executable)?.modified()?.duration_since(UNIX_EPOCH)?;
        binaries.push(Binary {
            name: if package == "workspace" { target.to_owned() } else { format!("{package}/{target}") },
            stamp: format!("{} {}", executable.display(), modified.as_nanos()),
            executable,
            folder,
        });
    }
    binaries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(binaries)
}

impl Binary {
    /// Lists the tests that are not ignored.
    pub(crate) fn tests(&self) -> Result<Vec<String>> {
        let list = |arguments: &[&str]| -> Result<Vec<String>> {
            let mut command = Command::new(&self.executable);
            command.args(["--list", "--format=terse"]).args(arguments).current_dir(&self.folder);
            let listed = crate::tree::output(&mut command)?;
            Ok(listed.lines().filter_map(|line| line.strip_suffix(": test")).map(str::to_owned).collect())
        };
        let ignored = list(&["--ignored"])?;
        Ok(list(&[])?.into_iter().filter(|test| !ignored.contains(test)).collect())
    }

    /// Runs some tests in one process, with one variable set for the runtime.
    pub(crate) fn run(
        &self,
        tests: &[&str],
        variable: (&str, &str),
        limit: Duration,
        data: Data,
        log: &Path,
    ) -> Result<(End, Duration)> {
        let started = Instant::now();
        // Processor time ends what runs in circles however busy the machine is; waits without end need the wall's clock.
        let kib = if data == Data::Limited { "4194304" } else { "unlimited" };
        let limits = format!("ulimit -t {}; ulimit -d {kib}; ulimit -c 0; exec \"$0\" \"$@\"", limit.as_secs().max(1));
        let output = File::create(log)?;
        let mut child = Command::new("sh")
            .args(["-c", &limits])
            .arg(&self.executable)
            .args(["--exact", "--test-threads=1"])
            .args(tests)
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .env(variable.0, variable.1)
            // The same chances in every run; and a failure is enough, small or not.
            .env("PROPTEST_RNG_SEED", "1")
            .env("PROPTEST_MAX_SHRINK_ITERS", "0")
            .env("PROPTEST_DISABLE_FAILURE_PERSISTENCE", "true")
            .env("BOLERO_RANDOM_SEED", "1")
            .env_remove("RUST_BACKTRACE")
            .stdin(Stdio::null())
            .stdout(Stdio::from(output.try_clone()?))
            .stderr(Stdio::from(output))
            .process_group(0)
            .spawn()
            .with_context(|| self.name.clone())?;
        let group = Pid::from_raw(i32::try_from(child.id())?);
        let status = child.wait_timeout(limit * 3)?;
        // What the tests started may have outlived them.
        let _ = killpg(group, Signal::SIGKILL);
        let end = match status {
            None => {
                child.wait()?;
                End::TimedOut
            }
            Some(status) if status.success() => End::Passed,
            Some(status) => match status.signal() {
                Some(signal) if signal == Signal::SIGXCPU as i32 || signal == Signal::SIGKILL as i32 => End::TimedOut,
                Some(signal) => End::Failed(format!("signal {signal}")),
                None => End::Failed(failed_test(log).unwrap_or_else(|| status.to_string())),
            },
        };
        Ok((end, started.elapsed()))
    }
}

/// Returns the first test that a log names as failed.
fn failed_test(log: &Path) -> Option<String> {
    let log = fs::read(log).ok()?;
    String::from_utf8_lossy(&log)
        .lines()
        .find_map(|line| Some(line.strip_prefix("test ")?.strip_suffix("... FAILED")?.trim_end().to_owned()))
}
