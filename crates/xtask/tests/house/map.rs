//! ARCHITECTURE.md names paths that exist, and every folder of the library and every crate.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{rooms, workspace};

/// Begins the table of paths.
const TABLE: &str = "\n## Where things are\n";

fn text() -> String {
    fs::read_to_string(crate::root().join("ARCHITECTURE.md")).unwrap()
}

/// Returns the paths in a text: what stands in code font and has a slash inside or at its end, or the end of a file's name.
/// The name of a test behind a path is left out.
fn paths(text: &str) -> Vec<&str> {
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let words = prose.into_iter().flat_map(|prose| prose.split('`').skip(1).step_by(2));
    let words = words.map(|word| word.split_once("::").map_or(word, |(path, _)| path));
    let is_path = |word: &&str| {
        let is_plain = word.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-/".contains(letter));
        let has_end = [".rs", ".toml", ".md"].iter().any(|end| word.ends_with(end));
        is_plain && (word.contains('/') || has_end) && !word.starts_with('/')
    };
    words.filter(is_path).collect()
}

/// Returns the lines of the table: the text of the first cell, and the whole line.
fn lines(text: &str) -> Vec<(&str, &str)> {
    let (_, table) = text.split_once(TABLE).expect("the table of paths");
    let table = table.split("\n## ").next().unwrap_or_default();
    let lines = table.lines().filter(|line| line.starts_with("| `"));
    lines.map(|line| (line.split('|').nth(1).unwrap_or_default(), line)).collect()
}

/// Returns the paths of a line of the table, from the workspace: the first cell's own, and the others', which may be
/// below the first one or beside it.
fn paths_of(cell: &str, line: &str) -> Vec<PathBuf> {
    let root = crate::root();
    let Some(first) = paths(cell).into_iter().next().map(PathBuf::from) else { return Vec::new() };
    let beside = first.parent().unwrap_or(Path::new("")).to_path_buf();
    let whole = |path: &str| {
        let places = [PathBuf::new(), first.clone(), first.join("src"), beside.clone()];
        places.iter().map(|place| place.join(path)).find(|path| root.join(path).exists())
    };
    paths(line).into_iter().map(|path| whole(path).unwrap_or_else(|| panic!("{path} does not exist: {line}"))).collect()
}

#[test]
fn every_path_that_architecture_names_exists() {
    let text = text();
    let lines = lines(&text);
    assert!(lines.len() > 30, "{} lines", lines.len());
    let named: usize = lines.iter().map(|(cell, line)| paths_of(cell, line).len()).sum();
    assert!(named > 80, "{named} paths in the table");
    // Outside the table paths may be those of the library's modules.
    let root = crate::root();
    let prose: String = text.lines().filter(|line| !line.starts_with("| `")).flat_map(|line| [line, "\n"]).collect();
    let wrong: Vec<_> = paths(&prose)
        .into_iter()
        .filter(|path| !root.join(path).exists() && !root.join("src").join(path).exists())
        .collect();
    assert!(wrong.is_empty(), "ARCHITECTURE.md names what does not exist: {wrong:?}");
}

#[test]
fn architecture_names_every_crate_and_every_folder_in_the_src_of_one() {
    let text = text();
    let named: BTreeSet<PathBuf> = lines(&text).iter().flat_map(|(cell, line)| paths_of(cell, line)).collect();
    let folders = rooms::files("src").into_keys().filter(|folder| folder != Path::new("src"));
    let crates = fs::read_dir(crate::root().join("crates")).unwrap();
    let crates = crates.map(|entry| Path::new("crates").join(entry.unwrap().file_name()));
    let crates = crates.filter(|folder| crate::root().join(folder).join("Cargo.toml").exists());
    // A crate may have lines for its parts instead of one of its own; its parts are named one by one.
    let is_part = |folder: &PathBuf| {
        let segments: Vec<_> = folder.iter().map(|segment| segment.to_string_lossy()).collect();
        matches!(&segments[..], [_, _, src, part] if src == "src" && part != "bin" && part != "generated")
    };
    let parts: Vec<_> = rooms::files("crates").into_keys().filter(is_part).collect();
    assert!(parts.len() > 60, "{} parts of crates", parts.len());
    let unnamed: Vec<_> = parts.iter().filter(|part| !named.contains(*part)).collect();
    assert!(unnamed.is_empty(), "ARCHITECTURE.md does not say what is in {unnamed:?}");
    let is_named = |folder: &PathBuf| {
        named.contains(folder) || folder.starts_with("crates") && named.iter().any(|path| path.starts_with(folder))
    };
    let unnamed: Vec<_> = folders.chain(crates).filter(|folder| !is_named(folder)).collect();
    assert!(unnamed.is_empty(), "ARCHITECTURE.md does not say what is in {unnamed:?}");
}

/// Returns the words in code font in a column, counted from 1, of the table that begins with `head`.
fn column<'t>(text: &'t str, head: &str, number: usize) -> Vec<&'t str> {
    let (_, table) = text.split_once(head).unwrap_or_else(|| panic!("a table that begins with {head}"));
    let lines = table.lines().skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    let cells = lines.filter_map(|line| line.split('|').nth(number));
    cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect()
}

/// Returns the folders in `folder` that may hold files of the project.
fn folders(folder: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.file_type().unwrap().is_dir());
    let names = folders.map(|entry| entry.file_name().into_string().unwrap());
    names.filter(|name| [".ci", ".github"].contains(&&**name) || !name.starts_with('.') && name != "target").collect()
}

#[test]
fn readme_and_architecture_put_every_folder_into_one_part() {
    const HEAD: &str = "| part | for | folders | do you need it? |\n";
    let root = crate::root();
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    let named = column(&readme, HEAD, 3);
    assert_eq!(named, column(&text(), HEAD, 3), "README.md and ARCHITECTURE.md have different folders");
    let mut seen = BTreeSet::new();
    for word in named.into_iter().filter(|&word| word != "crates/") {
        assert!(seen.insert(word.to_owned()), "README.md puts `{word}` into two parts");
    }
    let all: BTreeSet<_> = folders(&root).into_iter().chain(folders(&root.join("crates"))).collect();
    assert_eq!(seen, &all - &BTreeSet::from(["crates".to_owned()]), "README.md and the tree have different folders");
}

#[test]
fn every_folder_at_the_top_and_every_crate_has_a_readme() {
    let root = crate::root();
    let top = folders(&root).into_iter().map(|name| root.join(name));
    let crates = folders(&root.join("crates")).into_iter().map(|name| root.join("crates").join(name));
    // `src` is the library, whose README is that of the whole; the others hold nothing but files for programs, or folders.
    let needs_none = ["src", "crates", ".github", "proptest-regressions"].map(|name| root.join(name));
    let without = top.chain(crates).filter(|folder| !needs_none.contains(folder) && !folder.join("README.md").exists());
    let without: Vec<_> = without.collect();
    assert!(without.is_empty(), "a visitor of these folders finds no README.md: {without:?}");
}

#[test]
fn architecture_says_of_every_package_why_it_is_one() {
    let text = text();
    let named: BTreeSet<_> = column(&text, "| package | why it is one |\n", 1).into_iter().collect();
    let packages = workspace::packages();
    let unnamed: Vec<_> = packages.iter().map(|package| &*package.name).filter(|name| !named.contains(name)).collect();
    assert!(unnamed.is_empty(), "ARCHITECTURE.md does not say why these are packages: {unnamed:?}");
}

#[test]
fn a_column_of_a_table_has_its_words_in_code_font() {
    let text = "| a | b |\n|---|---|\n| `c` | `d`, e |\n| f | `g` |\n\n| `h` | `i` |\n";
    assert_eq!(column(text, "| a | b |\n", 2), ["d", "g"]);
}

#[test]
fn a_path_is_told_from_other_words_in_code_font() {
    let text = "`src/a.rs` or `b.rs::test`, `c/` but not `/dev/dri`, `cargo run -p xtask`, `Kernel` and `e.g`.\n\
                ```text\n`x/y.rs`\n```\n`d/e` `README.md`";
    assert_eq!(paths(text), ["src/a.rs", "b.rs", "c/", "d/e", "README.md"]);
}
