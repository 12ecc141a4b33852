//! The ledgers of `tests/traceability` and the rules of ARCHITECTURE.md name tests; each of them exists and is run, and no number
//! is missing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use xtask::traceability::{self, Ledger};

/// Returns the tests that a text names, `file.rs::name` in code font, as file and name.
fn named_tests(text: &str) -> Vec<(&str, &str)> {
    let named = text.split('`').filter_map(|word| word.split_once("::"));
    named.filter(|(path, _)| Path::new(path).extension().is_some_and(|end| end == "rs")).collect()
}

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn ledger(name: &str) -> Ledger {
    traceability::ledger(name).unwrap_or_else(|error| panic!("{error}"))
}

/// Returns the lines right above line `at` that are attributes or comments.
fn above<'l>(lines: &'l [&'l str], at: usize) -> impl Iterator<Item = &'l str> {
    lines[..at].iter().rev().copied().take_while(|line| line.starts_with("#[") || line.starts_with("//"))
}

/// Returns why no run of `cargo test` runs the test of this name in a source file, if that is so.
///
/// Miri is not such a run, so what it alone leaves out counts.
fn why_not_run(source: &str, name: &str) -> Option<&'static str> {
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let is_it = |line: &str| {
        line.strip_prefix("fn ").and_then(|rest| rest.strip_prefix(name)).is_some_and(|rest| rest.starts_with('('))
    };
    let Some(at) = lines.iter().position(|line| is_it(line)) else { return Some("does not exist") };
    let attributes: Vec<_> = above(&lines, at).filter(|line| line.starts_with("#[")).collect();
    let has =
        |start: &str| attributes.iter().any(|line| line.starts_with(start) && !line.starts_with("#[cfg_attr(miri,"));
    let is_conditional = |(at, line): (usize, &&str)| {
        let opens_module = line.ends_with('{') && (line.starts_with("mod ") || line.contains(" mod "));
        opens_module && above(&lines, at).any(|line| line.starts_with("#[cfg(") && line != "#[cfg(test)]")
    };
    if !attributes.contains(&"#[test]") {
        Some("is no test")
    } else if has("#[ignore") || has("#[cfg_attr(") {
        Some("is ignored")
    } else if has("#[cfg(") || lines.iter().any(|line| line.starts_with("#![cfg")) {
        Some("is not always compiled")
    } else if lines[..at].iter().enumerate().any(is_conditional) {
        Some("may be in a module that is not always compiled")
    } else {
        None
    }
}

/// Returns the directory of the package that a file belongs to, relative to the workspace.
fn package_of(file: &Path) -> &Path {
    let is_package = |directory: &&Path| root().join(directory).join("Cargo.toml").is_file();
    file.ancestors().skip(1).find(is_package).unwrap_or_else(|| panic!("{}: in no package", file.display()))
}

/// Returns why the compiler is not given a file when all tests of the workspace are built, if that is so.
fn why_not_built(file: &Path) -> Option<String> {
    let package = package_of(file);
    let manifest = read(package.join("Cargo.toml").to_str().unwrap());
    // Benchmarks have a harness of their own, and are no tests.
    let sections = manifest.split("\n[").filter(|section| !section.starts_with("[bench]]"));
    for line in sections.flat_map(str::lines).map(str::trim) {
        if ["autotests = false", "test = false", "harness = false"].contains(&line) {
            return Some(format!("the manifest in {:?} says {line}", package.display().to_string()));
        }
    }
    if !is_member(package) {
        return Some(format!("{} is no member of the workspace", package.display()));
    }
    let inside = file.strip_prefix(package).unwrap();
    let names: Vec<_> = inside.iter().map(|part| part.to_str().unwrap()).collect();
    let is_root = match names.as_slice() {
        ["tests", _] | ["tests", _, "main.rs"] | ["src", "lib.rs" | "main.rs"] => true,
        [name] => manifest.lines().any(|line| line.trim() == format!("path = {name:?}")),
        _ => false,
    };
    if is_root {
        return None;
    }
    let stem = file.file_stem().unwrap();
    let (module, directory) = match stem.to_str().unwrap() {
        "mod" => (file.parent().unwrap().file_name().unwrap(), file.parent().unwrap().parent().unwrap()),
        _ => (stem, file.parent().unwrap()),
    };
    let module = module.to_str().unwrap();
    let beside = ["mod.rs", "main.rs", "lib.rs"].map(|name| directory.join(name));
    let parents = beside.into_iter().chain([directory.with_extension("rs")]);
    let declares = |line: &str| line == format!("mod {module};") || line.ends_with(&format!(" mod {module};"));
    let mut parents: Vec<_> = parents.filter(|parent| parent != file && root().join(parent).is_file()).collect();
    // A program beside its library has modules of its own, or none.
    parents.sort_by_key(|parent| !read(parent.to_str().unwrap()).lines().any(|line| declares(line.trim())));
    let Some(parent) = parents.into_iter().next() else {
        return Some(format!("{}: nothing declares it", file.display()));
    };
    let source = read(parent.to_str().unwrap());
    let lines: Vec<_> = source.lines().map(str::trim).collect();
    let Some(at) = lines.iter().position(|line| declares(line)) else {
        return Some(format!("{} has no module {module}", parent.display()));
    };
    let is_on = |feature: &str| is_wanted_by_a_member(&manifest, feature) || is_on_by_default(&manifest, feature);
    let is_always_built = |line: &str| line == "#[cfg(test)]" || feature(line).is_some_and(is_on);
    if above(&lines, at).any(|line| line.starts_with("#[cfg") && !is_always_built(line)) {
        return Some(format!("{} does not always have its module {module}", parent.display()));
    }
    why_not_built(&parent)
}

/// Returns `true` if a feature is on unless the package is built without its default ones.
fn is_on_by_default(manifest: &str, feature: &str) -> bool {
    let section = manifest.split("\n[").find(|section| section.starts_with("features]")).unwrap_or_default();
    let of = |name: &str| {
        let line = section.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(" = ["));
        line.into_iter()
            .flat_map(|list| list.trim_end_matches(']').split(','))
            .map(|name| name.trim().trim_matches('"'))
    };
    let mut on = vec!["default"];
    let mut at = 0;
    while let Some(&name) = on.get(at) {
        let more: Vec<_> = of(name).filter(|name| !on.contains(name)).collect();
        on.extend(more);
        at += 1;
    }
    on.contains(&feature)
}

/// Returns the feature that an attribute asks for.
fn feature(attribute: &str) -> Option<&str> {
    attribute.strip_prefix("#[cfg(feature = \"")?.strip_suffix("\")]")
}

/// Returns `true` if a member of the workspace depends on a package with a feature: when all of the workspace is built, the
/// package then has it.
fn is_wanted_by_a_member(manifest: &str, feature: &str) -> bool {
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"')).unwrap();
    let dependency = format!("{name} = {{ workspace = true, features = [");
    let wants = |line: &str| {
        line.strip_prefix(&dependency).is_some_and(|features| features.contains(&format!("\"{feature}\"")))
    };
    members().iter().any(|member| read(&format!("{member}/Cargo.toml")).lines().any(wants))
}

/// Returns the folders of the workspace's members.
fn members() -> Vec<String> {
    let manifest = read("Cargo.toml");
    let (_, members) = manifest.split_once("members = [").unwrap();
    let (members, _) = members.split_once(']').unwrap();
    members.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

/// Returns `true` if the workspace has a package in this directory.
fn is_member(package: &Path) -> bool {
    if package == Path::new("") {
        return true;
    }
    members().iter().any(|member| package == Path::new(member))
}

/// Checks that every test in the list exists and is run.
fn check_tests<'t>(what: &str, tests: impl IntoIterator<Item = (&'t str, &'t str)>, sources: &mut Sources) {
    for (path, name) in tests {
        let (source, fault) =
            sources.entry(path.to_owned()).or_insert_with(|| (read(path), why_not_built(Path::new(path))));
        assert_eq!(*fault, None, "{what}: {path} is not built");
        assert_eq!(why_not_run(source, name), None, "{what}: {path}::{name}");
    }
}

/// Files, and why they are not built, by path.
type Sources = BTreeMap<String, (String, Option<String>)>;

/// Checks that a ledger has the expected numbers, and that each row has tests that are run, or a reason for having none.
fn check(name: &str, numbers: impl Iterator<Item = String>) -> Ledger {
    let ledger = ledger(name);
    let found: Vec<_> = ledger.rows.iter().map(|row| row.number.clone()).collect();
    assert_eq!(found, numbers.collect::<Vec<_>>(), "{name}");
    let mut sources = Sources::new();
    for row in &ledger.rows {
        let has_reason = row.without_test.as_ref().is_some_and(|reason| !reason.is_empty());
        assert!(
            row.tests.is_empty() == has_reason,
            "{name}: {} needs tests, or the reason why it has none",
            row.number
        );
        check_tests(&format!("{name}, {}", row.number), row.named_tests(), &mut sources);
    }
    ledger
}

/// Checks that each row has a field with one of some values.
fn check_field(ledger: &Ledger, field: &str, values: &[&str]) {
    for row in &ledger.rows {
        let value = row.fields.get(field).map(String::as_str);
        assert!(value.is_some_and(|value| values.contains(&value)), "{}: {field} is {value:?}", row.number);
    }
}

#[test]
fn every_weakness_has_a_row_whose_tests_are_run() {
    let numbers = || (1..=47).map(|number| format!("W-{number:02}"));
    check("weaknesses", numbers());
    let text = read("doc/weaknesses.md");
    let rows: Vec<_> = text.lines().filter_map(|line| line.strip_prefix("| W-")?.split(" | ").nth(1)).collect();
    assert_eq!(rows.len(), numbers().count());
    assert!(rows.iter().all(|class| ["H", "P", "Q"].contains(class)), "{rows:?}");
}

#[test]
fn every_feature_has_a_row_whose_tests_are_run() {
    let ledger = check("features", (1..=112).map(|number| number.to_string()));
    check_field(&ledger, "class", &["M", "S", "C"]);
    let mut missing = ledger.rows.iter().filter(|row| row.tests.is_empty());
    assert!(missing.all(|row| row.fields["class"] == "C"), "only an optional feature may be missing");
}

#[test]
fn every_requirement_of_a_driver_has_a_row_whose_tests_are_run() {
    let ledger = check("driver-api", (1..=12).map(|number| number.to_string()));
    check_field(&ledger, "state", &["D", "P"]);
}

#[test]
fn every_finding_of_the_tools_has_a_test_or_a_reason() {
    let numbers = [("A", 13), ("B", 20), ("C", 7), ("E", 5)].into_iter();
    let numbers = numbers.flat_map(|(part, count)| (1..=count).map(move |number| format!("{part}{number}")));
    let ledger = check("tool-findings", numbers);
    check_field(&ledger, "state", &["D", "P"]);
}

#[test]
fn every_rule_of_the_strict_mode_has_a_pair_or_a_reason() {
    let ledger = check("strict", (1..=45).map(|number| format!("S{number}")));
    check_field(&ledger, "state", &["D", "P", "N"]);
    for row in &ledger.rows {
        let state = row.fields["state"].as_str();
        assert!(row.fields.get("rule").is_some_and(|rule| !rule.is_empty()), "{}: no rule", row.number);
        assert_eq!(row.tests.is_empty(), state == "N", "{}", row.number);
        assert_eq!(row.fields.contains_key("now"), state == "P", "{}", row.number);
    }
}

#[test]
fn every_unconfirmed_claim_names_its_source_and_has_tests_that_are_run() {
    let ledger = check("unconfirmed", (1..=16).map(|number| format!("C-{number:02}")));
    for row in &ledger.rows {
        for field in ["claim", "chips", "symptom", "source"] {
            assert!(row.fields.get(field).is_some_and(|text| !text.is_empty()), "{}: no {field}", row.number);
        }
        assert!(!row.tests.is_empty(), "{}", row.number);
    }
}

#[test]
fn every_ledger_is_checked_and_prints_all_its_tests() {
    assert_eq!(
        traceability::names().unwrap(),
        ["driver-api", "features", "strict", "tool-findings", "unconfirmed", "weaknesses"]
    );
    let features = ledger("features");
    let text = traceability::print(&features);
    for row in &features.rows {
        assert!(row.tests.iter().all(|test| text.contains(test.as_str())), "{}", row.number);
    }
    assert!(traceability::ledger("nothing").unwrap_err().to_string().contains("nothing.toml"));
}

#[test]
fn every_rule_of_the_architecture_names_tests_that_are_run() {
    let text = read("ARCHITECTURE.md");
    let (_, rules) = text.split_once("## Rules\n").unwrap();
    let rules: Vec<_> = rules.split("\n## ").next().unwrap().split("\n* ").skip(1).collect();
    assert!(rules.len() > 10, "{} rules", rules.len());
    let mut sources = Sources::new();
    for rule in rules {
        let title = rule.split("**").nth(1).unwrap_or_else(|| panic!("a rule without a title: {rule}"));
        let tests = named_tests(rule);
        assert!(!tests.is_empty(), "ARCHITECTURE.md: {title:?} names no test");
        check_tests(title, tests, &mut sources);
    }
}

/// The rule `unsafe` is fenced in: no package, module or function switches the workspace's lints off.
#[test]
fn unsafe_code_is_denied_and_what_may_have_it_says_why() {
    let manifest = read("Cargo.toml");
    for lint in ["unsafe_code", "unsafe_op_in_unsafe_fn", "undocumented_unsafe_blocks"] {
        assert!(manifest.contains(&format!("\n{lint} = \"deny\"\n")), "{lint} is not denied");
    }
    let mut packages = 0;
    for path in files(&|path| path.ends_with("Cargo.toml")) {
        let manifest = fs::read_to_string(&path).unwrap();
        if !manifest.contains("[package]") {
            continue;
        }
        assert!(manifest.contains("\n[lints]\nworkspace = true\n"), "{}: lints of its own", path.display());
        packages += 1;
    }
    assert!(packages > 10, "{packages} packages");
    for path in files(&|path| path.extension().is_some_and(|end| end == "rs")) {
        let source = fs::read_to_string(&path).unwrap();
        let switches = ["allow", "warn"].map(|level| format!("{level}({})", "unsafe_code"));
        assert!(!switches.iter().any(|switch| source.contains(switch)), "{}: lets unsafe code in", path.display());
        for expectation in source.split(&format!("expect({}", "unsafe_code")).skip(1) {
            let rest = expectation.trim_start_matches([',', ' ', '\n']);
            assert!(rest.starts_with("reason = \""), "{}: unsafe code without a reason", path.display());
        }
    }
}

/// Returns the files below the workspace that are wanted, those that a build made left out.
fn files(wanted: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
    let (mut directories, mut found) = (vec![root().to_owned()], Vec::new());
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_str().unwrap();
            if path.is_dir() && name != "target" && !name.starts_with('.') {
                directories.push(path);
            } else if path.is_file() && wanted(&path) {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn a_test_that_is_not_run_is_found_out() {
    let source = "#[test]\nfn a() {}\n#[test]\n#[ignore = \"slow\"]\nfn b() {}\nfn c() {}\n#[cfg(unix)]\n#[test]\nfn d() {}\n\
                  #[test]\n#[cfg_attr(miri, ignore = \"slow\")]\nfn e() {}\n#[cfg_attr(unix, ignore)]\n#[test]\nfn f() {}\n\
                  #[cfg(test)]\nmod tests {\n#[test]\nfn g() {}\n}\n#[cfg(unix)]\nmod more {\n#[test]\nfn h() {}\n}\n";
    let faults: Vec<_> = ('a'..='i').filter(|name| why_not_run(source, &name.to_string()).is_some()).collect();
    assert_eq!(faults, ['b', 'c', 'd', 'f', 'h', 'i']);
    assert_eq!(why_not_run("#![cfg(unix)]\n#[test]\nfn a() {}\n", "a"), Some("is not always compiled"));
    for built in
        ["tests/uapi_layout.rs", "tests/heaps/usage.rs", "src/winsys/usage/tracker.rs", "src/vamgr/holes/tests.rs"]
    {
        assert_eq!(why_not_built(Path::new(built)), None, "{built}");
    }
    for not_built in ["tests/heaps/nothing.rs", "src/winsys/nothing.rs", "tests/data/nothing.rs"] {
        assert!(why_not_built(Path::new(not_built)).is_some(), "{not_built}");
    }
}
