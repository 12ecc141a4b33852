//! Measures what share of the library's mutants the tests catch.
//!
//! All mutants are compiled into one copy of the workspace and chosen at run time; see README.md.

mod coverage;
mod equivalent;
mod hunt;
mod mutant;
mod points;
mod report;
mod returns;
mod sample;
mod splice;
mod suite;
mod tree;
mod viable;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    thread,
    time::Duration,
};

use anyhow::{Context as _, Result, ensure};
use clap::Parser;

use crate::{
    coverage::Coverage,
    equivalent::Equivalent,
    mutant::{Key, Mutant},
    report::{Outcome, report},
    sample::{Changed, Shard, draw},
    tree::Tree,
};

/// Measures what share of the library's mutants the tests catch.
#[derive(Debug, Parser)]
struct Options {
    /// Seed of the sample.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of mutants to draw; 0 takes all
    #[arg(long, default_value_t = 240)]
    sample: usize,
    /// Only this part of the sample, as in 2/5.
    #[arg(long)]
    shard: Option<Shard>,
    /// Only mutants on lines that differ from this commit's.
    #[arg(long, value_name = "COMMIT")]
    changed: Option<String>,
    /// Only mutants of files whose path starts like this.
    #[arg(long, value_name = "PATH")]
    only: Vec<String>,
    /// Only mutants whose line in the list holds one of these texts.
    #[arg(long, value_name = "TEXT")]
    like: Vec<String>,
    /// Only mutants that a former run's outcomes name as not caught.
    #[arg(long, value_name = "OUTCOMES")]
    again: Option<PathBuf>,
    /// The package whose code, with that of the packages it leans on, is mutated.
    #[arg(long, default_value = "amdgpu-winsys")]
    package: String,
    /// Packages that it depends on and that are left as they are: images are pinned down by goldens, which take minutes for each
    /// mutant.
    #[arg(long, value_delimiter = ',', default_value = "amdgpu-surface,amdgpu-descriptors")]
    without: Vec<String>,
    /// Packages whose tests are asked, besides those that are mutated.
    #[arg(long, value_delimiter = ',', default_value = "amdgpu-sim,amdgpu-layers,amdgpu-ib,amdgpu-fuzz")]
    tests: Vec<String>,
    /// Number of tests that run at a time
    #[arg(long, default_value_t = thread::available_parallelism().map_or(1, usize::from))]
    jobs: usize,
    /// Seconds of tests for each mutant, where a look is enough. Some that survive would not survive all tests.
    #[arg(long)]
    most: Option<u64>,
    /// The folder for the copy, what is built from it, and the outcomes.
    #[arg(long, default_value = "target/mutants")]
    folder: PathBuf,
    /// The list of mutants that change nothing.
    #[arg(long, default_value = "crates/xtask/src/mutants/equivalent.toml")]
    equivalent: PathBuf,
    /// Lists the mutants and runs nothing.
    #[arg(long)]
    list: bool,
    /// Reports the outcomes of former runs, of shards say, and runs nothing.
    #[arg(long, value_name = "OUTCOMES", num_args = 1..)]
    report: Vec<PathBuf>,
}

fn main() -> Result<()> {
    let options = Options::parse();
    if !options.report.is_empty() {
        let mut outcomes = Vec::new();
        for path in &options.report {
            outcomes.extend(read_outcomes(path)?);
        }
        print!("{}", report(&outcomes));
        return Ok(());
    }
    let root = std::env::current_dir()?;
    let points = tree::points(&root, &options.package, &options.without)?;
    let equivalent = Equivalent::read(&root.join(&options.equivalent))?;
    for entry in equivalent.stale(&points.mutants) {
        eprintln!("{}: there is no such mutant: {entry}", options.equivalent.display());
    }
    if options.list {
        points.mutants.iter().for_each(|mutant| println!("{mutant}"));
        return Ok(());
    }

    let folder = root.join(&options.folder);
    fs::create_dir_all(&folder)?;
    let tree = Tree::copy(&root, folder.clone(), &points)?;
    let known = folder.join("unviable.json");
    let mut unviable: BTreeSet<Key> =
        fs::read(&known).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let mut packages: Vec<String> = points.members.iter().map(|member| member.package.clone()).collect();
    packages.extend(options.tests.iter().cloned());
    viable::settle(&tree, &points, &packages, &mut unviable)?;
    fs::write(known, serde_json::to_vec(&unviable)?)?;
    let binaries = suite::build(&tree, &packages)?;
    let recorded = folder.join("coverage.json");
    let mut coverage = Coverage::read(&recorded);
    coverage.renew(&binaries, points.mutants.len(), options.jobs, &folder)?;
    coverage.write(&recorded)?;

    let reached = coverage.tests.iter().flat_map(|test| &test.reached).copied().collect();
    let mut living: Vec<&Mutant> = points.mutants.iter().filter(|mutant| !unviable.contains(&mutant.key())).collect();
    let compile = living.len();
    living.retain(|mutant| !mutant.is_or_as_xor());
    let differ = living.len();
    living.retain(|mutant| !equivalent.has(mutant, &reached));
    println!(
        "{} mutants: {} do not compile, {} are ^ for |, {} change nothing by the list, {} are left; {} tests",
        points.mutants.len(),
        points.mutants.len() - compile,
        compile - differ,
        differ - living.len(),
        living.len(),
        coverage.tests.iter().filter(|test| !test.fails).count(),
    );
    println!("left alone: {:?}", points.skipped);

    let drawn = drawn(&options, &root, living)?;
    let most = options.most.map_or(Duration::MAX, Duration::from_secs);
    let fates = hunt::hunt(&drawn, &binaries, &coverage, options.jobs, most, &folder)?;
    let outcomes: Vec<Outcome> =
        drawn.into_iter().cloned().zip(fates).map(|(mutant, fate)| Outcome { mutant, fate }).collect();
    let part = options.shard.map(|shard| format!("-{shard}")).unwrap_or_default();
    let path = folder.join(format!("outcomes-{}{part}.json", options.seed));
    fs::write(&path, serde_json::to_vec(&outcomes)?)?;
    print!("{}", report(&outcomes));
    println!("\nThe outcomes are in {}", path.display());
    Ok(())
}

fn drawn<'a>(options: &Options, root: &Path, mut mutants: Vec<&'a Mutant>) -> Result<Vec<&'a Mutant>> {
    if let Some(base) = &options.changed {
        let changed = Changed::since(root, base)?;
        mutants.retain(|mutant| changed.has(mutant));
    }
    if !options.only.is_empty() {
        mutants.retain(|mutant| options.only.iter().any(|start| mutant.file.starts_with(start)));
    }
    if !options.like.is_empty() {
        let is_named = |line: &str| options.like.iter().any(|text| line.contains(text));
        mutants.retain(|mutant| is_named(&mutant.to_string()));
    }
    if let Some(path) = &options.again {
        let outcomes = read_outcomes(path)?;
        let missed: BTreeSet<Key> =
            outcomes.iter().filter(|outcome| !outcome.fate.is_caught()).map(|outcome| outcome.mutant.key()).collect();
        mutants.retain(|mutant| missed.contains(&mutant.key()));
    }
    if options.sample > 0 && options.again.is_none() {
        mutants = draw(&mutants, options.sample, options.seed);
    }
    if let Some(shard) = options.shard {
        mutants = shard.of(&mutants);
    }
    ensure!(!mutants.is_empty() || options.changed.is_some(), "no mutants are left");
    Ok(mutants)
}

fn read_outcomes(path: &Path) -> Result<Vec<Outcome>> {
    let bytes = fs::read(path).with_context(|| path.display().to_string())?;
    serde_json::from_slice(&bytes).with_context(|| path.display().to_string())
}
