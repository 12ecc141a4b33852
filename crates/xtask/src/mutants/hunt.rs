//! Running the tests that reach a mutant, until one of them notices.

use std::{
    collections::HashMap,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Result;
use serde::{Deserialize, Serialize};

use crate::{
    coverage::{Coverage, Test},
    mutant::Mutant,
    suite::{Binary, Data, End},
};

/// Tests that run one by one before the rest runs in groups.
const ALONE: usize = 10;
/// A group's time without a mutant.
const GROUP: Duration = Duration::from_secs(3);
/// A run may take this much longer than without a mutant.
const PATIENCE: u32 = 5;
/// And this much at least.
const LEAST: Duration = Duration::from_secs(5);

/// The longer limit of a run that did not even without a mutant end within the first.
const SECOND: u32 = 6;
/// The variable that says which mutant is on.
const SWITCH: &str = "AMDGPU_MUTANT";
/// Its value for none of them.
const NO_MUTANT: &str = "4294967295";

/// The fate of a mutant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Fate {
    /// By a test of that program.
    Caught { binary: String, by: String },
    /// A test of that program did not come to an end.
    TimedOut { binary: String },
    /// Every test that reaches it passes.
    Survived { tests: usize },
    /// No test reaches it.
    Unreached,
}

impl Fate {
    /// Returns `true` if the tests noticed.
    pub(crate) fn is_caught(&self) -> bool {
        matches!(self, Self::Caught { .. } | Self::TimedOut { .. })
    }
}

/// Hunts mutants on some threads; fates come in the order of `mutants`. A mutant's tests end when those that ran would
/// usually have taken `most`.
pub(crate) fn hunt(
    mutants: &[&Mutant],
    binaries: &[Binary],
    coverage: &Coverage,
    jobs: usize,
    most: Duration,
    scratch: &Path,
) -> Result<Vec<Fate>> {
    let by_name: HashMap<&str, &Binary> = binaries.iter().map(|binary| (binary.name.as_str(), binary)).collect();
    let mut reaching: HashMap<u32, Vec<&Test>> = HashMap::new();
    for test in coverage.tests.iter().filter(|test| !test.fails) {
        for number in &test.reached {
            reaching.entry(*number).or_default().push(test);
        }
    }
    let (next, fates) = (AtomicUsize::new(0), Mutex::new(vec![None; mutants.len()]));
    // A test that caught a mutant of a file is asked early about its neighbours.
    let luck: Mutex<HashMap<(String, String, String), usize>> = Mutex::default();
    let worker = |job: usize| -> Result<()> {
        let log = scratch.join(format!("log-{job}"));
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(mutant) = mutants.get(index) else { return Ok(()) };
            let mut tests = reaching.get(&mutant.number).cloned().unwrap_or_default();
            let lucky = luck.lock().expect("no worker panics with it").clone();
            tests.sort_by_cached_key(|test| {
                let key = (mutant.file.clone(), test.binary.clone(), test.name.clone());
                let caught = lucky.get(&key).copied().unwrap_or(0) as u64;
                // Soon done, about little else, and kept near the code.
                let worth = (1 + 4 * caught) << (3 * nearness(mutant, test));
                (test.millis + 5) * (100 + test.reached.len() as u64) * 1000 / worth
            });
            let fate = one(mutant, within(&tests, most), &by_name, &log)?;
            if let Fate::Caught { binary, by } = &fate {
                let key = (mutant.file.clone(), binary.clone(), by.clone());
                *luck.lock().expect("no worker panics with it").entry(key).or_default() += 1;
            }
            let mut fates = fates.lock().expect("no worker panics with it");
            if !fate.is_caught() {
                eprintln!("{mutant}  [{fate:?}]");
            }
            fates[index] = Some(fate);
            let done = fates.iter().flatten().count();
            if done % 50 == 0 {
                let caught = fates.iter().flatten().filter(|fate| fate.is_caught()).count();
                eprintln!("{done} of {} mutants, {caught} caught", mutants.len());
            }
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs).map(|job| scope.spawn(move || worker(job))).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("a worker does not panic"))
    })?;
    Ok(fates.into_inner()?.into_iter().flatten().collect())
}

/// Returns the number of folders and files on the path to the code that the test's name has.
fn nearness(mutant: &Mutant, test: &Test) -> u32 {
    let path =
        mutant.file.trim_end_matches(".rs").split('/').filter(|part| !["src", "crates", "mod", "lib"].contains(part));
    let count = path.filter(|part| test.name.contains(part) || test.binary.contains(part)).count();
    u32::try_from(count).unwrap_or(0).min(8)
}

/// Returns the first tests, up to those that usually take the given time.
fn within<'a, 'b>(tests: &'b [&'a Test], most: Duration) -> &'b [&'a Test] {
    let mut took = Duration::ZERO;
    let end = tests.iter().position(|test| {
        took += Duration::from_millis(test.millis);
        took > most
    });
    &tests[..end.unwrap_or(tests.len())]
}

fn one(mutant: &Mutant, tests: &[&Test], binaries: &HashMap<&str, &Binary>, log: &Path) -> Result<Fate> {
    if tests.is_empty() {
        return Ok(Fate::Unreached);
    }
    let number = mutant.number.to_string();
    for group in groups(tests) {
        let binary = binaries[group[0].binary.as_str()];
        let names: Vec<&str> = group.iter().map(|test| test.name.as_str()).collect();
        let usual = Duration::from_millis(group.iter().map(|test| test.millis).sum());
        let limit = (usual * PATIENCE).max(LEAST);
        let data = if group[0].unlimited { Data::Unlimited } else { Data::Limited };
        for limit in [limit, limit * SECOND] {
            let run = |number: &str| Ok::<_, anyhow::Error>(binary.run(&names, (SWITCH, number), limit, data, log)?.0);
            let fate = match run(&number)? {
                End::Passed => break,
                End::Failed(by) => Fate::Caught { binary: binary.name.clone(), by },
                End::TimedOut => Fate::TimedOut { binary: binary.name.clone() },
            };
            // The machine may be at fault: only what passes without the mutant accuses it.
            match run(NO_MUTANT)? {
                End::Passed => return Ok(fate),
                end => eprintln!("{} {names:?} ends so without a mutant: {end:?}", binary.name),
            }
        }
    }
    Ok(Fate::Survived { tests: tests.len() })
}

/// Cuts tests into the processes that they run in: the first few alone, the others together with their program's.
fn groups<'a>(tests: &[&'a Test]) -> Vec<Vec<&'a Test>> {
    let (alone, rest) = tests.split_at(tests.len().min(ALONE));
    let mut groups: Vec<Vec<&Test>> = alone.iter().map(|&test| vec![test]).collect();
    let mut open: HashMap<(&str, bool), usize> = HashMap::new();
    for &test in rest {
        let time = |group: &[&Test]| Duration::from_millis(group.iter().map(|test| test.millis).sum());
        let kind = (test.binary.as_str(), test.unlimited);
        match open.get(&kind) {
            Some(&at) if time(&groups[at]) < GROUP => groups[at].push(test),
            _ => {
                open.insert(kind, groups.len());
                groups.push(vec![test]);
            }
        }
    }
    groups
}
