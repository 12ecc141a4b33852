//! Folders of about a dozen files, in one style of modules.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use crate::questions;

/// The number of files of Rust in one folder above which the test asks.
const MOST: usize = 14;

/// Returns the files of Rust below a folder, by the folder that each is in; paths are relative to the workspace.
pub(crate) fn files(below: &str) -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let root = crate::root();
    let mut found: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let mut waiting = vec![PathBuf::from(below)];
    while let Some(folder) = waiting.pop() {
        let Ok(entries) = fs::read_dir(root.join(&folder)) else { continue };
        for entry in entries {
            let path = folder.join(entry.unwrap().file_name());
            if root.join(&path).is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|end| end == "rs") {
                found.entry(folder.clone()).or_default().push(path);
            }
        }
    }
    found
}

/// Returns the files of Rust of the whole workspace, by the folder that each is in.
fn rooms() -> BTreeMap<PathBuf, Vec<PathBuf>> {
    let mut found = BTreeMap::new();
    for folder in fs::read_dir(crate::root()).unwrap().map(|entry| entry.unwrap().file_name()) {
        let name = folder.to_string_lossy();
        if name != "target" && !name.starts_with('.') {
            found.extend(files(&name));
        }
    }
    assert!(
        ["src", "tests", "examples/memory", "crates/uapi/src", "fuzz/src"]
            .iter()
            .all(|known| found.contains_key(Path::new(known)))
    );
    found
}

/// Returns the folders that hold more files than a reader takes in at once.
fn overfull(folders: &BTreeMap<PathBuf, Vec<PathBuf>>) -> Vec<(&Path, usize)> {
    let counts = folders.iter().map(|(folder, files)| (folder.as_path(), files.len()));
    counts.filter(|&(_, count)| count > MOST).collect()
}

/// Returns the files that stand beside a folder of their name.
fn beside(folders: &BTreeMap<PathBuf, Vec<PathBuf>>) -> Vec<&Path> {
    let files = folders.values().flatten().map(PathBuf::as_path);
    files.filter(|file| folders.keys().any(|folder| folder.starts_with(file.with_extension("")))).collect()
}

#[test]
fn a_folder_of_many_files_has_an_answer_why_it_is_one_room() {
    let folders = rooms();
    let overfull = overfull(&folders).into_iter();
    let asked = overfull.map(|(folder, count)| (format!("are the files of {} one room?", folder.display()), count));
    questions::ask(&asked.collect::<Vec<_>>());
}

#[test]
fn a_module_with_a_folder_is_the_mod_rs_in_it() {
    let folders = rooms();
    let beside = beside(&folders);
    assert!(beside.is_empty(), "modules to be moved to the mod.rs in their folders: {beside:?}");
}

#[test]
fn an_overfull_folder_and_a_file_beside_its_folder_are_found() {
    let file = |path: &str| (Path::new(path).parent().unwrap().to_path_buf(), PathBuf::from(path));
    let mut folders: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    for path in ["src/a.rs", "src/a/b.rs", "src/c/mod.rs", "src/c/d.rs", "src/ab/mod.rs"] {
        let (folder, path) = file(path);
        folders.entry(folder).or_default().push(path);
    }
    assert_eq!(beside(&folders), [Path::new("src/a.rs")]);
    assert_eq!(overfull(&folders), []);
    folders.entry("src/c".into()).or_default().extend((0..MOST - 2).map(|at| format!("src/c/{at}.rs").into()));
    assert_eq!(overfull(&folders), []);
    folders.entry("src/c".into()).or_default().push("src/c/more.rs".into());
    assert_eq!(overfull(&folders), [(Path::new("src/c"), MOST + 1)]);
}
