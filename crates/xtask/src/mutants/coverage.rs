//! The mutants that each test reaches, and the time it takes.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

use crate::suite::{Binary, Data, End};

/// A test must be done by then even on a busy machine.
const LIMIT: Duration = Duration::from_mins(2);

/// One test, with what it reached when no mutant was on.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Test {
    pub(crate) binary: String,
    pub(crate) name: String,
    pub(crate) millis: u64,
    /// Numbers of mutants, ascending.
    pub(crate) reached: Vec<u32>,
    /// Reserves more data than the limit.
    #[serde(default)]
    pub(crate) unlimited: bool,
    /// Fails even without a mutant, and so shows nothing.
    pub(crate) fails: bool,
}

/// The tests of a program as it was built last.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Coverage {
    stamps: BTreeMap<String, String>,
    pub(crate) tests: Vec<Test>,
}

impl Coverage {
    /// Reads what `write` wrote, if there is any.
    pub(crate) fn read(path: &Path) -> Self {
        fs::read(path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
    }

    /// Writes it for the next run.
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        Ok(fs::write(path, serde_json::to_vec(self)?)?)
    }

    /// Runs each test of the programs that changed by itself.
    pub(crate) fn renew(&mut self, binaries: &[Binary], mutants: usize, jobs: usize, scratch: &Path) -> Result<()> {
        let is_known = |binary: &&Binary| self.stamps.get(&binary.name) == Some(&binary.stamp);
        let known: Vec<&str> = binaries.iter().filter(is_known).map(|binary| binary.name.as_str()).collect();
        self.tests.retain(|test| known.contains(&test.binary.as_str()));
        let mut waiting = Vec::new();
        // Those that failed get another chance: the machine may have been at fault.
        for test in self.tests.extract_if(.., |test| test.fails) {
            waiting.extend(binaries.iter().find(|binary| binary.name == test.binary).map(|binary| (binary, test.name)));
        }
        for binary in binaries.iter().filter(|binary| !known.contains(&binary.name.as_str())) {
            waiting.extend(binary.tests()?.into_iter().map(|test| (binary, test)));
        }
        let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let worker = |job: usize| -> Result<()> {
            // In memory where there is such a place: the disk would be written all the time.
            let shared = Path::new("/dev/shm");
            let folder = if shared.is_dir() { shared } else { scratch };
            let reached = folder.join(format!("amdgpu-mutants-{}-{job}", process::id()));
            while let Some((binary, name)) = waiting.get(next.fetch_add(1, Ordering::Relaxed)) {
                let test = run(binary, name, &reached, mutants, &scratch.join(format!("log-{job}")))?;
                done.lock().expect("no worker panics with it").push(test);
            }
            let _ = fs::remove_file(reached);
            Ok(())
        };
        thread::scope(|scope| {
            let workers: Vec<_> = (0..jobs).map(|job| scope.spawn(move || worker(job))).collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
        })?;
        self.tests.append(&mut done.into_inner()?);
        self.tests.sort_by(|a, b| (&a.binary, &a.name).cmp(&(&b.binary, &b.name)));
        self.stamps = binaries.iter().map(|binary| (binary.name.clone(), binary.stamp.clone())).collect();
        Ok(())
    }
}

fn run(binary: &Binary, name: &str, reached: &PathBuf, mutants: usize, log: &Path) -> Result<Test> {
    fs::write(reached, vec![0; mutants + 1])?;
    let path = reached.to_str().context("a path in UTF-8")?;
    let run = |data| binary.run(&[name], ("AMDGPU_MUTANTS_REACHED", path), LIMIT, data, log);
    let (mut end, mut took) = run(Data::Limited)?;
    let unlimited = end != End::Passed;
    if unlimited {
        (end, took) = run(Data::Unlimited)?;
    }
    let flags = fs::read(reached)?;
    if end != End::Passed {
        eprintln!("{} {name} fails without a mutant: {end:?}", binary.name);
    }
    Ok(Test {
        binary: binary.name.clone(),
        name: name.to_owned(),
        millis: u64::try_from(took.as_millis())?,
        reached: (0..).zip(flags).filter(|(_, flag)| *flag != 0).map(|(number, _)| number).collect(),
        unlimited,
        fails: end != End::Passed,
    })
}
