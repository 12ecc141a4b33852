//! Entry points and results: those in the driver's source, and those that the tests name.

use std::{collections::BTreeSet, fs, path::Path};

/// Returns all source text of a folder of this crate.
fn text(folder: &str) -> String {
    fn add(folder: &Path, all: &mut String) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                add(&path, all);
            } else if path.extension().is_some_and(|it| it == "rs") && !path.ends_with("every/sources.rs") {
                all.push_str(&fs::read_to_string(&path).unwrap());
            }
        }
    }
    let mut all = String::new();
    add(&Path::new(env!("CARGO_MANIFEST_DIR")).join(folder), &mut all);
    all
}

/// Returns the words behind a mark.
fn words_behind<'a>(text: &'a str, mark: &str) -> BTreeSet<&'a str> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    text.split(mark)
        .skip(1)
        .filter_map(|rest| rest.split(|letter| !is_part(letter)).next())
        .filter(|word| !word.is_empty())
        .collect()
}

/// Returns the name of a command's method: `vkCmdCopyImage2KHR` is `cmd_copy_image2`.
fn method(command: &str) -> String {
    let bare = command.trim_start_matches("vk").trim_end_matches("KHR").trim_end_matches("EXT");
    let mut name = String::new();
    for letter in bare.chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

#[test]
fn every_entry_point_is_called_by_a_test() {
    let tables = text("src/dispatch");
    let commands: Vec<_> = words_behind(&tables, "PFN_")
        .into_iter()
        .filter(|name| !name.ends_with("ProcAddr") && *name != "vkVoidFunction")
        .collect();
    assert!(commands.len() > 230, "only {} commands were found in the tables", commands.len());
    let tests = text("tests") + &text("src/tests");
    let is_named = |command: &&str| {
        let method = method(command);
        ["(", "_ext;", "_khr;", "_ext)", "_khr)"]
            .iter()
            .any(|end| [".", "try_"].iter().any(|begin| tests.contains(&format!("{begin}{method}{end}"))))
    };
    let missing: Vec<_> = commands.iter().filter(|command| !is_named(command)).collect();
    assert!(missing.is_empty(), "no test calls {missing:?}");
}

#[test]
fn every_result_is_provoked_by_a_test() {
    let driver: String = ["src/border", "src/entries", "src/objects", "src/facts"].map(text).concat();
    let tests = text("tests") + &text("src/tests");
    let named = words_behind(&tests, "Result::");
    let missing: Vec<_> = words_behind(&driver, "vk::Result::")
        .into_iter()
        .filter(|name| name.chars().all(|letter| !letter.is_ascii_lowercase()) && !named.contains(name))
        .collect();
    assert!(missing.is_empty(), "no test names {missing:?}");
}
