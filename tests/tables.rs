//! The tables under `doc` name tests; each of them exists, and no number is missing.

use std::{collections::BTreeMap, fs, path::Path};

/// A line of a table.
struct Row {
    /// The number, as it stands there.
    number: String,
    /// How important it is.
    class: String,
    /// The last cell.
    shown_by: String,
}

impl Row {
    /// The tests in the last cell: file and name.
    fn tests(&self) -> Vec<(&str, &str)> {
        self.shown_by.split('`').filter_map(|word| word.split_once("::")).collect()
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn rows(file: &str) -> Vec<Row> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let lines = text.lines().filter(|line| line.starts_with("| ")).skip(1);
    let row = |line: &str| {
        let cells: Vec<_> = line.trim_matches('|').split('|').map(str::trim).collect();
        let &[number, class, .., shown_by] = cells.as_slice() else { panic!("{file}: {line}") };
        Row { number: number.to_owned(), class: class.to_owned(), shown_by: shown_by.to_owned() }
    };
    lines.map(row).collect()
}

/// Whether a file has a test of this name: a function with `#[test]` among the lines right above it.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    lines.iter().enumerate().any(|(at, line)| {
        let is_it =
            line.strip_prefix("fn ").and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('));
        let above = lines[..at].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("//"));
        is_it && above.into_iter().any(|line| *line == "#[test]")
    })
}

fn check(file: &str, numbers: impl Iterator<Item = String>) {
    let rows = rows(file);
    assert_eq!(rows.iter().map(|row| row.number.clone()).collect::<Vec<_>>(), numbers.collect::<Vec<_>>(), "{file}");
    let mut sources = BTreeMap::new();
    for row in &rows {
        let tests = row.tests();
        assert!(!tests.is_empty() || row.shown_by.starts_with("Not built: "), "{file}: {} says nothing", row.number);
        for (path, name) in tests {
            let source = sources.entry(path.to_owned()).or_insert_with(|| {
                fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{file}: {path}: {error}"))
            });
            assert!(has_test(source, name), "{file}, {}: {path} has no test {name}", row.number);
        }
    }
}

#[test]
fn every_weakness_has_a_line_whose_tests_exist() {
    check("doc/weaknesses.md", (1..=47).map(|number| format!("W-{number:02}")));
}

#[test]
fn every_row_of_the_checklist_has_a_line_whose_tests_exist() {
    check("doc/checklist.md", (1..=112).map(|number| number.to_string()));
}

#[test]
fn only_what_could_be_there_may_be_missing() {
    let missing = rows("doc/checklist.md").into_iter().filter(|row| row.tests().is_empty());
    assert!(missing.into_iter().all(|row| row.class == "C"));
    assert!(rows("doc/weaknesses.md").iter().all(|row| ["H", "P", "Q"].contains(&row.class.as_str())));
}

/// Every weakness that a test is named after is in the table with that test.
#[test]
fn a_test_that_is_named_after_a_weakness_is_in_its_line() {
    let rows = rows("doc/weaknesses.md");
    let mut directories = vec![root().join("tests")];
    let mut count = 0;
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let Some(source) = path.extension().filter(|end| *end == "rs").map(|_| fs::read_to_string(&path).unwrap())
            else {
                continue;
            };
            for name in source.lines().filter_map(|line| line.trim().strip_prefix("fn w")?.split('(').next()) {
                let Some(number) = name.get(..2).filter(|number| number.bytes().all(|byte| byte.is_ascii_digit()))
                else {
                    continue;
                };
                let row = rows.iter().find(|row| row.number == format!("W-{number}")).unwrap();
                assert!(row.tests().iter().any(|test| test.1.strip_prefix('w') == Some(name)), "W-{number}: w{name}");
                count += 1;
            }
        }
    }
    assert!(count > 40, "{count} tests have such names");
}
