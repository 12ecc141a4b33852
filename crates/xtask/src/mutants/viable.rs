//! Leaving out the mutants that do not compile, by what the compiler says of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ops::Range,
    process::Stdio,
};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use crate::{
    mutant::Key,
    splice::{Spliced, splice},
    tree::{Points, Tree},
};

/// More rounds than type errors and then borrow errors in each crate ever took.
const ROUNDS: usize = 40;

/// Writes the mutants into the copy and leaves out more of them until it compiles. `unviable` is the start and the result.
///
/// `packages` are those whose tests are built later: what they switch on in the mutated crates is compiled here, too.
pub(crate) fn settle(tree: &Tree, points: &Points, packages: &[String], unviable: &mut BTreeSet<Key>) -> Result<()> {
    let keys: Vec<Key> = points.mutants.iter().map(crate::mutant::Mutant::key).collect();
    for round in 1..=ROUNDS {
        let mut files = BTreeMap::new();
        for file in &points.files {
            let dropped = |number: u32| unviable.contains(&keys[number as usize - 1]);
            let spliced = splice(&file.source, &file.sites, dropped);
            tree.write(&file.path, &spliced.text)?;
            files.insert(file.path.as_str(), (file, spliced));
        }
        let mut check = tree.cargo(&["check", "--lib", "--keep-going", "--message-format=json"]);
        for package in packages {
            check.args(["-p", package]);
        }
        let output = check.stderr(Stdio::inherit()).output()?;
        if output.status.success() {
            return Ok(());
        }
        let mut found = BTreeSet::new();
        let mut lost = Vec::new();
        for error in errors(&String::from_utf8(output.stdout)?) {
            let numbers = error.spans.iter().find_map(|(file, range)| {
                let (file, spliced) = files.get(file.as_str())?;
                blamed(spliced, range, |site| {
                    let site = &file.sites[site];
                    (site.first..).take(site.variants.len()).collect()
                })
            });
            match numbers {
                Some(numbers) => found.extend(numbers),
                None => lost.push(error.rendered),
            }
        }
        eprintln!("round {round}: {} mutants do not compile", found.len());
        let before = unviable.len();
        unviable.extend(found.into_iter().map(|number| keys[number as usize - 1].clone()));
        if unviable.len() == before {
            bail!("the mutated library does not compile, and no mutant is to blame:\n{}", lost.join("\n"));
        }
    }
    bail!("mutants that do not compile after {ROUNDS} rounds")
}

/// Returns the mutant whose code an error lies in, else all of the innermost place around it.
fn blamed(spliced: &Spliced, at: &Range<usize>, all: impl Fn(usize) -> Vec<u32>) -> Option<Vec<u32>> {
    let holds = |range: &&(Range<usize>, u32)| range.0.start <= at.start && at.end <= range.0.end;
    if let Some((_, number)) = spliced.mutants.iter().filter(holds).min_by_key(|(range, _)| range.len()) {
        return Some(vec![*number]);
    }
    let around = spliced.sites.iter().filter(|(range, _)| range.start <= at.start && at.end <= range.end);
    around.min_by_key(|(range, _)| range.len()).map(|(_, site)| all(*site))
}

struct CompileError {
    rendered: String,
    /// File and bytes; what the error is about first.
    spans: Vec<(String, Range<usize>)>,
}

fn errors(output: &str) -> Vec<CompileError> {
    let messages = output.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    messages
        .filter(|message| message["reason"] == "compiler-message" && message["message"]["level"] == "error")
        .map(|message| {
            let message = &message["message"];
            let mut spans: Vec<&Value> = message["spans"].as_array().into_iter().flatten().collect();
            spans.sort_by_key(|span| span["is_primary"] != true);
            let place = |span: &Value| {
                let bytes = span["byte_start"].as_u64().and_then(|start| {
                    Some(usize::try_from(start).ok()?..usize::try_from(span["byte_end"].as_u64()?).ok()?)
                });
                Some((span["file_name"].as_str()?.to_owned(), bytes.context("no bytes").ok()?))
            };
            CompileError {
                rendered: message["rendered"].as_str().unwrap_or("").to_owned(),
                spans: spans.into_iter().filter_map(place).collect(),
            }
        })
        .collect()
}
