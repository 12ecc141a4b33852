//! The checked-in list of mutants that no test can tell from the original, each with the reason.

use std::{collections::BTreeSet, fs, path::Path};

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use crate::mutant::{Key, Mutant};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    mutant: Vec<Entry>,
    #[serde(default)]
    constant: Vec<Constant>,
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

/// A `const fn` that only constants call, so that nothing in it can be switched at run time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Constant {
    file: String,
    function: String,
    /// The argument for it.
    reason: String,
}

/// The list, read.
#[derive(Debug, Default)]
pub(crate) struct Equivalent {
    keys: BTreeSet<Key>,
    /// Files and functions.
    constants: BTreeSet<(String, String)>,
}

impl Equivalent {
    /// Reads the list.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let file: File = toml::from_str(&text).with_context(|| path.display().to_string())?;
        let mut list = Self::default();
        for Entry { file, function, original, replacements, nth, reason } in file.mutant {
            ensure!(reason.len() > 20, "{file}: {function}: {original} has no reason");
            list.keys.extend(replacements.into_iter().map(|replacement| Key {
                file: file.clone(),
                function: function.clone(),
                original: original.clone(),
                replacement,
                nth,
            }));
        }
        for Constant { file, function, reason } in file.constant {
            ensure!(reason.len() > 20, "{file}: {function} has no reason");
            list.constants.insert((file, function));
        }
        Ok(list)
    }

    /// Returns `true` if the list says that the mutant changes nothing. `reached` has the numbers of those that tests reach.
    pub(crate) fn has(&self, mutant: &Mutant, reached: &BTreeSet<u32>) -> bool {
        let of_constant = || self.constants.contains(&(mutant.file.clone(), mutant.function.clone()));
        self.keys.contains(&mutant.key()) || mutant.in_const_fn && !reached.contains(&mutant.number) && of_constant()
    }

    /// Returns the entries that no mutant has any more.
    pub(crate) fn stale(&self, mutants: &[Mutant]) -> Vec<String> {
        let keys: BTreeSet<Key> = mutants.iter().map(Mutant::key).collect();
        let functions: BTreeSet<_> =
            mutants.iter().map(|mutant| (mutant.file.clone(), mutant.function.clone())).collect();
        let stale_keys = self.keys.iter().filter(|key| !keys.contains(key)).map(|key| format!("{key:?}"));
        let stale_functions = self.constants.iter().filter(|name| !functions.contains(name));
        stale_keys.chain(stale_functions.map(|(file, function)| format!("{file}: {function}"))).collect()
    }
}
