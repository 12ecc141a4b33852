//! Ledgers that name the tests of features, weaknesses and findings: `tests/traceability/*.toml`.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::Path};

use serde::Deserialize;

use crate::{Error, workspace};

/// A ledger: rows in the order of their numbers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ledger {
    /// The rows.
    #[serde(rename = "row")]
    pub rows: Vec<Row>,
}

/// A row of a ledger.
#[derive(Debug, Deserialize)]
pub struct Row {
    /// The number, such as `W-07`; unique in the ledger.
    pub number: String,
    /// Tests that show the row, as `path/of/file.rs::name`.
    #[serde(default)]
    pub tests: Vec<String>,
    /// The reason why no test shows the row.
    pub without_test: Option<String>,
    /// Every other field, such as `feature` and `class`, by name.
    #[serde(flatten)]
    pub fields: BTreeMap<String, String>,
}

impl Row {
    /// Returns the tests as pairs of file and name; a test without a file has an empty one.
    pub fn named_tests(&self) -> impl Iterator<Item = (&str, &str)> {
        self.tests.iter().map(|test| test.rsplit_once("::").unwrap_or(("", test)))
    }
}

/// Reads the ledger of a name, such as `features`.
///
/// # Errors
///
/// [`Error::File`] if it cannot be read, [`Error::Table`] with the name, line and reason if it is not such a ledger.
pub fn ledger(name: &str) -> Result<Ledger, Error> {
    let path = folder().join(name).with_extension("toml");
    let text = fs::read_to_string(&path).map_err(|source| Error::File { path: path.clone(), source })?;
    toml::from_str(&text).map_err(|error| Error::Table(format!("{}: {error}", path.display())))
}

/// Returns the names of all ledgers, in alphabetical order.
///
/// # Errors
///
/// [`Error::File`] if the folder cannot be read.
pub fn names() -> Result<Vec<String>, Error> {
    let folder = folder();
    let read = |source| Error::File { path: folder.clone(), source };
    let mut names = Vec::new();
    for entry in fs::read_dir(&folder).map_err(read)? {
        let path = entry.map_err(read)?.path();
        if path.extension().is_some_and(|end| end == "toml") {
            names.extend(path.file_stem().map(|stem| stem.to_string_lossy().into_owned()));
        }
    }
    names.sort();
    Ok(names)
}

/// Returns a ledger as plain text: each row with its fields, then its tests.
pub fn print(ledger: &Ledger) -> String {
    let mut text = String::new();
    for row in &ledger.rows {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", row.number);
        for (field, value) in &row.fields {
            let _ = writeln!(text, "  {field}: {value}");
        }
        for test in &row.tests {
            let _ = writeln!(text, "  test: {test}");
        }
        if let Some(reason) = &row.without_test {
            let _ = writeln!(text, "  without test: {reason}");
        }
    }
    text
}

fn folder() -> std::path::PathBuf {
    workspace().join(Path::new("tests/traceability"))
}
