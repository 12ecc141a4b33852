//! The checked-in list of mutants that no test can tell from the original, each with the reason.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context as _, Result};
use serde::Deserialize;

use crate::mutant::{Key, Mutant};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    mutant: Vec<Entry>,
}

/// Mutants of one place, and why they change nothing.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    file: String,
    function: String,
    original: String,
    /// Several where one argument holds for all.
    replacements: Vec<String>,
    #[serde(default)]
    nth: usize,
    reason: String,
}

/// Reads the list.
pub(crate) fn read(path: &Path) -> Result<BTreeSet<Key>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
    let mut keys = BTreeSet::new();
    for Entry { file, function, original, replacements, nth, reason } in file.mutant {
        anyhow::ensure!(reason.len() > 20, "{file}: {function}: {original} has no reason");
        keys.extend(replacements.into_iter().map(|replacement| Key {
            file: file.clone(),
            function: function.clone(),
            original: original.clone(),
            replacement,
            nth,
        }));
    }
    Ok(keys)
}

/// Returns the entries that no mutant has any more.
pub(crate) fn stale<'a>(keys: &'a BTreeSet<Key>, mutants: &[Mutant]) -> Vec<&'a Key> {
    let present: BTreeSet<Key> = mutants.iter().map(Mutant::key).collect();
    keys.iter().filter(|key| !present.contains(key)).collect()
}
