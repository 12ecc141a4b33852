//! The list of rules in the crate's README is complete and tells the truth.
//!
//! Each rule has a test with a comment `// Checks R41 and R42.` above it, or a reason why not. With `AMDGPU_SIM_WRITE_CHECKLIST=1` in
//! the environment the names of the tests in the README are brought up to date; sentences and reasons are for people.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
};

/// Rules are numbered from 1 to this.
const RULES: u32 = 171;
/// Rules of kernels after Linux 6.12, and rules that were found by comparison with Linux itself, are numbered from this.
const LATER: u32 = 200;
/// Openings of a reason.
const REASONS: [&str; 2] = ["not simulated: ", "reached only through "];

/// A line of the README's tables: `| R7 | what holds | checked by |`.
struct Row {
    rule: u32,
    sentence: String,
    /// Tests named there.
    tests: BTreeSet<String>,
    /// The rest of the note.
    note: String,
}

impl Row {
    fn parse(line: &str) -> Option<Self> {
        let cells: Vec<&str> = line.strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
        let [rule, sentence, checked] = cells[..] else { return None };
        let rule = rule.strip_prefix('R')?.parse().ok()?;
        let (tests, note) = match checked.strip_prefix('`') {
            Some(_) => checked.split_once("; ").unwrap_or((checked, "")),
            None => ("", checked),
        };
        let tests = tests.split(", ").filter(|name| !name.is_empty()).map(|name| name.trim_matches('`').to_owned());
        Some(Self { rule, sentence: sentence.to_owned(), tests: tests.collect(), note: note.to_owned() })
    }

    /// Returns the reason why there is no test, after the opening.
    fn reason(&self) -> Option<&str> {
        REASONS.iter().find_map(|start| self.note.strip_prefix(start))
    }

    /// Returns `true` if the row tells that Linux itself was asked about the rule, or gives a reason why it was not.
    fn has_verdict(&self) -> bool {
        let parts = || self.note.split("; ");
        let reason = parts().find_map(|part| part.strip_prefix("not judged: "));
        parts().any(|part| part == "judged") != reason.is_some_and(|reason| reason.len() > 5)
    }

    /// With other tests. A rule that has a test needs no reason.
    fn with_tests(self, tests: BTreeSet<String>) -> Self {
        let is_excused = self.reason().is_some() && !tests.is_empty();
        let note = if is_excused { String::new() } else { self.note };
        Self { tests, note, ..self }
    }

    fn print(&self) -> String {
        let tests: Vec<String> = self.tests.iter().map(|name| format!("`{name}`")).collect();
        let parts = [tests.join(", "), self.note.clone()];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        format!("| R{} | {} | {} |", self.rule, self.sentence, parts.join("; "))
    }
}

/// Returns `true` if a rule is of the DRM core or of the controller of cgroups, which Linux can be asked about without a Radeon.
const fn is_of_the_core(rule: u32) -> bool {
    matches!(rule, 1..=49 | 122 | 135..=141 | 155..=162 | 164..=167 | 200..=211 | 246 | 270..=277 | 290..)
}

/// Returns the numbers in a comment above a test: `// Checks R41 and R42.`
fn numbers(comment: &str) -> Vec<u32> {
    let Some(rules) = comment.strip_prefix("// Checks R") else { return Vec::new() };
    rules
        .split(" and R")
        .flat_map(|part| part.split(", R"))
        .filter_map(|rule| rule.trim_end_matches('.').parse().ok())
        .collect()
}

/// Returns the tests in a source file, with the rules that each checks. One that is ignored is none.
fn tests_in(source: &str) -> Vec<(String, Vec<u32>)> {
    let (mut attributes, mut rules) = (Vec::new(), Vec::new());
    let mut tests = Vec::new();
    for line in source.lines().map(str::trim) {
        if line.starts_with("#[") {
            attributes.push(line);
            continue;
        }
        // Comments may stand between an attribute and its function.
        if line.starts_with("//") {
            rules.extend(numbers(line));
            continue;
        }
        let is_test = attributes.contains(&"#[test]") && !attributes.iter().any(|one| one.starts_with("#[ignore"));
        let rules_of = std::mem::take(&mut rules);
        if let Some((name, _)) = line.strip_prefix("fn ").and_then(|rest| rest.split_once('('))
            && is_test
        {
            tests.push((name.to_owned(), rules_of));
        }
        attributes.clear();
    }
    tests
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let nested = entries.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] });
    nested.filter(|path| path.extension().is_some_and(|end| end == "rs")).collect()
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The tests of each rule.
fn tests() -> BTreeMap<u32, BTreeSet<String>> {
    let mut by_rule: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for path in ["src", "tests"].iter().flat_map(|folder| sources(&package().join(folder))) {
        for (name, rules) in tests_in(&fs::read_to_string(path).unwrap()) {
            for rule in rules {
                by_rule.entry(rule).or_default().insert(name.clone());
            }
        }
    }
    by_rule
}

/// The README, with the tests of every rule as they are.
fn up_to_date(readme: &str, tests: &BTreeMap<u32, BTreeSet<String>>) -> String {
    let lines = readme.lines().map(|line| match Row::parse(line) {
        Some(row) => {
            let real = tests.get(&row.rule).cloned().unwrap_or_default();
            row.with_tests(real).print()
        }
        None => line.to_owned(),
    });
    lines.map(|line| line + "\n").collect()
}

#[test]
fn every_rule_is_checked_or_says_why_not() {
    let path = package().join("README.md");
    let tests = tests();
    let mut readme = fs::read_to_string(&path).unwrap();
    if std::env::var_os("AMDGPU_SIM_WRITE_CHECKLIST").is_some() {
        readme = up_to_date(&readme, &tests);
        fs::write(&path, &readme).unwrap();
    }
    let rows: Vec<Row> = readme.lines().filter_map(Row::parse).collect();
    let (first, later): (Vec<u32>, Vec<u32>) = rows.iter().map(|row| row.rule).partition(|&rule| rule < LATER);
    assert_eq!(first, (1..=RULES).collect::<Vec<_>>());
    assert!(later.is_sorted_by(|one, next| one < next), "{later:?}");
    for row in &rows {
        let rule = row.rule;
        assert!(row.sentence.ends_with('.'), "R{rule} says nothing");
        let real = tests.get(&rule).cloned().unwrap_or_default();
        assert_eq!(row.tests, real, "R{rule}: left what the README names, right what there is");
        match row.reason() {
            Some(reason) => {
                assert!(reason.len() > 5, "R{rule} gives no reason");
                assert!(real.is_empty(), "R{rule} is excused, yet there is a test: {real:?}");
            }
            None => assert!(!real.is_empty(), "R{rule} has neither a test nor a reason"),
        }
        if is_of_the_core(rule) && row.reason().is_none() {
            assert!(row.has_verdict(), "R{rule} is neither judged nor says why not, or both");
        }
    }
    let strays: Vec<_> = tests.keys().filter(|rule| !rows.iter().any(|row| row.rule == **rule)).collect();
    assert!(strays.is_empty(), "tests of rules that do not exist: {strays:?}");
}

#[test]
fn the_checklist_reads_names_and_rows() {
    assert_eq!(numbers("// Checks R41 and R42."), [41, 42]);
    assert_eq!(numbers("// Checks R7, R8 and R203."), [7, 8, 203]);
    assert!(numbers("// Checks nothing.").is_empty() && numbers("// R7.").is_empty());
    let source = "// Checks R1.\n#[test]\nfn a() {}\n// Checks R2.\n#[test]\n#[ignore = \"slow\"]\nfn b() {}\n// Checks R3.\nfn c() {}\n\
                  // Checks R4.\n#[test]\n// Why.\nfn d() {}\n#[test]\nfn e() {}";
    let expected = [("a", vec![1]), ("d", vec![4]), ("e", vec![])].map(|(name, rules)| (name.to_owned(), rules));
    assert_eq!(tests_in(source), expected);
    for line in
        ["| R7 | It holds. | `r7_a`, `r7_b` |", "| R7 | It holds. | `r7_a`; but |", "| R7 | It holds. | why not |"]
    {
        assert_eq!(Row::parse(line).unwrap().print(), line);
    }
    for (note, has_verdict) in [
        ("; judged", true),
        ("; `a.c`; 6.13; judged", true),
        ("; not judged: it depends on time", true),
        ("; not judged: no", false),
        ("; judged; not judged: it depends on time", false),
        ("; later", false),
        ("", false),
    ] {
        let line = format!("| R7 | It holds. | `r7_a`{note} |");
        assert_eq!(Row::parse(&line).unwrap().has_verdict(), has_verdict, "{line}");
    }
    let stale = "# Rules\n| rule | what holds | checked by |\n| R7 | It holds. | `r7_old`; a note |\n";
    let tests = BTreeMap::from([(7, BTreeSet::from(["r7_new".to_owned()]))]);
    assert_eq!(up_to_date(stale, &tests), stale.replace("r7_old", "r7_new"));
    assert_eq!(up_to_date("| R7 | It holds. | not simulated: no way |\n", &tests), "| R7 | It holds. | `r7_new` |\n");
}
