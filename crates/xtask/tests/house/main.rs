//! The plan of the house, held against the sources: no file leads back to itself through what it uses, no part uses one above
//! it, and ARCHITECTURE.md shows which uses which. Folders of many files have a reason, and ARCHITECTURE.md says what is in them.

mod arrows;
mod casts;
mod examples;
mod graph;
mod handles;
mod map;
mod picture;
mod prose;
mod questions;
mod rooms;
mod source;
mod workspace;

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// Returns the root of the workspace.
fn root() -> PathBuf {
    std::fs::canonicalize(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).unwrap()
}

/// Returns which file uses which, read once for all tests.
fn edges() -> &'static graph::Edges {
    static EDGES: LazyLock<graph::Edges> = LazyLock::new(|| graph::Graph::read(&workspace::packages()).edges());
    &EDGES
}

/// Returns the part of the workspace that a file belongs to: its package, or its folder in the library.
fn part(file: &Path) -> String {
    let segments: Vec<_> = file.iter().map(|segment| segment.to_string_lossy()).collect();
    segments[..2.min(segments.len())].join("/")
}

#[test]
fn no_file_uses_what_uses_it() {
    let root = root();
    let edges = edges();
    let show = |file: &Path| file.strip_prefix(&root).unwrap_or(file).to_path_buf();
    let mut tied: BTreeMap<String, usize> = BTreeMap::new();
    for circle in &graph::circles(edges) {
        *tied.entry(part(&show(&circle[0]))).or_default() += circle.len();
        println!("{} files use one another:", circle.len());
        for file in circle {
            for (to, names) in edges[file].iter().filter(|(to, _)| circle.contains(to)) {
                let names: Vec<_> = names.iter().map(String::as_str).collect();
                println!("  {} -> {} for {}", show(file).display(), show(to).display(), names.join(", "));
            }
        }
    }
    assert!(tied.is_empty(), "files that use one another, by part: {tied:?}");
}

/// Types that several files of a folder use have a file of their own; `mod.rs` only names them.
#[test]
fn no_file_of_the_library_uses_what_the_mod_rs_above_it_defines() {
    let root = root();
    let edges = edges();
    let mut upwards = Vec::new();
    for (from, to) in edges.iter().flat_map(|(from, used)| used.keys().map(move |to| (from, to))) {
        let is_above = to.ends_with("mod.rs") && to.parent().is_some_and(|folder| from.starts_with(folder));
        let (from, to) = (from.strip_prefix(&root).unwrap(), to.strip_prefix(&root).unwrap());
        if is_above && (from.starts_with("src") || from.starts_with("crates/smoke")) {
            upwards.push(format!("{} -> {}", from.display(), to.display()));
        }
    }
    assert!(upwards.is_empty(), "{upwards:#?}");
}

#[test]
fn no_part_uses_one_above_it_and_architecture_shows_them() {
    let edges = edges();
    let picture = picture::draw(&picture::uses(&root(), edges));
    let file = root().join("ARCHITECTURE.md");
    let text = std::fs::read_to_string(&file).unwrap();
    let (before, rest) = text.split_once(picture::BEGIN).expect("the beginning of the picture");
    let (shown, after) = rest.split_once(picture::END).expect("the end of the picture");
    if shown != picture && std::env::var_os("XTASK_WRITE_PICTURE").is_some() {
        let text = [before, picture::BEGIN, &picture, picture::END, after].concat();
        std::fs::write(&file, text).unwrap();
        return;
    }
    assert_eq!(shown, picture, "XTASK_WRITE_PICTURE=1 brings ARCHITECTURE.md up to date");
}
